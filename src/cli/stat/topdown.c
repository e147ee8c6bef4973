/*
 * Builds the top-down tree: selects the metrics that have a level, and finds the path to the bottleneck from
 * their values.
 */
#include "cli/stat/topdown.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* ---- selecting metrics ---- */

struct levels {
	struct strlist names;
	uint32_t wanted, deepest;
	bool listed;				/* vendors' lists have metrics: use only these */
	const struct tacho_metric *parent;	/* if not NULL: select its children instead of levels */
};

static int note_level(void *arg, const struct tacho_metric *m)
{
	struct levels *l = arg;

	if (m->level && m->listed)
		l->listed = true;
	if (m->level > l->deepest)
		l->deepest = m->level;
	return 0;
}

bool topdown_is_below(const struct tacho_metric *m, const struct tacho_metric *parent)
{
	return m->level && m->parent && str_ieq(str_of(m->parent), str_of(parent->name));
}

static int note_name(void *arg, const struct tacho_metric *m)
{
	struct levels *l = arg;

	if (!m->level || m->listed != l->listed)
		return 0;
	if (l->parent ? !topdown_is_below(m, l->parent) : m->level > l->wanted)
		return 0;
	return strlist_add(&l->names, str_of(m->name));
}

static int refuse_level(const struct levels *l, struct tacho_error *e)
{
	error_set(e, -EOPNOTSUPP, "top-down level %u is not available here, only %u", l->wanted, l->deepest);
	error_hint(e, l->listed ? "the event lists of this CPU have no more levels" :
		   "deeper levels are the CPU vendor's metrics: 'tacho events update' fetches its lists, "
		   "--event-list takes a file");
	return -EOPNOTSUPP;
}

static int add_names(struct tacho_metric_set *ms, const struct levels *l, struct tacho_error *e)
{
	struct tacho_error first = { .column = -1 };
	int n = 0;

	for (size_t i = 0; i < l->names.n; i++) {
		struct tacho_error one = { .column = -1 };
		int err = tacho_metric_set_add(ms, l->names.v[i], &one);

		if (err == -ENOMEM)
			return error_nomem(e);
		if (err < 0 && !first.code)
			first = one;
		n += err < 0 ? 0 : err;
	}
	if (n || !first.code)
		return n;
	error_set(e, -EOPNOTSUPP, "this CPU has no top-down events: %.400s", first.message);
	error_hint(e, "they need a core PMU (often missing in virtual machines), and an Intel core of "
		      "2019 or later, an Arm core that counts slots, or the vendor's lists; 'tacho doctor' "
		      "shows what this machine has");
	return -EOPNOTSUPP;
}

static int add_selected(struct tacho *t, struct tacho_metric_set *ms, struct levels *l, struct tacho_error *e)
{
	int err = tacho_metric_walk(t, NULL, note_level, l, e);

	if (err >= 0 && l->wanted > l->deepest)
		err = refuse_level(l, e);
	if (err >= 0)
		err = tacho_metric_walk(t, NULL, note_name, l, e);
	if (err >= 0)
		err = add_names(ms, l, e);
	strlist_done(&l->names);
	return err;
}

int topdown_add(struct tacho *t, struct tacho_metric_set *ms, uint32_t level, struct tacho_error *e)
{
	struct levels l = { .wanted = level ? level : 1 };

	return add_selected(t, ms, &l, e);
}

int topdown_add_below(struct tacho *t, struct tacho_metric_set *ms, const struct tacho_metric *parent,
		      struct tacho_error *e)
{
	struct levels l = { .parent = parent };

	return add_selected(t, ms, &l, e);
}

uint32_t topdown_deepest(struct tacho *t)
{
	struct levels l = { 0 };

	tacho_metric_walk(t, NULL, note_level, &l, NULL);
	return l.deepest;
}

/* ---- the tree ---- */

void topdown_tree_done(struct topdown_tree *tree)
{
	vec_done(&tree->nodes);
}

int topdown_add_values(struct topdown_tree *tree, struct tacho_metric_set *ms,
		 const struct tacho_metric_counts *counts)
{
	for (size_t i = 0; i < tacho_metric_set_size(ms); i++) {
		struct topdown_node *node = vec_add(&tree->nodes);

		if (!node)
			return -ENOMEM;
		node->metric = *tacho_metric_set_metric(ms, i);
		node->value = tacho_metric_set_value(ms, i, counts, &node->alarming);
	}
	return 0;
}

static struct topdown_node *worst_below(const struct topdown_tree *tree, const struct topdown_node *parent)
{
	struct topdown_node *worst = NULL;

	for (size_t i = 0; i < tree->nodes.n; i++) {
		struct topdown_node *node = &tree->nodes.v[i];
		bool here = parent ? topdown_is_below(&node->metric, &parent->metric) :
				     node->metric.level == 1;

		/* Skip nodes that are already on the path, so that a cycle of parents ends. */
		if (here && node->alarming && !node->bottleneck && (!worst || node->value > worst->value))
			worst = node;
	}
	return worst;
}

void topdown_find_bottleneck(struct topdown_tree *tree)
{
	struct topdown_node *node;

	tree->bottleneck = NULL;
	for (size_t i = 0; i < tree->nodes.n; i++)
		tree->nodes.v[i].bottleneck = false;
	while ((node = worst_below(tree, tree->bottleneck))) {
		node->bottleneck = true;
		tree->bottleneck = node;
	}
}

/* ---- what to sample ---- */

static bool event_exists(struct tacho *t, const char *spec)
{
	struct tacho_evset *set = NULL;
	bool ok = tacho_evset_new(&set, t) == 0 && tacho_evset_add(set, spec, NULL) > 0;

	tacho_evset_free(set);
	return ok;
}

/* Appends an event name. Intel's older lists write MEM_INST.X_PS for MEM_INST.X:pp. */
static void put_precise(struct buf *out, struct str name)
{
	buf_clear(out);
	if (str_ends(name, "_PS"))
		buf_printf(out, "%.*s:pp", STR(str_n(name.s, name.n - 3)));
	else
		buf_str(out, name);
}

/* Returns the first event of a list like "A_PS;B, C" that exists on this machine. */
static char *first_existing_event(struct tacho *t, const char *list)
{
	struct buf spec = { 0 };

	while (*list) {
		size_t n = strcspn(list, ";, &");

		put_precise(&spec, str_n(list, n));
		if (n && !buf_failed(&spec) && event_exists(t, spec.bytes))
			return buf_take(&spec);
		list += n + (list[n] != '\0');
	}
	buf_done(&spec);
	return NULL;
}

static const struct topdown_node *parent_of(const struct topdown_tree *tree, const struct topdown_node *node)
{
	for (size_t i = 0; i < tree->nodes.n; i++)
		if (tree->nodes.v[i].bottleneck && tree->nodes.v[i].metric.level < node->metric.level &&
		    topdown_is_below(&node->metric, &tree->nodes.v[i].metric))
			return &tree->nodes.v[i];
	return NULL;
}

char *topdown_sample_event(struct tacho *t, const struct topdown_tree *tree)
{
	for (const struct topdown_node *node = tree->bottleneck; node; node = parent_of(tree, node)) {
		char *found = node->metric.sample ? first_existing_event(t, node->metric.sample) : NULL;

		if (found)
			return found;
	}
	return str_dup(STR_LIT("cycles"));
}
