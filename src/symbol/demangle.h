/*
 * Names as people wrote them: C++, Rust (both manglings) and D, by libiberty.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "base/buf.h"

/* Appends the readable name, with or without the parameters of functions. Returns false, with
 * nothing appended, when the name is not mangled. A version ("@@GLIBC_2.2") is carried over. */
bool demangle(const char *mangled, bool params, struct buf *out);

#endif
