/*
 * The control channel of --control: a running measurement reads commands from a file descriptor or FIFO
 * and answers "ack" on another.
 */
#ifndef CLI_CORE_CONTROL_H
#define CLI_CORE_CONTROL_H

#include "base/str.h"

struct control {
	int fd, ack;		/* -1: none */
	bool owned;		/* control_open() opened FIFOs; false: the file descriptors were inherited */
	bool ended;		/* end of file or an error: no more commands */
};

/* `spec` is fd:CTL[,ACK] or fifo:CTL[,ACK]; NULL: no channel. 0, or a negative errno after a message. */
int control_open(struct control *c, const char *command, const char *spec);

void control_close(struct control *c);
/* The file descriptor to poll, or -1. */
static inline int control_poll_fd(const struct control *c)
{
	return c->ended ? -1 : c->fd;
}

/* Reads the available commands and passes each to `obey`, which returns false for an unknown command. The
 * error message for an unknown command lists `known`. */
void control_read(struct control *c, const char *command, const char *known,
		  bool (*obey)(void *arg, struct str text), void *arg);

#endif
