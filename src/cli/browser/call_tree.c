/*
 * The call chains of one entry as a tree with foldable nodes. Successive frames without a branch form one
 * node, which can be folded at up to two lines:
 *
 *	   - 2.47% main		after the first frame, if the node has siblings or a parent
 *	        parse
 *	      - eval		after the last frame, if it has children
 *	         + 1.20% read
 */
#include "cli/browser/rows.h"

#include <errno.h>

#define STEP 3			/* columns per level */

struct fold_builder {
	const struct rows *rows;
	struct fold *fold;
	size_t depth;			/* depth of the current level */
};

void fold_free(struct fold *f)
{
	if (!f)
		return;
	vec_done(&f->nodes);
	vec_done(&f->frames);
	vec_done(&f->lines);
	free(f);
}

static uint64_t weight_of(const struct rows *r, const struct tacho_report_entry *e)
{
	return r->report->opts->children ? e->sums.children : e->sums.self;
}

/* Returns the minimum weight of a visible branch: a share of all samples or, with fractal graphs, of its
 * parent. */
static uint64_t min_weight(const struct rows *r, uint64_t above)
{
	const struct graph_opts *g = &r->view->graph;
	const struct tacho_profile_event *ev = tacho_profile_event(r->report->profile, r->report->events[0]);
	double of = (double)(g->style == GRAPH_FRACTAL ? above : ev->all_period);

	return max_of((uint64_t)(of * g->min_percent / 100.0), (uint64_t)1);
}

static uint64_t level_weight(const struct tacho_callgraph_level *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->nodes[i].weight;
	return sum;
}

static size_t count_drawn(const struct rows *r, const struct tacho_callgraph_level *l, uint64_t above)
{
	uint64_t min = min_weight(r, above);
	uint32_t limit = r->view->graph.print_limit;
	size_t n = 0;

	while (n < l->n && l->nodes[n].weight >= min && (!limit || n < limit))
		n++;
	return n;
}

static int frame_add(struct fold *f, uint32_t frame)
{
	uint32_t *slot = vec_add(&f->frames);

	if (!slot)
		return -ENOMEM;
	*slot = frame;
	return 0;
}

/* Adds the frames of a node up to the next branch or end; *next is the level below them. */
static int add_frames(struct fold_builder *m, const struct tacho_callgraph_node *set, struct fold_node *node,
		  struct tacho_callgraph_level *next)
{
	int err = frame_add(m->fold, set->frame);

	node->n = 1;
	node->weight = set->weight;
	if (err == 0)
		err = tacho_callgraph_next(m->rows->callgraph, set, next);
	while (err == 0 && next->n == 1 && level_weight(next) == node->weight) {
		struct tacho_callgraph_level level = *next;

		*next = (struct tacho_callgraph_level){ 0 };
		err = frame_add(m->fold, level.nodes[0].frame);
		node->n++;
		if (err == 0)
			err = tacho_callgraph_next(m->rows->callgraph, &level.nodes[0], next);
		tacho_callgraph_level_done(&level);
	}
	return err;
}

static int add_level(struct fold_builder *m, const struct tacho_callgraph_level *l, uint64_t above, uint32_t *first);

static int add_node(struct fold_builder *m, const struct tacho_callgraph_node *set, uint64_t above, bool siblings,
		    uint32_t *out)
{
	struct fold_node node = { .first = (uint32_t)m->fold->frames.n, .child = UINT32_MAX,
				  .next = UINT32_MAX, .siblings = siblings, .top = m->depth == 0 };
	scoped(tacho_callgraph_level_done) struct tacho_callgraph_level next = { 0 };
	struct fold_node *slot = vec_add(&m->fold->nodes);
	uint32_t at = (uint32_t)m->fold->nodes.n - 1;
	int err = slot ? add_frames(m, set, &node, &next) : -ENOMEM;

	if (err < 0)
		return err;
	node.share = siblings || node.weight != above;
	node.above = above;
	m->fold->nodes.v[at] = node;
	*out = at;
	m->depth++;
	err = add_level(m, &next, level_weight(&next), &node.child);
	m->depth--;
	m->fold->nodes.v[at].child = node.child;
	return err;
}

static int add_level(struct fold_builder *m, const struct tacho_callgraph_level *l, uint64_t above, uint32_t *first)
{
	size_t n = count_drawn(m->rows, l, above);
	uint32_t before = UINT32_MAX;

	*first = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		uint32_t at;
		int err = add_node(m, &l->nodes[i], above, n > 1, &at);

		if (err < 0)
			return err;
		if (before == UINT32_MAX)
			*first = at;
		else
			m->fold->nodes.v[before].next = at;
		before = at;
	}
	return 0;
}

int fold_has(const struct rows *r, const struct tacho_report_entry *e)
{
	struct tacho_callgraph_level top = { 0 };
	uint64_t weight = weight_of(r, e);
	int err;

	if (!weight || weight < min_weight(r, weight))
		return 0;
	err = tacho_callgraph_begin(r->callgraph, e, &top);
	tacho_callgraph_end(r->callgraph);
	if (err == 0)
		err = count_drawn(r, &top, weight) > 0;
	tacho_callgraph_level_done(&top);
	return err;
}

int fold_new(struct fold **out, const struct rows *r, const struct tacho_report_entry *e)
{
	struct tacho_callgraph_level top = { 0 };
	struct fold_builder m = { .rows = r, .fold = calloc(1, sizeof(*m.fold)) };
	int err;

	if (!m.fold)
		return -ENOMEM;
	err = tacho_callgraph_begin(r->callgraph, e, &top);
	if (err == 0)
		err = add_level(&m, &top, weight_of(r, e), &m.fold->top);
	tacho_callgraph_end(r->callgraph);
	tacho_callgraph_level_done(&top);
	if (err < 0) {
		fold_free(m.fold);
		return err;
	}
	*out = m.fold;
	return 0;
}

/* ---- lines ---- */

static bool folds_after_first(const struct fold_node *n)
{
	return n->n > 1 && (n->siblings || !n->top);
}

static bool folds_after_last(const struct fold_node *n)
{
	return n->child != UINT32_MAX;
}

static char sign_of(const struct fold_node *n, uint32_t frame)
{
	if (frame + 1 == n->n && folds_after_last(n))
		return n->last_open ? '-' : '+';
	if (frame == 0 && folds_after_first(n))
		return n->first_open ? '-' : '+';
	return ' ';
}

static int line_add(struct fold *f, uint32_t node, uint32_t frame, uint32_t indent)
{
	struct fold_line *l = vec_add(&f->lines);

	if (!l)
		return -ENOMEM;
	*l = (struct fold_line){ .node = node, .frame = frame, .indent = indent,
				 .sign = sign_of(&f->nodes.v[node], frame) };
	return 0;
}

static int add_lines(struct fold *f, uint32_t node, uint32_t indent)
{
	int err = 0;

	for (; node != UINT32_MAX && err == 0; node = f->nodes.v[node].next) {
		const struct fold_node *n = &f->nodes.v[node];
		uint32_t shown = folds_after_first(n) && !n->first_open ? 1 : n->n;
		uint32_t extra_indent = n->share && shown > 1 ? STEP : 0;

		for (uint32_t i = 0; i < shown && err == 0; i++)
			err = line_add(f, node, i, indent + (i ? extra_indent : 0));
		if (err == 0 && shown == n->n && n->last_open)
			err = add_lines(f, n->child, indent + extra_indent + STEP);
	}
	return err;
}

int fold_lines(struct fold *f)
{
	f->lines.n = 0;
	return f->open ? add_lines(f, f->top, STEP) : 0;
}

void fold_set_all(struct fold *f, bool open)
{
	f->open = open;
	for (size_t i = 0; i < f->nodes.n; i++)
		f->nodes.v[i].first_open = f->nodes.v[i].last_open = open;
}

bool fold_toggle(struct fold *f, size_t line)
{
	const struct fold_line *l = &f->lines.v[line];
	struct fold_node *n = &f->nodes.v[l->node];

	if (l->sign == ' ')
		return false;
	if (l->frame + 1 == n->n && folds_after_last(n))
		n->last_open = !n->last_open;
	else
		n->first_open = !n->first_open;
	return true;
}
