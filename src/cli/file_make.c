/*
 * The steps that recorders share before the first byte is written.
 */
#include "cli/file_make.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

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

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

int file_clock(struct tacho_perfdata_writer *w, int clock)
{
	struct { uint32_t version, clock; uint64_t wall_ns, clock_ns; } data = { .version = 1,
										 .clock = (uint32_t)clock };
	struct timespec resolution, wall, now;
	uint64_t ns;
	int err;

	if (clock_getres(clock, &resolution) < 0 || clock_gettime(CLOCK_REALTIME, &wall) < 0 ||
	    clock_gettime(clock, &now) < 0)
		return 0;		/* a clock of the kernel's alone: nothing can be said of it */
	ns = ns_of(&resolution);
	data.wall_ns = ns_of(&wall);
	data.clock_ns = ns_of(&now);
	err = tacho_writer_feature(w, TACHO_FEATURE_CLOCKID, &ns, sizeof(ns));
	return err < 0 ? err : tacho_writer_feature(w, TACHO_FEATURE_CLOCK_DATA, &data, sizeof(data));
}
