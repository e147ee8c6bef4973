#ifndef TACHO_PROBE_H
#define TACHO_PROBE_H

#include <tacho/common.h>

TACHO_BEGIN_DECLS

/*
 * Probes: tracepoints that users place in the code of programs, libraries and the kernel.
 *
 *	new -> find -> add ... list, delete
 *	    -> functions, lines, variables -> free
 *
 * A probe is requested by text: "malloc size=%di", "parse:12 state->depth", "Shape::area(int)%return $retval",
 * "%libstdcxx:throw". The kernel knows it by a definition in tracefs:
 *
 *	p:probe_libc/malloc /usr/lib/x86_64-linux-gnu/libc.so.6:0x98930 size=%di
 *
 * Probes stay until they are deleted, or until the machine is restarted. Events such as uprobe:FILE:FUNCTION, which
 * event sets and samplers accept, last only as long as they are open.
 */
struct tacho_probes;

struct tacho_probe_target {	/* zero means the default in every field */
	size_t size;		/* filled in by TACHO_OPTS */
	const char *file;	/* a program or library; NULL: the running kernel */
	const char *module;	/* a kernel module: its name, or the path of its file with debug information */
	const char *symfs;	/* a directory in which files are searched first */
	const char *source;	/* a directory in which source files are searched first */
	const char *tracefs, *procfs;	/* NULL: the usual places */
	uint32_t pid;		/* `file` is a path as this process sees it */
	uint32_t max_probes;	/* places that one request may stand for; 0: 65536 */
	bool no_inlines;	/* not the places where a function was inlined */
	bool force;		/* number names that exist: malloc_1 */
	const char *vmlinux;	/* the kernel's file with debug information; NULL: the usual places, where it is needed */
};

/* A place where a probe is set. Several probes may have the same name: they are one event. */
struct tacho_probe {
	size_t size;
	const char *group, *event;	/* "probe_libc", "malloc" */
	const char *definition;		/* the line of tracefs */
	const char *place;		/* "malloc in /usr/lib/x86_64-linux-gnu/libc.so.6" */
	const char *args;		/* names of the arguments, "size flags", or "" */
	bool is_kernel;
};

/* Opens nothing yet: the target is read by the calls that need it. Returns 0 or -ENOMEM. */
TACHO_API int tacho_probes_new(struct tacho_probes **out, const struct tacho_probe_target *target,
			       struct tacho_error *e);
TACHO_API void tacho_probes_free(struct tacho_probes *p);	/* NULL is fine */

/* Finds the places of a request, but changes nothing. The probes are valid until the next call of it. Returns how many they
 * are, -EINVAL (the request is wrong; *e has the position), -ENOENT (nothing has that name), -EEXIST (the event exists, or
 * the name stands for several functions), -ENODATA (needs debug information), or another negative errno. */
TACHO_API int tacho_probes_find(struct tacho_probes *p, const char *request, const struct tacho_probe **out,
				struct tacho_error *e);
/* Lines about the last request that are worth knowing, such as that a prologue is skipped; or "". */
TACHO_API const char *tacho_probes_notes(const struct tacho_probes *p);

/* Calls `fn` for each function, sorted by name, that the filter selects: patterns with & | ! and parentheses, such as
 * "str* & !*_l"; NULL: "!_* & !*@plt". A non-zero return value ends the list and is returned. */
TACHO_API int tacho_probes_functions(struct tacho_probes *p, const char *filter, int (*fn)(void *arg, const char *name),
				     void *arg, struct tacho_error *e);

/* Source code, with the lines that can be probed. */
struct tacho_probe_source {
	size_t size;
	const char *function;		/* whose lines are counted from its first one; NULL: those of the file */
	const char *file;
	uint32_t first;			/* number of the first line */
};
struct tacho_probe_line {
	size_t size;
	uint32_t number;
	const char *text;
	bool has_code;
};
/* Calls `fn` for the lines of a range: FUNC[@FILE][:FIRST[-LAST|+COUNT]] or FILE[:FIRST[-LAST|+COUNT]]. *source is the same at
 * each call. Returns the first non-zero value of `fn`, 0, -EINVAL, -ENOENT, -ENODATA (no debug information) ... */
TACHO_API int tacho_probes_lines(struct tacho_probes *p, const char *range,
				 int (*fn)(void *arg, const struct tacho_probe_source *source,
					   const struct tacho_probe_line *line),
				 void *arg, struct tacho_error *e);

enum tacho_variable_state { TACHO_VARIABLE_AVAILABLE, TACHO_VARIABLE_ENTRY_VALUE, TACHO_VARIABLE_OPTIMIZED_OUT,
			    TACHO_VARIABLE_UNREADABLE };
/* A variable at one of the places of a request. */
struct tacho_probe_variable {
	size_t size;
	const char *place;		/* "sum_node+16" */
	const char *type, *name;
	const char *ranges;		/* where it has a location: "@<sum_node+[0-109]>"; "": everywhere in its scope */
	const char *why;		/* why it is not available, or NULL */
	uint32_t near_line;		/* the nearest line where it is, counted as in `place`'s function; 0: none */
	enum tacho_variable_state state;
	bool is_external;		/* a global variable */
};
struct tacho_probe_variables_opts {
	size_t size;
	bool externals;			/* also global variables of the unit */
};
/* Calls `fn` for each variable, sorted by type and name, of each place of a point. Returns like tacho_probes_lines(). */
TACHO_API int tacho_probes_variables(struct tacho_probes *p, const char *point,
				     const struct tacho_probe_variables_opts *opts,
				     int (*fn)(void *arg, const struct tacho_probe_variable *v), void *arg,
				     struct tacho_error *e);

/* Defines a probe in tracefs. Returns 0, -EACCES, -EOPNOTSUPP (this kernel has no such probes), -EINVAL with the kernel's
 * reason ... */
TACHO_API int tacho_probes_add(struct tacho_probes *p, const struct tacho_probe *probe, struct tacho_error *e);
/* Removes an event with all its places. Returns 0, -ENOENT, -EBUSY (in use) ... */
TACHO_API int tacho_probes_delete(struct tacho_probes *p, const struct tacho_probe *probe, struct tacho_error *e);
/* Calls `fn` for every probe of tracefs whose "GROUP:EVENT" matches the pattern "[GROUP:]EVENT"; NULL: all. Returns the
 * first non-zero value of `fn`, 0, or a negative errno. */
TACHO_API int tacho_probes_list(struct tacho_probes *p, const char *pattern,
				int (*fn)(void *arg, const struct tacho_probe *probe), void *arg,
				struct tacho_error *e);

TACHO_END_DECLS
#endif
