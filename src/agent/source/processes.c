/*
 * Finds the processes that a source counts. A process is one unit as long as it lives; when it executes another
 * program, its further counts go to another series.
 *
 * With `children`, the counters of a process also count the processes that it starts later. These have no unit,
 * even if they match, because they would be counted twice.
 */
#include "agent/source/processes.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/vec.h"

#define MAX_CHILDREN 65536
#define MAX_ANCESTORS 64
#define JUST_STARTED_NS 200000000
#define SETTLE_NS 250000000		/* a process that lives that long gets series of its own */
#define CLOCK_TICK_NS 20000000		/* start times are in clock ticks, 10 ms, and rounded down */

static struct source_unit *find_pid(struct agent_source *s, int pid)
{
	for (size_t i = 0; i < s->n_units; i++)
		if (s->units[i].pid == pid && !s->units[i].gone)
			return &s->units[i];
	return NULL;
}

/* ---- processes counted with an ancestor ---- */

/* The process with whose counters this child is counted; 0: none. */
static int find_ancestor(struct agent_source *s, int pid)
{
	for (size_t i = 0; i < s->children.n; i++)
		if (s->children.v[i].pid == pid)
			return find_pid(s, s->children.v[i].ancestor) ? s->children.v[i].ancestor : 0;
	return 0;
}

static void add_child(struct agent_source *s, int pid, int ancestor)
{
	struct counted_child *child = NULL;

	for (size_t i = 0; i < s->children.n && !child; i++)
		if (s->children.v[i].pid == pid)
			child = &s->children.v[i];
	if (!child && s->children.n < MAX_CHILDREN)
		child = vec_add(&s->children);
	if (child)
		*child = (struct counted_child){ pid, ancestor };
}

static void remove_child(struct agent_source *s, int pid)
{
	for (size_t i = 0; i < s->children.n; i++)
		if (s->children.v[i].pid == pid) {
			s->children.v[i] = s->children.v[--s->children.n];
			return;
		}
}

/* A process that was forked by a counted one, or by its child. */
static void note_child(struct agent_source *s, int pid, int parent)
{
	int ancestor = find_pid(s, parent) ? parent : find_ancestor(s, parent);

	remove_child(s, pid);		/* an earlier process with this number */
	if (ancestor)
		add_child(s, pid, ancestor);
}

struct process_facts {
	int parent;
	uint64_t start_ns;
};

static int copy_facts(void *arg, const struct tacho_process *p)
{
	*(struct process_facts *)arg = (struct process_facts){ p->parent, p->start_ns };
	return 0;
}

/* Follows the parents of a process up to one whose counters it inherited, because it started after they were
 * opened. */
static bool is_counted_with_ancestor(struct agent_source *s, int pid)
{
	struct process_facts child = { 0 }, at = { 0 };
	int known = find_ancestor(s, pid);

	if (known || tacho_process_find(s->tacho, pid, copy_facts, &child) < 0)
		return known;
	at = child;
	for (int i = 0; i < MAX_ANCESTORS && at.parent > 1; i++) {
		const struct source_unit *u = find_pid(s, at.parent);

		if (u && u->set && child.start_ns + CLOCK_TICK_NS >= u->opened_ns) {
			add_child(s, pid, u->pid);
			return true;
		}
		if (tacho_process_find(s->tacho, at.parent, copy_facts, &at) < 0)
			break;
	}
	return false;
}

/* ---- units ---- */

/* A process that has executed another program has other labels. */
static int rename_process(struct agent_source *s, struct source_unit *u, const char *comm)
{
	snprintf(u->comm, sizeof(u->comm), "%s", comm);
	if (u->pending || u->other || s->config->per != PER_PROCESS)
		return 0;
	return unit_relabel(s, u);
}

static int add_process(struct agent_source *s, int pid, const char *comm, bool started)
{
	struct source_unit *u;

	if (s->n_units >= SOURCE_MAX_UNITS || (s->config->children && is_counted_with_ancestor(s, pid)))
		return 0;
	u = unit_add(s);
	if (!u)
		return -ENOMEM;
	u->pid = pid;
	u->started = started;
	u->pending = shows_top_processes(s) && source_watches_processes(s);
	u->other = shows_top_processes(s) && !u->pending && !top_has_place(s);
	snprintf(u->comm, sizeof(u->comm), "%s", comm);
	return unit_open(s, u);
}

static int update_process(struct agent_source *s, int pid, const char *comm, bool started)
{
	struct source_unit *u = find_pid(s, pid);

	if (!u)
		return add_process(s, pid, comm, started);
	u->seen = true;
	return strncmp(u->comm, comm, sizeof(u->comm) - 1) ? rename_process(s, u, comm) : 0;
}

/* ---- matching ---- */

bool source_watches_processes(const struct agent_source *s)
{
	return s->config->target == TARGET_PROCESS;
}

static bool user_matches(const char *pattern, uint32_t uid)
{
	struct passwd entry, *found = NULL;
	char text[1024], number[16];

	if (!pattern)
		return true;
	snprintf(number, sizeof(number), "%u", uid);
	if (!strcmp(number, pattern))
		return true;
	return getpwuid_r(uid, &entry, text, sizeof(text), &found) == 0 && found &&
	       str_glob(str_of(pattern), str_of(entry.pw_name));
}

static bool is_wanted_pid(const struct source_config *cfg, int pid)
{
	for (size_t i = 0; i < cfg->n_pids; i++)
		if (cfg->pids[i] == pid)
			return true;
	return false;
}

/* /proc shows the names of kernel workers with their latest work, "kworker/0:1-events" or "kworker/0:1+events", which
 * changes all the time. The names of rescuers, "kworker/R-name", do not change. */
static struct str stable_name(const char *comm)
{
	struct str name = str_of(comm);
	size_t n = strlen("kworker/");

	if (!str_starts(name, "kworker/") || str_starts(name, "kworker/R-"))
		return name;
	while (n < name.n && name.s[n] != '-' && name.s[n] != '+')
		n++;
	return str_n(name.s, n);
}

static bool is_wanted(const struct source_config *cfg, const struct tacho_process *p, const char *comm)
{
	if (cfg->target == TARGET_PIDS)
		return is_wanted_pid(cfg, p->pid);
	return (!cfg->process || str_glob(str_of(cfg->process), str_of(comm))) &&
	       user_matches(cfg->user, p->uid);
}

static int visit(struct agent_source *s, const struct tacho_process *p, bool started)
{
	struct str name = stable_name(p->comm);
	char comm[64];

	snprintf(comm, sizeof(comm), "%.*s", (int)min_of(name.n, sizeof(comm) - 1), name.s);
	return is_wanted(s->config, p, comm) ? update_process(s, p->pid, comm, started) : 0;
}

/* ---- refresh ---- */

void processes_begin(struct agent_source *s)
{
	size_t kept = 0;

	if (shows_top_processes(s))
		s->n_gone = counter_table_count_ended(&s->counters, &s->agent->registry) /
			    max_of(s->config->n_events, (size_t)1);
	for (size_t i = 0; i < s->children.n; i++)	/* without their ancestor they are counted alone */
		if (find_pid(s, s->children.v[i].ancestor))
			s->children.v[kept++] = s->children.v[i];
	s->children.n = kept;
}

int processes_visit(void *source, const struct tacho_process *p)
{
	return visit(source, p, false);
}

int process_put_into_other(struct agent_source *s, struct source_unit *u)
{
	u->pending = false;
	u->other = true;
	return u->set ? unit_relabel(s, u) : 0;
}

int processes_settle(struct agent_source *s)
{
	uint64_t now = (uint64_t)clock_ns(CLOCK_BOOTTIME);
	int err = 0;

	for (size_t i = 0; err >= 0 && i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		if (!u->pending || (u->started && now < u->opened_ns + SETTLE_NS))
			continue;
		u->other = !top_has_place(s);
		u->pending = false;
		err = u->set ? unit_relabel(s, u) : 0;
	}
	return err;
}

int processes_end(struct agent_source *s)
{
	int err = processes_settle(s);

	return err < 0 || !shows_top_processes(s) ? err : top_update(s);
}

/* ---- changes reported by the kernel ---- */

/* The CPU time that a process used under its first name, before it executed a program, is negligible. */
static int visit_changed(void *source, const struct tacho_process *p)
{
	bool started = (uint64_t)clock_ns(CLOCK_BOOTTIME) < p->start_ns + JUST_STARTED_NS;

	return visit(source, p, started);
}

static int remove_unit(struct agent_source *s, struct source_unit *u)
{
	int err = u->pending ? process_put_into_other(s, u) : 0;

	unit_retire(s, u);
	unit_done(s, u);
	memmove(u, u + 1, (size_t)(s->units + s->n_units - (u + 1)) * sizeof(*u));
	s->n_units--;
	return err;
}

/* A process with series of its own is removed by the next refresh, which also ends the series. */
static int process_ended(struct agent_source *s, int pid)
{
	struct source_unit *u = find_pid(s, pid);

	remove_child(s, pid);
	if (!u)
		return 0;
	u->gone = true;
	return u->pending || u->other ? remove_unit(s, u) : 0;
}

/* A process whose new name does not match is no longer counted. */
static int process_renamed(struct agent_source *s, int pid)
{
	struct source_unit *u = find_pid(s, pid);
	int err;

	if (u)
		u->seen = false;
	err = tacho_process_find(s->tacho, pid, visit_changed, s);
	u = find_pid(s, pid);
	if (err == 0 && u && !u->seen && (u->pending || u->other))
		err = remove_unit(s, u);
	return err;
}

int source_process_changed(struct agent_source *s, const struct tacho_task_change *c)
{
	int err = 0;

	if (!source_watches_processes(s) || s->config->n_events == 0)
		return 0;
	if (c->event == TACHO_TASK_START && s->config->children)
		note_child(s, c->pid, c->parent);
	if (c->event == TACHO_TASK_START)
		err = tacho_process_find(s->tacho, c->pid, visit_changed, s);
	else if (c->event == TACHO_TASK_EXEC)
		err = process_renamed(s, c->pid);
	else if (c->event == TACHO_TASK_END)
		err = process_ended(s, c->pid);
	return err == -ENOMEM ? err : 0;
}
