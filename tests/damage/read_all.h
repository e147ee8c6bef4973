/*
 * Reads a recording with all readers of the library: in file order and in time order, each record decoded and
 * dumped, tracepoints printed, a profile loaded and exported in every format.
 */
#ifndef DAMAGE_READ_ALL_H
#define DAMAGE_READ_ALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen_record {
	uint64_t offset, hash;
};

struct seen {			/* the result of reading in file order */
	struct seen_record *v;
	size_t n, cap;
	int err;		/* of opening or of the last record */
	bool opened, pipe;
	char error[512], warning[2200];
	uint64_t data_at, data_end;
};

/* Reads everything; `out` may be NULL. */
void read_as_written(const char *path, struct seen *out);
/* Reads in time order, loads a profile and exports it in every format. */
void read_as_profile(const char *path, const char *empty_dir);
void seen_done(struct seen *s);

#endif
