/*
 * Selects the samples between two events (--switch-on, --switch-off). If only the second one is given, all
 * samples up to its first occurrence count; perf, up to 7.2, also counts those after it.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define NO_EVENT SIZE_MAX

static size_t find_event(const struct tacho_perfdata *pd, const char *name)
{
	for (size_t i = 0; name && i < tacho_perfdata_n_events(pd); i++) {
		const char *has = tacho_perfdata_event(pd, i)->name;

		if (has && strcmp(has, name) == 0)
			return i;
	}
	return NO_EVENT;
}

static void find_events(struct tacho_switch *sw, const struct tacho_perfdata *pd)
{
	sw->n_known = tacho_perfdata_n_events(pd);
	sw->on_event = find_event(pd, sw->on);
	sw->off_event = find_event(pd, sw->off);
}

int tacho_switch_check(struct tacho_switch *sw, const struct tacho_perfdata *pd, struct tacho_error *e)
{
	const char *missing;

	find_events(sw, pd);
	missing = sw->on && sw->on_event == NO_EVENT ? sw->on :
		  sw->off && sw->off_event == NO_EVENT ? sw->off : NULL;
	if (!missing)
		return 0;
	error_set(e, -EINVAL, "no event of the recording is called '%s'", missing);
	error_hint(e, "'evlist' shows what they are called");
	return -EINVAL;
}

bool tacho_switch_lets(struct tacho_switch *sw, const struct tacho_perfdata *pd, size_t event)
{
	bool counts = sw->is_on || !(sw->on || sw->was_on);

	if (sw->n_known != tacho_perfdata_n_events(pd))
		find_events(sw, pd);
	if (counts ? event == sw->off_event : event == sw->on_event) {
		sw->is_on = !counts;
		sw->was_on = true;
		return sw->show;
	}
	return counts;
}
