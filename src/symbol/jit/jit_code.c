/*
 * The times in a dump are those of CLOCK_MONOTONIC. If the recording has another clock, the time at which the dump was
 * mapped connects the two, because writers map it before they write the first function. Dumps without usable times
 * (processes that ran before the recording, or times of a CPU's counter) are applied at once: of several functions
 * that used the same memory the last one is shown.
 */
#include "symbol/jit/jit_code.h"

#include "symbol/jit/jit_dump.h"
#include "symbol/jit/jit_files.h"

#include "base/clock.h"
#include "base/vec.h"

#include <errno.h>

#define REFRESH_MS 200
#define NEAR_NS 60000000000		/* times that are closer belong to the same clock */
#define HEADER_NEAR_NS 10000000000

static struct interval interval_of(const struct jit_event *ev, uint32_t object)
{
	return (struct interval){ ev->addr, ev->addr + (ev->size - 1), ev->addr - ev->offset, object };
}

static bool is_near(uint64_t a, uint64_t b, uint64_t ns)
{
	return (a > b ? a - b : b - a) < ns;
}

/* Finds out how the dump's times relate to those of the recording. */
static void set_clock(const struct jit_code *j, const struct jit_dump *d, const struct jit_mapping *m,
		      struct jit_timeline *t)
{
	uint64_t start = is_near(d->reader.time, d->first_time, HEADER_NEAR_NS) ? d->reader.time : d->first_time;
	bool same_clock = j->monotonic && (!m->time || is_near(start, m->time, NEAR_NS));

	/* Some writers set the flag although their times are those of CLOCK_MONOTONIC. */
	t->timed = same_clock && (m->time || !(d->reader.flags & JITDUMP_ARCH_TIMESTAMP));
	if (!t->timed && m->time && !(d->reader.flags & JITDUMP_ARCH_TIMESTAMP)) {
		t->timed = true;
		t->shift_ns = (int64_t)(m->time - start);
	}
}

static int add_fixed(struct process *proc, const struct jit_dump *d, uint32_t object)
{
	struct interval *all = calloc(d->events.n ? d->events.n : 1, sizeof(*all));
	size_t n = 0;
	int err;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < d->events.n; i++)
		if (d->events.v[i].fixed)
			all[n++] = interval_of(&d->events.v[i], object);
	err = maps_add_all(&proc->jit, all, n);
	free(all);
	return err == -ENOMEM ? err : 0;
}

/* Applies the events of one dump up to `time`. 1: the maps have changed, 0, or -ENOMEM. */
static int apply(struct jit_timeline *t, struct process *proc, const struct jit_dump *d, uint64_t time)
{
	int changed = 0;

	for (; t->next < d->events.n; t->next++) {
		const struct jit_event *ev = &d->events.v[t->next];

		if (t->timed && ev->time + (uint64_t)t->shift_ns > time)
			break;
		if (ev->fixed)
			continue;
		if (maps_insert_function(&proc->jit, interval_of(ev, t->object)) == -ENOMEM)
			return -ENOMEM;
		changed = 1;
	}
	return changed;
}

static void update_next(struct jit_code *j, const struct objects *objects)
{
	j->next_ns = UINT64_MAX;
	for (size_t i = 0; i < j->timelines.n; i++) {
		struct jit_timeline *t = &j->timelines.v[i];
		const struct jit_dump *d = objects_at(objects, t->object)->jit;

		while (t->next < d->events.n && d->events.v[t->next].fixed)
			t->next++;
		if (t->next < d->events.n)
			j->next_ns = min_of(j->next_ns, d->events.v[t->next].time + (uint64_t)t->shift_ns);
	}
}

int jit_code_advance(struct jit_code *j, struct processes *p, const struct objects *objects, uint64_t time)
{
	for (size_t i = 0; i < j->timelines.n; i++) {
		struct jit_timeline *t = &j->timelines.v[i];
		struct process *proc = process_find(p, t->pid);
		int changed;

		if (!proc || !proc->jit) {	/* it has ended, or runs another program */
			*t = j->timelines.v[--j->timelines.n];
			i--;
			continue;
		}
		changed = apply(t, proc, objects_at(objects, t->object)->jit, time);
		if (changed < 0 || (changed && maps_touch(&proc->maps) < 0))
			return -ENOMEM;
	}
	update_next(j, objects);
	return 0;
}

/* Opens the dump of an object that is seen for the first time. 0 or -ENOMEM. */
static int open_dump(struct object *obj, const struct symbol_search *search)
{
	scoped(buf_done) struct buf path = { 0 };
	int err = jit_dump_path(obj, search, &path);

	obj->loaded = obj->lines_read = true;
	obj->symbol_source = 'j';
	if (err < 0)
		return err;
	obj->jit = calloc(1, sizeof(*obj->jit));
	if (!obj->jit)
		return -ENOMEM;
	err = jit_dump_open(obj->jit, path.bytes, jit_process_owner(obj->pid, search), search->force);
	if (err >= 0)
		err = jit_dump_read(obj->jit, &obj->table);
	obj->lines = &obj->jit->lines;
	if (err == -EPERM)
		obj->why = "it belongs to another user (--force reads it)";
	else if (err < 0)
		obj->why = err == -ENOENT ? "no such file" : "it could not be read";
	else if (!obj->table.n)
		obj->why = "it has no functions";
	return err == -ENOMEM ? err : 0;
}

static struct jit_timeline *find_timeline(const struct jit_code *j, uint32_t pid, uint32_t object)
{
	for (size_t i = 0; i < j->timelines.n; i++)
		if (j->timelines.v[i].pid == pid && j->timelines.v[i].object == object)
			return &j->timelines.v[i];
	return NULL;
}

int jit_code_mapped(struct jit_code *j, struct processes *p, struct object *dump, const struct symbol_search *search,
		    const struct jit_mapping *mapping)
{
	struct process *proc = process_get(p, mapping->pid);
	struct jit_timeline *t;
	int err = 0;

	if (!proc)
		return -ENOMEM;
	if (find_timeline(j, mapping->pid, dump->id) && proc->jit)
		return 0;
	if (!dump->loaded)
		err = open_dump(dump, search);
	if (err < 0 || !dump->jit || dump->jit->reader.fd < 0)
		return err;
	if (!proc->jit)
		proc->jit = maps_new();
	t = proc->jit ? vec_add(&j->timelines) : NULL;
	if (!t)
		return -ENOMEM;
	*t = (struct jit_timeline){ .pid = mapping->pid, .object = dump->id };
	if (!search->live)
		set_clock(j, dump->jit, mapping, t);
	err = add_fixed(proc, dump->jit, dump->id);
	if (err == 0)
		err = min_of(apply(t, proc, dump->jit, mapping->time), 0);
	if (err == 0)
		err = maps_touch(&proc->maps);
	if (err == 0 && t->next < dump->jit->events.n)
		j->next_ns = min_of(j->next_ns, dump->jit->events.v[t->next].time + (uint64_t)t->shift_ns);
	return err;
}

int jit_code_refresh(struct jit_code *j, struct processes *p, const struct objects *objects, uint32_t pid)
{
	int64_t now = (int64_t)(clock_mono_ns() / 1000000);
	struct process *proc = process_find(p, pid);

	for (size_t i = 0; i < j->timelines.n && proc && proc->jit; i++) {
		struct jit_timeline *t = &j->timelines.v[i];
		struct object *obj = objects_at(objects, t->object);
		int changed;

		if (t->pid != pid)
			continue;
		if (now - obj->read_ms >= REFRESH_MS) {
			obj->read_ms = now;
			if (jit_dump_read(obj->jit, &obj->table) == -ENOMEM)
				return -ENOMEM;
		}
		changed = apply(t, proc, obj->jit, UINT64_MAX);
		if (changed < 0 || (changed && maps_touch(&proc->maps) < 0))
			return -ENOMEM;
	}
	return 0;
}

void jit_code_done(struct jit_code *j)
{
	vec_done(&j->timelines);
}
