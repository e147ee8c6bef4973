/*
 * What the files of the call tree share: the profile's trie with equal frames made one, and the
 * way into the tree.
 */
#ifndef OUTPUT_TREE_H
#define OUTPUT_TREE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "output/output.h"
#include "profile/keymap.h"

struct trie {
	struct tacho_profile_node *nodes;	/* parents and frames are those that others became */
	uint32_t *fold;				/* the profile's node -> the one it became */
	size_t n;
};
int trie_init(struct trie *t, const struct tacho_profile *p, const struct tree_opts *opts);
void trie_done(struct trie *t);

uint32_t tree_add(struct call_tree *t, uint32_t parent, uint32_t frame, uint32_t comm);	/* 0: no memory */
/* The stacks from their leaf on, with what is smaller than its share left out at once. */
int add_reverse(struct call_tree *t, const struct trie *trie, const struct output *o, double min_share);

#endif
