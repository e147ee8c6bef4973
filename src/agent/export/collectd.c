/*
 * Exports points to collectd in its text protocol: over the socket of its unixsock plugin, where
 * each line is answered before the next is sent, or on stdout as a child of its exec plugin.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/export/putval.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/num.h"
#include "base/vec.h"

#define REPLY_MAX 1024
#define REPLY_LINES_MAX 1000
#define SECOND 1000000000ull

struct collectd_settings {
	struct push_settings push;
	char *socket, *host;
	bool exec;
	uint64_t interval_ns;		/* 0: that of the source, or COLLECTD_INTERVAL */
};

#define AT(field) offsetof(struct collectd_settings, field)
static const struct config_key keys[] = {
	{ KEY_PATH, "socket", AT(socket), NULL, "the socket of collectd's unixsock plugin" },
	{ KEY_BOOL, "exec", AT(exec), "false",
	  "write to stdout instead, for an agent that collectd's exec plugin starts" },
	{ KEY_STRING, "host", AT(host), NULL,
	  "the host in the identifiers; by default COLLECTD_HOSTNAME, or this machine's name" },
	{ KEY_DURATION, "interval", AT(interval_ns), NULL,
	  "send each series no more often than this; by default COLLECTD_INTERVAL where that is set",
	  .min = 1000000, .max = 86400 * SECOND },
	{ .kind = KEY_END },
};
#undef AT

/* When a source is to be sent next, and its measured interval. */
struct source_schedule {
	char *source;
	int64_t next_ns;
	uint64_t measured_ns;
};

struct collectd_export {
	const struct collectd_settings *settings;
	struct exporter_env env;
	const char *host;
	uint64_t interval_ns;
	struct { struct source_schedule *v; size_t n, cap; } source_schedule;	/* one per source */
	int fd;				/* -1: not connected */
	char reply[REPLY_MAX];
	size_t n_reply;
	/* A body that was partly sent when the connection broke is continued at `offset`. */
	struct export_body current;
	size_t offset, refused, lines;
	char refusal[200], logged_refusal[200];
};

static int check(const void *settings, struct tacho_error *e)
{
	const struct collectd_settings *s = settings;

	if (!s->socket != !s->exec)
		return 0;
	error_set(e, -EINVAL, "a collectd export needs either socket or exec");
	error_hint(e, "socket = \"/run/collectd-unixsock\", or exec = true below collectd's exec plugin");
	return -EINVAL;
}

static void log_warning(struct collectd_export *x, const char *text)
{
	if (x->env.log)
		x->env.log(x->env.log_arg, TACHO_LOG_WARN, text);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	struct collectd_export *x = calloc(1, sizeof(*x));
	const char *host = getenv("COLLECTD_HOSTNAME"), *interval = getenv("COLLECTD_INTERVAL");
	double seconds;

	if (!x)
		return error_nomem(e);
	x->settings = settings;
	x->env = *env;
	x->fd = -1;
	x->host = x->settings->host ? x->settings->host : host && *host ? host : env->host;
	x->interval_ns = x->settings->interval_ns;
	if (!x->interval_ns && interval && num_double(str_of(interval), &seconds) == 0 &&
	    seconds >= 0.001 && seconds <= 86400)
		x->interval_ns = (uint64_t)(seconds * 1e9 + 0.5);
	*out = x;
	return 0;
}

static void disconnect(struct collectd_export *x)
{
	if (x->fd >= 0)
		close(x->fd);
	x->fd = -1;
	x->n_reply = 0;
}

static void close_exporter(void *arg)
{
	struct collectd_export *x = arg;

	disconnect(x);
	for (size_t i = 0; i < x->source_schedule.n; i++)
		free(x->source_schedule.v[i].source);
	vec_done(&x->source_schedule);
	free(x);
}

/* ---- lines ---- */

static struct source_schedule *find_schedule(struct collectd_export *x, const char *source)
{
	struct source_schedule *d = NULL;
	char *name;

	for (size_t i = 0; i < x->source_schedule.n; i++)
		if (!strcmp(x->source_schedule.v[i].source, source))
			return &x->source_schedule.v[i];
	name = strdup(source);
	if (name)
		d = vec_add(&x->source_schedule);
	if (d)
		d->source = name;
	else
		free(name);
	return d;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The configured interval, unless two batches in a row show that `ctl interval`, a reload or the CPU
 * budget has changed it. A single late or early batch is ignored. */
static uint64_t update_interval(const struct collectd_export *x, struct source_schedule *d,
				const struct point_batch *b)
{
	const struct agent_config *cfg = x->env.config;
	uint64_t measured = (b->interval_ns + 500000) / 1000000 * 1000000, own = SECOND;

	for (size_t i = 0; cfg && i < cfg->n_sources; i++)
		if (!strcmp(cfg->sources[i].name, b->source))
			own = cfg->sources[i].interval_ns;
	if (measured && distance(measured, d->measured_ns) < measured / 10 && distance(measured, own) > own / 4)
		own = measured;
	d->measured_ns = measured;
	return max_of(max_of(own, x->interval_ns), 1000000ull);
}

/* Whether the interval has passed. A batch that is slightly early counts as on time. */
static bool check_due(const struct collectd_export *x, struct source_schedule *d,
		      const struct point_batch *b, int64_t interval_ns)
{
	if (!x->interval_ns)
		return true;
	if (b->time_ns < d->next_ns - interval_ns / 10 && b->time_ns > d->next_ns - 2 * interval_ns)
		return false;
	d->next_ns += interval_ns;
	if (d->next_ns <= b->time_ns || d->next_ns > b->time_ns + 2 * interval_ns)
		d->next_ns = b->time_ns + interval_ns;
	return true;
}

static int64_t encode(void *arg, const struct point_batch *batches, size_t n, struct buf *body)
{
	struct collectd_export *x = arg;
	int64_t points = 0;

	for (size_t i = 0; i < n; i++) {
		const struct point_batch *b = &batches[i];
		struct source_schedule *d = find_schedule(x, b->source);
		uint64_t interval_ns = d ? update_interval(x, d, b) : 0;

		if (!d)
			return -ENOMEM;
		if (!check_due(x, d, b, (int64_t)interval_ns))
			continue;
		for (size_t k = 0; k < b->n_points; k++) {
			const struct series *s = registry_get(x->env.registry, b->points[k].series);

			if (!s || b->points[k].state > TACHO_SCALED)
				continue;
			putval_line(body, x->host, s, &b->points[k], b->time_ns, interval_ns);
			points++;
		}
	}
	return points;
}

/* ---- the socket ---- */

static enum send_result retry_later(struct collectd_export *x, struct send_reply *reply,
				    const char *what, int err)
{
	disconnect(x);
	snprintf(reply->text, sizeof(reply->text), "%s %.120s: %s", what,
		 x->settings->exec ? "stdout" : x->settings->socket, strerror(-err));
	return SEND_RETRY;
}

static int wait_fd(int fd, short events, uint64_t until_ns)
{
	for (;;) {
		uint64_t now = clock_mono_ns();
		struct pollfd p = { .fd = fd, .events = events };
		int n = now < until_ns ? poll(&p, 1, (int)((until_ns - now) / 1000000 + 1)) : 0;

		if (n > 0)
			return 0;
		if (n == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int connect_socket(struct collectd_export *x)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n = strlen(x->settings->socket);

	if (x->fd >= 0)
		return 0;
	if (n >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, x->settings->socket, n);
	x->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (x->fd < 0 || connect(x->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	return 0;
}

static int send_line(struct collectd_export *x, struct str line, uint64_t until_ns)
{
	while (line.n) {
		ssize_t n = send(x->fd, line.s, line.n, MSG_NOSIGNAL);
		int err = 0;

		if (n > 0)
			line = str_n(line.s + n, line.n - (size_t)n);
		else if (n < 0 && (errno == EAGAIN || errno == EINTR))
			err = wait_fd(x->fd, POLLOUT, until_ns);
		else
			err = n < 0 ? -errno : -EPIPE;
		if (err < 0)
			return err;
	}
	return 0;
}

/* The next line of the reply without its line end; valid until the next call. */
static int receive_line(struct collectd_export *x, struct str *out, size_t *n_used, uint64_t until_ns)
{
	for (;;) {
		const char *end = memchr(x->reply, '\n', x->n_reply);
		ssize_t n;
		int err = 0;

		if (end) {
			*out = str_n(x->reply, (size_t)(end - x->reply));
			*n_used = out->n + 1;
			return 0;
		}
		if (x->n_reply == sizeof(x->reply))
			return -EMSGSIZE;
		n = recv(x->fd, x->reply + x->n_reply, sizeof(x->reply) - x->n_reply, 0);
		if (n > 0)
			x->n_reply += (size_t)n;
		else if (n < 0 && (errno == EAGAIN || errno == EINTR))
			err = wait_fd(x->fd, POLLIN, until_ns);
		else
			err = n < 0 ? -errno : -ECONNRESET;
		if (err < 0)
			return err;
	}
}

/* collectd also answers "-1 Success" if a write plugin returned an error without a reason after it had taken the value. */
static bool says_success(struct str line, struct str number)
{
	return str_starts(str_trim(str_n(line.s + number.n, line.n - number.n)), "Success");
}

/* Reads a reply: "0 Success: 1 value has been dispatched." or "-1 reason". A positive number is the
 * number of lines that follow. Returns 0, 1 if the line was refused, or a negative errno. */
static int read_reply(struct collectd_export *x, uint64_t until_ns)
{
	uint32_t more = 0;
	bool refused = false;

	for (uint32_t i = 0; i <= more; i++) {
		struct str line, number;
		size_t used;
		int err = receive_line(x, &line, &used, until_ns);

		if (err < 0)
			return err;
		number = str_n(line.s, str_find(line, ' ') < 0 ? line.n : (size_t)str_find(line, ' '));
		if (i == 0 && number.n && number.s[0] == '-' && !says_success(line, number)) {
			refused = true;
			snprintf(x->refusal, sizeof(x->refusal), "%.*s",
				 (int)min_of(line.n, sizeof(x->refusal) - 1), line.s);
		} else if (i == 0 && (!number.n || number.s[0] != '-') && (num_u32(number, &more) < 0 || more > REPLY_LINES_MAX)) {
			return -EPROTO;
		}
		x->n_reply -= used;
		memmove(x->reply, x->reply + used, x->n_reply);
	}
	return refused;
}

/* Continues a body that was partly sent, or starts a new one. */
static void resume_or_start(struct collectd_export *x, const struct export_body *s)
{
	if (x->current.body.n == s->body.n && x->current.from_ns == s->from_ns &&
	    x->current.to_ns == s->to_ns && x->offset < s->body.n)
		return;
	x->current = *s;
	x->offset = x->refused = x->lines = 0;
	x->refusal[0] = '\0';
}

/* Logs each reason for refused lines once; the other lines were accepted. */
static enum send_result finish_body(struct collectd_export *x, struct send_reply *reply)
{
	const char *hint = strstr(x->refusal, "pmu_counter") ?
			   "; add tacho's types.db to collectd's TypesDB" : "";

	x->current = (struct export_body){ 0 };
	if (!x->refused)
		return SEND_DONE;
	snprintf(reply->text, sizeof(reply->text), "collectd refused: %.150s%s", x->refusal, hint);
	if (x->refused && x->refused == x->lines)
		return SEND_DROP;
	if (x->refused && strcmp(x->logged_refusal, x->refusal) != 0) {
		memcpy(x->logged_refusal, x->refusal, sizeof(x->logged_refusal));
		log_warning(x, reply->text);
	}
	return SEND_DONE;
}

static struct str next_line(const struct collectd_export *x, const struct export_body *s)
{
	const char *from = s->body.s + x->offset;
	const char *end = memchr(from, '\n', s->body.n - x->offset);

	return str_n(from, end ? (size_t)(end - from) + 1 : s->body.n - x->offset);
}

static enum send_result send_to_socket(struct collectd_export *x, const struct export_body *s,
				       struct send_reply *reply)
{
	uint64_t timeout_ns = x->settings->push.timeout_ns;
	int err = connect_socket(x);

	if (err < 0)
		return retry_later(x, reply, "cannot reach", err);
	while (x->offset < s->body.n) {
		struct str line = next_line(x, s);
		uint64_t until_ns = clock_mono_ns() + timeout_ns;

		err = send_line(x, line, until_ns);
		if (err == 0)
			err = read_reply(x, until_ns);
		if (err < 0)
			return retry_later(x, reply, "lost", err);
		x->refused += err > 0;
		x->lines++;
		x->offset += line.n;
	}
	return finish_body(x, reply);
}

/* ---- stdout ---- */

/* collectd has closed the pipe: a child of its exec plugin has no reason to continue. */
static enum send_result stop_agent(struct collectd_export *x, struct send_reply *reply)
{
	snprintf(reply->text, sizeof(reply->text),
		 "collectd has closed the agent's stdout; the agent stops");
	log_warning(x, reply->text);
	kill(getpid(), SIGTERM);
	return SEND_RETRY;
}

/* A pipe that poll() reports writable accepts PIPE_BUF bytes without blocking; a line is shorter. */
static enum send_result send_to_stdout(struct collectd_export *x, const struct export_body *s,
				       struct send_reply *reply)
{
	while (x->offset < s->body.n) {
		struct str line = next_line(x, s);
		int err = wait_fd(STDOUT_FILENO, POLLOUT,
				  clock_mono_ns() + x->settings->push.timeout_ns);
		ssize_t n;

		if (err < 0)
			return retry_later(x, reply, "cannot write to", err);
		n = write(STDOUT_FILENO, line.s, line.n);
		if (n < 0 && errno == EPIPE)
			return stop_agent(x, reply);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return retry_later(x, reply, "cannot write to", -errno);
		x->offset += n > 0 ? (size_t)n : 0;
	}
	x->current = (struct export_body){ 0 };
	return SEND_DONE;
}

static enum send_result send_body(void *arg, const struct export_body *s, struct send_reply *reply)
{
	struct collectd_export *x = arg;

	resume_or_start(x, s);
	return x->settings->exec ? send_to_stdout(x, s, reply) : send_to_socket(x, s, reply);
}

const struct exporter_type export_collectd = {
	.name = "collectd",
	.help = "collectd, through its unixsock or exec plugin; with the identifiers of the intel_pmu plugin for "
		"sources with its naming",
	.keys = keys,
	.settings_size = sizeof(struct collectd_settings),
	.check = check,
	.open = open_exporter,
	.encode = encode,
	.send_body = send_body,
	.close = close_exporter,
};
