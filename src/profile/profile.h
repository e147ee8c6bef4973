/*
 * The room's own picture of a profile:
 *
 *	record -load-> sample -stacks-> node -filter-> row
 *	                          |
 *	              raw chain, seen before? ... then its node is known
 *	              else per new word: address -> frame -> (parent node, frame) -> node
 *
 * All tables grow by doubling and are found again by hash; no sample allocates anything unless it
 * is the first of its kind. Strings live in one arena.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/cpuset.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/keymap.h"

#include <regex.h>
#include <tacho/profile.h>
#include <tacho/trace.h>

/* ---- what may pass ---- */
struct window {				/* of time, both ends belong to it */
	uint64_t from_ns, to_ns;
};

struct share {				/* of the whole time, in per cent */
	double from, to;
};

struct numbers {
	uint32_t *v;
	size_t n, cap;
};

struct filter {
	struct strlist comms, objects, symbols;
	struct numbers pids, tids;
	struct cpuset cpus;
	struct cpuset parallelism;
	bool by_cpu, by_parent, by_time, by_parallelism;
	regex_t parent;
	struct { struct window *v; size_t n, cap; } windows;
	struct { struct share *v; size_t n, cap; } shares;	/* become windows when a file is read */
};

int profile_filter_init(struct filter *f, const struct tacho_profile_opts *opts, struct tacho_error *e);
void profile_filter_done(struct filter *f);
int times_parse(struct filter *f, const char *text, struct tacho_error *e);
/* The windows for a recording of that length; `out` has room for f->windows.n + f->shares.n. */
size_t times_resolve(const struct filter *f, uint64_t first_ns, uint64_t last_ns, struct window *out);
bool profile_filter_comm(const struct filter *f, const char *comm);
bool profile_filter_task(const struct filter *f, uint32_t pid, uint32_t tid);
bool profile_filter_object(const struct filter *f, const char *path, const char *name);
bool profile_filter_symbol(const struct filter *f, const char *name);
bool profile_filter_parent(const struct filter *f, const char *name);

/* ---- the profile ---- */
/* Asked once per frame: the filter's verdicts, and whether a stack that ends there is whole. */
enum { FRAME_LEAF_OUT = 1, FRAME_PARENT = 2, FRAME_START = 4 };

struct thread_row {
	struct tacho_profile_thread pub;
	uint32_t first;			/* of the same comm */
	bool out;			/* the filter's verdict */
};

struct node_link {			/* how a node and its rows are found again; see trie.c */
	uint32_t next;			/* in its parent's list; 0: the last */
	uint32_t frame;			/* what tells it apart there lies where the next is */
	uint32_t child;			/* first of its children's list, or LIST_FULL */
	uint32_t row;			/* first of its rows' list + 1, or LIST_FULL */
};
#define LIST_FULL UINT32_MAX

struct tacho_profile {
	struct tacho_profile_opts opts;
	struct filter filter;
	struct arena arena;
	struct map names;		/* text -> id, for symbols */
	struct { const char **v; size_t n, cap; } name_of;
	struct map object_ids;		/* path -> id */
	struct { struct tacho_profile_object *v; size_t n, cap; } objects;
	struct { struct tacho_profile_event *v; size_t n, cap; } events;
	struct { struct thread_row *v; size_t n, cap; } threads;
	struct keymap thread_ids;	/* hash of pid, tid, comm -> id; chained by comparing */
	struct keymap comm_threads;	/* id of the comm's name -> its first thread */
	struct { struct tacho_profile_frame *v; size_t n, cap; } frames;
	struct { uint8_t *v; size_t n, cap; } frame_flags;
	bool some_out;			/* a frame has FRAME_LEAF_OUT */
	struct { uint32_t *v; size_t n, cap; } outermost;	/* per frame: its node without a caller, or 0 */
	struct keymap known_frames;	/* hash -> id: few, and asked for all the time */
	struct keymap other_frames;	/* ... of those without a symbol, of which there may be millions */
	struct { struct tacho_profile_node *v; size_t n, cap; } nodes;
	struct { struct node_link *v; size_t n, cap; } links;	/* per node */
	struct { uint8_t *v; size_t n, cap; } node_parent;	/* has a caller of interest; only
								 * where one is asked for */
	struct keymap children;		/* (parent, frame) -> node, of those that no list has */
	struct { struct tacho_profile_row *v; size_t n, cap; } rows;
	struct { uint32_t *v; size_t n, cap; } row_next;	/* in its node's list, + 1 */
	struct keymap row_ids;		/* hash -> id, of those that no list has */
	struct { struct cgroup_name *v; size_t n, cap; } cgroups;
	struct tacho_profile_quality quality;
	struct { struct tacho_profile_detail *v; size_t n, cap; } details;	/* v[id - 1] */
	struct keymap detail_ids;	/* hash -> id */
	struct { struct tacho_profile_value *v; size_t n, cap; } values;	/* v[id - 1] */
	struct map value_ids;
};

struct cgroup_name {
	uint64_t id;
	const char *path;
};

/* Ids of equal things; KEYMAP_NONE without memory. */
uint32_t profile_name(struct tacho_profile *p, const char *text);
uint32_t profile_object(struct tacho_profile *p, const struct tacho_profile_object *like);
uint32_t profile_event(struct tacho_profile *p, const char *name);
uint32_t profile_thread(struct tacho_profile *p, uint32_t pid, uint32_t tid, const char *comm);
/* `like` has symbol and object as the profile's ids; the rest of its texts is filled in. */
uint32_t profile_frame(struct tacho_profile *p, const struct tacho_profile_frame *like);
static inline struct keymap *frames_of(struct tacho_profile *p, bool known)
{
	return known ? &p->known_frames : &p->other_frames;
}
uint64_t frame_key(const struct tacho_profile_frame *f);	/* in known_frames or other_frames */
/* The same frame at an address, in two steps: the first is equal for all addresses. */
static inline uint64_t frame_key_common(uint32_t symbol, uint32_t object)
{
	return key_mix(key_pair(symbol, object));
}
static inline uint64_t frame_key_at(uint64_t common, uint64_t address, uint64_t offset, uint32_t kind)
{
	return key_mix(key_add(key_add(key_add(common, address), offset), kind));
}
/* ... whose key is known. */
uint32_t profile_frame_keyed(struct tacho_profile *p, const struct tacho_profile_frame *like, uint64_t key);
uint32_t profile_node(struct tacho_profile *p, uint32_t parent, uint32_t frame);
/* ... where there cannot be one yet, because the parent is new itself. */
uint32_t profile_node_new(struct tacho_profile *p, uint32_t parent, uint32_t frame);
int profile_row(struct tacho_profile *p, const struct tacho_profile_row *add);
/* The id of an equal detail; KEYMAP_NONE without memory. */
uint32_t profile_detail(struct tacho_profile *p, const struct tacho_profile_detail *like);
/* `kind` tells fields apart. Its bytes and text are copied. */
uint32_t profile_value(struct tacho_profile *p, uint32_t kind, const struct tacho_profile_value *like);
int profile_cgroup(struct tacho_profile *p, uint64_t id, const char *path);
/* Whether it passes the filters of names, tasks and callers. */
static inline bool profile_wants(const struct tacho_profile *p, const struct tacho_profile_row *r)
{
	uint32_t frame = p->some_out ? p->nodes.v[r->node].frame : KEYMAP_NONE;

	if (p->threads.v[r->thread].out)
		return false;
	if (frame != KEYMAP_NONE && (p->frame_flags.v[frame] & FRAME_LEAF_OUT))
		return false;
	return !p->filter.by_parent || p->node_parent.v[r->node];
}

/* What will be asked for soon is fetched: a node's lists, its children and its rows (once those are
 * there), and the outermost caller of a frame. */
static inline void profile_node_prefetch(const struct tacho_profile *p, uint32_t node)
{
	__builtin_prefetch(&p->links.v[node]);
}

static inline void profile_children_prefetch(const struct tacho_profile *p, uint32_t node)
{
	uint32_t first = p->links.v[node].child;

	if (first && first != LIST_FULL)
		__builtin_prefetch(&p->links.v[first]);
}

static inline void profile_outermost_prefetch(const struct tacho_profile *p, uint32_t frame)
{
	__builtin_prefetch(&p->outermost.v[frame]);
}

static inline void profile_rows_prefetch(const struct tacho_profile *p, uint32_t node)
{
	uint32_t first = p->links.v[node].row;

	if (first && first != LIST_FULL) {	/* a row may lie on two lines of the cache */
		__builtin_prefetch(&p->rows.v[first - 1], 1);
		__builtin_prefetch(&p->rows.v[first - 1].period, 1);
	}
}

/* ---- raw chains ---- */
/* What was met lately, by a hash wide enough not to meet another; forgets what collides. */
struct lately {
	uint64_t key;
	uint32_t id;			/* a node or a frame, + 1; 0: free */
};
#define LATELY_SLOTS 262144u	/* powers of two */
#define LATELY_FEW 4096u

struct stack_word {
	uint64_t ip;
	uint64_t prefix;		/* hash of all words from the outermost on to this */
	uint64_t key;			/* hash of its spot; of one that lies nowhere, of its frame */
	uint32_t frame;
	uint8_t space;			/* enum tacho_space */
	bool nowhere;			/* nothing is known to be mapped there */
};

struct fresh_frame {			/* of an address that was not met lately */
	struct stack_word *word;
	struct tacho_profile_frame like;	/* unless the word lies nowhere */
};

struct stack {				/* of one sample, outermost caller first */
	struct stack_word *words;
	size_t n, done;			/* `node` stands for the first `done` words */
	uint32_t pid, node;
};

struct nowhere {			/* frames of one space where nothing is mapped */
	bool asked;
	uint64_t key;			/* of what all of them have in common, for frame_key_at() */
	struct tacho_profile_frame like;
};

#define BATCH_MOST 32u
#define BATCH_WORDS 16384u

struct stacks {				/* of one file */
	struct tacho_profile *profile;
	struct tacho_symbols *symbols;
	struct { uint32_t *v; size_t n, cap; } names, objects;	/* the symbols' ids -> ours, + 1 */
	struct stack batch[BATCH_MOST];
	size_t n;
	struct stack_word *words;	/* of the batch */
	size_t n_words;
	struct { struct fresh_frame *v; size_t n, cap; } fresh;
	struct lately *nodes;		/* hash of callers from the outermost on -> node */
	struct lately *frames;		/* hash of a spot -> frame */
	size_t lately_mask;		/* of both */
	struct tacho_spot *spots;	/* of the run at hand */
	struct nowhere nowhere[8];	/* per space */
};

/* `few`: a second's samples, for which large tables would only have to be cleared. 0 or -ENOMEM. */
int stacks_init(struct stacks *s, struct tacho_profile *p, struct tacho_symbols *symbols, bool few);
void stacks_done(struct stacks *s);
/* Puts a sample's stack into the batch, which must not be full. Before the symbols learn anything new
 * the batch must have been resolved. 0 or -ENOMEM. */
int stacks_add(struct stacks *s, uint32_t pid, const struct tacho_sample *sample, enum tacho_space space);
bool stacks_full(const struct stacks *s);
/* Gives each its node. 0 or -ENOMEM. */
int stacks_resolve(struct stacks *s);
void stacks_clear(struct stacks *s);
/* What profile_frame() wants. 0 or -ENOMEM. */
int stacks_frame(struct stacks *s, uint32_t pid, enum tacho_space space, uint64_t ip,
		 struct tacho_profile_frame *out);
/* ... where nothing is mapped, at address 0. */
int stacks_frame_nowhere(struct stacks *s, enum tacho_space space, struct tacho_profile_frame *out);
/* Where an address lies, as a frame; false without memory. */
bool stacks_place(struct stacks *s, uint32_t pid, enum tacho_space space, uint64_t address,
		  struct tacho_profile_place *out);
/* What is known of the objects after all was looked up. */
void stacks_objects(struct stacks *s);

/* ---- details ---- */
struct details {			/* of one file */
	struct tacho_profile *profile;
	struct stacks *stacks;
	struct tacho_trace *trace;
	bool no_trace;			/* the file has no formats */
	uint32_t parallelism;		/* at the sample at hand */
	bool swapped;
	struct { struct details_event *v; size_t n, cap; } events;	/* of the file */
	struct buf text;
};
void details_done(struct details *d);
/* The id of what is kept of the sample; 0 when nothing is. `branch` may be NULL. */
uint32_t details_sample(struct details *d, const struct tacho_perfdata *pd, size_t event,
			const struct tacho_sample *s, enum tacho_space space,
			const struct tacho_branch *branch);

/* Whether nothing can have called this frame, so that a stack that ends there is whole. */
bool frame_is_start(const struct tacho_profile_frame *f);
void quality_sample(struct tacho_profile_quality *q, uint64_t time_ns, bool raw_stack);
void quality_row(struct tacho_profile *p, const struct tacho_profile_row *r);	/* judges one more */
/* Judges all rows anew. 0 or -ENOMEM. */
int quality_rows(struct tacho_profile *p);

#endif
