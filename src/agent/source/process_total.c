/*
 * The rest of each event is advanced by what the total counted since the last tick minus what the series of single
 * processes did. That may be negative for a moment, because the counters are read one after the other; the rest then
 * waits until the total has caught up, so that it never falls and the sum never exceeds the total.
 */
#include "agent/source/process_total.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"

#define OPEN_TRIES 3
#define REOPEN_NS 30000000000	/* a total that is too small for this long lacks processes: it is opened again */

/* The rest of one event. */
struct process_rest {
	uint32_t counter;	/* index of its series */
	uint32_t entry, ordinal;	/* the configured event, and which event of its group */
	uint64_t total, total_before, held, rest;
	int64_t owed;		/* negative: the single processes counted more than the total */
	bool begun;		/* total_before is valid */
	bool cpu_time;		/* its total is the busy time of the machine */
};

static bool counts_all_processes(const struct agent_source *s)
{
	const struct source_config *cfg = s->config;

	return source_watches_processes(s) && !cfg->user && !cfg->children &&
	       (!cfg->process || !strcmp(cfg->process, "*"));
}

static uint32_t ordinal_of(const struct source_unit *u, uint32_t event)
{
	uint32_t n = 0;

	while (event > n && u->entry_of[event - n - 1] == u->entry_of[event])
		n++;
	return n;
}

/* ---- opening ---- */

struct pid_list {
	int *v;
	size_t n, cap;
};

static int add_pid(void *arg, const struct tacho_process *p)
{
	struct pid_list *list = arg;
	int *pid = vec_add(list);

	if (pid)
		*pid = p->pid;
	return pid ? 0 : -ENOMEM;
}

static bool has_new_pid(const struct pid_list *before, const struct pid_list *now)
{
	size_t k = 0;

	for (size_t i = 0; i < now->n; i++) {		/* both are sorted */
		while (k < before->n && before->v[k] < now->v[i])
			k++;
		if (k == before->n || before->v[k] != now->v[i])
			return true;
	}
	return false;
}

/* The series keep their counts. */
static void add_rests_to_base(struct agent_source *s)
{
	for (size_t i = 0; i < s->n_rests; i++) {
		struct counter_series *counter = &s->counters.v[s->rests[i].counter];

		counter->base.count += s->rests[i].rest;
		counter->base.raw += s->rests[i].rest;
		counter->total = false;
	}
	free(take(s->rests));
	s->n_rests = 0;
}

void process_total_close(struct agent_source *s)
{
	if (!s->all)
		return;
	add_rests_to_base(s);
	unit_done(s, s->all);
	free(take(s->all));
}

/* Since Linux 6.16 the counters of a process end before it frees its memory, which for short processes is several
 * percent of their CPU time. The CPU time of all processes is therefore that of the machine, where the agent sees
 * all of them: in the first PID namespace. */
static bool measures_cpu_time(const struct source_config *cfg, const struct tacho_event *ev, uint32_t entry)
{
	static const char first_namespace[] = "pid:[4026531836]";
	const char *spec = cfg->events[entry].spec;
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link));

	return ev->kind == TACHO_EVENT_SOFTWARE && !strcmp(ev->unit, "msec") && !strchr(spec, ':') &&
	       !strchr(spec, '/') && n == sizeof(first_namespace) - 1 && !memcmp(link, first_namespace, (size_t)n);
}

/* User, nice and system time of all CPUs, in nanoseconds; 0: unknown. */
static uint64_t busy_ns(void)
{
	long per_second = sysconf(_SC_CLK_TCK);
	unsigned long long user, nice, system;
	FILE *f = fopen("/proc/stat", "re");
	bool ok = f && fscanf(f, "cpu %llu %llu %llu", &user, &nice, &system) == 3;

	if (f)
		fclose(f);
	return ok && per_second > 0 ? (uint64_t)(user + nice + system) * (1000000000u / (uint64_t)per_second) : 0;
}

static bool is_cpu_time(const struct agent_source *s, uint32_t event)
{
	return measures_cpu_time(s->config, tacho_evset_event(s->all->set, event), s->all->entry_of[event]) &&
	       busy_ns();
}

static int make_rests(struct agent_source *s)
{
	const struct source_unit *u = s->all;
	const struct tacho_sum *rows;
	int n = unit_sums(s, s->all, &rows);

	if (n < 0)
		return n;
	s->rests = calloc((size_t)n + 1, sizeof(*s->rests));
	if (!s->rests)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		uint32_t counter = u->counter_of_row[i];

		if (counter == NO_COUNTER || u->repeats[i] || rows[i].state > TACHO_NOT_COUNTED)
			continue;
		s->counters.v[counter].total = s->counters.v[counter].stays = true;
		s->rests[s->n_rests++] = (struct process_rest){ .counter = counter,
								.entry = u->entry_of[rows[i].event],
								.ordinal = ordinal_of(u, rows[i].event),
								.cpu_time = is_cpu_time(s, rows[i].event) };
	}
	return 0;
}

static int try_open(struct agent_source *s, const struct pid_list *pids)
{
	int err;

	s->all = calloc(1, sizeof(*s->all));
	if (!s->all)
		return -ENOMEM;
	s->all->pid = pids->v[0];
	s->all->total_pids = pids->v;
	s->all->n_total_pids = pids->n;
	s->all->other = s->config->per == PER_PROCESS;
	err = unit_open(s, s->all);
	s->all->total_pids = NULL;
	return err;
}

/* A process that starts while the counters are opened may escape them with all its children: then try again. */
static int open_total(struct agent_source *s)
{
	int err = 0;

	for (int i = 0; err == 0 && i < OPEN_TRIES; i++) {
		struct pid_list before = { 0 }, after = { 0 };
		bool again;

		process_total_close(s);
		err = tacho_processes(s->tacho, add_pid, &before);
		if (err == 0 && before.n)
			err = try_open(s, &before);
		if (err == 0)
			err = tacho_processes(s->tacho, add_pid, &after);
		again = has_new_pid(&before, &after);
		vec_done(&before);
		vec_done(&after);
		if (!again)
			break;
	}
	if (err == 0 && s->all && s->all->set)
		err = make_rests(s);
	if (s->all && (err < 0 || !s->n_rests))
		process_total_close(s);
	return err;
}

int process_total_refresh(struct agent_source *s)
{
	int64_t now = (int64_t)clock_mono_ns();
	bool lags = false;
	int err;

	if (!counts_all_processes(s) || s->total_refused)
		return 0;
	for (size_t i = 0; i < s->n_rests; i++)
		lags = lags || s->rests[i].owed < 0;
	if (!lags || !s->total_ok_ns)
		s->total_ok_ns = now;
	if (s->all && now - s->total_ok_ns < REOPEN_NS)
		return 0;
	s->total_ok_ns = now;
	err = open_total(s);
	s->total_refused = !s->all;
	return err == -ENOMEM ? err : 0;
}

void process_total_resume(struct agent_source *s)
{
	for (size_t i = 0; i < s->n_rests; i++)
		s->rests[i].begun = false;
}

void process_total_renumber(struct agent_source *s, const uint32_t *map)
{
	for (size_t i = 0; i < s->n_rests; i++)
		s->rests[i].counter = map[s->rests[i].counter];
}

/* ---- a tick ---- */

int process_total_read(struct agent_source *s)
{
	const struct source_unit *u = s->all;
	const struct tacho_sum *rows;
	int n, n_read;

	if (!u)
		return 0;
	n_read = tacho_evset_read(u->set, NULL);
	n = unit_sums(s, s->all, &rows);
	for (size_t k = 0; k < s->n_rests; k++) {
		struct process_rest *r = &s->rests[k];

		r->held = 0;
		if (r->cpu_time)
			r->total = max_of(r->total, busy_ns());
		for (int i = 0; i < n && !r->cpu_time; i++)
			if (u->entry_of[rows[i].event] == r->entry && ordinal_of(u, rows[i].event) == r->ordinal)
				r->total = max_of(r->total, rows[i].count);
	}
	return n < 0 ? n : n_read;
}

void process_total_hold(struct agent_source *s, const struct source_unit *u, const struct tacho_sum *rows, size_t n)
{
	for (size_t k = 0; k < s->n_rests; k++)
		for (size_t i = 0; i < n; i++)
			if (u->entry_of[rows[i].event] == s->rests[k].entry &&
			    ordinal_of(u, rows[i].event) == s->rests[k].ordinal)
				s->rests[k].held += rows[i].count;
}

/* What the series of single processes with this metric counted since the last tick. */
static uint64_t counted_alone(struct agent_source *s, const struct metric *metric)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->counters.n; i++) {
		struct counter_series *c = &s->counters.v[i];
		uint64_t count = c->base.count + s->sums[i].count;

		if (c->total || c->metric != metric || count <= c->subtracted)
			continue;
		sum += count - c->subtracted;
		c->subtracted = count;
	}
	return sum;
}

void process_total_points(struct agent_source *s)
{
	for (size_t k = 0; k < s->n_rests; k++) {
		struct process_rest *r = &s->rests[k];
		struct counter_series *c = &s->counters.v[r->counter];
		struct point open = { .state = TACHO_COUNTING };
		int64_t alone = (int64_t)counted_alone(s, c->metric);

		if (r->begun)
			r->owed += (int64_t)(r->total - r->total_before) - alone;
		else
			r->owed = (int64_t)r->held;
		r->begun = true;
		r->total_before = r->total;
		if (r->owed > (int64_t)r->held) {
			r->rest += (uint64_t)r->owed - r->held;
			r->owed = (int64_t)r->held;
		}
		open.count = open.raw = r->rest;
		open.enabled_ns = open.running_ns = r->total;
		counter_series_point(c, &open, &s->points[s->n_points++]);
	}
}
