/*
 * What the agent costs and how it fares, as series of the source "agent": they go to the page,
 * the store and all exporters like any other.
 */
#ifndef AGENT_CORE_SELF_METRICS_H
#define AGENT_CORE_SELF_METRICS_H

#include "agent/core/agent.h"

struct self;

int self_new(struct self **out, struct agent *a);	/* 0 or -ENOMEM */
void self_free(struct self *s);
/* A collector_hook: measures and hands on one batch. Series of exporters are made as they come. */
void self_measure(void *self, struct collector *c);

#endif
