/*
 * From machine code to text: libcapstone where it is installed (loaded when asked for), else
 * objdump, run without a shell.
 */
#ifndef CLI_BROWSER_DISASM_H
#define CLI_BROWSER_DISASM_H

#include "base/defs.h"

#include <tacho/symbol.h>

struct disasm_insn {
	uint64_t address;
	const char *text;		/* valid for the call */
	uint64_t target;		/* of a jump or call to a fixed place; 0: none */
};

/* Gets each instruction; returns 0, or a negative errno to stop. */
typedef int disasm_put(void *arg, const struct disasm_insn *insn);

/* 0, -EOPNOTSUPP where the machine is not known or the library not there, -EILSEQ at bytes it does
 * not know (unless it may `skip` them), or what put() returned. */
int disasm_capstone(const struct tacho_code_view *code, bool skip, disasm_put *put, void *arg);
int disasm_objdump(const struct tacho_code_view *code, disasm_put *put, void *arg,
		   struct tacho_error *e);

#endif
