/*
 * Lists the metrics for `tacho list`. Without arguments, the text lists each group followed by its metrics,
 * as perf does. Otherwise, each metric is listed once, with the names of its groups.
 */
#include "cli/events/list.h"

#include <errno.h>

struct metrics {
	struct tacho *t;
	struct list_out *out;
	const struct list_words *words;
	const char *group;		/* the group that is being written; NULL: none */
	struct strlist groups;
	struct tacho_metric_set *set;	/* to check which metrics can be computed here; NULL: none checked yet */
};

/* Writes why the metric cannot be computed here. Returns its length, 0 if it can be, or -ENOMEM. */
static int describe_missing(struct metrics *s, const struct tacho_metric *m, struct buf *why)
{
	const struct tacho_metric_set_opts opts = { .size = sizeof(opts), .no_threshold = true };
	struct tacho_metric_missing missing;
	int err = s->set ? 0 : tacho_metric_set_new(&s->set, s->t, &opts);

	if (err == 0)
		err = tacho_metric_set_probe(s->set, m, &missing);
	if (err)		/* 1: it can */
		return min_of(err, 0);
	if (missing.needs)
		buf_printf(why, "it needs '%s': ", missing.needs);
	buf_puts(why, missing.why);
	return buf_failed(why) ? -ENOMEM : (int)why->n;
}

static int write_metric(struct metrics *s, const struct tacho_metric *m)
{
	scoped(buf_done) struct buf why = { 0 };
	int missing = describe_missing(s, m, &why);

	if (missing < 0)
		return missing;
	s->out->writer->metric(s->out, s->group, m, missing ? why.bytes : NULL);
	s->out->n++;
	return buf_failed(&s->out->buf) ? -ENOMEM : 0;
}

static bool in_matching_group(const char *pattern, const char *groups)
{
	struct str rest = str_of(groups), group;

	while (str_cut(&rest, ';', &group))
		if (str_glob(str_of(pattern), group))
			return true;
	return false;
}

static bool is_class(const struct list_word *w, const char *class_)
{
	return w->class_ && !strcmp(w->class_, class_);
}

static int on_metric(void *arg, const struct tacho_metric *m)
{
	struct metrics *s = arg;
	bool wanted = !s->words->n || s->group;

	if (s->group && !in_matching_group(s->group, m->groups))
		return 0;
	for (size_t i = 0; i < s->words->n; i++) {
		struct list_word *w = &s->words->v[i];
		bool hit = w->class_ ? is_class(w, "metric")
				     : list_matches(w->pattern, m->name) ||
					       in_matching_group(w->pattern, m->groups);

		w->hit = w->hit || hit;
		wanted = wanted || hit;
	}
	return wanted ? write_metric(s, m) : 0;
}

static int add_groups(void *arg, const struct tacho_metric *m)
{
	struct str rest = str_of(m->groups), group;
	struct metrics *s = arg;

	while (str_cut(&rest, ';', &group)) {
		size_t i = 0;

		group = str_trim(group);
		while (i < s->groups.n && !str_is(group, s->groups.v[i]))
			i++;
		if (group.n && i == s->groups.n && strlist_add(&s->groups, group))
			return -ENOMEM;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int collect_groups(struct metrics *s)
{
	int err = tacho_metric_walk(s->t, NULL, add_groups, s, NULL);

	if (s->groups.n)
		qsort(s->groups.v, s->groups.n, sizeof(*s->groups.v), by_name);
	return err < 0 ? err : 0;
}

static int write_by_group(struct metrics *s)
{
	int err = collect_groups(s);

	for (size_t i = 0; err >= 0 && i < s->groups.n; i++) {
		s->group = s->groups.v[i];
		err = tacho_metric_walk(s->t, NULL, on_metric, s, NULL);
	}
	return err < 0 ? err : 0;
}

/* Writes the names of the groups, for the class "metricgroup". */
static int write_groups(struct metrics *s, struct list_word *w)
{
	int err = s->groups.n ? 0 : collect_groups(s);

	for (size_t i = 0; !err && i < s->groups.n; i++) {
		s->out->writer->group(s->out, s->groups.v[i]);
		s->out->n++;
		w->hit = true;
	}
	return err;
}

int list_metrics(struct tacho *t, struct list_out *o, const struct list_words *words)
{
	struct metrics s = { .t = t, .out = o, .words = words };
	int err;

	if (!words->n && o->writer->by_group)
		err = write_by_group(&s);
	else
		err = tacho_metric_walk(t, NULL, on_metric, &s, NULL);
	for (size_t i = 0; err >= 0 && i < words->n; i++)
		if (is_class(&words->v[i], "metricgroup"))
			err = write_groups(&s, &words->v[i]);
	strlist_done(&s.groups);
	tacho_metric_set_free(s.set);
	return err < 0 ? err : 0;
}
