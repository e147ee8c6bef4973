/*
 * Builds the call tree. The profile's stacks are a trie already, but without commands, and with separate frames that the
 * tree merges (the same function at another address):
 *
 *	profile's trie --merge nodes of equal frames--> merged trie --per command--> call tree
 *
 * Rows are added command by command, so that one array, stamped with the command, maps trie nodes to tree nodes. Parents
 * are added before their children, so totals are summed in one pass from the end.
 */
#include "output/tree.h"

#include <errno.h>

/* ---- comms ---- */

int comms_init(struct comms *c, const struct tacho_profile *p)
{
	size_t n = tacho_profile_n_threads(p);
	struct map ids = { 0 };
	int err = 0;

	*c = (struct comms){ .of_thread = calloc(n + 1, sizeof(*c->of_thread)),
			     .names = calloc(n + 1, sizeof(*c->names)) };
	if (!c->of_thread || !c->names)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		struct str name = str_of(tacho_profile_thread(p, i)->comm);
		const uint64_t *id = map_get(&ids, name);

		if (!id) {
			c->names[c->n] = name.s;
			err = map_put(&ids, name, c->n);
			c->of_thread[i] = (uint32_t)c->n++;
		} else {
			c->of_thread[i] = (uint32_t)*id;
		}
	}
	map_done(&ids);
	if (err)
		comms_done(c);
	return err;
}

void comms_done(struct comms *c)
{
	free(c->of_thread);
	free(c->names);
	*c = (struct comms){ 0 };
}

/* ---- keys of frames ---- */

/* Frames with the same key are merged: key[i] is the first frame with that key. Returns 1 if all keys differ, 0, or
 * -ENOMEM. */
static int frame_keys(uint32_t *key, const struct tacho_profile *p, bool by_label)
{
	struct keymap ids = { 0 };
	int distinct = 1;

	for (size_t i = 0; i < tacho_profile_n_frames(p); i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(p, i);
		uint32_t object = by_label && f->known ? 0 : f->code->object + 1;
		uint64_t k = key_pair(object, f->known ? f->code->symbol + 1 : 0);
		uint32_t first;

		if (f->code->srcfile)
			k = key_add(key_add(key_mix(k), (uintptr_t)f->code->srcfile), f->srcline);
		first = keymap_get(&ids, k);
		if (first == KEYMAP_NONE) {
			first = (uint32_t)i;
			if (keymap_put(&ids, k, first) < 0) {
				distinct = -ENOMEM;
				break;
			}
		} else {
			distinct = 0;
		}
		key[i] = first;
	}
	keymap_done(&ids);
	return distinct;
}

/* Merges nodes whose parents and frames are equal after merging: fills in t->nodes and t->merged. */
static int merge_nodes(struct merged_trie *t, const struct tacho_profile *p, const uint32_t *key,
		      bool distinct, bool join_unknown)
{
	const struct tacho_profile_node *from = tacho_profile_nodes(p);
	struct keymap seen = { 0 };
	int err = 0;

	for (size_t i = 1; i < t->n && !err; i++) {
		/* Parents come before their children; if not, the profile is damaged and the node becomes a root. */
		uint32_t up = from[i].parent < i ? t->merged[from[i].parent] : 0;
		uint32_t frame = key[from[i].frame], same = KEYMAP_NONE;

		if (join_unknown && up && t->nodes[up].frame == frame &&
		    !tacho_profile_frame(p, frame)->known)
			same = up;
		else if (!distinct)
			same = keymap_get(&seen, key_pair(up, frame));
		if (same != KEYMAP_NONE) {
			t->merged[i] = same;
			continue;
		}
		t->merged[i] = (uint32_t)i;
		t->nodes[i] = (struct tacho_profile_node){ up, frame };
		if (!distinct)
			err = keymap_put(&seen, key_pair(up, frame), (uint32_t)i);
	}
	keymap_done(&seen);
	return err;
}

static void trie_done(struct merged_trie *t)
{
	free(t->nodes);
	free(t->merged);
	*t = (struct merged_trie){ 0 };
}

static int trie_init(struct merged_trie *t, const struct tacho_profile *p, const struct tree_opts *opts)
{
	scoped(freep) uint32_t *key = calloc(tacho_profile_n_frames(p) + 1, sizeof(*key));
	int distinct, err = -ENOMEM;

	*t = (struct merged_trie){ .n = tacho_profile_n_nodes(p) };
	t->nodes = calloc(t->n + 1, sizeof(*t->nodes));
	t->merged = calloc(t->n + 1, sizeof(*t->merged));
	if (key && t->nodes && t->merged) {
		distinct = frame_keys(key, p, opts->by_label);
		err = distinct < 0 ? distinct :
		      merge_nodes(t, p, key, distinct && !opts->join_unknown, opts->join_unknown);
	}
	if (err)
		trie_done(t);
	return err;
}

/* ---- rows by comm ---- */

/* The rows of the event ordered by comm: those of comm c are start[c] .. start[c + 1]. */
static uint32_t *rows_by_comm(const struct output *o, const struct comms *c, size_t *start)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);
	size_t n = tacho_profile_n_rows(o->p);
	uint32_t *order = calloc(n + 1, sizeof(*order));

	if (!order)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (rows[i].event == o->event)
			start[c->of_thread[rows[i].thread] + 1]++;
	for (size_t i = 0; i < c->n; i++)
		start[i + 1] += start[i];
	for (size_t i = 0; i < n; i++)		/* advances start[c] to the start of c + 1 ... */
		if (rows[i].event == o->event)
			order[start[c->of_thread[rows[i].thread]]++] = (uint32_t)i;
	for (size_t i = c->n; i > 0; i--)	/* ... so shift them back */
		start[i] = start[i - 1];
	start[0] = 0;
	return order;
}

/* ---- from the merged trie into the tree ---- */

struct tree_builder {
	struct call_tree *tree;
	const struct merged_trie *trie;
	uint32_t *stamp, *id;		/* per trie node: comm + 1 that used it last, and its tree node for
					 * this comm */
	struct { uint32_t *v; size_t n, cap; } path;
};

uint32_t tree_add(struct call_tree *t, uint32_t parent, uint32_t frame, uint32_t comm)
{
	struct tree_node *node = vec_add(t);

	if (!node)
		return 0;
	node->parent = parent;
	node->frame = frame;
	node->comm = comm;
	return (uint32_t)(t->n - 1);
}

/* The tree node of a trie node, below `top`, the comm's node; adds missing ones. 0 if out of memory. */
static uint32_t tree_node_of(struct tree_builder *ps, uint32_t node, uint32_t comm, uint32_t top)
{
	uint32_t at = top;

	ps->path.n = 0;
	for (; node; node = ps->trie->nodes[node].parent) {
		uint32_t *slot;

		if (ps->stamp[node] == comm + 1) {
			at = ps->id[node];
			break;
		}
		slot = vec_add(&ps->path);
		if (!slot)
			return 0;
		*slot = node;
	}
	while (ps->path.n) {
		node = ps->path.v[--ps->path.n];
		at = tree_add(ps->tree, at, ps->trie->nodes[node].frame, comm);
		if (!at)
			return 0;
		ps->stamp[node] = comm + 1;
		ps->id[node] = at;
	}
	return at;
}

static int add_comm(struct tree_builder *ps, const struct output *o, const uint32_t *order, size_t n,
		    uint32_t comm)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);
	uint32_t top = tree_add(ps->tree, 0, TREE_NO_FRAME, comm);

	if (!top)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_row *r = &rows[order[i]];
		uint32_t leaf = tree_node_of(ps, ps->trie->merged[r->node], comm, top);

		if (!leaf)
			return -ENOMEM;
		ps->tree->v[leaf].self += row_weight(o, r);
	}
	return 0;
}

static int add_forward(struct call_tree *t, const struct merged_trie *trie, const struct output *o)
{
	scoped(freep) size_t *start = calloc(t->comms.n + 2, sizeof(*start));
	scoped(freep) uint32_t *order = start ? rows_by_comm(o, &t->comms, start) : NULL;
	struct tree_builder ps = { .tree = t, .trie = trie };
	int err = 0;

	ps.stamp = calloc(trie->n + 1, sizeof(*ps.stamp));
	ps.id = calloc(trie->n + 1, sizeof(*ps.id));
	if (!order || !ps.stamp || !ps.id)
		err = -ENOMEM;
	for (size_t c = 0; c < t->comms.n && !err; c++)
		if (start[c + 1] > start[c])
			err = add_comm(&ps, o, order + start[c], start[c + 1] - start[c],
				       (uint32_t)c);
	free(ps.stamp);
	free(ps.id);
	vec_done(&ps.path);
	return err;
}

/* ---- the complete tree ---- */

static void sum_totals(struct call_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->v[i].total = t->v[i].self;
	for (size_t i = t->n; i-- > 1;)
		t->v[t->v[i].parent].total += t->v[i].total;
}

int tree_prune(struct call_tree *t, double min_share)
{
	scoped(freep) uint32_t *new_index = calloc(t->n + 1, sizeof(*new_index));
	double min_weight = min_share * (double)t->v[0].total;
	size_t n = 1;

	if (!new_index)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++) {	/* a child is never larger than its parent */
		if ((double)t->v[i].total < min_weight || t->v[i].total == 0)
			continue;
		new_index[i] = (uint32_t)n;
		t->v[n] = t->v[i];
		t->v[n].parent = new_index[t->v[i].parent];
		n++;
	}
	t->n = n;
	return 0;
}

void tree_done(struct call_tree *t)
{
	comms_done(&t->comms);
	vec_done(t);
}

int tree_init(struct call_tree *t, const struct output *o, const struct tree_opts *opts)
{
	struct merged_trie trie;
	int err = trie_init(&trie, o->p, opts);

	*t = (struct call_tree){ 0 };
	if (err)
		return err;
	err = comms_init(&t->comms, o->p);
	if (!err && !vec_add(t))
		err = -ENOMEM;
	if (!err) {
		t->v[0].frame = TREE_NO_FRAME;
		err = opts->reverse ? tree_add_reverse(t, &trie, o, opts->min_share) :
				      add_forward(t, &trie, o);
	}
	trie_done(&trie);
	if (err)
		tree_done(t);
	else
		sum_totals(t);
	return err;
}
