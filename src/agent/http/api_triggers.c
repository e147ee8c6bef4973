/*
 * The API's pages about triggers and exporters: what triggers wait for, what they did with their recordings, and what
 * exporters have sent where.
 */
#include "agent/http/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/core/collector.h"
#include "agent/core/triggers.h"
#include "base/io.h"
#include "base/num.h"

/* ---- exporters ---- */

/* Where an exporter sends: its url, socket, path or address. User and password of a URL are left out. */
static void put_target(const struct export_config *x, struct buf *out)
{
	static const char *const names[] = { "url", "socket", "path", "file", "dir", "address", "host", "master" };

	for (size_t i = 0; i < countof(names) && !out->n; i++) {
		const struct config_key *row = keys_find(x->type->keys, str_of(names[i]));
		const char *text, *at, *slashes;

		if (!row || (row->kind != KEY_STRING && row->kind != KEY_URL && row->kind != KEY_PATH))
			continue;
		text = *(char *const *)((const char *)x->settings + row->at);
		if (!text || !*text)
			continue;
		slashes = strstr(text, "://");
		at = slashes ? memchr(slashes + 3, '@', strcspn(slashes + 3, "/?")) : NULL;
		if (at)
			buf_put(out, text, (size_t)(slashes + 3 - text));
		buf_puts(out, at ? at + 1 : text);
	}
}

static void put_exporter_target(struct agent *a, const char *name, struct json *j)
{
	scoped(buf_done) struct buf target = { 0 };

	pthread_rwlock_rdlock(&a->config_lock);
	for (size_t i = 0; i < a->config->n_exports; i++)
		if (!strcmp(a->config->exports[i].name, name))
			put_target(&a->config->exports[i], &target);
	pthread_rwlock_unlock(&a->config_lock);
	json_member(j, "target", str, target.n && !buf_failed(&target) ? target.bytes : NULL);
}

static void put_exporter(struct agent *a, const struct exporter_status *st, struct json *j)
{
	json_begin(j, '{');
	json_member(j, "name", str, st->name);
	json_member(j, "type", str, st->type);
	put_exporter_target(a, st->name, j);
	json_member(j, "connected", bool, st->connected);
	json_member(j, "sent_points", u64, st->sent_points);
	json_member(j, "dropped_points", u64, st->dropped_points);
	json_member(j, "queued_points", u64, st->queued_points);
	json_member(j, "queued_bytes", u64, st->queued_bytes);
	json_member(j, "retries", u64, st->retries);
	json_member(j, "lag_seconds", double, st->lag_s);
	json_member(j, "error", str, st->last_error[0] ? st->last_error : NULL);
	json_end(j);
}

void page_exporters(struct request *q)
{
	struct exporter_status st[64];
	size_t n = q->agent->exporters ? exporters_status(q->agent->exporters, st, countof(st)) : 0;
	struct json j = { .out = &q->out };

	if (request_wants_text(q)) {
		text_exporters(q);
		return;
	}
	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.exporters.v1");
	json_key(&j, "exporters");
	json_begin(&j, '[');
	for (size_t i = 0; i < n; i++)
		put_exporter(q->agent, &st[i], &j);
	json_end(&j);
	json_end(&j);
	buf_putc(&q->out, '\n');
}

/* ---- triggers ---- */

static int put_trigger(void *arg, const struct trigger_status *st)
{
	static const char *const actions[] = { "flame", "perf.data", "both" };
	struct json *j = arg;

	json_begin(j, '{');
	json_member(j, "name", str, st->config->name);
	json_member(j, "when", str, st->config->when);
	json_key(j, "value");
	if (isnan(st->value))
		json_null(j);
	else
		json_double(j, st->value);
	json_member(j, "threshold", double, st->threshold);
	json_member(j, "state", str, isnan(st->value) ? "no such series" : st->recording ? "recording" :
		    st->quiet_ns ? "quiet" : st->holds ? "holds" : "waits");
	json_member(j, "action", str, actions[st->config->action]);
	json_member(j, "length_ms", u64, st->config->length_ns / 1000000);
	json_member(j, "cooldown_ms", u64, st->config->cooldown_ns / 1000000);
	json_member(j, "quiet_ms", u64, st->quiet_ns / 1000000);
	json_end(j);
	return 0;
}

/* The files of a recording that still exist: the one of the event, and the perf.data file beside a flame graph. */
static size_t recording_files(const char *path, char files[2][PATH_MAX])
{
	static const char *const suffixes[] = { ".svg", ".perf.data" };
	struct str base = str_of(path ? path : "");
	size_t n = 0;

	for (size_t i = 0; i < countof(suffixes); i++)
		if (str_ends(base, suffixes[i]))
			base.n -= strlen(suffixes[i]);
	for (size_t i = 0; path && base.n < strlen(path) && i < countof(suffixes); i++)
		if ((size_t)snprintf(files[n], PATH_MAX, "%.*s%s", STR(base), suffixes[i]) < PATH_MAX &&
		    io_is_accessible(files[n], R_OK))
			n++;
	return n;
}

static int put_event(void *arg, const struct store_event *ev)
{
	char files[2][PATH_MAX];
	size_t n = recording_files(ev->path, files);
	struct json *j = arg;

	json_begin(j, '{');
	json_member(j, "id", i64, ev->id);
	json_member(j, "time", i64, ev->time_ns / 1000000);
	json_member(j, "kind", str, ev->kind);
	json_member(j, "name", str, ev->name);
	json_member(j, "text", str, ev->text);
	json_member(j, "path", str, ev->path);
	json_key(j, "files");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++)
		json_str(j, files[i]);
	json_end(j);
	json_end(j);
	return 0;
}

void page_triggers(struct request *q)
{
	struct agent *a = q->agent;
	struct json j = { .out = &q->out };
	int64_t from, to;

	if (!request_time(q, "from", 0, &from) || !request_time(q, "to", INT64_MAX, &to))
		return;
	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.triggers.v1");
	json_key(&j, "triggers");
	json_begin(&j, '[');
	collector_lock(a->collector);
	if (a->triggers)
		triggers_status(a->triggers, put_trigger, &j);
	collector_unlock(a->collector);
	json_end(&j);
	json_key(&j, "events");
	json_begin(&j, '[');
	if (a->store)
		store_events(a->store, from, to, 200, put_event, &j);
	json_end(&j);
	json_end(&j);
	buf_putc(&q->out, '\n');
}

/* ---- recordings ---- */

struct wanted_recording {
	int64_t id;
	char *path;
};

static int find_event(void *arg, const struct store_event *ev)
{
	struct wanted_recording *w = arg;

	if (ev->id != w->id)
		return 0;
	w->path = ev->path ? strdup(ev->path) : NULL;
	return 1;
}

/* The path of a recording comes from the store, never from the request. */
void page_recording(struct request *q)
{
	struct wanted_recording w = { .id = 0 };
	scoped(freep) char *path = NULL;
	char files[2][PATH_MAX];
	uint64_t id, which;
	struct stat st;
	size_t n;
	int fd;

	if (!request_u64(q, "id", 0, &id) || !request_u64(q, "file", 0, &which))
		return;
	w.id = (int64_t)min_of(id, (uint64_t)INT64_MAX);
	if (q->agent->store)
		store_events(q->agent->store, 0, INT64_MAX, 10000, find_event, &w);
	path = w.path;
	n = recording_files(path, files);
	fd = which < n ? open(files[which], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		request_fail(q, 404, "there is no such recording; it may have been deleted to make place for newer ones");
		return;
	}
	q->response = MHD_create_response_from_fd64((uint64_t)st.st_size, fd);
	if (!q->response) {
		close(fd);
		request_fail(q, 500, "out of memory");
		return;
	}
	MHD_add_response_header(q->response, "Content-Type", str_ends(str_of(files[which]), ".svg") ? "image/svg+xml" : "application/octet-stream");
	MHD_add_response_header(q->response, "Content-Disposition", "attachment");
}
