/*
 * Compares names of functions with what a user wrote: "malloc", "str*", "Shape::area", "ns::Shape::area(int)",
 * "crate::module::function". A qualified name may leave out leading components, and a name without parameters stands for
 * all overloads.
 */
#ifndef PROBE_FUNCTION_MATCH_H
#define PROBE_FUNCTION_MATCH_H

#include "base/buf.h"

struct function_match {
	struct str wanted;		/* without blanks that do not matter */
	struct buf text;
	bool is_glob, is_qualified, has_params;
};

/* 0 or -ENOMEM. */
int function_match_init(struct function_match *m, const char *wanted);
void function_match_done(struct function_match *m);
/* Compares a name as it is in the symbol table, mangled or not. */
bool function_match_symbol(const struct function_match *m, const char *name);
/* Compares a demangled name such as "ns::Shape::area(int) const". */
bool function_match_demangled(const struct function_match *m, const char *name);

#endif
