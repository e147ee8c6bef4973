/*
 * A batch has room for hundreds of elements, because it must be at least as large as the fullest bucket of the map.
 */
#include "bpf/map_walk.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/defs.h"
#include "bpf/load_libbpf.h"

#define BATCH_BYTES (1u << 19)
#define BATCH_MIN 64u

static int walk_singly(int map, size_t key_bytes, size_t value_bytes, map_walk_fn *fn, void *arg)
{
	scoped(freep) char *keys = malloc(2 * key_bytes);
	scoped(freep) void *value = calloc(1, value_bytes);
	char *last = NULL, *next = keys;
	int err = 0;

	if (!keys || !value)
		return -ENOMEM;
	while (err == 0 && bpf_map_get_next_key(map, last, next) == 0) {
		if (bpf_map_lookup_elem(map, next, value) == 0)
			err = fn(arg, next, value);
		last = next;
		next = last == keys ? keys + key_bytes : keys;
	}
	return err;
}

/* Reads batches of at most n elements. -EOPNOTSUPP: nothing was read; the kernel or this type of map has no batches. */
static int walk_batches(int map, size_t key_bytes, size_t value_bytes, uint32_t n, map_walk_fn *fn, void *arg)
{
	scoped(freep) char *keys = malloc(n * key_bytes);
	scoped(freep) char *values = malloc(n * value_bytes);
	uint64_t at[2] = { 0 };		/* where the kernel goes on: a number of a bucket */
	bool started = false, more = true;

	if (!keys || !values)
		return -ENOMEM;
	while (more) {
		uint32_t got = n;
		int err = bpf_map_lookup_batch(map, started ? at : NULL, at, keys, values, &got, NULL) < 0 ? -errno : 0;

		more = err == 0;
		if (err < 0 && err != -ENOENT)
			return started ? -EIO : -EOPNOTSUPP;
		for (uint32_t i = 0; i < got; i++) {
			err = fn(arg, keys + i * key_bytes, values + i * value_bytes);
			if (err < 0)
				return err;
		}
		started = true;
	}
	return 0;
}

int map_walk(int map, size_t key_bytes, size_t value_bytes, map_walk_fn *fn, void *arg)
{
	uint32_t n = (uint32_t)max_of(BATCH_BYTES / (key_bytes + value_bytes), (size_t)BATCH_MIN);
	int err = walk_batches(map, key_bytes, value_bytes, n, fn, arg);

	return err == -EOPNOTSUPP ? walk_singly(map, key_bytes, value_bytes, fn, arg) : err;
}
