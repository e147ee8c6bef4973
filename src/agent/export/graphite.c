/*
 * Graphite's plaintext protocol over TCP: "name value seconds", with the labels in the name or as
 * tags. The protocol has no replies, so each body gets its own connection: after sending, our half
 * is closed, and when the receiver closes its half it has read everything.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "agent/export/dotted_names.h"
#include "agent/core/metric_names.h"
#include "agent/export/point_view.h"
#include "base/clock.h"
#include "base/error.h"

#define AT(field) offsetof(struct dotted_settings, field)
static const struct config_key keys[] = {
	{ KEY_STRING, "address", AT(address), NULL, "the receiver's address: \"host:2003\"",
	  .required = true },
	{ KEY_STRING, "prefix", AT(prefix), "tacho", "the prefix of all names" },
	{ KEY_CHOICE, "style", AT(style), "path",
	  "labels as parts of the name, or as Graphite's tags (since 1.1)",
	  .choices = "path tags" },
	{ .kind = KEY_END },
};
#undef AT

static int check(const void *settings, struct tacho_error *e)
{
	return dotted_check(settings, " \t\r\n;", "a blank or a semicolon", e);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	return dotted_open(out, sizeof(struct dotted_exporter), settings, env, e);
}

static void close_exporter(void *x)
{
	struct dotted_exporter *g = x;

	point_view_done(&g->points);
	free(g);
}

static void put_line(struct buf *out, const struct dotted_exporter *g, const struct viewed_point *k)
{
	dotted_put_name(out, g, k->series);
	if (g->settings->style == 1)
		dotted_put_tags(out, k->series, g->env, ";", ';', '=');
	buf_putc(out, ' ');
	if (metric_is_count(k->series->metric))
		buf_u64(out, k->point->count);
	else
		metric_put_number(out, k->point->value);
	buf_printf(out, " %lld\n", (long long)(k->time_ns / 1000000000));
}

/* Timestamps are in seconds: of several points in a second the last is sent. */
static int64_t encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	struct dotted_exporter *g = x;
	int64_t points = 0;

	if (point_view_fill(&g->points, g->env, batches, n, true) < 0)
		return -ENOMEM;
	point_view_sort(&g->points, POINTS_BY_SERIES);
	for (size_t i = 0; i < g->points.n; i++) {
		const struct viewed_point *k = &g->points.v[i];

		if (i + 1 < g->points.n && k[1].series == k->series &&
		    k[1].time_ns / 1000000000 == k->time_ns / 1000000000)
			continue;
		if (!isfinite(k->point->value))
			continue;
		put_line(body, g, k);
		points++;
	}
	return buf_failed(body) ? -ENOMEM : points;
}

static int remaining_ms(const struct dotted_exporter *g, uint64_t until_ns)
{
	uint64_t now = clock_mono_ns(), by = g->env->stop_by_ns ? *g->env->stop_by_ns : 0;
	uint64_t end = by ? min_of(by, until_ns) : until_ns;

	/* Short timeouts, so that a request to stop is noticed. */
	return now >= end ? 0 : (int)min_of((end - now) / 1000000 + 1, (uint64_t)250);
}

static bool wait_fd(const struct dotted_exporter *g, int fd, short wanted_events, uint64_t until_ns)
{
	struct pollfd p = { .fd = fd, .events = wanted_events };
	int ms;

	while ((ms = remaining_ms(g, until_ns)) > 0)
		if (poll(&p, 1, ms) > 0)
			return true;
	return false;
}

static int send_all(const struct dotted_exporter *g, int fd, struct str body, uint64_t until_ns)
{
	while (body.n) {
		ssize_t n = send(fd, body.s, body.n, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (!wait_fd(g, fd, POLLOUT, until_ns))
				return -ETIMEDOUT;
			continue;
		}
		if (n < 0)
			return -errno;
		body = str_n(body.s + n, body.n - (size_t)n);
	}
	return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

static int wait_closed(const struct dotted_exporter *g, int fd, uint64_t until_ns)
{
	char sink[256];

	for (;;) {
		ssize_t n = recv(fd, sink, sizeof(sink), 0);

		if (n == 0)
			return 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n < 0 && !wait_fd(g, fd, POLLIN, until_ns))
			return -ETIMEDOUT;
	}
}

static enum send_result send_body(void *x, const struct export_body *s, struct send_reply *reply)
{
	const struct dotted_exporter *g = x;
	uint64_t until_ns = clock_mono_ns() + g->settings->push.timeout_ns;
	struct tacho_error e = { .column = -1 };
	int err, fd = address_connect(g->settings->address, SOCK_STREAM,
				      (int)(g->settings->push.timeout_ns / 1000000), &e);

	if (fd < 0) {
		snprintf(reply->text, sizeof(reply->text), "%.200s", e.message);
		return SEND_RETRY;
	}
	err = send_all(g, fd, s->body, until_ns);
	if (!err)
		err = wait_closed(g, fd, until_ns);
	close(fd);
	if (!err)
		return SEND_DONE;
	snprintf(reply->text, sizeof(reply->text), "%.100s: %s", g->settings->address, strerror(-err));
	return SEND_RETRY;
}

const struct exporter_type export_graphite = {
	.name = "graphite",
	.help = "Graphite's plaintext protocol over TCP: carbon, VictoriaMetrics and others",
	.keys = keys,
	.settings_size = sizeof(struct dotted_settings),
	.check = check,
	.open = open_exporter,
	.encode = encode,
	.renames = true,
	.send_body = send_body,
	.close = close_exporter,
};
