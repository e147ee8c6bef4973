/*
 * The lists of children: all that belong into one, the last one first, are put in front of it.
 */
#include "report/node_children.h"

void chain_below_done(struct chain_below *b)
{
	free(b->has);
	free(b->before);
	free(b->first);
	free(b->late);
	*b = (struct chain_below){ 0 };
}

static bool is_late(uint32_t child, uint32_t parent)
{
	return (parent != child - 1) & (parent != 0);
}

/* All children that are late. As long as there are no lists, `next` is the parent. Nobody can foretell which
 * ones are: each is written, and counts or not. */
static void find_late(struct chain_below *b)
{
	for (uint32_t i = (uint32_t)b->n_nodes; i-- > 1;) {
		uint32_t parent = b->nodes[i].parent;
		bool late = is_late(i, parent);

		b->late[b->n_late] = (struct chain_late){ .child = i, .next = parent };
		b->n_late += late;
		b->has[parent / 64] |= (uint64_t)late << parent % 64;
	}
}

static uint32_t count_parents(struct chain_below *b, size_t n_words)
{
	uint32_t n = 0;

	for (size_t i = 0; i < n_words; i++) {
		b->before[i] = n;
		n += (uint32_t)__builtin_popcountll(b->has[i]);
	}
	return n;
}

static void make_lists(struct chain_below *b)
{
	for (uint32_t i = 0; i < b->n_late; i++) {
		uint32_t *list = chain_below_list(b, b->late[i].next);

		b->late[i].next = *list;
		*list = i + 1;
	}
}

int chain_below_init(struct chain_below *b, const struct tacho_profile_node *nodes, size_t n_nodes)
{
	size_t n_words = n_nodes / 64 + 1;

	*b = (struct chain_below){ .nodes = nodes, .n_nodes = n_nodes };
	b->has = calloc(n_words, sizeof(*b->has));
	b->before = reallocarray(NULL, n_words, sizeof(*b->before));
	b->late = reallocarray(NULL, n_nodes + 1, sizeof(*b->late));	/* what is not written costs nothing */
	if (!b->has || !b->before || !b->late)
		return -ENOMEM;
	find_late(b);
	b->first = calloc(count_parents(b, n_words) + 1, sizeof(*b->first));
	if (!b->first)
		return -ENOMEM;
	make_lists(b);
	return 0;
}

/* ---- numbers ---- */

int chain_marks_init(struct chain_marks *m, size_t n_nodes)
{
	*m = (struct chain_marks){ .block_of = calloc(n_nodes / CHAIN_NEAR + 1, sizeof(*m->block_of)) };
	return m->block_of ? 0 : -ENOMEM;
}

void chain_marks_done(struct chain_marks *m)
{
	free(m->block_of);
	m->block_of = NULL;
	vec_done(&m->blocks);
}

void chain_marks_clear(struct chain_marks *m)
{
	for (size_t i = 0; i < m->blocks.n; i++)
		m->block_of[m->blocks.v[i].place] = 0;
	m->blocks.n = 0;
}

int chain_marks_more(struct chain_marks *m, uint32_t at)
{
	struct chain_block *b = vec_add(&m->blocks);

	if (!b)
		return -ENOMEM;
	b->place = at / CHAIN_NEAR;
	m->block_of[b->place] = (uint32_t)m->blocks.n;
	return 0;
}
