/*
 * The entries of a unit form a tree, stored depth first. Attributes are read only of entries that matter; the others are
 * skipped, with their children if they tell where their sibling is. The limit counts the bytes that were read or skipped.
 */
#include "symbol/inline_walk.h"

#include <errno.h>

#define DEPTH_MAX 256u
#define RANGES_MAX (1u << 22)		/* of one table */

enum visit { VISIT_SKIP, VISIT_ENTER };		/* the entry's children */

struct tree_visitor {
	/* `depth` is 1 for children of the root. Returns enum visit or a negative errno. */
	int (*visit)(struct tree_visitor *v, struct debug_entry *e, unsigned depth);
	struct inline_walk *walk;
	struct painted_ranges *ranges;
	struct inline_functions *functions;
	struct inline_calls *calls;
	bool inside;			/* enter functions */
	uint32_t call_at[DEPTH_MAX + 1];	/* depth -> innermost call around the children of the entry there */
};

static bool is_code(const struct inline_walk *w, uint64_t address)
{
	for (size_t i = 0; i < w->code.n; i++)
		if (address >= w->code.v[i].start && address < w->code.v[i].end)
			return true;
	return w->code.n == 0;
}

int inline_walk_ranges(const struct inline_walk *w, const struct debug_entry *e, uint32_t value, struct painted_ranges *out)
{
	struct debug_ranges r;
	uint64_t start, end;

	debug_ranges_begin(&r, e);
	while (debug_ranges_next(&r, &start, &end)) {
		if (out->n >= RANGES_MAX)
			return -EFBIG;
		start += w->bias;
		end += w->bias;
		if (is_code(w, start) && painted_ranges_add(out, start, end, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int charge(struct inline_walk *w, uint64_t n)
{
	if (n > w->bytes_left) {
		w->bytes_left = 0;
		return -EFBIG;
	}
	w->bytes_left -= n;
	return 0;
}

/* Skips the children that begin at *at, and the end of their list. Returns 0, -EBADMSG, -EFBIG, -ENOMEM. */
static int skip_children(struct inline_walk *w, struct debug_unit *unit, uint64_t *at)
{
	unsigned level = 1;

	while (level) {
		struct debug_entry e;
		uint64_t next = *at, sibling = 0;
		int err = debug_entry_start(unit, *at, &e);

		if (err == 0)
			err = debug_entry_skip(&e, &next, &sibling);
		if (err == 0)
			err = charge(w, next - *at);
		if (err < 0)
			return err;
		*at = e.has_children && sibling ? sibling : next;
		if (!e.tag)
			level--;
		else if (e.has_children && !sibling)
			level++;
	}
	return 0;
}

/* Visits the children of an entry, and theirs. Damage ends the walk. */
static int walk_tree(struct tree_visitor *v, struct debug_unit *unit, uint64_t root)
{
	struct inline_walk *w = v->walk;
	uint64_t at = root, sibling = 0;
	struct debug_entry e;
	unsigned depth = 1;
	int err = debug_entry_start(unit, root, &e);

	if (err == 0)
		err = debug_entry_skip(&e, &at, &sibling);
	if (err < 0 || !e.has_children)
		return err == -ENOMEM ? err : 0;
	while (err == 0 && depth) {
		uint64_t from = at;
		int got = VISIT_SKIP;

		err = debug_entry_start(unit, at, &e);
		if (err == 0)
			err = debug_entry_skip(&e, &at, &sibling);
		if (err == 0)
			err = charge(w, at - from);
		if (err == 0 && e.tag)
			got = v->visit(v, &e, depth);
		if (err < 0 || got < 0)
			return err == -EBADMSG ? 0 : err < 0 ? err : got;
		if (!e.tag)
			depth--;
		else if (e.has_children && got == VISIT_ENTER && depth < DEPTH_MAX)
			depth++;
		else if (e.has_children && sibling)
			at = sibling;
		else if (e.has_children)
			err = skip_children(w, unit, &at);
	}
	return err == -EBADMSG ? 0 : err;
}

/* Reads the attributes of an entry, whose size was checked by skipping them. */
static bool read_attributes(struct debug_entry *e)
{
	uint64_t next;

	return debug_entry_attributes(e, &next) == 0;
}

static int visit_for_functions(struct tree_visitor *v, struct debug_entry *e, unsigned depth)
{
	uint64_t *slot;
	int err;

	(void)depth;
	switch (e->tag) {
	case TAG_SUBPROGRAM:
		break;
	case TAG_NAMESPACE:
	case TAG_MODULE:
	case TAG_CLASS_TYPE:
	case TAG_STRUCTURE_TYPE:
	case TAG_UNION_TYPE:
		return VISIT_ENTER;
	case TAG_LEXICAL_BLOCK:
	case TAG_INLINED_SUBROUTINE:
		return v->inside ? VISIT_ENTER : VISIT_SKIP;
	default:
		return VISIT_SKIP;
	}
	if (!read_attributes(e))
		return -EBADMSG;
	err = inline_walk_ranges(v->walk, e, (uint32_t)v->functions->n, v->ranges);
	if (err < 0)
		return err;
	if (v->ranges->n && v->ranges->v[v->ranges->n - 1].value == v->functions->n) {
		slot = vec_next(v->functions);
		if (!slot)
			return -ENOMEM;
		*slot = e->offset;
	}
	return v->inside ? VISIT_ENTER : VISIT_SKIP;
}

int inline_walk_functions(struct inline_walk *w, struct debug_unit *unit, bool inside, struct inline_functions *out,
			  struct painted_ranges *ranges)
{
	struct tree_visitor v = { .visit = visit_for_functions, .walk = w, .ranges = ranges, .functions = out,
				  .inside = inside };

	return walk_tree(&v, unit, unit->first);
}

static int visit_for_calls(struct tree_visitor *v, struct debug_entry *e, unsigned depth)
{
	struct inline_call *call;
	int err;

	v->call_at[depth] = v->call_at[depth - 1];
	switch (e->tag) {
	case TAG_INLINED_SUBROUTINE:
		break;
	case TAG_LEXICAL_BLOCK:
	case TAG_TRY_BLOCK:
	case TAG_CATCH_BLOCK:
	case TAG_WITH_STMT:
	case TAG_COMMON_BLOCK:
		return VISIT_ENTER;
	default:
		return VISIT_SKIP;
	}
	if (!read_attributes(e))
		return -EBADMSG;
	call = v->calls->n < INLINE_CALL_NONE ? vec_next(v->calls) : NULL;
	if (!call)
		return -ENOMEM;
	*call = (struct inline_call){ .offset = e->offset, .outer = v->call_at[depth - 1] };
	v->call_at[depth] = (uint32_t)(v->calls->n - 1);
	err = inline_walk_ranges(v->walk, e, v->call_at[depth], v->ranges);
	return err < 0 ? err : VISIT_ENTER;
}

int inline_walk_calls(struct inline_walk *w, struct debug_unit *unit, uint64_t function, struct inline_calls *out,
		      struct painted_ranges *ranges)
{
	struct tree_visitor v = { .visit = visit_for_calls, .walk = w, .ranges = ranges, .calls = out,
				  .call_at = { INLINE_CALL_NONE } };

	return walk_tree(&v, unit, function);
}
