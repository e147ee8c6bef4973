/*
 * The format of a packed profile: an uncompressed header
 *
 *	"TPK" version	4 bytes
 *	size		of the rest after decompression; varint
 *
 * and one zstd frame. In it all numbers are varints (seven bits per byte, lowest first), signed numbers are zigzag
 * encoded (0, -1, 1, -2 ...), and texts are preceded by their length:
 *
 *	quality		lost, throttled, raw stacks, LOST records, bad records
 *	names		n, text ...
 *	events		n, (name text, flags, leader, group size) ...
 *	objects		n, (path, name, reason, flags, build id as text) ...
 *	threads		n, (pid, tid, comm: a name) ...
 *	frames		n, (symbol: a name, object, space, flags, address, offset, source file: a name + 1,
 *			line, offset in the symbol) ...
 *	nodes		n, then (node's id - its parent's id) ..., then frame ...
 *	rows		n, then column by column: event, thread, node (signed, from the row before), CPU + 1,
 *			time (signed, from the row before), samples, period
 *
 * Ids are indexes into these lists; node 0 is the empty stack and is not listed.
 */
#ifndef PROFILE_PACK_H
#define PROFILE_PACK_H

#include "profile/profile.h"

#define PACK_VERSION 1
#define PACK_HEAD "TPK\1"
#define PACK_HEAD_BYTES 4
#define PACK_RAW_MAX (16u << 20)
#define PACK_EVENTS_MAX 256

enum { PACK_EVENT_CHAINS = 1, PACK_EVENT_TRACEPOINT = 2 };
enum { PACK_OBJECT_KERNEL = 1, PACK_OBJECT_JIT = 2, PACK_OBJECT_SYMBOLS = 4, PACK_OBJECT_WHY = 8 };
enum { PACK_FRAME_INLINED = 1, PACK_FRAME_JIT = 2, PACK_FRAME_KNOWN = 4 };

static inline uint64_t zigzag_encode(int64_t v)
{
	return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}

static inline int64_t zigzag_decode(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
