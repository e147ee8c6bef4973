/*
 * The lines of a source file.
 */
#ifndef PROBE_SOURCE_FILE_H
#define PROBE_SOURCE_FILE_H

#include "base/buf.h"

struct source_text {
	char *path;			/* as in the debug data; NULL: not read */
	struct buf text;
	struct { uint32_t *v; size_t n, cap; } starts;
};

/* Searches the file: below `root` (-s DIR) by its path or name, where the debug data says, and relative to `dir`. 0 or a
 * negative errno. */
int source_file_read(struct source_text *f, const char *path, const char *dir, const char *root);
void source_file_done(struct source_text *f);
static inline bool source_file_has(const struct source_text *f, int line)
{
	return line > 0 && (size_t)line <= f->starts.n;
}
struct str source_file_line(const struct source_text *f, int line);	/* without its newline */
/* Whether a line matches a pattern, where blanks do not count. */
bool line_matches(struct str pattern, struct str line);

#endif
