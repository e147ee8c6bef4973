/*
 * Any bytes as a perf.data, all the way up: records are decoded and dumped, tracepoints printed, a
 * profile is loaded and written in every format. Objects that a file names are not looked for.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/io.h"

#include "../damage/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scoped(closep) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct seen seen;
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_as_written(path, &seen);
	seen_done(&seen);
	read_as_profile(path, "/nonexistent");
	return 0;
}
