/*
 * The offsets of the id and the time in a record, and the event that an id belongs to. Both are at a fixed
 * distance from the start or the end of the record, so they are found without decoding it:
 *
 *	sample:   header identifier ip pid,tid time addr id ...	      counted from the start
 *	others:   header ... pid,tid time id stream_id cpu identifier	      counted from the end
 */
#include "perfdata/perfdata.h"

#include <errno.h>

#include "record/sample_offsets.h"

struct record_offsets record_offsets_of(const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;
	uint64_t id = type & PERF_SAMPLE_IDENTIFIER ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;
	struct record_offsets w = OFFSETS_NONE;

	if (type & id)
		w.sample_id = sample_field_offset(type, id);
	if (type & PERF_SAMPLE_TIME)
		w.sample_time = sample_field_offset(type, PERF_SAMPLE_TIME);
	if (lay->sample_id_all && (type & id))
		w.other_id = trailer_field_offset(type, id);
	if (lay->sample_id_all && (type & PERF_SAMPLE_TIME))
		w.other_time = trailer_field_offset(type, PERF_SAMPLE_TIME);
	return w;
}

static bool same_time_offset(const struct record_offsets *a, const struct record_offsets *b)
{
	return a->sample_time == b->sample_time && a->other_time == b->other_time;
}

int record_offsets_add(struct tacho_perfdata *pd, const struct tacho_layout *lay)
{
	struct record_offsets *w = vec_add(&pd->event_offsets);

	if (!w)
		return -ENOMEM;
	*w = record_offsets_of(lay);
	if (pd->event_offsets.n == 1)
		pd->offsets = *w;
	pd->same_time_offset = pd->same_time_offset && same_time_offset(w, &pd->offsets);
	return 0;
}

int tacho_perfdata_event_of(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	uint64_t id;
	int event;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR || pd->events.n == 0)
		return -1;
	if (pd->events.n == 1)
		return 0;
	id = record_word_at(rec->bytes, rec->type, rec->size, pd->offsets.sample_id, pd->offsets.other_id,
			rec->swapped);
	/* Records synthesized by the recorder have id 0 and the layout of the first event. */
	event = id ? event_of_id(pd, id) : 0;
	return (size_t)event < pd->events.n ? event : -1;
}

uint64_t record_time(const struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	const struct record_offsets *w = &pd->offsets;

	if (rec->type >= TACHO_RECORD_HEADER_ATTR)
		return 0;
	if (!pd->same_time_offset) {
		int event = tacho_perfdata_event_of(pd, rec);

		if (event < 0)
			return 0;
		w = &pd->event_offsets.v[event];
	}
	return record_time_at(w, rec->bytes, rec->type, rec->size, rec->swapped);
}
