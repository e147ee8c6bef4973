/*
 * Chrome's trace events: per thread a CPU profile ("Profile" and "ProfileChunk" events), as Chrome's DevTools write it, and
 * the names of processes and threads. speedscope and the Firefox Profiler read it, too. Times are microseconds of the
 * recording's clock.
 */
#include "output/output.h"

#include "base/json.h"
#include "base/vec.h"

#include <errno.h>
#include <stdio.h>

#define CHUNK_SAMPLES 4096u

struct chrome {
	struct output *o;
	struct json j;
	struct thread_rows rows;
	uint32_t *written_for;		/* trie node -> thread + 1 whose profile has it already */
	struct { uint32_t *v; size_t n, cap; } path;
	uint64_t last_us;
};

static const struct tacho_profile_row *row(const struct chrome *w, size_t i)
{
	return &tacho_profile_rows(w->o->p)[w->rows.order[i]];
}

static void begin_event(struct chrome *w, uint32_t thread, const char *name, const char *phase,
			uint64_t us)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, thread);

	json_begin(&w->j, '{');
	json_member(&w->j, "name", str, name);
	json_member(&w->j, "ph", str, phase);
	json_member(&w->j, "pid", u64, t->pid);
	json_member(&w->j, "tid", u64, t->tid);
	json_member(&w->j, "ts", u64, us);
}

static void put_name(struct chrome *w, uint32_t thread, const char *event)
{
	begin_event(w, thread, event, "M", 0);
	json_member(&w->j, "cat", str, "__metadata");
	json_key(&w->j, "args");
	json_begin(&w->j, '{');
	json_member(&w->j, "name", str, tacho_profile_thread(w->o->p, thread)->comm);
	json_end(&w->j);
	json_end(&w->j);
}

static void begin_profile_event(struct chrome *w, uint32_t thread, const char *name, uint64_t us)
{
	char id[16];

	begin_event(w, thread, name, "P", us);
	snprintf(id, sizeof(id), "0x%x", thread + 1);
	json_member(&w->j, "cat", str, "disabled-by-default-v8.cpu_profiler");
	json_member(&w->j, "id", str, id);
	json_key(&w->j, "args");
	json_begin(&w->j, '{');
	json_key(&w->j, "data");
	json_begin(&w->j, '{');
}

static void end_profile_event(struct chrome *w)
{
	for (int i = 0; i < 3; i++)
		json_end(&w->j);
}

/* Chrome's node 1 is the root; node n of the trie is n + 1. */
static void put_node(struct chrome *w, uint32_t node)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->o->p);
	const struct tacho_profile_frame *f =
		node ? tacho_profile_frame(w->o->p, nodes[node].frame) : NULL;

	json_begin(&w->j, '{');
	json_member(&w->j, "id", u64, (uint64_t)node + 1);
	if (node)
		json_member(&w->j, "parent", u64, (uint64_t)nodes[node].parent + 1);
	json_key(&w->j, "callFrame");
	json_begin(&w->j, '{');
	json_key(&w->j, "functionName");
	json_raw(&w->j, "");
	if (f)
		put_label_json(w->j.out, f);
	else
		buf_puts(w->j.out, "\"(root)\"");
	json_member(&w->j, "url", str, !f ? "" : f->code->srcfile ? f->code->srcfile : f->code->object_path);
	json_member(&w->j, "scriptId", u64, f ? f->code->object : 0);
	json_member(&w->j, "lineNumber", i64, f && f->code->srcfile ? (int64_t)f->srcline - 1 : -1);	/* from 0 */
	json_member(&w->j, "columnNumber", i64, -1);
	json_end(&w->j);
	json_end(&w->j);
}

/* Writes the nodes of a stack that are not in this thread's profile yet, callers first. */
static int put_new_nodes(struct chrome *w, uint32_t thread, uint32_t node)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->o->p);

	w->path.n = 0;
	for (; w->written_for[node] != thread + 1; node = nodes[node].parent) {
		uint32_t *slot = vec_add(&w->path);

		if (!slot)
			return -ENOMEM;
		*slot = node;
		w->written_for[node] = thread + 1;
		if (!node)
			break;
	}
	while (w->path.n)
		put_node(w, w->path.v[--w->path.n]);
	return 0;
}

static int put_chunk(struct chrome *w, uint32_t thread, size_t from, size_t to)
{
	uint64_t last = w->last_us;
	int err = 0;

	begin_profile_event(w, thread, "ProfileChunk", row(w, from)->time / 1000);
	json_key(&w->j, "cpuProfile");
	json_begin(&w->j, '{');
	json_key(&w->j, "nodes");
	json_begin(&w->j, '[');
	err = put_new_nodes(w, thread, 0);
	for (size_t i = from; i < to && !err; i++)
		if (row(w, i)->event == w->o->event)
			err = put_new_nodes(w, thread, row(w, i)->node);
	json_end(&w->j);
	json_key(&w->j, "samples");
	json_begin(&w->j, '[');
	for (size_t i = from; i < to; i++)
		if (row(w, i)->event == w->o->event)
			json_u64(&w->j, (uint64_t)row(w, i)->node + 1);
	json_end(&w->j);
	json_end(&w->j);
	json_key(&w->j, "timeDeltas");
	json_begin(&w->j, '[');
	for (size_t i = from; i < to; i++) {
		uint64_t us = row(w, i)->time / 1000;

		if (row(w, i)->event != w->o->event)
			continue;
		json_u64(&w->j, us > last ? us - last : 0);
		last = max_of(us, last);
	}
	json_end(&w->j);
	w->last_us = last;
	end_profile_event(w);
	return err;
}

static int put_thread(struct chrome *w, uint32_t thread)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, thread);
	size_t from = w->rows.start[thread], to = w->rows.start[thread + 1];
	int err = 0;

	while (from < to && row(w, from)->event != w->o->event)
		from++;
	if (from == to)
		return 0;
	if (t->pid == t->tid)
		put_name(w, thread, "process_name");
	put_name(w, thread, "thread_name");
	/* One microsecond before the first sample: readers treat a first timeDelta of 0 as missing. */
	w->last_us = row(w, from)->time / 1000;
	w->last_us -= w->last_us > 0;
	begin_profile_event(w, thread, "Profile", w->last_us);
	json_member(&w->j, "startTime", u64, w->last_us);
	end_profile_event(w);
	for (; from < to && !err && out_flush_full(w->o->out); from += CHUNK_SAMPLES)
		err = put_chunk(w, thread, from, min_of(from + CHUNK_SAMPLES, to));
	return err;
}

static int write_chrome(struct output *o)
{
	struct chrome w = { .o = o, .j = { .out = &o->out->b } };
	int err = rows_need_times(o);	/* a sample lasts until the next one */

	if (err < 0)
		return err;
	err = thread_rows_init(&w.rows, o->p);
	w.written_for = calloc(tacho_profile_n_nodes(o->p) + 1, sizeof(*w.written_for));
	if (!err && !w.written_for)
		err = -ENOMEM;
	if (!err) {
		json_begin(&w.j, '{');
		json_member(&w.j, "displayTimeUnit", str, "ms");
		json_key(&w.j, "traceEvents");
		json_begin(&w.j, '[');
		for (uint32_t i = 0; i < tacho_profile_n_threads(o->p) && !err; i++)
			err = put_thread(&w, i);
		json_end(&w.j);
		json_end(&w.j);
		buf_putc(w.j.out, '\n');
	}
	thread_rows_done(&w.rows);
	free(w.written_for);
	vec_done(&w.path);
	return err;
}

const struct writer chrome_writer = {
	.format = { "chrome", ".trace.json", "Chrome's DevTools, with times", true },
	.write = write_chrome, .wants_time = true,
};
