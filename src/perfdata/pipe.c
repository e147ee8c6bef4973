/*
 * In a pipe, records take the place of the header's sections: HEADER_ATTR (64), HEADER_FEATURE (80),
 * EVENT_UPDATE (78) and TRACING_DATA (66, whose payload the stream stores). They come before the data. Opening a
 * pipe reads up to the first data record, so that the events are known; tacho_perfdata_next() still returns
 * every record.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <inttypes.h>

#define LEAD_MAX (64u << 20)

static int take_attr(struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	const uint8_t *attr = rec->bytes + RECORD_HEADER_BYTES;
	size_t body = rec->size - RECORD_HEADER_BYTES;
	size_t n = attrs_size(attr, body, rec->swapped);
	int err = n ? attrs_add(pd, attr, n, attr + n, (body - n) / 8) : -EBADMSG;

	if (err == -EBADMSG)
		add_damage(pd, "byte %" PRIu64 ": an invalid attr was skipped", rec->offset);
	/* Names may come before their attr; most come after all attrs. */
	else if (err == 0 && pd->lead_done)
		err = features_name_events(pd);
	return err;
}

static int take_feature(struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	const uint8_t *body = rec->bytes + RECORD_HEADER_BYTES;
	uint64_t f;
	int err;

	if (rec->size < RECORD_HEADER_BYTES + 8)
		return 0;
	f = load_u64(body, rec->swapped);
	if (f == 0 || f >= TACHO_FEATURE_MAX)
		return 0;
	/* perf marks the end of the features by an empty one with the first unknown number. */
	if (rec->size == RECORD_HEADER_BYTES + 8 && f >= TACHO_FEATURE_CPU_DOMAIN_INFO)
		return 0;
	err = feature_set(pd, (unsigned)f, body + 8, rec->size - RECORD_HEADER_BYTES - 8u);
	pd->features[f].offset = rec->offset;
	if (err < 0 || !pd->lead_done ||
	    (f != TACHO_FEATURE_EVENT_DESC && f != TACHO_FEATURE_GROUP_DESC && f != TACHO_FEATURE_ARCH))
		return err;
	return features_name_events(pd);
}

static int update_text(struct tacho_perfdata *pd, struct event_row *row, uint64_t kind,
		       struct str text)
{
	char *copy = arena_text(&pd->arena, text);

	if (!copy)
		return -ENOMEM;
	if (kind == PIPE_UPDATE_UNIT) {
		row->pub.unit = row->unit = copy;
	} else {
		row->pub.name = row->name = copy;
		row->named = true;
	}
	return 0;
}

/* u64 kind, u64 id, then a string or a double. */
static int take_update(struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	struct cursor c = cursor_over(rec->bytes + RECORD_HEADER_BYTES,
				      rec->size - RECORD_HEADER_BYTES, rec->swapped);
	uint64_t kind = cursor_u64(&c), bits;
	int event = event_of_id(pd, cursor_u64(&c));
	struct event_row *row;

	if (c.bad || event < 0)
		return 0;
	row = pd->events.v[event].row;
	if (kind == PIPE_UPDATE_SCALE) {
		bits = cursor_u64(&c);
		if (!c.bad)
			memcpy(&row->pub.scale, &bits, sizeof(bits));
	} else if (kind == PIPE_UPDATE_UNIT || kind == PIPE_UPDATE_NAME) {
		size_t n = (size_t)(c.end - c.at);

		return update_text(pd, row, kind,
				   str_n((const char *)c.at, strnlen((const char *)c.at, n)));
	}
	return 0;
}

int pipe_take_metadata(struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	int err;

	if (pd->meta_bytes > META_MAX)
		return 0;
	pd->meta_bytes += rec->size;
	switch (rec->type) {
	case TACHO_RECORD_HEADER_ATTR:
		err = pd->header.pipe ? take_attr(pd, rec) : 0;
		break;
	case TACHO_RECORD_HEADER_FEATURE:
		err = pd->header.pipe ? take_feature(pd, rec) : 0;
		break;
	case TACHO_RECORD_EVENT_UPDATE:
		err = take_update(pd, rec);
		break;
	default:
		return 0;
	}
	return err == -ENOMEM ? err : 1;
}

static bool is_leading_record(uint32_t type)
{
	return type == TACHO_RECORD_HEADER_ATTR || type == TACHO_RECORD_EVENT_TYPE ||
	       type == TACHO_RECORD_TRACING_DATA || type == TACHO_RECORD_EVENT_UPDATE ||
	       type == TACHO_RECORD_HEADER_FEATURE || type == TACHO_RECORD_ID_INDEX ||
	       (type >= TACHO_RECORD_THREAD_MAP && type <= TACHO_RECORD_STAT_CONFIG) ||
	       type == TACHO_RECORD_TIME_CONV || type == TACHO_RECORD_AUXTRACE_INFO;
}

/* Stores offset and record: data from a pipe cannot be read a second time. */
static int store_lead(struct tacho_perfdata *pd, const struct tacho_record *rec)
{
	buf_put(&pd->lead, &rec->offset, sizeof(rec->offset));
	buf_put(&pd->lead, rec->bytes, rec->size);
	return buf_failed(&pd->lead) ? -ENOMEM : 0;
}

int pipe_read_ahead(struct tacho_perfdata *pd, struct perfdata_stream *s)
{
	const uint8_t *start = s->at;
	struct tacho_record rec;

	while (stream_skip_payload(s) == 0 && !s->ended && stream_fill(s, RECORD_HEADER_BYTES) &&
	       is_leading_record(load_u32(s->at, pd->header.swap)) && pd->lead.n < LEAD_MAX) {
		if (stream_next_raw(s, &rec) <= 0)
			break;
		if (pipe_take_metadata(pd, &rec) < 0 || (s->block && store_lead(pd, &rec) < 0))
			return -ENOMEM;
	}
	pd->lead_done = true;
	s->meta_end = stream_offset(s);
	if (!s->block) {
		s->at = start;
		s->payload_left = 0;
		s->failed = 0;
		s->ended = false;
	}
	return features_name_events(pd);
}

bool pipe_lead_next(struct tacho_perfdata *pd, struct tacho_record *rec)
{
	const uint8_t *at = (const uint8_t *)pd->lead.bytes + pd->lead_at;
	bool swap = pd->header.swap;

	if (pd->lead_at >= pd->lead.n)
		return false;
	*rec = (struct tacho_record){ .offset = load_u64(at, false), .bytes = at + 8,
				      .type = load_u32(at + 8, swap), .misc = load_u16(at + 12, swap),
				      .size = load_u16(at + 14, swap), .swapped = swap };
	pd->lead_at += 8u + rec->size;
	return true;
}
