/*
 * Read-only mappings of files that other programs may truncate meanwhile. Reading a page that is no longer in the file
 * raises SIGBUS. A program that has called file_map_catch_truncation() reads zeros there instead, and
 * file_map_shrunk() tells it.
 */
#ifndef BASE_FILE_MAP_H
#define BASE_FILE_MAP_H

#include "base/defs.h"

#include <stdatomic.h>

struct file_map {
	const uint8_t *at;		/* NULL: not mapped */
	size_t n;			/* bytes of the file */
	size_t mapped;			/* n and the slack, in whole pages */
	atomic_bool shrunk;
};

/* Maps the first n > 0 bytes of a file, and `slack` zero bytes after them. *m must stay where it is until it is closed.
 * Returns 0 or a negative errno. */
int file_map_open(struct file_map *m, int fd, size_t n, size_t slack);
void file_map_close(struct file_map *m);	/* closing twice is fine */
/* Whether a part of the file is gone since it was mapped. False without file_map_catch_truncation(). */
bool file_map_shrunk(const struct file_map *m);
/* Installs the handler of SIGBUS for the whole program; for programs, not for libraries. Signals that have another
 * cause still end the program. */
void file_map_catch_truncation(void);
bool file_map_catches_truncation(void);		/* whether the program has called it */

#endif
