/*
 * top --jit: a thread that asks JVMs for the functions that they have compiled, again and again, and fetches the maps of
 * containers. Symbols are resolved live, so a name appears at the next refresh after the map was written.
 */
#include "cli/top/top.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#define INTERVAL_MS 5000

struct top_jit {
	const struct record_plan *plan;
	pthread_t thread;
	int stop_fd;
};

static void *ask_repeatedly(void *arg)
{
	const struct top_jit *j = arg;
	struct pollfd stop = { .fd = j->stop_fd, .events = POLLIN };

	do {
		record_jit_ask(j->plan, true);
		record_jit_fetch(j->plan, 0);
	} while (poll(&stop, 1, INTERVAL_MS) == 0);
	return NULL;
}

int top_jit_start(struct top_jit **out, const struct record_plan *plan)
{
	struct top_jit *j = calloc(1, sizeof(*j));
	sigset_t all, before;
	int err;

	if (!j)
		return -ENOMEM;
	*j = (struct top_jit){ .plan = plan, .stop_fd = eventfd(0, EFD_CLOEXEC) };
	sigfillset(&all);		/* signals are for the main thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = j->stop_fd < 0 ? errno : pthread_create(&j->thread, NULL, ask_repeatedly, j);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		if (j->stop_fd >= 0)
			close(j->stop_fd);
		free(j);
		return -err;
	}
	*out = j;
	return 0;
}

void top_jit_stop(struct top_jit *j)
{
	const uint64_t one = 1;

	if (!j)
		return;
	(void)!write(j->stop_fd, &one, sizeof(one));
	pthread_join(j->thread, NULL);
	close(j->stop_fd);
	free(j);
}
