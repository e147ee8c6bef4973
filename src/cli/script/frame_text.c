/*
 * Caches the text of frames. A recording has far fewer distinct code locations (object and file offset) than
 * frames, and processes map the same files at different addresses. So the text after the address is
 * formatted once per function and looked up by location.
 *
 * The hash tables exceed the L2 cache. Therefore each step is done for all addresses of a batch, and
 * prefetches the memory that the next step needs.
 */
#include "cli/script/script.h"

#include <errno.h>

#include "base/large_memory.h"
#include "cli/core/fast_format.h"

#define INITIAL_SLOTS 4096u
#define MAX_SLOTS (2u << 20)		/* 64 MiB of slots */
#define CHUNK_BITS 21
#define CHUNK_BYTES (1u << CHUNK_BITS)
#define MAX_CHUNKS 64u			/* 128 MiB of text */
#define TEXT_ALIGN 32u			/* so that most texts fit in two cache lines */
#define MAX_TEXT (16u << 20)	/* keeps the texts of the longest chain below 4 GiB */
#define ADDRESS_BYTES 17u		/* a tab and 16 digits */
#define SPOT_EXACT 0x80000000u	/* in the object of a key: see frame_run.exact */
#define TEXT_FIELDS (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF | FIELD_SRCLINE)

static void table_free(struct frame_table *t)
{
	free(t->spots.slots);
	free(t->functions.slots);
}

void frame_texts_done(struct frame_texts *t)
{
	for (size_t i = 0; i < t->tables.n; i++)
		table_free(&t->tables.v[i]);
	for (size_t i = 0; i < t->chunks.n; i++)
		free(t->chunks.v[i].bytes);
	vec_done(&t->tables);
	vec_done(&t->chunks);
	buf_done(&t->line);
	t->used = 0;
}

void frame_texts_trim(struct frame_texts *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->tables.n; i++)
		n += t->tables.v[i].spots.n;
	if (n > MAX_SLOTS || t->chunks.n > MAX_CHUNKS)
		frame_texts_done(t);
}

/* ---- the tables ---- */

static uint32_t hash_of(uint64_t offset, uint32_t object)
{
	return (uint32_t)(((offset ^ object * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull) >> 32);
}

/* Finds the slot of a location, or the free slot for it. */
static inline struct frame_slot *hash_find_hashed(const struct frame_hash *h, uint32_t hash, uint64_t offset,
					     uint32_t object)
{
	size_t i = hash & (h->cap - 1);

	while (h->slots[i].text && (h->slots[i].offset != offset || h->slots[i].object != object))
		i = (i + 1) & (h->cap - 1);
	return &h->slots[i];
}

static struct frame_slot *hash_find(const struct frame_hash *h, uint64_t offset, uint32_t object)
{
	return hash_find_hashed(h, hash_of(offset, object), offset, object);
}

static int hash_grow(struct frame_hash *h)
{
	struct frame_hash bigger = { NULL, h->n, h->cap ? h->cap * 2 : INITIAL_SLOTS };
	size_t bytes = bigger.cap * sizeof(*bigger.slots);

	bigger.slots = large_alloc_huge(bytes);
	if (!bigger.slots)
		return -ENOMEM;
	memset(bigger.slots, 0, bytes);
	for (size_t i = 0; i < h->cap; i++)
		if (h->slots[i].text)
			*hash_find(&bigger, h->slots[i].offset, h->slots[i].object) = h->slots[i];
	free(h->slots);
	*h = bigger;
	return 0;
}

static int hash_insert(struct frame_hash *h, uint64_t offset, uint32_t object, uint32_t text)
{
	if (h->n * 3 >= h->cap * 2 && hash_grow(h) < 0)
		return -ENOMEM;
	*hash_find(h, offset, object) = (struct frame_slot){ offset, object, text };
	h->n++;
	return 0;
}

static struct frame_table *table_of(struct frame_texts *t, uint32_t fields, bool inlines)
{
	struct frame_table *table;

	for (size_t i = 0; i < t->tables.n; i++)
		if (t->tables.v[i].fields == fields && t->tables.v[i].inlines == inlines)
			return &t->tables.v[i];
	table = vec_add(&t->tables);
	if (!table)
		return NULL;
	table->fields = fields;
	table->inlines = inlines;
	if (hash_grow(&table->spots) < 0 || hash_grow(&table->functions) < 0) {
		free(table->spots.slots);
		t->tables.n--;
		return NULL;
	}
	return table;
}

/* ---- the texts ---- */

static struct frame_text *text_at(const struct frame_texts *t, uint32_t text)
{
	return (struct frame_text *)(t->chunks.v[text >> CHUNK_BITS].bytes + (text & (CHUNK_BYTES - 1)));
}

/* Allocates a text from the last chunk, or from a new one if it is full. */
static struct frame_text *text_new(struct frame_texts *t, size_t n, uint32_t *id)
{
	size_t bytes = (sizeof(struct frame_text) + n + TEXT_ALIGN - 1) & ~(size_t)(TEXT_ALIGN - 1);
	struct frame_chunk *chunk;

	if (!t->chunks.n || t->used + bytes + FORMAT_SLACK > CHUNK_BYTES) {
		chunk = t->chunks.n < UINT32_MAX >> CHUNK_BITS ? vec_add(&t->chunks) : NULL;
		if (!chunk)
			return NULL;
		chunk->bytes = large_alloc_huge(max_of((size_t)CHUNK_BYTES, TEXT_ALIGN + bytes + FORMAT_SLACK));
		if (!chunk->bytes) {
			t->chunks.n--;
			return NULL;
		}
		t->used = TEXT_ALIGN;		/* ID 0 means no text */
	}
	*id = (uint32_t)((t->chunks.n - 1) << CHUNK_BITS | t->used);
	t->used = min_of(t->used + bytes, (size_t)CHUNK_BYTES);
	return text_at(t, *id);
}

static void put_offset(struct buf *out, uint64_t offset)
{
	char text[3 + 16] = "+0x";

	buf_put(out, text, (size_t)(format_hex(text + 3, offset, 0) - text));
}

/* Appends the symbol. `split`: also "+0x", as each frame's offset follows. */
static void put_symbol(struct buf *out, const struct tacho_symbols *s, const struct tacho_frame *f,
		       uint32_t fields, bool split)
{
	if (!(fields & FIELD_SYM))
		return;
	buf_putc(out, ' ');
	buf_puts(out, tacho_symbols_name(s, f->symbol));
	if (split)
		buf_puts(out, "+0x");
	else if ((fields & FIELD_SYMOFF) && f->symbol)
		put_offset(out, f->symbol_offset);
}

static void put_object(struct buf *out, const struct tacho_symbols *s, const struct tacho_frame *f,
		       uint32_t fields)
{
	struct tacho_object_info info = { .size = sizeof(info) };

	if (fields & FIELD_DSO) {
		if (tacho_symbols_object(s, f->object, &info) < 0)
			info.path = "[unknown]";
		buf_puts(out, " (");
		buf_puts(out, info.path);
		if ((fields & FIELD_DSOFF) && f->object && !info.kernel)
			put_offset(out, f->object_offset);
		buf_putc(out, ')');
	}
	buf_putc(out, '\n');
}

static int make_text(struct script *s, const struct tacho_frame *f, uint32_t fields, uint64_t base,
		     bool split, uint32_t *id)
{
	struct buf *line = &s->frames.line;
	struct frame_text *t;
	size_t n;

	buf_clear(line);
	put_symbol(line, s->symbols, f, fields, split);
	n = line->n;
	put_object(line, s->symbols, f, fields);
	if ((fields & FIELD_SRCLINE) && line->n) {
		line->n--;		/* the '\n' moves to the end of the source line */
		script_srcline(s->symbols, f, s->frames.full_paths, line);
		buf_putc(line, '\n');
	}
	t = buf_failed(line) || line->n > MAX_TEXT ? NULL : text_new(&s->frames, line->n, id);
	if (!t)
		return -ENOMEM;
	if (!split)
		n = line->n;
	*t = (struct frame_text){ split ? base : 0, f->symbol, (uint32_t)n, (uint32_t)(line->n - n) };
	memcpy(t->bytes, line->bytes, line->n);
	return 0;
}

/* Appends the line of a frame of several, without its address. `call` is the inlined function that it calls, NULL if it
 * is the innermost one; `inlined` is NULL for the function that has the address. */
static void put_one_of_lines(struct script *s, const struct tacho_frame *f, const struct tacho_inline *call,
			     const struct tacho_inline *inlined, uint32_t fields)
{
	struct buf *line = &s->frames.line;
	struct tacho_frame shown = *f;

	if (inlined)
		shown.symbol = inlined->symbol;
	put_symbol(line, s->symbols, &shown, fields & ~(uint32_t)FIELD_SYMOFF, false);
	if ((fields & FIELD_SYM) && (fields & FIELD_SYMOFF) && f->symbol)
		put_offset(line, f->symbol_offset);
	if (!inlined) {
		put_object(line, s->symbols, f, fields);
		line->n -= line->n != 0;	/* the '\n' */
	}
	if ((fields & FIELD_SRCLINE) && call)
		script_put_line(call->call_file, call->call_line, s->frames.full_paths, line);
	else if (fields & FIELD_SRCLINE)
		script_srcline(s->symbols, f, s->frames.full_paths, line);
	buf_puts(line, inlined ? " (inlined)\n" : "\n");
	buf_putc(line, '\0');
}

/* The text of a location with inlined functions: v[0] is the innermost one. */
static int make_inlined_text(struct script *s, const struct tacho_frame *f, uint32_t fields,
			     const struct tacho_inline *v, int n, uint32_t *id)
{
	struct buf *line = &s->frames.line;
	struct frame_text *t;
	uint32_t n_lines = (uint32_t)n + 1;

	buf_clear(line);
	for (int i = 0; i <= n; i++)
		put_one_of_lines(s, f, i ? &v[i - 1] : NULL, i < n ? &v[i] : NULL, fields);
	t = buf_failed(line) || line->n > MAX_TEXT ? NULL : text_new(&s->frames, line->n, id);
	if (!t)
		return -ENOMEM;
	/* Greater than any line that needs no reservation: see line.c. */
	*t = (struct frame_text){ n_lines, f->symbol, (uint32_t)line->n + n_lines * ADDRESS_BYTES + MAX_SHORT_LINE, 0 };
	memcpy(t->bytes, line->bytes, line->n);
	return 0;
}

/* Finds or makes the text that all frames of a function share. If two functions begin at the same offset, the
 * texts of the second are not shared. */
static int function_text(struct script *s, struct frame_table *t, const struct tacho_frame *f,
			 uint64_t base, uint32_t *id)
{
	bool split = f->symbol && (t->fields & FIELD_SYM) && (t->fields & FIELD_SYMOFF);
	int err;

	*id = hash_find(&t->functions, base, f->object)->text;
	if (*id && text_at(&s->frames, *id)->symbol == f->symbol)
		return 0;
	err = make_text(s, f, t->fields, base, split, id);
	if (err || hash_find(&t->functions, base, f->object)->text)
		return err;
	return hash_insert(&t->functions, base, f->object, *id);
}

/* Makes the text of a new location. Locations without a symbol share the text of their object. */
static int add_location(struct script *s, struct frame_table *t, const struct frame_run *run, size_t i,
	       uint32_t *id)
{
	const struct tacho_spot *spot = &run->spots[i];
	struct tacho_inline v[TACHO_INLINES_MAX];
	struct tacho_frame f;
	int err, n = 0;

	if (tacho_symbols_resolve(s->symbols, run->pid, run->space, run->ips[i], &f) < 0)
		f = (struct tacho_frame){ .space = run->space };
	if (!f.symbol && (t->fields & FIELD_SYM))
		unnamed_add(s, f.object);
	if (t->inlines)
		n = tacho_symbols_inlines(s->symbols, &f, !(spot->object & SPOT_EXACT), t->fields & FIELD_SRCLINE, v, countof(v));
	if (n)
		err = n < 0 ? n : make_inlined_text(s, &f, t->fields, v, n, id);
	else if (t->fields & (FIELD_DSOFF | FIELD_SRCLINE))
		err = make_text(s, &f, t->fields, 0, false, id);
	else
		err = function_text(s, t, &f, f.symbol ? spot->offset - f.symbol_offset : UINT64_MAX, id);
	return err ? err : hash_insert(&t->spots, spot->offset, spot->object, *id);
}

/* ---- runs ---- */

/* Adds the location of the i-th frame of these runs. */
static int add_nth_location(struct script *s, struct frame_table *t, const struct frame_run *runs, size_t i,
		       uint32_t *id)
{
	for (; i >= runs->n; runs++)
		i -= runs->n;
	return add_location(s, t, runs, i, id);
}

/* Finds the texts of n frames, whose locations are known. */
static int find_texts(struct script *s, struct frame_table *t, const struct frame_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct tacho_spot *spot = &runs->spots[i];
		uint32_t id = hash_find_hashed(&t->spots, runs->hashes[i], spot->offset, spot->object)->text;

		if (!id && add_nth_location(s, t, runs, i, &id) < 0)
			return -ENOMEM;
		runs->texts[i] = text_at(&s->frames, id);
		__builtin_prefetch(runs->texts[i]);
		__builtin_prefetch((const char *)runs->texts[i] + 64);
	}
	return 0;
}

/* Looks up runs that share a table. */
static int table_look_up(struct script *s, struct frame_table *t, const struct frame_run *runs, size_t n_runs)
{
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < n_runs && !err; i++) {
		const struct frame_run *r = &runs[i];

		err = tacho_symbols_spots(s->symbols, r->pid, r->space, r->ips, r->n, r->spots);
		if (r->inlines && r->exact && r->n && r->spots[0].object)
			r->spots[0].object |= SPOT_EXACT;
		n += r->n;
	}
	for (size_t i = 0; i < n && !err; i++) {
		runs->hashes[i] = hash_of(runs->spots[i].offset, runs->spots[i].object);
		__builtin_prefetch(&t->spots.slots[runs->hashes[i] & (t->spots.cap - 1)]);
	}
	return err ? err : find_texts(s, t, runs, n);
}

int frame_runs_look_up(struct script *s, struct frame_run *runs, size_t n)
{
	int err = 0;

	for (size_t from = 0, to; from < n && !err; from = to) {
		uint32_t fields = runs[from].fields;
		bool inlines = runs[from].inlines;
		struct frame_table *t = table_of(&s->frames, fields & TEXT_FIELDS, inlines);

		for (to = from + 1; to < n && runs[to].fields == fields && runs[to].inlines == inlines; to++)
			;
		err = t ? table_look_up(s, t, runs + from, to - from) : -ENOMEM;
	}
	return err;
}
