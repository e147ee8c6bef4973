/*
 * Lines of source files. Each file is read once; its text may be untrusted, so lines are made printable.
 */
#ifndef CLI_ANNOTATE_SOURCE_FILE_H
#define CLI_ANNOTATE_SOURCE_FILE_H

#include "base/buf.h"

#define SOURCE_FILES_MAX 4096

struct source_file {
	char *path;			/* as in the debug information */
	struct buf text;		/* lines are NUL-terminated; empty: the file cannot be read */
	struct { uint32_t *v; size_t n, cap; } lines;	/* where each line starts */
	uint32_t shown;			/* for callers: the last line that was shown; 0: none */
};

struct source_files {
	const char *prefix;		/* put before absolute paths; NULL: none */
	uint32_t strip;			/* how many leading directories `prefix` replaces */
	struct { struct source_file *v; size_t n, cap; } files;
};

/* The file of that path; NULL without memory or if there are too many. Valid until the next call. */
struct source_file *source_file_get(struct source_files *s, const char *path);
/* The text of a line, counted from 1; NULL: the file has no such line, or cannot be read. */
const char *source_line(const struct source_file *f, uint32_t line);
void source_files_done(struct source_files *s);

#endif
