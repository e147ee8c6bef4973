/*
 * Pages that take longer (ranges, flame graphs, recordings) are made by threads of their own, so
 * that the server's go on with scrapes, live data and everybody else. The connection sleeps while
 * its page is made.
 *
 *	request --hand--> (suspended) --page--> (resumed) --take--> answer
 */
#ifndef AGENT_HTTP_WORKER_POOL_H
#define AGENT_HTTP_WORKER_POOL_H

#include "agent/http/request.h"

struct work;
struct job;

int work_new(struct work **out);
/* No new ones; those that wait are refused, those that run are waited for. Before the daemons stop. */
void work_end(struct work *w);
void work_free(struct work *w);		/* after that */

/* Takes the request over and suspends its connection. NULL: make the page yourself. */
struct job *work_hand(struct work *w, const struct request *q, page_fn *page);
/* The request as the page left it; frees the job. */
void work_take(struct work *w, struct job *job, struct request *out);
void work_drop(struct job *job);	/* nobody wants the answer any more */

#endif
