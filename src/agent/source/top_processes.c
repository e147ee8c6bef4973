/*
 * Sources with per = "process" and top = N: the N processes that count most have series of their own, the others
 * are summed as comm="other".
 */
#include "agent/source/processes.h"

#define MAX_SWAPS 8		/* per refresh */
#define LONG_LIVED_REFRESHES 30		/* a process seen this often is likely to keep running */

static size_t count_units_with_series(const struct agent_source *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_units; i++)
		n += s->units[i].set && !s->units[i].other && !s->units[i].pending;
	return n;
}

bool shows_top_processes(const struct agent_source *s)
{
	return s->config->per == PER_PROCESS && s->config->top;
}

bool top_has_place(const struct agent_source *s)
{
	return count_units_with_series(s) + s->n_gone < s->config->top;
}

static void update_weights(struct agent_source *s)
{
	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		u->weight = u->count - min_of(u->count, u->count_before);
	}
}

/* Short-lived processes, such as those of a build, would each leave a series that stays visible for
 * minutes. So when many processes have ended recently, only long-lived ones get series of their own. */
static bool may_promote(const struct agent_source *s, const struct source_unit *u)
{
	return u->weight && (s->n_gone < s->config->top || u->n_refreshes >= LONG_LIVED_REFRESHES);
}

/* The unit that counted most among those in "other" that may be promoted, or least among those with
 * their own series. */
static struct source_unit *find_extreme(struct agent_source *s, bool other)
{
	struct source_unit *found = NULL;

	for (size_t i = 0; i < s->n_units; i++) {
		struct source_unit *u = &s->units[i];

		if (u->set && u->other == other && (!other || may_promote(s, u)) &&
		    (!found || (other ? u->weight > found->weight : u->weight < found->weight)))
			found = u;
	}
	return found;
}

/* The processes that count most (of the source's first event) have their own series. A process needs
 * twice the count of the one it replaces, so that series are not swapped back and forth. */
int top_update(struct agent_source *s)
{
	size_t own = count_units_with_series(s);
	int err = 0;

	update_weights(s);
	for (int i = 0; err == 0 && i < MAX_SWAPS; i++) {
		struct source_unit *up = find_extreme(s, true), *down = find_extreme(s, false);

		if (!up)
			break;
		if (own < s->config->top)
			down = NULL;
		else if (!down || up->weight <= down->weight * 2)
			break;
		up->other = false;
		own += !down;
		err = unit_relabel(s, up);
		if (err == 0 && down) {
			down->other = true;
			err = unit_relabel(s, down);
		}
	}
	for (size_t i = 0; i < s->n_units; i++) {
		s->units[i].count_before = s->units[i].count;
		s->units[i].n_refreshes++;
	}
	return err;
}
