/*
 * One running exporter, for the list of all of them.
 *
 *	pusher_new -> take, take, status ... -> stop (asks) -> free (waits)
 */
#ifndef AGENT_EXPORT_RUNNER_H
#define AGENT_EXPORT_RUNNER_H

#include "agent/export/exporter.h"

struct pusher;

/* Holds the environment's configuration, which `cfg` is of; other strings of it have to outlive it. */
int pusher_new(struct pusher **out, const struct export_config *cfg, const struct exporter_env *env,
	       struct tacho_error *e);
void pusher_take(struct pusher *p, const struct point_batch *b);
void pusher_take_profile(struct pusher *p, struct str pprof, uint64_t n_samples, int64_t from_ns,
			 int64_t to_ns);
void pusher_status(struct pusher *p, struct exporter_status *out);
const struct export_config *pusher_config(const struct pusher *p);
const struct agent_config *pusher_agent_config(const struct pusher *p);	/* whose labels it puts on */
void pusher_stop(struct pusher *p, unsigned grace_ms);
void pusher_free(struct pusher *p);

#endif
