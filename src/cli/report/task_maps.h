/*
 * What processes have mapped. A process's maps are a list that begins with the newest, so a child
 * that is forked has its parent's list for nothing; what either maps later comes in front of it.
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

/* The list `*head` with one more map in front; the text and the rest are the arena's. */
int task_maps_add(struct arena *arena, const struct task_map **head, const struct task_map *map);
/* A line for each, by address, without what newer ones lie over. 0 or -ENOMEM. */
int task_maps_put(const struct task_map *head, unsigned indent, struct buf *out);

#endif
