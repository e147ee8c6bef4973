/*
 * Counter values inside records, in the layout selected by read_format:
 *
 *	single	value [enabled] [running] [id] [lost]
 *	group	nr [enabled] [running] then nr times: value [id] [lost]
 *
 * The words stay in that layout; tacho_read_get() computes the position of a value.
 */
#include "record/record.h"

static size_t n_times(uint64_t format)
{
	return !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

/* The number of words per value, including its id and lost count. */
static size_t n_each(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

void read_take(struct tacho_read *out, struct cursor *c, struct tacho_scratch *s, uint64_t format)
{
	bool group = format & PERF_FORMAT_GROUP;
	struct cursor peek = *c;
	uint64_t n = group ? cursor_u64(&peek) : 1;
	size_t at = 1;

	/* No record has more values; the bound keeps the product below from overflowing. */
	if (peek.bad || n > UINT16_MAX) {
		c->bad = true;
		return;
	}
	out->words = words_take(c, s, (group ? 1 : 0) + n_times(format) + n * n_each(format));
	if (c->bad)
		return;
	out->n = (size_t)n;
	out->format = format;
	if (!out->words.v)	/* an empty group without times */
		return;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out->enabled_ns = out->words.v[at++];
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out->running_ns = out->words.v[at];
}

struct tacho_read_value tacho_read_get(const struct tacho_read *r, size_t i)
{
	struct tacho_read_value value = { 0 };
	bool group = r->format & PERF_FORMAT_GROUP;
	const uint64_t *v = r->words.v;

	if (i >= r->n)
		return value;
	if (group)
		v += 1 + n_times(r->format) + i * n_each(r->format);
	value.value = *v++;
	if (!group)
		v += n_times(r->format);
	if (r->format & PERF_FORMAT_ID)
		value.id = *v++;
	if (r->format & PERF_FORMAT_LOST)
		value.lost = *v;
	return value;
}
