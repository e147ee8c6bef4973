/*
 * Data structures that the files of `tacho script` share: options, filters, the state of a run and how
 * each event is printed.
 *
 *	record -> filter -> line (text or JSON) -> buffer -> stdout
 *
 * Recordings have millions of samples, so printing a typical sample neither calls printf nor allocates.
 */
#ifndef CLI_SCRIPT_SCRIPT_H
#define CLI_SCRIPT_SCRIPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cpuset.h"
#include "record/perf_abi.h"
#include "base/vec.h"
#include "cli/core/command.h"
#include "cli/core/time_filter.h"
#include "cli/files/record_dump.h"
#include "cli/files/trace_input.h"
#include "cli/script/insn.h"

#include <tacho/auxtrace.h>
#include <tacho/perfdata.h>
#include <tacho/symbol.h>
#include <tacho/trace.h>
#include <tacho/unwind.h>

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

/* Fields of samples that are decoded from hardware traces. */
enum hwtrace_field { HWTRACE_SYNTH = 1, HWTRACE_CALLINDENT = 2 };

enum script_type { TYPE_HW, TYPE_SW, TYPE_TRACE, TYPE_RAW, TYPE_BREAK, TYPE_OTHER, N_TYPES };

/* Fields of tracepoints: cli/script/trace_fields.c */
#define MAX_TRACE_FIELDS 64u
struct trace_field_names {
	struct trace_field_name {
		struct str word, event, field;	/* "sched_switch.next_*" and its two patterns */
		const char *text;	/* the argument of -F that has the word */
		bool found;		/* an event of the recording has such a field */
	} v[MAX_TRACE_FIELDS];
	size_t n;
};

struct script_fields {		/* the fields of -F, per event type */
	uint32_t set[N_TYPES];
	uint32_t required[N_TYPES];	/* named in -F: an error if samples do not have them */
	bool given[N_TYPES];		/* -F replaced the default instead of changing it with + or - */
	bool hidden[N_TYPES];		/* "TYPE:" without fields: do not print these events */
	unsigned code;			/* of enum code_field, for all types */
	bool metrics;			/* the field metric, for all types */
	unsigned hwtrace;		/* of enum hwtrace_field, for all types */
	bool lenient;			/* events may lack fields that -F names: the traced event has no samples */
	const char *empty, *empty_why;	/* a field that is accepted, but that no recording has; NULL: none */
	struct trace_field_names trace;	/* of tracepoints */
};

void fields_defaults(struct script_fields *f);
/* Parses one -F argument. 0, or -EINVAL with the column of the error. */
int fields_parse(struct script_fields *f, const char *text, struct tacho_error *e);
int fields_unknown(struct str word, const char *text, struct tacho_error *e);	/* -EINVAL with a message */
enum script_type fields_type(const struct perf_event_attr *attr);
/* Finds the fields that an event prints: the selected fields that its samples have. -EINVAL if its samples
 * lack a field that -F names. */
int fields_of_event(const struct script_fields *f, const struct tacho_file_event *ev, bool chains,
		    uint32_t *out, struct tacho_error *e);
/* -EINVAL if -F names fields of branches that no event of the recording has. */
int fields_check_branches(const struct script_fields *f, const struct tacho_perfdata *pd, struct tacho_error *e);
/* -EINVAL if -F hides a type of event that the recording does not have. */
int fields_check_types(const struct script_fields *f, const struct tacho_perfdata *pd,
		       struct tacho_error *e);

/* ---- options ---- */
struct script_opts {
	const char *input, *time, *cpus, *vmlinux, *kallsyms, *symfs;
	const char *switch_on, *switch_off;
	bool show_switches;
	struct strlist fields, comms, pids, tids, symbols, dsos, stop_bt;
	uint32_t max_stack, max_blocks, address_range;
	bool latency, dump, dump_unsorted, header, header_only, show_info, ns, deltatime, reltime, per_event_dump;
	bool hide_chains, force, quiet, json, no_inline, no_itrace, no_demangle, short_names, full_paths;
	bool show_task, show_mmap, show_switch, show_lost, show_namespace, show_cgroup, show_bpf;
	bool show_text_poke, show_round;
	const char *itrace, *insn_trace;
	bool call_trace, call_ret_trace;
	const char *script, *starter;	/* -s, -g */
	bool list;
	unsigned verbose;
};

/* ---- filters ---- */
struct script_filter {
	struct time_filter times;
	struct { uint32_t *v; size_t n, cap; } pids, tids;
	struct cpuset cpus;
	bool by_cpu;
	bool any;			/* false: every sample passes */
	struct tacho_switch event_switch;	/* --switch-on, --switch-off; applied after all other filters */
	const struct strlist *comms, *symbols, *dsos;	/* each string is a comma-separated list */
	struct { uint64_t *v; size_t n, cap; } addresses;	/* the addresses in `symbols` */
	uint64_t address_range;		/* how many bytes from each address on are selected */
};

int filter_init(struct script_filter *f, const struct script_opts *o,
		const struct tacho_perfdata *pd, struct tacho_error *e);
void filter_done(struct script_filter *f);
bool filter_has_task(const struct script_filter *f, uint32_t pid, uint32_t tid);
bool filter_has_comm(const struct script_filter *f, const char *comm);
/* Filters by the function and the object of the sample's address. */
bool filter_has_location(const struct script_filter *f, struct tacho_symbols *symbols, uint16_t misc,
			 const struct tacho_sample *sample);
/* Whether the address is in one of these functions. */
bool filter_matches_function(const struct strlist *functions, struct tacho_symbols *symbols, uint32_t pid,
			     enum tacho_space space, uint64_t ip);

/* ---- frames ---- */
struct script;

/*
 * The part of a frame's line after the address: " symbol+0x", the hexadecimal offset from `base`, and
 * " (object)\n". A function's frames share one text, as do all frames in an object without symbols.
 * FORMAT_SLACK bytes after the end are readable.
 */
struct frame_text {
	uint64_t base;			/* the function's offset in its object; without an offset: 0, or the number of
					 * lines if functions are inlined */
	uint32_t symbol;
	uint32_t n;			/* bytes before the offset; with several lines: what they need at most */
	uint32_t n_after;		/* bytes after it, with the '\n'; 0: no offset, n counts the whole text, or the
					 * text is several lines, each ended by '\0' and printed after the address */
	char bytes[];
};

struct frame_slot {
	uint64_t offset;		/* offset and object are the key */
	uint32_t object;
	uint32_t text;			/* chunk number and position in the chunk; 0: the slot is free */
};

struct frame_hash {
	struct frame_slot *slots;
	size_t n, cap;			/* cap is a power of two */
};

struct frame_table {
	uint32_t fields;		/* fields that its texts contain */
	bool inlines;			/* texts contain lines for inlined functions */
	struct frame_hash spots;	/* texts by code location */
	struct frame_hash functions;	/* texts shared by several locations, by frame_text.base */
};

struct frame_chunk {
	char *bytes;
};

struct frame_texts {
	struct { struct frame_table *v; size_t n, cap; } tables;
	struct { struct frame_chunk *v; size_t n, cap; } chunks;
	size_t used;			/* used bytes of the last chunk */
	struct buf line;		/* scratch buffer for a new text */
	bool full_paths;		/* print whole paths of source files */
};

/* Consecutive addresses of a chain in one address space, whose texts are looked up together. */
struct frame_run {
	const uint64_t *ips;
	size_t n;
	enum tacho_space space;
	uint32_t pid, fields;
	bool inlines;			/* also print inlined functions */
	bool exact;			/* the first address was executing; all others are after a call */
	struct tacho_spot *spots;	/* these three: arrays of n elements, provided by the caller */
	uint32_t *hashes;
	const struct frame_text **texts;
};

void frame_texts_done(struct frame_texts *t);
/* Deletes all texts, invalidating pointers to them, if they use too much memory. */
void frame_texts_trim(struct frame_texts *t);
/* Finds the code locations of all addresses, then their texts, which are valid until the next trim. The
 * arrays of consecutive runs must be consecutive in memory. 0 or -ENOMEM. */
int frame_runs_look_up(struct script *s, struct frame_run *runs, size_t n);

/* ---- lines of the last samples, per thread: cli/script/thread_line_cache.c ---- */
#define THREAD_LINES_SLOTS 64u
#define MAX_CACHED_CHAIN 136u		/* the kernel's default limit of 127 frames, plus context markers */

/*
 * Consecutive samples of a thread mostly share their outer frames. Their lines are copied from the output
 * buffer, unless the buffer was flushed since the last sample, or a sideband record may have changed
 * names or mappings. The chain is stored at the end of the array, so that
 * shared outer entries keep their index.
 */
struct script_event;
struct thread_lines {
	uint32_t pid, tid;
	uint64_t comm_version;		/* script.state_version when comm was looked up */
	const char *comm;
	size_t n_comm;
	char head[64];			/* the fields comm, pid, tid and cpu of the last sample as text */
	size_t n_head;
	const struct script_event *head_ev;	/* event of the sample in `head` */
	uint32_t head_pid, head_tid, head_cpu;
	const struct script_event *ev;	/* event of the cached lines */
	uint64_t lines_version, sink_bytes;	/* script.state_version and sink.bytes when they were written */
	size_t n, end;			/* entries in chain; where the last line ends in the sink's buffer */
	uint64_t chain[MAX_CACHED_CHAIN];
	size_t line_starts[MAX_CACHED_CHAIN];	/* where each entry's line begins */
};

/* The thread's cache entry, with an up-to-date comm; may replace another thread's. */
struct thread_lines *thread_lines_find(struct script *s, uint32_t pid, uint32_t tid);
/* How many of the chain's outermost entries can be copied from the last sample's lines. The innermost
 * shared entry is an address, not a context marker. */
size_t thread_lines_shared(const struct thread_lines *r, const struct script *s,
				 const struct script_event *ev, const struct tacho_words *chain);
/* The address space of the innermost shared entry. */
enum tacho_space thread_lines_space(const struct thread_lines *r, size_t shared);
/* Makes this the thread's last sample. Its chain of at most MAX_CACHED_CHAIN entries has been stored by the
 * caller; line_starts are set when the lines are written. */
struct batch_sample;
void thread_lines_store(struct thread_lines *r, const struct script *s, const struct batch_sample *x);
/* Appends "\n  file:line" if the source line is known. */
void script_srcline(struct tacho_symbols *s, const struct tacho_frame *f, bool full_path,
		    struct buf *out);
void script_put_line(const char *file, uint32_t line, bool full_path, struct buf *out);	/* `file` may be NULL */

/* ---- the run ---- */
struct script_sink {		/* an output: stdout, or a file per event */
	struct buf out;
	int fd;
	char *path;			/* NULL: stdout */
	uint64_t bytes, samples;	/* written so far */
};

struct script_event {
	const struct tacho_file_event *file;
	const struct perf_event_attr *attr;
	const struct tacho_trace_event *trace;
	uint32_t fields;
	bool chains;			/* its samples have call chains that are printed */
	bool has_fields_after_ip;
	struct { size_t *v; size_t n, cap; } trace_fields;	/* those of -F, by their index in `fields_format` */
	const struct tacho_trace_event *fields_format;	/* the format that `trace_fields` is for */
	bool values;			/* its samples have PERF_SAMPLE_READ values with IDs */
	bool branches, arrow;		/* its samples are branches from ip to addr; print " => " and addr */
	bool synth;			/* it exists only in decoded traces: print its raw data as text */
	char *label;			/* "cpu-clock: ", padded; FORMAT_SLACK bytes after it are readable */
	size_t n_label;
	uint64_t cached_period;		/* period of the last sample */
	char cached_label[64];		/* text of that period and the label */
	size_t n_cached_label;		/* 0: no text is cached */
	struct script_sink *sink;
};

/* ---- fields that few recordings have: cli/script/extra_fields.c ---- */
#define MAX_SHORT_LINE 128u	/* longer texts of frames are printed after reserving their space */

#define FIELDS_BEFORE_IP (FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT | FIELD_RETIRE_LAT | FIELD_CGROUP)
#define FIELDS_AFTER_IP (FIELD_IREGS | FIELD_UREGS | FIELD_BRSTACK | FIELD_BRSTACKSYM |              \
			 FIELD_BRSTACKOFF | FIELD_BPF_OUTPUT | FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | \
			 FIELD_CODE_PAGE_SIZE)

struct script_extra {
	size_t data_src_width;		/* width of the longest data_src text so far */
	struct tacho_file_clock clock;	/* one point in time, by the wall clock and the sample clock */
	struct { struct script_cgroup { uint64_t id; char *path; } *v; size_t n, cap; } cgroups;
};

struct line_head;
int extra_fields_init(struct script *s, struct tacho_error *e);
void extra_fields_done(struct script_extra *r);
int extra_fields_add_cgroup(struct script_extra *r, const struct tacho_sideband *o);	/* PERF_RECORD_CGROUP; 0 or -ENOMEM */
char *put_time_of_day(const struct script *s, char *at, uint64_t time);	/* "2026-01-02 03:04:05.678901 " */
void extra_fields_before_ip(struct script *s, const struct script_event *ev, struct buf *out,
			    const struct tacho_sample *sample);
/* Whether the event prints any of FIELDS_AFTER_IP. */
bool extra_fields_has_after_ip(const struct script_event *ev);
void extra_fields_after_ip(struct script *s, const struct script_event *ev, struct buf *out,
			   const struct tacho_sample *sample, const struct line_head *head);

/* ---- code between branches: cli/script/branch_code.c ---- */

/* The width of a branch's event counts, see brcntr. */
unsigned branch_counter_bits(const struct tacho_perfdata *pd);
void branch_counters_legend(struct script *s, const struct script_event *ev, struct buf *out);
/* Appends the code that ran between the sample's branches, ending with a line break; nothing without branches. */
void branch_code_put(struct script *s, const struct script_event *ev, struct buf *out, const struct tacho_sample *sample);

/* ---- samples of hardware traces: cli/script/hwtrace_fields.c ---- */
struct batch_sample;
/* Sets the fields and letters that --insn-trace, --call-trace and --call-ret-trace stand for. 0, -EINVAL or -EDOM. */
int hwtrace_options(struct script *s, struct tacho_error *e);
void hwtrace_event(const struct script_fields *f, struct script_event *ev);
void hwtrace_flags(const struct batch_sample *x, struct buf *out);
void hwtrace_synth(const struct batch_sample *x, struct buf *out);
void hwtrace_callindent(struct script *s, const struct batch_sample *x, struct buf *out);
/* AUXTRACE_ERROR: a line of its own. */
void hwtrace_error(const struct tacho_record *rec, struct buf *out);

/* ---- metrics of sampled groups: cli/script/sampled_metrics.c ---- */
struct sampled_metrics {
	struct { struct sampled_metric *v; size_t n, cap; } metrics;
	struct { uint32_t *v; size_t n, cap; } leaders;	/* of the groups whose metrics are in the list */
	struct { double *v; size_t n, cap; } counts;	/* of the current sample, by event */
};
struct batch_sample;
/* For each sample: begin, count (each of its counters), put. */
int sampled_metrics_begin(struct script *s);	/* 0 or -ENOMEM */
void sampled_metrics_count(struct script *s, size_t event, uint64_t counted);
int sampled_metrics_put(struct script *s, const struct batch_sample *x);	/* 0 or -ENOMEM */
void sampled_metrics_done(struct sampled_metrics *m);

/* ---- addresses without a name: cli/script/unnamed.c ---- */
struct script_unnamed {			/* how many, by object; object 0: nothing is mapped there */
	uint64_t *v;
	size_t n, cap;
};
struct script;
void unnamed_add(struct script *s, uint32_t object);
void unnamed_report(struct script *s);

struct script {
	const struct script_opts *opts;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_unwinder *unwinder;	/* NULL until a sample has a stack dump */
	struct tacho_trace *trace;
	struct tacho_trace_opts trace_opts;
	struct script_fields fields;
	struct script_filter filter;
	struct frame_texts frames;
	struct script_extra extra;
	struct script_unnamed unnamed;
	struct script_insns insns;
	unsigned counter_bits;		/* see branch_counter_bits() */
	struct sampled_metrics metrics;
	struct tacho_symbols_opts symbols_opts;
	struct script_counts *counts;	/* state of stat_rounds.c; NULL: no record of counts yet */
	struct thread_lines *thread_lines;	/* THREAD_LINES_SLOTS of them */
	struct sample_batch *batch;
	bool values;			/* some event's samples have PERF_SAMPLE_READ values */
	uint64_t state_version;		/* changes with each record that may change names or mappings */
	bool without_cpu;		/* -C was given, but a sample has no CPU */
	struct { struct script_event *v; size_t n, cap; } events;
	size_t name_width;		/* width of the longest event name */
	bool lacks_cpu;			/* samples of some software event have no CPU */
	struct tacho_scratch *scratch;
	uint64_t first_time, last_time;	/* times of printed samples; 0: none yet */
	uint64_t second;		/* the last second that was formatted */
	char second_text[32];		/* its text, including the dot */
	size_t n_second;
	struct record_dump dump;	/* -D */
	struct script_sink sink;	/* output of all events without --per-event-dump */
	bool raw_stacks;		/* some chains could not be unwound */
	uint64_t n_bad, first_bad;	/* number of damaged records; file offset of the first */
	int write_error;
	pid_t python;			/* -s: the script's process, which reads the sink; 0: none */
	size_t n_python_events;		/* events that it knows */
	struct trace_input trace_input;
	bool has_trace;			/* `pd` has samples that were decoded from a trace */
	size_t indent_width;		/* of the field callindent so far */
};

/* Sets up events that were added since the last call; in a recording from a pipe they come between samples. */
int script_events(struct script *s, struct tacho_error *e);
void script_events_done(struct script *s);
void sink_write(struct script *s, struct script_sink *sink);	/* flushes its buffer */
static inline void sink_write_if_full(struct script *s, struct script_sink *sink)
{
	if (sink->out.n >= 256u << 10)
		sink_write(s, sink);
}

/* Adds the name of a tracepoint's field, or with '-' removes it. False: it cannot be one, or there are too many. */
bool trace_fields_add(struct trace_field_names *names, struct str word, const char *text, char how);
/* Looks up the names in the event's format, if it is known. 0 or -ENOMEM. */
int trace_fields_of_event(struct script *s, struct script_event *ev);
/* A name that no format has had, or NULL. */
const struct trace_field_name *trace_fields_unknown(const struct trace_field_names *names);
void trace_fields_put(struct script *s, struct script_event *ev, struct buf *out, const struct tacho_sample *sample);
/* Whether lines of the event show its raw data. */
static inline bool script_shows_trace(const struct script *s, const struct script_event *ev)
{
	return ev->attr->type == PERF_TYPE_TRACEPOINT && ((ev->fields & FIELD_TRACE) || s->fields.trace.n);
}

/* Finds the tracepoint's format. -ENOENT: the recording does not have it, or not yet (a pipe). */
int script_trace(struct script *s, struct script_event *ev);

#define NO_CPU UINT32_MAX		/* perf shows -01 */

/* The fields at the start of a line, for samples and sideband records. */
struct line_head {
	uint32_t pid, tid, cpu;		/* cpu: NO_CPU for values of a group whose samples have no CPU */
	uint64_t time;
	uint16_t misc;
	uint32_t type;			/* record type: TACHO_RECORD_... */
	const char *comm;
	size_t n_comm;
	struct thread_lines *thread_lines;	/* cache of the sample's thread; NULL: sideband record */
};
void line_put_head(struct script *s, const struct script_event *ev, struct buf *out,
		   const struct line_head *head);

/* ---- samples ---- */
#define BATCH_SAMPLES 32u
#define BATCH_FRAMES 512u
#define BATCH_RUNS 128u

/* A sample of a batch, with the frames of its chain that have to be formatted. */
struct batch_sample {
	struct script_event *ev;
	struct tacho_sample sample;
	struct line_head head;
	bool looked_up;			/* the batch has the chain's runs; otherwise it is walked when printed */
	const struct frame_run *runs;
	size_t n_runs;
	size_t shared;			/* outermost entries whose lines are copied from the thread's last sample */
	struct tacho_insn_note note;	/* of samples decoded from traces; else zero */
};

/* Consecutive samples that are processed together, step by step. There is no sideband record between them,
 * so the same mappings and names apply to all of them. */
struct sample_batch {
	struct batch_sample samples[BATCH_SAMPLES];
	size_t n;
	bool inlines;			/* print inlined functions */
	struct frame_run runs[BATCH_RUNS];
	size_t n_runs;
	struct tacho_spot spots[BATCH_FRAMES];
	uint32_t hashes[BATCH_FRAMES];
	const struct frame_text *texts[BATCH_FRAMES];
	size_t n_frames;
};

/* Prints the samples at the start of n records; the first record must be a sample. Returns how many records
 * were consumed, or -ENOMEM. */
int batch_print(struct script *s, const struct tacho_record *recs, size_t n);
void line_sample(struct script *s, const struct batch_sample *x);
/* Passes a record that is not a sample to the symbol lookup, and prints it if an option selects it. */
int sideband_record(struct script *s, const struct tacho_record *rec);
/* Prints the counts of `stat record` if the record ends a round of them. 0 or a negative errno. */
int stat_rounds_record(struct script *s, const struct tacho_record *rec);
void stat_rounds_done(struct script *s);
void json_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample,
		 const struct line_head *head);

/* Called with the frames of a sample's chain, innermost first, once per part of the chain. */
typedef void (*frames_fn)(void *arg, enum tacho_space space, const uint64_t *ips, size_t n);
void script_walk_callchain(struct script *s, const struct tacho_sample *sample,
			   const struct line_head *head, frames_fn fn, void *arg);

#endif
