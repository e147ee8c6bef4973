/*
 * The name under which the program was started. A link called perf makes it "perf", and so does a wrapper script:
 *
 *	#!/bin/sh
 *	exec /usr/local/bin/tacho "$@"
 *
 * argv[0] does not show the script, but bash and zsh pass the path of what they start in the variable `_`, and the
 * shell of the script does not change it. `_` may be left over from an outer program, such as the script that Debian
 * installs as /usr/bin/perf, so it counts only if the script contains argv[0].
 */
#include "cli/core/command.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define SCRIPT_BYTES 4096

const char *program_name = "tacho";

static bool is_named_perf(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "perf") == 0;
}

static bool is_run_by_script(const char *argv0)
{
	const char *script = getenv("_");
	char text[SCRIPT_BYTES];

	return script && is_named_perf(script) && io_is_regular_file(script) &&
	       io_read_small(AT_FDCWD, script, text, sizeof(text)) > 0 && strncmp(text, "#!", 2) == 0 &&
	       strstr(text, argv0);
}

void program_name_init(const char *argv0)
{
	if (is_named_perf(argv0) || is_run_by_script(argv0))
		program_name = "perf";
}
