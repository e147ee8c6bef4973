/*
 * libdw (elfutils), which is loaded on first use, so that commands that need no debug data do not pay for it.
 */
#ifndef SYMBOL_LIBDW_H
#define SYMBOL_LIBDW_H

struct libdw;				/* see symbol/libdw_functions.h */

/* The functions of libdw; NULL if this build has no support for it or if the library is not installed. The caller may
 * use any thread, but one file by one thread at a time. */
const struct libdw *libdw_get(void);

#endif
