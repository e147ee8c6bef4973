/*
 * The trailer (struct sample_id) that sample_id_all appends to every record but SAMPLE, and access to the
 * two fields that are needed before a record is decoded: the id of its event and its time. Both are at a
 * fixed distance from the start or the end of the record, which follows from sample_type alone.
 */
#include "record/record.h"
#include "record/sample_offsets.h"

#define WORD sizeof(uint64_t)

static bool has_trailer(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	return lay->sample_id_all && rec->type < RECORD_USER_TYPE;
}

void trailer_take(struct tacho_sample_id *out, struct cursor *c, const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;
	size_t n = trailer_bytes(type);
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

/* The word at offset `at`; `none` if the record is too short. */
static uint64_t front_word(const struct tacho_record *rec, size_t at, uint64_t none)
{
	return rec->size < at + WORD ? none : load_u64(rec->bytes + at, rec->swapped);
}

/* The word `back` bytes before the end of the record; `none` if the record is too short. */
static uint64_t back_word(const struct tacho_record *rec, size_t back, uint64_t none)
{
	return rec->size < RECORD_HEADER_BYTES + back ? none : load_u64(rec->bytes + rec->size - back, rec->swapped);
}

uint64_t tacho_record_id(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;
	uint64_t field = type & PERF_SAMPLE_IDENTIFIER ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;

	if (!(type & field))
		return 0;
	if (rec->type == TACHO_RECORD_SAMPLE)
		return front_word(rec, sample_field_offset(type, field), 0);
	return has_trailer(rec, lay) ? back_word(rec, trailer_field_offset(type, field), 0) : 0;
}

/* Some records have their time in the payload, which is used if there is no trailer. */
static uint64_t payload_time(const struct tacho_record *rec)
{
	switch (rec->type) {
	case TACHO_RECORD_EXIT:
	case TACHO_RECORD_FORK:
		return front_word(rec, RECORD_HEADER_BYTES + 2 * WORD, UINT64_MAX);
	case TACHO_RECORD_THROTTLE:
	case TACHO_RECORD_UNTHROTTLE:
		return front_word(rec, RECORD_HEADER_BYTES, UINT64_MAX);
	}
	return UINT64_MAX;
}

uint64_t tacho_record_time(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;

	if (rec->type == TACHO_RECORD_SAMPLE && !(type & PERF_SAMPLE_TIME))
		return UINT64_MAX;
	if (rec->type == TACHO_RECORD_SAMPLE)
		return front_word(rec, sample_field_offset(type, PERF_SAMPLE_TIME), UINT64_MAX);
	if (!(type & PERF_SAMPLE_TIME) || !has_trailer(rec, lay))
		return payload_time(rec);
	return back_word(rec, trailer_field_offset(type, PERF_SAMPLE_TIME), UINT64_MAX);
}
