/*
 * The field srcline: source file and line of a frame, on a separate line after it.
 */
#include "cli/script/script.h"

#include <inttypes.h>

void script_srcline(struct tacho_symbols *s, const struct tacho_frame *f, bool full_path,
		    struct buf *out)
{
	const char *file, *slash;
	uint32_t line;

	if (tacho_symbols_srcline(s, f, &file, &line) <= 0)
		return;
	slash = full_path ? NULL : strrchr(file, '/');
	buf_printf(out, "\n  %s:%" PRIu32, slash ? slash + 1 : file, line);
}
