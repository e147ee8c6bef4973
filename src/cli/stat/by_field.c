/*
 * `stat --by FIELD`: counts of tracepoints by the value of a field. Each event is sampled with its raw data, which the
 * kernel delivers in ring buffers, and counted here by event and value.
 */
#include "cli/stat/stat.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "cli/core/app.h"
#include "cli/core/run_command.h"
#include "record/perf_abi.h"

#define MAX_VALUES 100000		/* distinct values of all events */
#define RING_PAGES 1024
#define POLL_MS 100

struct by_event {
	const char *name;
	const struct tacho_trace_event *format;
	struct tacho_layout layout;
	size_t field;
	uint64_t total;
};

struct by_value {
	uint32_t event;
	char *text;
	uint64_t n;
};

struct by_field {
	const struct stat_opts *o;
	struct tacho *t;
	struct tacho_sampler *sampler;
	struct tacho_trace *formats;
	struct tacho_command *command;
	struct by_event *events;
	size_t n_events;
	struct map index;		/* "EVENT NUMBER value" -> index in values */
	struct {
		struct by_value *v;
		size_t n, cap;
	} values;
	struct strlist keys;		/* memory of the map's keys */
	struct tacho_scratch scratch;
	uint64_t lost, beyond;		/* lost samples; samples beyond MAX_VALUES */
};

static size_t find_field(const struct tacho_trace_event *format, const char *name)
{
	for (size_t i = 0; i < tacho_trace_n_fields(format); i++)
		if (!strcmp(tacho_trace_field(format, i)->name, name))
			return i;
	return SIZE_MAX;
}

static void list_fields(const struct tacho_trace_event *format, struct buf *out)
{
	for (size_t i = 0; i < tacho_trace_n_fields(format); i++)
		if (strncmp(tacho_trace_field(format, i)->name, "common_", 7) != 0)
			buf_printf(out, "%s%s", out->n ? ", " : "", tacho_trace_field(format, i)->name);
}

static int check_field(struct by_event *ev, const char *field, struct tacho_error *e)
{
	scoped(buf_done) struct buf names = { 0 };

	ev->field = find_field(ev->format, field);
	if (ev->field != SIZE_MAX)
		return 0;
	list_fields(ev->format, &names);
	error_set(e, -EINVAL, "%s has no field '%s'", ev->name, field);
	error_hint(e, "its fields are %s", names.n ? names.bytes : "unknown");
	return -EINVAL;
}

/* "sched:sched_switch" of "sched:sched_switch:u" */
static char *tracepoint_name(const char *name)
{
	const char *colon = strchr(name, ':'), *end = colon ? strchr(colon + 1, ':') : NULL;

	return str_dup(end ? str_n(name, (size_t)(end - name)) : str_of(name));
}

static int learn_event(struct by_field *b, size_t i, struct tacho_error *e)
{
	struct by_event *ev = &b->events[i];
	uint64_t attr[32] = { 0 };
	const char *why = NULL;
	int err;

	ev->name = tacho_sampler_event(b->sampler, i)->name;
	err = tacho_sampler_attr(b->sampler, i, attr, sizeof(attr), &why);
	if (err < 0)
		return error_set(e, err, "%s: %s", ev->name, why ? why : "it cannot be sampled");
	if ((uint32_t)attr[0] != PERF_TYPE_TRACEPOINT)
		return error_set(e, -EINVAL, "%s is not a tracepoint, so it has no fields for --by", ev->name);
	tacho_layout_init(&ev->layout, attr, sizeof(attr));
	ev->format = tacho_trace_find(b->formats, attr[1]);
	if (!ev->format)
		return error_set(e, -EINVAL, "the format of %s cannot be read", ev->name);
	return check_field(ev, b->o->by, e);
}

/* The tracker, which is the sampler's last event, is none of the user's. */
static int learn_events(struct by_field *b, struct tacho_error *e)
{
	scoped(strlist_done) struct strlist names = { 0 };
	int err = 0;

	b->n_events = tacho_sampler_size(b->sampler) - 1;
	b->events = calloc(b->n_events + 1, sizeof(*b->events));
	if (!b->events)
		return error_nomem(e);
	for (size_t i = 0; err == 0 && i < b->n_events; i++) {
		char *name = tracepoint_name(tacho_sampler_event(b->sampler, i)->name);

		err = name && strchr(name, ':') ? strlist_add(&names, str_of(name)) : name ? 0 : -ENOMEM;
		free(name);
	}
	if (err == 0)
		err = tacho_trace_new_here(&b->formats, NULL, (const char *const *)names.v, names.n, e);
	for (size_t i = 0; err == 0 && i < b->n_events; i++)
		err = learn_event(b, i, e);
	return err;
}

static int count_value(struct by_field *b, uint32_t event, const char *text)
{
	char key[300];
	const uint64_t *at;
	struct by_value *v;

	snprintf(key, sizeof(key), "%u %s", event, text);
	at = map_get(&b->index, str_of(key));
	if (at) {
		b->values.v[*at].n++;
		return 0;
	}
	if (b->values.n == MAX_VALUES) {
		b->beyond++;
		return 0;
	}
	v = vec_add(&b->values);
	if (!v || strlist_add(&b->keys, str_of(key)) < 0)
		return -ENOMEM;
	*v = (struct by_value){ event, str_dup(str_of(text)), 1 };
	if (!v->text)
		return -ENOMEM;
	return map_put(&b->index, str_of(b->keys.v[b->keys.n - 1]), b->values.n - 1);
}

static int event_of(struct by_field *b, uint64_t id)
{
	for (size_t i = 0; i < b->n_events; i++) {
		const uint64_t *ids;
		size_t n;

		if (tacho_sampler_ids(b->sampler, i, &ids, &n) < 0)
			continue;
		for (size_t k = 0; k < n; k++)
			if (ids[k] == id)
				return (int)i;
	}
	return -1;
}

static int on_sample(struct by_field *b, const struct tacho_record *rec)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts) };
	int i = event_of(b, tacho_record_id(rec, &b->events[0].layout));
	struct tacho_sample s;
	char text[256];

	b->scratch.used = 0;
	if (i < 0 || tacho_sample_decode(&s, rec, &b->events[i].layout, &b->scratch) < 0)
		return 0;
	if (tacho_trace_print_field(b->events[i].format, b->events[i].field, s.raw, s.n_raw, &opts, text, sizeof(text)) < 0)
		return -ENOMEM;
	b->events[i].total++;
	return count_value(b, (uint32_t)i, text);
}

static int on_bytes(void *arg, const void *bytes, size_t n)
{
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + n };
	struct tacho_record rec;
	int err = 0;

	while (err == 0 && tacho_record_next(&it, &rec) > 0)
		if (rec.type == TACHO_RECORD_SAMPLE)
			err = on_sample(arg, &rec);
	return err;
}

static int drain(struct by_field *b)
{
	int64_t n = tacho_sampler_drain(b->sampler, on_bytes, b);

	return (int)min_of(n, (int64_t)0);
}

static int run(struct by_field *b, struct tacho_usage *usage, int *status)
{
	struct pollfd fds[2] = { { .fd = tacho_sampler_fd(b->sampler), .events = POLLIN },
				 { .fd = b->command ? tacho_command_fd(b->command) : -1, .events = POLLIN } };
	const struct timespec timeout = { .tv_nsec = POLL_MS * 1000000 };
	struct run_signals signals;
	bool ended = false;
	int err;

	run_signals_catch(&signals, false);
	if (!b->command || b->o->all_cpus || b->o->cpus)
		tacho_sampler_start(b->sampler);
	err = run_command_release(b->command, "stat", status);
	while (err == 0 && !ended && !run_signals_ending()) {
		ppoll(fds, 2, &timeout, &signals.before);
		err = drain(b);
		ended = b->command ? tacho_command_wait(b->command, false, usage) > 0 : tacho_sampler_look(b->sampler) == 1;
	}
	if (b->command && !ended)
		ended = run_command_end(b->command, run_signals_ending(), &signals, usage);
	tacho_sampler_stop(b->sampler);
	if (err == 0)
		err = drain(b);
	if (err == 0)
		err = tacho_sampler_settle(b->sampler, on_bytes, b);
	run_signals_restore(&signals);
	if (b->command && ended && !*status)
		*status = run_command_exit_status(usage->status);
	return err;
}

static int compare_values(const void *a, const void *b)
{
	const struct by_value *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return str_natcmp(x->text, y->text);
}

static void put_text(const struct by_field *b, struct buf *out)
{
	const char *sep = b->o->separator;

	if (!sep)
		buf_printf(out, "\n %14s %8s  %s\n\n", "count", "share", b->o->by);
	for (size_t i = 0; i < b->values.n; i++) {
		const struct by_value *v = &b->values.v[i];
		const struct by_event *ev = &b->events[v->event];

		if (sep) {
			buf_printf(out, "%llu%s%s%s", (unsigned long long)v->n, sep, ev->name, sep);
			buf_text(out, str_of(v->text));
			buf_putc(out, '\n');
			continue;
		}
		if (i == 0 || v->event != v[-1].event)
			buf_printf(out, "%s %14llu           %s\n", i ? "\n" : "", (unsigned long long)ev->total, ev->name);
		buf_printf(out, " %14llu %7.2f%%    ", (unsigned long long)v->n, 100 * (double)v->n / (double)ev->total);
		buf_text(out, str_of(v->text));
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < b->n_events; i++)
		if (!b->events[i].total && !sep)
			buf_printf(out, " %14u           %s\n", 0, b->events[i].name);
	if (!sep)
		buf_putc(out, '\n');
}

static void put_json(const struct by_field *b, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.stat-by/1");
	json_member(&j, "field", str, b->o->by);
	json_member(&j, "lost", u64, b->lost);
	json_key(&j, "counts");
	json_begin(&j, '[');
	for (size_t i = 0; i < b->values.n; i++) {
		json_begin(&j, '{');
		json_member(&j, "event", str, b->events[b->values.v[i].event].name);
		json_member(&j, "value", str, b->values.v[i].text);
		json_member(&j, "count", u64, b->values.v[i].n);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static int show(struct by_field *b)
{
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };
	struct buf out = { 0 };
	int fd;

	if (tacho_sampler_stats(b->sampler, SIZE_MAX, &stats) == 0)
		b->lost = stats.lost;
	if (b->values.n)
		qsort(b->values.v, b->values.n, sizeof(*b->values.v), compare_values);
	if (b->o->json || b->o->json_lines)
		put_json(b, &out);
	else
		put_text(b, &out);
	if (b->lost)
		message_text("stat", "%llu events were lost because the ring buffers were full: the counts are too low",
			     (unsigned long long)b->lost);
	if (b->beyond)
		message_text("stat", "%llu events with further values are not counted: there are more than %d values",
			     (unsigned long long)b->beyond, MAX_VALUES);
	fd = stat_open_output(b->o);
	return fd < 0 ? EXIT_FAILED : print_fd("stat", fd, b->o->output ? b->o->output : "the output", &out);
}

static int open_sampler(struct by_field *b, struct stat_target *target, struct tacho_error *e)
{
	struct tacho_evset_opts to = target->evset;
	struct tacho_sampler_opts opts = { .size = sizeof(opts), .target = &to, .period = 1, .fields = TACHO_FIELD_RAW, .no_bpf = true,
		.no_build_ids = true, .ring_pages = RING_PAGES };
	int pid = b->command ? tacho_command_pid(b->command) : 0, err;

	to.no_inherit = b->o->no_inherit;
	if (b->command && !to.all_cpus && !to.cpus && !to.n_pids && !to.n_tids &&
	    !to.by_uid) {
		to.pids = &pid;
		to.n_pids = 1;
		to.enable_on_exec = true;
	}
	err = tacho_sampler_open(b->sampler, &opts, e);
	return err < 0 ? err : learn_events(b, e);
}

static void by_field_done(struct by_field *b)
{
	for (size_t i = 0; i < b->values.n; i++)
		free(b->values.v[i].text);
	vec_done(&b->values);
	map_done(&b->index);
	strlist_done(&b->keys);
	free(b->events);
	tacho_trace_free(b->formats);
	tacho_command_free(b->command);
	tacho_sampler_free(b->sampler);
	tacho_close(b->t);
	free(b);
}

int stat_by_field(const struct stat_opts *o, int argc, char **argv)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct tacho_error e = { .column = -1 };
	struct by_field *b = calloc(1, sizeof(*b));
	struct stat_target target = { 0 };
	int err, status = 0;

	if (!b)
		return EXIT_FAILED;
	b->o = o;
	err = tacho_open(&b->t, NULL, &e);
	if (err == 0)
		err = tacho_sampler_new(&b->sampler, b->t);
	if (err == 0 && event_args_apply(&o->event_args, "stat", tacho_sampler_evset(b->sampler), NULL, NULL) < 0)
		status = EXIT_USAGE;
	if (err == 0 && !status && stat_target_init(o, argc, argv, &target) < 0)
		status = EXIT_USAGE;
	if (err == 0 && !status && argc > 0)
		err = run_command_hold(&b->command, "stat", argv);
	if (err == 0 && !status)
		err = open_sampler(b, &target, &e);
	if (err == 0 && !status)
		err = run(b, &usage, &status);
	if (err < 0 && !status) {
		if (e.message[0])
			message_error("stat", NULL, NULL, &e);
		status = EXIT_FAILED;
	} else if (err == 0 && status != EXIT_USAGE) {
		int shown = show(b);

		status = status ? status : shown;
	}
	stat_target_done(&target);
	by_field_done(b);
	return status;
}
