/*
 * The fields insn, insnlen, disasm and srccode: the instruction at the address of a sample, and the text of its source
 * line. Code and source files are read from this machine.
 */
#ifndef CLI_SCRIPT_INSN_H
#define CLI_SCRIPT_INSN_H

#include "base/buf.h"

#include <tacho/symbol.h>

struct source_files;

enum insn_field { INSN_BYTES = 1, INSN_LENGTH = 2, INSN_TEXT = 4, INSN_SOURCE = 8 };

struct script_insns {
	unsigned fields;		/* of enum insn_field: what -F names */
	struct tacho_symbols *symbols;
	const struct tacho_symbols_opts *opts;
	struct { struct object_code *v; size_t n, cap; } objects;
	struct { struct decoded_insn *v; size_t n, cap; } cache;	/* by address; its size is a power of two */
	struct source_files *sources;	/* NULL until one is read */
	const char *last_file;		/* the source line that was printed last */
	uint32_t last_line;
	bool no_library;		/* libcapstone is missing */
};

void script_insns_done(struct script_insns *s);
/* Appends the fields of an address: " ilen: 6 insn: 81 fe bb 00 00 00". Code that cannot be read has none. */
void script_insn_put(struct script_insns *s, const struct tacho_frame *frame, struct buf *out);

#endif
