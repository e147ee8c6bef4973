/*
 * Self metrics: the agent's own resource usage and activity, as series of the source "agent". The page, the
 * store and all exporters get them like any other series.
 */
#ifndef AGENT_CORE_SELF_METRICS_H
#define AGENT_CORE_SELF_METRICS_H

#include "agent/core/agent.h"

struct self_metrics;

int self_metrics_new(struct self_metrics **out, struct agent *a);	/* 0 or -ENOMEM */
void self_metrics_free(struct self_metrics *s);
/* A collector_hook: measures and delivers one batch. Series of exporters are created on first use. */
void self_metrics_measure(void *self, struct collector *c);

#endif
