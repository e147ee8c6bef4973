/*
 * The mappings of processes. A process's maps are a list, the newest first. A forked child shares its parent's list
 * without a copy: maps that either adds later come before the shared part.
 */
#ifndef CLI_REPORT_TASK_MAPS_H
#define CLI_REPORT_TASK_MAPS_H

#include "base/arena.h"
#include "base/buf.h"

struct task_map {
	uint64_t start, end, pgoff, inode;
	uint32_t prot, flags;
	const char *path;
	const struct task_map *older;
};

/* Adds a map before the list `*head`. The arena owns the copy and its path. 0 or -ENOMEM. */
int task_maps_add(struct arena *arena, const struct task_map **head, const struct task_map *map);
/* Prints a line per map, by address, without the parts that newer maps cover. 0 or -ENOMEM. */
int task_maps_put(const struct task_map *head, unsigned indent, struct buf *out);

#endif
