/*
 * Files by HTTP: one connection, one file at a time into an open descriptor. What is there already is
 * gone on from, where the server says that the rest belongs to it.
 *
 *	fetch_open -> fetch_get ... -> fetch_close
 */
#ifndef CLI_EVENTS_FETCH_H
#define CLI_EVENTS_FETCH_H

#include "base/str.h"

#include <tacho/common.h>

#define FETCH_TAG_MAX 200		/* bytes of an ETag with its end */

struct fetch;

struct fetch_job {
	const char *url;
	int fd;				/* where it goes */
	uint64_t have;			/* bytes in it to go on from; 0: none */
	uint64_t limit;			/* bytes that it may have at most */
	const char *tag;		/* what the server called the state that these bytes are of, or "" */
	const char *unless;		/* nothing is sent while it is in this state; "": always */
	void (*progress)(void *arg, uint64_t done, uint64_t total);	/* total 0: not known */
	void *arg;

	char new_tag[FETCH_TAG_MAX];	/* of what came; "" where the server told none */
	bool unchanged;			/* it is in the state `unless` */
};

/* `timeout_s`: a connection that says nothing for so long is given up. 0, -EOPNOTSUPP or -ENOMEM. */
int fetch_open(struct fetch **out, uint32_t timeout_s, struct tacho_error *e);
/*
 * One attempt. 0, -EAGAIN when it broke off and may be gone on with, -ESTALE when what was there does
 * not fit what is there now (begin anew), -ENOENT (404, 410), -EFBIG, -EHOSTUNREACH (no way to the
 * server: others will fare no better), or -EIO.
 */
int fetch_get(struct fetch *f, struct fetch_job *job, struct tacho_error *e);
void fetch_close(struct fetch *f);

#endif
