/*
 * Expands an include: a pattern, a file, or a directory, which means all files in it with the
 * right suffix. Other files there, such as backups of editors or packages, are ignored.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

static int visit_files(const glob_t *found, const char *suffix,
		       int (*fn)(void *arg, const char *path), void *arg, bool inner);

static int visit_dir(const char *dir, const char *suffix, int (*fn)(void *arg, const char *path),
		     void *arg)
{
	struct buf pattern = { 0 };
	glob_t found = { 0 };
	int err = 0;

	/* Escape glob characters in the directory's name. */
	for (const char *c = dir; *c; c++) {
		if (strchr("\\*?[", *c))
			buf_putc(&pattern, '\\');
		buf_putc(&pattern, *c);
	}
	buf_puts(&pattern, "/*");
	buf_puts(&pattern, suffix);
	if (buf_failed(&pattern) || glob(pattern.bytes, 0, NULL, &found) == GLOB_NOSPACE)
		err = -ENOMEM;
	else
		err = visit_files(&found, suffix, fn, arg, true);
	globfree(&found);
	buf_done(&pattern);
	return err;
}

static int visit_files(const glob_t *found, const char *suffix,
		       int (*fn)(void *arg, const char *path), void *arg, bool inner)
{
	int err = 0;

	for (size_t i = 0; i < found->gl_pathc && !err; i++) {
		struct stat st;

		if (stat(found->gl_pathv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			if (!inner)
				err = visit_dir(found->gl_pathv[i], suffix, fn, arg);
			continue;
		}
		err = fn(arg, found->gl_pathv[i]);
	}
	return err;
}

int config_glob(const char *pattern, const char *dir, const char *suffix,
		int (*fn)(void *arg, const char *path), void *arg)
{
	struct buf whole = { 0 };
	glob_t found = { 0 };
	int err = 0, got;

	if (pattern[0] != '/' && dir && strcmp(dir, "."))
		buf_printf(&whole, "%s/", dir);
	buf_puts(&whole, pattern);
	got = buf_failed(&whole) ? GLOB_NOSPACE : glob(whole.bytes, 0, NULL, &found);
	if (got == GLOB_NOSPACE)
		err = -ENOMEM;
	else if (got)		/* a pattern may match nothing, but a plain name must exist */
		err = str_has_glob(str_of(pattern)) ? 0 : -ENOENT;
	else
		err = visit_files(&found, suffix, fn, arg, false);
	globfree(&found);
	buf_done(&whole);
	return err;
}
