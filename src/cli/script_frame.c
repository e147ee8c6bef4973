/*
 * Frames as text. The same hundred thousand places come again and again, from processes that map
 * the same files elsewhere, so what follows the address on a line is put together once per place
 * and copied ever after.
 *
 * The tables are larger than the caches near the core. Therefore a chain's addresses take each step
 * together, and each step asks for the memory that the next one needs.
 */
#include "cli/script.h"

#include <errno.h>

#include "cli/put.h"

enum { FIRST_SLOTS = 4096 };
#define MOST_SLOTS (1u << 20)
#define MOST_TEXT (128u << 20)
#define SHOWN (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF)

void frame_texts_done(struct frame_texts *t)
{
	free(t->slots);
	arena_done(&t->arena);
	*t = (struct frame_texts){ 0 };
}

void frame_texts_trim(struct frame_texts *t)
{
	if (t->n > MOST_SLOTS || t->bytes > MOST_TEXT)
		frame_texts_done(t);
}

static size_t slot_of(const struct frame_texts *t, const struct tacho_spot *p)
{
	uint64_t h = (p->offset ^ p->object * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> 32) & (t->cap - 1);
}

/* The slot of a place, or the free one where it belongs. */
static struct frame_slot *find(const struct frame_texts *t, const struct tacho_spot *p, uint32_t fields)
{
	for (size_t i = slot_of(t, p);; i = (i + 1) & (t->cap - 1)) {
		struct frame_slot *s = &t->slots[i];

		if (!s->fields || (s->place.offset == p->offset && s->place.object == p->object &&
				   s->fields == fields))
			return s;
	}
}

static int grow(struct frame_texts *t)
{
	size_t cap = t->cap ? t->cap * 2 : FIRST_SLOTS;
	struct frame_texts bigger = { .cap = cap, .n = t->n, .bytes = t->bytes, .arena = t->arena };

	bigger.slots = aligned_alloc(64, cap * sizeof(*bigger.slots));	/* none lies in two cache lines */
	if (!bigger.slots)
		return -ENOMEM;
	memset(bigger.slots, 0, cap * sizeof(*bigger.slots));
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].fields)
			*find(&bigger, &t->slots[i].place, t->slots[i].fields) = t->slots[i];
	free(t->slots);
	*t = bigger;
	return 0;
}

static void put_text(struct buf *out, const struct tacho_symbols *s, const struct tacho_frame *f,
		     uint32_t fields)
{
	struct tacho_object_info info = { .size = sizeof(info) };

	if (fields & FIELD_SYM) {
		buf_putc(out, ' ');
		buf_puts(out, tacho_symbols_name(s, f->symbol));
		if ((fields & FIELD_SYMOFF) && f->symbol)
			buf_printf(out, "+0x%llx", (unsigned long long)f->symbol_offset);
	}
	if (!(fields & FIELD_DSO))
		return;
	if (tacho_symbols_object(s, f->object, &info) < 0)
		info.path = "[unknown]";
	buf_printf(out, " (%s", info.path);
	if ((fields & FIELD_DSOFF) && f->object && !info.kernel)
		buf_printf(out, "+0x%llx", (unsigned long long)f->object_offset);
	buf_putc(out, ')');
}

static const char *keep_text(struct frame_texts *t, struct buf *text)
{
	size_t bytes = text->n + 1 + PUT_SLACK;
	char *copy = buf_failed(text) || text->n > UINT32_MAX ? NULL : arena_alloc(&t->arena, bytes);

	if (!copy)
		return NULL;
	if (text->n)
		memcpy(copy, text->bytes, text->n);
	copy[text->n] = '\n';
	t->bytes += bytes;
	return copy;
}

static int make_text(struct script *s, struct frame_slot *slot, const struct tacho_frame *f,
		     uint32_t fields)
{
	scoped(buf_done) struct buf text = { 0 };

	put_text(&text, s->symbols, f, fields);
	slot->text = keep_text(&s->frames, &text);
	slot->n = (uint32_t)text.n;
	return slot->text ? 0 : -ENOMEM;
}

/* The text of a place that was not met before. */
static const struct frame_slot *add(struct script *s, uint32_t pid, enum tacho_space space, uint64_t ip,
				    const struct tacho_spot *place, uint32_t fields)
{
	struct frame_slot fresh = { .place = *place, .fields = fields }, *slot;
	struct tacho_frame frame;

	if (s->frames.n * 2 >= s->frames.cap && grow(&s->frames) < 0)
		return NULL;
	if (tacho_symbols_resolve(s->symbols, pid, space, ip, &frame) < 0)
		frame = (struct tacho_frame){ .space = space };
	if (make_text(s, &fresh, &frame, fields) < 0)
		return NULL;
	slot = find(&s->frames, place, fields);
	*slot = fresh;
	s->frames.n++;
	return slot;
}

int frame_texts_get(struct script *s, uint32_t pid, enum tacho_space space, const uint64_t *ips,
		    size_t n, uint32_t fields, struct frame_text *out)
{
	struct frame_texts *t = &s->frames;
	struct tacho_spot places[FRAMES_AT_ONCE];
	int err = tacho_symbols_spots(s->symbols, pid, space, ips, n, places);

	if (!err && !t->cap)
		err = grow(t);
	if (err)
		return err;
	fields = (fields & SHOWN) | 1u << 31;
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&t->slots[slot_of(t, &places[i])]);
	for (size_t i = 0; i < n; i++) {
		const struct frame_slot *slot = find(t, &places[i], fields);

		if (!slot->fields)
			slot = add(s, pid, space, ips[i], &places[i], fields);
		if (!slot)
			return -ENOMEM;
		out[i] = (struct frame_text){ slot->text, slot->n };
		__builtin_prefetch(slot->text);
		__builtin_prefetch(slot->text + 64);
	}
	return 0;
}
