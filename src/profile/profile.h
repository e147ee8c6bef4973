/*
 * The data of a profile (struct tacho_profile): tables of names, objects, threads, events, frames, stacks and rows,
 * and the indexes that find equal entries again. The steps from a recording to a row, and their headers:
 *
 *	records --load.h--> samples --stacks.h--> nodes (one per distinct stack) --filter.h--> rows
 *
 *	intern.h	names, objects, events, threads: equal ones get one id
 *	frame.h		frames, and the code they have in common
 *	trie.h		stacks as a trie of nodes; rows
 *	detail.h	sample fields other than thread and stack that rows store
 *	quality.h	how complete the data is
 *	caches.h	the caches between record and row: their purpose and benefit
 *
 * Ids are indexes into the tables. Tables grow by doubling; adding a sample allocates memory only if its stack, thread
 * or row is new. Strings live in one arena until the profile is freed.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/filter.h"
#include "profile/keymap.h"

#include <tacho/profile.h>

struct node_link;
struct outermost_node;

struct thread_entry {
	struct tacho_profile_thread pub;
	uint32_t first_of_comm;		/* the first thread of the same comm */
	bool filtered;			/* the filter rejects its samples */
};

struct cgroup_name {
	uint64_t id;
	const char *path;
};

struct tacho_profile {
	struct tacho_profile_opts opts;
	struct profile_filter filter;
	struct arena arena;
	struct tacho_profile_quality quality;
	bool closed;			/* the indexes are freed: nothing can be added any more */

	/* intern.h */
	struct map names;		/* text -> id, of symbols, comms and source files */
	struct { const char **v; size_t n, cap; } name_text;
	struct map object_ids;		/* path -> id */
	struct { struct tacho_profile_object *v; size_t n, cap; } objects;
	struct { struct tacho_profile_event *v; size_t n, cap; } events;
	struct { struct thread_entry *v; size_t n, cap; } threads;
	struct keymap thread_ids;	/* hash of pid, tid, comm -> id; on a collision the next key is tried */
	struct keymap comm_threads;	/* name id of a comm -> its first thread */
	struct { struct cgroup_name *v; size_t n, cap; } cgroups;

	/* frame.h */
	struct keymap code_ids;		/* hash of symbol, object and source file -> index + 1 */
	struct { const struct tacho_profile_code **v; size_t n, cap; } codes;	/* in the arena */
	struct { struct tacho_profile_frame *v; size_t n, cap; } frames;
	struct { uint8_t *v; size_t n, cap; } frame_flags;	/* FRAME_...; empty if no option needs them */
	bool any_leaf_filtered;		/* some frame has FRAME_LEAF_FILTERED */
	struct keymap symbol_frame_ids;	/* frame_key() -> id + 1, frames with a symbol: few and looked up often */
	struct keymap unknown_frame_ids;	/* frame_key() -> id + 1, frames without a symbol: there may
						 * be millions */

	/* trie.h */
	struct { struct tacho_profile_node *v; size_t n, cap; } nodes;
	struct { struct node_link *v; size_t n, cap; } links;	/* per node */
	struct { uint8_t *v; size_t n, cap; } node_has_parent_match;	/* per node: the frame or a caller matches
								 * opts.parent; empty without that option */
	struct keymap child_ids;	/* (parent, frame) -> node, of parents with several children */
	struct { struct outermost_node *v; size_t n, cap; } outermost;	/* per frame */
	struct keymap outermost_ids;	/* (owner, frame) -> node, of all owners but a frame's first */
	struct { struct tacho_profile_row *v; size_t n, cap; } rows;
	struct keymap row_ids;		/* hash of the row -> id, of nodes with several rows */

	/* detail.h */
	struct { struct tacho_profile_detail *v; size_t n, cap; } details;	/* v[id - 1] */
	struct keymap detail_ids;	/* hash -> id */
	struct { struct tacho_profile_value *v; size_t n, cap; } values;	/* v[id - 1] */
	struct map value_ids;		/* field number and bytes -> id */
};

/* Frees the indexes; after that nothing can be added. */
void profile_close(struct tacho_profile *p);

#endif
