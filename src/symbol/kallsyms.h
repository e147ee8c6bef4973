/*
 * The kernel's own list of symbols: "ADDRESS TYPE NAME" per line, modules' with "\t[MODULE]".
 */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include "symbol/symbol_table.h"

#define KALLSYMS_MAX (256u << 20)

/* Adds all functions and objects; the text's bytes become the table's strings. Returns 0,
 * -EACCES when all addresses are hidden (zero), -ENODATA when there are none, -ENOMEM. */
int kallsyms_parse(struct table *t, struct buf *text);
/* What holds for a table of them, wherever it comes from. */
void kallsyms_rules(struct table *t);
/* "[ext4]" of a symbol with SYMBOL_MODULE. */
const char *kallsyms_module(const struct table *t, const struct symbol *s);

#endif
