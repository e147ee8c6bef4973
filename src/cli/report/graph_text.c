/*
 * Call graphs as text. A branch is drawn as one piece as long as nothing leaves it:
 *
 *	            |--95.08%--main		depth 1: where several go on, with their share
 *	            |          parse
 *	            |          |
 *	            |          |--39.32%--read	depth 2
 *	            |           --18.00%--eval	the last one has no bar in front
 *
 * A bit per depth says whether a bar goes on there.
 */
#include "cli/report/table.h"

#include <errno.h>
#include <inttypes.h>

#define MARGIN 12
#define STEP "          "		/* ten, below "--12.34%--" */
#define DEPTH_MAX 64			/* bits of the mask; below, bars are not drawn */

struct graph {
	struct chain_walk *walk;
	struct buf *out;
	const struct hist_graph_opts *opts;
	size_t margin;
	uint64_t total;			/* 100 % */
	bool skip_first;		/* the entry's own line has shown it */
	struct { uint32_t *v; size_t n, cap; } path;	/* frames, of flat and folded lines */
};

/* One branch: the frames up to where it splits or samples end. */
struct branch {
	struct { uint32_t *v; size_t n, cap; } frames;
	struct chain_level next;
	uint64_t weight, own;		/* all; of those that end at its last frame */
};

static void branch_done(struct branch *b)
{
	vec_done(&b->frames);
	chain_level_done(&b->next);
}

static int frame_add(struct branch *b, uint32_t frame)
{
	uint32_t *slot = vec_add(&b->frames);

	if (!slot)
		return -ENOMEM;
	*slot = frame;
	return 0;
}

static int branch_follow(struct graph *g, const struct chain_set *set, struct branch *b)
{
	int err = frame_add(b, set->frame);

	b->weight = set->weight;
	if (err == 0)
		err = chain_walk_next(g->walk, set, &b->next);
	while (err == 0) {
		struct chain_level level = b->next;

		b->own = b->weight - level.weight;
		if (b->own || level.n_all != 1)
			break;
		b->next = (struct chain_level){ 0 };
		err = frame_add(b, level.sets[0].frame);
		if (err == 0)
			err = chain_walk_next(g->walk, &level.sets[0], &b->next);
		chain_level_done(&level);
	}
	return err;
}

static void put_name(struct graph *g, uint32_t frame)
{
	const struct hist *h = g->walk->hist;
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, frame);

	hist_frame_text(f, g->out);
	if (h->opts->lines_in_chains && f->code->srcfile) {
		buf_putc(g->out, ' ');
		hist_srcline_text(h, f, g->out);
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

/* The first frame of a branch comes with its value. */
static void put_frame(struct graph *g, const char *name, uint32_t frame, size_t depth, uint64_t mask,
		      bool first, uint64_t weight, uint64_t total)
{
	buf_pad(g->out, ' ', g->margin);
	for (size_t i = 0; i < depth; i++) {
		buf_putc(g->out, bar_at(mask, i) ? '|' : ' ');
		if (first && i == depth - 1) {
			buf_puts(g->out, "--");
			put_value(g, weight, total);
			buf_puts(g->out, "--");
		} else {
			buf_puts(g->out, STEP);
		}
	}
	if (name)
		buf_puts(g->out, name);
	else
		put_name(g, frame);
	buf_putc(g->out, '\n');
}

/* Of samples there are so few that a part of one is one more; of periods perf drops it. */
static uint64_t least_of(const struct hist_graph_opts *o, uint64_t all)
{
	double share = (double)all * o->min_percent / 100.0;
	uint64_t whole = (uint64_t)share;

	return whole + (o->value == VALUE_COUNT && (double)whole < share);
}

static uint64_t least(const struct graph *g, uint64_t all)
{
	return least_of(g->opts, g->opts->style == GRAPH_FRACTAL ? all : g->total);
}

static size_t count_shown(const struct chain_level *l, uint64_t min)
{
	size_t n = 0;

	while (n < l->n && l->sets[n].weight >= min)
		n++;
	return n;
}

/* What of a level no branch was drawn for. Of samples, as perf, those that end above it are not meant. */
static uint64_t left_of(const struct graph *g, const struct chain_level *l, uint64_t total, uint64_t rest)
{
	return g->opts->value == VALUE_COUNT && rest ? l->weight - (total - rest) : rest;
}

static int put_level(struct graph *g, const struct chain_level *l, uint64_t total, uint64_t all,
		     size_t depth, uint64_t mask);

/* What stands below a branch. In a fractal graph everything there is 100 %. */
static int put_below(struct graph *g, const struct branch *b, uint64_t total, size_t depth,
		     uint64_t mask)
{
	uint64_t below = b->weight - b->own;

	return put_level(g, &b->next, g->opts->style == GRAPH_FRACTAL ? below : total, below, depth, mask);
}

static int put_branch(struct graph *g, const struct chain_set *set, uint64_t total, size_t depth,
		      uint64_t mask)
{
	scoped(branch_done) struct branch b = { 0 };
	int err = branch_follow(g, set, &b);

	if (err < 0)
		return err;
	for (size_t i = 0; i < b.frames.n; i++)
		put_frame(g, NULL, b.frames.v[i], depth, mask, i == 0, b.weight, total);
	if (depth < DEPTH_MAX)
		mask |= 1ULL << depth;
	return put_below(g, &b, total, depth + 1, mask);
}

static int put_level(struct graph *g, const struct chain_level *l, uint64_t total, uint64_t all,
		     size_t depth, uint64_t mask)
{
	size_t n = count_shown(l, max_of(least(g, all), (uint64_t)1));
	bool fractal = g->opts->style == GRAPH_FRACTAL;
	uint64_t rest = total, below = mask, left;
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++) {
		rest -= fractal ? l->sets[i].weight : 0;
		if (i + 1 == n && !(fractal && rest) && depth <= DEPTH_MAX)
			below &= ~(1ULL << (depth - 1));
		put_bars(g, depth, mask);
		err = put_branch(g, &l->sets[i], total, depth, below);
		if (g->opts->print_limit && i + 1 == g->opts->print_limit)
			break;
	}
	left = left_of(g, l, total, rest);
	if (err == 0 && fractal && left && rest != total) {
		if (depth <= DEPTH_MAX)
			below &= ~(1ULL << (depth - 1));
		put_frame(g, "[...]", HIST_NONE, depth, below, true, left, total);
	}
	return err;
}

/* Where all of the entry's samples share a beginning, it stands without shares behind "---". */
static int put_stem(struct graph *g, const struct chain_set *set, uint64_t entry_weight)
{
	scoped(branch_done) struct branch b = { 0 };
	int err = branch_follow(g, set, &b);
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

static int put_graph(struct graph *g, const struct chain_level *top, uint64_t weight)
{
	size_t n = count_shown(top, max_of(least(g, weight), (uint64_t)1)), before = g->out->n;
	uint64_t total = g->opts->style == GRAPH_FRACTAL ? weight : g->total;
	int err;

	if (n == 1 && top->sets[0].weight == weight)
		err = put_stem(g, &top->sets[0], weight);
	else
		err = put_level(g, top, total, weight, 1, 1);
	if (g->out->n != before)
		buf_putc(g->out, '\n');
	return err;
}

/* ---- flat and folded: one line or block per whole stack ---- */

struct stack {
	uint64_t own;
	size_t from, n;			/* frames in `frames` */
};

struct stacks {
	struct { struct stack *v; size_t n, cap; } list;
	struct { uint32_t *v; size_t n, cap; } frames;
	uint64_t min;
};

static int stack_add(struct graph *g, struct stacks *s, uint64_t own)
{
	struct stack *st = vec_add(&s->list);

	if (!st)
		return -ENOMEM;
	*st = (struct stack){ .own = own, .from = s->frames.n, .n = g->path.n };
	for (size_t i = 0; i < g->path.n; i++) {
		uint32_t *slot = vec_add(&s->frames);

		if (!slot)
			return -ENOMEM;
		*slot = g->path.v[i];
	}
	return 0;
}

static int collect(struct graph *g, struct chain_level *l, struct stacks *s);

static int collect_set(struct graph *g, const struct chain_set *set, struct stacks *s)
{
	scoped(branch_done) struct branch b = { 0 };
	size_t kept = g->path.n;
	int err = branch_follow(g, set, &b);

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
	g->path.n = kept;
	return err;
}

static int cmp_places(const void *pa, const void *pb, void *arg)
{
	return chain_place_cmp(arg, pa, pb);
}

/* Equal ones stay in perf's order: by their places, what is longer before its beginning. */
static int collect(struct graph *g, struct chain_level *l, struct stacks *s)
{
	int err = 0;

	qsort_r(l->sets, l->n, sizeof(*l->sets), cmp_places, g->walk->hist);
	for (size_t i = 0; i < l->n && err == 0; i++)
		if (l->sets[i].weight >= s->min)
			err = collect_set(g, &l->sets[i], s);
	return err;
}

static int cmp_stacks(const void *pa, const void *pb)
{
	const struct stack *a = pa, *b = pb;

	if (a->own != b->own)
		return a->own < b->own ? 1 : -1;
	return (a->from > b->from) - (a->from < b->from);
}

static void put_stack(struct graph *g, const struct stacks *s, const struct stack *st)
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

static int put_stacks(struct graph *g, struct chain_level *top)
{
	struct stacks s = { .min = max_of(least(g, 0), (uint64_t)1) };
	int err = collect(g, top, &s);
	size_t n = s.list.n;

	if (err == 0 && n)
		qsort(s.list.v, n, sizeof(*s.list.v), cmp_stacks);
	if (g->opts->print_limit)
		n = min_of(n, (size_t)g->opts->print_limit);
	for (size_t i = 0; i < n && err == 0; i++)
		put_stack(g, &s, &s.list.v[i]);
	vec_done(&s.list);
	vec_done(&s.frames);
	return err;
}

uint64_t hist_graph_least(const struct hist *h)
{
	const struct hist_graph_opts *o = &h->opts->graph;

	if (o->value == VALUE_COUNT)
		return 0;
	return o->style == GRAPH_FRACTAL ? 1 : max_of(least_of(o, h->totals[0]), (uint64_t)1);
}

int hist_graph(struct chain_walk *w, const struct hist_entry *e, struct buf *out)
{
	const struct hist_opts *o = w->hist->opts;
	const struct hist_stat *st = hist_stat_of(w->hist, e, 0);
	struct graph g = { .walk = w, .out = out, .opts = &o->graph, .margin = MARGIN,
			   .total = o->graph.value == VALUE_COUNT ? w->hist->total_count : w->hist->totals[0],
			   .skip_first = o->sorted_by_symbol };
	uint64_t weight = o->children ? st->acc : st->self;
	struct chain_level top = { 0 };
	int err;

	if (o->graph.value != VALUE_COUNT && (weight < least(&g, weight) || !weight))
		return 0;
	w->least = o->graph.style == GRAPH_FRACTAL ? 1 : least(&g, 0);
	err = chain_walk_begin(w, e, &top);
	if (o->graph.value == VALUE_COUNT)
		weight = top.weight;
	if (err == 0)
		err = o->graph.style == GRAPH_FLAT || o->graph.style == GRAPH_FOLDED ?
		      put_stacks(&g, &top) : put_graph(&g, &top, weight);
	chain_walk_end(w);
	chain_level_done(&top);
	vec_done(&g.path);
	return err;
}
