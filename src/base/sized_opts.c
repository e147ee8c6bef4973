/*
 * Copies option structs of other versions of the library; see sized_opts.h.
 */
#include "base/sized_opts.h"

#include <errno.h>
#include <string.h>

int opts_copy(void *to, size_t size, const void *from, struct tacho_error *e)
{
	const unsigned char *bytes = from;
	size_t given;

	memset(to, 0, size);
	if (!from)
		return 0;
	memcpy(&given, from, sizeof(given));
	if (given < sizeof(given)) {
		error_set(e, -EINVAL, "the size field of the options is not set");
		error_hint(e, "use TACHO_OPTS(), or set it to the size of the struct");
		return -EINVAL;
	}
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return error_set(e, -E2BIG,
					 "the options set a field that libtacho %s does not know",
					 TACHO_VERSION);
	memcpy(to, from, min_of(given, size));
	return 0;
}
