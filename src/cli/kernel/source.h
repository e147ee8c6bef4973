/*
 * The recording and the symbols that a view of the kernel reads, by the options that all views have.
 */
#ifndef CLI_KERNEL_SOURCE_H
#define CLI_KERNEL_SOURCE_H

#include "base/time_ranges.h"
#include "cli/core/command.h"
#include "cli/core/input.h"

#include <tacho/perfdata.h>
#include <tacho/symbol.h>

struct kernel_source_opts {
	const char *input, *time, *vmlinux, *kallsyms, *symfs;
	bool force;
};

/* The rows of these options; `type` is the command's struct, which has a member `source`. */
#define SOURCE_AT_(type, field) (offsetof(type, source) + offsetof(struct kernel_source_opts, field))
#define KERNEL_INPUT_ROWS(type)                                                                             \
	{ OPT_STR, 'i', "input", SOURCE_AT_(type, input), "FILE", INPUT_HELP, .complete = "file" },          \
	{ OPT_FLAG, 'f', "force", SOURCE_AT_(type, force), NULL, "read a file of another user" }
#define KERNEL_TIME_ROW(type)                                                                               \
	{ OPT_STR, 0, "time", SOURCE_AT_(type, time), "FROM,TO", "only within this time, in seconds of the recording's clock" }
#define KERNEL_SYMBOL_ROWS(type, letter)                                                                            \
	{ OPT_STR, letter, "vmlinux", SOURCE_AT_(type, vmlinux), "FILE", "the kernel's symbols are in this vmlinux", .complete = "file" }, \
	{ OPT_STR, 0, "kallsyms", SOURCE_AT_(type, kallsyms), "FILE", "the kernel's symbols are in this kallsyms", .complete = "file" }
#define KERNEL_SYMFS_ROW(type)                                                                              \
	{ OPT_STR, 0, "symfs", SOURCE_AT_(type, symfs), "DIR", "look for objects below DIR first", .complete = "file" }

struct kernel_source {
	struct tacho_perfdata *pd;
	struct tacho_symbols *symbols;	/* NULL: not wanted */
	struct time_window time;	/* all zero: no limit */
};

/* Opens the recording in the order of time. 0, or a negative errno after a message. */
int kernel_source_open(struct kernel_source *out, const char *command, const struct kernel_source_opts *o, bool with_symbols);
void kernel_source_done(struct kernel_source *s);

/* "function+1c" or "function"; without a name the address. The text is not printable: see buf_text(). */
void kernel_put_function(struct buf *out, struct tacho_symbols *symbols, uint64_t address, bool with_offset);

#endif
