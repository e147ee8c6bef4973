/*
 * Counts leaves without a symbol, and broken stacks.
 *
 * A stack that was walked by frame pointers ends at the start of the program or thread, or, in the kernel, at
 * its entry point. If it ends in another function, the walk met a function that was built without frame
 * pointers: the stack is broken. The walk may also go a step or two beyond the start, since what called it left
 * something else in the frame pointer's register, or in a broken stack reach an address where nothing is mapped.
 */
#include "profile/quality.h"

#include "profile/frame.h"

#include <errno.h>

static const char *const start_functions[] = {
	"_start", "__libc_start_main", "__libc_start_call_main", "main", "start_thread", "clone",
	"__clone", "__clone3", "clone3", "_dl_start", "_dl_start_user", "_dl_main", "thread_start",
	"ret_from_fork", "ret_from_fork_asm", "secondary_startup_64_no_verify", "secondary_startup_64",
	"entry_SYSCALL_64_after_hwframe", "runtime.goexit", "runtime.goexit.abi0", "runtime.rt0_go",
	"runtime.mstart", "runtime.mcall", "el0t_64_sync", "__primary_switched",
};

bool frame_is_start(const struct tacho_profile_frame *f)
{
	if (f->space == TACHO_SPACE_KERNEL)
		return true;
	for (size_t i = 0; f->known && i < countof(start_functions); i++)
		if (strncmp(f->code->name, start_functions[i], strlen(start_functions[i])) == 0)
			return true;
	return false;
}

void quality_times(struct tacho_profile_quality *q, uint64_t first_ns, uint64_t last_ns)
{
	double first_s = (double)first_ns / 1e9;

	if (first_ns && (q->first_s == 0 || first_s < q->first_s))
		q->first_s = first_s;
	q->last_s = max_of(q->last_s, (double)last_ns / 1e9);
}

#define MAX_BEYOND_START 3	/* frames that a walk goes too far, at most */

/* Whether the stack ends at `frame`, which is the depth-th from its end, rather than at `end`, further out. */
static bool is_end(const struct tacho_profile *p, uint32_t frame, uint32_t depth, uint32_t end)
{
	const uint8_t *flags = p->frame_flags.v;

	if (depth > MAX_BEYOND_START || (flags[end] & FRAME_START) || p->frames.v[frame].space == TACHO_SPACE_KERNEL)
		return false;
	return flags[end] & FRAME_UNMAPPED || flags[frame] & FRAME_START;
}

struct stack_end {
	uint32_t frame, depth;		/* depth: number of frames of the stack */
};

/* Per node, where its stack ends. Parents have smaller ids than their children. */
static struct stack_end *stack_ends(const struct tacho_profile *p)
{
	struct stack_end *end = reallocarray(NULL, p->nodes.n, sizeof(*end));

	if (!end)
		return NULL;
	end[0] = (struct stack_end){ KEYMAP_NONE, 0 };
	for (size_t i = 1; i < p->nodes.n; i++) {
		const struct tacho_profile_node *n = &p->nodes.v[i];

		end[i] = (struct stack_end){ end[n->parent].frame, end[n->parent].depth + 1 };
		if (!n->parent || is_end(p, n->frame, end[n->parent].depth, end[i].frame))
			end[i].frame = n->frame;
	}
	return end;
}

/* A function without a name may be an entry point: that cannot be judged. */
static bool is_broken_end(const struct tacho_profile *p, uint32_t end)
{
	return !(p->frame_flags.v[end] & FRAME_START) &&
	       (p->frames.v[end].known || (p->frame_flags.v[end] & FRAME_UNMAPPED));
}

/* Returns false for a row without a stack. */
static bool count_unresolved(struct tacho_profile *p, const struct tacho_profile_row *r)
{
	uint32_t leaf = p->nodes.v[r->node].frame;
	const struct tacho_profile_frame *f = leaf == KEYMAP_NONE ? NULL : &p->frames.v[leaf];

	if (f && !f->known) {
		p->quality.unresolved += r->samples;
		p->objects.v[f->code->object].unresolved += r->samples;
	}
	return f;
}

static void count_quality(struct tacho_profile *p, const struct tacho_profile_row *r, uint32_t end)
{
	if (!count_unresolved(p, r))
		return;
	if (p->events.v[r->event].has_chains && !p->opts.no_chains && is_broken_end(p, end)) {
		p->quality.broken_stacks += r->samples;
		p->objects.v[p->frames.v[end].code->object].broken += r->samples;
	}
}

void quality_row(struct tacho_profile *p, const struct tacho_profile_row *r)
{
	uint32_t last[MAX_BEYOND_START + 1], n = 0, end;

	if (p->opts.unjudged)
		return;
	/* The outermost frames; the outermost of all is last[(n - 1) % countof(last)]. */
	for (uint32_t node = r->node; node; node = p->nodes.v[node].parent)
		last[n++ % countof(last)] = p->nodes.v[node].frame;
	end = n ? last[(n - 1) % countof(last)] : p->nodes.v[r->node].frame;
	for (uint32_t depth = 1; depth < min_of(n, (uint32_t)countof(last)); depth++) {
		uint32_t frame = last[(n - 1 - depth) % countof(last)];

		if (is_end(p, frame, depth, end))
			end = frame;
	}
	count_quality(p, r, end);
}

/* With fewer rows than nodes, walking up from each row is cheaper than a table of all nodes. */
int quality_rows(struct tacho_profile *p)
{
	bool walk = p->rows.n < p->nodes.n;
	scoped(freep) struct stack_end *end = walk || p->opts.unjudged ? NULL : stack_ends(p);

	if (!walk && !end && !p->opts.unjudged)
		return -ENOMEM;
	p->quality.unresolved = p->quality.broken_stacks = 0;
	for (size_t i = 0; i < p->objects.n; i++)
		p->objects.v[i].unresolved = p->objects.v[i].broken = 0;
	for (size_t i = 0; i < p->rows.n; i++)
		if (p->opts.unjudged)
			count_unresolved(p, &p->rows.v[i]);
		else if (walk)
			quality_row(p, &p->rows.v[i]);
		else
			count_quality(p, &p->rows.v[i], end[p->rows.v[i].node].frame);
	return 0;
}
