/*
 * Threads for slow pages: see the header.
 */
#include "agent/http/worker_pool.h"

#include <errno.h>

#define THREADS 4

struct job {
	struct request q;
	page_fn *page;
	struct job *next;
};

struct work {
	pthread_mutex_t lock;		/* guards all below */
	pthread_cond_t wake;
	struct job *first, **last;	/* that wait */
	bool ended;
	pthread_t threads[THREADS];
	size_t n_threads;
};

static struct job *next_job(struct work *w, bool *ended)
{
	struct job *job;

	pthread_mutex_lock(&w->lock);
	while (!w->first && !w->ended)
		pthread_cond_wait(&w->wake, &w->lock);
	job = w->first;
	if (job) {
		w->first = job->next;
		if (!w->first)
			w->last = &w->first;
	}
	*ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void *run(void *arg)
{
	struct work *w = arg;
	struct job *job;
	bool ended;

	while ((job = next_job(w, &ended))) {
		struct MHD_Connection *connection = job->q.connection;

		if (ended)
			request_fail(&job->q, 503, "the agent is being stopped");
		else
			job->page(&job->q);
		pthread_mutex_lock(&w->lock);	/* what was written is seen by the one who takes it */
		pthread_mutex_unlock(&w->lock);
		MHD_resume_connection(connection);
	}
	return NULL;
}

int work_new(struct work **out)
{
	struct work *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	while (w->n_threads < THREADS &&
	       pthread_create(&w->threads[w->n_threads], NULL, run, w) == 0)
		w->n_threads++;
	*out = w;			/* with fewer threads, or none, it is slower */
	return 0;
}

void work_end(struct work *w)
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

void work_free(struct work *w)
{
	if (!w)
		return;
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

struct job *work_hand(struct work *w, const struct request *q, page_fn *page)
{
	struct job *job = calloc(1, sizeof(*job));

	pthread_mutex_lock(&w->lock);
	if (!job || w->ended || w->n_threads == 0) {
		pthread_mutex_unlock(&w->lock);
		free(job);
		return NULL;
	}
	job->q = *q;
	job->page = page;
	MHD_suspend_connection(q->connection);
	*w->last = job;
	w->last = &job->next;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	return job;
}

void work_take(struct work *w, struct job *job, struct request *out)
{
	pthread_mutex_lock(&w->lock);
	*out = job->q;
	pthread_mutex_unlock(&w->lock);
	free(job);
}

void work_drop(struct job *job)
{
	if (!job)
		return;
	if (job->q.response)
		MHD_destroy_response(job->q.response);
	buf_done(&job->q.out);
	free(job);
}
