/*
 * The room's own picture of a profile:
 *
 *	record -load-> sample -stacks-> node -filter-> row
 *	   \--------lane------^      |
 *	              callers met lately, as words of the chain or as places? ... then their node is known
 *	              else per new word: address -> spot -> frame -> (parent node, frame) -> node
 *
 * The lane takes what most files consist of without decoding it (lane.h).
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
#include "profile/chain.h"
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
	struct cpuset parallelism, counted_cpus;
	bool by_sample;			/* by what a sample tells besides thread and stack: these two */
	bool by_cpu, by_parent, by_time, by_parallelism, by_counted_cpu, ends;
	regex_t parent, end;		/* `end`: of functions at which stacks end */
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
bool profile_filter_end(const struct filter *f, const char *name);

/* ---- the profile ---- */
/* Asked once per frame: the filter's verdicts, and whether a stack that ends there is whole. */
enum { FRAME_LEAF_OUT = 1, FRAME_PARENT = 2, FRAME_START = 4, FRAME_END = 8 };

struct thread_row {
	struct tacho_profile_thread pub;
	uint32_t first;			/* of the same comm */
	bool out;			/* the filter's verdict */
};

struct node_link {			/* how a node's child and row are found again; see trie.c */
	uint32_t child;			/* the only one, 0: none, or SEVERAL */
	uint32_t frame;			/* ... its frame */
	uint32_t row;			/* the only one + 1, 0: none, or SEVERAL */
};
#define SEVERAL UINT32_MAX

struct outermost {			/* the first node of a frame without a caller */
	uint32_t node;			/* 0: none */
	uint32_t owner;
};

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
	struct keymap code_ids;		/* hash of symbol, object and source file -> index */
	struct { const struct tacho_profile_code **v; size_t n, cap; } codes;	/* in the arena */
	struct { struct tacho_profile_frame *v; size_t n, cap; } frames;
	struct { uint8_t *v; size_t n, cap; } frame_flags;	/* per frame, where any can matter */
	bool some_out;			/* a frame has FRAME_LEAF_OUT */
	struct { struct outermost *v; size_t n, cap; } outermost;	/* per frame */
	struct keymap outermost_ids;	/* (owner, frame) -> node, of those that no frame has there */
	struct keymap known_frames;	/* hash -> id: few, and asked for all the time */
	struct keymap other_frames;	/* ... of those without a symbol, of which there may be millions */
	struct { struct tacho_profile_node *v; size_t n, cap; } nodes;
	struct { struct node_link *v; size_t n, cap; } links;	/* per node */
	struct { uint8_t *v; size_t n, cap; } node_parent;	/* has a caller of interest; only
								 * where one is asked for */
	struct keymap children;		/* (parent, frame) -> node, where a parent has several */
	struct { struct tacho_profile_row *v; size_t n, cap; } rows;
	struct keymap row_ids;		/* hash -> id, where a node has several */
	struct { struct cgroup_name *v; size_t n, cap; } cgroups;
	struct tacho_profile_quality quality;
	struct { struct tacho_profile_detail *v; size_t n, cap; } details;	/* v[id - 1] */
	struct keymap detail_ids;	/* hash -> id */
	struct { struct tacho_profile_value *v; size_t n, cap; } values;	/* v[id - 1] */
	struct map value_ids;
	bool closed;			/* nothing can be added any more */
};

struct cgroup_name {
	uint64_t id;
	const char *path;
};

/* Frees what only finds things again. */
void profile_close(struct tacho_profile *p);
/* Ids of equal things; KEYMAP_NONE without memory. */
uint32_t profile_name(struct tacho_profile *p, const char *text);
uint32_t profile_object(struct tacho_profile *p, const struct tacho_profile_object *like);
uint32_t profile_event(struct tacho_profile *p, const char *name);
uint32_t profile_thread(struct tacho_profile *p, uint32_t pid, uint32_t tid, const char *comm);
/* A frame to be found or made: as struct tacho_profile_frame, with the profile's ids. */
struct frame_like {
	uint32_t symbol, object;
	const char *srcfile;		/* of name_of, or NULL */
	uint64_t address, offset;
	uint32_t srcline;
	enum tacho_space space;
	bool inlined, jit, known;
};
uint32_t profile_frame(struct tacho_profile *p, const struct frame_like *like);
/* NULL without memory. */
const struct tacho_profile_code *profile_code(struct tacho_profile *p, const struct frame_like *like);
static inline struct keymap *frames_of(struct tacho_profile *p, bool known)
{
	return known ? &p->known_frames : &p->other_frames;
}
uint64_t frame_key(const struct frame_like *f);	/* in known_frames or other_frames */
/* The same frame at an address, in two steps: the first is equal for all addresses, and then no two
 * addresses have the same key. Where nothing is mapped the offset is the address. */
static inline uint64_t frame_key_common(uint32_t symbol, uint32_t object, uint32_t kind)
{
	return key_add(key_mix(key_pair(symbol, object)), kind);
}
static inline uint64_t frame_key_at(uint64_t common, uint64_t address, uint64_t offset)
{
	uint64_t h = key_add(common, address);

	return offset == address ? h : key_add(h, offset);
}
/* ... that no table has yet. */
uint32_t profile_frame_new(struct tacho_profile *p, const struct frame_like *like,
			   const struct tacho_profile_code *code);
uint32_t profile_node(struct tacho_profile *p, uint32_t parent, uint32_t frame);
/* ... of a stack's outermost frame; owner: with `split_comms` the first thread of the command, else 0. */
uint32_t profile_outermost(struct tacho_profile *p, uint32_t owner, uint32_t frame);
struct stack_word;
/* The last one of n, each below the one before, where none can be yet, because the parent is new itself. */
uint32_t profile_nodes_below(struct tacho_profile *p, uint32_t parent, const struct stack_word *words, size_t n);
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

/* What will be asked for soon is fetched: a node's link, then its children and rows. */
static inline void profile_node_prefetch(const struct tacho_profile *p, uint32_t node)
{
	__builtin_prefetch(&p->links.v[node]);
}

/* Where there is no such frame, any address will do. */
static inline void profile_outermost_prefetch(const struct tacho_profile *p, uint32_t frame)
{
	__builtin_prefetch((const void *)((uintptr_t)p->outermost.v + sizeof(*p->outermost.v) * frame));
}

static inline void profile_child_prefetch(const struct tacho_profile *p, uint32_t node, uint32_t frame)
{
	if (p->links.v[node].child)
		keymap_prefetch(&p->children, key_pair(node, frame));
}

/* Returns whether there are any. */
static inline bool profile_rows_prefetch(const struct tacho_profile *p, uint32_t node)
{
	uint32_t row = p->links.v[node].row;
	/* Where there is none, any address will do. */
	uintptr_t at = (uintptr_t)p->rows.v + sizeof(*p->rows.v) * (row == SEVERAL ? 0 : row - (row != 0));

	__builtin_prefetch((const void *)at, 1);	/* it may lie on two lines of the cache */
	__builtin_prefetch((const void *)(at + offsetof(struct tacho_profile_row, period)), 1);
	return row != 0;
}

/* Whose nodes a thread's stacks are. */
static inline uint32_t profile_owner(const struct tacho_profile *p, uint32_t thread)
{
	return p->opts.split_comms ? p->threads.v[thread].first : 0;
}

/* ---- raw chains ---- */
/* What was met lately, by a hash wide enough not to meet another; forgets what collides. */
struct lately {
	uint64_t key;
	uint32_t id;			/* a node's or frame's + 1; 0: free */
};
/* Its id, or KEYMAP_NONE. Whether it is there nobody can foretell, so nothing waits for that. A key of 0 is not. */
static inline uint32_t lately_get(const struct lately *slots, size_t mask, uint64_t key)
{
	const struct lately *l = &slots[key & mask];

	return (l->id - 1) | -(uint32_t)(l->key != key);
}
#define LATELY_SLOTS 65536u	/* powers of two */
#define LATELY_FEW 4096u
#define SPOTS_SLOTS 8192u	/* small enough for the cache, where most of them are found */
#define SPOTS_FEW 512u

struct stack_word {
	struct tacho_spot spot;		/* where nothing is known to be mapped: the address, in no object */
	uint64_t prefix;		/* hash of all words from the outermost on to this */
	uint64_t key;			/* hash of its spot; of one that lies nowhere, of its frame */
	uint32_t frame;
	uint8_t space;			/* enum tacho_space */
};

/* What words have in common, of one object or of none: there the key is that of the frame. */
struct alike {
	uint64_t common;		/* what their hashes begin with */
	uint64_t bias, mask;		/* the offset is (address - bias) & mask */
	uint32_t object;
};

#define REGIONS 512u			/* a power of two */

struct region {				/* where leaves lay lately */
	uint64_t tag;			/* whose, under which maps, in which space */
	uint64_t start, last;
	struct alike alike;
	uint8_t space;			/* enum tacho_space */
};

struct fresh_frame {			/* of a spot that was not met before */
	struct stack_word *word;
	struct frame_like like;
};

struct stack {				/* of one sample, outermost caller first */
	struct stack_word *words;
	size_t n, done;			/* `node` stands for the first `done` words, and for all before them */
	uint32_t node;
	uint32_t owner;			/* of its nodes, see profile_outermost() */
	bool nameless;			/* its sample fell into no function, and is not to be kept then */
	/* A chain that is looked for as it came has only its leaf's word, until it turns out to be new. */
	bool deep;			/* it is one, and has callers */
	bool one_run;			/* ... of which no marker tells another space */
	uint32_t pid;
	uint64_t callers;		/* hash of these, and of who has them */
	struct tacho_words chain;	/* which the caller has */
	struct stack_word leaf;
	uint8_t unused[24];		/* two lines of the cache */
};

struct nowhere {			/* frames of one space where nothing is mapped */
	bool asked;
	uint64_t key;			/* of what all of them have in common, for frame_key_at() */
	struct frame_like like;
	const struct tacho_profile_code *code;
};

#define BATCH_MOST 64u
#define BATCH_WORDS 16384u
#define TODO_MOST (BATCH_WORDS + BATCH_MOST + 2)	/* leaves may come on top, and two are tried */

struct stacks {				/* of one file */
	struct tacho_profile *profile;
	struct tacho_symbols *symbols;
	struct { uint32_t *v; size_t n, cap; } names, objects;	/* the symbols' ids -> ours, + 1 */
	struct stack batch[BATCH_MOST];
	size_t n;
	/* Of the batch: those without callers, with known ones, and with others. */
	struct stack *lone[BATCH_MOST + 1], *deep[BATCH_MOST + 1], *missed[BATCH_MOST + 1];
	size_t n_lone, n_deep, n_missed;
	struct stack_word *words;	/* of the batch */
	size_t n_words;
	size_t n_raw;			/* of chains in the batch that have none yet */
	struct { struct fresh_frame *v; size_t n, cap; } fresh;
	struct region *regions;		/* by their megabyte */
	struct lately *nodes;		/* hash of callers, as words from the outermost on or as they came -> node */
	size_t lately_mask;
	struct keymap frames;		/* hash of a spot -> frame */
	struct lately *spot_frames;	/* ... of a few, most of which come again soon */
	size_t spot_mask;
	struct stack_word **todo;	/* words without a frame; see list_words() */
	size_t n_todo, todo_nowhere;	/* how many from the front on; where those at the back begin */
	struct nowhere nowhere[8];	/* per space */
	uint64_t nowhere_mask;		/* of an address, what tells its frame from others */
};

/* `few`: a second's samples, for which large tables would only have to be cleared. 0 or -ENOMEM. */
int stacks_init(struct stacks *s, struct tacho_profile *p, struct tacho_symbols *symbols, bool few);
void stacks_done(struct stacks *s);
static inline bool stacks_full(const struct stacks *s)
{
	return s->n == BATCH_MOST || s->n_words + s->n_raw > BATCH_WORDS - WORDS_MAX - RUNS_MAX;
}
/* Puts the stack of a thread's sample into the batch, which must not be full. Before the symbols learn
 * anything new about maps the batch must have been resolved. 0 or -ENOMEM. */
int stacks_add(struct stacks *s, uint32_t thread, const struct tacho_sample *sample, enum tacho_space space);
/* Who has a stack, as long as the symbols learn nothing new about maps. */
struct whose {
	uint64_t key;			/* what the hashes of its callers begin with */
	uint32_t pid, owner;
};
/* 1; 0 where other things than those decide what an address is; or -ENOMEM. */
int stacks_whose(struct stacks *s, uint32_t pid, uint32_t thread, struct whose *out);
/* As stacks_add(), for a chain that begins with a marker, CONTEXT_USER or CONTEXT_KERNEL, and the sampled address.
 * Its words must stay where they are until the batch is resolved. */
int stacks_add_raw(struct stacks *s, const struct whose *whose, struct tacho_words chain);
/* Gives each its node. 0 or -ENOMEM. */
int stacks_resolve(struct stacks *s);
void stacks_clear(struct stacks *s);
/* What profile_frame() wants. 0 or -ENOMEM. */
int stacks_frame(struct stacks *s, uint32_t pid, enum tacho_space space, uint64_t ip,
		 struct frame_like *out);
/* ... of a spot that lies in an object. */
int stacks_frame_at(struct stacks *s, enum tacho_space space, const struct tacho_spot *spot,
		    struct frame_like *out);
/* ... where nothing is mapped, at address 0. */
int stacks_frame_nowhere(struct stacks *s, enum tacho_space space, struct frame_like *out);
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
void quality_times(struct tacho_profile_quality *q, uint64_t first_ns, uint64_t last_ns);	/* 0: none */
void quality_row(struct tacho_profile *p, const struct tacho_profile_row *r);	/* judges one more */
/* Judges all rows anew. 0 or -ENOMEM. */
int quality_rows(struct tacho_profile *p);

#endif
