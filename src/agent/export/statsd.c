/*
 * StatsD over UDP: counters as the increase since the previous point ("|c"), gauges as values
 * ("|g"); labels in the name, or after it as Datadog tags. There are no replies: a packet that the kernel
 * accepted counts as sent, and only a closed port is detected. On the local machine this happens at
 * once, so a packet to a receiver that is restarting is not lost.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/socket.h>

#include "agent/export/dotted_names.h"
#include "agent/core/metric_names.h"
#include "agent/export/point_view.h"
#include "base/error.h"
#include "base/vec.h"

struct statsd_settings {
	struct dotted_settings base;
	uint64_t packet;
};

/* Value of a counter when it was last sent. */
struct sent_counter {
	uint32_t series;
	uint64_t count;
	double value;
	bool known;
};

struct statsd {
	struct dotted_exporter base;
	struct { struct sent_counter *v; size_t n, cap; } sent_counter;	/* sorted by series */
	int fd;
	size_t sent;			/* bytes of the current body already sent before a failure */
	int64_t sent_of_ns;
};

#define AT(field) offsetof(struct statsd_settings, field)
static const struct config_key keys[] = {
	{ KEY_STRING, "address", AT(base.address), "127.0.0.1:8125", "the receiver's address" },
	{ KEY_STRING, "prefix", AT(base.prefix), "tacho", "the prefix of all names" },
	{ KEY_CHOICE, "style", AT(base.style), "path",
	  "labels as parts of the name, or as Datadog's tags", .choices = "path datadog" },
	{ KEY_U64, "packet", AT(packet), "1400", "maximum size of a packet in bytes", .min = 256,
	  .max = 65000 },
	{ .kind = KEY_END },
};
#undef AT

static int check(const void *settings, struct tacho_error *e)
{
	return dotted_check(settings, " \t\r\n:|", "a blank, ':' or '|'", e);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	int err = dotted_open(out, sizeof(struct statsd), settings, env, e);

	if (err == 0)
		((struct statsd *)*out)->fd = -1;
	return err;
}

static void close_exporter(void *x)
{
	struct statsd *d = x;

	closep(&d->fd);
	point_view_done(&d->base.points);
	vec_done(&d->sent_counter);
	free(d);
}

static void put_name(struct buf *out, const struct statsd *d, const struct series *s)
{
	dotted_put_name(out, &d->base, s);
	buf_putc(out, ':');
}

static void put_end(struct buf *out, const struct statsd *d, const struct series *s, char type)
{
	buf_putc(out, '|');
	buf_putc(out, type);
	if (d->base.settings->style == 1)
		dotted_put_tags(out, s, d->base.env, "|#", ',', ':');
	buf_putc(out, '\n');
}

static struct sent_counter *find_sent_counter(struct statsd *d, uint32_t id)
{
	size_t low = 0, high = d->sent_counter.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->sent_counter.v[mid].series < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < d->sent_counter.n && d->sent_counter.v[low].series == id)
		return &d->sent_counter.v[low];
	if (!vec_add(&d->sent_counter))
		return NULL;
	memmove(d->sent_counter.v + low + 1, d->sent_counter.v + low,
		(d->sent_counter.n - 1 - low) * sizeof(*d->sent_counter.v));
	d->sent_counter.v[low] = (struct sent_counter){ .series = id };
	return &d->sent_counter.v[low];
}

/* Forgets series that were freed. */
static void forget_freed_series(struct statsd *d)
{
	size_t kept = 0;

	if (d->sent_counter.n < 2 * d->base.env->registry->n + 64)
		return;
	for (size_t i = 0; i < d->sent_counter.n; i++)
		if (registry_get(d->base.env->registry, d->sent_counter.v[i].series))
			d->sent_counter.v[kept++] = d->sent_counter.v[i];
	d->sent_counter.n = kept;
}

/* Counters start at 0, so the first increase is the first value. But the value that a counter had
 * when a reload started this exporter was already reported by its predecessor. */
static bool was_reported(const struct statsd *d, const struct viewed_point *k, struct sent_counter *b)
{
	bool reported = !b->known && k->series->start_ns < d->base.env->since_ns;

	if (reported)
		*b = (struct sent_counter){ b->series, k->point->count, k->point->value, false };
	b->known = true;
	return reported;
}

static void put_counter(struct buf *out, const struct statsd *d, const struct viewed_point *k,
			struct sent_counter *b)
{
	put_name(out, d, k->series);
	if (metric_is_count(k->series->metric))
		buf_u64(out, k->point->count > b->count ? k->point->count - b->count : 0);
	else
		metric_put_number(out, max_of(k->point->value - b->value, 0.0));
	put_end(out, d, k->series, 'c');
	*b = (struct sent_counter){ b->series, max_of(k->point->count, b->count), max_of(k->point->value, b->value),
			      true };
}

/* StatsD takes a signed value as a change: a negative gauge is set to zero first. */
static void put_gauge(struct buf *out, const struct statsd *d, const struct viewed_point *k)
{
	if (k->point->value < 0) {
		put_name(out, d, k->series);
		buf_putc(out, '0');
		put_end(out, d, k->series, 'g');
	}
	put_name(out, d, k->series);
	metric_put_number(out, k->point->value);
	put_end(out, d, k->series, 'g');
}

static int64_t encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	struct statsd *d = x;
	int64_t points = 0;

	if (point_view_fill(&d->base.points, d->base.env, batches, n, true) < 0)
		return -ENOMEM;
	forget_freed_series(d);
	for (size_t i = 0; i < d->base.points.n; i++) {
		const struct viewed_point *k = &d->base.points.v[i];
		struct sent_counter *b = find_sent_counter(d, k->series->id);

		if (!b)
			return -ENOMEM;
		if (!isfinite(k->point->value) ||
		    (k->series->metric->kind == METRIC_COUNTER && was_reported(d, k, b)))
			continue;
		if (k->series->metric->kind == METRIC_COUNTER)
			put_counter(body, d, k, b);
		else
			put_gauge(body, d, k);
		points++;
	}
	return buf_failed(body) ? -ENOMEM : points;
}

/* As many whole lines as fit into a packet, at least one. */
static struct str packet_at(struct str body, size_t at, size_t max)
{
	struct str rest = str_n(body.s + at, body.n - at);
	size_t n = 0;

	for (;;) {
		ptrdiff_t line = str_find(str_n(rest.s + n, rest.n - n), '\n');
		size_t next = line < 0 ? rest.n : n + (size_t)line + 1;

		if (n && next - 1 > max)
			return str_n(rest.s, n);
		n = next;
		if (n >= rest.n)
			return rest;
	}
}

/* The error that the previous packet caused, if known: a closed port. */
static int pending_error(int fd)
{
	socklen_t n = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0 ? 0 : -err;
}

static int send_remaining(struct statsd *d, struct str body)
{
	while (d->sent < body.n) {
		struct str packet = packet_at(
			body, d->sent, ((const struct statsd_settings *)d->base.settings)->packet);
		ssize_t n = send(d->fd, packet.s, packet.n - (packet.s[packet.n - 1] == '\n'), MSG_NOSIGNAL);
		int refused = n < 0 ? 0 : pending_error(d->fd);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EMSGSIZE) {	/* a line that does not fit into any packet */
			d->sent += packet.n;
			continue;
		}
		if (n < 0 || refused)
			return n < 0 ? -errno : refused;
		d->sent += packet.n;
	}
	return 0;
}

static enum send_result send_body(void *x, const struct export_body *s, struct send_reply *reply)
{
	struct tacho_error e = { .column = -1 };
	struct statsd *d = x;
	int err = 0;

	if (d->sent_of_ns != s->from_ns || d->sent >= s->body.n)
		d->sent = 0;
	d->sent_of_ns = s->from_ns;
	if (d->fd < 0)
		d->fd = address_connect(d->base.settings->address, SOCK_DGRAM, 1000, &e);
	err = d->fd < 0 ? d->fd : send_remaining(d, s->body);
	if (!err) {
		d->sent = 0;
		return SEND_DONE;
	}
	closep(&d->fd);
	d->fd = -1;
	if (e.message[0])
		snprintf(reply->text, sizeof(reply->text), "%.200s", e.message);
	else
		snprintf(reply->text, sizeof(reply->text), "%.100s: %s", d->base.settings->address, strerror(-err));
	return SEND_RETRY;
}

const struct exporter_type export_statsd = {
	.name = "statsd",
	.help = "StatsD over UDP: counters as differences, gauges as values",
	.keys = keys,
	.settings_size = sizeof(struct statsd_settings),
	.check = check,
	.open = open_exporter,
	.encode = encode,
	.renames = true,
	.send_body = send_body,
	.close = close_exporter,
};
