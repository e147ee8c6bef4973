/*
 * The functions and tracepoints that a view's arguments name, in bcc's syntax:
 *
 *	LIBRARY:FUNCTION, /PATH:FUNCTION	in user space; the function may be a pattern, as in "c:str*"
 *	[p:|r:]LIBRARY:FUNCTION			the same
 *	u:LIBRARY:PROBE				static probes
 *	t:CATEGORY:EVENT			tracepoints
 *	FUNCTION, p::FUNCTION			in the kernel
 */
#ifndef VIEW_FUNCTIONS_H
#define VIEW_FUNCTIONS_H

#include "base/str.h"
#include "base/vec.h"

#include <tacho/evset.h>

struct probed_function {
	const char *name;		/* as shown */
	bool is_tracepoint;
};

struct probed_place {
	uint32_t function;
	uint32_t path;			/* index of the file, or of the kernel's function */
};

struct view_functions {
	struct tacho_evset *calls, *returns;	/* event i of both is described by places[i] */
	struct strlist call_specs, return_specs;	/* what was added to them */
	struct { struct probed_function *v; size_t n, cap; } list;
	struct { struct probed_place *v; size_t n, cap; } places;
	struct strlist paths;
	bool has_tracepoints, has_probes;
};

/* 0, -EINVAL, -ENOENT, -EOPNOTSUPP (this kernel cannot probe that) ... */
int view_functions_add(struct view_functions *f, struct tacho *t, const char *spec, bool with_returns, struct tacho_error *e);
void view_functions_done(struct view_functions *f);
/* The path of a library by its short name ("c"), or of a program; the caller frees it. -ENOENT, -ENOMEM */
int view_find_library(struct str name, char **out);

#endif
