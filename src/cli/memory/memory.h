/*
 * Accesses to memory: what `tacho mem` and `tacho c2c` share.
 */
#ifndef CLI_MEMORY_MEMORY_H
#define CLI_MEMORY_MEMORY_H

#include "cli/core/command.h"

enum memory_type { MEMORY_LOADS = 1, MEMORY_STORES = 2 };

#define NOTED_VERBOSE "there is nothing more to tell"

/* "load", "store", "load,store", NULL for both. 0 or -EINVAL with *e. */
int memory_types_parse(const char *text, unsigned *types, struct tacho_error *e);

struct memory_recording {
	unsigned types;			/* enum memory_type */
	const char *latency;		/* least latency of loads in cycles; NULL: 30 */
	bool all_user, all_kernel, phys_data, data_page_size, sample_cpu;
	const char *output, *cpus, *count, *freq, *events;	/* as record's options; events: only "list" */
	bool all_cpus, call_graph, quiet;
};

/* The options of both 'record' verbs, as rows of a table; `type` has the struct memory_recording as its member `recording`. */
#define RECORDING_AT(type, field) offsetof(type, recording.field)
#define RECORDING_ROWS(type)                                                                                       \
	{ OPT_STR, 'o', "output", RECORDING_AT(type, output), "FILE", "write to FILE (default perf.data)", .complete = "file" }, \
	{ OPT_FLAG, 'a', "all-cpus", RECORDING_AT(type, all_cpus), NULL, "the whole machine" },                   \
	{ OPT_STR, 'C', "cpu", RECORDING_AT(type, cpus), "CPU,...", "only on these CPUs", .complete = "cpu" },    \
	{ OPT_STR, 'e', "event", RECORDING_AT(type, events), "list", "list shows the events that would be recorded" }, \
	{ OPT_STR, 'c', "count", RECORDING_AT(type, count), "N", "a sample every N accesses" },                   \
	{ OPT_STR, 'F', "freq", RECORDING_AT(type, freq), "N|max", "N samples per second" },                      \
	{ OPT_FLAG, 'g', "call-graph", RECORDING_AT(type, call_graph), NULL, "also call chains" },                \
	{ OPT_STR, 0, "ldlat", RECORDING_AT(type, latency), "CYCLES",                                             \
	  "only loads that took at least CYCLES (Intel; default 30)" },                                           \
	{ OPT_FLAG, 'K', "all-kernel", RECORDING_AT(type, all_kernel), NULL, "only in the kernel" },              \
	{ OPT_FLAG, 'q', "quiet", RECORDING_AT(type, quiet), NULL, "no messages" },                               \
	NOTED('v', "verbose", NULL, NOTED_VERBOSE)

/* Records the events of this machine's PMU that sample accesses, as `tacho record` with further arguments. Returns an exit
 * status: a failure, after a message that says what is missing, where there are no such events. */
int memory_record(const char *command, const struct memory_recording *m, int argc, char **argv);

#endif
