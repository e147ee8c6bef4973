/*
 * The entries of a unit form a tree. Siblings are found by skipping the bytes of an entry and its children, so the limit
 * counts bytes: it is also reached by entries that are skipped several times.
 */
#include "symbol/inline_walk.h"

#include <errno.h>

#define DEPTH_MAX 256u
#define RANGES_MAX (1u << 22)		/* of one table */

enum visit { VISIT_SKIP, VISIT_ENTER };		/* the entry's children */

struct tree_visitor {
	/* `depth` is 1 for children of the root. Returns enum visit or a negative errno. */
	int (*visit)(struct tree_visitor *v, Dwarf_Die *die, unsigned depth);
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

int inline_walk_ranges(const struct inline_walk *w, Dwarf_Die *die, uint32_t value, struct painted_ranges *out)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = w->lib->dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (out->n >= RANGES_MAX)
			return -EFBIG;
		start += w->bias;
		end += w->bias;
		if (is_code(w, start) && painted_ranges_add(out, start, end, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Charges the bytes between two entries of a tree, whose order tells that libdw went forward. */
static int charge(struct inline_walk *w, const void *from, const void *to)
{
	uintptr_t a = (uintptr_t)from, b = (uintptr_t)to;
	uint64_t n = b > a ? b - a : 1;

	if (b < a || n > w->bytes_left) {
		w->bytes_left = 0;
		return -EFBIG;
	}
	w->bytes_left -= n;
	return 0;
}

/* Moves to the next sibling of the entry on top, or else to that of its parent and so on. *n becomes 0 at the end. */
static int next_entry(struct inline_walk *w, Dwarf_Die *stack, unsigned *n)
{
	const void *last = stack[*n - 1].addr;
	int err = 0;

	while (err == 0 && *n) {
		const void *from = stack[*n - 1].addr;

		if (w->lib->dwarf_siblingof(&stack[*n - 1], &stack[*n - 1]) == 0)
			return charge(w, from, stack[*n - 1].addr);
		err = charge(w, from, last);
		--*n;
	}
	return err;
}

static int walk_tree(struct tree_visitor *v, Dwarf_Die *root)
{
	struct inline_walk *w = v->walk;
	Dwarf_Die stack[DEPTH_MAX];
	unsigned n = 1;
	int err = 0;

	if (w->lib->dwarf_child(root, &stack[0]) != 0)
		return 0;
	while (err == 0 && n) {
		int got = v->visit(v, &stack[n - 1], n);

		if (got < 0)
			return got;
		if (got == VISIT_ENTER && n < DEPTH_MAX && w->lib->dwarf_child(&stack[n - 1], &stack[n]) == 0) {
			err = charge(w, stack[n - 1].addr, stack[n].addr);
			n++;
		} else {
			err = next_entry(w, stack, &n);
		}
	}
	return err;
}

static int visit_for_functions(struct tree_visitor *v, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die *slot;
	int err;

	(void)depth;
	switch (v->walk->lib->dwarf_tag(die)) {
	case DW_TAG_subprogram:
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return VISIT_ENTER;
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return v->inside ? VISIT_ENTER : VISIT_SKIP;
	default:
		return VISIT_SKIP;
	}
	err = inline_walk_ranges(v->walk, die, (uint32_t)v->functions->n, v->ranges);
	if (err < 0)
		return err;
	if (v->ranges->n && v->ranges->v[v->ranges->n - 1].value == v->functions->n) {
		slot = vec_next(v->functions);
		if (!slot)
			return -ENOMEM;
		*slot = *die;
	}
	return v->inside ? VISIT_ENTER : VISIT_SKIP;
}

int inline_walk_functions(struct inline_walk *w, Dwarf_Die *unit, bool inside, struct inline_functions *out,
			  struct painted_ranges *ranges)
{
	struct tree_visitor v = { .visit = visit_for_functions, .walk = w, .ranges = ranges, .functions = out,
				  .inside = inside };

	return walk_tree(&v, unit);
}

static int visit_for_calls(struct tree_visitor *v, Dwarf_Die *die, unsigned depth)
{
	struct inline_call *call;
	int err;

	v->call_at[depth] = v->call_at[depth - 1];
	switch (v->walk->lib->dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		return VISIT_ENTER;
	default:
		return VISIT_SKIP;
	}
	call = v->calls->n < INLINE_CALL_NONE ? vec_next(v->calls) : NULL;
	if (!call)
		return -ENOMEM;
	*call = (struct inline_call){ .die = *die, .outer = v->call_at[depth - 1] };
	v->call_at[depth] = (uint32_t)(v->calls->n - 1);
	err = inline_walk_ranges(v->walk, die, v->call_at[depth], v->ranges);
	return err < 0 ? err : VISIT_ENTER;
}

int inline_walk_calls(struct inline_walk *w, Dwarf_Die *function, struct inline_calls *out, struct painted_ranges *ranges)
{
	struct tree_visitor v = { .visit = visit_for_calls, .walk = w, .ranges = ranges, .calls = out,
				  .call_at = { INLINE_CALL_NONE } };

	return walk_tree(&v, function);
}
