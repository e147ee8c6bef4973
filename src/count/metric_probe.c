/*
 * Whether a metric can be computed on this machine: all its names are known, and the kernel opens its events.
 * Every event is opened once, whatever the number of metrics that need it.
 */
#include "count/evset_internal.h"
#include "count/metric_set.h"

#include <errno.h>

#include "base/vec.h"
#include "event/list.h"

/* Opens the event of a name, if that was not tried before. n->refused is the reason if it cannot be opened. */
static void probe_name(struct tacho_metric_set *ms, struct metric_name *n)
{
	const struct event *ev;
	int cpu = -1, err;

	if (n->probed || n->scratch >= ms->scratch->list.n)
		return;
	n->probed = true;
	ev = &ms->scratch->list.v[n->scratch];
	if (tacho_evset_event(ms->scratch, n->scratch)->kind == TACHO_EVENT_TOOL)
		return;
	if (ev->flags & EVENT_UNCORE)
		cpu = max_of(cpuset_next(&ev->cpus, -1), 0);
	err = probe_attr(ms->t, &ev->attr, cpu);
	n->refused = err < 0 ? probe_why(err) : NULL;
}

/* Finds an event that cannot be opened among those of a metric and of the metrics that it refers to. */
static const struct metric_name *find_refused(struct tacho_metric_set *ms, size_t use)
{
	const struct metric_use *u = &ms->uses.v[use];
	const struct tacho_expr_input *in;
	size_t n = tacho_expr_inputs(u->expr, &in);

	for (size_t i = 0; i < n; i++) {
		const struct metric_name *name = NULL;

		if (u->sources[i].kind == SOURCE_METRIC) {	/* comes before this one in uses[] */
			name = find_refused(ms, u->sources[i].at);
		} else if (u->sources[i].kind == SOURCE_EVENT) {
			name = &ms->names.v[u->sources[i].at];
			probe_name(ms, &ms->names.v[u->sources[i].at]);
		}
		if (name && name->refused)
			return name;
	}
	return NULL;
}

int tacho_metric_set_probe(struct tacho_metric_set *ms, const struct tacho_metric *m,
			   struct tacho_metric_missing *out)
{
	struct tacho_error e = { .column = -1 };
	const struct metric_name *refused;
	int64_t at = -EBUSY;

	if (!ms->planned) {
		ms->needs = ms->why = NULL;
		at = metric_use_add(ms, m, &e);
	}
	if (at == -ENOMEM || at == -EBUSY)
		return (int)at;
	*out = (struct tacho_metric_missing){ .size = sizeof(*out), .metric = *m };
	if (at < 0)
		return metric_describe_missing(ms, &e, out);
	refused = find_refused(ms, (size_t)at);
	if (!refused)
		return 1;
	out->needs = refused->text;
	out->why = refused->refused;
	return 0;
}
