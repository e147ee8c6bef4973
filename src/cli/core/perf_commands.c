/*
 * The commands of perf that tacho lacks, each with what to use instead. They are recognised so that a user of
 * perf gets that answer and not a "did you mean".
 */
#include "cli/core/app.h"

static const struct { const char *name, *instead; } missing[] = {
	{ "bench", "tacho has no benchmarks of the kernel" },
	{ "daemon", "'tacho agent' profiles and counts all the time" },
	{ "kvm", REFUSED_GUESTS },
	{ "test", "the tests of tacho are run by ./check in its source tree" },
	{ "trace", "record the system calls: tacho record -e 'raw_syscalls:*', then tacho script" },
	{ "top", "'tacho record -a sleep 5', then 'tacho report'; or the live page of 'tacho agent'" },
};

const char *perf_command_instead(const char *name)
{
	for (size_t i = 0; i < countof(missing); i++)
		if (!strcmp(missing[i].name, name))
			return missing[i].instead;
	return NULL;
}
