/*
 * Decides which processes and control groups have series of their CPU time. The busiest get one; it ends when they
 * have not been among the busiest for a while, so that a changing order does not make and end series all the time.
 * How many series may begin per minute is limited as well: a build starts thousands of processes. Processes without a series
 * are summed as comm="other".
 */
#include "agent/source/usage_internal.h"

#include <errno.h>
#include <stdio.h>

#include "base/vec.h"

#define QUIET_SCANS 60		/* a series ends after so many scans in which it was not among the busiest */
#define YIELD_SCANS 10		/* or so many, if a busier one needs its place */
#define NEW_SCANS 3		/* a process gets a series after so many scans */
#define MIN_CPU 0.002		/* and if it uses this much of a CPU */

struct task_labels {
	struct label v[8];
	size_t n;
};

/* Labels are sorted by name; empty ones are left out. */
static void put_label(struct task_labels *l, const char *name, const char *value)
{
	if (*value)
		l->v[l->n++] = (struct label){ name, (char *)value };
}

static uint32_t add_series(struct usage *u, const struct metric *m, const struct task_labels *l, int64_t start_ns)
{
	int64_t id = registry_add(&u->agent->registry, &(struct series_desc){ .metric = m, .source = "usage", .labels = l->v,
									      .n_labels = l->n, .start_ns = min_of(start_ns, u->wall_ns) });
	return id < 0 ? 0 : (uint32_t)id;
}

static int add_process_series(struct usage *u, struct used_process *p)
{
	const struct used_cgroup *g = p->cgroup ? &u->cgroups.v[p->cgroup - 1] : NULL;
	struct task_labels l = { .n = 0 };
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", p->pid);
	put_label(&l, "cgroup", g && g->path[1] ? g->path : "");
	put_label(&l, "comm", p->comm);
	put_label(&l, "container", g ? g->names.container : "");
	put_label(&l, "pid", pid);
	put_label(&l, "pod", g ? g->names.pod : "");
	put_label(&l, "service", g ? g->names.service : "");
	put_label(&l, "source", "usage");
	put_label(&l, "user", p->user);
	p->series = add_series(u, u->process_metric, &l, (int64_t)(u->boot_wall_ns + p->start_ns));
	u->new_series -= 1;
	return p->series ? 0 : -ENOMEM;
}

static void end_series(struct usage *u, uint32_t *series)
{
	if (*series)
		registry_end(&u->agent->registry, *series);
	*series = 0;
}

static size_t end_quiet_processes(struct usage *u, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n_busiest; i++) {
		struct used_process *p = &u->processes.v[u->busiest[i]];

		p->quiet = i < max && p->recent_cpu >= MIN_CPU ? 0 : p->quiet + 1;
		if (p->series && p->quiet > QUIET_SCANS)
			end_series(u, &p->series);
		n += p->series != 0;
	}
	return n;
}

/* Ends the series of the quietest process to make room for a busier one. Returns false if all are still busy. */
static bool end_quietest_process(struct usage *u)
{
	struct used_process *found = NULL;

	for (size_t i = 0; i < u->processes.n; i++) {
		struct used_process *p = &u->processes.v[i];

		if (p->series && p->quiet > YIELD_SCANS && (!found || p->recent_cpu < found->recent_cpu))
			found = p;
	}
	if (found)
		end_series(u, &found->series);
	return found;
}

static int update_processes(struct usage *u, size_t max)
{
	size_t n = end_quiet_processes(u, max);

	u->new_series = u->scan_before_ns
		? min_of(u->new_series + (double)max * (double)(u->scan_ns - u->scan_before_ns) / 60e9, (double)max)
		: (double)max;
	for (size_t i = 0; i < min_of(u->n_busiest, max); i++) {
		struct used_process *p = &u->processes.v[u->busiest[i]];

		if (p->series || p->recent_cpu < MIN_CPU || p->scans < NEW_SCANS || u->new_series < 1)
			continue;
		if (n >= max && !end_quietest_process(u))
			break;
		n += n < max;
		if (add_process_series(u, p) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_other(struct usage *u)
{
	struct task_labels l = { .n = 0 };

	if (u->other)
		return 0;
	put_label(&l, "comm", "other");
	put_label(&l, "source", "usage");
	u->other = add_series(u, u->process_metric, &l, u->wall_ns);
	return u->other ? 0 : -ENOMEM;
}

static int put_processes(struct usage *u)
{
	int err = add_other(u);

	if (err == 0)
		err = usage_put_point(u, u->other, u->other_ns);
	for (size_t i = 0; err == 0 && i < u->processes.n; i++)
		if (u->processes.v[i].series)
			err = usage_put_point(u, u->processes.v[i].series, u->processes.v[i].cpu_ns);
	return err;
}

/* ---- control groups ---- */

static int add_cgroup_series(struct usage *u, struct used_cgroup *g)
{
	struct task_labels l = { .n = 0 };

	put_label(&l, "cgroup", g->path);
	put_label(&l, "container", g->names.container);
	put_label(&l, "pod", g->names.pod);
	put_label(&l, "service", g->names.service);
	put_label(&l, "source", "usage");
	g->series = add_series(u, u->cgroup_metric, &l, g->start_ns);
	return g->series ? 0 : -ENOMEM;
}

/* The kernel's time includes processes that lived between two scans. Only groups whose processes used CPU time are
 * read. */
static void read_cgroup(struct usage *u, struct used_cgroup *g, double elapsed_s)
{
	uint64_t now = 0, used = g->added_ns;

	if (g->accounted && (g->added_ns || g->series) && tacho_cgroup_cpu(u->tacho, g->path, &now) == 0) {
		used = now > g->last_ns ? now - g->last_ns : 0;
		g->last_ns = now;
	}
	g->total_ns += used;
	if (elapsed_s > 0)
		g->recent_cpu += ((double)used * 1e-9 / elapsed_s - g->recent_cpu) * min_of(elapsed_s / 10, 1.0);
}

static int update_cgroups(struct usage *u, size_t max)
{
	double elapsed_s = u->scan_before_ns ? (double)(u->scan_ns - u->scan_before_ns) * 1e-9 : 0;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < u->cgroups.n; i++) {
		struct used_cgroup *g = &u->cgroups.v[i];

		read_cgroup(u, g, elapsed_s);
		g->quiet = g->recent_cpu >= MIN_CPU ? 0 : g->quiet + 1;
		if (g->quiet > QUIET_SCANS)
			end_series(u, &g->series);
		n += g->series != 0;
	}
	while (err == 0 && n < max) {		/* the busiest without a series */
		struct used_cgroup *found = NULL;

		for (size_t i = 0; i < u->cgroups.n; i++) {
			struct used_cgroup *g = &u->cgroups.v[i];

			if (!g->series && g->path[1] && g->recent_cpu >= MIN_CPU && (!found || g->recent_cpu > found->recent_cpu))
				found = g;
		}
		if (!found)
			break;
		err = add_cgroup_series(u, found);
		n++;
	}
	for (size_t i = 0; err == 0 && i < u->cgroups.n; i++)
		if (u->cgroups.v[i].series)
			err = usage_put_point(u, u->cgroups.v[i].series, u->cgroups.v[i].total_ns);
	return err;
}

/* Removes the groups that no process refers to, once there are many. */
static void forget_cgroups(struct usage *u)
{
	scoped(freep) uint32_t *map = NULL;
	size_t kept = 0;

	if (u->cgroups.n < 256)
		return;
	map = calloc(u->cgroups.n + 1, sizeof(*map));
	if (!map)
		return;
	for (size_t i = 0; i < u->processes.n; i++)
		map[u->processes.v[i].cgroup] = 1;
	for (size_t i = 0; i < u->cgroups.n; i++) {
		if (!map[i + 1] && !u->cgroups.v[i].series) {
			free(u->cgroups.v[i].path);
			continue;
		}
		u->cgroups.v[kept++] = u->cgroups.v[i];
		map[i + 1] = (uint32_t)kept;
	}
	u->cgroups.n = kept;
	map[0] = 0;
	for (size_t i = 0; i < u->processes.n; i++)
		u->processes.v[i].cgroup = map[u->processes.v[i].cgroup];
}

int usage_task_points(struct usage *u, size_t max_processes, size_t max_cgroups)
{
	int err = update_processes(u, max_processes);

	if (err == 0 && max_processes)
		err = put_processes(u);
	if (err == 0)
		err = update_cgroups(u, max_cgroups);
	forget_cgroups(u);
	return err;
}

void usage_end_tasks(struct usage *u)
{
	for (size_t i = 0; i < u->processes.n; i++)
		end_series(u, &u->processes.v[i].series);
	for (size_t i = 0; i < u->cgroups.n; i++)
		end_series(u, &u->cgroups.v[i].series);
	end_series(u, &u->other);
	u->other_ns = 0;
}
