/*
 * The lists of a packed profile (pack.h) after they were read: all lengths and ids have been checked.
 */
#ifndef PROFILE_PACKED_LISTS_H
#define PROFILE_PACKED_LISTS_H

#include "base/arena.h"
#include "profile/profile.h"

struct packed_frame {
	uint32_t symbol, object, srcfile, srcline;
	uint8_t space, flags;
	uint64_t address, offset, symbol_offset;
};

struct packed_thread {
	uint32_t pid, tid, comm;
};

struct packed_profile {
	struct arena arena;
	char *raw;
	struct tacho_profile_quality quality;
	const char **names;
	struct tacho_profile_event *events;
	struct tacho_profile_object *objects;
	struct packed_thread *threads;
	struct packed_frame *frames;
	struct tacho_profile_node *nodes;	/* from 1 on */
	struct tacho_profile_row *rows;
	size_t n_names, n_events, n_objects, n_threads, n_frames, n_nodes, n_rows;
	/* packed id -> the profile's id + 1; 0: not added yet */
	uint32_t *name_ids, *event_ids, *object_ids, *thread_ids, *frame_ids, *node_ids;
};

/* Decompresses and reads all lists. Returns 0, -EBADMSG, -EPROTO if the version is unknown, or -ENOMEM. */
int packed_read(struct packed_profile *k, const uint8_t *bytes, size_t n);
void packed_done(struct packed_profile *k);

#endif
