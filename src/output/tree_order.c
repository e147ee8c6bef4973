/*
 * Orders siblings by name, as flame graphs do. Names are sorted, not nodes: then nodes are linked to their parents in the
 * order of their name's rank (a counting sort).
 */
#include "output/tree.h"

#include <errno.h>

struct label_name {
	char *text;
	uint32_t id;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct label_name *)a)->text, ((const struct label_name *)b)->text);
}

void tree_label(struct buf *b, const struct call_tree *t, const struct output *o, uint32_t node)
{
	const struct tree_node *v = &t->v[node];

	if (v->frame != TREE_NO_FRAME)
		put_line_label(b, tacho_profile_frame(o->p, v->frame));
	else
		buf_puts(b, node ? t->comms.names[v->comm] : "all");
}

/* Fills in the labels of all frames, then of all comms. Returns how many there are; fewer if out of memory. */
static size_t collect_labels(struct label_name *names, const struct call_tree *t, const struct output *o, size_t frames)
{
	for (size_t i = 0; i < frames + t->comms.n; i++) {
		struct buf b = { 0 };

		if (i < frames)
			put_line_label(&b, tacho_profile_frame(o->p, i));
		else
			buf_puts(&b, t->comms.names[i - frames]);
		names[i] = (struct label_name){ buf_take(&b), (uint32_t)i };
		if (!names[i].text)
			return i;
	}
	return frames + t->comms.n;
}

static uint32_t name_id(const struct tree_node *v, size_t frames)
{
	return v->frame != TREE_NO_FRAME ? v->frame : (uint32_t)frames + v->comm;
}

/* Takes nodes by descending rank and prepends each to its parent's list, so that the lists are ascending. */
static int link_nodes(struct call_tree *t, const uint32_t *rank, size_t frames, size_t n_names)
{
	scoped(freep) uint32_t *start = calloc(n_names + 2, sizeof(*start));
	scoped(freep) uint32_t *order = calloc(t->n + 1, sizeof(*order));

	if (!start || !order)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++)
		start[rank[name_id(&t->v[i], frames)] + 1]++;
	for (size_t i = 0; i < n_names; i++)
		start[i + 1] += start[i];
	for (size_t i = 1; i < t->n; i++)
		order[start[rank[name_id(&t->v[i], frames)]]++] = (uint32_t)i;
	for (size_t i = t->n - 1; i-- > 0;) {
		struct tree_node *v = &t->v[order[i]];

		v->next = t->v[v->parent].child;
		t->v[v->parent].child = order[i];
	}
	return 0;
}

int tree_sort(struct call_tree *t, const struct output *o)
{
	size_t frames = tacho_profile_n_frames(o->p), n = frames + t->comms.n, have = 0;
	scoped(freep) struct label_name *names = calloc(n + 1, sizeof(*names));
	scoped(freep) uint32_t *rank = calloc(n + 1, sizeof(*rank));
	int err = -ENOMEM;

	if (names && rank)
		have = collect_labels(names, t, o, frames);
	if (names && rank && have == n) {
		qsort(names, n, sizeof(*names), by_text);
		for (size_t i = 0; i < n; i++)
			rank[names[i].id] = (uint32_t)i;
		err = link_nodes(t, rank, frames, n);
	}
	for (size_t i = 0; i < have; i++)
		free(names[i].text);
	return err;
}
