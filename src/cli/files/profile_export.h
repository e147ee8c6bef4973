/*
 * Shared by the commands that write a profile of a recording to a file (export, flame, heatmap): options,
 * reading with warnings, writing.
 */
#ifndef CLI_FILES_PROFILE_EXPORT_H
#define CLI_FILES_PROFILE_EXPORT_H

#include "cli/core/command.h"
#include "cli/core/input.h"

#include <tacho/output.h>

struct profile_origin {			/* what is known of a recording's machine and clock */
	char host[128];			/* "": unknown */
	int64_t wall_offset_ns;		/* wall-clock time - time of samples; 0: unknown */
};

struct profile_source {
	const char *input;		/* NULL: input_choose() */
	struct tacho_profile_opts filter;
	struct tacho_symbols_opts symbols;
	bool force, quiet;
	bool explains;			/* also report stacks and names that are incomplete */
	struct profile_origin *origin;	/* filled in if not NULL */
};

#define SOURCE_AT(type, field) offsetof(type, source.field)
#define SOURCE_FILTER_ROWS(type)                                                                   \
	{ OPT_GROUP, .help = "Which samples" },                                                    \
	{ OPT_STR, 0, "comms", SOURCE_AT(type, filter.comms), "COMM,...", "only samples of these commands" }, \
	{ OPT_STR, 0, "dsos", SOURCE_AT(type, filter.objects), "OBJECT,...",                       \
	  "only samples in these programs and libraries" },                                          \
	{ OPT_STR, 0, "symbols", SOURCE_AT(type, filter.symbols), "SYMBOL,...",                    \
	  "only samples in these functions" },                                                       \
	{ OPT_STR, 0, "parent", SOURCE_AT(type, filter.parent), "REGEX",                           \
	  "only samples with a caller that matches REGEX" },                                                             \
	{ OPT_STR, 0, "time", SOURCE_AT(type, filter.time), "FROM,TO",                             \
	  "only samples in this range: seconds of the recording's clock, or 10%-20%, 10%/2" },           \
	{ OPT_UINT, 0, "max-stack", SOURCE_AT(type, filter.max_stack), "N", "only the N innermost frames of a call chain" }, \
	{ OPT_GROUP, .help = "Symbols" },                                          \
	{ OPT_STR, 0, "symfs", SOURCE_AT(type, symbols.symfs), "DIR",                              \
	  "look for programs and libraries below DIR", .complete = "file" },                       \
	{ OPT_STR, 'k', "vmlinux", SOURCE_AT(type, symbols.vmlinux), "FILE", "read the kernel's symbols from FILE", \
	  .complete = "file" },                                                                    \
	{ OPT_STR, 0, "kallsyms", SOURCE_AT(type, symbols.kallsyms), "FILE",                       \
	  "read the kernel's symbols from a copy of /proc/kallsyms", .complete = "file" },                                  \
	{ OPT_FLAG, 0, "no-demangle", SOURCE_AT(type, symbols.no_demangle), NULL,                  \
	  "show mangled C++ and Rust names", OPTF_NEGATED },                                       \
	{ OPT_FLAG, 0, "short-names", SOURCE_AT(type, symbols.short_names), NULL,                  \
	  "show C++ functions without their parameters: overloads become one" },               \
	{ OPT_FLAG, 0, "no-inline", SOURCE_AT(type, filter.no_inlines), NULL, "without inlined functions" }

#define SOURCE_INPUT_ROW(type)                                                                     \
	{ OPT_STR, 'i', "input", SOURCE_AT(type, input), "FILE",                                   \
	  INPUT_HELP, .complete = "file" }
#define SOURCE_PICK_ROWS(type)                                                                     \
	{ OPT_STR, 0, "pid", SOURCE_AT(type, filter.pids), "PID,...", "only samples of these processes" },  \
	{ OPT_STR, 0, "tid", SOURCE_AT(type, filter.tids), "TID,...", "only samples of these threads" },    \
	{ OPT_STR, 'C', "cpu", SOURCE_AT(type, filter.cpus), "CPUS", "only samples on these CPUs: 0-3,7" }
#define SOURCE_READ_ROWS(type, letter_of_force)                                                    \
	{ OPT_FLAG, letter_of_force, "force", SOURCE_AT(type, force), NULL, "read a file that belongs to another user" },   \
	{ OPT_FLAG, 'q', "quiet", SOURCE_AT(type, quiet), NULL, "print no warnings" }

/* Reads the recording as the format needs it; prints warnings. Returns 0, or an exit status after
 * a message. If the recording is damaged, reads the samples before the damage and sets *damaged. */
int profile_read(const char *command, const struct profile_source *src, const char *path,
		 const struct tacho_format *format, struct tacho_profile **out, bool *damaged);
/* Returns false, after a message, if the output would overwrite the input. NULL means perf.data as input and
 * stdout as output. */
bool profile_keeps_input(const char *command, const char *input, const char *output);
/* Returns false, after a message, if the file cannot be written. Called before lengthy processing. */
bool profile_can_write(const char *command, const char *path);
/* Writes to `path`; NULL or "-" is stdout. Returns an exit status. */
int profile_write(const char *command, const struct tacho_format *format,
		  const struct tacho_profile *p, const struct tacho_output_opts *opts, const char *path);
/* Parses "samples", "period" or NULL. Returns false after a message. */
bool weight_parse(const char *command, const char *text, enum tacho_weight *out);

#endif
