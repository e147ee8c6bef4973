/*
 * Fields of tracepoints: looking them up in the format of an event, and reading those that are not four bytes.
 */
#include "kernel/fields.h"

#define FIELD_END_MAX 65535u

/* Whether the field lies within the largest record, so that handlers can read it. */
static bool is_sound(const struct tacho_trace_field *f)
{
	return f->size && f->size <= FIELD_END_MAX && f->offset <= FIELD_END_MAX - f->size &&
	       (!f->is_dynamic || f->size == sizeof(uint32_t));
}

static const struct tacho_trace_field *find_field(const struct tacho_trace_event *format, const char *name)
{
	for (size_t i = 0; i < tacho_trace_n_fields(format); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(format, i);

		if (!strcmp(f->name, name))
			return is_sound(f) ? f : NULL;
	}
	return NULL;
}

bool kernel_fields_find(struct kernel_event *ev)
{
	const struct kernel_handler *h = ev->handler;

	ev->min_raw = 0;
	for (size_t i = 0; i < KERNEL_FIELDS_MAX && h->fields[i]; i++) {
		bool optional = h->fields[i][0] == '?';
		const struct tacho_trace_field *f = find_field(ev->format, h->fields[i] + optional);

		if (!f && !optional)
			return false;
		if (!f)
			continue;
		ev->fields[i] = (struct kernel_field){ .offset = f->offset, .size = f->size, .is_signed = f->is_signed,
						       .is_dynamic = f->is_dynamic, .is_relative = f->is_relative };
		ev->min_raw = (uint16_t)max_of((uint32_t)ev->min_raw, f->offset + f->size);
	}
	return true;
}

uint64_t kernel_number_any(const struct kernel_sample *s, const struct kernel_field *f)
{
	const uint8_t *at = s->raw + f->offset;
	unsigned unused = 64 - 8 * min_of(f->size, 8u);
	uint64_t v;

	switch (f->size) {
	case 1:
		v = *at;
		break;
	case 2:
		v = load_u16(at, s->swapped);
		break;
	case 4:
		v = load_u32(at, s->swapped);
		break;
	case 8:
		return load_u64(at, s->swapped);
	default:			/* an array or a structure, or nothing */
		return 0;
	}
	return f->is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

struct str kernel_bytes(const struct kernel_sample *s, unsigned field)
{
	const struct kernel_field *f = &s->event->fields[field];
	uint32_t offset = f->offset, size = f->size, where;

	if (!size)
		return (struct str){ 0 };
	if (f->is_dynamic) {
		where = load_u32(s->raw + f->offset, s->swapped);
		offset = (where & 0xffff) + (f->is_relative ? f->offset + f->size : 0);
		size = where >> 16;
		if (offset > s->n_raw)
			return (struct str){ 0 };
		size = min_of(size, s->n_raw - offset);
	}
	return str_n((const char *)s->raw + offset, size);
}

struct str kernel_text(const struct kernel_sample *s, unsigned field)
{
	struct str text = kernel_bytes(s, field);

	return str_n(text.s, text.n ? strnlen(text.s, text.n) : 0);
}
