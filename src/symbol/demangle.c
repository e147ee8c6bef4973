/*
 * Demangling by libiberty. Its recursion and output grow with the length of hostile input, so names
 * longer than LONGEST are returned unchanged.
 */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>

#define LONGEST 32768

static bool looks_mangled(const char *s)
{
	/* C++ and legacy Rust names begin with _Z, Rust v0 with _R, D with _D and a digit. */
	if (s[0] != '_')
		return false;
	if (s[1] == 'Z' || s[1] == 'R')
		return true;
	return s[1] == 'D' && s[2] >= '0' && s[2] <= '9';
}

bool demangle(const char *mangled, bool params, struct buf *out)
{
	const char *version;
	scoped(freep) char *cut = NULL;
	scoped(freep) char *plain = NULL;
	/* DMGL_AUTO does not include D. */
	int style = mangled[0] == '_' && mangled[1] == 'D' ? DMGL_DLANG : DMGL_AUTO;
	size_t n;

	if (!looks_mangled(mangled))
		return false;
	n = strlen(mangled);
	if (n > LONGEST)
		return false;
	version = memchr(mangled, '@', n);
	if (version) {
		cut = str_dup(str_n(mangled, (size_t)(version - mangled)));
		if (!cut)
			return false;
	}
	plain = cplus_demangle(cut ? cut : mangled, style | (params ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS));
	if (!plain)
		return false;
	buf_puts(out, plain);
	if (version)
		buf_puts(out, version);
	return true;
}
