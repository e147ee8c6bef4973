/*
 * The top-down tree: metrics that have a level.
 */
#include "cli/topdown.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

struct levels {
	struct strlist names;
	uint32_t wanted, deepest;
	bool listed;			/* only those of lists: there are some */
};

static int note_level(void *arg, const struct tacho_metric *m)
{
	struct levels *l = arg;

	if (m->level && m->listed)
		l->listed = true;
	if (m->level > l->deepest)
		l->deepest = m->level;
	return 0;
}

static int note_name(void *arg, const struct tacho_metric *m)
{
	struct levels *l = arg;

	if (!m->level || m->level > l->wanted || m->listed != l->listed)
		return 0;
	return strlist_add(&l->names, str_of(m->name));
}

static int refuse_level(const struct levels *l, struct tacho_error *e)
{
	error_set(e, -EOPNOTSUPP, "top-down level %u is not known here, only %u", l->wanted, l->deepest);
	error_hint(e, l->listed ? "the CPU's lists end there" :
		   "deeper levels are the CPU vendor's metrics: 'tacho events update' fetches its lists, "
		   "--event-list takes a file");
	return -EOPNOTSUPP;
}

static int add_names(struct tacho_metric_set *ms, const struct levels *l, struct tacho_error *e)
{
	struct tacho_error first = { .column = -1 };
	int n = 0;

	for (size_t i = 0; i < l->names.n; i++) {
		struct tacho_error one = { .column = -1 };
		int err = tacho_metric_set_add(ms, l->names.v[i], &one);

		if (err == -ENOMEM)
			return error_nomem(e);
		if (err < 0 && !first.code)
			first = one;
		n += err < 0 ? 0 : err;
	}
	if (n || !first.code)
		return n;
	error_set(e, -EOPNOTSUPP, "this CPU shows no top-down events: %.400s", first.message);
	error_hint(e, "they need a core PMU that is not hidden by a virtual machine, and an Intel core of "
		      "2019 or later, an Arm core that counts slots, or the vendor's lists; 'tacho doctor' "
		      "tells what there is");
	return -EOPNOTSUPP;
}

int topdown_add(struct tacho *t, struct tacho_metric_set *ms, uint32_t level, struct tacho_error *e)
{
	struct levels l = { .wanted = level ? level : 1 };
	int err = tacho_metric_walk(t, NULL, note_level, &l, e);

	if (err >= 0 && l.wanted > l.deepest)
		err = refuse_level(&l, e);
	if (err >= 0)
		err = tacho_metric_walk(t, NULL, note_name, &l, e);
	if (err >= 0)
		err = add_names(ms, &l, e);
	strlist_done(&l.names);
	return err;
}
