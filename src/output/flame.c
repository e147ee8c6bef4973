/*
 * Prepares a flame graph: the visible boxes, the depth, the changes against another profile, and the functions with their
 * self and total weights.
 */
#include "output/flame.h"

#include "base/vec.h"

#include <errno.h>
#include <math.h>

#define DEFAULT_WIDTH 1200u
#define MARGIN 20u

/* ---- functions ---- */

static struct flame_function *function_of(struct flame *f, uint32_t *index, uint32_t frame)
{
	struct flame_function *fn;

	if (index[frame])
		return &f->functions.v[index[frame] - 1];
	fn = vec_add(&f->functions);
	if (fn) {
		fn->frame = frame;
		index[frame] = (uint32_t)f->functions.n;
	}
	return fn;
}

static bool is_recursive(const struct call_tree *t, uint32_t node)
{
	uint32_t frame = t->v[node].frame;

	for (node = t->v[node].parent; node; node = t->v[node].parent)
		if (t->v[node].frame == frame)
			return true;
	return false;
}

static int by_self(const void *pa, const void *pb)
{
	const struct flame_function *a = pa, *b = pb;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

/* To be called before the tree is pruned: many small boxes may add up to a large function. */
static int count_functions(struct flame *f)
{
	scoped(freep) uint32_t *index = calloc(tacho_profile_n_frames(f->o->p) + 1, sizeof(*index));
	const struct call_tree *t = &f->tree;

	if (!index)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++) {
		struct flame_function *fn;

		if (t->v[i].frame == TREE_NO_FRAME)
			continue;
		fn = function_of(f, index, t->v[i].frame);
		if (!fn)
			return -ENOMEM;
		fn->self += t->v[i].self;
		if (!is_recursive(t, (uint32_t)i))
			fn->total += t->v[i].total;
	}
	if (f->functions.n)
		qsort(f->functions.v, f->functions.n, sizeof(*f->functions.v), by_self);
	return 0;
}

/* ---- the commands, for the title ---- */

static int find_comms(struct flame *f)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(f->o->p);
	const struct comms *comms = &f->tree.comms;
	scoped(freep) uint64_t *weight = calloc(comms->n + 1, sizeof(*weight));
	uint64_t all = 0, most = 0;

	if (!weight)
		return -ENOMEM;
	for (size_t i = 0; i < tacho_profile_n_rows(f->o->p); i++) {
		if (rows[i].event != f->o->event)
			continue;
		weight[comms->of_thread[rows[i].thread]] += row_weight(f->o, &rows[i]);
		all += row_weight(f->o, &rows[i]);
	}
	for (size_t i = 0; i < comms->n; i++) {
		f->n_comms += weight[i] > 0;
		if (weight[i] <= most || !comms->names[i][0])
			continue;
		most = weight[i];
		f->comm = comms->names[i];
	}
	f->comm_share = all ? (double)most / (double)all : 0;
	return 0;
}

/* ---- layout ---- */

static int set_depth_and_change(struct flame *f)
{
	struct call_tree *t = &f->tree;
	scoped(freep) uint32_t *level = calloc(t->n + 1, sizeof(*level));

	if (!level)
		return -ENOMEM;
	for (size_t i = 1; i < t->n; i++) {
		double share = (double)t->v[i].total / (double)t->v[0].total;
		double before = t->before ? (double)t->v[i].before / (double)t->before : 0;

		level[i] = level[t->v[i].parent] + 1;
		f->depth = max_of(f->depth, level[i]);
		f->max_change = fmax(f->max_change, fabs(share - before));
	}
	return 0;
}

int flame_init(struct flame *f, const struct output *o, bool with_functions)
{
	double given = o->opts->min_pixels, min_pixels = given > 0 ? given : given < 0 ? 0 : 0.1;
	struct tree_opts opts = { .reverse = o->opts->reverse, .join_unknown = true };
	int err;

	*f = (struct flame){ .o = o, .fixed_width = o->opts->width != 0 };
	f->width = o->opts->width ? max_of(o->opts->width, 300u) : DEFAULT_WIDTH;
	opts.min_share = min_pixels / (f->width - MARGIN);
	opts.by_label = o->opts->before != NULL;
	err = tree_init(&f->tree, o, &opts);
	if (err)
		return err;
	if (with_functions && !o->opts->reverse)
		err = count_functions(f);
	if (!err)
		err = tree_prune(&f->tree, opts.min_share);
	if (!err && o->opts->before)
		err = tree_compare(&f->tree, o, &opts);
	if (!err)
		err = tree_sort(&f->tree, o);
	if (!err)
		err = set_depth_and_change(f);
	if (!err)
		err = find_comms(f);
	if (!err)
		err = flame_notes_init(f);
	if (err)
		flame_done(f);
	return err;
}

void flame_done(struct flame *f)
{
	tree_done(&f->tree);
	vec_done(&f->functions);
	strlist_done(&f->notes);
}

/* "Flame graph of make and 3 other commands"; if none has half of the samples, "Flame graph of 4 commands". */
void flame_put_title(const struct flame *f, struct buf *b)
{
	const char *kind = f->o->opts->before ? "Differential flame graph" :
			   f->o->opts->reverse ? "Reverse flame graph" : "Flame graph";

	if (f->o->opts->title) {
		put_xml(b, str_of(f->o->opts->title));
		return;
	}
	buf_puts(b, kind);
	if (!f->comm)
		return;
	buf_puts(b, " of ");
	if (f->n_comms > 2 && f->comm_share < 0.5) {
		buf_printf(b, "%zu commands", f->n_comms);
		return;
	}
	put_xml(b, str_of(f->comm));
	if (f->n_comms > 1)
		buf_printf(b, " and %zu other command%s", f->n_comms - 1, f->n_comms > 2 ? "s" : "");
}

void flame_put_summary(const struct flame *f, struct buf *b)
{
	const struct tacho_profile_event *ev = tacho_profile_event(f->o->p, f->o->event);
	struct tacho_profile_quality q = { .size = sizeof(q) };

	put_grouped(b, ev->samples);
	buf_puts(b, " samples of ");
	put_xml(b, str_of(ev->name));
	tacho_profile_quality(f->o->p, &q);
	if (q.last_s > q.first_s) {
		buf_puts(b, " in ");
		buf_duration(b, q.last_s - q.first_s);
	}
	if (q.lost) {
		buf_puts(b, ", ");
		put_grouped(b, q.lost);
		buf_puts(b, " lost");
	}
	if (f->o->opts->before)
		buf_puts(b, "; red grew, blue shrank");
}
