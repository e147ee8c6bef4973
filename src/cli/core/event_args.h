/*
 * The options that say what to count or sample: -e, -M, -G and --filter. -G and --filter apply to the
 * preceding events, so the arguments are collected and applied in their order on the command line.
 */
#ifndef CLI_CORE_EVENT_ARGS_H
#define CLI_CORE_EVENT_ARGS_H

#include "base/vec.h"

#include <tacho/evset.h>

enum event_arg_kind { EVENT_ARG_EVENTS, EVENT_ARG_METRICS, EVENT_ARG_CGROUPS, EVENT_ARG_FILTER };
struct event_arg {
	enum event_arg_kind kind;
	const char *text;
	bool pfm;			/* from --pfm-events: the names are libpfm4's */
};

struct event_args {
	struct event_arg *v;
	size_t n, cap;
};

/* OPT_CALL functions for commands whose options struct begins with a `struct event_args`. */
int event_args_add_events(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_pfm(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_metrics(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_cgroups(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_filter(void *opts, const char *arg, struct tacho_error *e);

#define EVENT_ARGS_PFM_ROW                                                                               \
	{ OPT_CALL, 0, "pfm-events", .arg = "EVENTS", .call = event_args_add_pfm,                        \
	  .help = "the same by libpfm4's event names; may be repeated" }

bool event_args_have(const struct event_args *w, enum event_arg_kind kind);

/* Adds metrics (-M) to the set; returns a negative errno on failure. */
typedef int event_args_metrics_fn(void *arg, const char *metrics, struct tacho_error *e);
/* Adds the events to a set, with their cgroups and filters. Errors are printed as messages of `command`.
 * `metrics` may be NULL for commands without -M. 0 or a negative errno. */
int event_args_apply(const struct event_args *w, const char *command, struct tacho_evset *set,
		     event_args_metrics_fn *metrics, void *arg);

#endif
