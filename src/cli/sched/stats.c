/*
 * `tacho sched stats`: reads /proc/schedstat before and after a command, and stores, shows or compares the differences. The kernel
 * counts only while the sysctl kernel.sched_schedstats is set: if it is not, it is set meanwhile, and a process that waits for
 * the end of this one resets it, whatever ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/io.h"
#include "base/vec.h"
#include "cli/core/app.h"
#include "cli/core/input.h"
#include "cli/core/run_command.h"
#include "cli/record/output_file.h"
#include "cli/sched/sched.h"
#include "cli/sched/schedstat.h"
#include "record/perf_abi.h"

#define MAX_BYTES (64u << 20)

static const char *procfs(const struct sched_opts *o)
{
	return o->procfs ? o->procfs : "/proc";
}

/* -C. 0, or a negative errno after a message. */
static int keep_cpus(const struct sched_opts *o, const char *command, struct schedstat *s)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	size_t n = 0;

	if (!o->cpus)
		return 0;
	if (cpuset_parse(&cpus, str_of(o->cpus)) < 0) {
		message_text(command, "-C: '%s' is not a list of CPUs", o->cpus);
		return -EINVAL;
	}
	for (size_t i = 0; i < s->cpus.n; i++) {
		if (cpuset_has(&cpus, (int)s->cpus.v[i].number))
			s->cpus.v[n++] = s->cpus.v[i];
		else
			vec_done(&s->cpus.v[i].domains);
	}
	s->cpus.n = n;
	if (!n)
		message_text(command, "-C: none of the CPUs %s is in %s/schedstat", o->cpus, procfs(o));
	return n ? 0 : -EINVAL;
}

static int read_now(const struct sched_opts *o, const char *command, struct schedstat *out)
{
	scoped(buf_done) struct buf path = { 0 }, text = { 0 };
	struct tacho_error e = { .column = -1 };
	int err;

	*out = (struct schedstat){ 0 };
	buf_printf(&path, "%s/schedstat", procfs(o));
	err = buf_failed(&path) ? -ENOMEM : io_read(path.bytes, MAX_BYTES, &text);
	if (err == -ENOENT && !o->procfs) {
		message_text(command, "this kernel has no /proc/schedstat: it was built without CONFIG_SCHEDSTATS");
		return err;
	}
	if (err < 0) {
		message_text(command, "cannot read %s/schedstat: %s", procfs(o), strerror(-err));
		return err;
	}
	err = schedstat_parse(out, buf_view(&text), &e);
	if (err < 0)
		message_error(command, NULL, NULL, &e);
	return err < 0 ? err : keep_cpus(o, command, out);
}

/* ---- the sysctl ---- */

struct counting {
	pid_t pid;			/* of the process that resets the sysctl; 0: none */
	int fd;				/* it waits for the end of this pipe */
};

static int write_sysctl(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = io_write_all(fd, value, 1);
	close(fd);
	return err;
}

static _Noreturn void reset_after(const char *path, const int fds[2])
{
	char unused;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	close(fds[1]);
	while (read(fds[0], &unused, 1) < 0 && errno == EINTR)
		;
	write_sysctl(path, "0");
	_exit(0);
}

static int switch_on(struct counting *c, const char *path)
{
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	c->pid = fork();
	if (c->pid == 0)
		reset_after(path, fds);
	close(fds[0]);
	c->fd = fds[1];
	err = c->pid < 0 ? -errno : write_sysctl(path, "1");
	if (c->pid < 0) {
		close(fds[1]);
		c->pid = 0;
	}
	return err;
}

static void stop_counting(struct counting *c)
{
	if (!c->pid)
		return;
	close(c->fd);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
}

static int start_counting(struct counting *c, const struct sched_opts *o, const char *command)
{
	scoped(buf_done) struct buf path = { 0 };
	char value[16] = "";
	int err;

	*c = (struct counting){ 0 };
	buf_printf(&path, "%s/sys/kernel/sched_schedstats", procfs(o));
	if (buf_failed(&path))
		return -ENOMEM;
	/* Kernels before 4.6 do not have it, and always count. */
	if (io_read_small(AT_FDCWD, path.bytes, value, sizeof(value)) < 0 || value[0] != '0')
		return 0;
	err = switch_on(c, path.bytes);
	if (err == 0)
		return 0;
	message_text(command, "the kernel does not count: kernel.sched_schedstats is 0 and cannot be set (%s): run as root, or after "
		     "'sysctl kernel.sched_schedstats=1'", strerror(-err));
	stop_counting(c);
	return err;
}

/* ---- measuring ---- */

struct stats_readings {
	struct schedstat before, after;
	int status;			/* of the command */
};

static void stats_readings_done(struct stats_readings *m)
{
	schedstat_done(&m->before);
	schedstat_done(&m->after);
}

static int run_between(struct stats_readings *m, const struct sched_opts *o, const char *command, struct tacho_command *cmd)
{
	struct tacho_usage usage = { .size = sizeof(usage) };
	struct run_signals signals;
	int err = read_now(o, command, &m->before);

	if (err < 0)
		return err;
	run_signals_catch(&signals, false);
	err = run_command_release(cmd, command, &m->status);
	if (err == 0 && cmd && run_command_end(cmd, 0, &signals, &usage))
		m->status = run_command_exit_status(usage.status);
	while (!cmd && !run_signals_ending())
		sigsuspend(&signals.before);
	run_signals_restore(&signals);
	return err < 0 ? err : read_now(o, command, &m->after);
}

/* 0, or a negative errno after a message; m->status is 126 or 127 if the command could not be run. */
static int measure(struct stats_readings *m, const struct sched_opts *o, const char *command, char **argv)
{
	struct tacho_command *cmd = NULL;
	struct counting counting;
	int err = start_counting(&counting, o, command);

	if (err == 0 && argv[0])
		err = run_command_hold(&cmd, command, argv);
	if (err == 0)
		err = run_between(m, o, command, cmd);
	stop_counting(&counting);
	tacho_command_free(cmd);
	return err;
}

/* ---- output ---- */

static bool has_any(const struct schedstat *s, const struct cpuset *cpus)
{
	for (size_t i = 0; i < s->cpus.n; i++)
		if (cpuset_has(cpus, (int)s->cpus.v[i].number))
			return true;
	return false;
}

static int print_tables(const struct sched_opts *o, const char *command, const struct schedstat *first, const struct schedstat *second)
{
	scoped(cpuset_done) struct cpuset cpus = { 0 };
	struct schedstat_table t = { .first = first, .second = second, .explain = o->explain, .cpus = o->cpus ? &cpus : NULL };
	struct buf out = { 0 };

	if (o->cpus && cpuset_parse(&cpus, str_of(o->cpus)) < 0) {
		message_text(command, "-C: '%s' is not a list of CPUs", o->cpus);
		return EXIT_USAGE;
	}
	if (o->cpus && !has_any(first, &cpus)) {
		message_text(command, "-C: the recording has none of the CPUs %s", o->cpus);
		return EXIT_FAILED;
	}
	if ((o->json ? schedstat_put_json : schedstat_put_tables)(&t, &out) < 0)
		out.bad = true;
	return print_out(command, &out);
}

static int write_head(struct tacho_perfdata_writer *w, const struct stats_readings *m, struct tacho_error *e)
{
	scoped(strlist_done) struct strlist args = { 0 };
	scoped(buf_done) struct buf domains = { 0 };
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = PERF_ATTR_SIZE_VER0 };
	int err = tacho_writer_event(w, "dummy:u", &attr, attr.size, NULL, 0);

	schedstat_put_domains(&m->after, &domains);
	if (buf_failed(&domains))
		return -ENOMEM;
	if (err == 0)
		err = tacho_writer_host(w, NULL, NULL);
	if (err == 0)
		err = tacho_writer_string(w, TACHO_FEATURE_VERSION, tacho_version());
	if (err == 0)
		err = file_cmdline(&args);
	if (err == 0)
		err = tacho_writer_cmdline(w, (const char *const *)args.v, args.n);
	if (err == 0)
		err = tacho_writer_feature(w, TACHO_FEATURE_CPU_DOMAIN_INFO, domains.bytes, domains.n);
	return err < 0 ? err : tacho_writer_begin(w, e);
}

static int write_recording(struct output_file *f, const struct stats_readings *m, struct tacho_error *e)
{
	struct tacho_writer_opts opts = { .size = sizeof(opts) };
	scoped(buf_done) struct buf records = { 0 };
	struct tacho_perfdata_writer *w = NULL;
	int err = schedstat_put_records(&m->before, &records);

	if (err == 0)
		err = schedstat_put_records(&m->after, &records);
	if (err == 0)
		err = tacho_writer_open(&w, f->fd, &opts, e);
	if (err == 0)
		err = write_head(w, m, e);
	if (err == 0)
		err = tacho_writer_records(w, records.bytes, records.n, e);
	if (err == 0)
		err = tacho_writer_finish(w, e);
	tacho_writer_free(w);
	return err;
}

static int store(const struct stats_readings *m, const char *path)
{
	struct tacho_error e = { .column = -1 };
	struct output_file f = { 0 };
	int err = output_file_create(&f, "sched stats record", path, false);

	if (err < 0)
		return EXIT_FAILED;
	err = write_recording(&f, m, &e);
	if (err < 0) {
		message_text("sched stats record", "cannot write '%s': %s", path, e.message[0] ? e.message : strerror(-err));
		output_file_discard(&f);
		return EXIT_FAILED;
	}
	err = output_file_take_name(&f, "sched stats record", false);
	output_file_done(&f);
	if (err < 0)
		return EXIT_FAILED;
	fprintf(stderr, "[ %s sched stats: Wrote samples to %s ]\n", program_name, path);
	return 0;
}

/* ---- commands ---- */

int sched_stats_record(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	struct stats_readings m = { .status = 0 };
	int status = EXIT_FAILED;

	(void)argc;
	if (measure(&m, o, "sched stats record", argv) == 0)
		status = store(&m, o->output ? o->output : "perf.data");
	else if (m.status)
		status = m.status;
	status = status ? status : m.status;
	stats_readings_done(&m);
	return status;
}

/* Without a word: measures and shows. */
int sched_stats_run(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	struct stats_readings m = { .status = 0 };
	struct schedstat difference = { 0 };
	int status = EXIT_FAILED;

	if (o->input || o->output) {
		message_text("sched stats", o->input ? "-i is for 'sched stats report'" : "-o is for 'sched stats record'");
		return EXIT_USAGE;
	}
	(void)argc;
	if (measure(&m, o, "sched stats", argv) < 0)
		status = m.status ? m.status : EXIT_FAILED;
	else if (schedstat_subtract(&difference, &m.before, &m.after) < 0)
		message_text("sched stats", "out of memory");
	else
		status = print_tables(o, "sched stats", &difference, NULL);
	status = status ? status : m.status;
	schedstat_done(&difference);
	stats_readings_done(&m);
	return status;
}

static int read_recording(const struct sched_opts *o, const char *command, const char *path, struct schedstat *out)
{
	struct tacho_error e = { .column = -1 };
	int err = schedstat_read_file(out, path, o->force, &e);

	if (err < 0)
		message_error(command, NULL, NULL, &e);
	return err;
}

int sched_stats_report(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	const char *path = input_choose("sched stats report", o->input);
	struct schedstat s = { 0 };
	int status = EXIT_FAILED;

	if (argc) {
		message_text("sched stats report", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (path && read_recording(o, "sched stats report", path, &s) == 0)
		status = print_tables(o, "sched stats report", &s, NULL);
	schedstat_done(&s);
	return status;
}

/* As perf: two files, or one and perf.data, or perf.data.old and perf.data. */
int sched_stats_diff(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	const char *first = argc > 1 ? argv[0] : argc ? "perf.data" : "perf.data.old";
	const char *second = argc > 1 ? argv[1] : argc ? argv[0] : "perf.data";
	struct schedstat a = { 0 }, b = { 0 };
	int status = EXIT_FAILED;

	if (o->json) {
		message_text("sched stats diff", "--json is for 'sched stats report'");
		return EXIT_USAGE;
	}
	if (argc > 2) {
		message_text("sched stats diff", "two recordings can be compared, not %d", argc);
		return EXIT_USAGE;
	}
	if (read_recording(o, "sched stats diff", first, &a) < 0 || read_recording(o, "sched stats diff", second, &b) < 0)
		;
	else if (a.version != b.version)
		message_text("sched stats diff", "%s has version %u of the counters, %s version %u: they cannot be compared", first, a.version,
			     second, b.version);
	else
		status = print_tables(o, "sched stats diff", &a, &b);
	schedstat_done(&a);
	schedstat_done(&b);
	return status;
}
