/*
 * Reads source files and splits them into lines. Only regular files below 16 MiB are read: the path comes from debug
 * information, which may be untrusted.
 */
#include "cli/annotate/source_file.h"

#include "base/io.h"
#include "base/vec.h"

#define SOURCE_BYTES_MAX (16u << 20)

/* With a prefix: PREFIX/PATH, without the first `strip` directories of PATH. */
static void put_path(const struct source_files *s, const char *path, struct buf *out)
{
	const char *rest = path;

	if (!s->prefix || path[0] != '/') {
		buf_puts(out, path);
		return;
	}
	for (uint32_t i = 0; i < s->strip && rest; i++)
		rest = strchr(rest + 1, '/');
	buf_printf(out, "%s%s", s->prefix, rest ? rest : path);
}

static int split_lines(struct source_file *f)
{
	size_t from = 0;

	while (from < f->text.n) {
		char *end = memchr(f->text.bytes + from, '\n', f->text.n - from);
		size_t to = end ? (size_t)(end - f->text.bytes) : f->text.n;
		uint32_t *at = vec_next(&f->lines);

		if (!at)
			return -1;
		*at = (uint32_t)from;
		if (to > from && f->text.bytes[to - 1] == '\r')
			f->text.bytes[to - 1] = ' ';
		str_make_printable(f->text.bytes + from, to - from);
		f->text.bytes[to] = '\0';
		from = to + 1;
	}
	return 0;
}

/* A file that cannot be read has no lines. */
static void read_lines(const struct source_files *s, struct source_file *f)
{
	scoped(buf_done) struct buf path = { 0 };
	scoped(closep) int fd = -1;

	put_path(s, f->path, &path);
	fd = buf_failed(&path) ? -1 : io_open_regular(path.bytes);
	if (fd < 0 ||
	    io_read(path.bytes, SOURCE_BYTES_MAX, &f->text) < 0 || buf_failed(&f->text) || !f->text.n)
		return;
	if (split_lines(f) < 0)
		f->lines.n = 0;
}

struct source_file *source_file_get(struct source_files *s, const char *path)
{
	struct source_file *f;

	for (size_t i = s->files.n; i--;)
		if (strcmp(s->files.v[i].path, path) == 0)
			return &s->files.v[i];
	if (s->files.n == SOURCE_FILES_MAX)
		return NULL;
	f = vec_add(&s->files);
	if (!f)
		return NULL;
	f->path = str_dup(str_of(path));
	if (!f->path) {
		s->files.n--;
		return NULL;
	}
	read_lines(s, f);
	return f;
}

const char *source_line(const struct source_file *f, uint32_t line)
{
	return line && line <= f->lines.n ? f->text.bytes + f->lines.v[line - 1] : NULL;
}

void source_files_done(struct source_files *s)
{
	for (size_t i = 0; i < s->files.n; i++) {
		free(s->files.v[i].path);
		buf_done(&s->files.v[i].text);
		vec_done(&s->files.v[i].lines);
	}
	vec_done(&s->files);
}
