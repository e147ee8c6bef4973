/*
 * The arguments that select events: -e, -M, -G and --filter. -G and --filter apply to the preceding
 * events, so the arguments are collected in order and applied when all options have been read.
 */
#ifndef CLI_CORE_EVENT_ARGS_H
#define CLI_CORE_EVENT_ARGS_H

#include "base/vec.h"

#include <tacho/common.h>

enum event_arg_kind { EVENT_ARG_EVENTS, EVENT_ARG_METRICS, EVENT_ARG_CGROUPS, EVENT_ARG_FILTER };
struct event_arg {
	enum event_arg_kind kind;
	const char *text;
	bool pfm;			/* from --pfm-events: names known to libpfm4 */
};

struct event_args {
	struct event_arg *v;
	size_t n, cap;
};

/* For option rows of commands whose options struct begins with a `struct event_args`. */
int event_args_add_events(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_pfm(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_metrics(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_cgroups(void *opts, const char *arg, struct tacho_error *e);
int event_args_add_filter(void *opts, const char *arg, struct tacho_error *e);

#define EVENT_ARGS_PFM_ROW                                                                               \
	{ OPT_CALL, 0, "pfm-events", .arg = "EVENTS", .call = event_args_add_pfm,                        \
	  .help = "the same by libpfm4's event names; may be repeated" }

bool event_args_have(const struct event_args *w, enum event_arg_kind kind);

/* The event set or sampler that the events are added to. `first` and `n` are a range of its events. The
 * functions return a negative errno if they fail. */
struct event_args_target {
	void *set;
	size_t (*size)(void *set);
	int (*add)(void *set, const char *events, struct tacho_error *e);
	int (*metrics)(void *set, const char *metrics, struct tacho_error *e);	/* may be NULL */
	int (*cgroup)(void *set, size_t first, size_t n, const char *path, struct tacho_error *e);
	int (*filter)(void *set, size_t first, size_t n, const char *filter, struct tacho_error *e);
};
/* Prints a message if an argument is wrong. 0 or a negative errno. */
int event_args_apply(const struct event_args *w, const char *command, const struct event_args_target *t);

#endif
