/*
 * Address spaces whose mappings are moved: every mapping of a process and of the kernel gets a new start, and
 * addresses in it move along, so an address keeps its offset in the mapped object. The new starts depend
 * only on the order and the lengths of the mappings, not on the old starts.
 *
 *	old  0x55d0c3a01000 [app    ] 0x7f21d8e28000 [libc.so.6   ]
 *	new  0x100000000000 [app    ] 0x100000003000 [libc.so.6   ]
 */
#ifndef CLI_FILES_ADDRESS_REMAP_H
#define CLI_FILES_ADDRESS_REMAP_H

#include "base/int_map.h"

struct moved_range {
	uint64_t start, end;		/* old addresses; the end is exclusive */
	uint64_t new_start;
};

/* The mappings of a process. A forked process shares them with its parent until one of them maps something. */
struct moved_space {
	uint32_t refs;
	uint64_t next;			/* the new start of the next mapping */
	struct { struct moved_range *v; size_t n, cap; } ranges;	/* sorted by `start`, not overlapping */
};

struct address_remap {
	struct moved_space kernel;
	struct { struct moved_space **v; size_t n, cap; } spaces;
	struct int_map of_pid;		/* pid -> index in `spaces` */
};

void remap_init(struct address_remap *m);
void remap_done(struct address_remap *m);

/* Adds a mapping, which replaces what was mapped there, and returns its new start in *new_start; 0: the range is
 * too large to be one mapping, and its addresses remain unknown. Both return 0 or -ENOMEM. */
int remap_add(struct address_remap *m, uint32_t pid, uint64_t start, uint64_t length, uint64_t *new_start);
int remap_add_kernel(struct address_remap *m, uint64_t start, uint64_t length, uint64_t *new_start);
/* A new process begins with the mappings of its parent. Returns 0 or -ENOMEM. */
int remap_fork(struct address_remap *m, uint32_t parent, uint32_t child);
/* A process that executes another program loses its mappings. Returns 0 or -ENOMEM. */
int remap_exec(struct address_remap *m, uint32_t pid);

/* The new address; 0 if nothing is mapped there. */
uint64_t remap_user(const struct address_remap *m, uint32_t pid, uint64_t address);
uint64_t remap_kernel(const struct address_remap *m, uint64_t address);

#endif
