/*
 * The file with the debug data that several files share (dwz): .gnu_debugaltlink has its name and build ID.
 */
#ifndef SYMBOL_DEBUG_ALT_H
#define SYMBOL_DEBUG_ALT_H

#include "symbol/elf.h"

/* Opens the shared file of `file`: by its name, relative to the file's directory, or by its build ID. Returns 0, -ENODATA if
 * the file has no such link, -ENOENT, -ENOMEM. */
int debug_alt_open(struct elf *out, const struct elf *file);

#endif
