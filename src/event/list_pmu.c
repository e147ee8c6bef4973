/*
 * Lists the named events of each PMU (its events/ directory). Instances of one PMU (uncore_imc_0,
 * uncore_imc_1 ...) are listed once, by the name without the number, which counts on all of them.
 */
#include "event/list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "event/pmu.h"

static bool has_file(const struct strlist *files, const char *name, const char *suffix)
{
	char want[NAME_MAX + 1];

	snprintf(want, sizeof(want), "%s%s", name, suffix);
	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->v[i], want) == 0)
			return true;
	return false;
}

/* Parses the item's name and tries to open the event. */
static void probe_item(struct lister *l, struct tacho_listing *item, char *why, size_t size)
{
	struct event_list events = { 0 };
	struct tacho_error e = { 0 };
	int err = event_parse(l->t, item->name, 0, &events, &e);

	if (err < 0) {
		snprintf(why, size, "%s", e.message);
		item->why = why;
	} else {
		err = probe_attr(l->t, &events.v[0].attr,
				 events.v[0].flags & EVENT_UNCORE ?
					 max_of(cpuset_next(&events.v[0].cpus, -1), 0) : -1);
		item->why = err < 0 ? probe_why(err) : NULL;
	}
	item->available = err >= 0;
	event_list_done(&events);
}

static int emit_event(struct lister *l, struct pmu *pmu, struct str shown, const char *file,
		      const struct strlist *files)
{
	struct pmu_alias alias = { .scale = 1 };
	char name[NAME_MAX * 2 + 3], encoding[700], topic[NAME_MAX + 1], why[sizeof(((struct tacho_error *)0)->message)];
	struct tacho_listing item = { .name = name, .kind = "Kernel PMU event", .class_ = "pmu",
				      .pmu = topic, .topic = topic, .scale = 1, .available = true };
	int err;

	snprintf(name, sizeof(name), "%.*s/%s/", STR(shown), file);
	snprintf(topic, sizeof(topic), "%.*s", STR(shown));
	if (l->opts->details || has_file(files, file, ".unit") || has_file(files, file, ".scale")) {
		err = pmu_alias(l->t, pmu, str_of(file), &alias);
		if (err < 0)
			return err;
		item.unit = alias.unit[0] ? alias.unit : NULL;
		item.scale = alias.scale;
		snprintf(encoding, sizeof(encoding), "%.*s/%s/", STR(shown), alias.terms);
		item.encoding = l->opts->details ? encoding : NULL;
	}
	/* An event with parameters cannot be opened without values for them. */
	if (strchr(alias.terms, '?')) {
		item.available = false;
		item.why = "needs values for its parameters";
	} else if (l->opts->probe && lister_wants(l, "pmu", topic)) {
		probe_item(l, &item, why, sizeof(why));
	}
	return lister_emit(l, &item);
}

static int list_events(struct lister *l, struct pmu *pmu, struct str shown)
{
	scoped(strlist_done) struct strlist files = { 0 };
	int err = pmu_dir(l->t, pmu, "events", &files);

	if (err == -ENOMEM)
		return err;
	err = 0;
	for (size_t i = 0; !err && i < files.n; i++)
		if (!pmu_alias_is_detail(str_of(files.v[i])))
			err = emit_event(l, pmu, shown, files.v[i], &files);
	return err;
}

/* The PMU's name without the instance number. Core PMUs are listed separately even if their names are
 * similar. */
static struct str shared_name(const struct pmu *pmu)
{
	return pmu->core ? str_of(pmu->name) : pmu_stem(str_of(pmu->name));
}

int list_pmus(struct lister *l)
{
	const struct pmu_list *all, *cores;
	int err;

	if (!lister_wants(l, "pmu", NULL))
		return 0;
	err = pmu_cores(l->t, &cores);		/* sets pmu->core */
	if (!err)
		err = pmu_all(l->t, &all);
	for (size_t i = 0; !err && i < all->n; i++) {
		struct str stem = shared_name(all->v[i]);
		bool first = i == 0 || !str_eq(stem, shared_name(all->v[i - 1]));
		bool more = i + 1 < all->n && str_eq(stem, shared_name(all->v[i + 1]));
		char shown[NAME_MAX + 1];

		snprintf(shown, sizeof(shown), "%.*s", STR(more ? stem : str_of(all->v[i]->name)));
		if (first && lister_wants(l, "pmu", shown))
			err = list_events(l, all->v[i], str_of(shown));
	}
	return err;
}
