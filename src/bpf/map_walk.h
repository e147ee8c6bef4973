/*
 * Reads all elements of a hash map, many with each system call where the kernel can do that (since Linux 5.6).
 */
#ifndef BPF_MAP_WALK_H
#define BPF_MAP_WALK_H

#include <stddef.h>

typedef int map_walk_fn(void *arg, const void *key, const void *value);
/* Calls fn for each element. A map that is changed meanwhile may have elements that are missed or repeated. 0, or a negative
 * errno, also of fn. */
int map_walk(int map, size_t key_bytes, size_t value_bytes, map_walk_fn *fn, void *arg);

#endif
