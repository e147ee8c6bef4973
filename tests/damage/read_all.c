#include "read_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/output.h>
#include <tacho/perfdata.h>
#include <tacho/trace.h>

static volatile uint64_t sink;
static struct tacho_scratch scratch;

static uint64_t hash(const void *at, size_t n)
{
	const uint8_t *bytes = at;
	uint64_t h = 1469598103934665603ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 1099511628211ull;
	return h;
}

static void touch_facts(const struct tacho_perfdata *pd)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);

		sink += hash(ev->name, strlen(ev->name)) + hash(ev->attr, ev->attr_size);
		sink += hash(ev->ids, ev->n_ids * sizeof(*ev->ids)) + (ev->unit ? strlen(ev->unit) : 0);
	}
	for (int f = 0; f < TACHO_FEATURE_MAX; f++) {
		const char *text = tacho_perfdata_string(pd, f);
		size_t n = 0;
		const void *at = tacho_perfdata_feature(pd, f, &n);

		sink += (at ? hash(at, n) : 0) + (text ? strlen(text) : 0);
	}
}

static struct tacho_trace *formats_of(const struct tacho_perfdata *pd)
{
	struct tacho_trace *t = NULL;
	size_t n;
	const void *blob = tacho_perfdata_feature(pd, TACHO_FEATURE_TRACING_DATA, &n);

	return blob && tacho_trace_new(&t, blob, n, NULL) == 0 ? t : NULL;
}

static void print_raw(struct tacho_trace *formats, const struct tacho_file_event *ev,
		      const struct tacho_sample *s, bool swapped)
{
	const struct tacho_trace_event *known;
	uint64_t config;
	char text[512];

	if (!formats || ev->attr_size < 16 || !s->raw)
		return;
	memcpy(&config, (const char *)ev->attr + 8, sizeof(config));
	known = tacho_trace_find(formats, config);
	if (!known)
		return;
	sink += (uint64_t)tacho_trace_print(known, s->raw, s->n_raw,
					    TACHO_OPTS(tacho_trace_opts, .swapped = swapped),
					    text, sizeof(text));
	for (size_t i = 0; i < tacho_trace_n_fields(known); i++)
		sink += (uint64_t)tacho_trace_print_field(known, i, s->raw, s->n_raw, NULL, text,
							  sizeof(text));
}

static void decode(const struct tacho_perfdata *pd, const struct tacho_record *rec,
		   struct tacho_trace *formats)
{
	int which = tacho_perfdata_event_of(pd, rec);
	const struct tacho_file_event *ev = which < 0 ? NULL : tacho_perfdata_event(pd, (size_t)which);
	const struct tacho_layout *lay = ev ? &ev->layout : NULL;
	struct tacho_sample s;
	struct tacho_sideband o;
	char *text = tacho_record_text(rec, lay), *json = tacho_record_json(rec, lay);

	sink += (text ? strlen(text) : 0) + (json ? strlen(json) : 0);
	free(text);
	free(json);
	if (rec->type == TACHO_RECORD_SAMPLE && lay) {
		if (tacho_sample_decode(&s, rec, lay, &scratch) == 0)
			print_raw(formats, ev, &s, rec->swapped);
	} else if (tacho_sideband_decode(&o, rec, lay, &scratch) == 0) {
		sink += o.type;
	}
}

static void note(struct seen *out, const struct tacho_record *rec)
{
	if (out->n == out->cap) {
		size_t cap = out->cap ? out->cap * 2 : 256;
		struct seen_record *v = realloc(out->v, cap * sizeof(*v));

		if (!v)
			abort();
		out->v = v;
		out->cap = cap;
	}
	out->v[out->n++] = (struct seen_record){ rec->offset, hash(rec->bytes, rec->size) };
}

static void keep_words(struct seen *out, int err, const struct tacho_error *e, const char *warning)
{
	out->err = err;
	snprintf(out->error, sizeof(out->error), "%s", err < 0 ? e->message : "");
	snprintf(out->warning, sizeof(out->warning), "%s", warning ? warning : "");
}

void read_as_written(const char *path, struct seen *out)
{
	struct tacho_file_facts facts = { .size = sizeof(facts) };
	struct tacho_error e = { 0 };
	struct tacho_perfdata *pd;
	struct tacho_trace *formats;
	struct tacho_record rec;
	int err = tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .force = true), &e);

	*out = (struct seen){ 0 };
	if (err < 0) {
		keep_words(out, err, &e, NULL);
		return;
	}
	out->opened = true;
	out->pipe = tacho_perfdata_is_pipe(pd);
	if (tacho_perfdata_facts(pd, &facts) == 0) {
		out->data_at = facts.data_offset;
		out->data_end = out->pipe ? facts.file_size : facts.data_offset + facts.data_size;
	}
	touch_facts(pd);
	formats = formats_of(pd);
	while ((err = tacho_perfdata_next(pd, &rec, &e)) > 0) {
		note(out, &rec);
		decode(pd, &rec, formats);
	}
	touch_facts(pd);
	keep_words(out, err, &e, tacho_perfdata_warning(pd));
	tacho_trace_free(formats);
	tacho_perfdata_close(pd);
}

static int put(void *arg, const void *bytes, size_t n)
{
	(void)arg;
	sink += hash(bytes, n);
	return 0;
}

static void walk(const struct tacho_profile *p)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);

	tacho_profile_quality(p, &q);
	sink += q.samples;
	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		if (rows[i].event >= tacho_profile_n_events(p) || rows[i].thread >= tacho_profile_n_threads(p) ||
		    rows[i].node >= tacho_profile_n_nodes(p))
			abort();
		for (uint32_t at = rows[i].node; at; at = nodes[at].parent)
			sink += strlen(tacho_profile_frame(p, nodes[at].frame)->code->name);
		sink += strlen(tacho_profile_thread(p, rows[i].thread)->comm);
	}
	for (size_t i = 0; i < tacho_profile_n_objects(p); i++)
		sink += strlen(tacho_profile_object(p, i)->path);
}

static void write_all(const struct tacho_profile *p)
{
	const struct tacho_format *const *f;
	struct tacho_error e;

	for (f = tacho_formats(); *f; f++)
		sink += (uint64_t)tacho_output_write(*f, p, NULL, put, NULL, &e);
	sink += (uint64_t)tacho_output_write(tacho_format_find("svg"), p,
		TACHO_OPTS(tacho_output_opts, .before = p, .reverse = true, .weight = TACHO_WEIGHT_SAMPLES),
		put, NULL, &e);
}

void read_as_profile(const char *path, const char *empty_dir)
{
	struct tacho_profile_opts opts = { .size = sizeof(opts) };
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols), .symfs = empty_dir,
		.build_id_dir = empty_dir, .procfs = empty_dir, .kallsyms = "/dev/null" };
	struct tacho_perfdata *pd;
	struct tacho_profile *p;
	struct tacho_error e;

	for (const struct tacho_format *const *f = tacho_formats(); *f; f++)
		tacho_format_wants(*f, &opts);
	if (tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = true),
				&e) < 0)
		return;
	if (tacho_profile_new(&p, &opts, &e) < 0)
		abort();
	sink += (uint64_t)tacho_profile_load(p, pd, &symbols, &e);
	walk(p);
	write_all(p);
	tacho_profile_free(p);
	tacho_perfdata_close(pd);
}

void seen_done(struct seen *s)
{
	free(s->v);
	*s = (struct seen){ 0 };
}
