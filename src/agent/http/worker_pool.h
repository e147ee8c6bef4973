/*
 * Slow pages (ranges, flame graphs, recordings) are made by a pool of threads, so that the server's
 * own threads remain available for scrapes, live data and other requests. The connection is
 * suspended while its page is made.
 *
 *	request --submit--> (suspended) --page--> (resumed) --take--> answer
 */
#ifndef AGENT_HTTP_WORKER_POOL_H
#define AGENT_HTTP_WORKER_POOL_H

#include "agent/http/request.h"

struct worker_pool;
struct http_job;

int worker_pool_new(struct worker_pool **out);
/* Refuses new and waiting jobs, and waits for running ones. To be called before the daemons stop. */
void worker_pool_end(struct worker_pool *w);
void worker_pool_free(struct worker_pool *w);		/* after the daemons have stopped */

/* Submits the request and suspends its connection. NULL: the caller has to make the page. */
struct http_job *worker_pool_submit(struct worker_pool *w, const struct request *q, page_fn *page);
/* Moves the finished request to *out and frees the job. */
void worker_pool_take(struct worker_pool *w, struct http_job *http_job, struct request *out);
void worker_pool_drop(struct http_job *http_job);	/* the client has disconnected */

#endif
