/*
 * The agent's own CPU budget, [agent] cpu_budget. When the agent uses more, it lowers the profile's
 * frequency first, then doubles the intervals of the sources from the least important on; when it
 * uses less than half, it raises them again. Each change is logged and stored as an event.
 */
#ifndef AGENT_CORE_BUDGET_H
#define AGENT_CORE_BUDGET_H

#include "agent/core/agent.h"

struct collector;
struct budget;

int budget_new(struct budget **out, struct agent *a);	/* 0 or -ENOMEM */
void budget_free(struct budget *b);
void budget_check(void *budget, struct collector *c);	/* a collector_hook */

/* Pure: returns +1 to lower rates, -1 to raise them, 0 to keep them. `calm` counts consecutive
 * checks below half the budget. */
int budget_step(double percent, double budget, unsigned *calm);

#endif
