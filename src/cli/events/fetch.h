/*
 * Fetches files by HTTP, one at a time on one connection, and writes each to an open file descriptor. An
 * interrupted transfer is resumed if the server confirms that the file has not changed.
 *
 *	fetch_open -> fetch_get ... -> fetch_close
 */
#ifndef CLI_EVENTS_FETCH_H
#define CLI_EVENTS_FETCH_H

#include "base/str.h"

#include <tacho/common.h>

#define FETCH_TAG_MAX 200		/* bytes of an ETag, including the NUL */

struct fetch;

struct fetch_job {
	const char *url;
	int fd;				/* the file to write to */
	uint64_t have;			/* number of bytes it already has, to resume after them */
	uint64_t limit;			/* maximum size of the file */
	const char *tag;		/* the ETag that the existing bytes belong to, or "" */
	const char *unless;		/* skip the transfer if the ETag is this; "": always transfer */
	void (*progress)(void *arg, uint64_t done, uint64_t total);	/* total 0: unknown */
	void *arg;

	char new_tag[FETCH_TAG_MAX];	/* result: the ETag of the file; "" if the server sent none */
	bool unchanged;			/* result: the ETag was `unless`, nothing was transferred */
};

/* A transfer fails if no data arrives for `timeout_s` seconds. 0, -EOPNOTSUPP or -ENOMEM. */
int fetch_open(struct fetch **out, uint32_t timeout_s, struct tacho_error *e);
/*
 * Makes one attempt. Returns 0, -EAGAIN (the transfer was interrupted and may be resumed), -ESTALE (the file
 * on the server has changed: start from the beginning), -ENOENT (404, 410), -EFBIG, -EHOSTUNREACH (the
 * server cannot be reached, so other files will fail as well), or -EIO.
 */
int fetch_get(struct fetch *f, struct fetch_job *job, struct tacho_error *e);
void fetch_close(struct fetch *f);

#endif
