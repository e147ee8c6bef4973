/*
 * Call graphs as text. Frames are drawn below each other without shares until the graph splits:
 *
 *	            |--95.08%--main		depth 1: branches have their share
 *	            |          parse
 *	            |          |
 *	            |          |--39.32%--read	depth 2
 *	            |           --18.00%--eval	the last branch has no bar before it
 *
 * `mask` has a bit per depth: set if the bar goes on there.
 */
#include "cli/report/table.h"

#include <errno.h>
#include <inttypes.h>

#define MARGIN 12
#define STEP "          "		/* ten, below "--12.34%--" */
#define DEPTH_MAX 64			/* bits of the mask; deeper bars are not drawn */

struct graph {
	const struct tacho_report *report;
	const struct report_view *view;
	struct tacho_callgraph *callgraph;
	struct buf *out;
	const struct graph_opts *opts;
	size_t margin;
	uint64_t total;			/* 100 % */
	bool skip_first;		/* the entry's own line shows the first frame */
	struct { uint32_t *v; size_t n, cap; } path;	/* frames, of flat and folded lines */
};

/* Consecutive frames, up to where the graph splits or samples end. */
struct graph_branch {
	struct { uint32_t *v; size_t n, cap; } frames;
	struct tacho_callgraph_level next;
	uint64_t weight, own;		/* of all samples; of the samples that end at its last frame */
};

static void branch_done(struct graph_branch *b)
{
	vec_done(&b->frames);
	tacho_callgraph_level_done(&b->next);
}

static int frame_add(struct graph_branch *b, uint32_t frame)
{
	uint32_t *slot = vec_add(&b->frames);

	if (!slot)
		return -ENOMEM;
	*slot = frame;
	return 0;
}

static int branch_follow(struct graph *g, const struct tacho_callgraph_node *node, struct graph_branch *b)
{
	int err = frame_add(b, node->frame);

	b->weight = node->weight;
	if (err == 0)
		err = tacho_callgraph_next(g->callgraph, node, &b->next);
	while (err == 0) {
		struct tacho_callgraph_level level = b->next;

		b->own = b->weight - level.weight;
		if (b->own || level.n_all != 1)
			break;
		b->next = (struct tacho_callgraph_level){ 0 };
		err = frame_add(b, level.nodes[0].frame);
		if (err == 0)
			err = tacho_callgraph_next(g->callgraph, &level.nodes[0], &b->next);
		tacho_callgraph_level_done(&level);
	}
	return err;
}

void frame_text(const struct tacho_profile_frame *f, struct buf *out)
{
	if (!f->known) {
		buf_printf(out, "%#" PRIx64, f->offset);
		return;
	}
	buf_puts(out, f->code->name);
	if (f->inlined)
		buf_puts(out, " (inlined)");
}

static void put_srcline(struct graph *g, const struct tacho_profile_frame *f)
{
	ptrdiff_t n = tacho_report_srcline_text(g->report, f, NULL, 0);
	char *at = n < 0 ? NULL : buf_reserve(g->out, (size_t)n + 1);

	if (at)
		g->out->n += (size_t)tacho_report_srcline_text(g->report, f, at, (size_t)n + 1);
}

static void put_name(struct graph *g, uint32_t frame)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(g->report->profile, frame);

	frame_text(f, g->out);
	if (g->view->lines_in_chains && f->code->srcfile) {
		buf_putc(g->out, ' ');
		put_srcline(g, f);
	}
}

static void put_value(struct graph *g, uint64_t weight, uint64_t total)
{
	if (g->opts->value != VALUE_PERCENT)
		buf_printf(g->out, "%" PRIu64, weight);
	else
		buf_printf(g->out, "%.2f%%", total ? 100.0 * (double)weight / (double)total : 0);
}

/* ---- graph and fractal ---- */

static bool bar_at(uint64_t mask, size_t i)
{
	return i < DEPTH_MAX && (mask >> i & 1);
}

static void put_bars(struct graph *g, size_t depth, uint64_t mask)
{
	buf_pad(g->out, ' ', g->margin);
	for (size_t i = 0; i < depth; i++) {
		buf_putc(g->out, bar_at(mask, i) ? '|' : ' ');
		buf_puts(g->out, STEP);
	}
	buf_putc(g->out, '\n');
}

struct branch_value {
	uint64_t weight, total;
};

/* Puts what precedes a frame's name. The first frame of a branch comes with its value. */
static void put_indent(struct graph *g, size_t depth, uint64_t mask, const struct branch_value *value)
{
	buf_pad(g->out, ' ', g->margin);
	for (size_t i = 0; i < depth; i++) {
		buf_putc(g->out, bar_at(mask, i) ? '|' : ' ');
		if (value && i == depth - 1) {
			buf_puts(g->out, "--");
			put_value(g, value->weight, value->total);
			buf_puts(g->out, "--");
		} else {
			buf_puts(g->out, STEP);
		}
	}
}

/* The least weight to be drawn. A fraction of a sample counts as a whole one; of periods perf drops it. */
static uint64_t min_share(const struct graph_opts *o, uint64_t all)
{
	double share = (double)all * o->min_percent / 100.0;
	uint64_t whole = (uint64_t)share;

	return whole + (o->value == VALUE_COUNT && (double)whole < share);
}

static uint64_t min_weight(const struct graph *g, uint64_t all)
{
	return min_share(g->opts, g->opts->style == GRAPH_FRACTAL ? all : g->total);
}

static size_t count_shown(const struct tacho_callgraph_level *l, uint64_t min)
{
	size_t n = 0;

	while (n < l->n && l->nodes[n].weight >= min)
		n++;
	return n;
}

/* The weight of a level that no branch was drawn for. With counts, as in perf, without samples that end above
 * the level. */
static uint64_t left_of(const struct graph *g, const struct tacho_callgraph_level *l, uint64_t total, uint64_t rest)
{
	return g->opts->value == VALUE_COUNT && rest ? l->weight - (total - rest) : rest;
}

static int put_level(struct graph *g, const struct tacho_callgraph_level *l, uint64_t total, uint64_t all,
		     size_t depth, uint64_t mask);

/* The level below a branch. In a fractal graph its weight is 100 %. */
static int put_below(struct graph *g, const struct graph_branch *b, uint64_t total, size_t depth,
		     uint64_t mask)
{
	uint64_t below = b->weight - b->own;

	return put_level(g, &b->next, g->opts->style == GRAPH_FRACTAL ? below : total, below, depth, mask);
}

static int put_branch(struct graph *g, const struct tacho_callgraph_node *node, uint64_t total, size_t depth,
		      uint64_t mask)
{
	scoped(branch_done) struct graph_branch b = { 0 };
	int err = branch_follow(g, node, &b);

	if (err < 0)
		return err;
	for (size_t i = 0; i < b.frames.n; i++) {
		put_indent(g, depth, mask, i == 0 ? &(struct branch_value){ b.weight, total } : NULL);
		put_name(g, b.frames.v[i]);
		buf_putc(g->out, '\n');
	}
	if (depth < DEPTH_MAX)
		mask |= 1ULL << depth;
	return put_below(g, &b, total, depth + 1, mask);
}

static int put_level(struct graph *g, const struct tacho_callgraph_level *l, uint64_t total, uint64_t all,
		     size_t depth, uint64_t mask)
{
	size_t n = count_shown(l, max_of(min_weight(g, all), (uint64_t)1));
	bool fractal = g->opts->style == GRAPH_FRACTAL;
	uint64_t rest = total, below = mask, left;
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++) {
		rest -= fractal ? l->nodes[i].weight : 0;
		if (i + 1 == n && !(fractal && rest) && depth <= DEPTH_MAX)
			below &= ~(1ULL << (depth - 1));
		put_bars(g, depth, mask);
		err = put_branch(g, &l->nodes[i], total, depth, below);
		if (g->opts->print_limit && i + 1 == g->opts->print_limit)
			break;
	}
	left = left_of(g, l, total, rest);
	if (err == 0 && fractal && left && rest != total) {
		if (depth <= DEPTH_MAX)
			below &= ~(1ULL << (depth - 1));
		put_indent(g, depth, below, &(struct branch_value){ left, total });
		buf_puts(g->out, "[...]\n");
	}
	return err;
}

/* Frames that all samples of the entry begin with: without shares, after "---". */
static int put_stem(struct graph *g, const struct tacho_callgraph_node *node, uint64_t entry_weight)
{
	scoped(branch_done) struct graph_branch b = { 0 };
	int err = branch_follow(g, node, &b);
	bool open = false;

	for (size_t i = 0; i < b.frames.n && err == 0; i++) {
		if (i == 0 && g->skip_first)
			continue;
		if (!open) {
			buf_pad(g->out, ' ', g->margin);
			buf_puts(g->out, "|\n");
		}
		buf_pad(g->out, ' ', g->margin);
		if (!open) {
			buf_puts(g->out, "---");
			g->margin += 3;
			open = true;
		}
		put_name(g, b.frames.v[i]);
		buf_putc(g->out, '\n');
		if (g->opts->print_limit && i + 1 - g->skip_first == g->opts->print_limit)
			break;
	}
	if (err < 0)
		return err;
	return put_level(g, &b.next, g->opts->style == GRAPH_FRACTAL ? entry_weight :
			 g->total, b.weight - b.own, 1, 1);
}

static int put_graph(struct graph *g, const struct tacho_callgraph_level *top, uint64_t weight)
{
	size_t n = count_shown(top, max_of(min_weight(g, weight), (uint64_t)1)), before = g->out->n;
	uint64_t total = g->opts->style == GRAPH_FRACTAL ? weight : g->total;
	int err;

	if (n == 1 && top->nodes[0].weight == weight)
		err = put_stem(g, &top->nodes[0], weight);
	else
		err = put_level(g, top, total, weight, 1, 1);
	if (g->out->n != before)
		buf_putc(g->out, '\n');
	return err;
}

/* ---- flat and folded: one line or block per whole stack ---- */

struct whole_stack {
	uint64_t own;
	size_t from, n;			/* frames in `frames` */
};

struct whole_stacks {
	struct { struct whole_stack *v; size_t n, cap; } list;
	struct { uint32_t *v; size_t n, cap; } frames;
	uint64_t min;
};

static int stack_add(struct graph *g, struct whole_stacks *s, uint64_t own)
{
	struct whole_stack *st = vec_add(&s->list);

	if (!st)
		return -ENOMEM;
	*st = (struct whole_stack){ .own = own, .from = s->frames.n, .n = g->path.n };
	for (size_t i = 0; i < g->path.n; i++) {
		uint32_t *slot = vec_add(&s->frames);

		if (!slot)
			return -ENOMEM;
		*slot = g->path.v[i];
	}
	return 0;
}

static int collect(struct graph *g, struct tacho_callgraph_level *l, struct whole_stacks *s);

static int collect_node(struct graph *g, const struct tacho_callgraph_node *node, struct whole_stacks *s)
{
	scoped(branch_done) struct graph_branch b = { 0 };
	size_t n_before = g->path.n;
	int err = branch_follow(g, node, &b);

	for (size_t i = 0; i < b.frames.n && err == 0; i++) {
		uint32_t *slot = vec_add(&g->path);

		if (!slot)
			err = -ENOMEM;
		else
			*slot = b.frames.v[i];
	}
	if (err == 0)
		err = collect(g, &b.next, s);
	if (err == 0 && b.own && b.own >= s->min)
		err = stack_add(g, s, b.own);
	g->path.n = n_before;
	return err;
}

static int compare_places(const void *pa, const void *pb, void *arg)
{
	return tacho_callgraph_compare(arg, pa, pb);
}

/* Stacks of equal weight are in perf's order: by object and address, a longer stack before its beginning. */
static int collect(struct graph *g, struct tacho_callgraph_level *l, struct whole_stacks *s)
{
	int err = 0;

	qsort_r(l->nodes, l->n, sizeof(*l->nodes), compare_places, (void *)(uintptr_t)g->report);
	for (size_t i = 0; i < l->n && err == 0; i++)
		if (l->nodes[i].weight >= s->min)
			err = collect_node(g, &l->nodes[i], s);
	return err;
}

static int compare_stacks(const void *pa, const void *pb)
{
	const struct whole_stack *a = pa, *b = pb;

	if (a->own != b->own)
		return a->own < b->own ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

static void put_stack(struct graph *g, const struct whole_stacks *s, const struct whole_stack *st)
{
	bool folded = g->opts->style == GRAPH_FOLDED;

	if (!folded)
		buf_pad(g->out, ' ', MARGIN - 1);
	put_value(g, st->own, g->total);
	buf_putc(g->out, folded ? ' ' : '\n');
	for (size_t i = 0; i < st->n; i++) {
		if (!folded)
			buf_pad(g->out, ' ', 16);
		else if (i)
			buf_putc(g->out, ';');
		put_name(g, s->frames.v[st->from + i]);
		if (!folded)
			buf_putc(g->out, '\n');
	}
	buf_putc(g->out, '\n');
}

static int put_stacks(struct graph *g, struct tacho_callgraph_level *top)
{
	struct whole_stacks s = { .min = max_of(min_weight(g, 0), (uint64_t)1) };
	int err = collect(g, top, &s);
	size_t n = s.list.n;

	if (err == 0 && n)
		qsort(s.list.v, n, sizeof(*s.list.v), compare_stacks);
	if (g->opts->print_limit)
		n = min_of(n, (size_t)g->opts->print_limit);
	for (size_t i = 0; i < n && err == 0; i++)
		put_stack(g, &s, &s.list.v[i]);
	vec_done(&s.list);
	vec_done(&s.frames);
	return err;
}

uint64_t graph_min_value(const struct tacho_report *r, const struct report_view *view)
{
	const struct graph_opts *o = &view->graph;

	if (o->value == VALUE_COUNT)
		return 0;
	return o->style == GRAPH_FRACTAL ? 1 : max_of(min_share(o, r->totals[0]), (uint64_t)1);
}

int graph_text(const struct tacho_report *r, const struct report_view *view, struct tacho_callgraph *callgraph,
	       const struct tacho_report_entry *e, struct buf *out)
{
	bool counts = view->graph.value == VALUE_COUNT;
	struct graph g = {
		.report = r, .view = view, .callgraph = callgraph, .out = out, .opts = &view->graph,
		.margin = MARGIN, .total = counts ? r->total_samples : r->totals[0],
		.skip_first = view->skip_first_frame,
	};
	uint64_t weight = view->report.children ? e->sums.children : e->sums.self;
	struct tacho_callgraph_level top = { 0 };
	int err;

	if (!counts && (weight < min_weight(&g, weight) || !weight))
		return 0;
	tacho_callgraph_set_min_weight(callgraph, g.opts->style == GRAPH_FRACTAL ? 1 : min_weight(&g, 0));
	err = tacho_callgraph_begin(callgraph, e, &top);
	if (counts)
		weight = top.weight;
	if (err == 0)
		err = g.opts->style == GRAPH_FLAT || g.opts->style == GRAPH_FOLDED ?
		      put_stacks(&g, &top) : put_graph(&g, &top, weight);
	tacho_callgraph_end(callgraph);
	tacho_callgraph_level_done(&top);
	vec_done(&g.path);
	return err;
}
