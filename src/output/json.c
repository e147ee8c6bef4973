/*
 * The profile as JSON, schema "tacho.profile/1": all of its tables with their ids, for scripts. Rows of the
 * long tables are arrays; the member "columns" has the names of their columns.
 */
#include "base/json.h"

#include "output/output.h"

static void begin_table(struct json *j, const char *name, const char *const *columns, size_t n)
{
	json_key(j, name);
	json_begin(j, '{');
	json_key(j, "columns");
	json_begin(j, '[');
	for (size_t i = 0; i < n; i++)
		json_str(j, columns[i]);
	json_end(j);
	json_key(j, "rows");
	json_begin(j, '[');
}

static void end_table(struct json *j)
{
	json_end(j);
	json_end(j);
}

#define BEGIN_TABLE(j, name, ...)                                                                  \
	begin_table(j, name, (const char *const[]){ __VA_ARGS__ },                                 \
		    countof(((const char *const[]){ __VA_ARGS__ })))

static void put_events(struct json *j, const struct output *o)
{
	json_key(j, "events");
	json_begin(j, '[');
	for (size_t i = 0; i < tacho_profile_n_events(o->p); i++) {
		const struct tacho_profile_event *ev = tacho_profile_event(o->p, i);

		json_begin(j, '{');
		json_member(j, "name", str, ev->name);
		json_member(j, "samples", u64, ev->samples);
		json_member(j, "period", u64, ev->period);
		json_member(j, "unit", str, weight_unit(o, (uint32_t)i));
		json_end(j);
	}
	json_end(j);
}

static void put_objects(struct json *j, const struct output *o)
{
	json_key(j, "objects");
	json_begin(j, '[');
	for (size_t i = 0; i < tacho_profile_n_objects(o->p); i++) {
		const struct tacho_profile_object *ob = tacho_profile_object(o->p, i);
		scoped(buf_done) struct buf id = { 0 };

		put_build_id(&id, ob);
		j->out->bad |= id.bad;
		json_begin(j, '{');
		json_member(j, "path", str, ob->path);
		json_member(j, "build_id", str, id.n ? id.bytes : NULL);
		json_member(j, "kernel", bool, ob->kernel);
		json_end(j);
	}
	json_end(j);
}

static void put_threads(struct json *j, const struct output *o)
{
	BEGIN_TABLE(j, "threads", "pid", "tid", "comm");
	for (size_t i = 0; i < tacho_profile_n_threads(o->p) && out_flush_full(o->out); i++) {
		const struct tacho_profile_thread *t = tacho_profile_thread(o->p, i);

		json_begin(j, '[');
		json_u64(j, t->pid);
		json_u64(j, t->tid);
		json_str(j, t->comm);
		json_end(j);
	}
	end_table(j);
}

static void put_frames(struct json *j, const struct output *o)
{
	BEGIN_TABLE(j, "frames", "name", "object", "address", "kind", "file", "line");
	for (size_t i = 0; i < tacho_profile_n_frames(o->p) && out_flush_full(o->out); i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(o->p, i);

		json_begin(j, '[');
		json_str(j, f->known ? f->code->name : NULL);
		json_u64(j, f->code->object);
		json_u64(j, f->address);
		json_str(j, kind_names[kind_of(f)]);
		json_str(j, f->code->srcfile);
		if (f->code->srcfile)
			json_u64(j, f->srcline);
		else
			json_null(j);
		json_end(j);
	}
	end_table(j);
}

/* Stack 0 is empty; every other stack consists of the stack of its callers and a frame. */
static void put_stacks(struct json *j, const struct output *o)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(o->p);

	BEGIN_TABLE(j, "stacks", "callers", "frame");
	for (size_t i = 0; i < tacho_profile_n_nodes(o->p) && out_flush_full(o->out); i++) {
		json_begin(j, '[');
		if (i) {
			json_u64(j, nodes[i].parent);
			json_u64(j, nodes[i].frame);
		} else {
			json_null(j);
			json_null(j);
		}
		json_end(j);
	}
	end_table(j);
}

static void put_rows(struct json *j, const struct output *o)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);

	BEGIN_TABLE(j, "samples", "event", "thread", "stack", "samples", "period");
	for (size_t i = 0; i < tacho_profile_n_rows(o->p) && out_flush_full(o->out); i++) {
		json_begin(j, '[');
		json_u64(j, rows[i].event);
		json_u64(j, rows[i].thread);
		json_u64(j, rows[i].node);
		json_u64(j, rows[i].samples);
		json_u64(j, rows[i].period);
		json_end(j);
	}
	end_table(j);
}

static int write_json(struct output *o)
{
	scoped(freep) char *quality = tacho_profile_quality_json(o->p);
	struct json j = { .out = &o->out->b };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.profile/1");
	json_member(&j, "version", str, TACHO_VERSION);
	json_member(&j, "title", str, o->opts->title);
	put_events(&j, o);
	json_member(&j, "quality", raw, quality);
	put_objects(&j, o);
	put_threads(&j, o);
	put_frames(&j, o);
	put_stacks(&j, o);
	put_rows(&j, o);
	json_end(&j);
	buf_puts(j.out, "\n");
	return 0;
}

const struct writer json_writer = {
	.format = { "json", ".json", "all tables of the profile, for scripts", false },
	.write = write_json,
};
