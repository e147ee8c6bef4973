/*
 * Event groups. All hardware events of a kernel group must be on one PMU; software events can be added to any
 * group. A group whose names expand to several PMUs ({cycles,instructions} on hybrid cores,
 * {imc/a/,imc/b/}) is therefore split into one group per PMU, and tool events, which are not
 * kernel events, are not grouped. Modifier X prevents the split.
 *
 *	{c,i,cs}  ->  atom/c core/c atom/i core/i cs  ->  {atom/c atom/i cs} {core/c core/i}
 */
#include "event/parse.h"

#include <errno.h>

#define GROUP_MAX 4096u			/* more than any PMU supports; bounds quadratic loops below */

/* Returns whether the event can be added to a group of any PMU; true for software events. */
static bool fits_any_pmu(const struct event *ev)
{
	static const char *const others[] = { "msr", "kprobe", "uprobe" };

	for (size_t i = 0; i < countof(others); i++)
		if (strcmp(ev->pmu, others[i]) == 0)
			return true;
	return ev->attr.type == PERF_TYPE_SOFTWARE || ev->attr.type == PERF_TYPE_TRACEPOINT ||
	       ev->attr.type == PERF_TYPE_BREAKPOINT;
}

static const char *first_pmu(const struct event *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fits_any_pmu(&v[i]) && v[i].kind != TACHO_EVENT_TOOL)
			return v[i].pmu;
	return NULL;
}

/* Assigns a group number to each event, in order of first appearance. Returns the number of groups. */
static size_t assign_groups(const struct event *v, size_t n, uint32_t *group)
{
	const char *home = first_pmu(v, n);
	size_t n_groups = 0;

	for (size_t i = 0; i < n; i++) {
		const char *pmu = fits_any_pmu(&v[i]) ? home : v[i].pmu;
		size_t k = 0;

		for (k = 0; k < i && v[i].kind != TACHO_EVENT_TOOL; k++) {
			const char *other = fits_any_pmu(&v[k]) ? home : v[k].pmu;

			if (v[k].kind != TACHO_EVENT_TOOL &&
			    (pmu == other || (pmu && other && strcmp(pmu, other) == 0)))
				break;
		}
		group[i] = k < i && v[i].kind != TACHO_EVENT_TOOL ? group[k] : (uint32_t)n_groups++;
	}
	return n_groups;
}

static void set_group(struct event *v, size_t base, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		v[base + i].leader = (uint32_t)base;
		v[base + i].group_size = (uint32_t)n;
		v[base + i].group_name = name;
	}
}

/* Sorts the events by group number (stable) and updates the merge indexes. */
static int regroup(struct event_list *list, size_t first, const uint32_t *group, size_t n_groups,
		   const char *name)
{
	size_t n = list->n - first, at = 0;
	scoped(freep) struct event *sorted = calloc(n, sizeof(*sorted));
	scoped(freep) uint32_t *moved = calloc(n, sizeof(*moved));

	if (!sorted || !moved)
		return -ENOMEM;
	for (size_t g = 0; g < n_groups; g++)
		for (size_t i = 0; i < n; i++)
			if (group[i] == g) {
				moved[i] = (uint32_t)(first + at);
				sorted[at++] = list->v[first + i];
			}
	memcpy(list->v + first, sorted, n * sizeof(*sorted));
	for (size_t i = 0; i < n; i++)
		list->v[first + i].merge = moved[list->v[first + i].merge - first];
	for (size_t i = 0, g = 0, start = 0; i < n; start = i, g++) {
		size_t count = 0;

		for (size_t k = 0; k < n; k++)
			count += group[k] == g;
		i = start + count;
		set_group(list->v, first + start, count, name);
	}
	return 0;
}

int group_close(struct event_parser *p, size_t first, struct str name, bool no_regroup)
{
	size_t n = p->list->n - first, n_groups = 1;
	scoped(freep) uint32_t *group = NULL;
	const char *name_copy;

	if (n > GROUP_MAX)
		return error_set(p->e, -E2BIG, "a group of %zu events is too large, the most is %u", n,
				 GROUP_MAX);
	group = calloc(n ? n : 1, sizeof(*group));
	name_copy = name.n ? parse_str(p, name) : NULL;

	if (!group || (name.n && !name_copy))
		return error_nomem(p->e);
	if (!no_regroup)
		n_groups = assign_groups(p->list->v + first, n, group);
	if (n_groups <= 1) {
		set_group(p->list->v, first, n, name_copy);
		return 0;
	}
	tacho_log(p->t, TACHO_LOG_INFO, "a group spans %zu PMUs and was split", n_groups);
	return regroup(p->list, first, group, n_groups, name_copy) < 0 ? error_nomem(p->e) : 0;
}
