/*
 * Maps and names of a running process from /proc, for processes without MMAP and COMM records.
 */
#ifndef SYMBOL_PROC_MAPS_H
#define SYMBOL_PROC_MAPS_H

#include "symbol/objects.h"
#include "symbol/process.h"

struct proc_map {
	uint64_t start, length, pgoff, device, inode;
	bool exec;
	const char *path;
};

/* Calls `each` for every line of /proc/PID/maps, until it returns a negative value. */
int proc_maps_read(const struct symbol_search *search, uint32_t pid,
	      int (*each)(void *arg, uint32_t pid, const struct proc_map *map), void *arg);
/* Reads /proc/PID/task/TID/comm. Returns the length of the name or a negative errno. */
int proc_comm_read(const struct symbol_search *search, uint32_t pid, uint32_t tid, char *out, size_t size);

#endif
