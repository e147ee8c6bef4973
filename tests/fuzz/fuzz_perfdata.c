/*
 * Any bytes as a perf.data: as a file (mapped), and where they are short enough as a pipe; in the
 * order of the file and of time. Every record, name and feature that comes out is touched.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <tacho/perfdata.h>

#include "base/io.h"

#define PIPE_ROOM 65536		/* what a pipe takes without a reader */
#define MOST_RECORDS 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

static void touch(const void *at, size_t n)
{
	const uint8_t *bytes = at;

	for (size_t i = 0; i < n; i++)
		sink += bytes[i];
}

static void touch_events(const struct tacho_perfdata *pd)
{
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);

		touch(ev->name, strlen(ev->name));
		touch(ev->attr, ev->attr_size);
		touch(ev->ids, ev->n_ids * sizeof(*ev->ids));
	}
	for (int f = 0; f < TACHO_FEATURE_MAX; f++) {
		const char *text = tacho_perfdata_string(pd, f);
		size_t n;
		const void *at = tacho_perfdata_feature(pd, f, &n);

		if (at)
			touch(at, n);
		if (text)
			touch(text, strlen(text));
	}
}

static void read_all(const char *path, bool ordered)
{
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	struct tacho_error e;
	int left = MOST_RECORDS;

	if (tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = ordered), &e) < 0)
		return;
	touch_events(pd);
	while (left-- && tacho_perfdata_next(pd, &rec, &e) > 0) {
		touch(rec.bytes, rec.size);
		sink += (unsigned)tacho_perfdata_event_of(pd, &rec);
	}
	touch_events(pd);
	tacho_perfdata_close(pd);
}

static void read_pipe(const uint8_t *data, size_t size, bool ordered)
{
	char path[64];
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	if (io_write_all(fds[1], data, size) == 0) {
		close(fds[1]);
		fds[1] = -1;
		read_all(path, ordered);
	}
	closep(&fds[1]);
	close(fds[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scoped(closep) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, false);
	read_all(path, true);
	if (size && size < PIPE_ROOM) {
		read_pipe(data, size, false);
		read_pipe(data, size, true);
	}
	return 0;
}
