/*
 * The agent's own CPU budget: when it takes more than [agent] cpu_budget, rates go down, the
 * profile's first, then the sources' from the least important on; when it takes far less, they
 * come back. Each step is said.
 */
#ifndef AGENT_CORE_BUDGET_H
#define AGENT_CORE_BUDGET_H

#include "agent/core/agent.h"

struct collector;
struct budget;

int budget_new(struct budget **out, struct agent *a);	/* 0 or -ENOMEM */
void budget_free(struct budget *b);
void budget_look(void *budget, struct collector *c);	/* a collector_hook */

/* Pure: the step to take. +1 lower, -1 raise, 0 stay. `calm` counts looks below half the budget. */
int budget_step(double percent, double budget, unsigned *calm);

#endif
