/*
 * Damage to a file, made up from a seed: the same seed, case and bytes give the same damage.
 */
#ifndef DAMAGE_MUTATE_H
#define DAMAGE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *v;
	size_t n, cap;		/* cap leaves room for what a mutation puts in */
};

/* Where damage does most: the offsets of records' headers. */
struct spots {
	const uint64_t *v;
	size_t n;
};

enum { MUTATE_ROOM = 4096 };

/* Damages `b` in place, up to four times. Returns the lowest offset that may have changed;
 * *what is set to a few words about the kind of damage. */
size_t mutate(struct bytes *b, const struct spots *spots, uint64_t seed, const char **what);

#endif
