/*
 * The trailer (struct sample_id) that sample_id_all appends to every record but SAMPLE, and access to the
 * two fields that are needed before a record is decoded: the id of its event and its time. Both are at a
 * fixed distance from the start or the end of the record, which follows from sample_type alone.
 */
#include "record/record.h"

#define WORD sizeof(uint64_t)

static bool has_trailer(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	return lay->sample_id_all && rec->type < RECORD_USER_TYPE;
}

/* The number of 64-bit words in the trailer from field number `from` in `order` on. */
static size_t trailer_words_from(uint64_t type, unsigned from)
{
	static const uint64_t order[] = {
		PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
	};
	size_t n = 0;

	for (size_t i = from; i < countof(order); i++)
		n += (type & order[i]) != 0;
	return n;
}

void trailer_take(struct tacho_sample_id *out, struct cursor *c, const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;
	size_t n = trailer_words_from(type, 0) * WORD;
	struct cursor t = *c;

	if (c->bad || (size_t)(c->end - c->at) < n) {
		c->bad = true;
		return;
	}
	c->end -= n;
	t.at = c->end;
	out->type = type;
	if (type & PERF_SAMPLE_TID) {
		out->pid = cursor_u32(&t);
		out->tid = cursor_u32(&t);
	}
	if (type & PERF_SAMPLE_TIME)
		out->time = cursor_u64(&t);
	if (type & PERF_SAMPLE_ID)
		out->id = cursor_u64(&t);
	if (type & PERF_SAMPLE_STREAM_ID)
		out->stream_id = cursor_u64(&t);
	if (type & PERF_SAMPLE_CPU) {
		out->cpu = cursor_u32(&t);
		cursor_u32(&t);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		out->id = cursor_u64(&t);
}

/* The word `at` words after the header; `none` if the record is too short. */
static uint64_t front_word(const struct tacho_record *rec, size_t at, uint64_t none)
{
	size_t offset = RECORD_HEADER_BYTES + at * WORD;

	if (rec->size < offset + WORD)
		return none;
	return load_u64(rec->bytes + offset, rec->swapped);
}

/* The word `back` words before the end of the record; `none` if the record is too short. */
static uint64_t back_word(const struct tacho_record *rec, size_t back, uint64_t none)
{
	if (rec->size < RECORD_HEADER_BYTES + back * WORD)
		return none;
	return load_u64(rec->bytes + rec->size - back * WORD, rec->swapped);
}

uint64_t tacho_record_id(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;

	if (!(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return 0;
	if (rec->type == TACHO_RECORD_SAMPLE) {
		if (type & PERF_SAMPLE_IDENTIFIER)
			return front_word(rec, 0, 0);
		return front_word(rec, !!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID) +
				  !!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ADDR), 0);
	}
	if (!has_trailer(rec, lay))
		return 0;
	return back_word(rec, type & PERF_SAMPLE_IDENTIFIER ? 1 : trailer_words_from(type, 2), 0);
}

/* Some records have their time in the payload, which is used if there is no trailer. */
static uint64_t payload_time(const struct tacho_record *rec)
{
	switch (rec->type) {
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_FORK:
		return front_word(rec, 2, UINT64_MAX);
	case TACHO_RECORD_THROTTLE:
	case TACHO_RECORD_UNTHROTTLE:
		return front_word(rec, 0, UINT64_MAX);
	}
	return UINT64_MAX;
}

uint64_t tacho_record_time(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;

	if (rec->type == TACHO_RECORD_SAMPLE) {
		if (!(type & PERF_SAMPLE_TIME))
			return UINT64_MAX;
		return front_word(rec, !!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP) +
				  !!(type & PERF_SAMPLE_TID), UINT64_MAX);
	}
	if (!(type & PERF_SAMPLE_TIME) || !has_trailer(rec, lay))
		return payload_time(rec);
	return back_word(rec, trailer_words_from(type, 1), UINT64_MAX);
}
