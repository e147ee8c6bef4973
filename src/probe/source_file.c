#include "probe/source_file.h"

#include <errno.h>
#include <stdio.h>

#include "base/io.h"
#include "base/vec.h"

#define SOURCE_BYTES_MAX (32u << 20)

static int try_read(struct source_text *f, const char *a, const char *b)
{
	scoped(freep) char *path = NULL;
	struct buf text = { 0 };
	int err;

	buf_printf(&text, "%s%s%s", a ? a : "", a ? "/" : "", b);
	path = buf_take(&text);
	if (!path)
		return -ENOMEM;
	if (!io_is_accessible(path, R_OK))
		return -errno;
	err = io_read(path, SOURCE_BYTES_MAX, &f->text);
	return err;
}

static int find_starts(struct source_text *f)
{
	uint32_t *slot;

	for (size_t at = 0; at < f->text.n;) {
		const char *end = memchr(f->text.bytes + at, '\n', f->text.n - at);

		slot = vec_next(&f->starts);
		if (!slot)
			return -ENOMEM;
		*slot = (uint32_t)at;
		at = end ? (size_t)(end - f->text.bytes) + 1 : f->text.n;
	}
	return 0;
}

int source_file_read(struct source_text *f, const char *path, const char *dir, const char *root)
{
	const char *slash = strrchr(path, '/');
	int err = -ENOENT;

	*f = (struct source_text){ 0 };
	if (root)
		err = try_read(f, root, path[0] == '/' ? path + 1 : path);
	if (err < 0 && root)
		err = try_read(f, root, slash ? slash + 1 : path);
	if (err < 0)
		err = try_read(f, NULL, path);
	if (err < 0 && path[0] != '/' && dir)
		err = try_read(f, dir, path);
	if (err >= 0)
		err = find_starts(f);
	if (err >= 0) {
		f->path = strdup(path);
		err = f->path ? 0 : -ENOMEM;
	}
	if (err < 0)
		source_file_done(f);
	return err;
}

void source_file_done(struct source_text *f)
{
	free(f->path);
	buf_done(&f->text);
	vec_done(&f->starts);
	*f = (struct source_text){ 0 };
}

struct str source_file_line(const struct source_text *f, int line)
{
	size_t start = f->starts.v[line - 1];
	size_t end = (size_t)line < f->starts.n ? f->starts.v[line] : f->text.n;

	while (end > start && (f->text.bytes[end - 1] == '\n' || f->text.bytes[end - 1] == '\r'))
		end--;
	return str_n(f->text.bytes + start, end - start);
}

static void put_without_blanks(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.s[i] != ' ' && s.s[i] != '\t')
			buf_putc(out, s.s[i]);
}

bool line_matches(struct str pattern, struct str line)
{
	scoped(buf_done) struct buf a = { 0 };
	scoped(buf_done) struct buf b = { 0 };

	put_without_blanks(&a, pattern);
	put_without_blanks(&b, line);
	return !buf_failed(&a) && !buf_failed(&b) && str_glob(buf_view(&a), buf_view(&b));
}
