/*
 * Declarations shared by the writers: the table of formats, the output buffer, text helpers, and the colours
 * of kinds of code.
 *
 * A new format is one file: it defines `const struct writer NAME_writer`. It also needs a line in WRITERS below, which
 * `export --list`, completion and the tests read, one in meson.build, and its entry in the man page of export.
 */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"

#include <tacho/output.h>

#define WRITERS(X)                                                                                                        \
	X(folded)                                                                                                         \
	X(svg)                                                                                                            \
	X(html)                                                                                                           \
	X(pprof)                                                                                                          \
	X(otlp)                                                                                                           \
	X(speedscope)                                                                                                     \
	X(firefox)                                                                                                        \
	X(chrome)                                                                                                         \
	X(callgrind)                                                                                                      \
	X(d3)                                                                                                             \
	X(json)                                                                                                           \
	X(heatmap)

/* ---- the output buffer: bytes are collected and passed to `put` in large chunks ---- */
struct out {
	struct buf b;
	tacho_put put;
	void *arg;
	int err;			/* the first error of `put`; sticky */
};

#define OUT_FLUSH_BYTES (256u << 10)

int out_flush(struct out *o);		/* 0, -ENOMEM or the error of `put` */
/* To be called between two pieces of text: flushes a full buffer. Returns false when the writer should give up. */
static inline bool out_flush_full(struct out *o)
{
	return o->b.n < OUT_FLUSH_BYTES ? !o->b.bad && !o->err : out_flush(o) == 0;
}

/* ---- the state of a writer ---- */
struct output {
	const struct tacho_profile *p;
	const struct tacho_output_opts *opts;
	struct out *out;
	uint32_t event;			/* the event to write, for formats with one_event */
	bool count_samples;		/* weights are numbers of samples, not sums of periods */
	struct tacho_error *e;
};

struct writer {
	struct tacho_format format;
	int (*write)(struct output *o);	/* 0 or a negative errno; `put` errors are found in o->out */
	bool wants_time, wants_cpu;
	bool joins_threads;		/* threads are identified only by their comm */
	bool counts_samples;		/* by default, weights are numbers of samples */
};

#define DECLARE_WRITER(name) extern const struct writer name##_writer;
WRITERS(DECLARE_WRITER)
#undef DECLARE_WRITER

static inline uint64_t row_weight(const struct output *o, const struct tacho_profile_row *r)
{
	return o->count_samples ? r->samples : r->period;
}
#define PROCESS_ATTRIBUTES_MAX 8
/* The caller's attributes of a process. Returns how many. */
size_t process_attributes(const struct output *o, uint32_t pid, struct tacho_output_attribute out[PROCESS_ATTRIBUTES_MAX]);
/* The unit of weights: "samples", "ns" for the clock events, else "events". */
const char *weight_unit(const struct output *o, uint32_t event);
bool event_is_clock(const char *name);		/* its periods are nanoseconds */

/* ---- text (text.c) ---- */
/* Appends the label of a frame: its symbol, or if it has none its object in brackets. */
void put_label(struct buf *b, const struct tacho_profile_frame *f);
/* Appends the label as a JSON string. */
void put_label_json(struct buf *b, const struct tacho_profile_frame *f);
/* Appends the label, and if the source line is known, " (file.c:12)". */
void put_line_label(struct buf *b, const struct tacho_profile_frame *f);
/* Appends text, escaped for XML text and attribute values; bytes that XML cannot represent become U+FFFD. */
void put_xml(struct buf *b, struct str text);
/* Appends a number with a comma between groups of three digits: 1,234,567. */
void put_grouped(struct buf *b, uint64_t v);
/* Appends the build id as hex digits; nothing if there is none. */
void put_build_id(struct buf *b, const struct tacho_profile_object *ob);

/* ---- kinds of code and their colours (code_kind.c) ---- */
enum code_kind { KIND_ROOT, KIND_COMM, KIND_KERNEL, KIND_C, KIND_CXX, KIND_JAVASCRIPT, KIND_JAVA, KIND_PYTHON, KIND_JIT,
		 KIND_INLINED, KIND_UNKNOWN, KIND_OFF_CPU, N_KINDS };	/* KIND_JIT: of another runtime, or a stub */
extern const char *const kind_names[N_KINDS];
enum code_kind kind_of(const struct tacho_profile_frame *f);
/* The runtime of a frame in user space, as OpenTelemetry names it: "native", or for JIT code "v8js", "cpython" or "jvm", to
 * judge by the name; NULL: an unknown runtime. */
const char *jit_runtime(const struct tacho_profile_frame *f);
/* "#rrggbb": the kind gives the hue, the name the shade, so that neighbouring boxes differ. */
void kind_color(char out[8], enum code_kind kind, struct str name);
/* Per kind, the weight of samples whose leaf is of that kind. */
void kind_weights(const struct output *o, uint64_t weight[N_KINDS]);
/* The colour of a change: white (0) to red (1) for growth, or to blue (-1) for decline. */
void change_color(char out[8], double change);

/* ---- functions and source files (functions.c) ---- */
/* Frames that differ only in their address or source line are one function. */
struct functions {
	uint32_t *of_frame;		/* frame -> function */
	uint32_t *first;		/* function -> its first frame */
	size_t n;
	uint32_t *source;		/* function -> source file + 1; 0: unknown */
	const char **sources;		/* paths of the source files */
	size_t n_sources;
};
int functions_init(struct functions *f, const struct tacho_profile *p);	/* 0 or -ENOMEM */
void functions_done(struct functions *f);

/* ---- locations (locations.c) ---- */
struct location {
	uint32_t frame;			/* the innermost function */
	uint32_t outer;			/* the location of the function that it is inlined into; 0: it is not inlined */
};
struct locations {
	uint32_t *of_node;		/* node -> the location whose innermost frame is the node's */
	uint32_t *outermost;		/* node -> the node of the function whose code has the node's location */
	struct location *v;		/* from 1 to n */
	size_t n;
};
int locations_init(struct locations *l, const struct tacho_profile *p);	/* 0 or -ENOMEM */
void locations_done(struct locations *l);
/* The frame of the function whose code contains the location. */
uint32_t location_function_frame(const struct locations *l, uint32_t id);

/* Per object, the pages of its frames, in the object's own addresses; to 0: it has no frames. */
struct address_span { uint64_t from, to; };
struct address_span *object_spans(const struct tacho_profile *p);	/* to be freed; NULL: out of memory */

/* ---- rows by thread (thread_rows.c) ---- */
struct thread_rows {
	uint32_t *order;		/* row ids; those of thread t are start[t] .. start[t + 1] */
	size_t *start;
};
int thread_rows_init(struct thread_rows *t, const struct tacho_profile *p);
void thread_rows_done(struct thread_rows *t);
/* 0, or -ENODATA if no sample of the event has a time. */
int rows_need_times(const struct output *o);

#endif
