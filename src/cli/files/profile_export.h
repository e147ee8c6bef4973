/*
 * Commands that turn a recording into a profile and the profile into a file: the options they
 * share, reading with its warnings, and writing.
 */
#ifndef CLI_FILES_PROFILE_EXPORT_H
#define CLI_FILES_PROFILE_EXPORT_H

#include "cli/core/command.h"

#include <tacho/output.h>

struct profile_source {
	const char *input;		/* NULL: perf.data */
	struct tacho_profile_opts filter;
	struct tacho_symbols_opts symbols;
	bool force, quiet;
};

#define SOURCE_AT(type, field) offsetof(type, source.field)
#define SOURCE_FILTER_ROWS(type)                                                                   \
	{ OPT_GROUP, .help = "Which samples" },                                                    \
	{ OPT_STR, 0, "comms", SOURCE_AT(type, filter.comms), "COMM,...", "of these commands only" }, \
	{ OPT_STR, 0, "dsos", SOURCE_AT(type, filter.objects), "OBJECT,...",                       \
	  "taken in these programs and libraries only" },                                          \
	{ OPT_STR, 0, "symbols", SOURCE_AT(type, filter.symbols), "SYMBOL,...",                    \
	  "taken in these functions only" },                                                       \
	{ OPT_STR, 0, "parent", SOURCE_AT(type, filter.parent), "REGEX",                           \
	  "with such a caller only" },                                                             \
	{ OPT_STR, 0, "time", SOURCE_AT(type, filter.time), "FROM,TO",                             \
	  "of this time only: seconds as in the recording, or shares: 10%-20%, 10%/2" },           \
	{ OPT_UINT, 0, "max-stack", SOURCE_AT(type, filter.max_stack), "N", "the N innermost frames" }, \
	{ OPT_GROUP, .help = "Where symbols come from" },                                          \
	{ OPT_STR, 0, "symfs", SOURCE_AT(type, symbols.symfs), "DIR",                              \
	  "look for programs and libraries below DIR", .complete = "file" },                       \
	{ OPT_STR, 'k', "vmlinux", SOURCE_AT(type, symbols.vmlinux), "FILE", "the kernel's symbols", \
	  .complete = "file" },                                                                    \
	{ OPT_STR, 0, "kallsyms", SOURCE_AT(type, symbols.kallsyms), "FILE",                       \
	  "the kernel's symbols as a list", .complete = "file" },                                  \
	{ OPT_FLAG, 0, "no-demangle", SOURCE_AT(type, symbols.no_demangle), NULL,                  \
	  "leave the names of C++ and Rust as the linker has them", OPTF_NEGATED }

#define SOURCE_INPUT_ROW(type)                                                                     \
	{ OPT_STR, 'i', "input", SOURCE_AT(type, input), "FILE",                                   \
	  "read this recording rather than perf.data; - is stdin", .complete = "file" }
#define SOURCE_PICK_ROWS(type)                                                                     \
	{ OPT_STR, 0, "pid", SOURCE_AT(type, filter.pids), "PID,...", "of these processes only" },  \
	{ OPT_STR, 0, "tid", SOURCE_AT(type, filter.tids), "TID,...", "of these threads only" },    \
	{ OPT_STR, 'C', "cpu", SOURCE_AT(type, filter.cpus), "CPUS", "of these CPUs only: 0-3,7" }
#define SOURCE_READ_ROWS(type, letter_of_force)                                                    \
	{ OPT_FLAG, letter_of_force, "force", SOURCE_AT(type, force), NULL, "read a file of another user" },   \
	{ OPT_FLAG, 'q', "quiet", SOURCE_AT(type, quiet), NULL, "no remarks on stderr" }

/* Reads the recording for that format; warnings go to stderr. Returns 0, or an exit status after
 * a message. A damaged file gives what came before the damage, and *damaged. */
int profile_read(const char *command, const struct profile_source *src, const char *path,
		 const struct tacho_format *format, struct tacho_profile **out, bool *damaged);
/* Whether the output may be written: false, after a message, if it would replace the recording.
 * NULL is perf.data and stdout. */
bool profile_keeps_input(const char *command, const char *input, const char *output);
/* Whether a plain file can be written there; reports why not. Asked before something takes long. */
bool profile_can_write(const char *command, const char *path);
/* To `path`; NULL or "-" is stdout. Returns an exit status. */
int profile_write(const char *command, const struct tacho_format *format,
		  const struct tacho_profile *p, const struct tacho_output_opts *opts, const char *path);
/* "samples" or "period"; NULL is fine. Returns false after a message. */
bool weight_parse(const char *command, const char *text, enum tacho_weight *out);

#endif
