/*
 * /proc/kallsyms: "ADDRESS TYPE NAME" per line, followed by "\t[MODULE]" for symbols of modules.
 */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include "symbol/symbol_table.h"

#define KALLSYMS_MAX (256u << 20)

/* Adds all functions and data objects and takes over the text as the table's strings. Returns 0, -EACCES when
 * all addresses are hidden (zero), -ENODATA when there are no symbols, -ENOMEM. */
int kallsyms_parse(struct symbol_table *t, struct buf *text);
/* Sets the flags of a kernel symbol table, also for one that was read from the symbol cache. */
void kallsyms_rules(struct symbol_table *t);
/* The module, as "[ext4]", of a symbol with SYMBOL_MODULE; else NULL. */
const char *kallsyms_module(const struct symbol_table *t, const struct symbol *s);

#endif
