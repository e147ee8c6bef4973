/*
 * The table of writers, and their common code: choosing the event and the weights, and the output buffer.
 */
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sized_opts.h"

#define WRITER_ADDRESS(name) &name##_writer,
static const struct writer *const writers[] = { WRITERS(WRITER_ADDRESS) };

const struct tacho_format *const *tacho_formats(void)
{
#define FORMAT_ADDRESS(name) &name##_writer.format,
	static const struct tacho_format *const formats[] = { WRITERS(FORMAT_ADDRESS) NULL };

	return formats;
}

const struct tacho_format *tacho_format_find(const char *name)
{
	for (size_t i = 0; i < countof(writers); i++)
		if (strcmp(writers[i]->format.name, name) == 0)
			return &writers[i]->format;
	return NULL;
}

const struct tacho_format *tacho_format_of_path(const char *path)
{
	const struct tacho_format *best = NULL;

	for (size_t i = 0; i < countof(writers); i++) {
		const struct tacho_format *f = &writers[i]->format;

		if (str_ends(str_of(path), f->suffix) &&
		    (!best || strlen(f->suffix) > strlen(best->suffix)))
			best = f;
	}
	return best;
}

static const struct writer *writer_of(const struct tacho_format *f)
{
	for (size_t i = 0; i < countof(writers); i++)
		if (f == &writers[i]->format)
			return writers[i];
	return NULL;
}

void tacho_format_wants(const struct tacho_format *f, struct tacho_profile_opts *opts)
{
	const struct writer *w = writer_of(f);

	if (!w)
		return;
	opts->per_time |= w->wants_time;
	opts->per_cpu |= w->wants_cpu;
	opts->join_threads |= w->joins_threads;
}

int out_flush(struct out *o)
{
	if (o->b.bad && !o->err)
		o->err = -ENOMEM;
	if (!o->err && o->b.n)
		o->err = o->put(o->arg, o->b.bytes, o->b.n);
	if (!o->b.bad)
		buf_clear(&o->b);
	return o->err;
}

bool event_is_clock(const char *event)
{
	struct str name = str_of(event);
	ptrdiff_t colon = str_find(name, ':');

	if (colon > 0)
		name.n = (size_t)colon;
	return str_is(name, "cpu-clock") || str_is(name, "task-clock") || str_is(name, "offcpu-time") ||
	       str_is(name, "wall-time");
}

const char *weight_unit(const struct output *o, uint32_t event)
{
	if (o->count_samples)
		return "samples";
	return event_is_clock(tacho_profile_event(o->p, event)->name) ? "ns" : "events";
}

static int error_no_event(const struct output *o, const char *wanted)
{
	scoped(buf_done) struct buf names = { 0 };

	for (size_t i = 0; i < tacho_profile_n_events(o->p); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", tacho_profile_event(o->p, i)->name);
	error_set(o->e, -ENOENT, "the recording has no event '%s'", wanted);
	if (names.n)
		error_hint(o->e, "its events: %s", names.bytes);
	return -ENOENT;
}

size_t process_attributes(const struct output *o, uint32_t pid, struct tacho_output_attribute out[PROCESS_ATTRIBUTES_MAX])
{
	const struct tacho_output_opts *opts = o->opts;

	return opts->process_attributes ? min_of(opts->process_attributes(opts->process_arg, pid, out, PROCESS_ATTRIBUTES_MAX),
						 (size_t)PROCESS_ATTRIBUTES_MAX) : 0;
}

/* Selects the event named opts.event, or the first event with samples. */
static int choose_event(struct output *o)
{
	const char *wanted = o->opts->event;
	size_t n = tacho_profile_n_events(o->p);

	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_event *ev = tacho_profile_event(o->p, i);

		if (wanted ? strcmp(ev->name, wanted) != 0 : ev->samples == 0)
			continue;
		if (ev->samples == 0)
			return error_set(o->e, -ENODATA, "there are no samples of '%s'", ev->name);
		o->event = (uint32_t)i;
		return 0;
	}
	if (wanted)
		return error_no_event(o, wanted);
	error_set(o->e, -ENODATA, "there are no samples");
	error_hint(o->e, "nothing was recorded, or the filters reject all samples");
	return -ENODATA;
}

static void choose_weight(struct output *o, const struct writer *w)
{
	enum tacho_weight weight = o->opts->weight;

	o->count_samples = weight == TACHO_WEIGHT_SAMPLES ||
			   (weight == TACHO_WEIGHT_DEFAULT && w->counts_samples);
	/* Some recordings have no periods. */
	if (tacho_profile_event(o->p, o->event)->period == 0)
		o->count_samples = true;
}

int tacho_output_write(const struct tacho_format *f, const struct tacho_profile *p,
		       const struct tacho_output_opts *opts, tacho_put put, void *arg,
		       struct tacho_error *e)
{
	struct tacho_output_opts known;
	const struct writer *w = writer_of(f);
	struct out out = { .put = put, .arg = arg };
	struct output o = { .p = p, .opts = &known, .out = &out, .e = e };
	int err = opts_copy(&known, sizeof(known), opts, e);

	if (err < 0)
		return err;
	if (!w)
		return error_set(e, -EINVAL, "the format is not one of tacho_formats()");
	err = choose_event(&o);
	if (err < 0)
		return err;
	choose_weight(&o, w);
	err = w->write(&o);
	if (err == 0)
		err = out_flush(&out);
	buf_done(&out.b);
	if (err == -ENOMEM)
		return error_nomem(e);
	return out.err ? error_set(e, err, "the output cannot be written: %s", strerror(-err)) : err;
}

static int put_to_file(void *arg, const void *bytes, size_t n)
{
	return io_write_all(*(int *)arg, bytes, n);
}

int tacho_output_file(const char *path, const struct tacho_profile *p, const struct tacho_output_opts *opts,
		      struct tacho_error *e)
{
	const struct tacho_format *f = path ? tacho_format_of_path(path) : NULL;
	scoped(closep) int fd = -1;
	int err;

	if (!f || !p)
		return error_set(e, -EINVAL, "no format has the suffix of '%s'", path ? path : "");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_set(e, -errno, "cannot write '%s': %s", path, strerror(errno));
	err = tacho_output_write(f, p, opts, put_to_file, &fd, e);
	if (err == 0 && close(take_fd(fd)) < 0)
		err = error_set(e, -errno, "cannot write '%s': %s", path, strerror(errno));
	return err;
}
