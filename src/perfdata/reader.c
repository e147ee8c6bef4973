/*
 * Opening a recording and returning its records: stream by stream in the order of the file, or the oldest
 * record of all streams.
 */
#include "perfdata/perfdata.h"
#include "perfdata/batch_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/sized_opts.h"

#define WARNING_MAX 2000

void add_warning(struct tacho_perfdata *pd, const char *fmt, ...)
{
	va_list ap;

	if (pd->warning.n > WARNING_MAX)
		return;
	if (pd->warning.n)
		buf_puts(&pd->warning, "; ");
	va_start(ap, fmt);
	buf_vprintf(&pd->warning, fmt, ap);
	va_end(ap);
}

/* The first damage is reported in full, further ones as far as they fit into the message. */
void add_damage(struct tacho_perfdata *pd, const char *fmt, ...)
{
	char text[300];
	size_t n = strlen(pd->damage.message);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!pd->damage.code)
		error_set(&pd->damage, -EBADMSG, "%s", text);
	else if (n + strlen(text) + 3 < sizeof(pd->damage.message))
		snprintf(pd->damage.message + n, sizeof(pd->damage.message) - n, "; %s", text);
}

/* If a file was truncated while it was read, sets *e and returns -EIO; otherwise 0. */
static int check_shrunk(const struct tacho_perfdata *pd, struct tacho_error *e)
{
	for (size_t i = 0; i < pd->sources.n; i++) {
		const struct input_file *f = &pd->sources.v[i].src->file;

		if (file_map_shrunk(&f->mapping))
			return error_set(e, -EIO, "%s became shorter while it was being read", f->path);
	}
	return 0;
}

int tacho_perfdata_damage(const struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err = check_shrunk(pd, e);

	if (err < 0)
		return err;
	if (pd->damage.code && e)
		*e = pd->damage;
	return pd->damage.code;
}

const char *tacho_perfdata_warning(const struct tacho_perfdata *pd)
{
	return pd->warning.n && !buf_failed(&pd->warning) ? pd->warning.bytes : NULL;
}

struct perfdata_input *input_add(struct tacho_perfdata *pd)
{
	struct perfdata_input *src = calloc(1, sizeof(*src));
	struct input_slot *slot = src ? vec_add(&pd->sources) : NULL;

	if (!slot) {
		free(src);
		return NULL;
	}
	src->file.fd = -1;
	slot->src = src;
	return src;
}

/* Whether the recorder was killed: the data size in the header is 0, or it is the size at the last flush, which
 * our writer stores there. Then the header lists no features, but there is a list of them before the data. */
static bool is_unfinished(const struct file_header *h, const struct input_file *f)
{
	return h->data.size == 0 ||
	       (!(h->features[0] | h->features[1] | h->features[2] | h->features[3]) &&
		features_has_front_list(h, f));
}

/* The end of the data according to the header, but not after the end of the file; if the recorder was killed,
 * the end of the file. */
static uint64_t data_end(struct tacho_perfdata *pd, struct perfdata_input *src, uint64_t *missing)
{
	const struct file_header *h = &pd->header;
	uint64_t end = h->data.offset + h->data.size, size = src->file.size;

	*missing = 0;
	if (is_unfinished(h, &src->file)) {
		add_warning(pd, "the recorder did not end properly: everything from byte %" PRIu64
			    " on is read as data", h->data.offset);
		return h->attrs.offset > h->data.offset ? h->attrs.offset : size;
	}
	if (end <= size)
		return end;
	*missing = end - size;
	return size;
}

static int open_file(struct tacho_perfdata *pd, struct perfdata_input *src, struct tacho_error *e)
{
	uint64_t end, missing;
	int err = attrs_read(pd, &src->file, e);

	if (err < 0)
		return err;
	end = data_end(pd, src, &missing);
	stream_init_mapped(&src->stream, pd, &src->file, pd->header.data.offset, end);
	src->stream.missing = missing;
	src->stream.recorder_died = is_unfinished(&pd->header, &src->file);
	err = src->stream.recorder_died ? features_read_front(pd, &src->file) : features_read(pd, &src->file);
	if (err < 0)
		return error_nomem(e);
	return features_name_events(pd) < 0 ? error_nomem(e) : 0;
}

static int open_pipe(struct tacho_perfdata *pd, struct perfdata_input *src, struct tacho_error *e)
{
	if (src->file.map)
		stream_init_mapped(&src->stream, pd, &src->file, PIPE_HEADER_BYTES, src->file.size);
	if (pipe_read_ahead(pd, &src->stream) < 0)
		return error_nomem(e);
	return 0;
}

static int open_with_header(struct tacho_perfdata *pd, const char *path,
		     const struct tacho_perfdata_opts *opts, struct tacho_error *e)
{
	struct perfdata_input *src = input_add(pd);
	uint8_t first[PIPE_HEADER_BYTES];
	int err;

	if (!src)
		return error_nomem(e);
	err = input_file_open(&src->file, path, opts, e);
	if (err < 0)
		return err;
	if (src->file.map) {
		err = header_parse(&pd->header, src->file.map, src->file.size, src->file.size, e);
	} else {
		if (stream_init_fd(&src->stream, pd, &src->file) < 0)
			return error_nomem(e);
		if (stream_fill(&src->stream, sizeof(first)))
			memcpy(first, src->stream.at, sizeof(first));
		err = header_parse(&pd->header, first,
				   min_of((size_t)(src->stream.end - src->stream.at), sizeof(first)),
				   0, e);
		if (err == 0)
			src->stream.at += sizeof(first);
		src->stream.swap = pd->header.swap;
	}
	if (err < 0)
		return err;
	if (!pd->header.pipe && !pd->header.attrs.size && !opts->no_events)
		return error_set(e, -EBADMSG, "byte 32: the file has no events");
	return pd->header.pipe ? open_pipe(pd, src, e) : open_file(pd, src, e);
}

static int open_file_or_dir(struct tacho_perfdata *pd, const char *path,
		    const struct tacho_perfdata_opts *opts, struct tacho_error *e)
{
	scoped(buf_done) struct buf data = { 0 };
	struct stat st;
	int err;

	if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return open_with_header(pd, path, opts, e);
	buf_printf(&data, "%s/data", path);
	if (buf_failed(&data))
		return error_nomem(e);
	err = check_regular_file(data.bytes, e);
	if (err == 0)
		err = open_with_header(pd, data.bytes, opts, e);
	return err < 0 ? err : dir_open(pd, path, opts, e);
}

int tacho_perfdata_open(struct tacho_perfdata **out, const char *path,
			const struct tacho_perfdata_opts *opts, struct tacho_error *e)
{
	struct tacho_perfdata_opts o;
	struct tacho_perfdata *pd;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return error_nomem(e);
	pd->ordered = o.ordered;
	pd->offsets = OFFSETS_NONE;
	pd->same_time_offset = true;
	err = open_file_or_dir(pd, path, &o, e);
	if (err < 0 && err != -ENOMEM && check_shrunk(pd, e) < 0)
		err = -EIO;
	if (err < 0) {
		tacho_perfdata_close(pd);
		return err;
	}
	*out = pd;
	return 0;
}

void tacho_perfdata_close(struct tacho_perfdata *pd)
{
	if (!pd)
		return;
	for (size_t i = 0; i < pd->sources.n; i++) {
		struct perfdata_input *src = pd->sources.v[i].src;

		if (src->stream.pd)
			reorder_done(&src->order, &src->stream);
		stream_done(&src->stream);
		input_file_close(&src->file);
		free(src);
	}
	vec_done(&pd->sources);
	block_pool_done(&pd->pool);
	vec_done(&pd->events);
	vec_done(&pd->event_offsets);
	int_map_done(&pd->ids);
	free(pd->counted.slots);
	buf_done(&pd->lead);
	buf_done(&pd->warning);
	deferred_chains_free(pd->deferred);
	arena_done(&pd->arena);
	free(pd);
}

static int source_failed(const struct perfdata_input *src, struct tacho_error *e)
{
	if (e)
		*e = src->stream.error;
	return src->stream.failed;
}

/* Damage ends only its own stream; it is reported when all streams have ended. */
static int first_failure(const struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err = check_shrunk(pd, e);		/* the cause of what else was found */

	if (err < 0)
		return err;
	for (size_t i = 0; i < pd->sources.n; i++)
		if (pd->sources.v[i].src->stream.failed < 0)
			return source_failed(pd->sources.v[i].src, e);
	return tacho_perfdata_damage(pd, e);
}

static int next_in_file_order(struct tacho_perfdata *pd, struct tacho_record *rec,
			   struct tacho_error *e)
{
	while (pd->current < pd->sources.n) {
		struct perfdata_input *src = pd->sources.v[pd->current].src;
		struct perfdata_stream *s = &src->stream;

		if (!s->pd) {
			pd->current++;
			continue;
		}
		if (stream_next_fast(s, rec) || stream_next(s, rec) > 0) {
			if (!s->block && (uint64_t)(s->at - s->base) > src->file.dropped + DROP_BYTES)
				input_file_drop_pages(&src->file, (uint64_t)(s->at - s->base));
			return 1;
		}
		pd->current++;
	}
	return first_failure(pd, e);
}

static void load_head(struct perfdata_input *src)
{
	src->state = src->stream.pd ? reorder_next(&src->order, &src->stream, &src->head) : 0;
	src->head_time = src->state > 0 ? record_time(src->stream.pd, &src->head) : 0;
	src->head_loaded = true;
}

/* The usual case: a single stream needs no merging. */
static int next_of_single(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e)
{
	struct perfdata_input *src = pd->sources.v[0].src;
	int err = reorder_next(&src->order, &src->stream, rec);

	return err > 0 ? err : first_failure(pd, e);
}

/* Merges several streams. The record returned last is released first, when its stream loads its next one. */
static int next_of_many(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e)
{
	struct perfdata_input *best = NULL;

	for (size_t i = 0; i < pd->sources.n; i++) {
		struct perfdata_input *src = pd->sources.v[i].src;

		if (!src->head_loaded)
			load_head(src);
		if (src->state > 0 && (!best || src->head_time < best->head_time))
			best = src;
	}
	if (best) {
		*rec = best->head;
		best->head_loaded = false;
		return 1;
	}
	return first_failure(pd, e);
}

int reader_next_ordered(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e)
{
	return pd->sources.n == 1 ? next_of_single(pd, rec, e) : next_of_many(pd, rec, e);
}

/* The general case; a separate function, so that the fast path in the caller saves no registers for it. */
static __attribute__((noinline)) int next_general(struct tacho_perfdata *pd, struct tacho_record *rec,
						 struct tacho_error *e)
{
	if (pd->lead.n && pipe_lead_next(pd, rec))
		return 1;
	if (!pd->ordered)
		return next_in_file_order(pd, rec, e);
	return pd->has_deferred_chains ? deferred_chains_next(pd, rec, e) : reader_next_ordered(pd, rec, e);
}

int tacho_perfdata_next(struct tacho_perfdata *pd, struct tacho_record *rec, struct tacho_error *e)
{
	struct perfdata_input *src = pd->sources.v[0].src;

	if (pd->ordered && !pd->has_deferred_chains && !pd->lead.n && pd->sources.n == 1 &&
	    reorder_next_fast(&src->order, &src->stream, rec))
		return 1;
	return next_general(pd, rec, e);
}

size_t tacho_perfdata_ahead(const struct tacho_perfdata *pd, struct tacho_record *out, size_t n)
{
	const struct perfdata_input *src = pd->sources.v[0].src;

	if (!pd->ordered || pd->sources.n != 1 || pd->lead_at < pd->lead.n)
		return 0;
	return reorder_peek(&src->order, &src->stream, out, n);
}

size_t perfdata_take_batch(struct tacho_perfdata *pd, const uint8_t **out, size_t n)
{
	struct perfdata_input *src = pd->sources.v[0].src;

	if (!pd->ordered || pd->has_deferred_chains || pd->lead.n || pd->sources.n != 1 || src->stream.swap)
		return 0;
	return reorder_take_batch(&src->order, &src->stream, out, n);
}

void perfdata_batch_record(const struct tacho_perfdata *pd, const uint8_t *at, struct tacho_record *out)
{
	const struct perfdata_stream *s = &pd->sources.v[0].src->stream;

	record_fill(out, at, s->base_offset + (uint64_t)(at - s->base), false);
}

uint32_t perfdata_sample_id_offset(const struct tacho_perfdata *pd)
{
	return pd->events.n > 1 ? pd->offsets.sample_id : 0;
}

size_t tacho_perfdata_n_events(const struct tacho_perfdata *pd)
{
	return pd->events.n;
}

const struct tacho_file_event *tacho_perfdata_event(const struct tacho_perfdata *pd, size_t i)
{
	return i < pd->events.n ? &pd->events.v[i].row->pub : NULL;
}

bool tacho_perfdata_swapped(const struct tacho_perfdata *pd)
{
	return pd->header.swap;
}

bool tacho_perfdata_is_pipe(const struct tacho_perfdata *pd)
{
	return pd->header.pipe;
}

int tacho_perfdata_facts(const struct tacho_perfdata *pd, struct tacho_file_facts *out)
{
	const struct input_file *f = &pd->sources.v[0].src->file;
	const struct file_header *h = &pd->header;
	struct tacho_file_facts facts = { .file_size = f->size, .captured_s = f->mtime_s };
	size_t size = out->size ? out->size : sizeof(facts);

	if (size > sizeof(facts))
		return -E2BIG;
	facts.size = size;
	facts.data_offset = h->pipe ? PIPE_HEADER_BYTES : h->data.offset;
	facts.data_size = h->pipe ? 0 : h->data.size;
	facts.features_offset = h->pipe ? 0 : h->data.offset + h->data.size;
	memcpy(out, &facts, size);
	return 0;
}

uint64_t tacho_perfdata_position(const struct tacho_perfdata *pd)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < pd->sources.n; i++)
		sum += stream_offset(&pd->sources.v[i].src->stream);
	return sum;
}

uint64_t tacho_perfdata_n_compressed(const struct tacho_perfdata *pd, uint32_t type)
{
	return type == TACHO_RECORD_COMPRESSED ? pd->n_compressed : type == TACHO_RECORD_COMPRESSED2 ? pd->n_compressed2 : 0;
}
