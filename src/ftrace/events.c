/*
 * The tracepoints of a session, and the records of the function graph tracer.
 */
#include "ftrace/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"

#include <tacho/trace.h>

#define EXIT_EVENT "ftrace:funcgraph_exit"

/* "events/sched/sched_switch/FILE" for "sched:sched_switch" */
static int event_file(const char *event, const char *file, char *out, size_t size)
{
	struct str name = str_of(event), system;
	int n;

	str_cut(&name, ':', &system);
	if (!system.n || !name.n || memchr(event, '/', strlen(event)))
		return -EINVAL;
	n = snprintf(out, size, "events/%.*s/%.*s/%s", STR(system), STR(name), file);
	return n < (int)size ? 0 : -EINVAL;
}

static int refuse_event(const char *event, struct tacho_error *e)
{
	error_set(e, -EINVAL, "no tracepoint is called '%s'", event);
	error_hint(e, "'list tracepoint' lists them");
	return -EINVAL;
}

static int enable_event(struct tacho_ftrace *f, size_t i, struct tacho_error *e)
{
	const char *event = f->opts.events.v[i];
	char file[256], path[PATH_MAX], text[32];
	uint64_t id;
	int err = event_file(event, "id", file, sizeof(file));

	if (err == 0)
		err = setting_path(f->dir, file, path);
	if (err == 0)
		err = io_read_small(AT_FDCWD, path, text, sizeof(text));
	if (err < 0 || num_u64(str_of(text), &id) < 0 || id > UINT16_MAX)
		return refuse_event(event, e);
	f->event_ids[i] = (uint16_t)id;
	event_file(event, "enable", file, sizeof(file));
	return setting_write(f, file, "1", e);
}

int events_enable(struct tacho_ftrace *f, struct tacho_error *e)
{
	int err;

	if (!f->opts.events.n)
		return 0;
	f->event_ids = calloc(f->opts.events.n, sizeof(*f->event_ids));
	if (!f->event_ids)
		return error_nomem(e);
	/* The default clock is one per CPU. */
	err = setting_write(f, "trace_clock", "mono", e);
	for (size_t i = 0; err == 0 && i < f->opts.events.n; i++)
		err = enable_event(f, i, e);
	return err;
}

static void find_field(const struct tacho_trace_event *ev, const char *name, struct call_field *out)
{
	for (size_t i = 0; i < tacho_trace_n_fields(ev); i++) {
		const struct tacho_trace_field *field = tacho_trace_field(ev, i);

		if (!strcmp(field->name, name))
			*out = (struct call_field){ .offset = field->offset, .size = field->size };
	}
}

static int read_exit_id(const struct tacho_ftrace *f, uint64_t *id)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	struct str rest, line;
	int err = setting_path(f->root, "events/ftrace/funcgraph_exit/format", path);

	if (err == 0)
		err = io_read(path, 1u << 16, &text);
	if (err < 0)
		return err;
	rest = buf_view(&text);
	while (str_cut(&rest, '\n', &line))
		if (str_starts(line, "ID: "))
			return num_u64(str_n(line.s + 4, line.n - 4), id);
	return -EBADMSG;
}

int events_find_calls(struct tacho_ftrace *f, struct tacho_error *e)
{
	static const char *const name[] = { EXIT_EVENT };
	const struct tacho_trace_event *ev;
	struct tacho_trace *formats = NULL;
	uint64_t id = 0;
	int err = read_exit_id(f, &id);

	if (err < 0)
		return error_set(e, err, "the format of %s cannot be read: %s", EXIT_EVENT, strerror(-err));
	err = tacho_trace_new_here(&formats, f->root, name, 1, e);
	if (err < 0)
		return err;
	ev = tacho_trace_find(formats, id);
	if (ev) {
		find_field(ev, "func", &f->func);
		find_field(ev, "calltime", &f->call_time);
		find_field(ev, "rettime", &f->return_time);
	}
	tacho_trace_free(formats);
	if (!f->func.size || f->call_time.size != 8 || f->return_time.size != 8 || !id || id > UINT16_MAX)
		return error_set(e, -EOPNOTSUPP, "the records of the function graph tracer have an unknown format");
	f->call_id = (uint16_t)id;
	return 0;
}
