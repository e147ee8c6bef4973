/*
 * Writes a recording in perf's JSON format: a header, and an array with an object per sample.
 *
 *	{ "linux-perf-json-version": 1, "headers": { ... },
 *	  "samples": [ { "timestamp": ..., "callchain": [ { "ip": "0x...", "symbol": ..., "dso": ... } ] } ] }
 *
 * The fields of a tracepoint are members of its sample, as text, with "trace_" before names that other
 * members have: "trace_pid".
 */
#include "cli/files/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "record/callchain_markers.h"
#include "base/error.h"
#include "base/io.h"
#include "base/json.h"

#define FLUSH_BYTES (256u << 10)

struct json_out {
	int fd;
	bool finished;
	struct buf buf;
	struct json j;
};

static const char *json_path(const struct data_opts *o)
{
	return o->json;
}

static int flush(struct convert *c, struct tacho_error *e)
{
	struct json_out *out = c->out;
	int err = buf_failed(&out->buf) ? -ENOMEM : io_write_all(out->fd, out->buf.bytes, out->buf.n);

	c->bytes += out->buf.n;
	buf_clear(&out->buf);
	if (err < 0)
		error_set(e, err, "cannot write '%s': %s", c->opts->json, strerror(-err));
	return err;
}

static void put_text(struct json *j, const struct tacho_perfdata *pd, const char *key,
		     enum tacho_feature f)
{
	const char *text = tacho_perfdata_string(pd, f);

	if (text)
		json_member(j, key, str, text);
}

static void put_cmdline(struct json *j, const struct tacho_perfdata *pd)
{
	struct tacho_feature_list list;
	struct tacho_text arg;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_CMDLINE, &list) < 0)
		return;
	json_key(j, "cmdline");
	json_begin(j, '[');
	while (tacho_text_next(&list, &arg) > 0)
		json_strn(j, str_n(arg.s, arg.n));
	json_end(j);
}

static void put_facts(struct json *j, const struct tacho_perfdata *pd)
{
	struct tacho_file_facts facts = { .size = sizeof(facts) };
	char date[32] = "";
	struct tm tm;
	time_t captured;

	tacho_perfdata_facts(pd, &facts);
	captured = (time_t)facts.captured_s;
	if (gmtime_r(&captured, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_member(j, "header-version", u64, 1);
	json_member(j, "captured-on", str, date);
	json_member(j, "data-offset", u64, facts.data_offset);
	json_member(j, "data-size", u64, facts.data_size);
	json_member(j, "feat-offset", u64, facts.features_offset);
}

static void put_headers(struct json *j, const struct tacho_perfdata *pd)
{
	struct tacho_cpu_counts cpus;

	json_key(j, "headers");
	json_begin(j, '{');
	put_facts(j, pd);
	put_text(j, pd, "hostname", TACHO_FEATURE_HOSTNAME);
	put_text(j, pd, "os-release", TACHO_FEATURE_OSRELEASE);
	put_text(j, pd, "arch", TACHO_FEATURE_ARCH);
	put_text(j, pd, "cpu-desc", TACHO_FEATURE_CPUDESC);
	put_text(j, pd, "cpuid", TACHO_FEATURE_CPUID);
	if (tacho_perfdata_cpu_counts(pd, &cpus) == 0) {
		json_member(j, "nrcpus-online", u64, cpus.online);
		json_member(j, "nrcpus-avail", u64, cpus.available);
	}
	put_text(j, pd, "perf-version", TACHO_FEATURE_VERSION);
	put_cmdline(j, pd);
	json_end(j);
}

static bool to_stdout(const struct convert *c)
{
	return strcmp(c->opts->json, "-") == 0;
}

static int open_output(const struct convert *c)
{
	int flag = c->opts->force ? O_TRUNC : O_EXCL;

	if (to_stdout(c))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return open(c->opts->json, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0666);
}

static int json_open(struct convert *c, struct tacho_error *e)
{
	struct json_out *out = calloc(1, sizeof(*out));

	if (!out)
		return error_nomem(e);
	c->out = out;
	out->fd = open_output(c);
	if (out->fd < 0 && errno == EEXIST) {
		error_set(e, -EEXIST, "'%s' exists already", c->opts->json);
		error_hint(e, "--force overwrites it");
		return -EEXIST;
	}
	if (out->fd < 0)
		return error_set(e, -errno, "cannot write '%s': %s", c->opts->json, strerror(errno));
	out->j = (struct json){ .out = &out->buf, .indent = 1 };
	json_begin(&out->j, '{');
	json_member(&out->j, "linux-perf-json-version", u64, 1);
	put_headers(&out->j, c->pd);
	json_key(&out->j, "samples");
	json_begin(&out->j, '[');
	return 0;
}

/* Writes a frame: address, symbol and object (if known). */
static void put_frame(struct convert *c, struct json *j, uint32_t pid, enum tacho_space space, uint64_t ip)
{
	struct tacho_object_info info = { .size = sizeof(info) };
	struct tacho_frame frame;
	char text[20];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)ip);
	json_begin(j, '{');
	json_member(j, "ip", str, text);
	if (tacho_symbols_resolve(c->symbols, pid, space, ip, &frame) > 0) {
		json_member(j, "symbol", str, tacho_symbols_name(c->symbols, frame.symbol));
		if (tacho_symbols_object(c->symbols, frame.object, &info) >= 0)
			json_member(j, "dso", str, info.path[0] == '[' ? info.path : info.short_name);
	}
	json_end(j);
}

static void put_chain(struct convert *c, struct json *j, const struct tacho_record *rec,
		      const struct tacho_sample *s)
{
	enum tacho_space space = rec->misc & 7;

	json_key(j, "callchain");
	json_begin(j, '[');
	for (size_t i = 0; i < s->chain.n; i++) {
		if (s->chain.v[i] < CONTEXT_FIRST)
			put_frame(c, j, s->pid, space, s->chain.v[i]);
		else if (!context_space(s->chain.v[i], &space))
			break;
	}
	if (!s->chain.n)
		put_frame(c, j, s->pid, space, s->ip);
	json_end(j);
}

/* Whether samples have a member of that name already. perf writes duplicate members in this case. */
static bool is_taken(const char *name)
{
	static const char *const members[] = { "timestamp", "pid", "tid", "cpu", "comm", "callchain" };

	for (size_t i = 0; i < countof(members); i++)
		if (strcmp(members[i], name) == 0)
			return true;
	return false;
}

static void put_fields(struct convert *c, struct json *j, const struct tacho_trace_event *ev,
		       const struct tacho_sample *s)
{
	char text[4096], key[160];

	for (size_t i = 0; i < tacho_trace_n_fields(ev); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev, i);

		if (strncmp(f->name, "common_", 7) == 0 ||
		    tacho_trace_print_field(ev, i, s->raw, s->n_raw, &c->trace_opts, text, sizeof(text)) < 0)
			continue;
		snprintf(key, sizeof(key), is_taken(f->name) ? "trace_%s" : "%s", f->name);
		json_member(j, key, str, text);
	}
}

static int json_sample(struct convert *c, size_t event, const struct tacho_record *rec,
		       const struct tacho_sample *s, struct tacho_error *e)
{
	const struct tacho_trace_event *trace = c->events.v[event].trace;
	struct json_out *out = c->out;
	struct json *j = &out->j;

	json_begin(j, '{');
	if (s->type & PERF_SAMPLE_TIME)
		json_member(j, "timestamp", u64, s->time);
	if (s->type & PERF_SAMPLE_TID) {
		json_member(j, "pid", i64, (int32_t)s->pid);
		json_member(j, "tid", i64, (int32_t)s->tid);
	}
	if (s->type & PERF_SAMPLE_CPU)
		json_member(j, "cpu", u64, s->cpu);
	json_member(j, "comm", str, tacho_symbols_comm(c->symbols, s->pid, s->tid));
	put_chain(c, j, rec, s);
	if (trace && s->raw)
		put_fields(c, j, trace, s);
	json_end(j);
	return out->buf.n >= FLUSH_BYTES ? flush(c, e) : 0;
}

static int json_finish(struct convert *c, struct tacho_error *e)
{
	struct json_out *out = c->out;
	int err;

	json_end(&out->j);
	json_end(&out->j);
	buf_putc(&out->buf, '\n');
	err = flush(c, e);
	if (err == 0 && close(take_fd(out->fd)) < 0)
		err = error_set(e, -errno, "cannot write '%s': %s", c->opts->json, strerror(errno));
	out->finished = err == 0;
	return err;
}

static void json_close(struct convert *c)
{
	struct json_out *out = c->out;

	if (!out)
		return;
	if (!out->finished && out->fd >= 0 && !to_stdout(c))
		io_discard(c->opts->json);
	closep(&out->fd);
	buf_done(&out->buf);
	free(out);
}

const struct convert_writer convert_json = {
	.name = "JSON", .path = json_path, .open = json_open, .sample = json_sample,
	.finish = json_finish, .close = json_close,
};
