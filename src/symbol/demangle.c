/*
 * Demangling by libiberty. A few hundred bytes of back-references can expand to gigabytes of output, so the
 * work is bounded: C++ and Rust names are demangled through libiberty's callbacks, which are left by
 * longjmp() once the output exceeds DEMANGLED_MAX; the length of a D name is estimated beforehand. A name
 * over its limit is shown mangled.
 */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

#define MANGLED_MAX 32768u
#define DEMANGLED_MAX 65536u
#define D_DEMANGLED_MAX (16u << 20)	/* limit of the estimated length, which is often far too high */
#define D_WORD 16u			/* characters of a basic type, such as "immutable" */
#define D_BYTE 4u			/* characters that one byte of a name adds on average, at most */

struct demangle_output {
	struct buf *out;
	size_t start;			/* length of *out before demangling */
	jmp_buf over_limit;
};

static bool looks_mangled(const char *s)
{
	/* C++ and legacy Rust names begin with _Z, Rust v0 with _R, D with _D and a digit. */
	if (s[0] != '_')
		return false;
	if (s[1] == 'Z' || s[1] == 'R')
		return true;
	return s[1] == 'D' && s[2] >= '0' && s[2] <= '9';
}

/* longjmp() skips libiberty's cleanup, which leaks at most one Rust identifier of up to 1 KiB. */
static void append_output(const char *text, size_t n, void *opaque)
{
	struct demangle_output *o = opaque;

	if (o->out->n - o->start + n > DEMANGLED_MAX)
		longjmp(o->over_limit, 1);
	buf_put(o->out, text, n);
}

/* Legacy Rust names have a hash of 16 digits after "17h"; most C++ names need not be tried. */
static bool may_be_rust(const char *name)
{
	return name[1] == 'R' || strstr(name, "17h");
}

static bool demangle_by_callback(const char *name, int style, struct buf *out)
{
	struct demangle_output o = { .out = out, .start = out->n };

	if (setjmp(o.over_limit))
		return false;
	if (may_be_rust(name) && rust_demangle_callback(name, style, append_output, &o))
		return true;
	out->n = o.start;
	return cplus_demangle_v3_callback(name, style, append_output, &o);
}

/* The distance of a D back-reference: base 26, upper case digits and a lower case last one; 0: malformed. */
static size_t d_distance(const char *at)
{
	size_t distance = 0;

	for (; *at >= 'A' && *at <= 'Z' && distance < MANGLED_MAX; at++)
		distance = distance * 26 + (size_t)(*at - 'A');
	return *at >= 'a' && *at <= 'z' ? distance * 26 + (size_t)(*at - 'a') : 0;
}

/* Upper bound of the characters that a back-reference to `target` adds: the length of an identifier, D_WORD
 * for a basic type, and for other types the expansion of everything from `target` to the reference. */
static uint64_t d_added(const char *name, const uint64_t *expanded, size_t target, size_t at)
{
	if (name[target] >= '0' && name[target] <= '9')
		return (uint64_t)strtoul(name + target, NULL, 10);
	if (name[target] >= 'a' && name[target] <= 'w')
		return D_WORD;
	return expanded[at] - expanded[target];
}

/* Whether the demangled form of a D name is certainly not longer than D_DEMANGLED_MAX. */
static bool d_name_is_bounded(const char *name, size_t n)
{
	scoped(freep) uint64_t *expanded = calloc(n + 1, sizeof(*expanded));	/* length of the first i bytes */

	if (!expanded)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t distance = name[i] == 'Q' ? d_distance(name + i + 1) : 0;

		expanded[i + 1] = expanded[i] + D_BYTE;
		if (distance && distance <= i)
			expanded[i + 1] += d_added(name, expanded, i - distance, i);
		if (expanded[i + 1] > D_DEMANGLED_MAX)
			return false;
	}
	return true;
}

static bool demangle_d(const char *name, struct buf *out)
{
	scoped(freep) char *plain = NULL;

	if (!d_name_is_bounded(name, strlen(name)))
		return false;
	plain = cplus_demangle(name, DMGL_DLANG);
	if (plain)
		buf_puts(out, plain);
	return plain;
}

bool demangle(const char *mangled, bool params, struct buf *out)
{
	scoped(freep) char *cut = NULL;
	const char *version, *name = mangled;
	size_t n = strlen(mangled), start = out->n;
	bool done;

	if (!looks_mangled(mangled) || n > MANGLED_MAX)
		return false;
	version = memchr(mangled, '@', n);
	if (version) {
		name = cut = str_dup(str_n(mangled, (size_t)(version - mangled)));
		if (!cut)
			return false;
	}
	if (name[1] == 'D')
		done = demangle_d(name, out);
	else
		done = demangle_by_callback(name, params ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS, out);
	if (done && version)
		buf_puts(out, version);
	if (!done && out->bytes) {		/* drop partial output */
		out->n = start;
		out->bytes[start] = '\0';
	}
	return done;
}
