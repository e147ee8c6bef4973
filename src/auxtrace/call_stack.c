/*
 * The call stack of each traced thread, from its calls and returns. A return that does not match the newest call ends
 * all calls up to the one that it matches (longjmp, tail calls); if none matches, the stack is left as it is, because the call
 * happened before the trace began.
 */
#include "auxtrace/auxtrace.h"

#include <stdlib.h>
#include <string.h>

struct call_stack *call_stack_of(struct call_stacks *s, uint32_t tid)
{
	struct call_stack **slot, *c;
	uint32_t i;

	if (int_map_get(&s->by_tid, tid, &i))
		return s->list.v[i];
	c = calloc(1, sizeof(*c));
	slot = c ? vec_next(&s->list) : NULL;
	if (!slot) {
		free(c);
		return NULL;
	}
	*slot = c;
	return int_map_put(&s->by_tid, tid, (uint32_t)(s->list.n - 1)) < 0 ? NULL : c;
}

void call_stacks_done(struct call_stacks *s)
{
	for (size_t i = 0; i < s->list.n; i++)
		free(s->list.v[i]);
	vec_done(&s->list);
	int_map_done(&s->by_tid);
}

void call_stack_branch(struct call_stack *c, uint32_t flags, uint64_t to, uint64_t return_address)
{
	if (flags & (TACHO_BRANCH_TRACE_BEGIN | TACHO_BRANCH_TRACE_END))
		return;
	if (flags & TACHO_BRANCH_CALL) {
		if (c->n == CALL_STACK_MAX) {	/* the outermost calls are forgotten */
			memmove(c->v, c->v + CALL_STACK_MAX / 2, CALL_STACK_MAX / 2 * sizeof(*c->v));
			c->n = CALL_STACK_MAX / 2;
		}
		c->v[c->n++] = return_address;
	} else if (flags & TACHO_BRANCH_RETURN) {
		for (size_t i = c->n; i > 0; i--)
			if (c->v[i - 1] == to) {
				c->n = i - 1;
				break;
			}
	}
}

size_t call_stack_chain(const struct call_stack *c, uint64_t ip, uint64_t *out, size_t max)
{
	bool kernel = ip >> 63;
	size_t n = 0;

	out[n++] = kernel ? (uint64_t)-128 : (uint64_t)-512;	/* PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER */
	out[n++] = ip;
	for (size_t i = c->n; i > 0 && n <= max; i--) {
		if (kernel != (bool)(c->v[i - 1] >> 63)) {
			if (n + 1 > max)
				break;
			kernel = !kernel;
			out[n++] = kernel ? (uint64_t)-128 : (uint64_t)-512;
		}
		out[n++] = c->v[i - 1];
	}
	return n;
}
