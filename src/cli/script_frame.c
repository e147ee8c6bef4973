/*
 * Frames as text. The same few thousand places come again and again, so what follows the address
 * on a line is put together once per place and copied ever after.
 */
#include "cli/script.h"

#include <errno.h>

#include "cli/put.h"

enum { FIRST_SLOTS = 4096 };
#define SHOWN (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_DSOFF | FIELD_SRCLINE)
#define USED FIELD_COMM			/* any bit that is none of these: the slot is taken */

int frame_texts_init(struct frame_texts *t)
{
	size_t bytes = 2 * FRAMES_RECENT * sizeof(*t->recent);

	t->recent = aligned_alloc(64, bytes);	/* so that none lies in two cache lines */
	if (!t->recent)
		return -ENOMEM;
	memset(t->recent, 0, bytes);
	return 0;
}

void frame_texts_done(struct frame_texts *t)
{
	free(t->recent);
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

static const char *copy_text(struct arena *arena, const struct buf *text)
{
	char *copy = arena_alloc(arena, text->n + PUT_SLACK);

	if (copy)
		memcpy(copy, text->bytes, text->n);
	return copy;
}

const struct frame_slot *frame_text(struct frame_texts *t, struct tacho_symbols *s,
				    const struct tacho_frame *f, uint32_t fields)
{
	struct frame_slot key = {
		.offset = f->object ? f->object_offset : f->symbol_offset,
		.object = f->object, .symbol = f->symbol, .fields = (fields & SHOWN) | USED,
	}, *slot;
	struct buf text = { 0 };

	if (t->n * 2 >= t->cap && !grow(t))
		return NULL;
	slot = find(t, &key);
	if (slot->fields)
		return slot;
	put_text(&text, s, f, fields);
	if (fields & FIELD_SRCLINE)
		script_srcline(s, f, t->full_paths, &text);
	if (!buf_failed(&text) && text.n)
		key.text = copy_text(&t->arena, &text);
	key.n = (uint32_t)text.n;
	buf_done(&text);
	if (key.n && !key.text)
		return NULL;
	*slot = key;
	t->n++;
	return slot;
}

/* ---- recent addresses ---- */

void frame_texts_changed(struct frame_texts *t, const struct tacho_other *r)
{
	switch (r->type) {
	case TACHO_RECORD_MMAP:
	case TACHO_RECORD_MMAP2:
		if ((r->misc & 7) == TACHO_SPACE_KERNEL)
			t->kernel_age++;
		else
			t->ages[r->mmap.pid % FRAMES_AGES]++;
		break;
	case TACHO_RECORD_COMM:
		t->ages[r->comm.pid % FRAMES_AGES]++;
		break;
	case TACHO_RECORD_FORK:
	case TACHO_RECORD_EXIT:
		if (r->task.pid != r->task.ppid || r->type == TACHO_RECORD_EXIT)
			t->ages[r->task.pid % FRAMES_AGES]++;
		break;
	case TACHO_RECORD_KSYMBOL:
		t->kernel_age++;
		break;
	}
}

/* Kernel addresses are everybody's: their texts are kept under no process. */
#define NOBODY UINT32_MAX

const struct frame_recent *frame_at(struct script *s, uint32_t pid, enum tacho_space space,
				    uint64_t ip, uint32_t fields)
{
	struct frame_texts *t = &s->frames;
	bool kernel = space == TACHO_SPACE_KERNEL;
	uint32_t who = kernel ? NOBODY : pid ^ (uint32_t)space << 28;
	uint32_t age = (kernel ? t->kernel_age : t->ages[pid % FRAMES_AGES]) + 1;
	struct frame_recent *r = frame_place(t, pid, space, ip);
	const struct frame_slot *slot;
	struct tacho_frame frame;

	if (r->ip == ip && r->pid == who && r->age == age && r->fields == fields)
		return r;
	if (tacho_symbols_resolve(s->symbols, pid, space, ip, &frame) < 0)
		frame = (struct tacho_frame){ .space = space };
	slot = frame_text(t, s->symbols, &frame, fields);
	if (!slot)
		return NULL;
	*r = (struct frame_recent){ ip, who, age, fields, slot->n, slot->text };
	return r;
}
