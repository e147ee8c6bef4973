/*
 * The tick of CPU utilisation, and the series of CPUs. The counters continue when a CPU was offline.
 */
#include "agent/source/usage_internal.h"

#include <errno.h>
#include <stdio.h>

#include "agent/core/collector.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

/* A scan of all processes may use a hundredth of one CPU: with very many processes they are read less often. */
#define SCAN_COST 100

static const struct metric mode_metrics[N_CPU_MODES] = {
	{ "cpu-busy", "tacho_cpu_busy", "seconds", "time the CPU was not idle", METRIC_COUNTER, 1e-9, NAMING_TACHO },
	{ "cpu-user", "tacho_cpu_user", "seconds", "time in user space, with guests", METRIC_COUNTER, 1e-9, NAMING_TACHO },
	{ "cpu-system", "tacho_cpu_system", "seconds", "time in the kernel, with interrupts", METRIC_COUNTER, 1e-9, NAMING_TACHO },
	{ "cpu-iowait", "tacho_cpu_iowait", "seconds", "time the CPU was idle while a task waited for a disk", METRIC_COUNTER, 1e-9, NAMING_TACHO },
	{ "cpu-steal", "tacho_cpu_steal", "seconds", "time the hypervisor ran something else", METRIC_COUNTER, 1e-9, NAMING_TACHO },
};
static const struct metric process_metric = { "process-cpu", "tacho_process_cpu", "seconds",
	"CPU time of the processes that use most, since each started", METRIC_COUNTER, 1e-9, NAMING_TACHO };
static const struct metric cgroup_metric = { "cgroup-cpu", "tacho_cgroup_cpu", "seconds",
	"CPU time of the control groups that use most", METRIC_COUNTER, 1e-9, NAMING_TACHO };

int usage_put_point(struct usage *u, uint32_t series, uint64_t ns)
{
	struct point *p = vec_add(&u->points);

	if (!p)
		return -ENOMEM;
	*p = (struct point){ .series = series, .state = TACHO_COUNTING, .value = (double)ns * 1e-9, .count = ns, .raw = ns };
	return 0;
}

/* ---- CPUs ---- */

static struct used_cpu *find_cpu(struct usage *u, int cpu)
{
	struct used_cpu *c;

	for (size_t i = 0; i < u->cpus.n; i++)
		if (u->cpus.v[i].cpu == cpu)
			return &u->cpus.v[i];
	c = vec_add(&u->cpus);
	if (c)
		*c = (struct used_cpu){ .cpu = cpu };
	return c;
}

static int add_cpu_series(struct usage *u, struct used_cpu *c)
{
	char number[16];
	struct label labels[2] = { { "cpu", number }, { "source", (char *)"usage" } };

	snprintf(number, sizeof(number), "%d", c->cpu);
	for (int m = 0; m < N_CPU_MODES; m++) {
		int64_t id = registry_add(&u->agent->registry,
					  &(struct series_desc){ .metric = u->modes[m], .source = "usage", .labels = labels,
								 .n_labels = 2, .start_ns = u->wall_ns });
		if (id < 0)
			return -ENOMEM;
		c->series[m] = (uint32_t)id;
	}
	return 0;
}

static int read_cpu(void *arg, const struct tacho_cpu_times *t)
{
	struct usage *u = arg;
	struct used_cpu *c = find_cpu(u, t->cpu);
	int err = 0;

	if (!c || (!c->series[0] && add_cpu_series(u, c) < 0))
		return -ENOMEM;
	cpu_times_add(&c->times, t, clock_mono_ns());
	c->seen = true;
	for (int m = 0; m < N_CPU_MODES && err == 0; m++)
		err = usage_put_point(u, c->series[m], c->times.total_ns[m]);
	return err;
}

static int read_cpus(struct usage *u)
{
	int err;

	for (size_t i = 0; i < u->cpus.n; i++)
		u->cpus.v[i].seen = false;
	err = tacho_cpu_times(u->tacho, read_cpu, u);
	for (size_t i = 0; err == 0 && i < u->cpus.n; i++) {
		struct used_cpu *c = &u->cpus.v[i];

		if (c->seen || !c->times.read_ns)
			continue;
		cpu_times_interrupt(&c->times);
		for (int m = 0; m < N_CPU_MODES; m++)
			registry_set_offline(&u->agent->registry, c->series[m], "the CPU is offline");
	}
	return err;
}

/* ---- the tick ---- */

static void log_failure(struct usage *u, int err)
{
	char text[200];

	if (!u->failed && u->agent->log) {
		snprintf(text, sizeof(text), "CPU utilisation cannot be read: %s", strerror(-err));
		u->agent->log(u->agent->log_arg, TACHO_LOG_WARN, text);
	}
	u->failed = true;
}

static int read_tasks(struct usage *u, const struct usage_config *cfg, uint64_t now)
{
	uint64_t start = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID), cost;
	int err = 0;

	pthread_mutex_lock(&u->lock);
	if (cfg->processes || cfg->cgroups)
		err = usage_scan(u);
	else
		usage_end_tasks(u);
	if (err == 0)
		err = usage_task_points(u, cfg->processes, cfg->cgroups);
	cost = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	u->every_ns = max_of(cfg->interval_ns, cost * SCAN_COST);
	u->scan_due_ns = now - now % cfg->interval_ns + u->every_ns;
	pthread_mutex_unlock(&u->lock);
	return err;
}

static void end_all(struct usage *u)
{
	for (size_t i = 0; i < u->cpus.n; i++)
		for (int m = 0; m < N_CPU_MODES; m++)
			registry_end(&u->agent->registry, u->cpus.v[i].series[m]);
	u->cpus.n = 0;
	pthread_mutex_lock(&u->lock);
	usage_end_tasks(u);
	pthread_mutex_unlock(&u->lock);
}

void usage_measure(void *usage, struct collector *c)
{
	struct usage *u = usage;
	const struct usage_config *cfg = &u->agent->config->usage;
	uint64_t now = clock_mono_ns();
	int64_t wall = clock_wall_ns();
	struct point_batch b;
	int err;

	if (cfg->off && u->cpus.n)
		end_all(u);
	if (cfg->off || now < u->due_ns)
		return;
	u->due_ns = now - now % cfg->interval_ns + cfg->interval_ns;
	u->points.n = 0;
	u->wall_ns = wall;
	err = read_cpus(u);
	if (err == 0 && now >= u->scan_due_ns)
		err = read_tasks(u, cfg, now);
	if (err < 0) {
		log_failure(u, err);
		return;
	}
	b = (struct point_batch){ .source = "usage", .time_ns = wall, .points = u->points.v, .n_points = u->points.n,
				  .interval_ns = u->last_ns && wall > u->last_ns ? (uint64_t)(wall - u->last_ns) : 0 };
	u->last_ns = wall;
	collector_deliver(c, &b);
}

/* ---- life ---- */

void usage_free(struct usage *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->processes.n; i++)
		usage_process_done(&u->processes.v[i]);
	for (size_t i = 0; i < u->cgroups.n; i++)
		free(u->cgroups.v[i].path);
	vec_done(&u->cpus);
	vec_done(&u->processes);
	vec_done(&u->next);
	vec_done(&u->cgroups);
	vec_done(&u->points);
	free(u->busiest);
	pthread_mutex_destroy(&u->lock);
	tacho_close(u->tacho);
	free(u);
}

int usage_new(struct usage **out, struct agent *a)
{
	struct usage *u = calloc(1, sizeof(*u));
	bool complete = true;

	if (!u)
		return -ENOMEM;
	u->agent = a;
	pthread_mutex_init(&u->lock, NULL);
	u->boot_wall_ns = (uint64_t)(clock_wall_ns() - clock_ns(CLOCK_BOOTTIME));
	for (int m = 0; m < N_CPU_MODES; m++) {
		u->modes[m] = registry_metric(&a->registry, &mode_metrics[m]);
		complete = complete && u->modes[m];
	}
	u->process_metric = registry_metric(&a->registry, &process_metric);
	u->cgroup_metric = registry_metric(&a->registry, &cgroup_metric);
	if (!complete || !u->process_metric || !u->cgroup_metric || tacho_open(&u->tacho, NULL, NULL) < 0) {
		usage_free(u);
		return -ENOMEM;
	}
	*out = u;
	return 0;
}
