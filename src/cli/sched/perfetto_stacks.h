/*
 * Call chains in Perfetto's format: samples refer to stacks, stacks to frames, frames to names and objects by numbers, and
 * each of these is written once, in the packet of the first sample that needs it.
 */
#ifndef CLI_SCHED_PERFETTO_STACKS_H
#define CLI_SCHED_PERFETTO_STACKS_H

#include "base/arena.h"
#include "base/int_map.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "cli/sched/export.h"

struct perfetto_stacks {
	struct int_map names;		/* symbol ID of tacho_symbols -> 1: written */
	struct int_map objects;		/* object ID -> 1: written */
	struct map frames, stacks;	/* content -> number */
	struct arena keys;
	struct buf interned, message, frame_ids;	/* being built; reused */
	bool begun;
};

/* Writes the sample of a switch. 0 or a negative errno. */
int perfetto_sample(struct sched_export *x, struct perfetto_stacks *s, const struct tacho_sched_event *ev);
void perfetto_stacks_done(struct perfetto_stacks *s);

/* A number that is written even if it is 0. */
void perfetto_number(struct buf *b, unsigned field, uint64_t v);
/* Writes a packet. 0 or a negative errno. */
int perfetto_packet(struct sched_export *x, const struct buf *packet);

#endif
