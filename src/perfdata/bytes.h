/*
 * Numbers at any address and in either byte order. Files keep no alignment (a compressed record
 * may have any length), so every load goes through memcpy, which compiles to one instruction.
 * Payloads are walked with the cursor of record/.
 */
#ifndef PERFDATA_BYTES_H
#define PERFDATA_BYTES_H

#include "record/cursor.h"

#include <string.h>

static inline uint16_t get_u16(const void *at, bool swap)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t get_u32(const void *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t get_u64(const void *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint64_t round_up8(uint64_t n)
{
	return (n + 7) & ~7ULL;
}

#endif
