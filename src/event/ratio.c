/*
 * The term ratio-to-prev: a group of two counters that reload each other (auto counter reload of Intel's core PMUs,
 * Linux 6.16). When one of them overflows, both start from their periods again, so the event overflows only if it
 * occurs at more than `ratio` times the rate of the event before it:
 *
 *	{instructions,branch-misses/period=1000,ratio-to-prev=0.01/}
 *
 * The PMU's format acr_mask says where the group members that an overflow reloads are selected: member i is bit i.
 * The periods are set by the sampler, because they may be given by an option.
 */
#include "event/parse.h"

#include <errno.h>

static int refuse_ratio(struct event_parser *p, const struct event *ev, const char *hint)
{
	if (hint)
		error_hint(p->e, "%s", hint);
	return parse_refuse(p, -EINVAL, str_n(p->text.s + ev->column, ev->length));
}

/* Finds the config word of the mask. Returns 0 or a negative errno. */
static int find_mask(struct event_parser *p, const struct event *ev, struct pmu_format *out)
{
	struct pmu *pmu = NULL;
	int err = pmu_find(p->t, str_of(ev->pmu), &pmu);

	if (err > 0)
		err = pmu_format(p->t, pmu, str_of("acr_mask"), out);
	if (err > 0 && out->word == 2)
		return 0;
	if (err < 0 && err != -ENOENT)
		return error_set(p->e, err, "cannot read the formats of PMU %s", ev->pmu);
	error_set(p->e, -EINVAL, "PMU %s does not have acr_mask format support, which ratio-to-prev needs", ev->pmu);
	return refuse_ratio(p, ev, "it came with Intel's Lion Cove and Skymont cores and Linux 6.16");
}

static int apply_ratio_to(struct event_parser *p, size_t i)
{
	struct event *ev = &p->list->v[i], *prev = ev - 1;
	uint32_t member = (uint32_t)i - ev->leader;
	struct pmu_format mask;
	int err;

	if (member == 0 || member >= 64) {
		error_set(p->e, -EINVAL, "Invalid use of ratio-to-prev term without preceding element in group");
		return refuse_ratio(p, ev, "write {EVENT,EVENT/period=N,ratio-to-prev=X/}");
	}
	if (strcmp(ev->pmu, prev->pmu) != 0) {
		error_set(p->e, -EINVAL, "'%s' and '%s' must have same PMU for ratio-to-prev", prev->name, ev->name);
		return refuse_ratio(p, ev, NULL);
	}
	err = find_mask(p, ev, &mask);
	if (err < 0)
		return err;
	prev->attr.config2 |= format_spread(&mask, 1ull << member);
	ev->attr.config2 |= format_spread(&mask, 1ull << member | 1ull << (member - 1));
	return 0;
}

int ratios_apply(struct event_parser *p, size_t first)
{
	int err = 0;

	for (size_t i = first; i < p->list->n && err == 0; i++)
		if (p->list->v[i].terms.ratio_to_prev > 0)
			err = apply_ratio_to(p, i);
	return err;
}
