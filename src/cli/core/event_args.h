/*
 * The words that say what to count or sample: -e, -M, -G and --filter act on what stands before
 * them, so they are kept in order and applied in order.
 */
#ifndef CLI_CORE_EVENT_ARGS_H
#define CLI_CORE_EVENT_ARGS_H

#include "base/vec.h"

#include <tacho/common.h>

enum event_arg_kind { EVENT_ARG_EVENTS, EVENT_ARG_METRICS, EVENT_ARG_CGROUPS, EVENT_ARG_FILTER };
struct event_arg {
	enum event_arg_kind kind;
	const char *text;
	bool pfm;			/* of --pfm-events: names for libpfm4 */
};

struct event_args {
	struct event_arg *v;
	size_t n, cap;
};

/* For option rows, of commands whose options begin with a `struct event_args`. */
int event_args_add_events(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_pfm(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_metrics(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_cgroups(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_filter(void *opts, const char *arg, struct tacho_error *e);

#define EVENT_ARGS_PFM_ROW                                                                               \
	{ OPT_CALL, 0, "pfm-events", .arg = "EVENTS", .call = event_args_add_pfm,                        \
	  .help = "the same by names that libpfm4 knows; may be repeated" }

bool event_args_have(const struct event_args *w, enum event_arg_kind kind);

/* Where they go: an event set or a sampler. `first` and `n` name events; all return a negative
 * errno when they fail. */
struct event_args_target {
	void *to;
	size_t (*size)(void *to);
	int (*add)(void *to, const char *events, struct tacho_error *e);
	int (*metrics)(void *to, const char *metrics, struct tacho_error *e);	/* or NULL */
	int (*cgroup)(void *to, size_t first, size_t n, const char *path, struct tacho_error *e);
	int (*filter)(void *to, size_t first, size_t n, const char *filter, struct tacho_error *e);
};
/* Reports what is wrong as `command`. 0 or a negative errno. */
int event_args_apply(const struct event_args *w, const char *command, const struct event_args_target *t);

#endif
