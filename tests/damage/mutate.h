/*
 * Damages a file deterministically: the same seed, case and bytes give the same damage.
 */
#ifndef DAMAGE_MUTATE_H
#define DAMAGE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *v;
	size_t n, cap;		/* cap includes space for inserted bytes */
};

/* The offsets of record headers, where damage has the most effect. */
struct spots {
	const uint64_t *v;
	size_t n;
};

enum { MUTATE_ROOM = 4096 };

/* Damages `b` in place, up to four times. Returns the lowest offset that may have changed;
 * *what is set to a short description of the damage. */
size_t mutate(struct bytes *b, const struct spots *spots, uint64_t seed, const char **what);

#endif
