/*
 * Copies are found by the id of their series; ids are not reused. A copy takes what changes (the newest point, whether the series
 * has ended) from the series each time it is asked for.
 */
#include "agent/export/series_names.h"

#include <errno.h>

#include "base/error.h"
#include "base/int_map.h"
#include "base/vec.h"

struct renamed_metric {
	const struct metric *of;
	struct metric own;
	char *name;
};

struct renamed_series {
	struct series own;		/* its labels are an array of ours with names and values of others */
	struct renamed_metric *metric;	/* NULL: not renamed */
};

struct series_names {
	const struct push_settings *settings;
	struct { struct renamed_metric **v; size_t n, cap; } metrics;
	struct { struct renamed_series **v; size_t n, cap; } series;
	struct int_map by_id;		/* id of a series -> index */
};

static bool is_name(const char *text)
{
	bool digit = *text >= '0' && *text <= '9';

	for (const char *c = text; *c; c++)
		if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
			return false;
	return *text && !digit;
}

/* Receivers refuse series with two labels of one name, and mix up those of two events. */
static int check_unique(const char *key, const struct key_pairs *pairs, size_t i, struct tacho_error *e)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(pairs->v[k].value, pairs->v[i].value))
			return error_set(e, -EINVAL, "%s: '%.60s' and '%.60s' have the same new name", key, pairs->v[k].name,
					 pairs->v[i].name);
	return 0;
}

static int check_names(const char *key, const struct key_pairs *pairs, bool may_be_empty, struct tacho_error *e)
{
	for (size_t i = 0; i < pairs->n; i++) {
		const char *to = pairs->v[i].value;

		if (may_be_empty && !*to)
			continue;
		if (is_name(to) && check_unique(key, pairs, i, e) == 0)
			continue;
		if (is_name(to))
			return -EINVAL;
		error_set(e, -EINVAL, "%s: '%.60s' is not a name", key, to);
		error_hint(e, "a name has letters, digits and _, and does not begin with a digit");
		return -EINVAL;
	}
	return 0;
}

int series_names_new(struct series_names **out, const struct push_settings *s, struct tacho_error *e)
{
	int err = check_names("rename_events", &s->events, false, e);

	*out = NULL;
	if (err == 0)
		err = check_names("rename_labels", &s->labels, true, e);
	if (err < 0 || (!s->events.n && !s->labels.n))
		return err;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return error_nomem(e);
	(*out)->settings = s;
	return 0;
}

static void free_series(struct renamed_series *s)
{
	free(s->own.labels);
	free(s);
}

void series_names_free(struct series_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->series.n; i++)
		free_series(n->series.v[i]);
	for (size_t i = 0; i < n->metrics.n; i++) {
		free(n->metrics.v[i]->name);
		free(n->metrics.v[i]);
	}
	vec_done(&n->series);
	vec_done(&n->metrics);
	int_map_done(&n->by_id);
	free(n);
}

static const char *new_name(const struct key_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (!strcmp(pairs->v[i].name, name))
			return pairs->v[i].value;
	return NULL;
}

static struct renamed_metric *add_metric(struct series_names *n, const struct metric *of, const char *name)
{
	struct renamed_metric *m = calloc(1, sizeof(*m)), **at;

	if (!m)
		return NULL;
	m->name = strdup(name);
	at = m->name ? vec_add(&n->metrics) : NULL;
	if (!at) {
		free(m->name);
		free(m);
		return NULL;
	}
	m->of = of;
	m->own = *of;
	m->own.event = m->own.name = m->name;
	m->own.naming = NAMING_ALUMET;	/* no unit is appended */
	*at = m;
	return m;
}

/* Sets *out to the renamed metric; NULL: it keeps its name. */
static int rename_metric(struct series_names *n, const struct metric *of, struct renamed_metric **out)
{
	const char *name = new_name(&n->settings->events, of->event);

	*out = NULL;
	for (size_t i = 0; i < n->metrics.n && name && !*out; i++)
		if (n->metrics.v[i]->of == of)
			*out = n->metrics.v[i];
	if (name && !*out)
		*out = add_metric(n, of, name);
	return name && !*out ? -ENOMEM : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

static int rename_labels(const struct series_names *n, const struct series *of, struct series *own)
{
	own->labels = calloc(of->n_labels + 1, sizeof(*own->labels));
	own->n_labels = 0;
	if (!own->labels)
		return -ENOMEM;
	for (size_t i = 0; i < of->n_labels; i++) {
		const char *name = new_name(&n->settings->labels, of->labels[i].name);

		if (!name || *name)
			own->labels[own->n_labels++] = (struct label){ name ? name : of->labels[i].name, of->labels[i].value };
	}
	qsort(own->labels, own->n_labels, sizeof(*own->labels), by_name);
	return 0;
}

static struct renamed_series *add_series(struct series_names *n, const struct series *of)
{
	struct renamed_series *s = calloc(1, sizeof(*s)), **at;

	if (!s)
		return NULL;
	at = rename_labels(n, of, &s->own) == 0 && rename_metric(n, of->metric, &s->metric) == 0 ? vec_add(&n->series) : NULL;
	if (!at || int_map_put(&n->by_id, of->id, (uint32_t)(n->series.n - 1)) < 0) {
		n->series.n -= at != NULL;
		free_series(s);
		return NULL;
	}
	*at = s;
	return s;
}

const struct series *series_names_get(struct series_names *n, const struct series *s)
{
	struct renamed_series *found;
	struct label *labels;
	size_t n_labels;
	uint32_t at;

	if (!n)
		return s;
	found = int_map_get(&n->by_id, s->id, &at) ? n->series.v[at] : add_series(n, s);
	if (!found)
		return NULL;
	labels = found->own.labels;
	n_labels = found->own.n_labels;
	found->own = *s;
	found->own.labels = labels;
	found->own.n_labels = n_labels;
	if (found->metric)
		found->own.metric = &found->metric->own;
	return &found->own;
}

void series_names_forget(struct series_names *n, const struct registry *r)
{
	struct int_map by_id = { 0 };
	size_t kept = 0, want = 0;
	int err = 0;

	for (size_t i = 0; n && i < n->series.n; i++)
		want += registry_get(r, n->series.v[i]->own.id) != NULL;
	if (!n || want == n->series.n)
		return;
	for (size_t i = 0; i < n->series.n && err == 0; i++)
		if (registry_get(r, n->series.v[i]->own.id))
			err = int_map_put(&by_id, n->series.v[i]->own.id, (uint32_t)kept++);
	if (err < 0) {			/* tried again with the next body */
		int_map_done(&by_id);
		return;
	}
	kept = 0;
	for (size_t i = 0; i < n->series.n; i++) {
		if (registry_get(r, n->series.v[i]->own.id))
			n->series.v[kept++] = n->series.v[i];
		else
			free_series(n->series.v[i]);
	}
	n->series.n = kept;
	int_map_done(&n->by_id);
	n->by_id = by_id;
}
