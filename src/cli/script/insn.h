/*
 * Fields that show code: insn, insnlen, disasm and srccode for the address of a sample, brstackinsn, brstackinsnlen,
 * brstackdisasm and brcntr for the code between its branches. Code and source files are read from this machine.
 */
#ifndef CLI_SCRIPT_INSN_H
#define CLI_SCRIPT_INSN_H

#include "base/buf.h"

#include <tacho/symbol.h>

#define MAX_INSN_BYTES 15u		/* of x86; other architectures have shorter instructions */

struct source_files;

enum code_field {
	CODE_BYTES = 1, CODE_LENGTH = 2, CODE_TEXT = 4, CODE_SOURCE = 8,
	CODE_BLOCKS = 16, CODE_BLOCK_LENGTHS = 32, CODE_BLOCK_TEXT = 64, CODE_COUNTERS = 128,
	CODE_OF_SAMPLE = CODE_BYTES | CODE_LENGTH | CODE_TEXT | CODE_SOURCE,
	CODE_OF_BRANCHES = CODE_BLOCKS | CODE_BLOCK_LENGTHS | CODE_BLOCK_TEXT,
};

struct script_insn {
	uint64_t address;		/* as in the ELF file */
	uint32_t object;		/* 0: the slot of the cache is free */
	uint8_t n, bytes[MAX_INSN_BYTES];	/* n 0: the bytes are not an instruction */
	bool readable;			/* the code at the address could be read */
	bool leaves;			/* it always continues elsewhere: a jump without condition, a call, a return */
	char text[96];
};

struct script_insns {
	unsigned fields;		/* of enum code_field: what -F names */
	struct tacho_symbols *symbols;
	struct { struct script_insn *v; size_t n, cap; } cache;	/* by address; its size is a power of two */
	struct source_files *sources;	/* NULL until one is read */
	const char *last_file;		/* the source line that was printed last */
	uint32_t last_line;
	bool no_library;		/* libcapstone is missing */
};

void script_insns_done(struct script_insns *s);
/* Finds the instruction at a frame's address. Returns NULL without code or libcapstone. Valid until
 * the next call. */
const struct script_insn *script_insn_at(struct script_insns *s, const struct tacho_frame *frame);
/* Appends the fields of a sample's address: " ilen: 6 insn: 81 fe bb 00 00 00". */
void script_insn_put(struct script_insns *s, const struct tacho_frame *frame, struct buf *out);
/* Appends its bytes in hexadecimal, each after a blank. */
void script_insn_bytes(const struct script_insn *insn, struct buf *out);
/* Appends a line break and the text of the source line, unless it is the one that was printed last. */
void script_source_put(struct script_insns *s, const struct tacho_frame *frame, struct buf *out);

#endif
