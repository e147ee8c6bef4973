/*
 * The number of forks from the first caller to the calling process; see fork_generation.h.
 */
#include "base/fork_generation.h"

#include <pthread.h>

static unsigned generation;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
	generation++;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

unsigned fork_generation(void)
{
	pthread_once(&once, watch_forks);
	return generation;
}
