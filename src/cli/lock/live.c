/*
 * `lock contention -b`: waits that a BPF program counts while a command runs, or until a signal.
 */
#include "cli/lock/lock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "cli/core/app.h"
#include "cli/core/run_command.h"
#include "cli/core/target_args.h"

#include <tacho/sampler.h>

#define NAME "lock contention"
#define POLL_MS 50			/* if the end of the command has no descriptor */

struct kernel_maps {
	struct tacho_symbols *symbols;
	struct tacho_layout layout;
	struct tacho_scratch scratch;
};

/* A tacho_bytes_fn */
static int feed(void *arg, const void *bytes, size_t size)
{
	struct kernel_maps *m = arg;
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + size };
	struct tacho_record rec;
	struct tacho_sideband s;
	int err = 0;

	while (err == 0 && tacho_record_next(&it, &rec) > 0) {
		m->scratch.used = 0;
		if (tacho_sideband_decode(&s, &rec, &m->layout, &m->scratch) == 0)
			err = tacho_symbols_feed(m->symbols, &s);
	}
	return err;
}

/* The maps of the kernel, as a recorder describes them. */
static int feed_kernel(struct tacho_symbols *symbols, struct tacho *t, struct tacho_error *e)
{
	struct kernel_maps *m = calloc(1, sizeof(*m));
	struct tacho_sampler *sampler = NULL;
	uint64_t attr[32] = { 0 };
	int err = !m ? -ENOMEM : tacho_sampler_new(&sampler, t);

	if (err == 0)
		err = tacho_sampler_add(sampler, "dummy", e);
	if (err >= 0)
		err = tacho_sampler_open(sampler, TACHO_OPTS(tacho_sampler_opts, .period = 1, .no_bpf = true, .no_build_ids = true,
							     .no_samples = true), e);
	if (err >= 0)
		err = tacho_sampler_attr(sampler, tacho_sampler_size(sampler) - 1, attr, sizeof(attr), NULL);
	if (err >= 0)
		err = tacho_layout_init(&m->layout, attr, sizeof(attr));
	if (err >= 0) {
		m->symbols = symbols;
		err = tacho_sampler_synthesize(sampler, TACHO_SYNTH_KERNEL, feed, m, e);
	}
	tacho_sampler_free(sampler);
	free(m);
	return min_of(err, 0);
}

static int open_symbols(struct lock_table *t, struct tacho_error *e)
{
	const struct kernel_source_opts *o = &t->o->source;
	struct tacho *lib = NULL;
	int err = tacho_symbols_new(&t->symbols, TACHO_OPTS(tacho_symbols_opts, .vmlinux = o->vmlinux, .kallsyms = o->kallsyms,
							    .live = true), e);

	if (err == 0)
		err = tacho_open(&lib, NULL, e);
	if (err == 0)
		err = feed_kernel(t->symbols, lib, e);
	tacho_close(lib);
	return err;
}

static void add_hint(struct tacho_error *e, const char *text)
{
	size_t n = strlen(e->hint);

	snprintf(e->hint + n, sizeof(e->hint) - n, "%s%s", n ? "; " : "", text);
}

static int open_watch(struct lock_table *t, const struct tacho_lock_opts *rows, struct tacho_command *command)
{
	const struct lock_opts *o = t->o;
	struct tacho_lock_watch_opts opts = { .size = sizeof(opts), .rows = *rows, .cpus = o->cpus, .cgroups = o->cgroups,
					      .follow = command && !o->all_cpus && !o->pids && !o->tids, .max_rows = o->max_rows };
	struct tacho_error e = { .column = -1 };
	int *pids = NULL, *tids = NULL, err = 0;

	if (o->pids)
		err = target_ids(NAME, "-p", o->pids, &pids, &opts.n_pids);
	if (err == 0 && o->tids)
		err = target_ids(NAME, "--tid", o->tids, &tids, &opts.n_tids);
	if (err == 0) {
		opts.pids = pids;
		opts.tids = tids;
		err = open_symbols(t, &e);
		opts.rows.symbols = t->symbols;
		if (err == 0)
			err = tacho_lock_watch_new(&t->watch, &opts, &e);
		if (err == 0 && opts.follow)
			err = tacho_lock_watch_add_process(t->watch, tacho_command_pid(command));
		if (err == -EPERM || err == -EACCES || err == -EOPNOTSUPP)
			add_hint(&e, "'lock record' and 'lock contention' need no BPF");
		if (err < 0)
			message_error(NAME, NULL, NULL, &e);
	}
	free(pids);
	free(tids);
	return err;
}

static void wait_for_end(struct tacho_command *command, const struct run_signals *signals, struct tacho_usage *usage)
{
	struct pollfd end = { .fd = command ? tacho_command_fd(command) : -1, .events = POLLIN };
	const struct timespec poll_time = { .tv_nsec = POLL_MS * 1000000 };

	while (!run_signals_ending()) {
		if (command && tacho_command_wait(command, false, usage) > 0)
			return;
		ppoll(&end, 1, command && end.fd < 0 ? &poll_time : NULL, &signals->before);
	}
	if (command)
		run_command_end(command, run_signals_ending() == SIGINT ? 0 : SIGTERM, signals, usage);
}

static int count(struct lock_table *t, struct tacho_command *command, int *status)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct run_signals signals;
	int err;

	run_signals_catch(&signals, false);
	tacho_lock_watch_start(t->watch);
	err = run_command_release(command, NAME, status);
	if (err == 0)
		wait_for_end(command, &signals, &usage);
	tacho_lock_watch_stop(t->watch);
	run_signals_restore(&signals);
	if (err == 0 && command)
		*status = run_command_exit_status(usage.status);
	return err;
}

int lock_live(struct lock_table *t, const struct tacho_lock_opts *rows, int argc, char **argv, int *command_status)
{
	struct tacho_command *command = NULL;
	struct tacho_error e = { .column = -1 };
	int err = argc ? run_command_hold(&command, NAME, argv) : 0;

	if (err == 0)
		err = open_watch(t, rows, command);
	if (err == 0)
		err = count(t, command, command_status);
	tacho_command_free(command);
	if (err < 0)
		return *command_status ? *command_status : err == -EINVAL || err == -ENOENT ? EXIT_USAGE : EXIT_FAILED;
	if (tacho_lock_watch_read(t->watch, &t->l, &e) < 0) {
		message_error(NAME, NULL, NULL, &e);
		return EXIT_FAILED;
	}
	return 0;
}

void lock_live_done(struct lock_table *t)
{
	tacho_lock_free(t->l);
	tacho_lock_watch_free(t->watch);
	tacho_symbols_free(t->symbols);
}
