/* Stub for builds without capstone's header: objdump is used. */
#include "cli/annotate/disasm.h"

#include <errno.h>

int disasm_operand(const struct tacho_code_view *code, struct insn_operand *out)
{
	(void)code;
	(void)out;
	return -EOPNOTSUPP;
}

int disasm_capstone(const struct tacho_code_view *code, const struct disasm_opts *opts, bool skip, disasm_put *put, void *arg)
{
	(void)code;
	(void)opts;
	(void)skip;
	(void)put;
	(void)arg;
	return -EOPNOTSUPP;
}
