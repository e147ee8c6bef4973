/*
 * The control channel of --control: a running measurement takes words from a descriptor or fifo
 * and answers "ack" on another.
 */
#ifndef CLI_CORE_CONTROL_H
#define CLI_CORE_CONTROL_H

#include "base/str.h"

struct control {
	int fd, ack;		/* -1: none */
	bool ours;		/* fifos, opened here; descriptors are the caller's */
	bool deaf;		/* nothing more comes */
};

/* `spec` is fd:CTL[,ACK] or fifo:CTL[,ACK]; NULL: no channel. Reports what is wrong. */
int control_open(struct control *c, const char *command, const char *spec);

void control_close(struct control *c);
/* The descriptor to poll, or -1. */
static inline int control_poll_fd(const struct control *c)
{
	return c->deaf ? -1 : c->fd;
}

/* Reads what is there and hands each word to `obey`, which returns whether it knew it; `words`
 * names those there are, for the complaint about another. */
void control_read(struct control *c, const char *command, const char *words,
		  bool (*obey)(void *arg, struct str word), void *arg);

#endif
