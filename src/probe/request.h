/*
 * What a user asks to probe, as text and parsed:
 *
 *	[[GROUP:]EVENT=]POINT [ARG ...]
 *
 *	POINT := FUNC[@FILE][+OFFSET | %return | :LINE | ;PATTERN]	LINE is relative to the function
 *	       | FILE:LINE | FILE;PATTERN				LINE is that of the file
 *	       | 0xADDRESS						as in the file's symbol table
 *	       | %[PROVIDER:]NAME | sdt_PROVIDER:NAME			static probes
 *	ARG   := [NAME=]EXPR[:TYPE][@user]
 *
 * A backslash before one of @ + : ; % = takes its meaning away, and so do quotes around the name. "::" and everything between
 * parentheses or angle brackets belong to the name of a function, so that C++ and Rust names need no quoting.
 */
#ifndef PROBE_REQUEST_H
#define PROBE_REQUEST_H

#include "base/arena.h"
#include "base/error.h"

#define REQUEST_BYTES_MAX 4096u
#define REQUEST_ARGS_MAX 128u		/* MAX_TRACE_ARGS of the kernel */
#define EVENT_NAME_MAX 63u		/* MAX_EVENT_NAME_LEN of the kernel, without the NUL */

struct probe_point {
	const char *function;		/* may be a pattern; NULL: by file, address or static probe */
	const char *file;		/* the end of a path; or NULL */
	const char *pattern;		/* of source lines; or NULL */
	const char *provider, *sdt_name;	/* sdt_name not NULL: static probes of this name; patterns */
	uint64_t offset, address;
	uint32_t line;
	bool has_line, is_return, has_address;
};

struct probe_argument {
	const char *name;		/* NULL: not given */
	const char *text;		/* the expression, without type */
	const char *type;		/* "u32", "string"; NULL: not given */
	bool user;			/* @user: strings and members are in user space */
	size_t column, length;		/* in the request */
};

struct probe_request {
	struct arena text;
	const char *group, *event;	/* NULL: not given */
	struct probe_point point;
	struct { struct probe_argument *v; size_t n, cap; } args;
	size_t point_column, point_length;
};

/* Returns 0, or -EINVAL with the position of the error. */
int probe_request_parse(struct probe_request *r, struct str text, struct tacho_error *e);
/* Only a POINT, for source lines and variables: FUNC:LINE-LINE is not parsed here. */
int probe_point_parse(struct probe_request *r, struct str text, struct tacho_error *e);
void probe_request_done(struct probe_request *r);

/* Whether an argument is passed on to the kernel as it is: registers, memory addresses, $stack, $retval ... Others are
 * variables. */
bool probe_argument_is_raw(const struct probe_argument *a);
/* $vars or $params: stands for several variables. */
bool probe_argument_is_set(const struct probe_argument *a);
/* Whether an argument needs debug data. */
bool probe_request_has_variables(const struct probe_request *r);
/* Whether a word may name an event or an argument: a letter or _, then letters, digits or _. */
bool probe_is_name(struct str s);

#endif
