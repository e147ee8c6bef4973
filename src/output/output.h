/*
 * The room's own face: what a writer is, the pipe it writes into, and the two helpers most of them
 * share: text for a frame, and a call tree of one event.
 */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include "base/buf.h"
#include "base/error.h"

#include <tacho/output.h>

/* ---- the pipe: bytes are gathered and handed on in large pieces ---- */
struct out {
	struct buf b;
	tacho_put put;
	void *arg;
	int err;			/* sticky */
};

#define OUT_PIECE (256u << 10)

int out_flush(struct out *o);		/* 0, -ENOMEM or what `put` returned */
/* Between two pieces of text: hands on what has gathered. Returns false when to give up. */
static inline bool out_relax(struct out *o)
{
	return o->b.n < OUT_PIECE ? !o->b.bad && !o->err : out_flush(o) == 0;
}

/* ---- what is written ---- */
struct output {
	const struct tacho_profile *p;
	const struct tacho_output_opts *opts;
	struct out *out;
	uint32_t event;			/* of one_event formats */
	bool count_samples;		/* weights are numbers of samples */
	struct tacho_error *e;
};

struct writer {
	struct tacho_format format;
	int (*write)(struct output *o);
	bool wants_time, wants_cpu;
	bool joins_threads;		/* of a thread it shows the comm only */
	bool counts_samples;		/* unless it is told otherwise */
};

extern const struct writer folded_writer, svg_writer, html_writer, pprof_writer, speedscope_writer,
	firefox_writer, chrome_writer, callgrind_writer, json_writer, heatmap_writer;

static inline uint64_t row_weight(const struct output *o, const struct tacho_profile_row *r)
{
	return o->count_samples ? r->samples : r->period;
}
/* What the weights are: "samples", "ns" for the clocks, else the event's name. */
const char *weight_unit(const struct output *o, uint32_t event);

/* ---- text ---- */
/* The label of a frame: its symbol, or its object in brackets where there is none. */
void put_label(struct buf *b, const struct tacho_profile_frame *f);
/* The same as a JSON string. */
void put_label_json(struct buf *b, const struct tacho_profile_frame *f);
/* XML text and attribute values; what XML cannot hold becomes U+FFFD. */
void put_xml(struct buf *b, struct str text);
/* `v` with three digits grouped: 1,234,567. */
void put_grouped(struct buf *b, uint64_t v);

/* ---- kinds of code ---- */
enum code_kind { KIND_ROOT, KIND_COMM, KIND_KERNEL, KIND_C, KIND_CXX, KIND_JIT, KIND_INLINED, KIND_UNKNOWN,
	    N_KINDS };
extern const char *const kind_names[N_KINDS];
enum code_kind kind_of(const struct tacho_profile_frame *f);
/* "#rrggbb": the kind gives the hue, the name the shade, so that neighbours can be told apart. */
void kind_color(char out[8], enum code_kind kind, struct str name);
/* The weight of the samples whose leaf is of each kind. */
void kind_weights(const struct output *o, uint64_t weight[N_KINDS]);
/* From white to red (grew) or blue (shrank); change is -1 .. 1. */
void change_color(char out[8], double change);

/* ---- distinct names of threads ---- */
struct comms {
	uint32_t *of_thread;		/* thread -> comm id */
	const char **names;
	size_t n;
};
int comms_init(struct comms *c, const struct tacho_profile *p);
void comms_done(struct comms *c);

/* ---- rows by thread ---- */
struct thread_rows {
	uint32_t *order;		/* row ids; those of thread t are start[t] .. start[t + 1] */
	size_t *start;
};
int thread_rows_init(struct thread_rows *t, const struct tacho_profile *p);
void thread_rows_done(struct thread_rows *t);
/* 0, or -ENODATA where no sample of the event tells when it was taken. */
int rows_need_times(const struct output *o);

/* ---- the call tree of one event ---- */
enum { TREE_NO_FRAME = UINT32_MAX };
struct tree_node {
	uint32_t parent;		/* 0 for the children of the root, which is its own */
	uint32_t frame;			/* TREE_NO_FRAME: the root, or a comm */
	uint32_t comm;
	uint32_t child, next;		/* first child, next sibling; 0: none */
	uint64_t self, total;
	uint64_t before;		/* total in the profile to compare with */
};
struct call_tree {
	struct tree_node *v;		/* v[0] is the root; parents come before children */
	size_t n, cap;
	uint32_t depth;			/* of the deepest node; the root is 0 */
	uint64_t before;
	struct comms comms;
};

struct tree_opts {
	bool reverse;			/* leaf frames below the root, comms at the end */
	bool by_label;			/* frames of equal label are one, whatever their object */
	bool join_unknown;		/* a run of frames without symbols in one object is one */
	double min_share;		/* of the whole; what is smaller may be left out already */
};
int tree_init(struct call_tree *t, const struct output *o, const struct tree_opts *opts);
void tree_done(struct call_tree *t);
/* Leaves out what is smaller than its share of the whole. Before tree_sort(). 0 or -ENOMEM. */
int tree_prune(struct call_tree *t, double min_share);
/* Fills `before` of each node from the same path in that profile. 0 or -ENOMEM, -ENOENT. */
int tree_compare(struct call_tree *t, const struct output *o, const struct tree_opts *opts);
/* Siblings by name, as a flame graph has them. Links child and next. */
int tree_sort(struct call_tree *t, const struct output *o);
void tree_label(struct buf *b, const struct call_tree *t, const struct output *o, uint32_t node);

#endif
