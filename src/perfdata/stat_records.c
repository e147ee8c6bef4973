/*
 * Decoding of the records in which `stat record` stores counts, and of BUILD_ID records. Records that contain a list are
 * read with the same functions as features that are lists.
 */
#include "perfdata/feature_decode.h"

#include <errno.h>

#include "record/record.h"

#define COMM_BYTES 16u

int tacho_record_list(const struct tacho_record *rec, struct tacho_feature_list *out)
{
	struct cursor c = record_body(rec, rec->swapped);
	struct tacho_feature_list list = { .left = UINT64_MAX, .swapped = rec->swapped };
	uint64_t entry_bytes;

	switch (rec->type) {
	case TACHO_RECORD_BUILD_ID:	/* the record itself is the only entry */
		list.at = rec->bytes;
		list.end = rec->bytes + rec->size;
		*out = list;
		return 0;
	case TACHO_RECORD_THREAD_MAP:
		entry_bytes = 8 + COMM_BYTES;
		break;
	case TACHO_RECORD_STAT_CONFIG:
		entry_bytes = 16;
		break;
	default:
		return -EINVAL;
	}
	list.left = cursor_u64(&c);
	if (c.bad || list.left > (uint64_t)(c.end - c.at) / entry_bytes)
		return -EBADMSG;
	list.at = c.at;
	list.end = c.end;
	*out = list;
	return 0;
}

int tacho_thread_map_next(struct tacho_feature_list *list, struct tacho_thread_map_entry *out)
{
	struct cursor c;
	const char *comm;

	if (!list_cursor(list, &c))
		return 0;
	out->tid = (int64_t)cursor_u64(&c);
	comm = cursor_bytes(&c, COMM_BYTES);
	out->comm = comm ? (struct tacho_text){ comm, strnlen(comm, COMM_BYTES) } : (struct tacho_text){ "", 0 };
	return list_advance(list, &c);
}

int tacho_stat_config_next(struct tacho_feature_list *list, struct tacho_stat_config *out)
{
	struct cursor c;

	if (!list_cursor(list, &c))
		return 0;
	out->tag = cursor_u64(&c);
	out->value = cursor_u64(&c);
	return list_advance(list, &c);
}

int tacho_stat_value_decode(const struct tacho_record *rec, struct tacho_stat_value *out)
{
	struct cursor c = record_body(rec, rec->swapped);
	struct tacho_stat_value v;

	v.id = cursor_u64(&c);
	v.cpu = (int32_t)cursor_u32(&c);
	v.thread = cursor_u32(&c);
	v.value = cursor_u64(&c);
	v.enabled_ns = cursor_u64(&c);
	v.running_ns = cursor_u64(&c);
	if (rec->type != TACHO_RECORD_STAT || c.bad)
		return rec->type != TACHO_RECORD_STAT ? -EINVAL : -EBADMSG;
	*out = v;
	return 0;
}

int tacho_stat_round_decode(const struct tacho_record *rec, bool *final, uint64_t *time_ns)
{
	struct cursor c = record_body(rec, rec->swapped);
	uint64_t type = cursor_u64(&c), time = cursor_u64(&c);

	if (rec->type != TACHO_RECORD_STAT_ROUND || c.bad)
		return rec->type != TACHO_RECORD_STAT_ROUND ? -EINVAL : -EBADMSG;
	*final = type & 0xff;		/* u8, and padding that perf does not clear */
	*time_ns = time;
	return 0;
}
