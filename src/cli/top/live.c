/*
 * The profile that is shown. At each refresh an eighth of what was there is taken away, as in perf, and the new window is
 * added; the profile is rebuilt from both, so that threads and stacks that are gone do not fill the memory.
 */
#include "cli/top/top.h"

#include <errno.h>
#include <inttypes.h>

#define KEPT_NUM 7u			/* of the samples before the last refresh, 7/8 are kept */
#define KEPT_DEN 8u

int top_live_init(struct top_live *l, const struct top_opts *o, struct tacho_error *e)
{
	const struct report_opts *r = &o->rep;
	bool chains = o->rec.chains || o->rec.call_graph;

	*l = (struct top_live){ .zero = o->zero };
	l->opts = (struct tacho_profile_opts){
		.size = sizeof(l->opts), .comms = r->comms, .objects = r->dsos, .symbols = r->symbols,
		.max_stack = r->max_stack, .split_unknown = true, .ignore_callees = r->ignore_callees,
		.no_chains = !chains, .caller_first = !r->no_children && !(r->graph.order_given && !r->graph.caller),
	};
	l->address_opts = (struct tacho_profile_opts){
		.size = sizeof(l->address_opts), .comms = r->comms, .objects = r->dsos, .symbols = r->symbols,
		.no_chains = true, .per_address = true, .unjudged = true,
	};
	return report_profile_opts(r, &l->opts, e);
}

/* Replaces *shown by what is left of it and the window's samples. */
static int add(struct tacho_profile **shown, struct tacho_profile **window, const struct tacho_profile_opts *opts,
	       bool zero)
{
	scoped(profile_freep) struct tacho_profile *next = NULL;
	int err;

	if (!*shown || zero) {
		tacho_profile_free(*shown);
		*shown = take(*window);
		return 0;
	}
	err = tacho_profile_new(&next, opts, NULL);
	if (err == 0)
		err = tacho_profile_merge_share(next, *shown, KEPT_NUM, KEPT_DEN);
	if (err == 0)
		err = tacho_profile_merge(next, *window);
	if (err < 0)
		return err;
	tacho_profile_free(*shown);
	*shown = take(next);
	return 0;
}

int top_live_add(struct top_live *l, struct top_window *w)
{
	int err = add(&l->profile, &w->profile, &l->opts, l->zero);

	if (err == 0)
		err = add(&l->addresses, &w->addresses, &l->address_opts, l->zero);
	top_window_done(w);
	l->last = *w;
	l->samples += w->samples;
	l->lost += w->lost;
	return err;
}

void top_live_done(struct top_live *l)
{
	tacho_profile_free(take(l->profile));
	tacho_profile_free(take(l->addresses));
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

void top_live_status(const struct top_live *l, struct buf *out)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };

	if (!l->profile)
		return;
	tacho_profile_quality(l->profile, &q);
	buf_printf(out, "%.0f samples/s, lost %" PRIu64 "/%" PRIu64, l->last.seconds > 0 ?
		   (double)l->last.samples / l->last.seconds : 0, l->last.lost, l->lost);
	if (l->last.throttled)
		buf_printf(out, ", throttled %" PRIu64 " times", l->last.throttled);
	buf_printf(out, "; own CPU %.1f%%; %.1f%% without a name", l->last.own_cpu, percent(q.unresolved, q.samples));
	if (!l->opts.no_chains)
		buf_printf(out, ", %.1f%% broken stacks", percent(q.broken_stacks, q.samples));
}
