/*
 * What the files of `tacho script` share: the options, the file that is read, and how one event's
 * samples are to look.
 *
 *	record -> filter -> line (text or JSON) -> buffer -> stdout
 *
 * Millions of samples pass here, so nothing in the way of one calls printf or allocates.
 */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cpuset.h"
#include "base/perf_abi.h"
#include "base/vec.h"
#include "cli/command.h"

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
	FIELD_SRCLINE = 1u << 31,
};

enum script_type { TYPE_HW, TYPE_SW, TYPE_TRACE, TYPE_RAW, TYPE_BREAK, TYPE_OTHER, N_TYPES };

struct script_fields {		/* per type: what -F asked for */
	uint32_t set[N_TYPES];
	uint32_t required[N_TYPES];	/* by name: not having them is an error */
	bool given[N_TYPES];		/* the list was replaced, not just changed */
	bool named[N_TYPES];		/* the type was called by its name */
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
	struct strlist fields, comms, pids, tids;
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
	const struct strlist *comms;	/* each a list with commas */
};

int filter_init(struct script_filter *f, const struct script_opts *o,
		const struct tacho_perfdata *pd, struct tacho_error *e);
void filter_done(struct script_filter *f);
bool filter_has_time(const struct script_filter *f, uint64_t time);
bool filter_has_task(const struct script_filter *f, uint32_t pid, uint32_t tid);
bool filter_has_comm(const struct script_filter *f, const char *comm);

/* ---- frames ---- */
struct script;

struct frame_slot {
	uint64_t offset;
	uint32_t object, symbol;
	uint32_t fields;		/* what the text shows; 0: free */
	uint32_t n;
	const char *text;
};

/* The text of an address met lately, so that most frames are not even resolved. */
struct frame_recent {
	uint64_t ip;
	uint32_t pid, age;		/* `age` of its process' maps when it was put here */
	uint32_t fields, n;
	const char *text;
};

#define FRAMES_RECENT 65536u		/* of the kernel's; of all others as many */
#define FRAMES_AGES 4096u

struct frame_texts {
	struct frame_slot *slots;
	size_t n, cap;
	struct arena arena;
	struct frame_recent *recent;	/* twice FRAMES_RECENT */
	uint32_t ages[FRAMES_AGES];	/* by pid; several may share one */
	uint32_t kernel_age;
	bool full_paths;		/* of source files */
};

int frame_texts_init(struct frame_texts *t);	/* 0 or -ENOMEM */
void frame_texts_done(struct frame_texts *t);
/* Something that was mapped has changed: recent texts of it count no more. */
void frame_texts_changed(struct frame_texts *t, const struct tacho_other *r);
/* Which of the recent ones an address would be. */
static inline struct frame_recent *frame_place(const struct frame_texts *t, uint32_t pid,
					       enum tacho_space space, uint64_t ip)
{
	size_t at = (ip ^ ip >> 15) % FRAMES_RECENT;

	if (space == TACHO_SPACE_KERNEL)
		return &t->recent[at];
	return &t->recent[FRAMES_RECENT + (at ^ pid * 0x9e3779b1u % FRAMES_RECENT)];
}
/* The text of a chain's frame; NULL without memory. It can be read PUT_SLACK bytes further. */
const struct frame_recent *frame_at(struct script *s, uint32_t pid, enum tacho_space space,
				    uint64_t ip, uint32_t fields);
/* " symbol+0xoff (object)" as `fields` say; borrowed, NULL without memory. */
/* Puts "\n  file:line" where the line is known. */
void script_srcline(struct tacho_symbols *s, const struct tacho_frame *f, bool full_path,
		    struct buf *out);
const struct frame_slot *frame_text(struct frame_texts *t, struct tacho_symbols *s,
				    const struct tacho_frame *f, uint32_t fields);

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
	char *label;			/* "cpu-clock: ", padded */
	size_t n_label;
	struct script_sink *sink;
};

struct script {
	const struct script_opts *opts;
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_trace *trace;
	struct tacho_trace_opts trace_opts;
	struct script_fields fields;
	struct script_filter filter;
	struct frame_texts frames;
	bool without_cpu;		/* -C, but a sample has no CPU */
	struct { struct script_event *v; size_t n, cap; } events;
	struct tacho_scratch *scratch;
	uint64_t first_time, last_time;	/* of samples that were shown; 0: none yet */
	struct script_sink sink;	/* of all events, unless each has its own */
	bool raw_stacks;		/* some chains could not be unwound */
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

/* What stands before the fields of samples and of other records alike. */
struct script_who {
	uint32_t pid, tid, cpu;
	uint64_t time;
	uint16_t misc;
	uint32_t type;			/* of the record */
	const char *comm;
};
void line_start(struct script *s, const struct script_event *ev, struct buf *out,
		const struct script_who *who);
void line_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample,
		 const struct script_who *who);
/* All other records: feeds the symbols, and shows those that were asked for. */
int other_record(struct script *s, const struct tacho_record *rec);
void json_sample(struct script *s, struct script_event *ev, const struct tacho_sample *sample,
		 const struct script_who *who);

/* Calls back with every frame of the sample's chain, innermost first, at most `limit`. */
typedef void (*frame_fn)(void *arg, enum tacho_space space, uint64_t ip);
void script_walk(struct script *s, const struct tacho_sample *sample,
		 const struct script_who *who, frame_fn fn, void *arg);

#endif
