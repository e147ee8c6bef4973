/*
 * The open connections. Clients that send their request slowly must not take the places of others:
 *
 * - a header must be complete after 10 s, a body after 20 s, an answer must be taken within 2 minutes (live streams aside);
 * - 16 of 256 places are free at any time: for a new client the connection that has waited longest for a header or a body is closed;
 * - a host (of IPv6: a network of 64 bits) may have 64 connections. The loopback interface is all users of this machine and
 *   has no such limit.
 */
#ifndef AGENT_HTTP_CONNECTIONS_H
#define AGENT_HTTP_CONNECTIONS_H

#include <microhttpd.h>

#include "base/defs.h"

#define CONNECTIONS_MAX 256

struct connections;
int connections_new(struct connections **out);
void connections_free(struct connections *c);
/* For MHD_OPTION_NOTIFY_CONNECTION; `cls` is the struct connections. */
void connections_notify(void *cls, struct MHD_Connection *connection, void **entry, enum MHD_ConnectionNotificationCode code);

enum connection_stage {
	CONNECTION_IDLE,	/* waits for a header */
	CONNECTION_BODY,	/* the header is complete */
	CONNECTION_ANSWER,
	CONNECTION_STREAM,	/* a live stream: as long as it likes */
};
void connections_set_stage(struct connections *c, struct MHD_Connection *connection, enum connection_stage stage);
/* Closes the connections that are too slow; called every second. */
void connections_check(struct connections *c);
uint64_t connections_n_closed(struct connections *c);	/* closed for being too slow, or to make place */
size_t connections_n_open(struct connections *c);

#endif
