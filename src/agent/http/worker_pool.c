/*
 * A pool of threads for slow pages.
 */
#include "agent/http/worker_pool.h"

#include <errno.h>

#define THREADS 4

struct http_job {
	struct request q;
	page_fn *page;
	struct http_job *next;
};

struct worker_pool {
	pthread_mutex_t lock;		/* guards the members below */
	pthread_cond_t wake;
	struct http_job *first, **last;	/* waiting jobs */
	bool ended;
	pthread_t threads[THREADS];
	size_t n_threads;
};

static struct http_job *next_job(struct worker_pool *w, bool *ended)
{
	struct http_job *http_job;

	pthread_mutex_lock(&w->lock);
	while (!w->first && !w->ended)
		pthread_cond_wait(&w->wake, &w->lock);
	http_job = w->first;
	if (http_job) {
		w->first = http_job->next;
		if (!w->first)
			w->last = &w->first;
	}
	*ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	return http_job;
}

static void *worker_thread(void *arg)
{
	struct worker_pool *w = arg;
	struct http_job *http_job;
	bool ended;

	while ((http_job = next_job(w, &ended))) {
		struct MHD_Connection *connection = http_job->q.connection;

		if (ended)
			request_fail(&http_job->q, 503, "the agent is stopping");
		else
			http_job->page(&http_job->q);
		pthread_mutex_lock(&w->lock);	/* memory barrier for the thread that takes the job */
		pthread_mutex_unlock(&w->lock);
		MHD_resume_connection(connection);
	}
	return NULL;
}

int worker_pool_new(struct worker_pool **out)
{
	struct worker_pool *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	while (w->n_threads < THREADS &&
	       pthread_create(&w->threads[w->n_threads], NULL, worker_thread, w) == 0)
		w->n_threads++;
	*out = w;			/* fewer threads, or none, only make it slower */
	return 0;
}

void worker_pool_end(struct worker_pool *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < w->n_threads; i++)
		pthread_join(w->threads[i], NULL);
	w->n_threads = 0;
}

void worker_pool_free(struct worker_pool *w)
{
	if (!w)
		return;
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

struct http_job *worker_pool_submit(struct worker_pool *w, const struct request *q, page_fn *page)
{
	struct http_job *http_job = calloc(1, sizeof(*http_job));

	pthread_mutex_lock(&w->lock);
	if (!http_job || w->ended || w->n_threads == 0) {
		pthread_mutex_unlock(&w->lock);
		free(http_job);
		return NULL;
	}
	http_job->q = *q;
	http_job->page = page;
	MHD_suspend_connection(q->connection);
	*w->last = http_job;
	w->last = &http_job->next;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	return http_job;
}

void worker_pool_take(struct worker_pool *w, struct http_job *http_job, struct request *out)
{
	pthread_mutex_lock(&w->lock);
	*out = http_job->q;
	pthread_mutex_unlock(&w->lock);
	free(http_job);
}

void worker_pool_drop(struct http_job *http_job)
{
	if (!http_job)
		return;
	if (http_job->q.response)
		MHD_destroy_response(http_job->q.response);
	buf_done(&http_job->q.out);
	free(http_job);
}
