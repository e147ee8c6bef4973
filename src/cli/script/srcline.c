/*
 * The field srcline: source file and line of a frame, on a separate line after it.
 */
#include "cli/script/script.h"

#include <inttypes.h>

void script_put_line(const char *file, uint32_t line, bool full_path, struct buf *out)
{
	const char *slash = full_path || !file ? NULL : strrchr(file, '/');

	if (file)
		buf_printf(out, "\n  %s:%" PRIu32, slash ? slash + 1 : file, line);
}

void script_srcline(struct tacho_symbols *s, const struct tacho_frame *f, bool full_path,
		    struct buf *out)
{
	const char *file;
	uint32_t line;

	if (tacho_symbols_srcline(s, f, &file, &line) > 0)
		script_put_line(file, line, full_path, out);
}
