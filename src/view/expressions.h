/*
 * The expressions of argdist, in bcc's syntax:
 *
 *	[p:|r:|t:]LIBRARY:FUNCTION(SIGNATURE)[:TYPE[,TYPE]:EXPR[,EXPR][:FILTER]][#LABEL]
 *
 *	p:c:malloc(size_t size):size_t:size:size>64
 *	r:c:read(int fd):ssize_t:$retval
 *	r:c:read(int fd, void *buf, size_t n):u64,int:$latency,$entry(fd)
 *	t:block:block_rq_issue():u32:args->bytes
 */
#ifndef VIEW_EXPRESSIONS_H
#define VIEW_EXPRESSIONS_H

#include "base/arena.h"
#include "view/functions.h"
#include "view/view_def.h"

/* Memory of the texts that a view_def made from an expression refers to. */
struct argument_texts {
	struct arena arena;
};
void argument_texts_done(struct argument_texts *t);

/* Completes *def, whose info is set, from opts->args, and finds the functions. 0, -EINVAL with the reason, or another error of
 * view_functions_add(). */
int view_expressions_parse(struct view_def *def, struct argument_texts *texts, struct view_functions *f, struct tacho *t,
			   const struct tacho_view_opts *opts, struct tacho_error *e);

#endif
