/*
 * The API's actions, used by `tacho agent ctl` and the page's buttons, and the page of tacho doctor.
 */
#include "agent/http/request.h"

#include <errno.h>
#include <stdatomic.h>

#include "agent/core/collector.h"
#include "agent/profiler/profiler.h"
#include "base/error.h"
#include "base/num.h"

#include <tacho/doctor.h>

static const char *const verdicts[] = { "ok", "limited", "no", "info" };

static int put_finding(void *arg, const struct tacho_finding *f)
{
	struct json *j = arg;

	json_begin(j, '{');
	json_member(j, "id", str, f->id);
	json_member(j, "topic", str, f->topic);
	json_member(j, "title", str, f->title);
	json_member(j, "verdict", str, verdicts[f->verdict]);
	json_member(j, "value", str, f->value);
	json_member(j, "meaning", str, f->meaning);
	json_member(j, "affects", str, f->affects);
	json_member(j, "fix", str, f->fix);
	json_end(j);
	return 0;
}

void page_doctor(struct request *q)
{
	struct tacho_diagnosis d = { .size = sizeof(d) };
	struct tacho_error e = { .column = -1 };
	struct json j = { .out = &q->out };
	struct tacho *t = NULL;
	int err = tacho_open(&t, NULL, &e);

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.doctor.v1");
	json_key(&j, "findings");
	json_begin(&j, '[');
	if (err == 0)
		err = tacho_doctor(t, put_finding, &j, &d, &e);
	tacho_close(t);
	if (err < 0) {
		request_error(q, &e);
		return;
	}
	json_end(&j);
	json_member(&j, "counting", bool, d.counting);
	json_member(&j, "sampling", bool, d.sampling);
	json_end(&j);
	buf_putc(&q->out, '\n');
}

/* ---- actions ---- */

typedef int action_fn(struct request *q, const char *source, struct buf *reply,
		      struct tacho_error *e);

static int act_pause(struct request *q, const char *source, struct buf *reply, struct tacho_error *e)
{
	buf_printf(reply, "paused %s", source ? source : "all sources");
	return collector_pause(q->agent->collector, source, true, e);
}

static int act_resume(struct request *q, const char *source, struct buf *reply, struct tacho_error *e)
{
	buf_printf(reply, "resumed %s", source ? source : "all sources");
	return collector_pause(q->agent->collector, source, false, e);
}

static int act_reload(struct request *q, const char *source, struct buf *reply, struct tacho_error *e)
{
	(void)source;
	buf_puts(reply, "reloaded the configuration");
	return collector_reload(q->agent->collector, e);
}

static int act_read(struct request *q, const char *source, struct buf *reply, struct tacho_error *e)
{
	int err = collector_read_now(q->agent->collector, source, e);

	buf_printf(reply, "read %s", source ? source : "all sources");
	if (err == 0 && q->agent->store)
		store_flush(q->agent->store);
	return err;
}

static int act_interval(struct request *q, const char *source, struct buf *reply,
			struct tacho_error *e)
{
	const char *text = request_arg(q, "value");
	uint64_t ns;

	if (!text || num_duration_ns(str_of(text), &ns) < 0)
		return error_set(e, -EINVAL, "the interval must be a duration such as 500ms");
	buf_printf(reply, "%s now every %s", source ? source : "all sources", text);
	return collector_interval(q->agent->collector, source, ns, e);
}

static int act_profile(struct request *q, const char *source, struct buf *reply,
		       struct tacho_error *e)
{
	static _Atomic bool busy;
	const char *text = request_arg(q, "value"), *format = request_arg(q, "format");
	static const char *const formats[] = { "flame", "perf.data", "both" };
	size_t action = 0;
	struct recording_opts opts = { .length_ns = 10000000000ull, .name = "ctl" };
	scoped(freep) char *path = NULL;
	char note[256];
	int err;

	(void)source;
	if (text && (num_duration_ns(str_of(text), &opts.length_ns) < 0 || opts.length_ns > 600000000000ull))
		return error_set(
			e, -EINVAL,
			"the length of a recording must be a duration of at most 10m, not '%.40s'",
			text);
	while (format && action < countof(formats) && strcmp(format, formats[action]) != 0)
		action++;
	if (action == countof(formats))
		return error_set(
			e, -EINVAL,
			"the format of a recording must be flame, perf.data or both, not '%.40s'",
			format);
	if (atomic_exchange(&busy, true)) {
		error_set(e, -EBUSY, "another recording is in progress");
		error_hint(e, "try again when it has finished");
		return -EBUSY;
	}
	opts.action = (int)action;
	pthread_rwlock_rdlock(&q->agent->config_lock);
	opts.max_bytes = q->agent->config->profile.recordings_bytes;
	opts.max_files = q->agent->config->profile.recordings;
	pthread_rwlock_unlock(&q->agent->config_lock);
	err = profiler_record(q->agent, &opts, &path, note, e);
	busy = false;
	if (err == 0)
		buf_printf(reply, "wrote %s%s%s%s", path, note[0] ? " (" : "", note, note[0] ? ")" : "");
	return err;
}

static int act_link(struct request *q, const char *source, struct buf *reply, struct tacho_error *e)
{
	(void)source;
	http_link(q->http, reply);
	if (reply->n)
		return 0;
	error_set(e, -ENOENT, "the agent does not listen on TCP");
	error_hint(e, "set [agent] listen = [\"127.0.0.1:9273\"]");
	return -ENOENT;
}

static const struct {
	const char *name;
	action_fn *fn;
} actions[] = {
	{ "pause", act_pause }, { "resume", act_resume }, { "reload", act_reload },
	{ "read-now", act_read }, { "interval", act_interval }, { "profile", act_profile },
	{ "link", act_link },
};

void page_ctl(struct request *q)
{
	const char *source = request_arg(q, "source");
	scoped(buf_done) struct buf reply = { 0 };
	struct tacho_error e = { .column = -1 };
	struct json j = { .out = &q->out };
	int err = -ENOENT;

	error_set(&e, -ENOENT, "no action is called '%s'", q->path);
	error_hint(&e, "the actions are pause, resume, reload, read-now, interval, profile and link");
	for (size_t i = 0; i < countof(actions); i++)
		if (!strcmp(q->path, actions[i].name))
			err = actions[i].fn(q, source && *source ? source : NULL, &reply, &e);
	if (err < 0) {
		e.code = err;
		request_error(q, &e);
		return;
	}
	json_begin(&j, '{');
	json_member(&j, "done", str, reply.bytes);
	json_end(&j);
	buf_putc(&q->out, '\n');
}
