/*
 * The steps that recorders share before the first byte is written.
 */
#include "cli/file_make.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"

int file_keep_old(const char *path)
{
	scoped(buf_done) struct buf old = { 0 };
	struct stat st;

	/* /dev/null and the like stay; an empty file is not worth keeping. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return 0;
	buf_printf(&old, "%s.old", path);
	if (buf_failed(&old))
		return -ENOMEM;
	return rename(path, old.bytes) < 0 ? -errno : 0;
}

int file_cmdline(struct strlist *out)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, word;

	if (io_read("/proc/self/cmdline", IO_FILE_MAX, &text) < 0)
		return 0;
	rest = buf_view(&text);
	while (str_cut(&rest, '\0', &word))
		if ((word.n || rest.n) && strlist_add(out, word) < 0)
			return -ENOMEM;
	return 0;
}
