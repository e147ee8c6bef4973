/*
 * pprof's profile.proto in gzip. The top-level messages may come in any order, so they are written as they are produced, and
 * the string table last, when all strings are known. A location has a line per function: those that were inlined into
 * another one first.
 *
 *	sample -> locations (leaf first) -> lines -> function -> strings
 *	             `-> mapping (object)
 *
 * Values of a sample: the number of samples, then the period of each event that has samples. Labels are those of other
 * perf.data converters: pid, tid, comm, thread_comm, execution_mode, cpu; and those that the caller adds for each process.
 */
#include "output/output.h"

#include "base/arena.h"
#include "base/gzip.h"
#include "base/map.h"
#include "base/protobuf.h"
#include "base/vec.h"

#include <errno.h>

enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION,
       PROFILE_STRING, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_COMMENT,
       PROFILE_DEFAULT_TYPE };

struct pprof {
	struct output *o;
	struct gzip gz;
	struct buf message, part;
	struct arena arena;
	struct map strings;
	struct { const char **v; size_t n, cap; } text;
	struct functions functions;
	struct locations locations;
	bool *location_used;
	uint32_t *process_comm;		/* thread -> the thread whose comm is that of the process */
	int err;
};

/* The index of a string, which must live as long as the writer. */
static uint64_t text_id(struct pprof *w, const char *s)
{
	const uint64_t *there = map_get(&w->strings, str_of(s));
	const char **slot;

	if (there)
		return *there;
	slot = vec_add(&w->text);
	if (!slot || map_put(&w->strings, str_of(s), w->text.n - 1) < 0) {
		w->err = -ENOMEM;
		return 0;
	}
	*slot = s;
	return w->text.n - 1;
}

/* Moves `part` into `message` as a field. */
static void put_part(struct pprof *w, unsigned field)
{
	pb_message(&w->message, field, &w->part);
	buf_clear(&w->part);
}

/* Writes `message` as a field of the profile and clears it. Returns false on an error. */
static bool put_message(struct pprof *w, unsigned field)
{
	struct buf key = { 0 };

	pb_varint(&key, (uint64_t)field << 3 | 2);
	pb_varint(&key, w->message.n);
	gzip_put(&w->gz, key.bytes, key.n);
	gzip_put(&w->gz, w->message.bytes, w->message.n);
	if (buf_failed(&key) || buf_failed(&w->message) || buf_failed(&w->part))
		w->err = -ENOMEM;
	buf_done(&key);
	buf_clear(&w->message);
	return !w->err && out_flush_full(w->o->out);
}

static void value_type(struct pprof *w, unsigned field, const char *type, const char *unit)
{
	pb_u64(&w->message, 1, text_id(w, type));
	pb_u64(&w->message, 2, text_id(w, unit));
	put_message(w, field);
}

static const char *unit_of(const struct pprof *w, uint32_t event)
{
	return strcmp(weight_unit(w->o, event), "ns") == 0 ? "nanoseconds" : "count";
}

static void put_types(struct pprof *w)
{
	size_t n = tacho_profile_n_events(w->o->p);

	value_type(w, PROFILE_SAMPLE_TYPE, "samples", "count");
	for (size_t i = 0; i < n; i++)
		if (tacho_profile_event(w->o->p, i)->samples)
			value_type(w, PROFILE_SAMPLE_TYPE, tacho_profile_event(w->o->p, i)->name,
				   unit_of(w, (uint32_t)i));
}

/* ---- samples ---- */

static void label(struct pprof *w, const char *key, const char *text, uint64_t number)
{
	pb_u64(&w->part, 1, text_id(w, key));
	if (text)
		pb_u64(&w->part, 2, text_id(w, text));
	else
		pb_u64(&w->part, 3, number);
	put_part(w, 3);
}

static void put_process_labels(struct pprof *w, uint32_t pid)
{
	struct tacho_output_attribute own[PROCESS_ATTRIBUTES_MAX];
	size_t n = process_attributes(w->o, pid, own);

	for (size_t i = 0; i < n; i++)
		label(w, own[i].name, own[i].value, 0);
}

static void put_labels(struct pprof *w, const struct tacho_profile_row *r)
{
	static const char *const modes[] = { NULL,	   "Host Kernel",  "Host User",
					     "Hypervisor", "Guest Kernel", "Guest User" };
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, r->thread);
	uint32_t main = w->process_comm[r->thread];
	enum tacho_space space = TACHO_SPACE_UNKNOWN;

	if (r->node)
		space = tacho_profile_frame(w->o->p, tacho_profile_nodes(w->o->p)[r->node].frame)
				->space;
	label(w, "comm", tacho_profile_thread(w->o->p, main)->comm, 0);
	put_process_labels(w, t->pid);
	if (w->o->opts->no_threads)
		return;
	label(w, "pid", NULL, t->pid);
	label(w, "tid", NULL, t->tid);
	label(w, "thread_comm", t->comm, 0);
	if (space < countof(modes) && modes[space])
		label(w, "execution_mode", modes[space], 0);
	if (r->cpu >= 0)
		label(w, "cpu", NULL, (uint64_t)r->cpu);
}

static bool put_sample(struct pprof *w, const struct tacho_profile_row *r)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->o->p);
	size_t n = tacho_profile_n_events(w->o->p);

	for (uint32_t at = r->node; at; at = nodes[w->locations.outermost[at]].parent) {
		pb_varint(&w->part, w->locations.of_node[at]);
		w->location_used[w->locations.of_node[at]] = true;
	}
	put_part(w, 1);
	pb_varint(&w->part, r->samples);
	for (size_t i = 0; i < n; i++)
		if (tacho_profile_event(w->o->p, i)->samples)
			pb_varint(&w->part, i == r->event ? r->period : 0);
	put_part(w, 2);
	put_labels(w, r);
	return put_message(w, PROFILE_SAMPLE);
}

/* ---- locations, functions, mappings ---- */

static void put_line(struct pprof *w, uint32_t frame)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(w->o->p, frame);

	pb_u64(&w->part, 1, (uint64_t)w->functions.of_frame[frame] + 1);
	if (f->code->srcfile)
		pb_u64(&w->part, 2, f->srcline);
	put_part(w, 4);
}

static bool put_location(struct pprof *w, uint32_t id)
{
	const struct tacho_profile_frame *f =
		tacho_profile_frame(w->o->p, location_function_frame(&w->locations, id));

	pb_u64(&w->message, 1, id);
	pb_u64(&w->message, 2, f->code->object);
	pb_u64(&w->message, 3, f->address);
	for (uint32_t at = id; at; at = w->locations.v[at].outer)
		put_line(w, w->locations.v[at].frame);
	return put_message(w, PROFILE_LOCATION);
}

static bool put_function(struct pprof *w, uint32_t id)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(w->o->p, w->functions.first[id]);
	struct buf name = { 0 };
	char *text;

	put_label(&name, f);
	text = buf_failed(&name) ? NULL : arena_str(&w->arena, buf_view(&name));
	buf_done(&name);
	if (!text) {
		w->err = -ENOMEM;
		return false;
	}
	pb_u64(&w->message, 1, (uint64_t)id + 1);
	pb_u64(&w->message, 2, text_id(w, text));
	pb_u64(&w->message, 3, text_id(w, text));
	if (f->code->srcfile)
		pb_u64(&w->message, 4, text_id(w, f->code->srcfile));
	return put_message(w, PROFILE_FUNCTION);
}

static const char *build_id_text(struct pprof *w, const struct tacho_profile_object *ob)
{
	scoped(buf_done) struct buf hex = { 0 };

	put_build_id(&hex, ob);
	return buf_failed(&hex) ? NULL : arena_str(&w->arena, buf_view(&hex));
}

/* What is known of an object's code, so that pprof need not look it up. */
struct known_of_object { bool functions, files, inlined; };

static struct known_of_object *find_known(const struct pprof *w)
{
	struct known_of_object *known = calloc(tacho_profile_n_objects(w->o->p) + 1, sizeof(*known));

	for (size_t i = 0; known && i < tacho_profile_n_frames(w->o->p); i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(w->o->p, i);
		struct known_of_object *k = &known[f->code->object];

		k->functions |= f->known;
		k->files |= f->code->srcfile != NULL;
		k->inlined |= f->inlined;
	}
	return known;
}

/* The mapping of an object spans the pages of its frames, in the object's own addresses. */
static bool put_mapping(struct pprof *w, uint32_t id, const struct address_span *s, const struct known_of_object *k)
{
	const struct tacho_profile_object *ob = tacho_profile_object(w->o->p, id);
	const char *build_id = build_id_text(w, ob);

	if (!build_id) {
		w->err = -ENOMEM;
		return false;
	}
	pb_u64(&w->message, 1, id);
	pb_u64(&w->message, 2, s->from);
	pb_u64(&w->message, 3, s->to);
	pb_u64(&w->message, 4, s->from);
	pb_u64(&w->message, 5, text_id(w, ob->path));
	pb_u64(&w->message, 6, text_id(w, build_id));
	pb_u64(&w->message, 7, k->functions);
	pb_u64(&w->message, 8, k->files);
	pb_u64(&w->message, 9, k->files);		/* line numbers */
	pb_u64(&w->message, 10, k->inlined);
	return put_message(w, PROFILE_MAPPING);
}

static bool put_mappings(struct pprof *w)
{
	size_t n = tacho_profile_n_objects(w->o->p);
	scoped(freep) struct address_span *spans = object_spans(w->o->p);
	scoped(freep) struct known_of_object *known = find_known(w);

	if (!spans || !known) {
		w->err = -ENOMEM;
		return false;
	}
	for (size_t i = 1; i < n; i++)		/* mapping id 0 means none */
		if (spans[i].to && !put_mapping(w, (uint32_t)i, &spans[i], &known[i]))
			return false;
	return true;
}

/* ---- the complete profile ---- */

/* Per thread, the thread that names its process: the one whose tid is the pid, else itself. */
static int find_processes(struct pprof *w)
{
	size_t n = tacho_profile_n_threads(w->o->p);
	uint32_t max_pid = 0;
	scoped(freep) uint32_t *main_of = NULL;

	w->process_comm = calloc(n + 1, sizeof(*w->process_comm));
	for (size_t i = 0; i < n; i++)
		max_pid = max_of(max_pid, tacho_profile_thread(w->o->p, i)->pid < (1u << 24) ?
			      tacho_profile_thread(w->o->p, i)->pid : 0);
	main_of = calloc((size_t)max_pid + 1, sizeof(*main_of));
	if (!w->process_comm || !main_of)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, i);

		if (t->pid == t->tid && t->pid <= max_pid)
			main_of[t->pid] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t pid = tacho_profile_thread(w->o->p, i)->pid;

		w->process_comm[i] = pid <= max_pid && main_of[pid] ? main_of[pid] - 1 : (uint32_t)i;
	}
	return 0;
}

static bool put_tables(struct pprof *w)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(w->o->p);

	put_types(w);
	for (size_t i = 0; i < tacho_profile_n_rows(w->o->p); i++)
		if (!put_sample(w, &rows[i]))
			return false;
	for (size_t i = 1; i <= w->locations.n; i++)
		if (w->location_used[i] && !put_location(w, (uint32_t)i))
			return false;
	for (size_t i = 0; i < w->functions.n; i++)
		if (!put_function(w, (uint32_t)i))
			return false;
	return put_mappings(w);
}

/* Writes a numeric field of the profile. */
static void put_number(struct pprof *w, unsigned field, uint64_t v)
{
	pb_u64(&w->part, field, v);
	gzip_put(&w->gz, w->part.bytes, w->part.n);
	buf_clear(&w->part);
}

static void put_profile_fields(struct pprof *w)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };

	tacho_profile_quality(w->o->p, &q);
	if (q.last_s > q.first_s && q.last_s - q.first_s < 1e9)		/* more seconds only in a damaged file */
		put_number(w, PROFILE_DURATION, (uint64_t)((q.last_s - q.first_s) * 1e9));
	put_number(w, PROFILE_DEFAULT_TYPE,
		   text_id(w, tacho_profile_event(w->o->p, w->o->event)->name));
	if (w->o->opts->title)
		put_number(w, PROFILE_COMMENT, text_id(w, w->o->opts->title));
	for (size_t i = 0; i < w->text.n; i++) {
		buf_puts(&w->message, w->text.v[i]);
		if (!put_message(w, PROFILE_STRING))
			return;
	}
}

static int write_pprof(struct output *o)
{
	struct pprof w = { .o = o, .gz = { .out = &o->out->b } };

	text_id(&w, "");		/* string 0 must be empty */
	w.err = w.err ? w.err : find_processes(&w);
	w.err = w.err ? w.err : functions_init(&w.functions, o->p);
	w.err = w.err ? w.err : locations_init(&w.locations, o->p);
	w.location_used = calloc(w.locations.n + 1, sizeof(*w.location_used));
	if (!w.location_used)
		w.err = -ENOMEM;
	if (!w.err && put_tables(&w))
		put_profile_fields(&w);
	gzip_finish(&w.gz);
	buf_done(&w.message);
	buf_done(&w.part);
	arena_done(&w.arena);
	map_done(&w.strings);
	vec_done(&w.text);
	free(w.process_comm);
	free(w.location_used);
	functions_done(&w.functions);
	locations_done(&w.locations);
	return w.err;
}

const struct writer pprof_writer = {
	.format = { "pprof", ".pb.gz", "pprof: go tool pprof, Pyroscope, Parca, speedscope", false },
	.write = write_pprof,
};
