/*
 * What /proc knows of a process whose start nobody recorded.
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

/* Calls `each` for every line of /proc/PID/maps; stops at its first negative result. */
int proc_maps_read(const struct symbol_search *search, uint32_t pid,
	      int (*each)(void *arg, uint32_t pid, const struct proc_map *map), void *arg);
/* The name in /proc/PID/task/TID/comm; its length or a negative errno. */
int proc_comm_read(const struct symbol_search *search, uint32_t pid, uint32_t tid, char *out, size_t size);

#endif
