/*
 * The profile of a range of time, merged from the stored windows and the current one.
 */
#include "agent/profiler/profiler_internal.h"

#include <errno.h>

#include "base/clock.h"
#include "base/error.h"

#define STEP_NS (600 * 1000000000ll)	/* range read from the store at once, while other readers wait */
#define FRESH_NS (30 * 1000000000ll)	/* newer windows may not be on disk yet */
#define MARGIN_NS 2000000000ll		/* samples may lie outside their window by this much */

struct range_walk {
	window_fn *fn;
	void *arg;
	int64_t from_ns;		/* windows that begin earlier have been visited */
	int64_t to_ns;			/* windows that begin at or after this time are skipped */
};

static int visit_stored_window(void *arg, int64_t from_ns, int64_t to_ns, uint64_t n_samples,
			       struct str blob)
{
	struct range_walk *w = arg;

	if (from_ns < w->from_ns || from_ns >= w->to_ns)
		return 0;
	w->from_ns = from_ns + 1;
	return w->fn(w->arg, from_ns, to_ns, n_samples, blob);
}

static int visit_stored_windows(struct agent *a, int64_t from_ns, int64_t to_ns, struct range_walk *w)
{
	int err = 0;

	for (int64_t at = from_ns; at < to_ns && err == 0; at += STEP_NS)
		err = a->stopping ? -EINTR :
		      store_profiles(a->store, at, at + STEP_NS < to_ns ? at + STEP_NS : to_ns,
				     visit_stored_window, w);
	return err;
}

/* The current window is packed first, so that a window that ends meanwhile is found in the store. */
int profiler_windows(struct agent *a, int64_t from_ns, int64_t to_ns, window_fn *fn, void *arg,
		     struct tacho_error *e)
{
	struct range_walk w = { .fn = fn, .arg = arg, .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	scoped(buf_done) struct buf current = { 0 };
	int64_t now = clock_wall_ns();
	uint64_t samples = 0;
	int err = 0;

	from_ns -= MARGIN_NS;
	to_ns = min_of(to_ns, now) + MARGIN_NS;
	if (a->profiler)
		err = profiler_window(a->profiler, &current, &w.to_ns, &samples);
	if (err == 0 && a->store) {
		if (to_ns > now - FRESH_NS)
			store_flush(a->store); /* fails on a full disk; older windows can still be
						  read */
		err = visit_stored_windows(a, from_ns, to_ns, &w);
	}
	if (err == 0 && samples && w.to_ns < to_ns && now > from_ns)
		err = fn(arg, w.to_ns, now, samples, buf_view(&current));
	if (err == -EINTR)
		return error_set(e, err, "the agent is stopping");
	if (err < 0 && e && !e->message[0])
		error_set(e, err, "cannot read the profiles: %s", strerror(-err));
	return err;
}

struct range_merge {
	struct tacho_profile *profile;
	struct tacho_unpack_opts range;
	struct tacho_error *error;
};

#define NODES_MAX (2u << 20)

static int merge_window(void *arg, int64_t from_ns, int64_t to_ns, uint64_t samples, struct str blob)
{
	struct range_merge *m = arg;
	int err = tacho_profile_unpack(m->profile, blob.s, blob.n, &m->range, m->error);

	(void)from_ns, (void)to_ns, (void)samples;
	if (err == -EBADMSG || err == -EPROTO) {	/* skip a damaged window */
		*m->error = (struct tacho_error){ .column = -1 };
		return 0;
	}
	if (err == 0 && (tacho_profile_n_nodes(m->profile) > NODES_MAX ||
			 tacho_profile_n_rows(m->profile) > NODES_MAX)) {
		error_set(m->error, -E2BIG, "the range has too many different stacks");
		error_hint(m->error, "use a shorter range");
		return -E2BIG;
	}
	return err;
}

int profiler_range(struct agent *a, int64_t from_ns, int64_t to_ns,
		   const struct tacho_profile_opts *filter, struct tacho_profile **out,
		   struct tacho_error *e)
{
	struct range_merge m = { .range = { .size = sizeof(m.range),
					    .from_ns = from_ns > 0 ? (uint64_t)from_ns : 0,
					    .to_ns = to_ns > 1 ? (uint64_t)to_ns : 1 },
				 .error = e };
	int err = tacho_profile_new(&m.profile, filter, e);

	if (err < 0)
		return err;
	err = profiler_windows(a, from_ns, to_ns, merge_window, &m, e);
	if (err < 0) {
		tacho_profile_free(m.profile);
		return err;
	}
	*out = m.profile;
	return 0;
}
