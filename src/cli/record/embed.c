/*
 * --embed-symbols: before the file is finished, it is read as a report would, and the functions, source lines and inlined functions
 * at the addresses of its samples become a feature of its header. Other tools ignore it.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/files/build_id_table.h"
#include "record/callchain_markers.h"

#include <tacho/symbol.h>

struct embedder {
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;
	struct tacho_embedding *embedding;
	struct tacho_scratch *scratch;
};

static void embedder_done(struct embedder *x)
{
	tacho_embedding_free(x->embedding);
	tacho_symbols_free(x->symbols);
	tacho_perfdata_close(x->pd);
	free(x->scratch);
}

static int embedder_init(struct embedder *x, const char *path, struct tacho_error *e)
{
	int err = tacho_perfdata_open(&x->pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = true), e);

	if (err < 0)
		return err;
	x->scratch = malloc(sizeof(*x->scratch));
	if (!x->scratch)
		return error_nomem(e);
	err = tacho_symbols_new(&x->symbols, TACHO_OPTS(tacho_symbols_opts, .no_demangle = true, .force = true), e);
	if (err < 0)
		return err;
	tacho_symbols_set_monotonic(x->symbols, tacho_perfdata_is_monotonic(x->pd));
	if (tacho_embedding_new(&x->embedding, x->symbols) < 0 || file_build_ids_feed(x->pd, x->symbols) < 0)
		return error_nomem(e);
	return 0;
}

/* A chain: markers say in which space the addresses after them are. */
static int add_chain(struct embedder *x, const struct tacho_sample *s)
{
	int err = 0;

	for (size_t i = 0; i < s->chain.n && err == 0; i++)
		if (s->chain.v[i] < CONTEXT_FIRST)
			err = tacho_embedding_add(x->embedding, s->pid, TACHO_SPACE_UNKNOWN, &s->chain.v[i], 1);
	return err;
}

static int add_branches(struct embedder *x, const struct tacho_sample *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n_branches && err == 0; i++) {
		const uint64_t both[] = { s->branches[i].from, s->branches[i].to };

		err = tacho_embedding_add(x->embedding, s->pid, TACHO_SPACE_UNKNOWN, both, countof(both));
	}
	return err;
}

static int add_sample(struct embedder *x, const struct tacho_record *rec)
{
	int event = tacho_perfdata_event_of(x->pd, rec), err;
	struct tacho_sample s;

	if (event < 0 || tacho_sample_decode(&s, rec, &tacho_perfdata_event(x->pd, (size_t)event)->layout, x->scratch) < 0)
		return 0;
	if (s.time >= tacho_symbols_next_change(x->symbols) && tacho_symbols_advance(x->symbols, s.time) < 0)
		return -ENOMEM;
	err = tacho_embedding_add(x->embedding, s.pid, TACHO_SPACE_UNKNOWN, &s.ip, 1);
	if (err == 0)
		err = add_chain(x, &s);
	return err < 0 ? err : add_branches(x, &s);
}

static int add_record(struct embedder *x, const struct tacho_record *rec)
{
	struct tacho_sideband sideband;

	if (rec->type == TACHO_RECORD_SAMPLE)
		return add_sample(x, rec);
	if (tacho_sideband_decode(&sideband, rec, &tacho_perfdata_event(x->pd, 0)->layout, x->scratch) < 0)
		return 0;
	return tacho_symbols_feed(x->symbols, &sideband);
}

static int read_samples(struct embedder *x, struct tacho_error *e)
{
	struct tacho_record rec;
	int got;

	while ((got = tacho_perfdata_next(x->pd, &rec, e)) > 0)
		if (add_record(x, &rec) < 0)
			return error_nomem(e);
	return got;
}

static int set_feature(void *arg, const void *bytes, size_t n)
{
	return tacho_recorder_feature(arg, TACHO_FEATURE_SYMBOLS, bytes, n);
}

static int embed(struct embedder *x, const struct record_file *f, struct tacho_error *e)
{
	char path[40];
	int err = tacho_recorder_checkpoint(f->recorder, e);

	if (err < 0)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->out.fd);
	err = embedder_init(x, path, e);
	if (err == 0 && tacho_perfdata_n_events(x->pd))
		err = read_samples(x, e);
	if (err < 0)
		return err;
	err = tacho_embedding_write(x->embedding, set_feature, f->recorder);
	return err < 0 ? error_set(e, err, "%s", strerror(-err)) : 0;
}

void record_embed_symbols(const struct record_file *f)
{
	scoped(embedder_done) struct embedder x = { .pd = NULL };
	struct tacho_error e = { .column = -1 };

	if (embed(&x, f, &e) < 0)
		message_text("record", "no symbols were embedded: %s", e.message);
}
