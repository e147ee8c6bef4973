/*
 * Views of `tacho snoop` as series: how long threads wait for a CPU and disks need for requests, as histograms of Prometheus, and
 * system calls by kind. They run in the kernel where that is possible.
 *
 *	new (before privileges are dropped) -> measure, measure ... (in the collector's thread) -> free
 */
#ifndef AGENT_SOURCE_VIEWS_H
#define AGENT_SOURCE_VIEWS_H

#include "agent/core/agent.h"

#include <tacho/view.h>

struct agent_views;
/* Starts the views of [usage] views; one that cannot run is logged and left out. 0 or -ENOMEM. */
int agent_views_new(struct agent_views **out, struct agent *a);
void agent_views_free(struct agent_views *v);
void agent_views_measure(void *views, struct collector *c);	/* a collector_hook */

/* Whether a view can be exported; if not, *names lists those that can. */
bool agent_views_has(const char *name, const char **names);

#endif
