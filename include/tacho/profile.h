#ifndef TACHO_PROFILE_H
#define TACHO_PROFILE_H

#include <tacho/perfdata.h>
#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * A profile: samples with resolved frames; equal samples are added up. Names, frames and stacks are stored
 * once and referred to by small dense ids, so that millions of samples take tens of megabytes. Reports, flame
 * graphs and all exports read it.
 *
 *	new -> load (a file), load ... -> read its tables -> free
 *
 *	threads  pid, tid, comm
 *	frames   symbol and object, with opts.per_address also the address
 *	nodes    stacks as a trie: node = (parent node, frame); node 0 is the empty stack. A node represents
 *	         the stack from the root, the outermost caller, down to itself, the leaf
 *	rows     (event, thread, cpu, leaf node ...) -> number of samples, sum of periods
 *
 * A profile is used by one thread at a time. Pointers that it returns are valid until it is freed or changed.
 */
struct tacho_profile;

#define TACHO_FIELDS_MAX 16
enum tacho_keep {			/* fields of a sample; see struct tacho_profile_detail */
	TACHO_KEEP_WEIGHT = 1 << 0,	/* weight, ins_lat, stage_cyc */
	TACHO_KEEP_DATA_SRC = 1 << 1, TACHO_KEEP_TRANSACTION = 1 << 2,
	TACHO_KEEP_PAGE_SIZE = 1 << 3, TACHO_KEEP_PHYS_ADDR = 1 << 4,
	TACHO_KEEP_IP = 1 << 5, TACHO_KEEP_DATA = 1 << 6, TACHO_KEEP_SPACE = 1 << 7,
	TACHO_KEEP_FROM = 1 << 8, TACHO_KEEP_TO = 1 << 9, TACHO_KEEP_BRANCH = 1 << 10,
	TACHO_KEEP_TRACE = 1 << 11,	/* a tracepoint's text */
	TACHO_KEEP_PARALLELISM = 1 << 12,	/* needs records of context switches */
	TACHO_KEEP_CGROUP = 1 << 13,
	TACHO_KEEP_DATA_TYPE = 1 << 14,	/* data_type, data_member, data_offset; needs opts.data_type */
};

struct tacho_data_type;
/* Finds the data type that the instruction at a frame's address accesses: called once per address and load. Returns 1, 0
 * if it is not known, or -ENOMEM. */
typedef int (*tacho_data_type_fn)(void *arg, struct tacho_symbols *s, const struct tacho_frame *f, struct tacho_data_type *out);

struct tacho_profile_opts {
	size_t size;
	/* filters: NULL or 0 accepts all samples; lists are separated by commas */
	const char *comms, *objects, *symbols, *pids, *tids, *cpus;
	const char *time;		/* "a,b" in seconds, "10%-20%", "10%/2", as perf's --time */
	const char *parent;		/* regular expression: only samples with a matching caller */
	uint32_t max_stack;		/* frames per stack, counted from the leaf; 0: all */
	bool no_chains;			/* leaf frames only */
	bool per_address;		/* one frame per address instead of one per symbol (annotate, srcline) */
	bool per_cpu;			/* rows have the CPU */
	bool per_time;			/* one row per sample, with its time */
	bool caller_first;		/* max_stack counts from the outermost caller, as in perf's
					 * caller order */
	bool split_unknown;		/* frames without a symbol: one per address instead of one per
					 * object */
	bool join_threads;		/* rows have the id of the first thread of the same comm */
	bool per_srcline;		/* frames of one function differ by their source line */
	bool branches;			/* one row per branch of a sample's branch stack, with a period of 1;
					 * the weight is the branch's cycles */
	bool weigh;			/* use a sample's weight as its period, at least 1 */
	uint32_t keep;			/* fields to store in the details of rows: enum tacho_keep */
	const char *const *fields;	/* tracepoint fields to store in details: "EVENT.FIELD" or "FIELD";
					 * borrowed until the profile is freed */
	size_t n_fields;		/* at most TACHO_FIELDS_MAX */
	const char *parallelism;	/* filter: a list of numbers and ranges, "1,4-8" */
	bool raw_fields;		/* values of fields as stored, not as the event's print format shows them */
	bool split_comms;		/* a node has stacks of one command only; merge and unpack fail */
	bool unjudged;			/* broken stacks are not counted */
	bool once;			/* one file is loaded and nothing is added after it, so the indexes
					 * are freed then; a second load, merge and unpack fail */
	const char *switch_on, *switch_off;	/* events: only samples between them, see struct
						 * tacho_switch; borrowed until the profile is freed */
	bool show_switches;
	const char *counted_cpus;	/* filter: as `cpus`, but the sums before the filters include the
					 * other CPUs; applies to load, not to unpack */
	const char *ignore_callees;	/* regular expression: a stack ends with its outermost function that
					 * matches, which gets the samples of all functions it called;
					 * applies to load, not to unpack */
	bool resolved;			/* ignores samples whose leaf has no symbol, and removes callers
					 * without a symbol from stacks; applies to load, not to unpack */
	bool symbol_sizes;		/* frames have the sizes of their symbols */
	bool join_unlined;		/* with per_srcline: frames of a function whose line is unknown are one frame */
	bool no_inlines;		/* stacks have no frames for inlined functions */
	tacho_data_type_fn data_type;	/* for TACHO_KEEP_DATA_TYPE; NULL: types are unknown */
	void *data_type_arg;
	bool lowest_unknown;		/* without split_unknown: a frame without a symbol has the lowest of the
					 * sampled addresses that it stands for */
	bool weight_is_count;		/* a sample stands for as many as its weight, which was counted before */
};

TACHO_API int tacho_profile_new(struct tacho_profile **out, const struct tacho_profile_opts *opts,
				struct tacho_error *e);
TACHO_API void tacho_profile_free(struct tacho_profile *p);
/* Adds all samples of `pd`, which must be opened with ordered = true. If the file is damaged, the samples before the damage
 * are added, and the error says where it is: -EBADMSG for an impossible record, -ENODATA for a truncated file. Several
 * files can be loaded, unless opts.once is set. Other errors: -EINVAL (a filter needs data that the file does not have),
 * -ENOMEM. */
TACHO_API int tacho_profile_load(struct tacho_profile *p, struct tacho_perfdata *pd,
				 const struct tacho_symbols_opts *symbols, struct tacho_error *e);
/* Like tacho_profile_load(), but uses the caller's symbols, which remember the maps of earlier calls: for a
 * recording that arrives in parts. A frame that was resolved once keeps its name after the process has
 * ended. */
TACHO_API int tacho_profile_load_next(struct tacho_profile *p, struct tacho_perfdata *pd,
				      struct tacho_symbols *symbols, struct tacho_error *e);
/* Adds all rows of `from`, without applying the filters of `p`. 0, -ENOMEM, or -EINVAL if the options of `p` have
 * split_comms or once. */
TACHO_API int tacho_profile_merge(struct tacho_profile *p, const struct tacho_profile *from);
/* Like tacho_profile_merge(), but adds only num / den of the samples and periods, rounded down. Rows of which less than
 * 1/64 of a sample is left are dropped, with the stacks, frames and threads that only they use. A profile that decays is
 * merged into a new one from time to time. -EINVAL: num > den, or den is 0. */
TACHO_API int tacho_profile_merge_share(struct tacho_profile *p, const struct tacho_profile *from, uint32_t num,
					uint32_t den);
/* Makes a profile of on-CPU and off-CPU time together: the samples of cpu-clock or task-clock and those of offcpu-time
 * (see struct tacho_recorder_output) become samples of one event, wall-time, in nanoseconds. Stacks of off-CPU samples get
 * "[off-CPU]" as their innermost frame. Nothing can be added to it. 0, -ENOENT if `from` lacks samples of either, or -ENOMEM. */
TACHO_API int tacho_profile_wall_time(struct tacho_profile **out, const struct tacho_profile *from,
				      struct tacho_error *e);

/* Receives `n` bytes. Returns 0, or a negative errno, which the writer then returns. */
typedef int (*tacho_put)(void *arg, const void *bytes, size_t n);

/*
 * A compact, compressed form of a profile for storage: events, objects with build ids, threads, frames, stacks, and rows
 * with times, CPUs and sums; without details, values, cgroups and latencies.
 */
struct tacho_pack_opts {		/* zero means the default in every field */
	size_t size;
	int64_t shift_ns;		/* added to each time, for example to convert to wall-clock time */
	int level;			/* zstd compression level, 1 to 19; 0: 3 */
};
/* 0, -E2BIG if it exceeds the limit of unpack (16 MiB before compression), -EINVAL, -ENOMEM, or the error of `put`. */
TACHO_API int tacho_profile_pack(const struct tacho_profile *p, const struct tacho_pack_opts *opts,
				 tacho_put put, void *arg, struct tacho_error *e);

struct tacho_unpack_opts {		/* zero means the default in every field */
	size_t size;
	uint64_t from_ns, to_ns;	/* only rows with from <= time < to; to 0: to the end */
};
/* Adds the rows of a packed profile that the filters of `p` for commands, objects, symbols, pids, tids, CPUs and callers
 * accept. Rows keep CPU and time only with opts.per_cpu and per_time. The bytes may be untrusted: -EBADMSG if they are not
 * a packed profile or are damaged, and then nothing is added; -EPROTO if a newer library packed them; -EINVAL, -ENOMEM. */
TACHO_API int tacho_profile_unpack(struct tacho_profile *p, const void *bytes, size_t n,
				   const struct tacho_unpack_opts *opts, struct tacho_error *e);

struct tacho_profile_event {
	const char *name;
	uint64_t samples, period;	/* totals after filters */
	uint64_t all_samples, all_period;	/* totals before the filters comms, objects, symbols, pids,
						 * tids, parent and counted_cpus */
	uint32_t leader, group_size;	/* event id of the group leader; without a group its own id and 1 */
	bool has_chains;
	bool tracepoint;
	uint64_t latency, all_latency;	/* with TACHO_KEEP_PARALLELISM, after and before the filters: the sum of
					 * 1000 * period / number of running threads */
};
struct tacho_profile_thread {
	uint32_t pid, tid;
	const char *comm;		/* comm at the time of the samples */
	const char *last, *process;	/* the last comm of the thread, and of its process */
};
/* The part of a frame that does not depend on its address. */
struct tacho_profile_code {
	uint32_t symbol, object;	/* ids: of the symbol's name, and of the object */
	const char *name;		/* "[unknown]" or a hex address without a symbol */
	const char *object_path, *object_name;
	const char *srcfile;		/* per_srcline: equal files have equal pointers; NULL: not known */
	uint32_t symbol_size;		/* with symbol_sizes: of the symbol, in bytes; 0: not known */
};
struct tacho_profile_frame {
	const struct tacho_profile_code *code;	/* never NULL */
	uint64_t address;		/* address in the object; the symbol's start unless per_address */
	uint64_t offset;		/* without a symbol: offset in the object's file, or the address
					 * itself if the object is unknown, too; with a symbol: offset from
					 * its start, with per_address, or with per_srcline if the line is unknown */
	uint32_t srcline;
	uint8_t space;			/* enum tacho_space */
	bool inlined, jit;		/* inlined: into the function of the parent node, which may be inlined, too */
	bool known;			/* the frame has a symbol */
};
struct tacho_profile_object {
	const char *path, *name;
	uint8_t build_id[20], n_build_id;
	bool kernel, jit, has_symbols;
	const char *why;		/* why the object has no symbols; NULL: it has symbols, or the reason
					 * is unknown */
	uint64_t unresolved;		/* samples whose leaf is in this object and has no symbol */
	uint64_t broken;		/* samples whose stack ends in this object, but not at an entry point */
	uint64_t mapped_bytes;		/* as in struct tacho_object_info, like symbol_source; unknown in
					 * unpacked profiles */
	char symbol_source;
};
struct tacho_profile_node {
	uint32_t parent, frame;
};
struct tacho_profile_row {
	uint32_t event, thread, node;
	int32_t cpu;			/* -1: not stored */
	uint32_t samples;		/* above UINT32_MAX, further samples are in another equal row */
	uint32_t detail;		/* detail id; 0: none */
	uint64_t time;			/* 0: not stored */
	uint64_t period;
};

/* A resolved address of a sample. */
struct tacho_profile_place {
	uint64_t address;		/* the sampled address; 0: none */
	uint64_t object_address;	/* in the object */
	uint64_t symbol_offset;
	uint32_t frame;			/* frame id + 1; 0: none */
	uint32_t reserved;		/* 0; details are compared byte by byte */
};
/* Fields of samples other than thread and stack, as selected by opts.keep and opts.fields; fields that are
 * not selected are 0. Equal details have the same id. */
struct tacho_profile_detail {
	uint64_t weight, data_src, transaction, phys_addr, code_page_size, data_page_size, cgroup;
	uint32_t ins_lat, stage_cyc;
	struct tacho_profile_place ip, data, from, to;
	uint64_t branch;		/* flags, as in struct tacho_branch */
	enum tacho_space space;
	uint32_t trace;			/* value id; 0: none */
	uint32_t parallelism;		/* number of running threads, from 1 to the number of CPUs */
	uint32_t data_type, data_member;	/* value ids of the names; 0: unknown, none */
	uint32_t data_offset;		/* of the access in the type */
	uint32_t fields[TACHO_FIELDS_MAX];	/* value ids, in the order of the options */
};
/* The text of a tracepoint, or one of its fields. */
struct tacho_profile_value {
	const void *bytes;		/* bytes of a field, as in the sample */
	size_t n_bytes;
	const char *text;
	uint32_t size;			/* size of the field, from the event's format */
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

/* The path of a cgroup, or NULL if no record named it. */
TACHO_API const char *tacho_profile_cgroup(const struct tacho_profile *p, uint64_t id);

/* How complete the data is. */
struct tacho_profile_quality {
	size_t size;
	uint64_t samples, lost, throttled;
	uint64_t broken_stacks;		/* samples whose stack ends in a function that is not an entry point */
	uint64_t unresolved;		/* samples whose leaf has no symbol */
	uint64_t raw_stacks;		/* samples with a stack dump that was not unwound */
	double first_s, last_s;
	uint64_t lost_records;		/* number of LOST and LOST_SAMPLES records; `lost` is the larger of
					 * their two sums */
	uint64_t bad_records;		/* malformed records, which were skipped */
	uint64_t bad_offset;		/* the first of them: its offset, type and size */
	uint32_t bad_type, bad_size;
};
TACHO_API void tacho_profile_quality(const struct tacho_profile *p, struct tacho_profile_quality *out);
/* The same as a JSON object, for which the caller calls free(); NULL if memory ran out. Times are in seconds. */
TACHO_API char *tacho_profile_quality_json(const struct tacho_profile *p);

/* Something that makes the profile incomplete. Borrowed: valid for the call. */
struct tacho_profile_note {
	size_t size;
	const char *id;			/* stable: "lost", "throttled", "no-chains", "raw-stacks", "broken-stacks",
					 * "no-names" */
	double share;			/* of the samples, from 0 to 1 */
	const char *problem;		/* one sentence, without a full stop */
	const char *fix;		/* what to do about it; NULL: nothing is known */
};
/* Calls `fn` for each problem that affects at least one per cent of the samples, and for lost samples. If `fn`
 * returns non-zero, ends and returns that. Otherwise returns 0 or -ENOMEM. */
TACHO_API int tacho_profile_notes(const struct tacho_profile *p,
				  int (*fn)(void *arg, const struct tacho_profile_note *note), void *arg);

TACHO_END_DECLS
#endif
