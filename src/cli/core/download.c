/*
 * One line on the terminal, rewritten ten times a second and erased at the end.
 */
#include "cli/core/download.h"

#include "base/clock.h"
#include "base/io.h"
#include "cli/core/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define INTERVAL_NS 100000000u
#define MIB (1024.0 * 1024.0)

static int show_download(void *arg, const char *name, uint64_t done, uint64_t total)
{
	static uint64_t next_ns;
	uint64_t now = clock_mono_ns();
	char line[160];
	int n;

	(void)arg;
	if (done == UINT64_MAX) {
		io_write_all(STDERR_FILENO, "\r\033[K", 4);
		next_ns = 0;
		return 0;
	}
	if (now < next_ns)
		return 0;
	next_ns = now + INTERVAL_NS;
	if (total)
		n = snprintf(line, sizeof(line), "\r\033[Kdownloading %.60s: %.1f of %.1f MiB", name, (double)done / MIB,
			     (double)total / MIB);
	else
		n = snprintf(line, sizeof(line), "\r\033[Kdownloading %.60s", name);
	io_write_all(STDERR_FILENO, line, min_of((size_t)max_of(n, 0), sizeof(line) - 1));
	return 0;
}

download_fn download_progress(void)
{
	return term_is_tty(STDERR_FILENO) ? show_download : NULL;
}
