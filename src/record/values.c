/*
 * Counter values inside records, in the layout selected by read_format:
 *
 *	single	value [enabled] [running] [id] [lost]
 *	group	nr [enabled] [running] then nr times: value [id] [lost]
 *
 * The words stay in that layout; tacho_read_get() computes the position of a value.
 */
#include "record/record.h"

#include "record/read.h"

void read_take(struct tacho_read *out, struct cursor *c, struct tacho_scratch *s, uint64_t format)
{
	struct read_layout l = read_layout_of(format);
	bool group = format & PERF_FORMAT_GROUP;
	struct cursor peek = *c;
	uint64_t n = group ? cursor_u64(&peek) : 1;

	/* No record has more values; the bound keeps the product below from overflowing. */
	if (peek.bad || n > UINT16_MAX) {
		c->bad = true;
		return;
	}
	out->words = words_take(c, s, l.values + n * l.stride);
	if (c->bad || !out->words.v)
		return;
	out->n = (size_t)n;
	out->format = format;
	if (l.enabled)
		out->enabled_ns = out->words.v[l.enabled];
	if (l.running)
		out->running_ns = out->words.v[l.running];
}

struct tacho_read_value tacho_read_get(const struct tacho_read *r, size_t i)
{
	struct read_layout l = read_layout_of(r->format);
	const uint64_t *v;

	if (i >= r->n)
		return (struct tacho_read_value){ 0 };
	v = r->words.v + l.values + i * l.stride;
	return (struct tacho_read_value){ .value = v[0], .id = l.id ? v[l.id] : 0, .lost = l.lost ? v[l.lost] : 0 };
}
