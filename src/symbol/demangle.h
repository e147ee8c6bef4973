/*
 * Demangling of C++, Rust (legacy and v0) and D names, by libiberty.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "base/buf.h"

/* Appends the demangled name, with or without function parameters. Returns false and appends nothing
 * when the name is not mangled. A symbol version ("@@GLIBC_2.2") is preserved. */
bool demangle(const char *mangled, bool params, struct buf *out);

#endif
