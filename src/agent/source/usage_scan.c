/*
 * Reads the CPU times of all processes. Both lists, that of the last scan and the new one, are sorted by pid, so
 * they are compared in one pass. User, control group and command line of a process are looked up once, when it
 * has used CPU time, and again when its name changes (it executed another program).
 */
#include "agent/source/usage_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/vec.h"

#define RECENT_S 10.0
#define MAX_CGROUPS 2000

void usage_process_done(struct used_process *p)
{
	free(take(p->command_line));
}

static int note_user(void *arg, const struct tacho_process *found)
{
	struct used_process *p = arg;
	char text[1024];
	struct passwd entry, *user = NULL;

	if (getpwuid_r(found->uid, &entry, text, sizeof(text), &user) == 0 && user)
		snprintf(p->user, sizeof(p->user), "%.39s", user->pw_name);
	else
		snprintf(p->user, sizeof(p->user), "%u", found->uid);
	return 0;
}

/* Index + 1; 0: too many, or out of memory. */
static uint32_t find_cgroup(struct usage *u, const char *path)
{
	struct used_cgroup *g;

	for (size_t i = 0; i < u->cgroups.n; i++)
		if (!strcmp(u->cgroups.v[i].path, path))
			return (uint32_t)i + 1;
	if (u->cgroups.n >= MAX_CGROUPS)
		return 0;
	g = vec_add(&u->cgroups);
	if (!g)
		return 0;
	*g = (struct used_cgroup){ .path = strdup(path), .start_ns = clock_wall_ns() };
	if (!g->path) {
		u->cgroups.n--;
		return 0;
	}
	cgroup_names_of(path, &g->names);
	g->accounted = path[1] && tacho_cgroup_cpu(u->tacho, path, &g->last_ns) == 0;
	g->total_ns = g->last_ns;
	return (uint32_t)u->cgroups.n;
}

static void look_up(struct usage *u, struct used_process *p)
{
	char path[PATH_MAX], line[4096];

	p->looked_up = true;
	free(take(p->command_line));
	tacho_process_find(u->tacho, p->pid, note_user, p);
	if (tacho_process_cgroup(u->tacho, p->pid, path, sizeof(path)) == 0)
		p->cgroup = find_cgroup(u, path);
	if (tacho_process_command_line(u->tacho, p->pid, line, sizeof(line)) == 0)
		p->command_line = strdup(line);
}

/* The entry of the last scan for this process, whose place is left empty; NULL: it is new. */
static struct used_process *find_before(struct usage *u, const struct tacho_process_usage *p)
{
	while (u->at < u->processes.n && u->processes.v[u->at].pid < p->pid)
		u->at++;
	if (u->at == u->processes.n || u->processes.v[u->at].pid != p->pid ||
	    u->processes.v[u->at].start_ns != p->start_ns)
		return NULL;
	return &u->processes.v[u->at];
}

static void update_rates(struct usage *u, struct used_process *p, uint64_t cpu_ns, uint64_t user_ns, double elapsed_s)
{
	uint64_t used = cpu_ns > p->cpu_ns ? cpu_ns - p->cpu_ns : 0;
	double share = 1 - exp(-elapsed_s / RECENT_S);

	p->cpu = elapsed_s > 0 ? (double)used * 1e-9 / elapsed_s : 0;
	p->user_cpu = elapsed_s > 0 && user_ns > p->user_ns ? (double)(user_ns - p->user_ns) * 1e-9 / elapsed_s : 0;
	p->recent_cpu += (p->cpu - p->recent_cpu) * share;
	if (used && !p->looked_up)
		look_up(u, p);
	if (used && p->cgroup)
		u->cgroups.v[p->cgroup - 1].added_ns += used;
	if (!p->series)
		u->other_ns += used;
}

static int scan_process(void *arg, const struct tacho_process_usage *found)
{
	struct usage *u = arg;
	struct used_process *before = find_before(u, found), *p = vec_add(&u->next);
	uint64_t cpu_ns = found->user_ns + found->system_ns;
	double elapsed_s = u->scan_before_ns ? (double)(u->scan_ns - u->scan_before_ns) * 1e-9 : 0;

	if (!p)
		return -ENOMEM;
	if (before) {
		*p = *before;
		before->command_line = NULL;
		before->series = 0;		/* both now belong to *p */
	} else {
		*p = (struct used_process){ .pid = found->pid, .start_ns = found->start_ns };
		/* A process that started since the last scan used all its time since then. */
		if (!u->scan_before_ns)
			p->cpu_ns = cpu_ns, p->user_ns = found->user_ns;
	}
	if (strcmp(p->comm, found->comm) != 0) {
		p->looked_up = false;
		snprintf(p->comm, sizeof(p->comm), "%s", found->comm);
	}
	p->scans++;
	update_rates(u, p, cpu_ns, found->user_ns, elapsed_s);
	p->cpu_ns = max_of(p->cpu_ns, cpu_ns);
	p->user_ns = found->user_ns;
	p->resident_bytes = found->resident_bytes;
	p->n_threads = found->n_threads;
	return 0;
}

static const struct usage *sorted_usage;	/* for the comparison; only the collector's thread sorts */

static int by_recent_cpu(const void *a, const void *b)
{
	const struct used_process *x = &sorted_usage->processes.v[*(const uint32_t *)a];
	const struct used_process *y = &sorted_usage->processes.v[*(const uint32_t *)b];

	if (x->recent_cpu != y->recent_cpu)
		return x->recent_cpu > y->recent_cpu ? -1 : 1;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns > y->cpu_ns ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int sort_busiest(struct usage *u)
{
	if (u->cap_busiest < u->processes.n) {
		uint32_t *more = reallocarray(u->busiest, u->processes.n * 2, sizeof(*more));

		if (!more)
			return -ENOMEM;
		u->busiest = more;
		u->cap_busiest = u->processes.n * 2;
	}
	u->n_busiest = u->processes.n;
	for (size_t i = 0; i < u->n_busiest; i++)
		u->busiest[i] = (uint32_t)i;
	sorted_usage = u;
	if (u->n_busiest)
		qsort(u->busiest, u->n_busiest, sizeof(*u->busiest), by_recent_cpu);
	for (size_t i = 0; i < min_of(u->n_busiest, (size_t)USAGE_LISTED); i++)
		if (!u->processes.v[u->busiest[i]].looked_up)
			look_up(u, &u->processes.v[u->busiest[i]]);
	return 0;
}

int usage_scan(struct usage *u)
{
	int err;

	u->scan_before_ns = u->scan_ns;
	u->scan_ns = clock_mono_ns();
	u->at = 0;
	u->next.n = 0;
	u->n_busiest = 0;		/* its indexes are those of the last scan; a scan that fails leaves none */
	for (size_t i = 0; i < u->cgroups.n; i++)
		u->cgroups.v[i].added_ns = 0;
	err = tacho_process_usages(u->tacho, scan_process, u);
	for (size_t i = 0; i < u->processes.n; i++) {		/* those that have ended */
		if (u->processes.v[i].series)
			registry_end(&u->agent->registry, u->processes.v[i].series);
		usage_process_done(&u->processes.v[i]);
	}
	{
		__typeof__(u->processes) before = u->processes;

		u->processes.v = u->next.v;
		u->processes.n = u->next.n;
		u->processes.cap = u->next.cap;
		u->next.v = before.v;
		u->next.n = 0;
		u->next.cap = before.cap;
	}
	u->scan_time_ns = clock_wall_ns();
	return err < 0 ? err : sort_busiest(u);
}

static int64_t start_time(const struct usage *u, const struct used_process *p)
{
	return (int64_t)(u->boot_wall_ns + p->start_ns);
}

int usage_processes(struct usage *u, struct usage_totals *totals,
		    int (*fn)(void *arg, const struct usage_process_row *p), void *arg)
{
	static const struct cgroup_names no_names;
	int err = 0;

	pthread_mutex_lock(&u->lock);
	*totals = (struct usage_totals){ u->processes.n, u->scan_time_ns, u->every_ns };
	for (size_t i = 0; err == 0 && i < min_of(u->n_busiest, (size_t)USAGE_LISTED); i++) {
		const struct used_process *p = &u->processes.v[u->busiest[i]];
		const struct used_cgroup *g = p->cgroup ? &u->cgroups.v[p->cgroup - 1] : NULL;
		const struct usage_process_row row = {
			.pid = p->pid, .comm = p->comm, .user = p->user, .cgroup = g ? g->path : "",
			.command_line = p->command_line ? p->command_line : "", .names = g ? &g->names : &no_names,
			.cpu = p->cpu, .user_cpu = p->user_cpu, .recent_cpu = p->recent_cpu, .cpu_ns = p->cpu_ns,
			.resident_bytes = p->resident_bytes, .n_threads = p->n_threads, .series = p->series,
			.start_ns = start_time(u, p),
		};

		err = fn(arg, &row);
	}
	pthread_mutex_unlock(&u->lock);
	return err;
}
