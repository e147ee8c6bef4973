/*
 * The call tree of one event, from which flame graphs, folded stacks, callgrind and d3 are written: below the
 * root there is a node per command, below these are the frames from the outermost caller to the leaf.
 */
#ifndef OUTPUT_TREE_H
#define OUTPUT_TREE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "output/output.h"
#include "profile/keymap.h"

/* ---- distinct names of threads ---- */
struct comms {
	uint32_t *of_thread;		/* thread -> comm id */
	const char **names;
	size_t n;
};
int comms_init(struct comms *c, const struct tacho_profile *p);
void comms_done(struct comms *c);

/* ---- the tree ---- */
enum { TREE_NO_FRAME = UINT32_MAX };
struct tree_node {
	uint32_t parent;		/* 0, itself, for the root */
	uint32_t frame;			/* TREE_NO_FRAME: the root, or a comm */
	uint32_t comm;
	uint32_t child, next;		/* first child, next sibling, set by tree_sort(); 0: none */
	uint64_t self, total;
	uint64_t before;		/* total in the profile to compare with, set by tree_compare() */
};
struct call_tree {
	struct tree_node *v;		/* v[0] is the root; parents come before their children */
	size_t n, cap;
	uint64_t before;		/* total of the profile to compare with */
	struct comms comms;
};

struct tree_opts {
	bool reverse;			/* leaf frames below the root, comms at the end */
	bool by_label;			/* merge frames with equal labels of different objects */
	bool join_unknown;		/* merge successive frames without symbols of one object */
	double min_share;		/* share of the total: `reverse` omits smaller nodes; for other trees
					 * call tree_prune() */
};
int tree_init(struct call_tree *t, const struct output *o, const struct tree_opts *opts);
void tree_done(struct call_tree *t);
/* Removes nodes below this share of the total. Call this before tree_sort(). 0 or -ENOMEM. */
int tree_prune(struct call_tree *t, double min_share);
/* Sets `before` of each node to the total of the same path in opts.before. 0 or -ENOMEM, -ENOENT. */
int tree_compare(struct call_tree *t, const struct output *o, const struct tree_opts *opts);
/* Links child and next, with siblings in the order of their names. 0 or -ENOMEM. */
int tree_sort(struct call_tree *t, const struct output *o);
void tree_label(struct buf *b, const struct call_tree *t, const struct output *o, uint32_t node);

/* ---- between tree.c and tree_reverse.c ---- */
struct merged_trie {			/* the profile's trie, with equal frames merged */
	struct tacho_profile_node *nodes;	/* merged nodes, with merged frames */
	uint32_t *merged;		/* node of the profile -> merged node */
	size_t n;
};
uint32_t tree_add(struct call_tree *t, uint32_t parent, uint32_t frame, uint32_t comm);	/* 0: no memory */
/* Adds the stacks starting from their leaves, without nodes below min_share. 0 or -ENOMEM. */
int tree_add_reverse(struct call_tree *t, const struct merged_trie *trie, const struct output *o, double min_share);

#endif
