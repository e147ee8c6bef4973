/*
 * The files that an include names: a pattern, one file, or a directory with the files in it, all of
 * them or those of one kind: what an editor or a package leaves there is no configuration.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

static int each(const glob_t *found, const char *suffix, int (*fn)(void *arg, const char *path), void *arg,
		bool inner);

static int each_of_dir(const char *dir, const char *suffix, int (*fn)(void *arg, const char *path), void *arg)
{
	struct buf pattern = { 0 };
	glob_t found = { 0 };
	int err = 0;

	/* A name with a bracket in it is still a name. */
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
		err = each(&found, suffix, fn, arg, true);
	globfree(&found);
	buf_done(&pattern);
	return err;
}

static int each(const glob_t *found, const char *suffix, int (*fn)(void *arg, const char *path), void *arg,
		bool inner)
{
	int err = 0;

	for (size_t i = 0; i < found->gl_pathc && !err; i++) {
		struct stat st;

		if (stat(found->gl_pathv[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			if (!inner)
				err = each_of_dir(found->gl_pathv[i], suffix, fn, arg);
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
	else if (got)		/* a pattern may match nothing, a name may not */
		err = str_has_glob(str_of(pattern)) ? 0 : -ENOENT;
	else
		err = each(&found, suffix, fn, arg, false);
	globfree(&found);
	buf_done(&whole);
	return err;
}
