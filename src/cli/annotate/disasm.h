/*
 * Disassembles machine code with libcapstone, which is loaded at run time, or else with objdump, which is run
 * without a shell.
 */
#ifndef CLI_ANNOTATE_DISASM_H
#define CLI_ANNOTATE_DISASM_H

#include "base/defs.h"

#include <tacho/symbol.h>

enum disasm_flow { FLOW_NEXT, FLOW_JUMP, FLOW_CALL, FLOW_RETURN };

struct disasm_insn {
	uint64_t address;
	size_t n_bytes;			/* its length; 0: unknown */
	const char *text;		/* valid for the call */
	uint64_t target;		/* target of a jump or call to a fixed address; 0: none */
	enum disasm_flow flow;
};

struct disasm_opts {
	bool intel;			/* x86: Intel's syntax; else AT&T's */
	const char *objdump;		/* the program to run; NULL: capstone, or objdump of $PATH */
};

/* Receives each instruction; returns 0, or a negative errno to stop. */
typedef int disasm_put(void *arg, const struct disasm_insn *insn);

/* Returns 0, -EOPNOTSUPP if the library is not installed or does not support the architecture, -EILSEQ for
 * undecodable bytes unless `skip` is set, or the error of put(). */
int disasm_capstone(const struct tacho_code_view *code, const struct disasm_opts *opts, bool skip, disasm_put *put, void *arg);
int disasm_objdump(const struct tacho_code_view *code, const struct disasm_opts *opts, disasm_put *put, void *arg,
		   struct tacho_error *e);

/* What the first instruction of the code accesses. */
enum insn_access {
	ACCESS_NONE,			/* no memory, or by a segment register */
	ACCESS_STACK,			/* push, pop, call, return */
	ACCESS_MEMORY,
};
struct insn_operand {
	enum insn_access access;
	char base[8], index[8];		/* registers, as in struct tacho_memory_operand; "": none */
	int64_t offset;
	bool is_static;
	uint64_t address;
};
/* Returns 0, or -EOPNOTSUPP without the library or for other architectures than x86-64 and arm64. */
int disasm_operand(const struct tacho_code_view *code, struct insn_operand *out);

#endif
