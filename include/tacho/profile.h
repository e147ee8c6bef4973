#ifndef TACHO_PROFILE_H
#define TACHO_PROFILE_H

#include <tacho/perfdata.h>
#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * A profile: samples with their frames resolved, equal ones added up. Everything is interned
 * and named by small dense ids, so that millions of samples cost tens of megabytes. The same
 * model feeds report, flame graphs and all exports.
 *
 *	new -> load (one file), load ... -> look at it -> free
 *
 *	threads  pid, tid, comm
 *	frames   symbol + object (+ address where asked for)
 *	nodes    stacks as a trie: node = (parent node, frame); node 0 is the empty stack;
 *	         a node's path from the root is outermost caller first, the node itself the leaf
 *	rows     (event, thread, cpu, leaf node ...) -> samples, period
 */
struct tacho_profile;

struct tacho_profile_opts {
	size_t size;
	/* filters: NULL or 0 = all; lists with commas */
	const char *comms, *objects, *symbols, *pids, *tids, *cpus;
	const char *time;		/* "a,b" in seconds, "10%-20%", "10%/2": as perf --time */
	const char *parent;		/* regular expression: only samples with such a caller */
	uint32_t max_stack;		/* frames from the leaf on, 0: all */
	bool no_chains;			/* leaf frames only */
	bool per_address;		/* keep the address apart from the symbol (annotate, srcline) */
	bool per_cpu, per_time;		/* rows keep the CPU; one row per sample with its time */
	bool caller_first;		/* max_stack counts from the outermost caller, as perf's
					 * caller order does */
	bool split_unknown;		/* frames without a symbol: one per address rather than one per
					 * object */
	bool per_cgroup;		/* rows keep the cgroup's id */
	bool join_threads;		/* rows name the first thread of the same comm */
};

TACHO_API int tacho_profile_new(struct tacho_profile **out, const struct tacho_profile_opts *opts,
				struct tacho_error *e);
TACHO_API void tacho_profile_free(struct tacho_profile *p);
/* Reads all of `pd` (opened with ordered = true). Damage at the end keeps what came before and
 * is told in *e (returns -EBADMSG, -ENODATA). May be called for several files. */
TACHO_API int tacho_profile_load(struct tacho_profile *p, struct tacho_perfdata *pd,
				 const struct tacho_symbols_opts *symbols, struct tacho_error *e);
/* Adds all of `from`, which stays as it is. The filters of `p` are not asked. 0 or -ENOMEM. */
TACHO_API int tacho_profile_merge(struct tacho_profile *p, const struct tacho_profile *from);

struct tacho_profile_event {
	const char *name;
	uint64_t samples, period;	/* totals after filters */
	uint64_t all_samples, all_period;	/* before the filters that look at what was sampled
						 * (comms, objects, symbols, pids, tids, parent) */
	uint32_t leader, group_size;	/* event ids; its own and 1 without a group */
	bool has_chains;
	bool tracepoint;
};
struct tacho_profile_thread {
	uint32_t pid, tid;
	const char *comm;
};
struct tacho_profile_frame {
	uint32_t symbol, object;	/* ids of equal text */
	const char *name;		/* "[unknown]" or a hex address where there is none */
	const char *object_path, *object_name;
	uint64_t address;		/* in the object; the symbol's start unless per_address */
	uint64_t offset;		/* of a frame without a symbol: in the object's file, or the
					 * address itself where the object is not known either */
	enum tacho_space space;
	bool inlined, jit;
	bool known;			/* it has a symbol */
};
struct tacho_profile_object {
	const char *path, *name;
	uint8_t build_id[20], n_build_id;
	bool kernel, jit, has_symbols;
	const char *why;		/* why there are no symbols; NULL: not known or there are */
	uint64_t unresolved;		/* samples whose leaf lies there and has no symbol */
	uint64_t broken;		/* samples whose stack ends there although nothing starts there */
};
struct tacho_profile_node {
	uint32_t parent, frame;
};
struct tacho_profile_row {
	uint32_t event, thread, node;
	int32_t cpu;			/* -1: not kept */
	uint64_t time;			/* 0: not kept */
	uint64_t cgroup;		/* 0: not kept */
	uint64_t samples, period;
};

TACHO_API size_t tacho_profile_n_events(const struct tacho_profile *p);
TACHO_API size_t tacho_profile_n_threads(const struct tacho_profile *p);
TACHO_API size_t tacho_profile_n_frames(const struct tacho_profile *p);
TACHO_API size_t tacho_profile_n_objects(const struct tacho_profile *p);	/* object 0: "[unknown]" */
TACHO_API size_t tacho_profile_n_nodes(const struct tacho_profile *p);
TACHO_API size_t tacho_profile_n_rows(const struct tacho_profile *p);
TACHO_API const struct tacho_profile_event *tacho_profile_event(const struct tacho_profile *p, size_t i);
TACHO_API const struct tacho_profile_thread *tacho_profile_thread(const struct tacho_profile *p, size_t i);
TACHO_API const struct tacho_profile_frame *tacho_profile_frame(const struct tacho_profile *p, size_t i);
TACHO_API const struct tacho_profile_object *tacho_profile_object(const struct tacho_profile *p, size_t i);
TACHO_API const struct tacho_profile_node *tacho_profile_nodes(const struct tacho_profile *p);
TACHO_API const struct tacho_profile_row *tacho_profile_rows(const struct tacho_profile *p);

/* The path of a cgroup, or NULL where no record told it. */
TACHO_API const char *tacho_profile_cgroup(const struct tacho_profile *p, uint64_t id);

/* How good the data is. */
struct tacho_profile_quality {
	size_t size;
	uint64_t samples, lost, throttled;
	uint64_t broken_stacks;		/* chains that end before a known entry point */
	uint64_t unresolved;		/* leaf frames without a symbol */
	uint64_t raw_stacks;		/* samples with a dumped stack that was not unwound */
	double first_s, last_s;
	uint64_t lost_records;		/* LOST and LOST_SAMPLES records, which `lost` adds up */
	uint64_t bad_records;		/* that did not hold what they promised, and were passed over */
};
TACHO_API void tacho_profile_quality(const struct tacho_profile *p, struct tacho_profile_quality *out);

TACHO_END_DECLS
#endif
