#include "cli/browser/stack_tree.h"

#include <errno.h>

#include "base/map.h"

void stack_tree_free(struct stack_tree *t)
{
	if (!t)
		return;
	free(t->v);
	free(t);
}

const struct tacho_profile_frame *stack_tree_frame(const struct stack_tree *t, uint32_t node)
{
	return node ? tacho_profile_frame(t->profile, tacho_profile_nodes(t->profile)[node].frame) : NULL;
}

uint32_t stack_tree_find(const struct stack_tree *t, uint64_t path)
{
	for (size_t i = 1; path && i < t->n; i++)
		if (t->v[i].path == path && t->v[i].total)
			return (uint32_t)i;
	return 0;
}

/* Whether the filters accept a sample: its thread, the object of its innermost function, and any of its functions. */
static bool passes(const struct rows *r, const struct tacho_profile_row *row)
{
	const struct tacho_profile *p = r->report->profile;
	const struct tacho_profile_thread *t = tacho_profile_thread(p, row->thread);
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	const struct rows_filter *f = &r->filter;
	const struct tacho_profile_frame *leaf = row->node ? tacho_profile_frame(p, nodes[row->node].frame) : NULL;

	if ((f->comm && strcmp(f->comm, t->comm) != 0) || (f->by_tid && f->tid != t->tid))
		return false;
	if (f->dso && strcmp(f->dso, leaf ? leaf->code->object_name : "[unknown]") != 0)
		return false;
	for (uint32_t n = row->node; f->symbol && n; n = nodes[n].parent)
		if (rows_symbol_passes(r, tacho_profile_frame(p, nodes[n].frame)))
			return true;
	return !f->symbol;
}

static void add_weights(struct stack_tree *t, const struct rows *r, uint32_t event)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(t->profile);

	for (size_t i = 0; i < tacho_profile_n_rows(t->profile); i++)
		if (rows[i].event == event && passes(r, &rows[i]))
			t->v[rows[i].node].self += rows[i].period;
	/* Parents have smaller ids than their children. */
	for (size_t i = t->n - 1; i > 0; i--) {
		t->v[i].total += t->v[i].self;
		t->v[t->v[i].parent].total += t->v[i].total;
	}
	t->v[0].total += t->v[0].self;
}

static uint64_t path_of(uint64_t above, const struct tacho_profile_frame *f)
{
	uint64_t hash = above ^ str_hash(str_of(f->code->name)) ^ str_hash(str_of(f->code->object_name)) * 3;

	hash *= 0x9e3779b97f4a7c15ull;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

static int by_weight(const void *pa, const void *pb, void *arg)
{
	const struct stack_tree *t = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (t->v[a].total != t->v[b].total)
		return t->v[a].total < t->v[b].total ? -1 : 1;
	return a < b ? 1 : -1;
}

/* Links the nodes with weight: the lightest first, so that the heaviest child of each becomes its first. */
static int link_children(struct stack_tree *t)
{
	uint32_t *order = calloc(t->n, sizeof(*order));
	size_t n = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++)
		if (t->v[i].total)
			order[n++] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_weight, t);
	for (size_t i = 0; i < n; i++) {
		struct stack_tree_node *node = &t->v[order[i]], *up = &t->v[node->parent];

		node->next = up->child;
		up->child = order[i];
	}
	free(order);
	return 0;
}

int stack_tree_new(struct stack_tree **out, const struct rows *r, uint32_t event, uint64_t whole)
{
	const struct tacho_profile *p = r->report->profile;
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	struct stack_tree *t = calloc(1, sizeof(*t));

	if (t)
		t->v = calloc(tacho_profile_n_nodes(p), sizeof(*t->v));
	if (!t || !t->v) {
		stack_tree_free(t);
		return -ENOMEM;
	}
	t->n = tacho_profile_n_nodes(p);
	t->profile = p;
	t->v[0].path = 1;
	for (size_t i = 1; i < t->n; i++) {
		t->v[i].parent = nodes[i].parent;
		t->v[i].path = path_of(t->v[nodes[i].parent].path, tacho_profile_frame(p, nodes[i].frame));
	}
	add_weights(t, r, event);
	t->whole = whole ? whole : t->v[0].total;
	if (link_children(t) < 0) {
		stack_tree_free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}
