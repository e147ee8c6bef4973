/*
 * A profile as text: functions by their own samples, or stacks as bcc's profile and offcputime print them:
 *
 *	    __schedule
 *	    schedule
 *	    -                make (4711)
 *	        12
 */
#include "cli/stacks/stacks.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/vec.h"

static void put_frame(struct buf *out, const struct tacho_profile_frame *f)
{
	const char *object = f->code->object ? f->code->object_name : "[unknown]";
	bool bracketed = object[0] == '[';

	if (f->known)
		buf_text(out, str_of(f->code->name));
	else
		buf_printf(out, "%s%s%s", bracketed ? "" : "[", object, bracketed ? "" : "]");
}

struct weighed {
	uint64_t weight, self, total;
	uint32_t id;			/* of a row, or of a code */
};

static int by_weight(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* ---- functions ---- */

struct function_sums {
	const struct tacho_profile *p;
	struct map by_code;		/* pointer of a code -> index */
	struct { struct weighed *v; size_t n, cap; } list;
	struct { uint32_t *v; size_t n, cap; } frames;	/* a frame of each function */
	struct { uint64_t *v; size_t n, cap; } last_row;	/* 1 + the row that was last added to it: recursion counts once */
	bool failed;
};

static struct weighed *sum_of(struct function_sums *s, uint32_t frame, size_t **index)
{
	static size_t at;
	const struct tacho_profile_code *const *key = &tacho_profile_frame(s->p, frame)->code;
	const uint64_t *known = map_get(&s->by_code, str_n((const char *)key, sizeof(*key)));
	struct weighed *w;
	uint64_t *last;
	uint32_t *f;

	*index = &at;
	if (known) {
		at = (size_t)*known;
		return &s->list.v[at];
	}
	w = vec_add(&s->list);
	f = vec_add(&s->frames);
	last = vec_add(&s->last_row);
	at = s->list.n - 1;
	/* The key is in the profile, which stays. */
	if (!w || !f || !last || map_put(&s->by_code, str_n((const char *)key, sizeof(*key)), at) < 0) {
		s->failed = true;
		return NULL;
	}
	w->id = (uint32_t)at;
	*f = frame;
	return w;
}

static void add_row(struct function_sums *s, const struct tacho_profile_row *row, uint64_t number)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(s->p);
	bool is_leaf = true;

	for (uint32_t node = row->node; node && !s->failed; node = nodes[node].parent) {
		size_t *at;
		struct weighed *w = sum_of(s, nodes[node].frame, &at);

		if (!w)
			return;
		w->self += is_leaf ? row->samples : 0;
		if (s->last_row.v[*at] != number)
			w->total += row->samples;
		s->last_row.v[*at] = number;
		is_leaf = false;
	}
}

void stacks_put_table(const struct tacho_profile *p, uint32_t top, struct buf *out)
{
	struct function_sums s = { .p = p };
	uint64_t all = 0;

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		all += tacho_profile_rows(p)[i].samples;
		add_row(&s, &tacho_profile_rows(p)[i], i + 1);
	}
	for (size_t i = 0; i < s.list.n; i++)
		s.list.v[i].weight = s.list.v[i].self;
	if (s.list.n)
		qsort(s.list.v, s.list.n, sizeof(*s.list.v), by_weight);
	buf_printf(out, "%8s %8s %8s  %-40s %s\n", "SAMPLES", "SELF", "TOTAL", "FUNCTION", "OBJECT");
	for (size_t i = 0; i < s.list.n && i < (top ? top : 30) && s.list.v[i].self; i++) {
		const struct weighed *w = &s.list.v[i];
		const struct tacho_profile_frame *f = tacho_profile_frame(p, s.frames.v[w->id]);
		size_t start;

		buf_printf(out, "%8" PRIu64 " %7.2f%% %7.2f%%  ", w->self, 100.0 * (double)w->self / (double)all,
			   100.0 * (double)w->total / (double)all);
		start = out->n;
		put_frame(out, f);
		buf_pad(out, ' ', out->n - start < 40 ? 40 - (out->n - start) : 0);
		buf_printf(out, " %s\n", f->code->object_name);
	}
	out->bad |= s.failed;
	map_done(&s.by_code);
	vec_done(&s.list);
	vec_done(&s.frames);
	vec_done(&s.last_row);
}

/* ---- stacks ---- */

static void put_stack(const struct tacho_profile *p, const struct tacho_profile_row *row, bool weighs_time, struct buf *out)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	const struct tacho_profile_thread *t = tacho_profile_thread(p, row->thread);
	uint8_t space = TACHO_SPACE_UNKNOWN;

	for (uint32_t node = row->node; node; node = nodes[node].parent) {
		const struct tacho_profile_frame *f = tacho_profile_frame(p, nodes[node].frame);

		if (space == TACHO_SPACE_KERNEL && f->space != space)
			buf_puts(out, "    --\n");
		space = f->space;
		buf_puts(out, "    ");
		put_frame(out, f);
		buf_putc(out, '\n');
	}
	buf_puts(out, "    -                ");
	buf_text(out, str_of(t->comm));
	buf_printf(out, " (%u)\n", t->pid);
	if (weighs_time)
		buf_printf(out, "        %.3f us in %u\n\n", (double)row->period / 1e3, row->samples);
	else
		buf_printf(out, "        %u\n\n", row->samples);
}

/* The largest come last, as in bcc. */
void stacks_put_stacks(const struct tacho_profile *p, bool weighs_time, uint32_t top, struct buf *out)
{
	size_t n = tacho_profile_n_rows(p), shown = top ? min_of(n, (size_t)top) : n;
	const struct tacho_profile_row *rows = tacho_profile_rows(p);
	struct weighed *order = calloc(n + 1, sizeof(*order));

	if (!order) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		order[i] = (struct weighed){ .weight = weighs_time ? rows[i].period : rows[i].samples, .id = (uint32_t)i };
	qsort(order, n, sizeof(*order), by_weight);
	for (size_t i = shown; i--;)
		put_stack(p, &rows[order[i].id], weighs_time, out);
	free(order);
}
