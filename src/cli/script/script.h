/*
 * What the files of `tacho script` share: the options, the file that is read, and how one event's
 * samples are to look.
 *
 *	record -> filter -> line (text or JSON) -> buffer -> stdout
 *
 * Millions of samples pass here, so nothing in the way of one calls printf or allocates.
 */
#ifndef CLI_SCRIPT_SCRIPT_H
#define CLI_SCRIPT_SCRIPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cpuset.h"
#include "record/perf_abi.h"
#include "base/vec.h"
#include "cli/core/command.h"

#include <tacho/perfdata.h>
#include <tacho/symbol.h>
#include <tacho/trace.h>

/* ---- fields ---- */
enum script_field {
	FIELD_COMM = 1u << 0, FIELD_TID = 1u << 1, FIELD_PID = 1u << 2, FIELD_TIME = 1u << 3,
	FIELD_CPU = 1u << 4, FIELD_EVENT = 1u << 5, FIELD_TRACE = 1u << 6, FIELD_IP = 1u << 7,
	FIELD_SYM = 1u << 8, FIELD_DSO = 1u << 9, FIELD_ADDR = 1u << 10, FIELD_SYMOFF = 1u << 11,
	FIELD_PERIOD = 1u << 12, FIELD_IREGS = 1u << 13, FIELD_UREGS = 1u << 14,
	FIELD_BRSTACK = 1u << 15, FIELD_BRSTACKSYM = 1u << 16, FIELD_BRSTACKOFF = 1u << 17,
	FIELD_WEIGHT = 1u << 18, FIELD_PHYS_ADDR = 1u << 19, FIELD_MISC = 1u << 20,
	FIELD_DATA_PAGE_SIZE = 1u << 21, FIELD_CODE_PAGE_SIZE = 1u << 22, FIELD_DSOFF = 1u << 23,
	FIELD_CGROUP = 1u << 24, FIELD_INS_LAT = 1u << 25, FIELD_RETIRE_LAT = 1u << 26,
	FIELD_DATA_SRC = 1u << 27, FIELD_FLAGS = 1u << 28, FIELD_BPF_OUTPUT = 1u << 29,
	FIELD_TOD = 1u << 30,
	FIELD_SRCLINE = 1u << 31,
};

enum script_type { TYPE_HW, TYPE_SW, TYPE_TRACE, TYPE_RAW, TYPE_BREAK, TYPE_OTHER, N_TYPES };

struct script_fields {		/* per type: what -F asked for */
	uint32_t set[N_TYPES];
	uint32_t required[N_TYPES];	/* by name: not having them is an error */
	bool given[N_TYPES];		/* the list was replaced, not just changed */
	bool hidden[N_TYPES];		/* the type was named with nothing behind the colon */
};

void fields_defaults(struct script_fields *f);
/* One -F argument. 0 or -EINVAL with the place of what is wrong. */
int fields_parse(struct script_fields *f, const char *text, struct tacho_error *e);
enum script_type fields_type(const struct perf_event_attr *attr);
/* The fields one event prints: those asked for that its samples have. -EINVAL where one that was
 * asked for by name is missing. */
int fields_of_event(const struct script_fields *f, const struct tacho_file_event *ev, bool chains,
		    uint32_t *out, struct tacho_error *e);
/* -EINVAL where -F names a type that no event of the file has. */
int fields_check_types(const struct script_fields *f, const struct tacho_perfdata *pd,
		       struct tacho_error *e);

/* ---- options ---- */
struct script_opts {
	const char *input, *time, *cpus, *vmlinux, *kallsyms, *symfs;
	const char *switch_on, *switch_off;
	bool show_switches;
	struct strlist fields, comms, pids, tids, symbols, dsos, stop_bt;
	uint32_t max_stack;
	bool dump, header, header_only, show_info, ns, deltatime, reltime, per_event_dump;
	bool hide_chains, force, quiet, json, no_inline, no_itrace, no_demangle, full_paths;
	bool show_task, show_mmap, show_switch, show_lost, show_namespace, show_cgroup, show_bpf;
	bool show_text_poke, show_round;
	unsigned verbose;
};

/* ---- filters ---- */
struct time_range {
	uint64_t from, to;		/* both belong to it */
};

struct script_filter {
	struct { struct time_range *v; size_t n, cap; } times;
	struct { uint32_t *v; size_t n, cap; } pids, tids;
	struct cpuset cpus;
	bool by_cpu;
	bool any;			/* some sample may be left out */
	struct tacho_switch between;	/* asked last: what is left out otherwise does not switch */
	const struct strlist *comms, *symbols, *dsos;	/* each a list with commas */
};

int filter_init(struct script_filter *f, const struct script_opts *o,
		const struct tacho_perfdata *pd, struct tacho_error *e);
void filter_done(struct script_filter *f);
bool filter_has_time(const struct script_filter *f, uint64_t time);
bool filter_has_task(const struct script_filter *f, uint32_t pid, uint32_t tid);
bool filter_has_comm(const struct script_filter *f, const char *comm);
/* By the function and the object that its address lies in. */
bool filter_has_place(const struct script_filter *f, struct tacho_symbols *symbols, uint16_t misc,
		      const struct tacho_sample *sample);
/* Whether one of these functions is at that address. */
bool filter_names(const struct strlist *functions, struct tacho_symbols *symbols, uint32_t pid,
		  enum tacho_space space, uint64_t ip);

/* ---- frames ---- */
struct script;

/*
 * What stands behind an address: " symbol+0x", how far behind `base` its spot is, " (object)\n".
 * One such text serves a whole function, or all of an object that has no symbols. Its bytes can be
 * read PUT_SLACK further.
 */
struct frame_text {
	uint64_t base;
	uint32_t symbol;
	uint32_t n;			/* before the number */
	uint32_t n_behind;		/* with the '\n'; 0: there is no number, and n counts all */
	char bytes[];
};

struct frame_slot {
	uint64_t offset;		/* the spot */
	uint32_t object;
	uint32_t text;			/* which chunk, and where in it; 0: free */
};

struct frame_hash {
	struct frame_slot *slots;
	size_t n, cap;			/* cap is a power of two */
};

struct frame_table {
	uint32_t fields;		/* what its texts show */
	struct frame_hash spots;
	struct frame_hash functions;	/* the texts that serve more than one spot, by their base */
};

struct frame_chunk {
	char *bytes;
};

struct frame_texts {
	struct { struct frame_table *v; size_t n, cap; } tables;
	struct { struct frame_chunk *v; size_t n, cap; } chunks;
	size_t used;			/* of the last chunk */
	struct buf line;		/* the text that is being made */
	bool full_paths;		/* of source files */
};

/* Addresses of one process that follow each other, on their way to their texts. */
struct frame_run {
	const uint64_t *ips;
	size_t n;
	enum tacho_space space;
	uint32_t pid, fields;
	struct tacho_spot *spots;	/* room for n of these three */
	uint32_t *hashes;
	const struct frame_text **texts;
};

void frame_texts_done(struct frame_texts *t);
/* Forgets all where it has become too much; what was given before is gone then. */
void frame_texts_trim(struct frame_texts *t);
/* Finds the spots of all, then their texts, which hold until the next trim. What there is room for
 * follows each other as the runs do. 0 or -ENOMEM. */
int frame_runs_look_up(struct script *s, struct frame_run *runs, size_t n);

/* ---- threads that ran lately ---- */
#define RECENT_THREADS 64u
#define RECENT_WORDS 136u		/* the kernel's longest chain, unless told otherwise */

/*
 * A thread's next sample mostly has the outer frames of its last one: their lines are copied from
 * where that one put them, as long as they wait to be written and no record came in between that
 * may change what they mean. The words end where the array does, so that what stays need not be
 * touched.
 */
struct script_event;
struct recent {
	uint32_t pid, tid;
	uint64_t named;			/* script.fed when comm was asked for */
	const char *comm;
	size_t n_comm;
	char who[64];			/* what stands before the time, as of the sample put last */
	size_t n_who;
	const struct script_event *who_ev;
	uint32_t who_pid, who_tid, who_cpu;
	const struct script_event *ev;	/* of the lines */
	uint64_t fed, written;		/* script.fed and sink.bytes when the lines were put */
	size_t n, end;			/* words; where the last line ends in the sink's buffer */
	uint64_t words[RECENT_WORDS];
	size_t starts[RECENT_WORDS];	/* where each word's line begins */
};

/* The thread's, with its name; others that ran longer ago make room. */
struct recent *recent_thread(struct script *s, uint32_t pid, uint32_t tid);
/* How many of the chain's outermost words have their lines still there; the innermost of those is
 * an address. */
size_t recent_shared(const struct recent *r, const struct script *s, const struct script_event *ev,
		     const struct tacho_words *chain);
/* Where the innermost of them lay. */
enum tacho_space recent_space(const struct recent *r, size_t shared);
/* Makes the sample, of at most RECENT_WORDS, the thread's last: its words are in place by now. Where its
 * lines are is told when they are put. */
struct shown;
void recent_keep(struct recent *r, const struct script *s, const struct shown *x);
/* Puts "\n  file:line" where the line is known. */
void script_srcline(struct tacho_symbols *s, const struct tacho_frame *f, bool full_path,
		    struct buf *out);

/* ---- the run ---- */
struct script_sink {		/* where lines go: stdout, or a file per event */
	struct buf out;
	int fd;
	char *path;			/* NULL: stdout */
	uint64_t bytes, samples;
};

struct script_event {
	const struct tacho_file_event *file;
	const struct perf_event_attr *attr;
	const struct tacho_trace_event *trace;
	uint32_t fields;
	bool chains;			/* its samples have a call chain, and it is shown */
	bool behind;			/* it has fields behind its frames */
	bool values;			/* its samples carry values with ids */
	char *label;			/* "cpu-clock: ", padded; can be read PUT_SLACK bytes further */
	size_t n_label;
	uint64_t put_period;		/* of the sample put last, */
	char put[64];			/* and what it had of period and label; */
	size_t n_put;			/* 0: it is not kept */
	struct script_sink *sink;
};

/* ---- the rarer fields: cli/script/extra_fields.c ---- */
#define FIELDS_BEFORE_IP (FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT | FIELD_RETIRE_LAT | FIELD_CGROUP)
#define FIELDS_BEHIND_IP (FIELD_IREGS | FIELD_UREGS | FIELD_BRSTACK | FIELD_BRSTACKSYM |              \
			  FIELD_BRSTACKOFF | FIELD_BPF_OUTPUT | FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | \
			  FIELD_CODE_PAGE_SIZE)

struct script_rest {
	size_t data_src_width;		/* of the longest text so far */
	uint64_t wall_ns, clock_ns;	/* a moment by the wall's clock and by that of the samples */
	struct { struct script_cgroup { uint64_t id; char *path; } *v; size_t n, cap; } cgroups;
};

struct script_who;
int rest_init(struct script *s, struct tacho_error *e);
void rest_done(struct script_rest *r);
int rest_cgroup(struct script_rest *r, const struct tacho_sideband *o);	/* 0 or -ENOMEM */
char *rest_tod(const struct script *s, char *at, uint64_t time);	/* "2026-01-02 03:04:05.678901 " */
void rest_before_ip(struct script *s, const struct script_event *ev, struct buf *out,
		    const struct tacho_sample *sample);
/* Whether its samples have any of the second kind. */
bool rest_is_behind_ip(const struct script_event *ev);
void rest_behind_ip(struct script *s, const struct script_event *ev, struct buf *out,
		    const struct tacho_sample *sample, const struct script_who *who);

struct script {
	const struct script_opts *opts;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_trace *trace;
	struct tacho_trace_opts trace_opts;
	struct script_fields fields;
	struct script_filter filter;
	struct frame_texts frames;
	struct script_rest rest;
	struct recent *recent;		/* RECENT_THREADS */
	struct batch *batch;
	bool values;			/* some event's samples carry values */
	uint64_t fed;			/* records so far that may have changed names or maps */
	bool without_cpu;		/* -C, but a sample has no CPU */
	struct { struct script_event *v; size_t n, cap; } events;
	size_t name_width;		/* of the longest name among them */
	bool lacks_cpu;			/* one of them that counts by itself does not tell its CPU */
	struct tacho_scratch *scratch;
	uint64_t first_time, last_time;	/* of samples that were shown; 0: none yet */
	uint64_t second;		/* that was put last, */
	char second_text[32];		/* with its dot */
	size_t n_second;
	struct script_sink sink;	/* of all events, unless each has its own */
	bool raw_stacks;		/* some chains could not be unwound */
	uint64_t n_bad, first_bad;	/* records that do not hold what they should; the first's offset */
	int write_error;
};

/* Events that came since the last call (a pipe tells them as it goes) get their looks. */
int script_events(struct script *s, struct tacho_error *e);
void script_events_done(struct script *s);
void sink_write(struct script *s, struct script_sink *sink);	/* what waits in its buffer */
static inline void sink_line(struct script *s, struct script_sink *sink)
{
	if (sink->out.n >= 256u << 10)
		sink_write(s, sink);
}
/* The formats of tracepoints, where the file has them by now. */
int script_trace(struct script *s, struct script_event *ev);

#define NO_CPU UINT32_MAX		/* perf shows -01 */

/* What stands before the fields of samples and of other records alike. */
struct script_who {
	uint32_t pid, tid, cpu;		/* cpu: NO_CPU where a sample does not tell it to its counter */
	uint64_t time;
	uint16_t misc;
	uint32_t type;			/* of the record */
	const char *comm;
	size_t n_comm;
	struct recent *recent;		/* of a sample's thread */
};
void line_start(struct script *s, const struct script_event *ev, struct buf *out,
		const struct script_who *who);

/* ---- samples ---- */
#define BATCH_SAMPLES 32u
#define BATCH_FRAMES 512u
#define BATCH_RUNS 128u

/* A sample, with the frames of its chain that have to be put. */
struct shown {
	struct script_event *ev;
	struct tacho_sample sample;
	struct script_who who;
	bool looked_up;			/* the runs are there; else the chain takes the slow way */
	const struct frame_run *runs;
	size_t n_runs;
	size_t shared;			/* words whose lines the thread's last sample has put */
};

/* Samples that follow each other take each step together. No other record comes in between, so
 * all of them see the same maps and names. */
struct batch {
	struct shown shown[BATCH_SAMPLES];
	size_t n;
	struct frame_run runs[BATCH_RUNS];
	size_t n_runs;
	struct tacho_spot spots[BATCH_FRAMES];
	uint32_t hashes[BATCH_FRAMES];
	const struct frame_text *texts[BATCH_FRAMES];
	size_t n_frames;
};

/* Shows the samples at the front of n records, of which the first is one; returns how many records
 * that were, or -ENOMEM. */
int batch_show(struct script *s, const struct tacho_record *recs, size_t n);
void line_sample(struct script *s, const struct shown *x);
/* All other records: feeds the symbols, and shows those that were asked for. */
int other_record(struct script *s, const struct tacho_record *rec);
void json_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample,
		 const struct script_who *who);

/* Calls back with the frames of the sample's chain, innermost first, part by part. */
typedef void (*frames_fn)(void *arg, enum tacho_space space, const uint64_t *ips, size_t n);
void script_walk(struct script *s, const struct tacho_sample *sample,
		 const struct script_who *who, frames_fn fn, void *arg);

#endif
