/*
 * Entries of the feature BUILD_ID. Each is a record: header (type, misc, size), pid, twenty bytes
 * of id, its length (where misc says so; 20 else) and three of padding, then the path.
 */
#include "cli/files/build_id_table.h"

#include <errno.h>
#include <string.h>

enum { ID_AT = 12, LENGTH_AT = 32, PATH_AT = 36, MISC_AT = 4, SIZE_AT = 6 };
#define MISC_LENGTH (1u << 15)

struct file_build_ids file_build_ids(const struct tacho_perfdata *pd)
{
	size_t n = 0;
	const uint8_t *at = tacho_perfdata_feature(pd, TACHO_FEATURE_BUILD_ID, &n);

	return (struct file_build_ids){ at, at ? at + n : NULL, tacho_perfdata_swapped(pd) };
}

struct file_build_ids file_build_ids_of(const struct tacho_record *rec)
{
	return (struct file_build_ids){ rec->bytes, rec->bytes + rec->size, rec->swapped };
}

static uint16_t u16_at(const struct file_build_ids *it, size_t at)
{
	uint16_t v;

	memcpy(&v, it->at + at, sizeof(v));
	return it->swap ? __builtin_bswap16(v) : v;
}

bool file_build_id_next(struct file_build_ids *it, struct file_build_id *out)
{
	size_t size;

	if (it->end - it->at <= PATH_AT)
		return false;
	size = u16_at(it, SIZE_AT);
	if (size <= PATH_AT || size > (size_t)(it->end - it->at) ||
	    !memchr(it->at + PATH_AT, 0, size - PATH_AT))
		return false;
	*out = (struct file_build_id){ .path = (const char *)it->at + PATH_AT,
				       .misc = u16_at(it, MISC_AT) };
	memcpy(out->id, it->at + ID_AT, sizeof(out->id));
	out->n = out->misc & MISC_LENGTH ? min_of(it->at[LENGTH_AT], (uint8_t)20) : 20;
	out->kernel = (out->misc & 7) == 1;
	it->at += size;
	return true;
}

int file_build_ids_feed(const struct tacho_perfdata *pd, struct tacho_symbols *s)
{
	struct file_build_ids it = file_build_ids(pd);
	struct file_build_id entry;
	int err = 0;

	while (!err && file_build_id_next(&it, &entry)) {
		err = tacho_symbols_set_build_id(s, entry.path, entry.id, entry.n, entry.kernel);
		if (err != -ENOMEM)
			err = 0;
	}
	return err;
}

void build_id_text(const uint8_t *id, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[id[i] >> 4];
		*out++ = digits[id[i] & 15];
	}
	*out = 0;
}
