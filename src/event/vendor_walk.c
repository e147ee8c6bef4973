/*
 * tacho_eventlist_walk(): walks over the events of the lists and resolves each on this machine's PMUs.
 */
#include "event/vendor.h"

#include <errno.h>
#include <stdio.h>

struct eventlist_walk {
	struct tacho *t;
	int (*fn)(void *arg, const struct tacho_listed *event);
	void *arg;
	int n;
};

/* Writes the event's topic, or the name of its list's file without directory and suffix. */
static void topic_of(const struct vendor_list *l, const struct vendor_event *ev, char *out, size_t size)
{
	const char *topic = vendor_str(l, ev->topic), *slash = strrchr(l->path, '/');
	struct str file = str_of(slash ? slash + 1 : l->path);

	for (size_t i = file.n; i > 0; i--)
		if (file.s[i - 1] == '.' && i > 1) {
			file.n = i - 1;
			break;
		}
	if (*topic)
		snprintf(out, size, "%s", topic);
	else
		snprintf(out, size, "%.*s", (int)min_of(file.n, size), file.s);
}

static int visit_event(struct eventlist_walk *w, struct vendor_list *l, const struct vendor_event *ev)
{
	struct vendor_found found = { 0 };
	struct tacho_listed out = { .size = sizeof(out) };
	char topic[128];
	int err = vendor_resolve(w->t, l, ev, &found);

	if (err < 0) {
		vendor_found_done(&found);
		return err;
	}
	topic_of(l, ev, topic, sizeof(topic));
	out.name = vendor_str(l, ev->name);
	out.desc = found.desc;
	out.details = found.more;
	out.topic = topic;
	out.pmu = found.pmu;
	out.terms = found.why[0] ? NULL : found.terms.bytes;
	out.asked = found.asked;
	out.reason = found.why[0] ? found.why : NULL;
	out.notice = found.notice[0] ? found.notice : NULL;
	out.errata = vendor_str(l, ev->errata);
	out.counters = vendor_str(l, ev->counters);
	out.unit = vendor_str(l, ev->unit);
	out.scale = ev->scale;
	out.period = ev->period;
	out.deprecated = ev->flags & VENDOR_DEPRECATED;
	out.precise = ev->flags & VENDOR_PRECISE;
	out.must_be_precise = ev->flags & VENDOR_MUST_PRECISE;
	out.file = l->path;
	w->n++;
	err = w->fn(w->arg, &out);
	vendor_found_done(&found);
	return err;
}

static int walk_list(struct eventlist_walk *w, struct vendor_list *l, const char *name)
{
	size_t n = l->head->n;
	const struct vendor_event *v = name ? vendor_find(l, str_of(name), &n) : l->v;
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = visit_event(w, l, &v[i]);
	return err;
}

int tacho_eventlist_walk(struct tacho *t, const char *name,
			 int (*fn)(void *arg, const struct tacho_listed *event), void *arg,
			 struct tacho_error *e)
{
	struct eventlist_walk w = { .t = t, .fn = fn, .arg = arg };
	struct vendor_set *set;
	const struct vendor_lists *lists;
	int err = vendor_get(t, false, &set);

	if (!err && !set->given.n)
		err = vendor_get(t, true, &set);
	if (err < 0)
		return error_nomem(e);
	lists = set->given.n ? &set->given : &set->found;
	for (size_t i = 0; !err && i < lists->n; i++)
		err = walk_list(&w, lists->v[i], name);
	return err == -ENOMEM ? error_nomem(e) : err ? err : w.n;
}
