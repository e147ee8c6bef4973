/*
 * A table of the open connections and what each is waiting for. A connection is ended by shutdown(): libmicrohttpd then
 * closes it in the thread that owns it. It reports the end of a connection before it closes the socket, so a descriptor in
 * the table is never that of another connection.
 */
#include "agent/http/connections.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/http/access.h"
#include "base/clock.h"

#define RESERVED 16
#define PER_ADDRESS 64
#define SECONDS 1000000000ull

struct open_connection {
	int fd;				/* -1: the place is free */
	struct MHD_Connection *connection;
	unsigned char address[16];
	bool loopback, used;		/* used: it had a request before */
	bool closing;
	enum connection_stage stage;
	uint64_t since_ns;		/* beginning of the stage */
};

struct connections {
	pthread_mutex_t lock;
	struct open_connection v[CONNECTIONS_MAX * 2];	/* those that are being closed still have a place */
	size_t n;			/* without those that are being closed */
	uint64_t n_closed;
};

int connections_new(struct connections **out)
{
	struct connections *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	for (size_t i = 0; i < countof(c->v); i++)
		c->v[i].fd = -1;
	*out = c;
	return 0;
}

void connections_free(struct connections *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void end_connection(struct connections *c, struct open_connection *o)
{
	if (o->closing)
		return;
	shutdown(o->fd, SHUT_RDWR);
	o->closing = true;
	c->n--;
	c->n_closed++;
}

/* The connection that has been in a stage longest; NULL: none is in it. */
static struct open_connection *find_oldest(struct connections *c, enum connection_stage stage)
{
	struct open_connection *found = NULL;

	for (size_t i = 0; i < countof(c->v); i++) {
		struct open_connection *o = &c->v[i];

		if (o->fd >= 0 && !o->closing && o->stage == stage && (!found || o->since_ns < found->since_ns))
			found = o;
	}
	return found;
}

/* The connection that has waited longest for a header, or if all have one, for a body; NULL: all are being answered. */
static struct open_connection *find_waiting(struct connections *c)
{
	struct open_connection *found = find_oldest(c, CONNECTION_IDLE);

	return found ? found : find_oldest(c, CONNECTION_BODY);
}

static size_t count_address(struct connections *c, const struct open_connection *like)
{
	size_t n = 0;

	for (size_t i = 0; i < countof(c->v); i++)
		n += c->v[i].fd >= 0 && !c->v[i].closing && memcmp(c->v[i].address, like->address, sizeof(like->address)) == 0;
	return n;
}

static void describe(struct open_connection *o, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *peer = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *at = peer ? peer->client_addr : NULL;

	*o = (struct open_connection){ .fd = fd ? fd->connect_fd : -1, .connection = connection, .since_ns = clock_mono_ns(),
				       .loopback = !at || at->sa_family == AF_UNIX || access_is_loopback(at) };
	access_address_key(at, o->address);
}

static void add_connection(struct connections *c, struct MHD_Connection *connection)
{
	struct open_connection *o = NULL, *waiting;

	for (size_t i = 0; i < countof(c->v) && !o; i++)
		if (c->v[i].fd < 0)
			o = &c->v[i];
	if (!o)					/* cannot happen: the server has a lower limit */
		return;
	if (c->n >= CONNECTIONS_MAX - RESERVED) {
		waiting = find_waiting(c);
		if (waiting)
			end_connection(c, waiting);
	}
	describe(o, connection);
	if (o->fd < 0)
		return;
	c->n++;
	if (!o->loopback && count_address(c, o) > PER_ADDRESS)
		end_connection(c, o);
}

static struct open_connection *find(struct connections *c, const struct MHD_Connection *connection)
{
	for (size_t i = 0; i < countof(c->v); i++)
		if (c->v[i].fd >= 0 && c->v[i].connection == connection)
			return &c->v[i];
	return NULL;
}

void connections_notify(void *cls, struct MHD_Connection *connection, void **entry, enum MHD_ConnectionNotificationCode code)
{
	struct connections *c = cls;
	struct open_connection *o;

	(void)entry;
	pthread_mutex_lock(&c->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		add_connection(c, connection);
	} else {
		o = find(c, connection);
		if (o) {
			c->n -= !o->closing;
			o->fd = -1;
		}
	}
	pthread_mutex_unlock(&c->lock);
}

void connections_set_stage(struct connections *c, struct MHD_Connection *connection, enum connection_stage stage)
{
	struct open_connection *o;

	pthread_mutex_lock(&c->lock);
	o = find(c, connection);
	if (o) {
		o->used = o->used || stage == CONNECTION_IDLE;
		o->stage = stage;
		o->since_ns = clock_mono_ns();
	}
	pthread_mutex_unlock(&c->lock);
}

/* The server itself ends connections on which nothing at all happens for 30 s. */
static uint64_t limit_of(const struct open_connection *o)
{
	switch (o->stage) {
	case CONNECTION_IDLE:
		return (o->used ? 40 : 10) * SECONDS;
	case CONNECTION_BODY:
		return 20 * SECONDS;
	case CONNECTION_ANSWER:
		return 120 * SECONDS;
	case CONNECTION_STREAM:
		break;
	}
	return UINT64_MAX;
}

void connections_check(struct connections *c)
{
	uint64_t now = clock_mono_ns();

	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < countof(c->v); i++)
		if (c->v[i].fd >= 0 && now - c->v[i].since_ns > limit_of(&c->v[i]))
			end_connection(c, &c->v[i]);
	pthread_mutex_unlock(&c->lock);
}

uint64_t connections_n_closed(struct connections *c)
{
	uint64_t n;

	pthread_mutex_lock(&c->lock);
	n = c->n_closed;
	pthread_mutex_unlock(&c->lock);
	return n;
}

size_t connections_n_open(struct connections *c)
{
	size_t n;

	pthread_mutex_lock(&c->lock);
	n = c->n;
	pthread_mutex_unlock(&c->lock);
	return n;
}
