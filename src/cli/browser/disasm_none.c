/* Stub for builds without capstone's header: objdump is used. */
#include "cli/browser/disasm.h"

#include <errno.h>

int disasm_capstone(const struct tacho_code_view *code, bool skip, disasm_put *put, void *arg)
{
	(void)code;
	(void)skip;
	(void)put;
	(void)arg;
	return -EOPNOTSUPP;
}
