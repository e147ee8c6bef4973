/*
 * Counts leaves without a symbol, and broken stacks.
 *
 * A stack that was walked by frame pointers ends at the start of the program or thread, or, in the kernel, at
 * its entry point. If it ends in another function, the walk met a function that was built without frame
 * pointers: the stack is broken.
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

/* Per node, the frame of its outermost caller. Parents have smaller ids than their children. */
static uint32_t *outermost_frames(const struct tacho_profile *p)
{
	uint32_t *root = reallocarray(NULL, p->nodes.n, sizeof(*root));

	if (!root)
		return NULL;
	root[0] = KEYMAP_NONE;
	for (size_t i = 1; i < p->nodes.n; i++) {
		const struct tacho_profile_node *n = &p->nodes.v[i];

		root[i] = n->parent ? root[n->parent] : n->frame;
	}
	return root;
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

static void count_quality(struct tacho_profile *p, const struct tacho_profile_row *r, uint32_t outermost)
{
	if (!count_unresolved(p, r))
		return;
	if (p->events.v[r->event].has_chains && !p->opts.no_chains &&
	    !(p->frame_flags.v[outermost] & FRAME_START)) {
		p->quality.broken_stacks += r->samples;
		p->objects.v[p->frames.v[outermost].code->object].broken += r->samples;
	}
}

void quality_row(struct tacho_profile *p, const struct tacho_profile_row *r)
{
	uint32_t node = r->node;

	if (p->opts.unjudged)
		return;
	while (p->nodes.v[node].parent)
		node = p->nodes.v[node].parent;
	count_quality(p, r, p->nodes.v[node].frame);
}

/* With fewer rows than nodes, walking up from each row is cheaper than a table of all nodes. */
int quality_rows(struct tacho_profile *p)
{
	bool walk = p->rows.n < p->nodes.n;
	scoped(freep) uint32_t *root = walk || p->opts.unjudged ? NULL : outermost_frames(p);

	if (!walk && !root && !p->opts.unjudged)
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
			count_quality(p, &p->rows.v[i], root[p->rows.v[i].node]);
	return 0;
}
