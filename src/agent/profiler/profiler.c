/*
 * The continuous profile. One thread drains the rings about each second; what came is a small
 * perf.data in memory, which is loaded at once into the profile of the window with symbols that
 * stay, so that names are found while the processes live:
 *
 *	rings -drain-> piece (memfd) -load_next-> window -pack-> store
 *	                                            '-pprof-> exporters
 *
 * A window that is over is packed and forgotten. What is remembered beside it (maps, objects) is
 * bounded: processes that have ended are pruned with each window, and once there are very many
 * objects all begins anew with what runs then.
 */
#include "agent/profiler/profiler.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/config/compare.h"
#include "agent/profiler/profiler_internal.h"
#include "agent/profiler/machine_sampler.h"
#include "base/clock.h"
#include "base/error.h"

#include <tacho/output.h>
#include <tacho/system.h>

#define SECOND 1000000000ull
#define WINDOW_ROWS 200000u	/* a window with more ends early */
#define OBJECTS_MAX 4096u
#define SYMBOL_BYTES_MAX (24u << 20)
#define PIECE_BYTES_MAX (1u << 20)	/* more is loaded before the second is over */
#define TRIM_WINDOWS 6		/* freed memory goes back to the system that often */
#define RETRY_S 60		/* after sampling had failed */

struct profiler {
	struct agent *agent;
	pthread_t thread;
	int wake_fd;			/* readable: look at what is asked for */
	_Atomic bool stop;
	_Atomic uint64_t want_hz;	/* by the budget; 0: what the configuration says */
	const struct agent_config *held;	/* the configuration that the next one's texts are of */
	struct profile_config config;	/* as it is carried out */
	/* the thread's own */
	struct machine_sampler sampling;
	struct tacho_symbols *symbols;
	int piece_fd;
	struct buf piece;		/* bytes since the last load */
	unsigned n_turns;		/* of the window */
	uint64_t lost_before;		/* of samplers that are closed */
	uint64_t retry_ns;		/* not open: when to try again */
	char online[4096];		/* CPUs, when it was opened */
	/* under the lock */
	pthread_mutex_t lock;
	struct tacho_profile *window;
	int64_t from_ns;		/* it began then; wall clock */
	struct profiler_status status;
};

static void say(const struct profiler *p, enum tacho_log_level level, const char *text)
{
	if (p->agent->log)
		p->agent->log(p->agent->log_arg, level, text);
}

static int put_bytes(void *arg, const void *bytes, size_t n)
{
	struct buf *b = arg;

	buf_put(b, bytes, n);
	return buf_failed(b) ? -ENOMEM : 0;
}

/* From the samples' clock to the wall's. One may be interrupted between two looks at clocks: the closest
 * of some counts. */
static int64_t clock_shift(void)
{
	uint64_t least = UINT64_MAX;
	int64_t shift = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t before = clock_mono_ns(), apart;
		int64_t wall = clock_wall_ns();

		apart = clock_mono_ns() - before;
		if (apart < least) {
			least = apart;
			shift = wall - (int64_t)(before + apart / 2);
		}
	}
	return shift;
}

/* ---- pieces ---- */

static int window_new(struct profiler *p, struct tacho_error *e)
{
	const struct tacho_profile_opts opts = { .size = sizeof(opts), .per_time = true, .per_cpu = true };
	struct tacho_profile *fresh;
	int err = tacho_profile_new(&fresh, &opts, e);

	if (err < 0)
		return err;
	tacho_profile_free(p->window);
	p->window = fresh;
	return 0;
}

/* The bytes as a file that can be loaded. */
static int write_piece(struct profiler *p, struct tacho_error *e)
{
	struct sampling_file f;
	int err;

	if (ftruncate(p->piece_fd, 0) < 0 || lseek(p->piece_fd, 0, SEEK_SET) < 0)
		return error_set(e, -errno, "memory for samples: %s", strerror(errno));
	err = sampling_file_open(&f, p->piece_fd, &p->sampling, e);
	if (err < 0)
		return err;
	err = sampling_file_put(&f, p->piece.bytes, p->piece.n);
	if (err < 0)
		*e = f.error;
	else
		err = sampling_file_finish(&f, &p->sampling, false, e);
	sampling_file_close(&f);
	return err;
}

static int load_piece(struct profiler *p, struct tacho_error *e)
{
	struct tacho_perfdata *pd = NULL;
	int err;

	if (buf_failed(&p->piece)) {
		buf_done(&p->piece);
		return error_nomem(e);
	}
	if (!p->piece.n)
		return 0;
	err = write_piece(p, e);
	buf_clear(&p->piece);
	if (err == 0)
		err = sampling_file_read(p->piece_fd, &pd, e);
	if (!pd)
		return err;
	pthread_mutex_lock(&p->lock);
	err = tacho_profile_load_next(p->window, pd, p->symbols, e);
	pthread_mutex_unlock(&p->lock);
	tacho_perfdata_close(pd);
	return err;
}

static void count_lost(struct profiler *p)
{
	struct tacho_sampler_stats st = { .size = sizeof(st) };

	tacho_sampler_stats(p->sampling.sampler, SIZE_MAX, &st);
	pthread_mutex_lock(&p->lock);
	p->status.lost = p->lost_before + st.lost;
	pthread_mutex_unlock(&p->lock);
	p->agent->stats.samples_lost = p->lost_before + st.lost;
}

/* Takes what the rings hold; makes something of it when it is `due`. */
static int drain(struct profiler *p, bool due, struct tacho_error *e)
{
	int64_t got = tacho_sampler_drain(p->sampling.sampler, put_bytes, &p->piece);

	if (got < 0 && got != -ENOMEM)
		return error_set(e, (int)got, "the rings cannot be read: %s", strerror((int)-got));
	count_lost(p);
	return due || p->piece.n > PIECE_BYTES_MAX ? load_piece(p, e) : 0;
}

/* ---- windows ---- */

static bool takes_profiles(const struct agent_config *cfg)
{
	for (size_t i = 0; i < cfg->n_exports; i++)
		if (cfg->exports[i].type && cfg->exports[i].type->send_profile)
			return true;
	return false;
}

/* Asked before our own lock is taken: a reload holds the configuration's while it waits for the
 * collector, which may wait for ours. */
static bool export_wanted(struct profiler *p)
{
	bool wanted;

	pthread_rwlock_rdlock(&p->agent->config_lock);
	wanted = p->agent->exporters && takes_profiles(p->agent->config);
	pthread_rwlock_unlock(&p->agent->config_lock);
	return wanted;
}

static void export_window(struct profiler *p, uint64_t samples, int64_t to_ns)
{
	scoped(buf_done) struct buf out = { 0 };

	if (tacho_output_write(tacho_format_find("pprof"), p->window, NULL, put_bytes, &out, NULL) == 0)
		exporters_take_profile(p->agent->exporters, buf_view(&out), samples, p->from_ns, to_ns);
}

static void store_window(struct profiler *p, uint64_t samples, int64_t to_ns)
{
	scoped(buf_done) struct buf blob = { 0 };
	const struct tacho_pack_opts opts = { .size = sizeof(opts), .shift_ns = clock_shift() };
	struct tacho_error e = { .column = -1 };
	int err = tacho_profile_pack(p->window, &opts, put_bytes, &blob, &e);

	if (err == 0)
		err = store_profile_put(p->agent->store, p->from_ns, to_ns, samples, buf_view(&blob));
	if (err < 0)
		say(p, TACHO_LOG_WARN, e.message[0] ? e.message : "a profile could not be stored");
}

static uint64_t samples_of(const struct tacho_profile *window)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };

	tacho_profile_quality(window, &q);
	return q.samples;
}

/* Ends the window and begins the next. */
static void turn_window(struct profiler *p)
{
	int64_t now = clock_wall_ns();
	bool exported = export_wanted(p);
	uint64_t samples;

	pthread_mutex_lock(&p->lock);
	now = now > p->from_ns ? now : p->from_ns + 1;	/* the clock was set back */
	samples = samples_of(p->window);
	if (samples) {
		if (p->agent->store)
			store_window(p, samples, now);
		if (exported)
			export_window(p, samples, now);
		p->status.windows++;
		p->status.samples += samples;
		p->agent->stats.profiles++;
	}
	if (!samples || window_new(p, NULL) == 0)
		p->from_ns = now;
	pthread_mutex_unlock(&p->lock);
	tacho_symbols_prune(p->symbols, SYMBOL_BYTES_MAX);
	if (++p->n_turns % TRIM_WINDOWS == 0)
		malloc_trim(0);
}

/* ---- on and off ---- */

static int symbols_new(struct profiler *p, struct tacho_error *e)
{
	const struct tacho_symbols_opts opts = { .size = sizeof(opts), .live = true };

	tacho_symbols_free(take(p->symbols));
	return tacho_symbols_new(&p->symbols, &opts, e);
}

/* What runs now. */
static int learn(struct profiler *p, struct tacho_error *e)
{
	return tacho_sampler_synthesize(p->sampling.sampler,
					TACHO_SYNTH_KERNEL | TACHO_SYNTH_TASK | TACHO_SYNTH_MMAP,
					put_bytes, &p->piece, e);
}

static void set_state(struct profiler *p, bool running, const char *why)
{
	pthread_mutex_lock(&p->lock);
	p->status.running = running;
	p->status.frequency = running ? p->config.frequency : 0;
	if (running)
		snprintf(p->status.event, sizeof(p->status.event), "%s", p->sampling.event);
	snprintf(p->status.why, sizeof(p->status.why), "%.255s", why);
	pthread_mutex_unlock(&p->lock);
}

static int open_sampling(struct profiler *p, struct tacho_error *e)
{
	const struct sampling_opts opts = { .event = p->config.event, .frequency = p->config.frequency,
					    .user_only = p->config.kernel_off };
	int err = sampling_open(&p->sampling, &opts, e);

	if (err == 0 && tacho_online_cpus(p->sampling.tacho, p->online, sizeof(p->online)) < 0)
		p->online[0] = '\0';
	if (err == 0)
		err = symbols_new(p, e);
	if (err == 0)
		err = learn(p, e);
	if (err == 0)
		err = tacho_sampler_start(p->sampling.sampler);
	if (err < 0) {
		if (!e->message[0])
			error_set(e, err, "sampling cannot be started: %s", strerror(-err));
		sampling_close(&p->sampling);
		set_state(p, false, e->message);
		return err;
	}
	set_state(p, true, p->sampling.note);
	return 0;
}

static void close_sampling(struct profiler *p, const char *why)
{
	struct tacho_sampler_stats st = { .size = sizeof(st) };
	struct tacho_error e = { .column = -1 };

	if (!p->sampling.sampler)
		return;
	tacho_sampler_stop(p->sampling.sampler);
	drain(p, true, &e);
	tacho_sampler_stats(p->sampling.sampler, SIZE_MAX, &st);
	p->lost_before += st.lost;
	turn_window(p);
	sampling_close(&p->sampling);
	buf_clear(&p->piece);
	set_state(p, false, why);
}

static void fail(struct profiler *p, const struct tacho_error *e)
{
	char text[600];

	snprintf(text, sizeof(text), "the continuous profile pauses for a minute: %s", e->message);
	say(p, TACHO_LOG_WARN, text);
	close_sampling(p, e->message);
	p->retry_ns = clock_mono_ns() + RETRY_S * SECOND;
}

/* Very many objects were met, here and by the sampler: begins anew with those of now. */
static void bound_symbols(struct profiler *p)
{
	if (tacho_symbols_n_objects(p->symbols) >= OBJECTS_MAX)
		close_sampling(p, "");
}

/* Rings of a CPU that went offline stay silent when it is back, and one that is new has none. */
static void follow_cpus(struct profiler *p)
{
	char now[sizeof(p->online)];

	if (p->sampling.sampler && tacho_online_cpus(p->sampling.tacho, now, sizeof(now)) >= 0 &&
	    strcmp(now, p->online) != 0)
		close_sampling(p, "");
}

/* The configuration as it is now, and the budget's word. True: sampling must be opened anew. */
static bool take_config(struct profiler *p)
{
	const struct agent_config *before = p->held;
	struct profile_config now;
	uint64_t hz = p->want_hz;
	bool changed;

	pthread_rwlock_rdlock(&p->agent->config_lock);
	p->held = config_hold(p->agent->config);
	pthread_rwlock_unlock(&p->agent->config_lock);
	now = p->held->profile;
	now.frequency = hz && hz < now.frequency ? hz : now.frequency;
	changed = now.off != p->config.off || now.frequency != p->config.frequency ||
		  now.kernel_off != p->config.kernel_off || !same_text(now.event, p->config.event);
	p->config = now;
	config_free(before);
	return changed;
}

static void follow_config(struct profiler *p)
{
	struct tacho_error e = { .column = -1 };

	if (take_config(p)) {
		close_sampling(p, "");
		p->retry_ns = 0;
	}
	if (p->config.off)
		set_state(p, false, "switched off by profile.enabled");
	else if (!p->sampling.sampler && clock_mono_ns() >= p->retry_ns && open_sampling(p, &e) < 0)
		p->retry_ns = clock_mono_ns() + RETRY_S * SECOND;
}

/* ---- the thread ---- */

static void wait_for_more(struct profiler *p, uint64_t until_ns)
{
	struct pollfd fds[] = { { .fd = p->wake_fd, .events = POLLIN },
				{ .fd = p->sampling.sampler ? tacho_sampler_fd(p->sampling.sampler)
							    : -1,
				  .events = POLLIN } };
	uint64_t now = clock_mono_ns(), drained;
	int ms = now < until_ns ? (int)((until_ns - now) / 1000000 + 1) : 0;

	if (poll(fds, countof(fds), ms) <= 0)
		return;
	if (fds[0].revents)
		(void)!read(p->wake_fd, &drained, sizeof(drained));
	if (fds[1].revents)
		tacho_sampler_look(p->sampling.sampler);
}

static void one_round(struct profiler *p, bool due)
{
	struct tacho_error e = { .column = -1 };

	if (!p->sampling.sampler)
		return;
	if (drain(p, due, &e) < 0) {
		fail(p, &e);
		return;
	}
	if (!due || (clock_wall_ns() - p->from_ns < (int64_t)p->config.window_ns &&
		     clock_wall_ns() >= p->from_ns && tacho_profile_n_rows(p->window) < WINDOW_ROWS))
		return;
	turn_window(p);
	bound_symbols(p);
}

static void *run(void *arg)
{
	struct profiler *p = arg;
	uint64_t next = clock_mono_ns() + SECOND;

	pthread_setname_np(pthread_self(), "profiler");
	while (!p->stop) {
		bool due;

		wait_for_more(p, next);
		due = clock_mono_ns() >= next;
		if (due) {
			next = clock_mono_ns() + SECOND;
			follow_cpus(p);
		}
		follow_config(p);
		one_round(p, due);
	}
	close_sampling(p, "");
	return NULL;
}

/* ---- the face ---- */

static void profiler_free(struct profiler *p)
{
	if (!p)
		return;
	sampling_close(&p->sampling);
	tacho_symbols_free(p->symbols);
	tacho_profile_free(p->window);
	buf_done(&p->piece);
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	if (p->piece_fd >= 0)
		close(p->piece_fd);
	pthread_mutex_destroy(&p->lock);
	config_free(p->held);
	free(p);
}

static int profiler_new(struct profiler **out, struct agent *a, struct tacho_error *e)
{
	struct profiler *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_nomem(e);
	p->agent = a;
	pthread_mutex_init(&p->lock, NULL);
	p->from_ns = clock_wall_ns();
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->piece_fd = memfd_create("tacho-samples", MFD_CLOEXEC);
	err = p->wake_fd < 0 || p->piece_fd < 0 ?
	      error_set(e, -errno, "the profiler cannot be started: %s", strerror(errno)) : window_new(p, e);
	if (err < 0) {
		profiler_free(p);
		return err;
	}
	*out = p;
	return 0;
}

int profiler_start(struct profiler **out, struct agent *a, struct tacho_error *e)
{
	struct profiler *p = NULL;
	int err = profiler_new(&p, a, e);

	if (!p)
		return err;
	take_config(p);
	if (p->config.off)
		set_state(p, false, "switched off by profile.enabled");
	else
		err = open_sampling(p, e);
	if (err == 0) {
		err = -pthread_create(&p->thread, NULL, run, p);
		if (err < 0)
			error_set(e, err, "the profiler's thread cannot be started: %s", strerror(-err));
	}
	if (err < 0) {
		profiler_free(p);
		return err;
	}
	*out = p;
	return 0;
}

static void wake(const struct profiler *p)
{
	const uint64_t one = 1;

	(void)!write(p->wake_fd, &one, sizeof(one));
}

void profiler_stop(struct profiler *p)
{
	if (!p)
		return;
	p->stop = true;
	wake(p);
	pthread_join(p->thread, NULL);
	profiler_free(p);
}

void profiler_status(struct profiler *p, struct profiler_status *out)
{
	pthread_mutex_lock(&p->lock);
	*out = p->status;
	out->samples += samples_of(p->window);
	pthread_mutex_unlock(&p->lock);
}

int profiler_frequency(struct profiler *p, uint64_t hz)
{
	if (!p || !hz)
		return -EINVAL;
	p->want_hz = hz;
	pthread_mutex_lock(&p->lock);
	if (p->status.running)
		p->status.frequency = hz;
	pthread_mutex_unlock(&p->lock);
	wake(p);
	return 0;
}

int profiler_window(struct profiler *p, struct buf *out, int64_t *from_ns, uint64_t *samples)
{
	struct tacho_pack_opts opts = { .size = sizeof(opts), .level = 1 };
	int err = 0;

	pthread_mutex_lock(&p->lock);
	opts.shift_ns = clock_shift();
	*from_ns = p->from_ns;
	*samples = samples_of(p->window);
	if (*samples)
		err = tacho_profile_pack(p->window, &opts, put_bytes, out, NULL);
	pthread_mutex_unlock(&p->lock);
	return err;
}
