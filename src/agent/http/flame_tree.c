/*
 * Builds the boxes of a flame graph from profiles and writes them as JSON.
 */
#include "agent/http/flame_tree.h"

#include <errno.h>
#include <stdio.h>

#include "base/vec.h"

#define DEPTH_MAX 1024u
#define BOXES_MAX (1u << 20)
#define NONE UINT32_MAX

static uint32_t name_id(struct flame_tree *t, enum flame_kind kind, const char *text)
{
	struct str plain = str_of(text);
	char *key = arena_alloc(&t->arena, plain.n + 2);
	const uint64_t *hit;
	struct flame_name *name;

	if (!key)
		return NONE;
	key[0] = (char)('0' + kind);
	memcpy(key + 1, plain.s, plain.n);
	hit = map_get(&t->name_ids, str_n(key, plain.n + 1));
	if (hit)
		return (uint32_t)*hit;
	name = vec_add(&t->names);
	if (!name || map_put(&t->name_ids, str_n(key, plain.n + 1), t->names.n - 1) < 0)
		return NONE;
	*name = (struct flame_name){ .text = key + 1, .kind = kind };
	return (uint32_t)(t->names.n - 1);
}

/* The box of that name under `parent`, added if there is none. */
static uint32_t box_id(struct flame_tree *t, uint32_t parent, uint32_t name)
{
	uint32_t pair[2] = { parent, name }, id = (uint32_t)t->boxes.n, *key;
	const uint64_t *hit = map_get(&t->box_ids, str_n((const char *)pair, sizeof(pair)));
	struct flame_box *box;

	if (hit)
		return (uint32_t)*hit;
	key = arena_alloc(&t->arena, sizeof(pair));
	box = key ? vec_add(&t->boxes) : NULL;
	if (!box)
		return NONE;
	memcpy(key, pair, sizeof(pair));
	if (map_put(&t->box_ids, str_n((const char *)key, sizeof(pair)), id) < 0)
		return NONE;
	*box = (struct flame_box){ .parent = parent, .name = name, .next = t->boxes.v[parent].child };
	t->boxes.v[parent].child = id;
	return id;
}

int flame_tree_init(struct flame_tree *t)
{
	*t = (struct flame_tree){ 0 };
	return name_id(t, FLAME_UNKNOWN, "all") == 0 && vec_add(&t->boxes) ? 0 : -ENOMEM;
}

void flame_tree_done(struct flame_tree *t)
{
	map_done(&t->name_ids);
	map_done(&t->box_ids);
	vec_done(&t->names);
	vec_done(&t->boxes);
	arena_done(&t->arena);
}

/* ---- adding samples ---- */

static enum flame_kind kind_of(const struct tacho_profile_frame *f)
{
	if (f->inlined)
		return FLAME_INLINED;
	if (f->space == TACHO_SPACE_KERNEL || f->space == TACHO_SPACE_GUEST_KERNEL)
		return FLAME_KERNEL;
	if (f->jit)
		return FLAME_JIT;
	return f->known ? FLAME_USER : FLAME_UNKNOWN;
}

static uint32_t frame_name(struct flame_tree *t, const struct tacho_profile_frame *f)
{
	char object[300];

	if (f->known)
		return name_id(t, kind_of(f), f->code->name);
	snprintf(object, sizeof(object), f->code->object_name[0] == '[' ? "%.290s" : "[%.290s]", f->code->object_name);
	return name_id(t, kind_of(f), object);
}

/* The frames of a stack, leaf first; returns how many. */
static size_t stack_frames(const struct tacho_profile *p, uint32_t node, uint32_t path[DEPTH_MAX])
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	size_t n = 0;

	for (; node && n < DEPTH_MAX; node = nodes[node].parent)
		path[n++] = nodes[node].frame;
	return n;
}

static int add_row(struct flame_tree *t, const struct tacho_profile *p, const struct tacho_profile_row *r,
		   uint32_t *names, bool base)
{
	uint32_t path[DEPTH_MAX], comm = name_id(t, FLAME_COMMAND, tacho_profile_thread(p, r->thread)->comm);
	size_t n = stack_frames(p, r->node, path);
	uint32_t box = comm == NONE ? NONE : box_id(t, 0, comm);

	while (n-- > 0 && box != NONE) {
		uint32_t *name = &names[path[n]];

		if (!*name)
			*name = frame_name(t, tacho_profile_frame(p, path[n])) + 1;
		box = *name ? box_id(t, box, *name - 1) : NONE;
	}
	if (box == NONE)
		return -ENOMEM;
	if (base)
		t->boxes.v[box].base += r->samples;
	else
		t->boxes.v[box].self += r->samples;
	return t->boxes.n > BOXES_MAX ? -E2BIG : 0;
}

int flame_tree_add(struct flame_tree *t, const struct tacho_profile *p, uint32_t event, bool base)
{
	scoped(freep) uint32_t *names = calloc(tacho_profile_n_frames(p) + 1, sizeof(*names));
	int err = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < tacho_profile_n_rows(p) && err == 0; i++) {
		const struct tacho_profile_row *r = &tacho_profile_rows(p)[i];

		if (r->event == event)
			err = add_row(t, p, r, names, base);
	}
	return err;
}

/* ---- writing boxes ---- */

struct flame_level {				/* the boxes of one depth, left to right */
	struct { uint32_t *v; size_t n, cap; } boxes;
};

/* Computes the total of each box; parents have lower indexes than their children. */
static void compute_totals(const struct flame_tree *t, uint64_t *total, uint64_t *base)
{
	for (size_t i = 0; i < t->boxes.n; i++) {
		total[i] = t->boxes.v[i].self;
		base[i] = t->boxes.v[i].base;
	}
	for (size_t i = t->boxes.n; i-- > 1;) {
		total[t->boxes.v[i].parent] += total[i];
		base[t->boxes.v[i].parent] += base[i];
	}
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct flame_tree *t = arg;
	const struct flame_box *x = &t->boxes.v[*(const uint32_t *)a], *y = &t->boxes.v[*(const uint32_t *)b];
	int order = strcmp(t->names.v[x->name].text, t->names.v[y->name].text);

	return order ? order : (x->name > y->name) - (x->name < y->name);
}

struct flame_writer {
	const struct flame_tree *tree;
	uint64_t *total, *base, *left;
	double min_total;
	bool with_base;
	uint32_t *numbers;		/* by name: its number in the output, + 1; 0: not shown */
	uint32_t n_numbers;
	struct json *json;		/* NULL: first pass, which only assigns numbers to names */
};

/* Appends the children of `box` that are wide enough to `to`, sorted by name. */
static int append_children(const struct flame_writer *d, uint32_t box, struct flame_level *to)
{
	const struct flame_tree *t = d->tree;
	uint64_t left = d->left[box];
	size_t first = to->boxes.n;

	for (uint32_t c = t->boxes.v[box].child; c; c = t->boxes.v[c].next) {
		uint32_t *slot;

		if (!d->total[c])
			continue;
		slot = vec_add(&to->boxes);
		if (!slot)
			return -ENOMEM;
		*slot = c;
	}
	if (to->boxes.n == first)
		return 0;
	qsort_r(to->boxes.v + first, to->boxes.n - first, sizeof(uint32_t), by_name, (void *)t);
	for (size_t i = first, end = to->boxes.n; i < end; i++) {
		uint32_t c = to->boxes.v[i];

		d->left[c] = left;
		left += d->total[c];
		if ((double)d->total[c] >= d->min_total)
			to->boxes.v[first++] = c;
	}
	to->boxes.n = first;
	return 0;
}

static void assign_name_numbers(struct flame_writer *d, const struct flame_level *l)
{
	for (size_t i = 0; i < l->boxes.n; i++) {
		uint32_t *number = &d->numbers[d->tree->boxes.v[l->boxes.v[i]].name];

		if (!*number)
			*number = ++d->n_numbers;
	}
}

static void put_level(const struct flame_writer *d, const struct flame_level *l)
{
	json_begin(d->json, '[');
	for (size_t i = 0; i < l->boxes.n; i++) {
		uint32_t box = l->boxes.v[i];

		json_u64(d->json, d->left[box]);
		json_u64(d->json, d->total[box]);
		json_u64(d->json, d->numbers[d->tree->boxes.v[box].name] - 1);
		json_u64(d->json, d->tree->boxes.v[box].self);
		if (d->with_base)
			json_u64(d->json, d->base[box]);
	}
	json_end(d->json);
}

/* Visits the boxes level by level, starting at the root. */
static int walk_levels(struct flame_writer *d)
{
	struct flame_level now = { 0 }, below = { 0 };
	uint32_t *root = vec_add(&now.boxes);
	int err = root ? 0 : -ENOMEM;

	while (err == 0 && now.boxes.n) {
		struct flame_level swap = now;

		if (d->json)
			put_level(d, &now);
		else
			assign_name_numbers(d, &now);
		below.boxes.n = 0;
		for (size_t i = 0; i < now.boxes.n && err == 0; i++)
			err = append_children(d, now.boxes.v[i], &below);
		now = below;
		below = swap;
	}
	vec_done(&now.boxes);
	vec_done(&below.boxes);
	return err;
}

static int put_names(const struct flame_writer *d)
{
	const struct flame_tree *t = d->tree;
	scoped(freep) const struct flame_name **shown = calloc(d->n_numbers + 1, sizeof(*shown));

	if (!shown)
		return -ENOMEM;
	for (size_t i = 0; i < t->names.n; i++)
		if (d->numbers[i])
			shown[d->numbers[i] - 1] = &t->names.v[i];
	json_key(d->json, "names");
	json_begin(d->json, '[');
	for (size_t i = 0; i < d->n_numbers; i++)
		json_str(d->json, shown[i]->text);
	json_end(d->json);
	json_key(d->json, "kinds");
	json_begin(d->json, '[');
	for (size_t i = 0; i < d->n_numbers; i++)
		json_u64(d->json, shown[i]->kind);
	json_end(d->json);
	return 0;
}

int flame_tree_json(const struct flame_tree *t, bool with_base, double min, struct json *j)
{
	size_t n = t->boxes.n;
	scoped(freep) uint64_t *sums = calloc(n * 3, sizeof(*sums));
	scoped(freep) uint32_t *numbers = calloc(t->names.n, sizeof(*numbers));
	struct flame_writer d = { .tree = t, .with_base = with_base, .numbers = numbers };
	int err;

	if (!sums || !numbers)
		return -ENOMEM;
	d.total = sums;
	d.base = sums + n;
	d.left = sums + 2 * n;
	compute_totals(t, d.total, d.base);
	d.min_total = min * (double)d.total[0];
	err = walk_levels(&d);
	d.json = j;
	if (err == 0)
		err = put_names(&d);
	if (err < 0)
		return err;
	json_key(j, "levels");
	json_begin(j, '[');
	err = walk_levels(&d);
	json_end(j);
	return err;
}
