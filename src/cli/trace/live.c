/*
 * Tracing while it happens: opens the BPF tracer on the target, runs the command, and reads events until the target ends.
 */
#include "cli/trace/trace.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/run_command.h"
#include "cli/core/target_args.h"

#define POLL_MS 50		/* the longest time until an event is shown */

static int64_t realtime_offset(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	return (int64_t)(real.tv_sec - mono.tv_sec) * 1000000000 + (real.tv_nsec - mono.tv_nsec);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Adds the threads of a process; repeated until no new ones appear, because threads may be created meanwhile. */
static int add_process(struct trace *t, int pid)
{
	bool found = false;
	size_t before;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	do {
		DIR *d = opendir(path);
		struct dirent *entry;
		int tid;

		before = t->threads.n;
		if (!d)
			return found ? 0 : -ESRCH;
		while ((entry = readdir(d)))
			if (num_int(str_of(entry->d_name), &tid) == 0) {
				found = true;
				if (t->tracer)
					tacho_syscall_tracer_add_task(t->tracer, tid);
				if (!trace_thread_get(t, pid, tid)) {
					closedir(d);
					return -ENOMEM;
				}
			}
		closedir(d);
	} while (t->threads.n != before);
	trace_fds_read(t, pid);
	trace_environment_read(t, pid);
	return 0;
}

static int add_targets(struct trace *t, const char *option, const char *list, bool threads)
{
	int *ids = NULL, err;
	size_t n;

	err = target_ids("trace", option, list, &ids, &n);
	for (size_t i = 0; err == 0 && i < n; i++) {
		if (threads) {
			char path[64];

			snprintf(path, sizeof(path), "/proc/%d", ids[i]);
			err = access(path, F_OK) < 0 ? -ESRCH : t->tracer ? tacho_syscall_tracer_add_task(t->tracer, ids[i]) : 0;
			if (err == 0 && !trace_thread_get(t, ids[i], ids[i]))
				err = -ENOMEM;
		} else {
			err = add_process(t, ids[i]);
		}
		if (err == -ESRCH)
			message_text("trace", "no %s %d", threads ? "thread" : "process", ids[i]);
	}
	free(ids);
	return err;
}

static void add_call(const struct trace *t, const char *name, uint64_t *calls)
{
	const struct tacho_syscall *sc = tacho_syscall_by_name(name);
	int nr = sc ? tacho_syscall_nr(sc, t->arch) : -1;

	if (nr >= 0)
		calls[nr / 64] |= 1ull << (nr & 63);
}

/* The calls that change what descriptors refer to: a process may have ended by the time its descriptors are printed. */
static void add_descriptor_calls(const struct trace *t, uint64_t *calls)
{
	static const char *const names[] = { "close", "chdir", "fcntl", "pipe", "pipe2", "socketpair" };

	for (uint32_t nr = 0; nr < TACHO_SYSCALL_MAX; nr++) {
		const struct tacho_syscall *sc = tacho_syscall_by_nr(t->arch, nr);

		if (sc && tacho_syscall_returns_fd(sc))
			calls[nr / 64] |= 1ull << (nr & 63);
	}
	for (size_t i = 0; i < countof(names); i++)
		add_call(t, names[i], calls);
}

static int open_tracer(struct trace *t, bool has_command, struct tacho_error *e)
{
	struct trace_opts *o = t->o;
	struct tacho_syscall_tracer_opts opts = { .size = sizeof(opts), .no_follow = o->no_inherit, .cpus = o->cpus,
		.string_bytes = o->string_limit, .whole_calls = !t->writer->shows_entries };
	uint64_t needed[TACHO_SYSCALL_MAX / 64];
	int *exclude = NULL, err = 0;

	opts.all_tasks = o->all_cpus || o->user || (!has_command && !o->pid && !o->tid);
	if (o->user) {
		err = target_user("trace", o->user, &opts.user);
		opts.has_user = true;
	}
	if (err == 0 && o->filter_pids)
		err = target_ids("trace", "--filter-pids", o->filter_pids, &exclude, &opts.n_exclude);
	if (err < 0)
		return err;
	opts.exclude = exclude;
	t->counts_in_kernel = trace_can_count_in_kernel(t);
	if (t->counts_in_kernel) {
		opts.count_by = trace_count_by(o);
		opts.counts_errors = o->errno_summary;
	}
	opts.sockets = o->show_fds > 1;
	opts.environment = o->exec_tree;
	memcpy(needed, t->want.calls, sizeof(needed));
	if (has_command || o->show_fds || o->paths.n) {		/* the exec of the command shows where it starts */
		add_call(t, "execve", needed);
		add_call(t, "execveat", needed);
	}
	if (o->show_fds || o->paths.n)
		add_descriptor_calls(t, needed);
	opts.calls = needed;
	if (o->ring_pages)
		opts.ring_bytes = o->ring_pages * 4096;
	err = tacho_syscall_tracer_open(&t->tracer, &opts, e);
	free(exclude);
	return err;
}

static void report_lost(struct trace *t)
{
	uint64_t events = 0, tasks = 0;

	if (t->tracer && tacho_syscall_tracer_lost(t->tracer, &events, &tasks) < 0)
		return;
	events += t->sampler_lost;
	if (events > t->lost_reported) {
		trace_flush(t);
		message_text("trace", "%llu events were lost because the ring buffer was full; enlarge it with -m",
			     (unsigned long long)(events - t->lost_reported));
		t->lost_reported = events;
	}
	if (t->uncounted)
		message_text("trace", "%llu calls could not be counted: too many threads; use --summary-mode total",
			     (unsigned long long)t->uncounted);
	if (tasks > t->lost_tasks)
		message_text("trace", "%llu tasks could not be followed: too many at the same time",
			     (unsigned long long)(tasks - t->lost_tasks));
	t->lost_tasks = max_of(t->lost_tasks, tasks);
}

static bool is_finished(struct trace *t, bool ended)
{
	if (t->stop || run_signals_ending())
		return true;
	if (t->command)
		return ended && (!t->o->follow || !t->n_alive);
	return (t->o->pid || t->o->tid) && !t->n_alive;
}

/* With one source events are handled as they are read; otherwise they are put in order first. */
static int drain(struct trace *t, bool last)
{
	uint64_t start = now_ns();
	int n = 0;

	if (t->sampler)
		n = trace_sampler_drain(t);
	if (n >= 0 && t->tracer)
		n = tacho_syscall_tracer_drain(t->tracer, t->sampler ? trace_queue_event : trace_on_event, t);
	if (n >= 0 && t->sampler)
		n = trace_queue_flush(t, last ? UINT64_MAX : t->round_ns);
	t->round_ns = start;
	return min_of(n, 0);
}

static int loop(struct trace *t, struct run_signals *signals, struct tacho_usage *usage, bool *ended)
{
	struct pollfd fds[3] = { { .fd = t->tracer ? tacho_syscall_tracer_fd(t->tracer) : -1, .events = POLLIN },
				 { .fd = t->command ? tacho_command_fd(t->command) : -1, .events = POLLIN },
				 { .fd = t->sampler ? tacho_sampler_fd(t->sampler) : -1, .events = POLLIN } };
	const struct timespec timeout = { .tv_nsec = POLL_MS * 1000000 };
	int err = 0;

	while (err == 0 && !is_finished(t, *ended)) {
		ppoll(fds, 3, &timeout, &signals->before);
		err = drain(t, false);
		trace_show_blocked(t, now_ns());
		if (t->o->last && run_signals_take_usr2())
			trace_dump_recent(t);
		trace_flush(t);
		trace_flush_threads(t);
		report_lost(t);
		if (t->command && !*ended && tacho_command_wait(t->command, false, usage) > 0) {
			*ended = true;
			fds[1].fd = -1;
			err = err ? err : drain(t, false);
		}
	}
	return err;
}

/* The command starts in this directory. */
static void set_directory(struct trace *t)
{
	struct trace_process *p = trace_process_get(t, t->command_pid);

	if (p)
		p->cwd = getcwd(NULL, 0);
	trace_environment_of_tracer(t, t->command_pid);
	trace_fds_read(t, t->command_pid);
}

static bool needs_sampler(const struct trace *t)
{
	return t->want.tracepoints.n || t->o->pagefaults || t->o->call_graph || !t->tracer;
}

static int open_sampler(struct trace *t)
{
	struct tacho_error e = { .column = -1 };
	int err = trace_sampler_open(t, (!t->tracer || t->o->call_graph) && t->has_calls, &e);

	if (err < 0)
		message_error("trace", NULL, NULL, &e);
	else if (!t->command_pid)	/* else it starts at the exec */
		err = tacho_sampler_start(t->sampler);
	return min_of(err, 0);
}

static int run(struct trace *t, char **argv, int *status)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct run_signals signals;
	bool ended = false;
	int err = 0;

	if (t->o->pid)
		err = add_targets(t, "-p", t->o->pid, false);
	if (err == 0 && t->o->tid)
		err = add_targets(t, "-t", t->o->tid, true);
	if (err == 0 && argv[0])
		err = run_command_hold(&t->command, "trace", argv);
	if (err < 0)
		return err;
	if (t->command && !t->o->all_cpus) {
		t->command_pid = tacho_command_pid(t->command);
		set_directory(t);
		if (t->tracer)
			err = tacho_syscall_tracer_add_command(t->tracer, t->command_pid);
	}
	t->command_started = !t->command_pid || !t->tracer;
	if (err == 0 && needs_sampler(t))
		err = open_sampler(t);
	run_signals_catch(&signals, t->o->last > 0);
	if (err == 0)
		err = run_command_release(t->command, "trace", status);
	if (err == 0)
		err = loop(t, &signals, &usage, &ended);
	if (t->command && !ended && err == 0)
		ended = run_command_end(t->command, t->stop ? SIGTERM : run_signals_ending(), &signals, &usage);
	if (err == 0 && t->sampler)
		tacho_sampler_stop(t->sampler);
	if (err == 0)
		err = drain(t, true);
	run_signals_restore(&signals);
	if (t->command && ended && !t->stop)
		*status = run_command_exit_status(usage.status);
	return err;
}

int trace_run_live(struct trace *t, char **argv)
{
	struct tacho_error e = { .column = -1 };
	int status = 0, err;

	t->realtime_offset_ns = realtime_offset();
	err = t->has_calls && !t->o->no_bpf ? open_tracer(t, argv[0] != NULL, &e) : 0;
	if (err == -EINVAL || err == -ENOMEM || (err < 0 && !e.message[0])) {
		if (e.message[0])
			message_error("trace", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	if (err < 0)
		message_text("trace", "strings are not shown: %s%s%s", e.message, e.hint[0] ? "\n  " : "", e.hint);
	err = run(t, argv, &status);
	trace_finish_pending(t);
	if (t->tracer && t->counts_in_kernel && err == 0)
		err = trace_read_counts(t);
	trace_flush(t);
	report_lost(t);
	tacho_syscall_tracer_close(t->tracer);
	trace_sampler_close(t);
	t->tracer = NULL;
	tacho_command_free(t->command);
	t->command = NULL;
	message_if_out_of_memory("trace", err);
	return status ? status : err < 0 ? EXIT_FAILED : 0;
}
