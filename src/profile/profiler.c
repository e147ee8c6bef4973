/*
 * Samples this program, or another process, into a perf.data in memory, and loads that as a profile.
 *
 * The samples are drained by a thread of the profiler. It exists before the events are opened, so that its id can be
 * left out of the threads to sample.
 */
#include <tacho/profiler.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <tacho/recorder.h>

#include "base/fork_generation.h"
#include "base/num.h"
#include "base/sized_opts.h"
#include "base/vec.h"

#define DEFAULT_FREQ 999
#define DEFAULT_BYTES (256ull << 20)
#define DRAIN_MS 100

struct tacho_profiler {
	struct tacho_recorder *recorder;
	struct tacho_profiler_opts opts;
	unsigned generation;		/* fork_generation() of the process that started it */
	pthread_t thread;
	bool has_thread;
	sem_t ready, go;		/* the thread has its id; the recorder is set up */
	pid_t thread_id;
	bool drains;			/* set before `go`: there is something to drain */
	int stop_fd;			/* readable: the thread shall end */
	int err;			/* of the thread, valid after it has ended */
	struct tacho_error why;
};

static void *drain_until_stop(void *arg)
{
	struct tacho_profiler *p = arg;
	struct tacho_sampler *sampler = tacho_recorder_sampler(p->recorder);
	struct pollfd fds[2] = { { .fd = p->stop_fd, .events = POLLIN } };
	int64_t got = 0;

	p->thread_id = gettid();
	sem_post(&p->ready);
	while (sem_wait(&p->go) < 0 && errno == EINTR)
		;
	fds[1] = (struct pollfd){ .fd = tacho_sampler_fd(sampler), .events = POLLIN };
	while (p->drains && got >= 0 && !(fds[0].revents & POLLIN)) {
		if (poll(fds, 2, DRAIN_MS) < 0 && errno != EINTR)
			got = -errno;
		tacho_sampler_look(sampler);
		if (got >= 0)
			got = tacho_recorder_drain(p->recorder, &p->why);
	}
	p->err = got < 0 ? (int)got : 0;
	return NULL;
}

/* Starts the thread with all signals blocked: they are the program's. */
static int start_thread(struct tacho_profiler *p)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&p->thread, NULL, drain_until_stop, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	p->has_thread = true;
	while (sem_wait(&p->ready) < 0 && errno == EINTR)
		;
	return 0;
}

static void end_thread(struct tacho_profiler *p)
{
	if (!p->has_thread)
		return;
	if (!p->drains)
		sem_post(&p->go);
	eventfd_write(p->stop_fd, 1);
	pthread_join(p->thread, NULL);
	p->has_thread = false;
}

static void free_profiler(struct tacho_profiler *p)
{
	bool ours = p->generation == fork_generation();

	if (ours)
		end_thread(p);
	tacho_recorder_free(p->recorder);
	if (p->stop_fd >= 0)
		close(p->stop_fd);
	sem_destroy(&p->ready);
	sem_destroy(&p->go);
	free(p);
}

/* The threads of this process, except the profiler's. */
struct sampled_threads {
	int *v;
	size_t n, cap;
};

static int list_threads(const struct tacho_profiler *p, struct sampled_threads *out)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return -errno;
	while (err == 0 && (entry = readdir(dir))) {
		int tid, *slot;

		if (num_int(str_of(entry->d_name), &tid) < 0 || tid == p->thread_id)
			continue;
		slot = vec_add(out);
		if (slot)
			*slot = tid;
		else
			err = -ENOMEM;
	}
	closedir(dir);
	return err;
}

static int open_events(struct tacho_profiler *p, struct tacho_error *e)
{
	struct tacho_sampler *sampler = tacho_recorder_sampler(p->recorder);
	struct tacho_evset_opts target = { .size = sizeof(target), .all_user = p->opts.user_only };
	const struct tacho_sampler_opts opts = {
		.size = sizeof(opts), .target = &target, .freq = p->opts.freq ? p->opts.freq : DEFAULT_FREQ, .chain = TACHO_CHAIN_AUTO,
		.fields = TACHO_FIELD_CPU | TACHO_FIELD_PERIOD,
		.unwound_here = true,
	};
	struct sampled_threads threads = { 0 };
	int err = p->opts.pid ? 0 : list_threads(p, &threads);

	if (err < 0)
		error_set(e, err, "cannot list the threads of this process: %s", strerror(-err));
	if (err == 0 && p->opts.events)
		err = tacho_sampler_add(sampler, p->opts.events, e);
	if (p->opts.pid) {
		target.pids = &p->opts.pid;
		target.n_pids = 1;
	} else {
		target.tids = threads.v;
		target.n_tids = threads.n;
	}
	if (err >= 0)
		err = tacho_sampler_open(sampler, &opts, e);
	vec_done(&threads);
	return err < 0 ? err : 0;
}

static int begin(struct tacho_profiler *p, struct tacho_error *e)
{
	struct tacho_sampler *sampler = tacho_recorder_sampler(p->recorder);
	int err = open_events(p, e);

	if (err == 0)
		err = tacho_recorder_begin(p->recorder, TACHO_OPTS(tacho_recorder_output, .events_only = true,
					   .max_file_bytes = p->opts.max_bytes ? p->opts.max_bytes : DEFAULT_BYTES), e);
	if (err == 0)
		err = tacho_recorder_synthesize(p->recorder, TACHO_SYNTH_KERNEL | TACHO_SYNTH_TASK | TACHO_SYNTH_MMAP, e);
	if (err == 0)
		err = tacho_sampler_start(sampler);
	return err;
}

int tacho_profiler_start(struct tacho_profiler **out, struct tacho *t, const struct tacho_profiler_opts *opts,
			 struct tacho_error *e)
{
	struct tacho_profiler *p;
	int err;

	if (!out || !t)
		return error_set(e, -EINVAL, "a profiler needs a context and a place for its result");
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem(e);
	p->generation = fork_generation();
	sem_init(&p->ready, 0, 0);
	sem_init(&p->go, 0, 0);
	p->stop_fd = eventfd(0, EFD_CLOEXEC);
	err = opts_copy(&p->opts, sizeof(p->opts), opts, e);
	if (err == 0 && p->stop_fd < 0)
		err = error_set(e, -errno, "cannot create an eventfd: %s", strerror(errno));
	if (err == 0 && tacho_recorder_new(&p->recorder, t) < 0)
		err = error_nomem(e);
	if (err == 0 && (err = start_thread(p)) < 0)
		error_set(e, err, "cannot start a thread: %s", strerror(-err));
	if (err == 0)
		err = begin(p, e);
	if (err < 0) {
		free_profiler(p);
		return err;
	}
	p->drains = true;
	sem_post(&p->go);
	*out = p;
	return 0;
}

/* Loads the finished recording. */
static int load_profile(struct tacho_profiler *p, struct tacho_profile **out, struct tacho_error *e)
{
	struct tacho_perfdata *pd = NULL;
	struct tacho_profile *profile;
	char path[40];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", tacho_recorder_memory_fd(p->recorder));
	err = tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true, .force = true), e);
	if (err < 0)
		return err;
	err = tacho_profile_new(&profile, p->opts.profile, e);
	if (err == 0) {
		err = tacho_profile_load(profile, pd, NULL, e);
		if (err < 0)
			tacho_profile_free(profile);
		else
			*out = profile;
	}
	tacho_perfdata_close(pd);
	return err < 0 ? err : 0;
}

static int finish(struct tacho_profiler *p, struct tacho_profile **out, struct tacho_error *e)
{
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };
	int err;

	end_thread(p);
	err = p->err;
	if (err < 0 && e)
		*e = p->why;
	if (err == 0)
		err = tacho_recorder_stop(p->recorder, false, e);
	if (err == 0)
		err = tacho_recorder_finish(p->recorder, e);
	if (err == 0)
		err = load_profile(p, out, e);
	if (err == 0 && tacho_recorder_stats(p->recorder, &stats) == 0 && stats.is_full)
		err = error_set(e, -EFBIG, "the samples reached the limit of %llu bytes",
				(unsigned long long)(p->opts.max_bytes ? p->opts.max_bytes : DEFAULT_BYTES));
	return err;
}

int tacho_profiler_stop(struct tacho_profiler *p, struct tacho_profile **out, struct tacho_error *e)
{
	int err;

	if (!p || !out)
		return error_set(e, -EINVAL, "there is no profiler to stop (NULL)");
	if (p->generation == fork_generation())
		err = finish(p, out, e);
	else
		err = error_set(e, -EPERM, "the profiler was started by the parent process");
	free_profiler(p);
	return err;
}
