/*
 * The control channel of --control: a running measurement takes words from a descriptor or fifo
 * and answers "ack" on another.
 */
#ifndef CLI_CONTROL_H
#define CLI_CONTROL_H

#include "base/str.h"

struct control {
	int fd, ack;		/* -1: none */
};

/* `spec` is fd:CTL[,ACK] or fifo:CTL[,ACK]; NULL: no channel. Reports what is wrong. */
int control_open(struct control *c, const char *command, const char *spec);

/* Reads what is there and hands each word to `obey`, which returns whether it knew it; `words`
 * names those there are, for the complaint about another. */
void control_read(struct control *c, const char *command, const char *words,
		  bool (*obey)(void *arg, struct str word), void *arg);

#endif
