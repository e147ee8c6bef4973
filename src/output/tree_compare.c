/*
 * Compares two trees: the weight of each path in an earlier profile. The profiles have different ids, so paths are matched
 * by a hash of their names.
 */
#include "output/tree.h"

#include <errno.h>

/* The hash of each node's path. */
static uint64_t *path_hashes(const struct call_tree *t, const struct output *o)
{
	uint64_t *hash = calloc(t->n + 1, sizeof(*hash));
	scoped(buf_done) struct buf label = { 0 };

	for (size_t i = 1; hash && i < t->n; i++) {
		buf_clear(&label);
		tree_label(&label, t, o, (uint32_t)i);
		hash[i] = key_mix(hash[t->v[i].parent] ^ str_hash(buf_view(&label)));
	}
	return hash;
}

static int find_earlier_event(struct output *before, const struct output *o)
{
	const char *name = tacho_profile_event(o->p, o->event)->name;

	for (size_t i = 0; i < tacho_profile_n_events(before->p); i++) {
		if (strcmp(tacho_profile_event(before->p, i)->name, name) != 0)
			continue;
		before->event = (uint32_t)i;
		return 0;
	}
	return error_set(o->e, -ENOENT, "the profile to compare with has no samples of '%s'", name);
}

/* Maps the paths of the earlier tree to their totals; nodes with equal paths add up. */
static int index_totals(struct keymap *at, uint64_t *totals, const struct call_tree *t,
			const uint64_t *hash)
{
	for (size_t i = 1; i < t->n; i++) {
		uint32_t first = keymap_get(at, hash[i]);

		if (first == KEYMAP_NONE) {
			first = (uint32_t)i;
			if (keymap_put(at, hash[i], first) < 0)
				return -ENOMEM;
		}
		totals[first] += t->v[i].total;
	}
	return 0;
}

static int set_before(struct call_tree *t, const struct output *o, const struct call_tree *old,
		     const struct output *before)
{
	scoped(freep) uint64_t *hash = path_hashes(t, o), *old_hash = path_hashes(old, before);
	scoped(freep) uint64_t *totals = calloc(old->n + 1, sizeof(*totals));
	struct keymap at = { 0 };
	int err = hash && old_hash && totals ? index_totals(&at, totals, old, old_hash) : -ENOMEM;

	for (size_t i = 1; i < t->n && !err; i++) {
		uint32_t old_node = keymap_get(&at, hash[i]);

		t->v[i].before = old_node == KEYMAP_NONE ? 0 : totals[old_node];
	}
	t->before = t->v[0].before = old->v[0].total;
	keymap_done(&at);
	return err;
}

int tree_compare(struct call_tree *t, const struct output *o, const struct tree_opts *opts)
{
	struct output before = *o;
	struct tree_opts whole = *opts;
	struct call_tree old;
	int err;

	before.p = o->opts->before;
	whole.min_share = 0;
	err = find_earlier_event(&before, o);
	if (!err)
		err = tree_init(&old, &before, &whole);
	if (err)
		return err;
	err = set_before(t, o, &old, &before);
	tree_done(&old);
	return err;
}
