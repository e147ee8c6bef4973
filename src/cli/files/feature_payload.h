/*
 * Payloads of features and of the tools' own records. Their lengths are somebody else's word: they
 * are read through a cursor that fails for good, and asked once at the end.
 */
#ifndef CLI_FILES_FEATURE_PAYLOAD_H
#define CLI_FILES_FEATURE_PAYLOAD_H

#include "base/str.h"

#include <tacho/perfdata.h>

struct payload {
	const uint8_t *at, *end;
	bool swap, bad;
};

static inline struct payload payload_of(const struct tacho_perfdata *pd, enum tacho_feature f)
{
	size_t n = 0;
	const uint8_t *at = tacho_perfdata_feature(pd, f, &n);

	return (struct payload){ at, at ? at + n : NULL, tacho_perfdata_swapped(pd), !at };
}

static inline const void *payload_bytes(struct payload *p, size_t n)
{
	const void *at = p->at;

	if (p->bad || n > (size_t)(p->end - p->at)) {
		p->bad = true;
		return NULL;
	}
	p->at += n;
	return at;
}

static inline uint32_t payload_u32(struct payload *p)
{
	const void *at = payload_bytes(p, 4);
	uint32_t v = 0;

	if (at)
		memcpy(&v, at, 4);
	return p->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t payload_u64(struct payload *p)
{
	const void *at = payload_bytes(p, 8);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, 8);
	return p->swap ? __builtin_bswap64(v) : v;
}

static inline struct str payload_str(struct payload *p)
{
	uint32_t n = payload_u32(p);
	const char *s = payload_bytes(p, n);

	return s ? str_n(s, strnlen(s, n)) : (struct str){ "", 0 };
}

/* What follows the header of a record. */
static inline struct payload payload_of_record(const struct tacho_record *rec)
{
	return (struct payload){ rec->bytes + 8, rec->bytes + rec->size, rec->swapped, rec->size < 8 };
}

/* A moment by the wall's clock and by that of the samples, where the file tells: u32 version, u32
 * clock, both in nanoseconds. */
static inline bool payload_clocks(const struct tacho_perfdata *pd, uint64_t *wall_ns, uint64_t *clock_ns)
{
	struct payload p = payload_of(pd, TACHO_FEATURE_CLOCK_DATA);

	payload_u64(&p);
	*wall_ns = payload_u64(&p);
	*clock_ns = payload_u64(&p);
	return !p.bad;
}

#endif
