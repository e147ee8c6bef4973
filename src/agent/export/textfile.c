/*
 * A file for node_exporter's textfile collector with the content of /metrics, rewritten with every
 * flush and replaced by rename, so that readers never see a partial file.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "agent/http/server.h"
#include "base/error.h"
#include "base/io.h"

struct textfile_settings {
	struct push_settings push;
	char *path;
	bool processes;
};

struct textfile {
	const struct textfile_settings *settings;
	const struct exporter_env *env;
	char temporary_path[PATH_MAX];
};

static const struct config_key keys[] = {
	{ KEY_PATH, "path", offsetof(struct textfile_settings, path), NULL,
	  "the file, in the collector's directory: \"/var/lib/prometheus/node-exporter/tacho.prom\"",
	  .required = true },
	{ KEY_BOOL, "processes", offsetof(struct textfile_settings, processes), "false",
	  "also the series of processes; everybody on the machine can read the file" },
	{ .kind = KEY_END },
};

static int check(const void *settings, struct tacho_error *e)
{
	const struct textfile_settings *s = settings;

	if (!str_ends(str_of(s->path), ".prom"))
		return error_set(e, -EINVAL, "path: '%.100s' does not end with .prom, so node_exporter would not "
				 "read it", s->path);
	if (strlen(s->path) > PATH_MAX - 8)
		return error_set(e, -ENAMETOOLONG, "path: it is too long");
	return 0;
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	struct textfile *t = calloc(1, sizeof(*t));

	if (!t)
		return error_nomem(e);
	t->settings = settings;
	t->env = env;
	snprintf(t->temporary_path, sizeof(t->temporary_path), "%s.new", t->settings->path);
	*out = t;
	return 0;
}

/* Encodes the newest points of all series, whatever the batches contain. */
static int64_t encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	const struct textfile *t = x;
	int64_t points = 0;

	for (size_t i = 0; i < n; i++)
		points += (int64_t)batches[i].n_points;
	prometheus_series(t->env->registry, t->env->config, false, t->settings->processes, body);
	return buf_failed(body) ? -ENOMEM : points;
}

static int write_file(const struct textfile *t, struct str body)
{
	int err, fd;

	/* What an earlier agent left, or another user's file or link: it is never written through. */
	if (unlink(t->temporary_path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(t->temporary_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	err = io_write_all(fd, body.s, body.n);
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err && rename(t->temporary_path, t->settings->path) < 0)
		err = -errno;
	if (err)
		unlink(t->temporary_path);
	return err;
}

static enum send_result send_body(void *x, const struct export_body *s, struct send_reply *reply)
{
	const struct textfile *t = x;
	int err = write_file(t, s->body);

	if (!err)
		return SEND_DONE;
	snprintf(reply->text, sizeof(reply->text), "cannot write %.120s: %s%s", t->settings->path, strerror(-err),
		 err == -EACCES || err == -EPERM || err == -EROFS
			 ? "; below systemd the unit needs the drop-in textfile.conf, see tacho-agent(1)" : "");
	return SEND_RETRY;
}

const struct exporter_type export_textfile = {
	.name = "textfile",
	.help = "a file for node_exporter's textfile collector, with the content of /metrics",
	.keys = keys,
	.settings_size = sizeof(struct textfile_settings),
	.check = check,
	.open = open_exporter,
	.encode = encode,
	.send_body = send_body,
	.close = free,
};
