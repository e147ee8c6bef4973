/*
 * `tacho report -T`: what each thread counted of each event, by the READ records that `record -s`
 * leaves when a thread ends. The file is read once more for it.
 *
 *	#  PID   TID  cpu-clock  page-faults
 *	  5237  5244   22609918            1
 */
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/io.h"
#include "base/map.h"
#include "record/perf_abi.h"

struct thread_counts {			/* of one thread */
	uint32_t pid, tid;
	uint64_t *values;		/* per event */
};

struct thread_table {
	struct tacho_perfdata *pd;
	struct { struct thread_counts *v; size_t n, cap; } list;
	struct arena keys;
	struct map by_id;		/* pid and tid -> index */
	size_t n_events;
	struct { bool seen; size_t width; } *columns;	/* per event; unseen ones are left out */
};

static void threads_done(struct thread_table *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		free(t->list.v[i].values);
	vec_done(&t->list);
	map_done(&t->by_id);
	arena_done(&t->keys);
	free(t->columns);
	tacho_perfdata_close(t->pd);
}

static struct thread_counts *counted_of(struct thread_table *t, uint32_t pid, uint32_t tid)
{
	uint32_t id[] = { pid, tid };
	struct str key = str_n((const char *)id, sizeof(id));
	const uint64_t *known = map_get(&t->by_id, key);
	struct thread_counts *c;
	char *copy;

	if (known)
		return &t->list.v[*known];
	copy = arena_str(&t->keys, key);
	c = copy ? vec_add(&t->list) : NULL;
	if (!c)
		return NULL;
	c->pid = pid;
	c->tid = tid;
	c->values = calloc(t->n_events + 1, sizeof(*c->values));
	return c->values && map_put(&t->by_id, str_n(copy, key.n), t->list.n - 1) == 0 ? c : NULL;
}

static size_t event_with(const struct thread_table *t, uint64_t id, size_t otherwise)
{
	for (size_t i = 0; id && i < t->n_events; i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(t->pd, i);

		for (size_t k = 0; k < fe->n_ids; k++)
			if (fe->ids[k] == id)
				return i;
	}
	return otherwise;
}

static int take_read(struct thread_table *t, const struct tacho_record *rec, struct tacho_scratch *scratch)
{
	int event = tacho_perfdata_event_of(t->pd, rec);
	const struct tacho_file_event *fe = event < 0 ? NULL : tacho_perfdata_event(t->pd, (size_t)event);
	struct tacho_sideband other;
	struct thread_counts *c;

	scratch->used = 0;
	if (!fe || tacho_sideband_decode(&other, rec, &fe->layout, scratch) < 0)
		return 0;
	c = counted_of(t, other.read.pid, other.read.tid);
	if (!c)
		return -ENOMEM;
	for (size_t i = 0; i < other.read.read.n; i++) {
		struct tacho_read_value v = tacho_read_get(&other.read.read, i);
		size_t at = event_with(t, v.id, (size_t)event);

		if (at >= t->n_events)
			continue;
		c->values[at] += v.value;
		t->columns[at].seen = true;
	}
	return 0;
}

static int read_all(struct thread_table *t, struct tacho_error *e)
{
	scoped(freep) struct tacho_scratch *scratch = calloc(1, sizeof(*scratch));
	struct tacho_record rec;
	int err = scratch ? 1 : -ENOMEM;

	while (err > 0 && (err = tacho_perfdata_next(t->pd, &rec, e)) > 0)
		if (rec.type == TACHO_RECORD_READ && take_read(t, &rec, scratch) < 0)
			err = -ENOMEM;
	return err == -ENOMEM ? error_nomem(e) : 0;	/* damage was reported when the file was first read */
}

static size_t digits(uint64_t v)
{
	size_t n = 1;

	while (v /= 10)
		n++;
	return n;
}

static void find_widths(struct thread_table *t, size_t *pid, size_t *tid)
{
	*pid = *tid = 3;
	for (size_t k = 0; k < t->n_events; k++)
		t->columns[k].width = strlen(tacho_perfdata_event(t->pd, k)->name);
	for (size_t i = 0; i < t->list.n; i++) {
		const struct thread_counts *c = &t->list.v[i];

		*pid = max_of(*pid, digits(c->pid));
		*tid = max_of(*tid, digits(c->tid));
		for (size_t k = 0; k < t->n_events; k++)
			t->columns[k].width = max_of(t->columns[k].width, digits(c->values[k]));
	}
}

static void put_table(struct thread_table *t, struct buf *out)
{
	size_t pid, tid;

	find_widths(t, &pid, &tid);
	buf_printf(out, "# %*s  %*s", (int)pid, "PID", (int)tid, "TID");
	for (size_t k = 0; k < t->n_events; k++)
		if (t->columns[k].seen)
			buf_printf(out, "  %*s", (int)t->columns[k].width,
				   tacho_perfdata_event(t->pd, k)->name);
	buf_putc(out, '\n');
	for (size_t i = 0; i < t->list.n; i++) {
		const struct thread_counts *c = &t->list.v[i];

		buf_printf(out, "  %*u  %*u", (int)pid, c->pid, (int)tid, c->tid);
		for (size_t k = 0; k < t->n_events; k++)
			if (t->columns[k].seen)
				buf_printf(out, "  %*" PRIu64, (int)t->columns[k].width, c->values[k]);
		buf_putc(out, '\n');
	}
}

/* A recording with -s may have no READ records: all threads are still running, or there is only one. */
static bool was_asked(const struct thread_table *t)
{
	for (size_t i = 0; i < t->n_events; i++) {
		const struct tacho_file_event *fe = tacho_perfdata_event(t->pd, i);
		const struct perf_event_attr *attr = fe->attr;

		if (fe->attr_size >= PERF_ATTR_SIZE_VER0 && (attr->flags & PERF_ATTR_INHERIT_STAT))
			return true;
	}
	return false;
}

int report_threads(const struct report_opts *o, struct tacho_error *e)
{
	scoped(threads_done) struct thread_table t = { 0 };
	scoped(buf_done) struct buf out = { 0 };
	int err;

	if (strcmp(o->input, "-") == 0)
		return error_set(e, -EINVAL, "-T reads the file twice: give it by name");
	err = tacho_perfdata_open(&t.pd, o->input, TACHO_OPTS(tacho_perfdata_opts, .force = o->force), e);
	if (err < 0)
		return err;
	t.n_events = tacho_perfdata_n_events(t.pd);
	t.columns = calloc(t.n_events + 1, sizeof(*t.columns));
	if (!t.columns)
		return error_nomem(e);
	err = read_all(&t, e);
	if (err < 0)
		return err;
	if (!t.list.n && !was_asked(&t))
		return error_set(e, -ENODATA, "-T: no thread's counts were recorded (record -s does)");
	put_table(&t, &out);
	err = buf_failed(&out) ? -ENOMEM : io_write_all(STDOUT_FILENO, out.bytes, out.n);
	return err < 0 && err != -EPIPE ? error_set(e, err, "cannot write to stdout: %s", strerror(-err)) : err;
}
