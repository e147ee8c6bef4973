/*
 * The callgrind format: per function its self cost, and per call the inclusive cost of the callee. A sample shows that a call
 * was active, not how often it was made: the count of a call is its number of samples. A call that is on a stack twice
 * (recursion) is counted once.
 */
#include "output/tree.h"

#include <errno.h>

struct call_edge {				/* callee == TREE_NO_FRAME: the self cost of the caller */
	uint32_t caller, callee, next;
	uint64_t *cost;			/* number of samples, then one cost per event */
};

struct callgrind {
	struct output *o;
	size_t n_costs;
	struct keymap at;		/* (caller, callee) -> edge */
	struct { struct call_edge *v; size_t n, cap; } edges;
	uint32_t *first;		/* per frame: its first edge + 1; 0: none */
	struct arena *arena;
	struct functions functions;
	uint64_t *named;		/* a bit per object, function and source, set after its name has been written */
};

static struct call_edge *edge_of(struct callgrind *w, uint32_t caller, uint32_t callee)
{
	uint64_t key = key_pair(caller, callee);
	uint32_t i = keymap_get(&w->at, key);
	struct call_edge *e;

	if (i != KEYMAP_NONE)
		return &w->edges.v[i];
	e = vec_add(&w->edges);
	if (!e || keymap_put(&w->at, key, (uint32_t)w->edges.n - 1) < 0)
		return NULL;
	e->cost = arena_alloc(w->arena, w->n_costs * sizeof(*e->cost));
	if (!e->cost)
		return NULL;
	e->caller = caller;
	e->callee = callee;
	e->next = w->first[caller];
	w->first[caller] = (uint32_t)w->edges.n;
	return e;
}

static bool is_recursive_call(const struct call_tree *t, uint32_t node)
{
	uint32_t callee = t->v[node].frame, caller = t->v[t->v[node].parent].frame;

	for (node = t->v[node].parent; node; node = t->v[node].parent)
		if (t->v[node].frame == callee && t->v[t->v[node].parent].frame == caller)
			return true;
	return false;
}

/* Adds a tree's weights to one column of the costs: 0 for samples, or that of an event. */
static int add_costs(struct callgrind *w, const struct call_tree *t, size_t column)
{
	for (uint32_t i = 1; i < t->n; i++) {
		const struct tree_node *v = &t->v[i];
		uint32_t caller = t->v[v->parent].frame;
		struct call_edge *e;

		if (v->frame == TREE_NO_FRAME)
			continue;
		e = edge_of(w, v->frame, TREE_NO_FRAME);
		if (!e)
			return -ENOMEM;
		e->cost[column] += v->self;
		if (caller == TREE_NO_FRAME || is_recursive_call(t, i))
			continue;
		e = edge_of(w, caller, v->frame);
		if (!e)
			return -ENOMEM;
		e->cost[column] += v->total;
	}
	return 0;
}

static int add_event(struct callgrind *w, uint32_t event)
{
	int err = 0;

	for (int samples = 1; samples >= 0 && !err; samples--) {
		struct output one = *w->o;
		struct call_tree t;

		one.event = event;
		one.count_samples = samples;
		err = tree_init(&t, &one, &(struct tree_opts){ .join_unknown = true });
		if (err)
			break;
		err = add_costs(w, &t, samples ? 0 : event + 1);
		tree_done(&t);
	}
	return err;
}

/* Writes "key=(id) name". The name is written only at its first use; later lines have only the id. */
static void put_name(struct callgrind *w, const char *key, uint32_t id, struct str text)
{
	struct buf *b = &w->o->out->b;

	buf_printf(b, "%s=(%u)", key, id + 1);
	if (text.n) {
		buf_putc(b, ' ');
		buf_text(b, text);
	}
	buf_putc(b, '\n');
}

static bool is_first_use(struct callgrind *w, size_t bit)
{
	bool written = w->named[bit / 64] >> (bit % 64) & 1;

	w->named[bit / 64] |= (uint64_t)1 << (bit % 64);
	return !written;
}

/* Writes object, source file (if any is known in the profile) and function; the keys of a callee begin with 'c'. */
static int put_function_name(struct callgrind *w, uint32_t frame, bool callee)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(w->o->p, frame);
	uint32_t function = w->functions.of_frame[frame], source = w->functions.source[function];
	scoped(buf_done) struct buf label = { 0 };
	size_t objects = tacho_profile_n_objects(w->o->p);
	bool first;

	put_name(w, callee ? "cob" : "ob", f->code->object,
		 is_first_use(w, f->code->object) ? str_of(f->code->object_path) : str_n("", 0));
	if (w->functions.n_sources) {		/* source 0 is "???", which the head has named */
		first = source && is_first_use(w, objects + w->functions.n + source);
		put_name(w, callee ? "cfi" : "fl", source, first ? str_of(f->code->srcfile) : str_n("", 0));
	}
	if (is_first_use(w, objects + function))
		put_label(&label, f);
	put_name(w, callee ? "cfn" : "fn", function, buf_view(&label));
	return buf_failed(&label) ? -ENOMEM : 0;
}

static bool has_samples(const struct callgrind *w, size_t event)
{
	return tacho_profile_event(w->o->p, event)->samples > 0;
}

/* The costs of a call are at the line of the caller. */
static void put_cost(struct callgrind *w, const struct call_edge *e)
{
	struct buf *b = &w->o->out->b;

	buf_u64(b, tacho_profile_frame(w->o->p, e->caller)->srcline);
	for (size_t i = 0; i < w->n_costs; i++) {
		if (i && !has_samples(w, i - 1))
			continue;
		buf_putc(b, ' ');
		buf_u64(b, e->cost[i]);
	}
	buf_putc(b, '\n');
}

static int put_function(struct callgrind *w, uint32_t frame)
{
	struct buf *b = &w->o->out->b;
	int err = put_function_name(w, frame, false);

	put_cost(w, edge_of(w, frame, TREE_NO_FRAME));		/* exists: it was added with the frame */
	for (uint32_t i = w->first[frame]; i && !err; i = w->edges.v[i - 1].next) {
		const struct call_edge *e = &w->edges.v[i - 1];

		if (e->callee == TREE_NO_FRAME)
			continue;
		err = put_function_name(w, e->callee, true);
		buf_printf(b, "calls=%llu %u\n", (unsigned long long)e->cost[0],
			   tacho_profile_frame(w->o->p, e->callee)->srcline);
		put_cost(w, e);
	}
	buf_putc(b, '\n');
	return err;
}

/* Writes text with control characters replaced; with `word`, all but letters, digits and "-_." are
 * replaced. */
static void put_plain(struct buf *b, const char *text, bool word)
{
	if (!word)
		buf_text(b, str_of(text));
	for (; *text && word; text++) {
		bool fits = (*text | 32) >= 'a' && (*text | 32) <= 'z';

		fits |= (*text >= '0' && *text <= '9') || strchr("-_.", *text);
		buf_putc(b, fits ? *text : '_');
	}
}

static void put_head(struct callgrind *w)
{
	struct buf *b = &w->o->out->b;

	buf_puts(b, "# callgrind format\nversion: 1\ncreator: tacho " TACHO_VERSION "\n");
	if (w->o->opts->title) {
		buf_puts(b, "desc: ");
		put_plain(b, w->o->opts->title, false);
		buf_putc(b, '\n');
	}
	buf_puts(b, "positions: line\nevents: Samples");
	for (size_t i = 0; i < tacho_profile_n_events(w->o->p); i++) {
		if (!has_samples(w, i))
			continue;
		buf_putc(b, ' ');
		put_plain(b, tacho_profile_event(w->o->p, i)->name, true);
	}
	buf_puts(b, "\nfl=(1) ???\n\n");
}

static int put_all(struct callgrind *w)
{
	int err = 0;

	for (uint32_t i = 0; i < tacho_profile_n_events(w->o->p) && !err; i++)
		err = has_samples(w, i) ? add_event(w, i) : 0;
	if (err)
		return err;
	put_head(w);
	for (uint32_t i = 0; i < tacho_profile_n_frames(w->o->p) && !err && out_flush_full(w->o->out); i++)
		if (w->first[i])
			err = put_function(w, i);
	return err;
}

static int write_callgrind(struct output *o)
{
	struct arena arena = { 0 };
	struct callgrind w = { .o = o, .arena = &arena, .n_costs = tacho_profile_n_events(o->p) + 1 };
	int err = functions_init(&w.functions, o->p);
	size_t n_bits = w.functions.n + w.functions.n_sources + tacho_profile_n_objects(o->p) + 1;

	if (err)
		return err;
	w.first = calloc(tacho_profile_n_frames(o->p) + 1, sizeof(*w.first));
	w.named = calloc(n_bits / 64 + 1, sizeof(*w.named));
	err = w.first && w.named ? put_all(&w) : -ENOMEM;
	functions_done(&w.functions);
	free(w.first);
	free(w.named);
	keymap_done(&w.at);
	vec_done(&w.edges);
	arena_done(&arena);
	return err;
}

const struct writer callgrind_writer = {
	.format = { "callgrind", ".callgrind", "KCachegrind, callgrind_annotate", false },
	.write = write_callgrind,
};
