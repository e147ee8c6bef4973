/*
 * The offsets of fields in records that can be computed from sample_type alone. The first fields of a sample are 64-bit
 * words in the order below, up to the call chain unless there is a READ field before it; the sample_id trailer
 * of all other records is a list of 64-bit words at their end.
 *
 *	SAMPLE	header | IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD | READ | CALLCHAIN ...
 *	others	header | payload | TID TIME ID STREAM_ID CPU IDENTIFIER
 */
#ifndef RECORD_SAMPLE_OFFSETS_H
#define RECORD_SAMPLE_OFFSETS_H

#include "record/perf_abi.h"

#define SAMPLE_LEADING_FIELDS                                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |             \
	 PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define TRAILER_FIELDS                                                                                                 \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |               \
	 PERF_SAMPLE_IDENTIFIER)

/* The fields of a sample that come before the leading field `field`. */
static inline uint64_t sample_fields_before(uint64_t field)
{
	/* The order is that of the bits, except that IDENTIFIER is first and PERIOD is last. */
	if (field == PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (field == PERF_SAMPLE_PERIOD)
		return SAMPLE_LEADING_FIELDS & ~PERF_SAMPLE_PERIOD;
	if (field == PERF_SAMPLE_CPU)
		return SAMPLE_LEADING_FIELDS & ~(PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	if (field == PERF_SAMPLE_STREAM_ID)
		return SAMPLE_LEADING_FIELDS & ~(PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD);
	return PERF_SAMPLE_IDENTIFIER | (SAMPLE_LEADING_FIELDS & (field - 1));
}

/* The offset of a leading field from the start of a sample; 0 if the sample does not have it. */
static inline uint32_t sample_field_offset(uint64_t sample_type, uint64_t field)
{
	if (!(sample_type & field))
		return 0;
	return 8u + 8u * (uint32_t)__builtin_popcountll(sample_type & sample_fields_before(field));
}

/* The offset of the first field after the leading ones: READ, or else CALLCHAIN. */
static inline uint32_t sample_leading_end(uint64_t sample_type)
{
	return 8u + 8u * (uint32_t)__builtin_popcountll(sample_type & SAMPLE_LEADING_FIELDS);
}

/* The distance of a trailer field from the end of the record; 0 if the trailer does not have it. */
static inline uint32_t trailer_field_offset(uint64_t sample_type, uint64_t field)
{
	uint64_t from = field == PERF_SAMPLE_TID	? TRAILER_FIELDS :
			field == PERF_SAMPLE_TIME	? TRAILER_FIELDS & ~PERF_SAMPLE_TID :
			field == PERF_SAMPLE_ID		? TRAILER_FIELDS & ~(PERF_SAMPLE_TID | PERF_SAMPLE_TIME) :
			field == PERF_SAMPLE_STREAM_ID ? PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER :
			field == PERF_SAMPLE_CPU	? PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER :
							  PERF_SAMPLE_IDENTIFIER;

	return sample_type & field ? 8u * (uint32_t)__builtin_popcountll(sample_type & from) : 0;
}

/* The size of the trailer. */
static inline uint32_t trailer_bytes(uint64_t sample_type)
{
	return 8u * (uint32_t)__builtin_popcountll(sample_type & TRAILER_FIELDS);
}

#endif
