/*
 * The continuous profile. One thread drains the ring buffers about once a second. The records are
 * loaded at once, as a small perf.data file in memory, into the profile of the current window, so
 * that symbols are resolved while the processes still run:
 *
 *	rings -drain-> samples (memfd) -load_next-> window -pack-> store
 *	                                              '-pprof-> exporters
 *
 * A finished window is packed and freed. The mappings and objects that are remembered between
 * windows are bounded: ended processes are removed with each window, and if there are very many
 * objects, sampling is restarted.
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
#include "agent/profiler/process_names.h"
#include "agent/profiler/window_export.h"
#include "base/clock.h"
#include "base/error.h"

#include <tacho/output.h>
#include <tacho/system.h>

#define SECOND 1000000000ull
#define WINDOW_ROWS 200000u	/* a window with more rows ends early */
#define OBJECTS_MAX 4096u
#define SYMBOL_BYTES_MAX (24u << 20)
#define SAMPLES_BYTES_MAX (4u << 20)	/* more samples are loaded before the second is over */
#define RETRY_S 60		/* wait before retrying after sampling failed */

struct profiler {
	struct agent *agent;
	pthread_t thread;
	int wake_fd;			/* readable: check for changed settings */
	_Atomic bool stop;
	_Atomic uint64_t budget_hz;	/* set by the CPU budget; 0: as configured */
	const struct agent_config *config_ref;	/* owns the strings of `config` */
	struct profile_config config;	/* the settings in effect */
	/* used by the thread only */
	struct machine_sampler machine;
	struct tacho_symbols *symbols;
	struct process_names *names;
	size_t n_named;			/* threads of the window whose processes were looked up */
	int samples_fd;
	struct buf samples_buf;		/* records since the last load */
	uint64_t lost_before;		/* samples lost by samplers that are already closed */
	uint64_t retry_ns;		/* time of the next attempt to open it */
	char online[4096];		/* online CPUs when it was opened */
	/* protected by the lock */
	pthread_mutex_t lock;
	struct tacho_profile *window;
	int64_t from_ns;		/* wall clock time at which the window began */
	struct profiler_status status;
};

static void log_text(const struct profiler *p, enum tacho_log_level level, const char *text)
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

/* Offset from the samples' clock to the wall clock. The thread may be preempted between reading the
 * two clocks, so the closest of several pairs is used. */
static int64_t clock_offset(void)
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

/* ---- loading samples ---- */

static int new_window(struct profiler *p, struct tacho_error *e)
{
	const struct tacho_profile_opts opts = { .size = sizeof(opts), .per_time = true, .per_cpu = true };
	struct tacho_profile *fresh;
	int err = tacho_profile_new(&fresh, &opts, e);

	if (err < 0)
		return err;
	tacho_profile_free(p->window);
	p->window = fresh;
	p->n_named = 0;
	return 0;
}

/* Writes the records as a perf.data file that can be loaded. */
static int write_samples(struct profiler *p, struct tacho_error *e)
{
	const struct tacho_recorder_output out = { .size = sizeof(out), .fd = p->samples_fd, .events_only = true,
						   .raw_stacks = true };	/* unwound when they are loaded */
	struct tacho_recorder *r = p->machine.recorder;
	int err, end;

	if (ftruncate(p->samples_fd, 0) < 0 || lseek(p->samples_fd, 0, SEEK_SET) < 0)
		return error_set(e, -errno, "cannot reset the memory for samples: %s", strerror(errno));
	err = tacho_recorder_begin(r, &out, e);
	if (err < 0)
		return err;
	err = tacho_recorder_write(r, p->samples_buf.bytes, p->samples_buf.n);
	if (err < 0)
		error_set(e, err, "cannot write the samples to memory: %s", strerror(-err));
	end = tacho_recorder_finish(r, err < 0 ? NULL : e);
	return err < 0 ? err : end;
}

static void look_up_names(struct profiler *p)
{
	for (; p->n_named < tacho_profile_n_threads(p->window); p->n_named++)
		process_names_look_up(p->names, p->machine.tacho, tacho_profile_thread(p->window, p->n_named)->pid);
}

static int load_samples(struct profiler *p, struct tacho_error *e)
{
	struct tacho_perfdata *pd = NULL;
	int err;

	if (buf_failed(&p->samples_buf)) {
		buf_done(&p->samples_buf);
		return error_nomem(e);
	}
	if (!p->samples_buf.n)
		return 0;
	err = write_samples(p, e);
	process_names_note(p->names, p->samples_buf.bytes, p->samples_buf.n);
	buf_clear(&p->samples_buf);
	if (err == 0)
		err = sample_file_read(p->samples_fd, &pd, e);
	if (!pd)
		return err;
	pthread_mutex_lock(&p->lock);
	err = tacho_profile_load_next(p->window, pd, p->symbols, e);
	look_up_names(p);
	pthread_mutex_unlock(&p->lock);
	tacho_symbols_prune(p->symbols, 0);	/* a compiler starts hundreds of processes in the time of a window */
	tacho_perfdata_close(pd);
	return err;
}

static void update_lost(struct profiler *p)
{
	struct tacho_sampler_stats st = { .size = sizeof(st) };

	tacho_sampler_stats(p->machine.sampler, SIZE_MAX, &st);
	pthread_mutex_lock(&p->lock);
	p->status.lost = p->lost_before + st.lost;
	pthread_mutex_unlock(&p->lock);
	p->agent->stats.samples_lost = p->lost_before + st.lost;
}

/* Drains the ring buffers, and loads the records if `due` or if there are many. */
static int drain(struct profiler *p, bool due, struct tacho_error *e)
{
	int err = machine_sampler_drain(&p->machine, &p->samples_buf);

	if (err < 0 && err != -ENOMEM)
		return error_set(e, err, "cannot read the ring buffers: %s", strerror(-err));
	update_lost(p);
	return due || p->samples_buf.n > SAMPLES_BYTES_MAX ? load_samples(p, e) : 0;
}

/* ---- windows ---- */

static bool has_profile_exporter(const struct agent_config *cfg)
{
	for (size_t i = 0; i < cfg->n_exports; i++)
		if (cfg->exports[i].type && cfg->exports[i].type->send_profile)
			return true;
	return false;
}

/* Must be called before taking p->lock: a reload holds config_lock while it waits for the collector,
 * which may wait for p->lock. */
static bool wants_export(struct profiler *p)
{
	bool wanted;

	pthread_rwlock_rdlock(&p->agent->config_lock);
	wanted = p->agent->exporters && has_profile_exporter(p->agent->config);
	pthread_rwlock_unlock(&p->agent->config_lock);
	return wanted;
}

static void export_window(struct profiler *p, uint64_t samples, int64_t to_ns)
{
	const struct exported_window w = { .agent = p->agent, .config = p->config_ref, .profile = p->window, .names = p->names,
					   .samples = samples, .from_ns = p->from_ns, .to_ns = to_ns, .clock_offset_ns = clock_offset() };

	window_export(&w);
}

static void store_window(struct profiler *p, uint64_t samples, int64_t to_ns)
{
	scoped(buf_done) struct buf blob = { 0 };
	const struct tacho_pack_opts opts = { .size = sizeof(opts), .shift_ns = clock_offset() };
	struct tacho_error e = { .column = -1 };
	int err = tacho_profile_pack(p->window, &opts, put_bytes, &blob, &e);

	if (err == 0)
		err = store_profile_put(p->agent->store, p->from_ns, to_ns, samples, buf_view(&blob));
	if (err < 0)
		log_text(p, TACHO_LOG_WARN, e.message[0] ? e.message : "a profile could not be stored");
}

static struct tacho_profile_quality quality_of(const struct tacho_profile *window)
{
	struct tacho_profile_quality q = { .size = sizeof(q) };

	tacho_profile_quality(window, &q);
	return q;
}

static uint64_t count_samples(const struct tacho_profile *window)
{
	return quality_of(window).samples;
}

/* Ends the window and starts the next. */
static void finish_window(struct profiler *p)
{
	int64_t now = clock_wall_ns();
	bool exported = wants_export(p);
	uint64_t samples;

	pthread_mutex_lock(&p->lock);
	now = now > p->from_ns ? now : p->from_ns + 1;	/* > if the clock was set back */
	samples = count_samples(p->window);
	if (samples) {
		if (p->agent->store)
			store_window(p, samples, now);
		if (exported)
			export_window(p, samples, now);
		p->status.windows++;
		p->status.samples += samples;
		p->status.broken += quality_of(p->window).broken_stacks;
		p->agent->stats.profiles++;
	}
	if (!samples || new_window(p, NULL) == 0)
		p->from_ns = now;
	pthread_mutex_unlock(&p->lock);
	tacho_symbols_prune(p->symbols, SYMBOL_BYTES_MAX);
	process_names_prune(p->names);
	malloc_trim(0);		/* returns freed memory to the kernel */
}

/* ---- on and off ---- */

static int new_symbols(struct profiler *p, struct tacho_error *e)
{
	const struct tacho_symbols_opts opts = { .size = sizeof(opts), .live = true };

	tacho_symbols_free(take(p->symbols));
	return tacho_symbols_new(&p->symbols, &opts, e);
}

/* Synthesizes records of the running processes and their mappings. */
static int synthesize_running(struct profiler *p, struct tacho_error *e)
{
	return tacho_sampler_synthesize(p->machine.sampler,
					TACHO_SYNTH_KERNEL | TACHO_SYNTH_TASK | TACHO_SYNTH_MMAP,
					put_bytes, &p->samples_buf, e);
}

static void set_state(struct profiler *p, bool running, const char *why)
{
	pthread_mutex_lock(&p->lock);
	p->status.running = running;
	p->status.frequency = running ? p->config.frequency : 0;
	if (running)
		snprintf(p->status.event, sizeof(p->status.event), "%s", p->machine.event);
	snprintf(p->status.why, sizeof(p->status.why), "%.255s", why);
	pthread_mutex_unlock(&p->lock);
}

static int start_sampling(struct profiler *p, struct tacho_error *e)
{
	const struct machine_sampler_opts opts = { .event = p->config.event,
						   .frequency = p->config.frequency,
						   .user_only = p->config.kernel_off };
	int err = machine_sampler_open(&p->machine, &opts, e);

	if (err == 0 && tacho_online_cpus(p->machine.tacho, p->online, sizeof(p->online)) < 0)
		p->online[0] = '\0';
	if (err == 0)
		err = new_symbols(p, e);
	if (err == 0)
		err = synthesize_running(p, e);
	if (err == 0)
		err = tacho_sampler_start(p->machine.sampler);
	if (err < 0) {
		if (!e->message[0])
			error_set(e, err, "cannot start sampling: %s", strerror(-err));
		machine_sampler_close(&p->machine);
		set_state(p, false, e->message);
		return err;
	}
	set_state(p, true, p->machine.note);
	return 0;
}

static void stop_sampling(struct profiler *p, const char *why)
{
	struct tacho_sampler_stats st = { .size = sizeof(st) };
	struct tacho_error e = { .column = -1 };

	if (!p->machine.sampler)
		return;
	tacho_sampler_stop(p->machine.sampler);
	drain(p, true, &e);
	tacho_sampler_stats(p->machine.sampler, SIZE_MAX, &st);
	p->lost_before += st.lost;
	finish_window(p);
	machine_sampler_close(&p->machine);
	buf_clear(&p->samples_buf);
	set_state(p, false, why);
}

static void pause_after_failure(struct profiler *p, const struct tacho_error *e)
{
	char text[600];

	snprintf(text, sizeof(text), "the continuous profile is paused for a minute: %s", e->message);
	log_text(p, TACHO_LOG_WARN, text);
	stop_sampling(p, e->message);
	p->retry_ns = clock_mono_ns() + RETRY_S * SECOND;
}

/* Limits the number of known objects, also in the sampler, by reopening everything. */
static void limit_objects(struct profiler *p)
{
	if (tacho_symbols_n_objects(p->symbols) >= OBJECTS_MAX)
		stop_sampling(p, "");
}

/* The rings of a CPU that was offline stay empty when it is back, and a new CPU has none: reopen on
 * a change. */
static void reopen_on_cpu_change(struct profiler *p)
{
	char now[sizeof(p->online)];

	if (p->machine.sampler && tacho_online_cpus(p->machine.tacho, now, sizeof(now)) >= 0 &&
	    strcmp(now, p->online) != 0)
		stop_sampling(p, "");
}

/* Reads the current configuration and the budget's frequency. True: sampling has to be reopened. */
static bool update_config(struct profiler *p)
{
	const struct agent_config *before = p->config_ref;
	struct profile_config now;
	uint64_t hz = p->budget_hz;
	bool changed;

	pthread_rwlock_rdlock(&p->agent->config_lock);
	p->config_ref = config_hold(p->agent->config);
	pthread_rwlock_unlock(&p->agent->config_lock);
	now = p->config_ref->profile;
	now.frequency = hz && hz < now.frequency ? hz : now.frequency;
	changed = now.off != p->config.off || now.frequency != p->config.frequency ||
		  now.kernel_off != p->config.kernel_off || !same_text(now.event, p->config.event);
	p->config = now;
	config_free(before);
	return changed;
}

static void apply_config(struct profiler *p)
{
	struct tacho_error e = { .column = -1 };

	if (update_config(p)) {
		stop_sampling(p, "");
		p->retry_ns = 0;
	}
	if (p->config.off)
		set_state(p, false, "switched off by profile.enabled");
	else if (!p->machine.sampler && clock_mono_ns() >= p->retry_ns && start_sampling(p, &e) < 0)
		p->retry_ns = clock_mono_ns() + RETRY_S * SECOND;
}

/* ---- the thread ---- */

static void wait_for_more(struct profiler *p, uint64_t until_ns)
{
	struct pollfd fds[] = { { .fd = p->wake_fd, .events = POLLIN },
				{ .fd = p->machine.sampler ? tacho_sampler_fd(p->machine.sampler)
							    : -1,
				  .events = POLLIN } };
	uint64_t now = clock_mono_ns(), drained;
	int ms = now < until_ns ? (int)((until_ns - now) / 1000000 + 1) : 0;

	if (poll(fds, countof(fds), ms) <= 0)
		return;
	if (fds[0].revents)
		(void)!read(p->wake_fd, &drained, sizeof(drained));
	if (fds[1].revents)
		tacho_sampler_look(p->machine.sampler);
}

static void process_samples(struct profiler *p, bool due)
{
	struct tacho_error e = { .column = -1 };

	if (!p->machine.sampler)
		return;
	if (drain(p, due, &e) < 0) {
		pause_after_failure(p, &e);
		return;
	}
	if (!due || (clock_wall_ns() - p->from_ns < (int64_t)p->config.window_ns &&
		     clock_wall_ns() >= p->from_ns && tacho_profile_n_rows(p->window) < WINDOW_ROWS))
		return;
	finish_window(p);
	limit_objects(p);
}

static void *profiler_thread(void *arg)
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
			reopen_on_cpu_change(p);
		}
		apply_config(p);
		process_samples(p, due);
	}
	stop_sampling(p, "");
	return NULL;
}

/* ---- interface for the other threads ---- */

static void profiler_free(struct profiler *p)
{
	if (!p)
		return;
	machine_sampler_close(&p->machine);
	tacho_symbols_free(p->symbols);
	tacho_profile_free(p->window);
	process_names_free(p->names);
	buf_done(&p->samples_buf);
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	if (p->samples_fd >= 0)
		close(p->samples_fd);
	pthread_mutex_destroy(&p->lock);
	config_free(p->config_ref);
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
	p->samples_fd = memfd_create("tacho-samples", MFD_CLOEXEC);
	err = p->wake_fd < 0 || p->samples_fd < 0 ?
	      error_set(e, -errno, "cannot start the profiler: %s", strerror(errno)) : new_window(p, e);
	if (err == 0 && process_names_new(&p->names) < 0)
		err = error_nomem(e);
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
	update_config(p);
	if (p->config.off)
		set_state(p, false, "switched off by profile.enabled");
	else
		err = start_sampling(p, e);
	if (err == 0) {
		err = -pthread_create(&p->thread, NULL, profiler_thread, p);
		if (err < 0)
			error_set(e, err, "cannot start the profiler's thread: %s", strerror(-err));
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
	out->samples += count_samples(p->window);
	out->broken += quality_of(p->window).broken_stacks;
	pthread_mutex_unlock(&p->lock);
}

int profiler_frequency(struct profiler *p, uint64_t hz)
{
	if (!p || !hz)
		return -EINVAL;
	p->budget_hz = hz;
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
	opts.shift_ns = clock_offset();
	*from_ns = p->from_ns;
	*samples = count_samples(p->window);
	if (*samples)
		err = tacho_profile_pack(p->window, &opts, put_bytes, out, NULL);
	pthread_mutex_unlock(&p->lock);
	return err;
}
