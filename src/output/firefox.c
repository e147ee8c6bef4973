/*
 * The processed profile format of the Firefox Profiler, version 66, with all symbols. Strings, frames, functions and stacks
 * are shared by all threads; newer viewers upgrade the format while loading. Its stack table is a trie like the profile's,
 * but without the empty stack: node n is stack n - 1.
 *
 * The format has one kind of sample, so it holds one event: per thread its samples in the order of time, with weights.
 */
#include "output/output.h"

#include "base/json.h"

#include <errno.h>
#include <stdio.h>

enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT };

struct firefox {
	struct output *o;
	struct json j;
	struct thread_rows rows;
	uint64_t first_ns;
	struct functions functions;
	size_t n_frames, n_objects;
	uint32_t *inline_depth;		/* frame -> how many functions it is inlined into */
};

/* Writes a column of equal values. */
static void fill_column(struct firefox *w, const char *key, const char *value, size_t n)
{
	json_key(&w->j, key);
	json_begin(&w->j, '[');
	for (size_t i = 0; i < n && out_flush_full(w->o->out); i++)
		json_raw(&w->j, value);
	json_end(&w->j);
}

#define COLUMN(w, key, n, expression)                                                              \
	do {                                                                                       \
		json_key(&(w)->j, key);                                                            \
		json_begin(&(w)->j, '[');                                                          \
		for (size_t i = 0; i < (n) && out_flush_full((w)->o->out); i++)                         \
			expression;                                                                \
		json_end(&(w)->j);                                                                 \
	} while (0)

static const struct tacho_profile_frame *frame(const struct firefox *w, size_t i)
{
	return tacho_profile_frame(w->o->p, i);
}

static const struct tacho_profile_frame *function_frame(const struct firefox *w, size_t function)
{
	return frame(w, w->functions.first[function]);
}

static void number_or_null(struct json *j, bool known, uint64_t v)
{
	if (known)
		json_u64(j, v);
	else
		json_null(j);
}

static void put_categories(struct json *j)
{
	static const struct { const char *name, *color; } list[] = {
		[CATEGORY_OTHER] = { "Other", "grey" }, [CATEGORY_USER] = { "User", "yellow" },
		[CATEGORY_KERNEL] = { "Kernel", "orange" }, [CATEGORY_JIT] = { "JIT", "green" },
	};

	json_key(j, "categories");
	json_begin(j, '[');
	for (size_t i = 0; i < countof(list); i++) {
		json_begin(j, '{');
		json_member(j, "name", str, list[i].name);
		json_member(j, "color", str, list[i].color);
		json_member(j, "subcategories", raw, "[\"Other\"]");
		json_end(j);
	}
	json_end(j);
}

static uint64_t category(const struct tacho_profile_frame *f)
{
	switch (kind_of(f)) {
	case KIND_KERNEL: return CATEGORY_KERNEL;
	case KIND_JAVASCRIPT:
	case KIND_JAVA:
	case KIND_PYTHON:
	case KIND_JIT: return CATEGORY_JIT;
	case KIND_UNKNOWN: return CATEGORY_OTHER;
	default: return CATEGORY_USER;
	}
}

static void put_meta(struct firefox *w)
{
	const struct tacho_profile_event *ev = tacho_profile_event(w->o->p, w->o->event);
	struct tacho_profile_quality q = { .size = sizeof(q) };
	struct json *j = &w->j;

	tacho_profile_quality(w->o->p, &q);
	json_key(j, "meta");
	json_begin(j, '{');
	json_member(j, "version", u64, 24);
	json_member(j, "preprocessedProfileVersion", u64, 66);
	json_member(j, "interval", double,
		    ev->samples ? 1e3 * (q.last_s - q.first_s) / (double)ev->samples : 1);
	json_member(j, "startTime", u64, 0);
	json_member(j, "processType", u64, 0);
	json_member(j, "stackwalk", u64, 1);
	json_member(j, "debug", bool, false);
	json_member(j, "product", str, w->o->opts->title ? w->o->opts->title : ev->name);
	json_member(j, "importedFrom", str, "tacho " TACHO_VERSION);
	json_member(j, "platform", str, "Linux");
	json_member(j, "symbolicated", bool, true);
	json_member(j, "usesOnlyOneStackType", bool, true);
	json_member(j, "sourceCodeIsNotOnSearchfox", bool, true);
	json_member(j, "markerSchema", raw, "[]");
	put_categories(j);
	json_end(j);
}

static void put_breakpad_id(struct json *j, const struct tacho_profile_object *ob)
{
	char id[34] = "";

	/* The first 16 bytes as a GUID, whose first three parts are little-endian, and an age. */
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; ob->n_build_id && i < 16; i++) {
		uint8_t byte = order[i] < ob->n_build_id ? ob->build_id[order[i]] : 0;

		id[2 * i] = "0123456789ABCDEF"[byte >> 4];
		id[2 * i + 1] = "0123456789ABCDEF"[byte & 15];
		id[32] = '0';
	}
	json_member(j, "breakpadId", str, id);
}

static void put_libs(struct firefox *w)
{
	struct json *j = &w->j;

	json_key(j, "libs");
	json_begin(j, '[');
	for (size_t i = 0; i < w->n_objects; i++) {
		const struct tacho_profile_object *ob = tacho_profile_object(w->o->p, i);

		json_begin(j, '{');
		json_member(j, "name", str, ob->name);
		json_member(j, "path", str, ob->path);
		json_member(j, "debugName", str, ob->name);
		json_member(j, "debugPath", str, ob->path);
		put_breakpad_id(j, ob);
		json_member(j, "codeId", raw, "null");
		json_member(j, "arch", raw, "null");
		json_end(j);
	}
	json_end(j);
}

/* The labels of the functions, then the names of the objects, then the paths of the source files. */
static void put_strings(struct firefox *w)
{
	json_key(&w->j, "stringArray");
	json_begin(&w->j, '[');
	for (size_t i = 0; i < w->functions.n && out_flush_full(w->o->out); i++) {
		json_raw(&w->j, "");
		put_label_json(w->j.out, function_frame(w, i));
	}
	for (size_t i = 0; i < w->n_objects; i++)
		json_str(&w->j, tacho_profile_object(w->o->p, i)->name);
	for (size_t i = 0; i < w->functions.n_sources && out_flush_full(w->o->out); i++)
		json_str(&w->j, w->functions.sources[i]);
	json_end(&w->j);
}

static void put_frame_table(struct firefox *w)
{
	size_t n = w->n_frames;

	json_key(&w->j, "frameTable");
	json_begin(&w->j, '{');
	json_member(&w->j, "length", u64, n);
	fill_column(w, "address", "-1", n);	/* the viewer need not look up symbols */
	COLUMN(w, "inlineDepth", n, json_u64(&w->j, w->inline_depth[i]));
	COLUMN(w, "category", n, json_u64(&w->j, category(frame(w, i))));
	fill_column(w, "subcategory", "0", n);
	COLUMN(w, "func", n, json_u64(&w->j, w->functions.of_frame[i]));
	fill_column(w, "nativeSymbol", "null", n);
	fill_column(w, "innerWindowID", "0", n);
	COLUMN(w, "line", n, number_or_null(&w->j, frame(w, i)->code->srcfile != NULL, frame(w, i)->srcline));
	fill_column(w, "column", "null", n);
	fill_column(w, "originalLocation", "null", n);
	json_end(&w->j);
}

static void put_func_table(struct firefox *w)
{
	size_t n = w->functions.n;

	json_key(&w->j, "funcTable");
	json_begin(&w->j, '{');
	json_member(&w->j, "length", u64, n);
	COLUMN(w, "name", n, json_u64(&w->j, i));
	fill_column(w, "isJS", "false", n);
	fill_column(w, "relevantForJS", "false", n);
	COLUMN(w, "resource", n, json_u64(&w->j, function_frame(w, i)->code->object));
	COLUMN(w, "source", n,
	       number_or_null(&w->j, w->functions.source[i] != 0, (uint64_t)w->functions.source[i] - 1));
	fill_column(w, "lineNumber", "null", n);
	fill_column(w, "columnNumber", "null", n);
	fill_column(w, "originalLocation", "null", n);
	json_end(&w->j);
}

static void put_resources(struct firefox *w)
{
	size_t n = w->n_objects;

	json_key(&w->j, "resourceTable");
	json_begin(&w->j, '{');
	json_member(&w->j, "length", u64, n);
	COLUMN(w, "lib", n, json_u64(&w->j, i));
	COLUMN(w, "name", n, json_u64(&w->j, w->functions.n + i));
	fill_column(w, "host", "null", n);
	fill_column(w, "type", "1", n);		/* a library */
	json_end(&w->j);
}

static void put_sources(struct firefox *w)
{
	size_t n = w->functions.n_sources;

	json_key(&w->j, "sources");
	json_begin(&w->j, '{');
	json_member(&w->j, "length", u64, n);
	fill_column(w, "id", "null", n);
	fill_column(w, "uuid", "null", n);
	COLUMN(w, "filename", n, json_u64(&w->j, w->functions.n + w->n_objects + i));
	fill_column(w, "startLine", "1", n);
	fill_column(w, "startColumn", "1", n);
	fill_column(w, "sourceMapURL", "null", n);
	fill_column(w, "content", "null", n);
	json_end(&w->j);
}

static void put_stack_table(struct firefox *w)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->o->p);
	size_t n = tacho_profile_n_nodes(w->o->p) - 1;

	json_key(&w->j, "stackTable");
	json_begin(&w->j, '{');
	json_member(&w->j, "length", u64, n);
	COLUMN(w, "frame", n, json_u64(&w->j, nodes[i + 1].frame));
	/* The distance to the caller's stack; 0: no caller. */
	COLUMN(w, "prefixOffset", n,
	       json_u64(&w->j, nodes[i + 1].parent ? i + 1 - nodes[i + 1].parent : 0));
	json_end(&w->j);
}

static void put_shared(struct firefox *w)
{
	json_key(&w->j, "shared");
	json_begin(&w->j, '{');
	put_stack_table(w);
	put_frame_table(w);
	put_func_table(w);
	put_resources(w);
	json_member(&w->j, "nativeSymbols", raw,
		    "{\"length\": 0, \"libIndex\": [], \"address\": [], \"name\": [], "
		    "\"functionSize\": []}");
	put_sources(w);
	put_strings(w);
	json_end(&w->j);
}

/* ---- threads ---- */

static const struct tacho_profile_row *row(const struct firefox *w, size_t i)
{
	return &tacho_profile_rows(w->o->p)[w->rows.order[i]];
}

/* Milliseconds since the first sample, to the nanosecond. */
static void put_ms(struct firefox *w, uint64_t time)
{
	uint64_t ns = time > w->first_ns ? time - w->first_ns : 0;
	char digits[7] = ".000000";

	for (size_t i = 6, part = ns % 1000000; i > 0; i--, part /= 10)
		digits[i] = (char)('0' + part % 10);
	json_u64(&w->j, ns / 1000000);
	buf_put(w->j.out, digits, sizeof(digits));
}

#define SAMPLES(w, key, from, to, expression)                                                      \
	do {                                                                                       \
		json_key(&(w)->j, key);                                                            \
		json_begin(&(w)->j, '[');                                                          \
		for (size_t i = from; i < (to) && out_flush_full((w)->o->out); i++)                     \
			if (row(w, i)->event == (w)->o->event)                                     \
				expression;                                                        \
		json_end(&(w)->j);                                                                 \
	} while (0)

static void put_samples(struct firefox *w, size_t from, size_t to, size_t n)
{
	json_key(&w->j, "samples");
	json_begin(&w->j, '{');
	json_member(&w->j, "length", u64, n);
	SAMPLES(w, "stack", from, to, row(w, i)->node ? json_u64(&w->j, row(w, i)->node - 1) :
							json_null(&w->j));
	SAMPLES(w, "time", from, to, put_ms(w, row(w, i)->time));
	SAMPLES(w, "weight", from, to, json_u64(&w->j, row_weight(w->o, row(w, i))));
	json_member(&w->j, "weightType", str, "samples");
	json_end(&w->j);
}

static void put_thread(struct firefox *w, uint32_t thread)
{
	const struct tacho_profile_thread *t = tacho_profile_thread(w->o->p, thread);
	size_t from = w->rows.start[thread], to = w->rows.start[thread + 1], n = 0;
	char pid[16];

	for (size_t i = from; i < to; i++)
		n += row(w, i)->event == w->o->event;
	if (!n)
		return;
	snprintf(pid, sizeof(pid), "%u", t->pid);
	json_begin(&w->j, '{');
	json_member(&w->j, "processType", str, "default");
	json_member(&w->j, "processStartupTime", u64, 0);
	json_member(&w->j, "processShutdownTime", raw, "null");
	json_member(&w->j, "registerTime", u64, 0);
	json_member(&w->j, "unregisterTime", raw, "null");
	json_member(&w->j, "pausedRanges", raw, "[]");
	json_member(&w->j, "name", str, t->comm);
	json_member(&w->j, "processName", str, t->comm);
	json_member(&w->j, "isMainThread", bool, t->pid == t->tid);
	json_member(&w->j, "pid", str, pid);
	json_member(&w->j, "tid", u64, t->tid);
	json_member(&w->j, "markers", raw,
		    "{\"length\": 0, \"data\": [], \"name\": [], \"startTime\": [], "
		    "\"endTime\": [], \"phase\": [], \"category\": []}");
	put_samples(w, from, to, n);
	json_end(&w->j);
}

/* A function may be inlined at different depths; its frame has the smallest. Parents have smaller ids than their children. */
static int find_inline_depths(struct firefox *w)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->o->p);
	size_t n = tacho_profile_n_nodes(w->o->p);
	scoped(freep) uint32_t *depth = calloc(n, sizeof(*depth));

	w->inline_depth = calloc(w->n_frames + 1, sizeof(*w->inline_depth));
	if (!depth || !w->inline_depth)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++) {
		uint32_t *of_frame = &w->inline_depth[nodes[i].frame];

		if (!frame(w, nodes[i].frame)->inlined || !nodes[i].parent)
			continue;
		depth[i] = depth[nodes[i].parent] + 1;
		*of_frame = *of_frame ? min_of(*of_frame, depth[i]) : depth[i];
	}
	return 0;
}

static int write_firefox(struct output *o)
{
	struct firefox w = { .o = o, .j = { .out = &o->out->b }, .first_ns = UINT64_MAX,
			     .n_frames = tacho_profile_n_frames(o->p),
			     .n_objects = tacho_profile_n_objects(o->p) };
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);
	int err = thread_rows_init(&w.rows, o->p);

	if (err)
		return err;
	err = functions_init(&w.functions, o->p);
	if (!err)
		err = find_inline_depths(&w);
	if (err) {
		thread_rows_done(&w.rows);
		functions_done(&w.functions);
		free(w.inline_depth);
		return err;
	}
	for (size_t i = 0; i < tacho_profile_n_rows(o->p); i++)
		w.first_ns = min_of(w.first_ns, rows[i].time);
	json_begin(&w.j, '{');
	put_meta(&w);
	put_libs(&w);
	put_shared(&w);
	json_key(&w.j, "threads");
	json_begin(&w.j, '[');
	for (uint32_t i = 0; i < tacho_profile_n_threads(o->p); i++)
		put_thread(&w, i);
	json_end(&w.j);
	json_end(&w.j);
	buf_putc(w.j.out, '\n');
	thread_rows_done(&w.rows);
	functions_done(&w.functions);
	free(w.inline_depth);
	return 0;
}

const struct writer firefox_writer = {
	.format = { "firefox", ".firefox.json", "profiler.firefox.com, with times and symbols",
		    true },
	.write = write_firefox,
	.wants_time = true,
	.counts_samples = true,
};
