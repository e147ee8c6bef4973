/*
 * The size limit of an output: how many bytes of records may still be written. It is shared by the threads that
 * write the files of a directory.
 */
#ifndef RECORDER_SIZE_LIMIT_H
#define RECORDER_SIZE_LIMIT_H

#include <tacho/perfdata.h>

struct size_limit {
	bool on;
	int64_t left;			/* atomic: bytes of records that fit */
	bool reached;			/* atomic: records were left out */
	uint64_t n_samples_out;		/* atomic: samples among these */
};

/* Writes whole records as long as they fit and leaves out the others. *charged, at first 0, belongs to the writer: what
 * it was charged. 0 or the error of the writer. */
int size_limit_write(struct size_limit *l, struct tacho_perfdata_writer *w, uint64_t *charged, const void *bytes,
		     size_t n, struct tacho_error *e);
/* Allows `left` more bytes; 0: the limit is reached. */
void size_limit_set(struct size_limit *l, int64_t left);
bool size_limit_is_reached(const struct size_limit *l);

#endif
