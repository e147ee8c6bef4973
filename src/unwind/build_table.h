/*
 * Builds the unwind table of an ELF file from its call frame information.
 */
#ifndef UNWIND_BUILD_TABLE_H
#define UNWIND_BUILD_TABLE_H

#include "symbol/elf.h"
#include "symbol/jit/jit_dump.h"
#include "unwind/table.h"

/* `own` and its separate `debug` file may each be NULL. Returns 0, -EOPNOTSUPP for other machines than x86-64 and
 * arm64, -ENODATA without call frame information, -ENOMEM. */
int unwind_table_build(struct unwind_table *t, const struct elf *own, const struct elf *debug);
/* Builds the table of the functions in a jitdump that have unwinding information. The addresses are offsets in the dump.
 * Returns 0, -ENODATA without any, -ENOMEM. */
int unwind_table_build_jit(struct unwind_table *t, const struct jit_dump *d);

#endif
