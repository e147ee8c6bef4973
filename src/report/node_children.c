/*
 * Lists of children are made in one pass backwards over all nodes, so that each list is in ascending order.
 */
#include "report/node_children.h"

void node_children_done(struct node_children *c)
{
	free(c->has_list);
	free(c->bits_before);
	free(c->first);
	free(c->listed);
	*c = (struct node_children){ 0 };
}

static bool is_listed(uint32_t child, uint32_t parent)
{
	return (parent != child - 1) & (parent != 0);
}

/* Until there are lists, `next` of a listed child is its parent. Which children are listed is unpredictable, so each
 * one is written, and counts or not. */
static void find_listed(struct node_children *c)
{
	for (uint32_t i = (uint32_t)c->n_nodes; i-- > 1;) {
		uint32_t parent = c->nodes[i].parent;
		bool listed = is_listed(i, parent);

		c->listed[c->n_listed] = (struct listed_child){ .child = i, .next = parent };
		c->n_listed += listed;
		c->has_list[parent / 64] |= (uint64_t)listed << parent % 64;
	}
}

static uint32_t count_lists(struct node_children *c, size_t n_words)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_words; i++) {
		c->bits_before[i] = n;
		n += (uint32_t)__builtin_popcountll(c->has_list[i]);
	}
	return n;
}

static void make_lists(struct node_children *c)
{
	for (uint32_t i = 0; i < c->n_listed; i++) {
		uint32_t *head = node_list_head(c, c->listed[i].next);

		c->listed[i].next = *head;
		*head = i + 1;
	}
}

int node_children_init(struct node_children *c, const struct tacho_profile_node *nodes, size_t n_nodes)
{
	size_t n_words = n_nodes / 64 + 1;

	*c = (struct node_children){ .nodes = nodes, .n_nodes = n_nodes };
	c->has_list = calloc(n_words, sizeof(*c->has_list));
	c->bits_before = reallocarray(NULL, n_words, sizeof(*c->bits_before));
	c->listed = reallocarray(NULL, n_nodes + 1, sizeof(*c->listed));	/* pages that are not written cost nothing */
	if (!c->has_list || !c->bits_before || !c->listed)
		return -ENOMEM;
	find_listed(c);
	c->first = calloc(count_lists(c, n_words) + 1, sizeof(*c->first));
	if (!c->first)
		return -ENOMEM;
	make_lists(c);
	return 0;
}

/* ---- numbers ---- */

int node_numbers_init(struct node_numbers *m, size_t n_nodes)
{
	*m = (struct node_numbers){ .block_of = calloc(n_nodes / BLOCK_NODES + 1, sizeof(*m->block_of)) };
	return m->block_of ? 0 : -ENOMEM;
}

void node_numbers_done(struct node_numbers *m)
{
	free(m->block_of);
	m->block_of = NULL;
	vec_done(&m->blocks);
}

void node_numbers_clear(struct node_numbers *m)
{
	for (size_t i = 0; i < m->blocks.n; i++)
		m->block_of[m->blocks.v[i].index] = 0;
	m->blocks.n = 0;
}

int node_numbers_add_block(struct node_numbers *m, uint32_t node)
{
	struct number_block *b = vec_add(&m->blocks);

	if (!b)
		return -ENOMEM;
	b->index = node / BLOCK_NODES;
	m->block_of[b->index] = (uint32_t)m->blocks.n;
	return 0;
}
