/*
 * One running exporter; runner_list.c has the list of all.
 *
 *	exporter_runner_new -> take, take, status ... -> stop (asks) -> free (waits)
 */
#ifndef AGENT_EXPORT_RUNNER_H
#define AGENT_EXPORT_RUNNER_H

#include "agent/export/exporter.h"

struct exporter_runner;

/* Holds a reference to the environment's configuration, which owns `cfg`; the environment's other
 * strings must outlive the exporter. */
int exporter_runner_new(struct exporter_runner **out, const struct export_config *cfg,
			const struct exporter_env *env, struct tacho_error *e);
void exporter_runner_take(struct exporter_runner *p, const struct point_batch *b);
bool exporter_runner_wants_profile(const struct exporter_runner *p, const char *format);
void exporter_runner_take_profile(struct exporter_runner *p, struct str pprof, uint64_t n_samples,
				  int64_t from_ns, int64_t to_ns);
void exporter_runner_status(struct exporter_runner *p, struct exporter_status *out);
const struct export_config *exporter_runner_config(const struct exporter_runner *p);
const struct agent_config *
exporter_runner_agent_config(const struct exporter_runner *p); /* whose labels are added */
void exporter_runner_stop(struct exporter_runner *p, unsigned grace_ms);
void exporter_runner_free(struct exporter_runner *p);

#endif
