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

#define TACHO_FIELDS_MAX 16
enum tacho_keep {			/* of a sample; see struct tacho_profile_detail */
	TACHO_KEEP_WEIGHT = 1 << 0,	/* weight, ins_lat, stage_cyc */
	TACHO_KEEP_DATA_SRC = 1 << 1, TACHO_KEEP_TRANSACTION = 1 << 2,
	TACHO_KEEP_PAGE_SIZE = 1 << 3, TACHO_KEEP_PHYS_ADDR = 1 << 4,
	TACHO_KEEP_IP = 1 << 5, TACHO_KEEP_DATA = 1 << 6, TACHO_KEEP_SPACE = 1 << 7,
	TACHO_KEEP_FROM = 1 << 8, TACHO_KEEP_TO = 1 << 9, TACHO_KEEP_BRANCH = 1 << 10,
	TACHO_KEEP_TRACE = 1 << 11,	/* the text of a tracepoint */
	TACHO_KEEP_PARALLELISM = 1 << 12,	/* needs records of context switches */
	TACHO_KEEP_CGROUP = 1 << 13,
};

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
	bool join_threads;		/* rows name the first thread of the same comm */
	bool per_srcline;		/* frames of one function differ by their source line */
	bool branches;			/* one row per branch of a sample's branch stack, with a period of 1
					 * and the cycles it took as its weight */
	bool weigh;			/* a sample's period is its weight, at least 1 */
	uint32_t keep;			/* what rows keep in their details: enum tacho_keep */
	const char *const *fields;	/* tracepoint fields that details keep: "EVENT.FIELD" or "FIELD";
					 * must stay as long as the profile */
	size_t n_fields;		/* at most TACHO_FIELDS_MAX */
	const char *parallelism;	/* filter: a list of numbers and ranges, "1,4-8" */
	bool raw_fields;		/* as they lie there, not as the event's text shows them */
	bool split_comms;		/* each node has stacks of one command only; merge and unpack refuse */
	bool unjudged;			/* nobody will ask how many stacks are broken and leaves unresolved */
	bool once;			/* one file is loaded and nothing added to it: what finds things again
					 * is freed then; a second load, merge and unpack refuse */
	const char *switch_on, *switch_off;	/* events: only samples between them, see struct
						 * tacho_switch; must stay as long as the profile */
	bool show_switches;
	const char *counted_cpus;	/* filter: as `cpus`, but the others' samples are in the sums before
					 * the filters; asked of files, not by unpack */
	const char *ignore_callees;	/* regular expression: a stack ends with its outermost function that
					 * matches, which then has the samples of all it called; asked
					 * of files, not by unpack */
	bool resolved;			/* as if samples without a symbol had never been, and callers
					 * without one were not in their stacks; of files, too */
};

TACHO_API int tacho_profile_new(struct tacho_profile **out, const struct tacho_profile_opts *opts,
				struct tacho_error *e);
TACHO_API void tacho_profile_free(struct tacho_profile *p);
/* Reads all of `pd` (opened with ordered = true). Damage at the end keeps what came before and
 * is told in *e: -EBADMSG where a record cannot be, -ENODATA where the file is cut off. May be
 * called for several files, unless the options say `once`. */
TACHO_API int tacho_profile_load(struct tacho_profile *p, struct tacho_perfdata *pd,
				 const struct tacho_symbols_opts *symbols, struct tacho_error *e);
/* The same with symbols of the caller's, which know what earlier calls told them: for a recording
 * that comes piece by piece. What is named stays named when the process has ended. */
TACHO_API int tacho_profile_load_next(struct tacho_profile *p, struct tacho_perfdata *pd,
				      struct tacho_symbols *symbols, struct tacho_error *e);
/* Adds all of `from`, which stays as it is. The filters of `p` are not asked. 0, -ENOMEM, or -EINVAL
 * where `p` splits nodes by command or is loaded once. */
TACHO_API int tacho_profile_merge(struct tacho_profile *p, const struct tacho_profile *from);

/* Takes `n` bytes; a negative errno stops the writer and is what it returns. */
typedef int (*tacho_put)(void *arg, const void *bytes, size_t n);

/*
 * A profile as few bytes, for keeping: events, objects with build ids, threads, frames, stacks and
 * rows with their times, CPUs and sums. Details, values, cgroups and latencies are left out.
 */
struct tacho_pack_opts {		/* zero means the default in every field */
	size_t size;
	int64_t shift_ns;		/* is added to each time, as from the clock of samples to the wall's */
	int level;			/* of compression, 1 to 19; 0: 3 */
};
/* 0, -E2BIG where it is beyond what unpack takes (16 MiB before compression), -EINVAL, -ENOMEM, or
 * what `put` returned. */
TACHO_API int tacho_profile_pack(const struct tacho_profile *p, const struct tacho_pack_opts *opts,
				 tacho_put put, void *arg, struct tacho_error *e);

struct tacho_unpack_opts {		/* zero means the default in every field */
	size_t size;
	uint64_t from_ns, to_ns;	/* only rows with from <= time < to; to 0: to the end */
};
/* Adds what was packed. The filters of `p` for commands, objects, symbols, pids, tids, CPUs and
 * callers are asked, and its rows keep CPU and time only where its options say so. The bytes may
 * come from anywhere: -EBADMSG where they are no packed profile or a damaged one, which adds
 * nothing; -EPROTO where a newer library has written them; -EINVAL, -E2BIG, -ENOMEM. */
TACHO_API int tacho_profile_unpack(struct tacho_profile *p, const void *bytes, size_t n,
				   const struct tacho_unpack_opts *opts, struct tacho_error *e);

struct tacho_profile_event {
	const char *name;
	uint64_t samples, period;	/* totals after filters */
	uint64_t all_samples, all_period;	/* before the filters that look at what was sampled
						 * (comms, objects, symbols, pids, tids, parent,
						 * counted_cpus) */
	uint32_t leader, group_size;	/* event ids; its own and 1 without a group */
	bool has_chains;
	bool tracepoint;
	uint64_t latency, all_latency;	/* with TACHO_KEEP_PARALLELISM, after and before the filters: periods
					 * times 1000, each divided by how many threads ran */
};
struct tacho_profile_thread {
	uint32_t pid, tid;
	const char *comm;		/* as its samples had it */
	const char *last, *process;	/* the last name of the thread, and of its process */
};
/* What frames that differ in their addresses only have in common. */
struct tacho_profile_code {
	uint32_t symbol, object;	/* ids of equal text */
	const char *name;		/* "[unknown]" or a hex address where there is none */
	const char *object_path, *object_name;
	const char *srcfile;		/* per_srcline: NULL where not known; equal text, equal pointer */
};
struct tacho_profile_frame {
	const struct tacho_profile_code *code;	/* never NULL */
	uint64_t address;		/* in the object; the symbol's start unless per_address */
	uint64_t offset;		/* of a frame without a symbol: in the object's file, or the
					 * address itself where the object is not known either; with a symbol:
					 * how far behind its start, per_address, or per_srcline without a line */
	uint32_t srcline;
	uint8_t space;			/* enum tacho_space */
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
	uint32_t samples;		/* where these are too many, another row goes on */
	uint32_t detail;		/* 0: none is kept */
	uint64_t time;			/* 0: not kept */
	uint64_t period;
};

/* Where an address of a sample lies. */
struct tacho_profile_place {
	uint64_t address;		/* as sampled; 0: none */
	uint64_t object_address;	/* in the object */
	uint64_t symbol_offset;
	uint32_t frame;			/* + 1; 0: none */
	uint32_t reserved;		/* 0; details are compared byte by byte */
};
/* What is kept of samples beyond thread and stack. Equal details have one id; what was not asked
 * for is zero. */
struct tacho_profile_detail {
	uint64_t weight, data_src, transaction, phys_addr, code_page_size, data_page_size, cgroup;
	uint32_t ins_lat, stage_cyc;
	struct tacho_profile_place ip, data, from, to;
	uint64_t branch;		/* flags, as in struct tacho_branch */
	enum tacho_space space;
	uint32_t trace;			/* value id; 0: none */
	uint32_t parallelism;		/* how many threads ran, from 1 to the machine's CPUs */
	uint32_t reserved;		/* 0 */
	uint32_t fields[TACHO_FIELDS_MAX];	/* value ids, in the order of the options */
};
/* A tracepoint's text, or one of its fields. */
struct tacho_profile_value {
	const void *bytes;		/* of a field, as they lie in the sample */
	size_t n_bytes;
	const char *text;
	uint32_t size;			/* of the field, as its format has it */
	bool is_string;
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

TACHO_API const struct tacho_profile_detail *tacho_profile_detail(const struct tacho_profile *p,
								  uint32_t id);	/* NULL for 0 */
TACHO_API const struct tacho_profile_value *tacho_profile_value(const struct tacho_profile *p,
								uint32_t id);	/* NULL for 0 */

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
	uint64_t lost_records;		/* LOST and LOST_SAMPLES records; `lost` is what either sort tells, whichever is more */
	uint64_t bad_records;		/* that did not hold what they promised, and were passed over */
};
TACHO_API void tacho_profile_quality(const struct tacho_profile *p, struct tacho_profile_quality *out);

TACHO_END_DECLS
#endif
