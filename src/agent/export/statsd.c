/*
 * StatsD by UDP: counters as what was added since the point before ("|c"), gauges as they are
 * ("|g"); labels in the name, or behind it as Datadog writes them. Nobody answers: what the kernel
 * took counts as sent, and only a port that nobody listens at is noticed. On this machine that is
 * noticed at once, so a packet to a receiver that is just being started again is not lost.
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

/* What a counter stood at when it was last sent. */
struct before {
	uint32_t series;
	uint64_t count;
	double value;
	bool known;
};

struct statsd {
	struct dotted base;
	struct { struct before *v; size_t n, cap; } before;	/* by series */
	int fd;
	size_t sent;			/* of the body whose turn it is, when a try failed within it */
	int64_t sent_of_ns;
};

#define AT(field) offsetof(struct statsd_settings, field)
static const struct config_key keys[] = {
	{ KEY_STRING, "address", AT(base.address), "127.0.0.1:8125", "where to" },
	{ KEY_STRING, "prefix", AT(base.prefix), "tacho", "what names begin with" },
	{ KEY_CHOICE, "style", AT(base.style), "path", "labels as parts of the name, or as Datadog's tags",
	  .choices = "path datadog" },
	{ KEY_U64, "packet", AT(packet), "1400", "bytes in one packet", .min = 256, .max = 65000 },
	{ .kind = KEY_END },
};
#undef AT

static int check(const void *settings, struct tacho_error *e)
{
	return dotted_check(settings, " \t\r\n:|", "a blank, ':' or '|'", e);
}

static int open_it(void **out, const void *settings, const struct exporter_env *env, struct tacho_error *e)
{
	int err = dotted_open(out, sizeof(struct statsd), settings, env, e);

	if (err == 0)
		((struct statsd *)*out)->fd = -1;
	return err;
}

static void close_it(void *x)
{
	struct statsd *d = x;

	closep(&d->fd);
	picks_done(&d->base.picks);
	vec_done(&d->before);
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
		put_tags(out, s, d->base.env, "|#", ',', ':');
	buf_putc(out, '\n');
}

static struct before *before_of(struct statsd *d, uint32_t id)
{
	size_t low = 0, high = d->before.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->before.v[mid].series < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < d->before.n && d->before.v[low].series == id)
		return &d->before.v[low];
	if (!vec_add(&d->before))
		return NULL;
	memmove(d->before.v + low + 1, d->before.v + low, (d->before.n - 1 - low) * sizeof(*d->before.v));
	d->before.v[low] = (struct before){ .series = id };
	return &d->before.v[low];
}

/* Series that have gone need not be remembered. */
static void forget_gone(struct statsd *d)
{
	size_t kept = 0;

	if (d->before.n < 2 * d->base.env->registry->n + 64)
		return;
	for (size_t i = 0; i < d->before.n; i++)
		if (registry_get(d->base.env->registry, d->before.v[i].series))
			d->before.v[kept++] = d->before.v[i];
	d->before.n = kept;
}

/* Counters begin at 0, so the first difference is the first value; but what a counter had when a
 * reload began this export was told by the one before it. */
static bool is_told(const struct statsd *d, const struct viewed_point *k, struct before *b)
{
	bool told = !b->known && k->series->start_ns < d->base.env->since_ns;

	if (told)
		*b = (struct before){ b->series, k->point->count, k->point->value, false };
	b->known = true;
	return told;
}

static void put_counter(struct buf *out, const struct statsd *d, const struct viewed_point *k,
			struct before *b)
{
	put_name(out, d, k->series);
	if (metric_is_count(k->series->metric))
		buf_u64(out, k->point->count > b->count ? k->point->count - b->count : 0);
	else
		metric_put_number(out, max_of(k->point->value - b->value, 0.0));
	put_end(out, d, k->series, 'c');
	*b = (struct before){ b->series, max_of(k->point->count, b->count), max_of(k->point->value, b->value),
			      true };
}

/* A sign would make it a change rather than a value: below zero it is set to zero first. */
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

	if (picks_take(&d->base.picks, d->base.env->registry, batches, n, true) < 0)
		return -ENOMEM;
	forget_gone(d);
	for (size_t i = 0; i < d->base.picks.n; i++) {
		const struct viewed_point *k = &d->base.picks.v[i];
		struct before *b = before_of(d, k->series->id);

		if (!b)
			return -ENOMEM;
		if (!isfinite(k->point->value) ||
		    (k->series->metric->kind == METRIC_COUNTER && is_told(d, k, b)))
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

/* What became of the packet before, as far as it is known: the answer of a port that is closed. */
static int refusal(int fd)
{
	socklen_t n = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0 ? 0 : -err;
}

static int send_rest(struct statsd *d, struct str body)
{
	while (d->sent < body.n) {
		struct str packet = packet_at(
			body, d->sent, ((const struct statsd_settings *)d->base.settings)->packet);
		ssize_t n = send(d->fd, packet.s, packet.n - (packet.s[packet.n - 1] == '\n'), MSG_NOSIGNAL);
		int refused = n < 0 ? 0 : refusal(d->fd);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EMSGSIZE) {	/* a line that no packet can hold */
			d->sent += packet.n;
			continue;
		}
		if (n < 0 || refused)
			return n < 0 ? -errno : refused;
		d->sent += packet.n;
	}
	return 0;
}

static enum ship_result ship(void *x, const struct shipment *s, struct ship_reply *reply)
{
	struct tacho_error e = { .column = -1 };
	struct statsd *d = x;
	int err = 0;

	if (d->sent_of_ns != s->from_ns || d->sent >= s->body.n)
		d->sent = 0;
	d->sent_of_ns = s->from_ns;
	if (d->fd < 0)
		d->fd = address_connect(d->base.settings->address, SOCK_DGRAM, 1000, &e);
	err = d->fd < 0 ? d->fd : send_rest(d, s->body);
	if (!err) {
		d->sent = 0;
		return SHIP_DONE;
	}
	closep(&d->fd);
	d->fd = -1;
	if (e.message[0])
		snprintf(reply->text, sizeof(reply->text), "%.200s", e.message);
	else
		snprintf(reply->text, sizeof(reply->text), "%.100s: %s", d->base.settings->address, strerror(-err));
	return SHIP_RETRY;
}

const struct exporter_type export_statsd = {
	.name = "statsd",
	.help = "StatsD by UDP: counters as differences, gauges as they are",
	.keys = keys,
	.settings_size = sizeof(struct statsd_settings),
	.check = check,
	.open = open_it,
	.encode = encode,
	.ship = ship,
	.close = close_it,
};
