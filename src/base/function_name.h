/*
 * Names of functions as users write them. Demangled names of C++ contain commas, and few users type the parameters.
 */
#ifndef BASE_FUNCTION_NAME_H
#define BASE_FUNCTION_NAME_H

#include "base/str.h"

/* Cuts the first name off a list with commas, like str_cut(). Commas within the (), [] and <> of a name do not
 * separate. */
bool function_name_cut(struct str *rest, struct str *head);
/* Whether `asked` is this function: its whole name, or the name without C++ parameters and return type, which is the
 * name of all overloads. */
bool function_name_is(struct str asked, const char *name);

#endif
