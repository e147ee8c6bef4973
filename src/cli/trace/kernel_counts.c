/*
 * Summaries whose calls are counted in the kernel: no event of a call reaches this process. At the end the counts of the
 * BPF programs' maps become the statistics that summary.c prints.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <fts.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP2_MAGIC 0x63677270

/* Lines, and what is decided by arguments or times, need the events. */
bool trace_can_count_in_kernel(const struct trace *t)
{
	const struct trace_opts *o = t->o;

	return (o->summary || o->strace_counts) && !o->with_summary && !o->paths.n && !o->exec_tree;
}

enum tacho_syscall_count_by trace_count_by(const struct trace_opts *o)
{
	if (trace_summary_by_thread(o))
		return TACHO_SYSCALL_BY_THREAD;
	return trace_summary_by_cgroup(o) ? TACHO_SYSCALL_BY_CGROUP : TACHO_SYSCALL_IN_TOTAL;
}

static void add_counts(struct call_stats *to, const struct tacho_syscall_count *c)
{
	double mean = (double)c->sum_ns / (double)c->calls, delta = mean - to->mean;
	double m2 = c->sum_of_squares - mean * (double)c->sum_ns;

	to->m2 += max_of(m2, 0.0) + delta * delta * (double)to->calls * (double)c->calls / (double)(to->calls + c->calls);
	to->mean += delta * (double)c->calls / (double)(to->calls + c->calls);
	to->calls += c->calls;
	to->errors += c->errors;
	to->sum_ns += c->sum_ns;
	to->min_ns = min_of(to->min_ns, c->min_ns);
	to->max_ns = max_of(to->max_ns, c->max_ns);
}

static int add_to(struct trace_stats *s, const struct tacho_syscall_count *c)
{
	struct call_stats *of = trace_stats_of(s, c->nr | (c->compat ? TRACE_OF_32_BITS : 0));
	uint32_t n = 0;

	if (!of)
		return -ENOMEM;
	if (c->error) {
		int_map_get(&of->errnos, (uint64_t)c->error, &n);
		return int_map_put(&of->errnos, (uint64_t)c->error, n + (uint32_t)c->calls);
	}
	s->events += 2 * c->calls;
	add_counts(of, c);
	return 0;
}

struct count_reader {
	struct trace *t;
	struct int_map threads;		/* serial and ID -> index */
};

static struct trace_thread *thread_of(struct count_reader *r, const struct tacho_syscall_count *c)
{
	struct trace *t = r->t;
	uint32_t i;

	if (int_map_get(&r->threads, (uint64_t)c->serial << 32 | c->tid, &i))
		return t->threads.v[i];
	return trace_thread_get(t, (int)c->tid, (int)c->tid);
}

static struct trace_stats *stats_of_cgroup(struct trace *t, uint64_t id)
{
	struct trace_cgroup *g;

	for (size_t i = 0; i < t->cgroups.n; i++)
		if (t->cgroups.v[i].id == id)
			return t->cgroups.v[i].stats;
	g = vec_add(&t->cgroups);
	if (!g)
		return NULL;
	g->id = id;
	g->stats = calloc(1, sizeof(*g->stats));
	if (!g->stats)
		t->cgroups.n--;
	return g->stats;
}

static int on_count(void *reader, const struct tacho_syscall_count *c)
{
	struct count_reader *r = reader;
	struct trace *t = r->t;
	struct trace_stats *s = NULL;
	int err;

	if (!trace_selects(t, c->nr))	/* the exec that starts the command */
		return 0;
	err = add_to(&t->total, c);
	if (err < 0 || trace_count_by(t->o) == TACHO_SYSCALL_IN_TOTAL)
		return err;
	if (trace_count_by(t->o) == TACHO_SYSCALL_BY_CGROUP) {
		s = stats_of_cgroup(t, c->cgroup);
	} else {
		struct trace_thread *th = thread_of(r, c);

		if (th && !th->stats)
			th->stats = calloc(1, sizeof(*th->stats));
		s = th ? th->stats : NULL;
	}
	return s ? add_to(s, c) : -ENOMEM;
}

int trace_read_counts(struct trace *t)
{
	struct count_reader r = { .t = t };
	int err = 0;

	for (size_t i = 0; i < t->threads.n && err == 0; i++)
		err = int_map_put(&r.threads, (uint64_t)t->threads.v[i]->serial << 32 | (uint32_t)t->threads.v[i]->tid, (uint32_t)i);
	if (err == 0)
		err = tacho_syscall_tracer_counts(t->tracer, on_count, &r, &t->uncounted);
	int_map_done(&r.threads);
	return err;
}

/* The ID of a group is the number of its directory in the unified hierarchy. */
char *trace_cgroup_path(uint64_t id)
{
	static char *const roots[] = { (char *)"/sys/fs/cgroup", (char *)"/sys/fs/cgroup/unified" };
	char *found = NULL;

	for (size_t i = 0; i < countof(roots) && !found; i++) {
		char *const paths[] = { roots[i], NULL };
		struct statfs fs;
		FTSENT *entry;
		FTS *walk;

		if (statfs(roots[i], &fs) < 0 || fs.f_type != CGROUP2_MAGIC)
			continue;
		walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
		while (walk && !found && (entry = fts_read(walk)))
			if (entry->fts_info == FTS_D && entry->fts_statp->st_ino == id)
				found = str_dup(str_of(entry->fts_path[strlen(roots[i])] ? entry->fts_path + strlen(roots[i]) : "/"));
		if (walk)
			fts_close(walk);
	}
	return found;
}
