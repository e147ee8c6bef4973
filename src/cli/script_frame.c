/*
 * Frames as text. The same hundred thousand spots come again and again, from processes that map the
 * same files elsewhere, so what follows the address on a line is put together once per spot and
 * copied ever after.
 *
 * The tables are larger than the caches near the core. Therefore a chain's addresses take each step
 * together, and each step asks for the memory that the next one needs.
 */
#include "cli/script.h"

#include <errno.h>

#include "base/pages.h"
#include "cli/put.h"

#define FIRST_SLOTS 4096u
#define MOST_SLOTS (2u << 20)		/* 64 MiB of them */
#define CHUNK_BITS 21
#define CHUNK_BYTES (1u << CHUNK_BITS)
#define MOST_CHUNKS 64u			/* 128 MiB of text */
#define HEAD_BYTES sizeof(uint32_t)	/* the length in front of a text */
#define LONGEST_TEXT (16u << 20)	/* a chain of them stays below 4 GiB */
#define SHOWN (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF)

void frame_texts_done(struct frame_texts *t)
{
	for (size_t i = 0; i < t->tables.n; i++)
		free(t->tables.v[i].slots);
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
		n += t->tables.v[i].n;
	if (n > MOST_SLOTS || t->chunks.n > MOST_CHUNKS)
		frame_texts_done(t);
}

/* ---- the tables ---- */

static size_t slot_of(const struct frame_table *t, uint64_t offset, uint32_t object)
{
	uint64_t h = (offset ^ object * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> 32) & (t->cap - 1);
}

/* The slot of a spot, or the free one where it belongs. */
static inline struct frame_slot *find(const struct frame_table *t, uint64_t offset, uint32_t object)
{
	size_t i = slot_of(t, offset, object);

	while (t->slots[i].text && (t->slots[i].offset != offset || t->slots[i].object != object))
		i = (i + 1) & (t->cap - 1);
	return &t->slots[i];
}

static int grow(struct frame_table *t)
{
	struct frame_table bigger = { NULL, t->n, t->cap ? t->cap * 2 : FIRST_SLOTS, t->fields };
	size_t bytes = bigger.cap * sizeof(*bigger.slots);

	bigger.slots = pages_alloc(bytes);
	if (!bigger.slots)
		return -ENOMEM;
	memset(bigger.slots, 0, bytes);
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].text)
			*find(&bigger, t->slots[i].offset, t->slots[i].object) = t->slots[i];
	free(t->slots);
	*t = bigger;
	return 0;
}

static struct frame_table *table_of(struct frame_texts *t, uint32_t fields)
{
	struct frame_table *table;

	for (size_t i = 0; i < t->tables.n; i++)
		if (t->tables.v[i].fields == fields)
			return &t->tables.v[i];
	table = vec_add(&t->tables);
	if (!table)
		return NULL;
	table->fields = fields;
	if (grow(table) < 0) {
		t->tables.n--;
		return NULL;
	}
	return table;
}

/* ---- the texts ---- */

static frame_text text_at(const struct frame_texts *t, uint32_t text)
{
	return t->chunks.v[text >> CHUNK_BITS].bytes + (text & (CHUNK_BYTES - 1));
}

static void put_offset(struct buf *out, uint64_t offset)
{
	char text[3 + 16] = "+0x";

	buf_put(out, text, (size_t)(put_hex(text + 3, offset, 0) - text));
}

static void put_text(struct buf *out, const struct tacho_symbols *s, const struct tacho_frame *f,
		     uint32_t fields)
{
	struct tacho_object_info info = { .size = sizeof(info) };

	if (fields & FIELD_SYM) {
		buf_putc(out, ' ');
		buf_puts(out, tacho_symbols_name(s, f->symbol));
		if ((fields & FIELD_SYMOFF) && f->symbol)
			put_offset(out, f->symbol_offset);
	}
	if (!(fields & FIELD_DSO))
		return;
	if (tacho_symbols_object(s, f->object, &info) < 0)
		info.path = "[unknown]";
	buf_puts(out, " (");
	buf_puts(out, info.path);
	if ((fields & FIELD_DSOFF) && f->object && !info.kernel)
		put_offset(out, f->object_offset);
	buf_putc(out, ')');
}

/* Where n bytes of text can be put: a new chunk where the last has no room for them. */
static char *text_room(struct frame_texts *t, size_t n, uint32_t *id)
{
	size_t bytes = HEAD_BYTES + n + 1;
	struct frame_chunk *chunk;

	if (!t->chunks.n || t->used + bytes + PUT_SLACK > CHUNK_BYTES) {
		chunk = t->chunks.n < UINT32_MAX >> CHUNK_BITS ? vec_add(&t->chunks) : NULL;
		if (!chunk)
			return NULL;
		chunk->bytes = pages_alloc(max_of((size_t)CHUNK_BYTES, bytes + PUT_SLACK + 1));
		if (!chunk->bytes) {
			t->chunks.n--;
			return NULL;
		}
		t->used = 1;		/* no text is 0 */
	}
	*id = (uint32_t)((t->chunks.n - 1) << CHUNK_BITS | t->used);
	t->used = min_of(t->used + bytes, (size_t)CHUNK_BYTES);
	return t->chunks.v[t->chunks.n - 1].bytes + (*id & (CHUNK_BYTES - 1));
}

static int keep_text(struct frame_texts *t, const struct buf *text, uint32_t *id)
{
	uint32_t n = (uint32_t)text->n;
	char *at = buf_failed(text) || text->n > LONGEST_TEXT ? NULL : text_room(t, n, id);

	if (!at)
		return -ENOMEM;
	memcpy(at, &n, sizeof(n));
	if (n)
		memcpy(at + HEAD_BYTES, text->bytes, n);
	at[HEAD_BYTES + n] = '\n';
	return 0;
}

/* The text of a spot that was not met before. */
static int add(struct script *s, struct frame_table *t, const struct frame_run *run, size_t i,
	       uint32_t *text)
{
	struct buf *line = &s->frames.line;
	const struct tacho_spot *spot = &run->spots[i];
	struct tacho_frame frame;

	if (t->n * 3 >= t->cap * 2 && grow(t) < 0)
		return -ENOMEM;
	if (tacho_symbols_resolve(s->symbols, run->pid, run->space, run->ips[i], &frame) < 0)
		frame = (struct tacho_frame){ .space = run->space };
	buf_clear(line);
	put_text(line, s->symbols, &frame, t->fields);
	if (keep_text(&s->frames, line, text) < 0)
		return -ENOMEM;
	*find(t, spot->offset, spot->object) = (struct frame_slot){ spot->offset, spot->object, *text };
	t->n++;
	return 0;
}

int frame_run_spots(struct script *s, struct frame_run *run)
{
	struct frame_table *t = table_of(&s->frames, run->fields & SHOWN);
	int err = t ? tacho_symbols_spots(s->symbols, run->pid, run->space, run->ips, run->n, run->spots) :
		      -ENOMEM;

	for (size_t i = 0; i < run->n && !err; i++)
		__builtin_prefetch(&t->slots[slot_of(t, run->spots[i].offset, run->spots[i].object)]);
	return err;
}

int frame_run_texts(struct script *s, struct frame_run *run)
{
	struct frame_table *t = table_of(&s->frames, run->fields & SHOWN);

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < run->n; i++) {
		const struct tacho_spot *spot = &run->spots[i];
		uint32_t text = find(t, spot->offset, spot->object)->text;

		if (!text && add(s, t, run, i, &text) < 0)
			return -ENOMEM;
		run->texts[i] = text_at(&s->frames, text);
		__builtin_prefetch(run->texts[i]);
		__builtin_prefetch(run->texts[i] + 64);
	}
	return 0;
}
