/*
 * Names and addresses for the plain text protocols, Graphite and StatsD.
 */
#include "agent/export/dotted_names.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include "agent/core/metric_names.h"
#include "base/error.h"
#include "base/num.h"

/* Appends one part of a name: other characters than letters, digits and - become _, including dots. */
static void put_part(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_putc(out, (isalnum((unsigned char)*text) && (unsigned char)*text < 128) || *text == '-' ?
			 *text : '_');
}

static void put_prefix(struct buf *out, const char *prefix)
{
	if (!prefix || !*prefix)
		return;
	buf_puts(out, prefix);
	buf_putc(out, '.');
}

int dotted_check(const struct dotted_settings *s, const char *refused, const char *named,
		 struct tacho_error *e)
{
	char host[256], port[8];

	if (address_split(s->address, host, port) < 0)
		return error_set(e, -EINVAL, "address: '%.100s' is not HOST:PORT", s->address);
	if (strpbrk(s->prefix, refused))
		return error_set(e, -EINVAL, "prefix: '%.100s' contains %s", s->prefix, named);
	return 0;
}

int dotted_open(void **out, size_t size, const void *settings, const struct exporter_env *env,
		struct tacho_error *e)
{
	struct dotted_exporter *d = calloc(1, size);

	if (!d)
		return error_nomem(e);
	d->settings = settings;
	d->env = env;
	*out = d;
	return 0;
}

static void put_plain_name(struct buf *out, const struct series *s, const char *prefix)
{
	put_prefix(out, prefix);
	metric_put_full_name(out, s->metric);
}

static void put_dotted_name(struct buf *out, const struct series *s, const struct exporter_env *env,
			    const char *prefix)
{
	struct label_view labels[LABELS_MAX];
	size_t n = metric_labels(s, env->config, NULL, labels);

	put_prefix(out, prefix);
	put_part(out, env->host);
	buf_putc(out, '.');
	metric_put_full_name(out, s->metric);
	for (size_t i = 0; i < n; i++) {
		buf_putc(out, '.');
		put_part(out, labels[i].name);
		buf_putc(out, '_');
		put_part(out, labels[i].value);
	}
}

void dotted_put_name(struct buf *out, const struct dotted_exporter *d, const struct series *s)
{
	if (d->settings->style == 0)
		put_dotted_name(out, s, d->env, d->settings->prefix);
	else
		put_plain_name(out, s, d->settings->prefix);
}

/* Characters that separate tags, fields or lines in either protocol become _. */
static void put_tag_value(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_putc(out, (unsigned char)*text <= ' ' || strchr(";~,|#:", *text) ? '_' : *text);
}

void dotted_put_tags(struct buf *out, const struct series *s, const struct exporter_env *env,
		     const char *first, char sep, char eq)
{
	const struct label_view more[] = { { "host", env->host }, { NULL, NULL } };
	struct label_view labels[LABELS_MAX];
	size_t n = metric_labels(s, env->config, more, labels);

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(out, sep);
		else
			buf_puts(out, first);
		buf_puts(out, labels[i].name);
		buf_putc(out, eq);
		put_tag_value(out, labels[i].value);
	}
}

int address_split(const char *text, char host[256], char port[8])
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint32_t number;

	if (!colon || num_u32(str_of(colon + 1), &number) || !number || number > 65535 || strlen(colon) > 6)
		return -EINVAL;
	if (n > 2 && text[0] == '[' && text[n - 1] == ']') {
		text++;
		n -= 2;
	} else if (n && memchr(text, ':', n)) {
		return -EINVAL;			/* ambiguous without brackets */
	}
	if (n == 0 || n > 255)
		return -EINVAL;
	memcpy(host, text, n);
	host[n] = '\0';
	memcpy(port, colon + 1, strlen(colon + 1) + 1);
	return 0;
}

/* Waits until the connection is established. Returns 0 or a negative errno. */
static int wait_connected(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t n = sizeof(int);
	int err = 0;

	if (poll(&p, 1, timeout_ms) <= 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0)
		return -errno;
	return -err;
}

static int connect_one(const struct addrinfo *a, int timeout_ms)
{
	int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
		err = errno == EINPROGRESS ? wait_connected(fd, timeout_ms) : -errno;
	if (err < 0) {
		close(fd);
		return err;
	}
	return fd;
}

int address_connect(const char *text, int type, int timeout_ms, struct tacho_error *e)
{
	struct addrinfo like = { .ai_socktype = type }, *all, *a;
	char host[256], port[8];
	int fd = -EADDRNOTAVAIL, err;

	if (address_split(text, host, port) < 0)
		return error_set(e, -EINVAL, "'%.100s' is not HOST:PORT", text);
	err = getaddrinfo(host, port, &like, &all);
	if (err)
		return error_set(e, -EHOSTUNREACH, "%.100s: %s", text, gai_strerror(err));
	for (a = all; a && fd < 0; a = a->ai_next)
		fd = connect_one(a, timeout_ms);
	freeaddrinfo(all);
	if (fd < 0)
		return error_set(e, fd, "%.100s: %s", text, strerror(-fd));
	return fd;
}
