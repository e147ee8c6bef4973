/*
 * Passes the build IDs of a recording to the symbol resolver, and converts build IDs to text.
 */
#include "cli/files/build_id_table.h"

#include <errno.h>

int file_build_ids_feed(const struct tacho_perfdata *pd, struct tacho_symbols *s)
{
	struct tacho_feature_list list;
	struct tacho_file_build_id entry;
	size_t n;
	const void *symbols = tacho_perfdata_feature(pd, TACHO_FEATURE_SYMBOLS, &n);
	int err = 0;

	/* Those of a newer version or damaged ones are as good as none. */
	if (symbols && tacho_symbols_set_embedded(s, symbols, n) == -ENOMEM)
		return -ENOMEM;
	if (tacho_perfdata_list(pd, TACHO_FEATURE_BUILD_ID, &list) < 0)
		return 0;
	while (!err && tacho_build_id_next(&list, &entry) > 0) {
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
