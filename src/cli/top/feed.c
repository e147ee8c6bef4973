/*
 * The thread that reads the ring buffers. Records are loaded as small perf.data files in memory into the profile of the
 * current window, at the latest when they exceed a limit, so that symbols are resolved while the processes run and
 * memory is bounded. A window is handed over when it is due and the one before was taken; else it goes on.
 */
#include "cli/top/top.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/events/list_option.h"

#include <tacho/system.h>

#define SECOND 1000000000ull
#define FIRST_WINDOW_NS SECOND		/* the first window comes no later */
#define SAMPLES_BYTES_MAX (4u << 20)	/* more records are loaded before the window is due */
#define SYMBOL_BYTES_MAX (32u << 20)
#define TRIM_EVERY_WINDOWS 15		/* freed memory is returned to the kernel after so many windows */
#define WINDOW_ROWS_MAX 1000000u	/* a window that is not taken is dropped when it has more rows */
#define STACK_BYTES 16384u		/* copied into each sample, to unwind it */
#define RING_PAGES 256u
#define RING_PAGES_MAX 2048u
/* Without a PMU, samples by time; modifier I: not on idle CPUs. */
#define CLOCK_EVENT "cpu-clock/name=cpu-clock/I"

struct top_feed {
	const struct top_opts *o;
	struct record_plan plan;
	struct tacho *tacho;
	struct top_jit *jit;		/* --jit; else NULL */
	struct tacho_recorder *recorder;
	struct tacho_sampler *sampler;	/* the recorder's */
	char target[160];
	char notes[400];
	pthread_t thread;
	bool has_thread;
	bool bad_usage;			/* the events of the command line are wrong */
	int ready_fd, wake_fd;
	_Atomic bool stop, enabled;
	/* used by the thread only */
	struct top_live settings;	/* options of the profiles */
	struct tacho_symbols *symbols;
	int samples_fd;
	struct buf samples_buf;
	struct top_window window;
	bool is_enabled;
	unsigned n_windows;		/* handed over so far */
	uint64_t from_ns, own_ns;	/* when the window began; the process's CPU time then */
	struct tacho_sampler_stats before;
	/* protected by the lock */
	pthread_mutex_t lock;
	struct top_window ready;
	bool has_ready, ended;
	char why[400];
};

void top_window_done(struct top_window *w)
{
	tacho_profile_free(take(w->profile));
	tacho_profile_free(take(w->addresses));
}

static uint64_t own_cpu_ns(void)
{
	return (uint64_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- loading ---- */

static int put_bytes(void *arg, const void *bytes, size_t n)
{
	struct buf *b = arg;

	buf_put(b, bytes, n);
	return buf_failed(b) ? -ENOMEM : 0;
}

static int new_window(struct top_feed *f, struct tacho_error *e)
{
	int err = tacho_profile_new(&f->window.profile, &f->settings.opts, e);

	if (err == 0)
		err = tacho_profile_new(&f->window.addresses, &f->settings.address_opts, e);
	f->from_ns = clock_mono_ns();
	f->own_ns = own_cpu_ns();
	return err;
}

/* Writes the records as a perf.data file in memory. */
static int write_samples(struct top_feed *f, struct tacho_error *e)
{
	const struct tacho_recorder_output out = { .size = sizeof(out), .fd = f->samples_fd, .events_only = true,
						   .raw_stacks = true };	/* unwound when they are loaded */
	int err, end;

	if (ftruncate(f->samples_fd, 0) < 0 || lseek(f->samples_fd, 0, SEEK_SET) < 0)
		return error_set(e, -errno, "cannot reset the memory for samples: %s", strerror(errno));
	err = tacho_recorder_begin(f->recorder, &out, e);
	if (err < 0)
		return err;
	err = tacho_recorder_write(f->recorder, f->samples_buf.bytes, f->samples_buf.n);
	if (err < 0)
		error_set(e, err, "cannot write the samples to memory: %s", strerror(-err));
	end = tacho_recorder_finish(f->recorder, err < 0 ? NULL : e);
	return err < 0 ? err : end;
}

static int load_file(struct top_feed *f, struct tacho_profile *to, struct tacho_error *e)
{
	const struct tacho_perfdata_opts opts = { .size = sizeof(opts), .ordered = true, .force = true };
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	char path[40];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->samples_fd);
	err = tacho_perfdata_open(&pd, path, &opts, e);
	return err < 0 ? err : tacho_profile_load_next(to, pd, f->symbols, e);
}

static int load_samples(struct top_feed *f, struct tacho_error *e)
{
	int err;

	if (buf_failed(&f->samples_buf)) {
		buf_done(&f->samples_buf);
		return error_nomem(e);
	}
	if (!f->samples_buf.n)
		return 0;
	err = write_samples(f, e);
	buf_clear(&f->samples_buf);
	if (err == 0)
		err = load_file(f, f->window.profile, e);
	if (err == 0)
		err = load_file(f, f->window.addresses, e);
	return err;
}

/* Drains the ring buffers, and loads the records if the window is due or if there are many. */
static int drain(struct top_feed *f, bool due, struct tacho_error *e)
{
	int64_t got = tacho_sampler_drain(f->sampler, put_bytes, &f->samples_buf);

	if (got < 0 && got != -ENOMEM)
		return error_set(e, (int)got, "cannot read the ring buffers: %s", strerror((int)-got));
	return due || f->samples_buf.n > SAMPLES_BYTES_MAX ? load_samples(f, e) : 0;
}

/* ---- handing over ---- */

static void measure_window(struct top_feed *f)
{
	struct tacho_sampler_stats now = { .size = sizeof(now) };
	struct top_window *w = &f->window;

	tacho_sampler_stats(f->sampler, SIZE_MAX, &now);
	w->seconds = (double)(clock_mono_ns() - f->from_ns) / 1e9;
	w->own_cpu = w->seconds > 0 ? (double)(own_cpu_ns() - f->own_ns) / 1e7 / w->seconds : 0;
	w->samples = now.samples - f->before.samples;
	w->lost = now.lost - f->before.lost;
	w->throttled = now.throttled - f->before.throttled;
}

/* Hands the window over, unless the one before was not taken yet. */
static int publish(struct top_feed *f, struct tacho_error *e)
{
	const uint64_t one = 1;
	bool is_free;

	measure_window(f);
	pthread_mutex_lock(&f->lock);
	is_free = !f->has_ready;
	if (is_free) {
		f->ready = f->window;
		f->has_ready = true;
	}
	pthread_mutex_unlock(&f->lock);
	if (!is_free && tacho_profile_n_rows(f->window.profile) < WINDOW_ROWS_MAX)
		return 0;
	if (is_free)
		f->window = (struct top_window){ 0 };
	else
		top_window_done(&f->window);
	f->before = (struct tacho_sampler_stats){ .size = sizeof(f->before) };
	tacho_sampler_stats(f->sampler, SIZE_MAX, &f->before);
	(void)!write(f->ready_fd, &one, sizeof(one));
	tacho_symbols_prune(f->symbols, SYMBOL_BYTES_MAX);
	if (++f->n_windows % TRIM_EVERY_WINDOWS == 0)
		malloc_trim(0);
	return new_window(f, e);
}

static void end(struct top_feed *f, const char *why)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&f->lock);
	f->ended = true;
	snprintf(f->why, sizeof(f->why), "%.399s", why);
	pthread_mutex_unlock(&f->lock);
	(void)!write(f->ready_fd, &one, sizeof(one));
}

/* ---- the thread ---- */

/* Returns true if all processes have ended. */
static bool wait_for_more(struct top_feed *f, uint64_t until_ns)
{
	struct pollfd fds[] = { { .fd = f->wake_fd, .events = POLLIN },
				{ .fd = tacho_sampler_fd(f->sampler), .events = POLLIN } };
	uint64_t now = clock_mono_ns(), drained;
	int ms = now < until_ns ? (int)min_of((until_ns - now) / 1000000 + 1, (uint64_t)60000) : 0;

	if (poll(fds, countof(fds), ms) <= 0)
		return false;
	if (fds[0].revents)
		(void)!read(f->wake_fd, &drained, sizeof(drained));
	return fds[1].revents && tacho_sampler_look(f->sampler) == 1;
}

static void follow_enabled(struct top_feed *f)
{
	bool on = f->enabled;

	if (on == f->is_enabled)
		return;
	f->is_enabled = on;
	if (on)
		tacho_sampler_start(f->sampler);
	else
		tacho_sampler_stop(f->sampler);
}

static void *feed_thread(void *arg)
{
	struct top_feed *f = arg;
	uint64_t delay = (uint64_t)(f->o->delay_s * 1e9), next = clock_mono_ns() + min_of(delay, FIRST_WINDOW_NS);
	struct tacho_error e = { .column = -1 };
	bool over = false;
	int err = 0;

	pthread_setname_np(pthread_self(), "top-feed");
	while (!f->stop && !over && err == 0) {
		bool due;

		over = wait_for_more(f, next);
		follow_enabled(f);
		due = over || clock_mono_ns() >= next;
		err = drain(f, due, &e);
		if (err == 0 && due) {
			next = clock_mono_ns() + delay;
			err = publish(f, &e);
		}
	}
	if (err < 0 || over)
		end(f, err < 0 ? e.message : "the processes have ended");
	return NULL;
}

/* ---- opening ---- */

static uint32_t ring_pages(const struct tacho_sampler_opts *s)
{
	uint64_t bytes = (s->freq ? s->freq : 4000) *
			 (s->chain == TACHO_CHAIN_AUTO || s->chain == TACHO_CHAIN_DWARF ? STACK_BYTES + 512 : 64);
	uint32_t pages = RING_PAGES;

	while (pages < RING_PAGES_MAX && pages * 4096ull < bytes)
		pages *= 2;
	return pages;
}

static void plan_sampler(struct top_feed *f)
{
	struct tacho_sampler_opts *s = &f->plan.sampler;

	s->fields |= TACHO_FIELD_CPU | TACHO_FIELD_PERIOD;
	s->use_clockid = true;
	s->clockid = CLOCK_MONOTONIC;
	s->no_build_ids = true;
	s->unwound_here = true;
	if (!s->stack_bytes && s->chain == TACHO_CHAIN_AUTO)
		s->stack_bytes = STACK_BYTES;
	if (!s->ring_pages)
		s->ring_pages = ring_pages(s);
}

static void free_recorder(struct top_feed *f)
{
	tacho_recorder_free(take(f->recorder));
	f->sampler = NULL;
}

/* Opens the events of the command line, or `event`. Returns the number of events or a negative errno, with a message. */
static int open_events(struct top_feed *f, const char *event)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_recorder_new(&f->recorder, f->tacho);

	if (err == 0)
		f->sampler = tacho_recorder_sampler(f->recorder);
	if (err == 0 && event)
		err = tacho_sampler_add(f->sampler, event, &e);
	else if (err == 0)
		err = record_add_events(&f->o->rec, f->sampler);
	f->bad_usage = err < 0 && err != -ENOMEM && !event;
	if (err < 0)
		return err;
	err = tacho_sampler_open(f->sampler, &f->plan.sampler, &e);
	if (err == 0)
		err = error_set(&e, -ENODEV, "no event could be opened");
	if (err < 0)
		message_error("top", NULL, NULL, &e);
	return err;
}

static void collect_notes(struct top_feed *f)
{
	scoped(buf_done) struct buf text = { 0 };
	size_t n;
	const struct tacho_note *notes = tacho_sampler_notes(f->sampler, &n);

	for (size_t i = 0; i < tacho_sampler_size(f->sampler); i++) {
		const char *why = NULL;

		if (tacho_sampler_attr(f->sampler, i, &(char){ 0 }, 1, &why) == -ENODEV)
			buf_printf(&text, "%s%s is not sampled: %s", text.n ? "; " : "",
				   tacho_sampler_event(f->sampler, i)->name, why ? why : "it could not be opened");
	}
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%s%s", text.n ? "; " : "", notes[i].text);
	snprintf(f->notes, sizeof(f->notes), "%s", buf_failed(&text) || !text.n ? "" : text.bytes);
}

static void describe_target(struct top_feed *f)
{
	const struct record_opts *r = &f->o->rec;
	char cpus[128] = "";
	unsigned n = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);

	if (r->cpus)
		snprintf(cpus, sizeof(cpus), ", CPU %.100s", r->cpus);
	if (r->pids || r->tids)
		snprintf(f->target, sizeof(f->target), "%s: %.80s%.60s", r->pids ? "PID" : "TID", r->pids ? r->pids : r->tids, cpus);
	else if (r->user)
		snprintf(f->target, sizeof(f->target), "user %.80s%.60s", r->user, cpus);
	else if (r->cpus)
		snprintf(f->target, sizeof(f->target), "all%s", cpus);
	else
		snprintf(f->target, sizeof(f->target), "all, %u CPU%s", n, n == 1 ? "" : "s");
}

static int open_sampler(struct top_feed *f)
{
	bool given = event_args_have(&f->o->rec.event_args, EVENT_ARG_EVENTS);
	int err = open_events(f, NULL);

	if (err > 0 && !given && strncmp(tacho_sampler_event(f->sampler, 0)->name, "cpu-clock", 9) == 0) {
		free_recorder(f);
		err = open_events(f, CLOCK_EVENT);
	}
	if (err < 0)
		return err;
	collect_notes(f);
	describe_target(f);
	return 0;
}

static int start_sampling(struct top_feed *f, struct tacho_error *e)
{
	const struct report_opts *r = &f->o->rep;
	const struct tacho_symbols_opts symbols = {
		.size = sizeof(symbols), .live = true, .vmlinux = r->vmlinux, .kallsyms = r->kallsyms,
		.no_demangle = r->no_demangle, .force = r->force,
	};
	int err = tacho_symbols_new(&f->symbols, &symbols, e);

	if (err == 0)
		err = new_window(f, e);
	if (err == 0)
		err = tacho_sampler_synthesize(f->sampler, TACHO_SYNTH_ALL, put_bytes, &f->samples_buf, e);
	if (err == 0)
		err = load_samples(f, e);
	f->before.size = sizeof(f->before);
	f->from_ns = clock_mono_ns();
	f->own_ns = own_cpu_ns();
	f->enabled = f->is_enabled = true;
	if (err == 0)
		err = tacho_sampler_start(f->sampler);
	if (err < 0 && !e->message[0])
		error_set(e, err, "cannot start sampling: %s", strerror(-err));
	return err;
}

static int raise_priority(const struct top_feed *f)
{
	const struct sched_param param = { .sched_priority = (int)f->o->rec.realtime };

	if (!f->o->rec.realtime || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	message_text("top", "cannot set priority -r %u: %s; it needs CAP_SYS_NICE or a higher ulimit -r",
		     f->o->rec.realtime, strerror(errno));
	return -EPERM;
}

/* Signals are for the main thread. */
static int start_thread(struct top_feed *f)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&f->thread, NULL, feed_thread, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	f->has_thread = err == 0;
	return -err;
}

static int start(struct top_feed *f)
{
	struct tacho_error e = { .column = -1 };
	int err = raise_priority(f);

	if (err < 0)
		return err;
	err = open_sampler(f);
	if (err < 0)
		return err;
	err = start_sampling(f, &e);
	if (err == 0) {
		err = start_thread(f);
		if (err == 0 && f->o->rec.jit)
			err = top_jit_start(&f->jit, &f->plan);
		if (err < 0)
			error_set(&e, err, "cannot start a thread: %s", strerror(-err));
	}
	if (err < 0)
		message_error("top", NULL, NULL, &e);
	return err;
}

static int prepare(struct top_feed *f)
{
	struct tacho_error e = { .column = -1 };
	int err = top_live_init(&f->settings, f->o, &e);

	if (err == 0)
		err = tacho_open(&f->tacho, NULL, &e);
	f->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->samples_fd = memfd_create("tacho-samples", MFD_CLOEXEC);
	if (err == 0 && (f->ready_fd < 0 || f->wake_fd < 0 || f->samples_fd < 0))
		err = error_set(&e, -errno, "cannot open a file descriptor: %s", strerror(errno));
	if (err < 0)
		message_error("top", NULL, NULL, &e);
	else
		err = event_lists_add("top", f->tacho, &f->o->rec.event_lists);
	return err;
}

int top_feed_start(struct top_feed **out, const struct top_opts *o)
{
	struct top_feed *f = calloc(1, sizeof(*f));
	int err, status = EXIT_USAGE;

	if (!f) {
		message_if_out_of_memory("top", -ENOMEM);
		return EXIT_FAILED;
	}
	f->o = o;
	pthread_mutex_init(&f->lock, NULL);
	err = prepare(f);
	if (err == 0)
		err = record_plan_init(&o->rec, false, &f->plan);
	if (err == 0) {
		plan_sampler(f);
		err = start(f);
		status = f->bad_usage ? EXIT_USAGE : EXIT_FAILED;
	}
	if (err < 0) {
		message_if_out_of_memory("top", err);
		top_feed_stop(f);
		return status;
	}
	*out = f;
	return 0;
}

void top_feed_stop(struct top_feed *f)
{
	const uint64_t one = 1;

	if (!f)
		return;
	f->stop = true;
	top_jit_stop(f->jit);
	if (f->has_thread) {
		(void)!write(f->wake_fd, &one, sizeof(one));
		pthread_join(f->thread, NULL);
	}
	free_recorder(f);
	tacho_symbols_free(f->symbols);
	top_window_done(&f->window);
	top_window_done(&f->ready);
	buf_done(&f->samples_buf);
	record_plan_done(&f->plan);
	tacho_close(f->tacho);
	if (f->ready_fd > 0)
		close(f->ready_fd);
	if (f->wake_fd > 0)
		close(f->wake_fd);
	if (f->samples_fd > 0)
		close(f->samples_fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* ---- for the main thread ---- */

int top_feed_fd(const struct top_feed *f)
{
	return f->ready_fd;
}

bool top_feed_take(struct top_feed *f, struct top_window *out)
{
	uint64_t drained;
	bool has;

	(void)!read(f->ready_fd, &drained, sizeof(drained));
	pthread_mutex_lock(&f->lock);
	has = f->has_ready;
	if (has)
		*out = f->ready;
	f->ready = (struct top_window){ 0 };
	f->has_ready = false;
	pthread_mutex_unlock(&f->lock);
	return has;
}

bool top_feed_ended(struct top_feed *f, const char **why)
{
	bool ended;

	pthread_mutex_lock(&f->lock);
	ended = f->ended && !f->has_ready;
	pthread_mutex_unlock(&f->lock);
	if (ended && why)
		*why = f->why;
	return ended;
}

void top_feed_enable(struct top_feed *f, bool on)
{
	const uint64_t one = 1;

	f->enabled = on;
	(void)!write(f->wake_fd, &one, sizeof(one));
}

const char *top_feed_target(const struct top_feed *f)
{
	return f->target;
}

const char *top_feed_notes(const struct top_feed *f)
{
	return f->notes;
}
