/*
 * Frames as text. The same few thousand places come again and again, so what follows the address
 * on a line is put together once per place and copied ever after.
 */
#include "cli/script.h"

enum { FIRST_SLOTS = 4096 };
#define SHOWN (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF)

void frame_texts_done(struct frame_texts *t)
{
	free(t->slots);
	arena_done(&t->arena);
}

static size_t place(const struct frame_texts *t, const struct frame_slot *key)
{
	uint64_t h = key->offset * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)key->object << 32 | key->symbol) * 0xff51afd7ed558ccdull;
	h ^= key->fields;
	h ^= h >> 32;
	return (size_t)h & (t->cap - 1);
}

static struct frame_slot *find(struct frame_texts *t, const struct frame_slot *key)
{
	size_t i = place(t, key);

	for (;; i = (i + 1) & (t->cap - 1)) {
		struct frame_slot *s = &t->slots[i];

		if (!s->fields || (s->offset == key->offset && s->object == key->object &&
				   s->symbol == key->symbol && s->fields == key->fields))
			return s;
	}
}

static bool grow(struct frame_texts *t)
{
	struct frame_texts bigger = { .cap = t->cap ? t->cap * 2 : FIRST_SLOTS };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].fields)
			*find(&bigger, &t->slots[i]) = t->slots[i];
	free(t->slots);
	t->slots = bigger.slots;
	t->cap = bigger.cap;
	return true;
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

const struct frame_slot *frame_text(struct frame_texts *t, const struct tacho_symbols *s,
				    const struct tacho_frame *f, uint32_t fields)
{
	struct frame_slot key = {
		.offset = f->object ? f->object_offset : f->symbol_offset,
		.object = f->object, .symbol = f->symbol, .fields = (fields & SHOWN) | 1u << 31,
	}, *slot;
	struct buf text = { 0 };

	if (t->n * 2 >= t->cap && !grow(t))
		return NULL;
	slot = find(t, &key);
	if (slot->fields)
		return slot;
	put_text(&text, s, f, fields);
	if (!buf_failed(&text) && text.n)
		key.text = arena_str(&t->arena, buf_view(&text));
	key.n = (uint32_t)text.n;
	buf_done(&text);
	if (key.n && !key.text)
		return NULL;
	*slot = key;
	t->n++;
	return slot;
}
