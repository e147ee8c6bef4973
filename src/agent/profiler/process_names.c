/*
 * Processes are entries with their parent and an index of their names; each control group's names are stored once. Control
 * groups of processes that end within a second cannot be read in time, but their parents' can: the cc1 of a build has
 * the names of its gcc or make.
 */
#include "agent/profiler/process_names.h"

#include <errno.h>
#include <limits.h>

#include "base/int_map.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <tacho/record.h>
#include <tacho/system.h>

#define PROCESSES_MAX 32768u
#define ANCESTORS_MAX 16
#define MISC_COMM_EXEC (1u << 13)	/* PERF_RECORD_MISC_COMM_EXEC */

struct named_process {
	uint32_t pid, parent;		/* 0: unknown */
	uint32_t names;			/* index + 1; 0: not looked up */
};

struct path_names {
	struct cgroup_names names;
	char path[];
};

struct process_names {
	struct { struct named_process *v; size_t n, cap; } processes;
	struct int_map by_pid;		/* -> index */
	struct { struct path_names **v; size_t n, cap; } names;
	struct map by_path;		/* -> index of names */
	struct tacho_scratch scratch;
};

int process_names_new(struct process_names **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void forget_all(struct process_names *n)
{
	for (size_t i = 0; i < n->names.n; i++)
		free(n->names.v[i]);
	vec_done(&n->names);
	vec_done(&n->processes);
	int_map_done(&n->by_pid);
	map_done(&n->by_path);
	n->by_pid = (struct int_map){ .slots = NULL };
	n->by_path = (struct map){ .slots = NULL };
}

void process_names_free(struct process_names *n)
{
	if (n)
		forget_all(n);
	free(n);
}

void process_names_prune(struct process_names *n)
{
	if (n->processes.n > PROCESSES_MAX)
		forget_all(n);
}

static struct named_process *find_process(const struct process_names *n, uint32_t pid)
{
	uint32_t i;

	return int_map_get(&n->by_pid, pid, &i) ? &n->processes.v[i] : NULL;
}

/* NULL: out of memory. */
static struct named_process *add_process(struct process_names *n, uint32_t pid)
{
	struct named_process *p = find_process(n, pid);

	if (p)
		return p;
	p = vec_add(&n->processes);
	if (!p)
		return NULL;
	*p = (struct named_process){ .pid = pid };
	if (int_map_put(&n->by_pid, pid, (uint32_t)n->processes.n - 1) == 0)
		return p;
	n->processes.n--;
	return NULL;
}

static void note_fork(struct process_names *n, uint32_t pid, uint32_t parent)
{
	struct named_process *p = pid != parent ? add_process(n, pid) : NULL;	/* equal: a thread */

	if (p)
		*p = (struct named_process){ .pid = pid, .parent = parent };
}

/* Services are moved to their control group between fork and exec. */
static void note_exec(struct process_names *n, uint32_t pid)
{
	struct named_process *p = find_process(n, pid);

	if (p)
		p->names = 0;
}

void process_names_note(struct process_names *n, const void *records, size_t n_bytes)
{
	struct tacho_record_iter it = { .at = records, .end = (const uint8_t *)records + n_bytes };
	struct tacho_record rec;
	struct tacho_sideband s;

	while (tacho_record_next(&it, &rec) > 0) {
		if (rec.type == TACHO_RECORD_FORK && tacho_sideband_decode(&s, &rec, NULL, &n->scratch) == 0)
			note_fork(n, s.task.pid, s.task.ppid);
		else if (rec.type == TACHO_RECORD_COMM && rec.misc & MISC_COMM_EXEC &&
			 tacho_sideband_decode(&s, &rec, NULL, &n->scratch) == 0)
			note_exec(n, s.comm.pid);
	}
}

/* Index + 1; 0: out of memory. */
static uint32_t names_of_path(struct process_names *n, const char *path)
{
	const uint64_t *known = map_get(&n->by_path, str_of(path));
	struct path_names *names, **slot;

	if (known)
		return (uint32_t)*known + 1;
	names = malloc(sizeof(*names) + strlen(path) + 1);
	slot = names ? vec_add(&n->names) : NULL;
	if (!slot) {
		free(names);
		return 0;
	}
	cgroup_names_of(path, &names->names);
	memcpy(names->path, path, strlen(path) + 1);
	*slot = names;
	map_put(&n->by_path, str_of(names->path), n->names.n - 1);	/* without it, they are stored twice */
	return (uint32_t)n->names.n;
}

static uint32_t names_of(struct process_names *n, struct tacho *t, uint32_t pid, unsigned depth)
{
	struct named_process *p = pid && depth < ANCESTORS_MAX ? add_process(n, pid) : NULL;
	char path[PATH_MAX];
	uint32_t names;

	if (!p || p->names)
		return p ? p->names : 0;
	names = tacho_process_cgroup(t, (int)pid, path, sizeof(path)) == 0 ? names_of_path(n, path) :
									     names_of(n, t, p->parent, depth + 1);
	p = find_process(n, pid);		/* adding ancestors may have moved it */
	p->names = names;
	return names;
}

void process_names_look_up(struct process_names *n, struct tacho *t, uint32_t pid)
{
	names_of(n, t, pid, 0);
}

const struct cgroup_names *process_names_find(const struct process_names *n, uint32_t pid)
{
	const struct named_process *p = find_process(n, pid);

	return p && p->names ? &n->names.v[p->names - 1]->names : NULL;
}
