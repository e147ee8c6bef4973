/*
 * Filters points by event and labels. The decision for a series is made once: ids of series are not reused.
 */
#include "agent/export/point_filter.h"

#include <errno.h>

#include "agent/core/condition.h"
#include "base/error.h"

#define CACHE_MAX (1u << 22)	/* ids; the decision for series beyond is made each time */

enum decision { UNDECIDED, KEEP, DROP };

struct selector_list {
	struct condition *v;
	size_t n;
};

struct point_filter {
	struct selector_list keep, drop;
	unsigned char *decisions;	/* by id of the series */
	size_t n_decisions;
};

static void free_selectors(struct selector_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		condition_done(&l->v[i]);
	free(l->v);
}

/* A selector is what is in the brackets of a condition. */
static int parse_selectors(const char *key, const struct strlist *texts, struct selector_list *out, struct tacho_error *e)
{
	out->v = calloc(texts->n + 1, sizeof(*out->v));
	if (!out->v)
		return error_nomem(e);
	for (size_t i = 0; i < texts->n; i++) {
		scoped(buf_done) struct buf text = { 0 };
		struct tacho_error own = { .column = -1 };
		int err;

		buf_printf(&text, "value(%s) > 0", texts->v[i]);
		if (buf_failed(&text))
			return error_nomem(e);
		err = condition_parse(&out->v[out->n], text.bytes, &own);
		out->n++;
		if (err == -ENOMEM)
			return error_nomem(e);
		if (err < 0) {
			error_set(e, -EINVAL, "%s: '%.100s' does not select series: %.200s", key, texts->v[i], own.message);
			error_hint(e, "write EVENT or EVENT{label=\"value\"}, such as \"cpu-*\" or \"process-cpu{user=\\\"www\\\"}\"");
			return -EINVAL;
		}
	}
	return 0;
}

void point_filter_free(struct point_filter *f)
{
	if (!f)
		return;
	free_selectors(&f->keep);
	free_selectors(&f->drop);
	free(f->decisions);
	free(f);
}

int point_filter_new(struct point_filter **out, const struct push_settings *s, struct tacho_error *e)
{
	struct point_filter *f;
	int err;

	*out = NULL;
	if (!s->keep.n && !s->drop.n)
		return 0;
	f = calloc(1, sizeof(*f));
	if (!f)
		return error_nomem(e);
	err = parse_selectors("keep_series", &s->keep, &f->keep, e);
	if (err == 0)
		err = parse_selectors("drop_series", &s->drop, &f->drop, e);
	if (err < 0) {
		point_filter_free(f);
		return err;
	}
	*out = f;
	return 0;
}

static bool selects(const struct condition *c, const struct series *s)
{
	if (!str_glob(str_of(c->event), str_of(s->metric->event)))
		return false;
	for (size_t i = 0; i + 1 < c->labels.n; i += 2) {
		const char *have = series_label(s, c->labels.v[i]);

		if (!str_glob(str_of(c->labels.v[i + 1]), str_of(have ? have : "")))
			return false;
	}
	return true;
}

static bool any_selects(const struct selector_list *l, const struct series *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (selects(&l->v[i], s))
			return true;
	return false;
}

static bool decide(const struct point_filter *f, const struct registry *r, uint32_t id)
{
	const struct series *s = registry_get(r, id);

	return s && (!f->keep.n || any_selects(&f->keep, s)) && !any_selects(&f->drop, s);
}

static bool reserve_decisions(struct point_filter *f, uint32_t id)
{
	size_t want = ((size_t)id + 1) * 2;
	unsigned char *more;

	if (id < f->n_decisions)
		return true;
	if (id >= CACHE_MAX)
		return false;
	more = realloc(f->decisions, want);
	if (!more)
		return false;
	memset(more + f->n_decisions, UNDECIDED, want - f->n_decisions);
	f->decisions = more;
	f->n_decisions = want;
	return true;
}

static bool accepts(struct point_filter *f, const struct registry *r, uint32_t id)
{
	bool cached = reserve_decisions(f, id), kept;

	if (cached && f->decisions[id] != UNDECIDED)
		return f->decisions[id] == KEEP;
	kept = decide(f, r, id);
	if (cached)
		f->decisions[id] = kept ? KEEP : DROP;
	return kept;
}

size_t point_filter_apply(struct point_filter *f, const struct registry *r, const struct point_batch *b, struct point *out)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_points; i++)
		if (accepts(f, r, b->points[i].series))
			out[n++] = b->points[i];
	return n;
}
