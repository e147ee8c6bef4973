/*
 * `tacho record`: samples events while a command runs, in running processes, on CPUs, in cgroups
 * or on the whole machine, into a perf.data file. This file holds the options and the order of
 * things; see cli/record/record.h for where the steps are.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/events/list_option.h"
#include "cli/record/output_file.h"
#include "cli/core/terminal.h"

/* For what tacho does in any case. */
static int done_anyway(void *opts, const char *arg, struct tacho_error *e)
{
	(void)opts;
	(void)arg;
	(void)e;
	return 0;
}

#define NO_BPF "BPF programs are not built here"
#define AT(field) offsetof(struct record_opts, field)
static const struct option_row record_rows[] = {
	{ OPT_GROUP, .help = "What to record" },
	{ OPT_CALL, 'e', "event", .arg = "EVENTS", .call = event_args_add_events, .complete = "event",
	  .help = "sample these events (see tacho-events(7)); may be repeated; without: cycles, or "
		  "cpu-clock where there is no PMU" },
	EVENT_ARGS_PFM_ROW,
	EVENT_LIST_ROW(AT(event_lists)),
	{ OPT_CALL, 0, "filter", .arg = "FILTER", .call = event_args_add_filter,
	  .help = "record only what matches, of the tracepoints of the -e before it" },
	{ OPT_FLAG, 0, "exclude-perf", AT(exclude_self),
	  .help = "leave the recorder itself out of the tracepoints" },
	{ OPT_FLAG, 0, "all-user", AT(all_user), .help = "sample in user space only" },
	{ OPT_FLAG, 0, "all-kernel", AT(all_kernel), .help = "sample in the kernel only" },
	{ OPT_GROUP, .help = "Where to record" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "the whole machine" },
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPUS", "these CPUs, e.g. 0-3,8", .complete = "cpu" },
	{ OPT_STR, 'p', "pid", AT(pids), "PIDS", "running processes with all their threads",
	  .complete = "pid" },
	{ OPT_STR, 't', "tid", AT(tids), "TIDS",
	  "single threads, without what they start (--inherit: with it)" },
	{ OPT_STR, 'u', "uid", AT(user), "USER", "all processes of a user" },
	{ OPT_CALL, 'G', "cgroup", .arg = "NAMES", .call = event_args_add_cgroups,
	  .help = "a cgroup for each event before it; one name serves all (with -a or -C)" },
	{ OPT_FLAG, 'i', "no-inherit", AT(no_inherit), .flags = OPTF_NEGATED, .value = "-i",
	  .help = "do not follow threads and children started later" },
	{ OPT_FLAG, 0, "per-thread", AT(per_thread),
	  .help = "a ring for each thread rather than for each CPU; children are not followed" },
	{ OPT_GROUP, .help = "How often" },
	{ OPT_STR, 'F', "freq", AT(freq), "N|max", "N samples a second (4000), or as many as allowed" },
	{ OPT_U64, 'c', "count", AT(period), "N", "a sample every N events", .min = 1 },
	{ OPT_FLAG, 0, "strict-freq", AT(strict_freq),
	  .help = "fail rather than lower a frequency the kernel does not allow" },
	{ OPT_STR, 'D', "delay", AT(delay), "MSEC",
	  "start MSEC milliseconds after the command; -1: when --control says so; 10-20,30-40: in "
	  "these ranges only, then end" },
	{ OPT_STR, 0, "control", AT(control), "fd:CTL[,ACK]|fifo:CTL[,ACK]",
	  "take enable, disable, snapshot, stop and ping from there; answer ack" },
	{ OPT_GROUP, .help = "What a sample holds" },
	{ OPT_FLAG, 'g', NULL, AT(chains), .help = "call chains, by frame pointers" },
	{ OPT_STR, 0, "call-graph", AT(call_graph), "MODE",
	  "call chains: fp, dwarf[,BYTES] (registers and stack, for the reader to unwind), lbr",
	  .complete = "fp dwarf lbr" },
	{ OPT_FLAG, 0, "kernel-callchains", AT(kernel_chains), .help = "only the kernel's part" },
	{ OPT_FLAG, 0, "user-callchains", AT(user_chains), .help = "only the user's part" },
	{ OPT_FLAG, 'd', "data", AT(addresses), .help = "data addresses, and maps of data" },
	{ OPT_FLAG, 0, "phys-data", AT(phys_addresses), .help = "physical data addresses" },
	{ OPT_FLAG, 0, "data-page-size", AT(data_page_size), .help = "page sizes of data addresses" },
	{ OPT_FLAG, 0, "code-page-size", AT(code_page_size), .help = "page sizes of code addresses" },
	{ OPT_CALL, 'T', "timestamp", .call = done_anyway, .help = "times (always recorded)" },
	{ OPT_FLAG, 'P', "period", AT(want_period), .help = "periods, also where they are fixed" },
	{ OPT_FLAG, 0, "sample-cpu", AT(sample_cpu), .help = "CPUs, also of single processes" },
	{ OPT_CALL, 0, "sample-identifier", .call = done_anyway,
	  .help = "event ids (always recorded)" },
	{ OPT_FLAG, 'R', "raw-samples", AT(raw), .help = "raw data, of other events than tracepoints too" },
	{ OPT_FLAG, 'W', "weight", AT(weight), .help = "weights, e.g. the latency of a load" },
	{ OPT_FLAG, 0, "transaction", AT(transaction), .help = "flags of hardware transactions" },
	{ OPT_FLAG, 'b', "branch-any", AT(branch_any), .help = "the branches taken before" },
	{ OPT_STR, 'j', "branch-filter", AT(branch_filter), "KINDS",
	  "branches of these kinds: any, any_call, any_ret, cond, ind_call, u, k ..." },
	{ OPT_STR, 'I', "intr-regs", AT(intr_regs), "REGS", "registers when sampled; =? lists them",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_STR, 0, "user-regs", AT(user_regs), "REGS", "registers of user space; =? lists them",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "all-cgroups", AT(all_cgroups), .help = "cgroups, and their names" },
	{ OPT_FLAG, 's', "stat", AT(counts), .help = "counts of each thread when it ends" },
	{ OPT_FLAG, 0, "namespaces", AT(namespaces), .help = "namespaces of new processes" },
	{ OPT_FLAG, 0, "switch-events", AT(switches), .help = "context switches" },
	{ OPT_FLAG, 0, "latency", AT(latency), .help = "the same, for 'report --latency' of some processes" },
	{ OPT_FLAG, 0, "text-poke", AT(text_poke),
	  .help = "changes of the kernel's own code (Linux 5.9)" },
	{ OPT_FLAG, 0, "no-bpf-event", AT(no_bpf), .flags = OPTF_NEGATED,
	  .help = "nothing about BPF programs" },
	{ OPT_STR, 'k', "clockid", AT(clockid), "CLOCK",
	  "times of this clock: monotonic, monotonic_raw, boottime, realtime, tai" },
	{ OPT_GROUP, .help = "Rings" },
	{ OPT_STR, 'm', "mmap-pages", AT(pages), "PAGES[,AUX]",
	  "data pages per ring, or bytes as in 8M; behind the comma those of an AUX area" },
	{ OPT_STR, 'S', "snapshot", AT(snapshot), "[e]SIZE",
	  "of AUX areas (intel_pt, arm_spe ...) keep the newest; write SIZE of it on SIGUSR2, with e "
	  "at the end too", .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_STR, 0, "aux-sample", AT(aux_sample), "SIZE",
	  "of AUX areas put SIZE (4K) into each sample of the events grouped with theirs",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "overwrite", AT(overwrite),
	  .help = "keep the newest in the rings; write them at the end or at a switch" },
	{ OPT_FLAG, 0, "no-buffering", AT(no_buffering), .flags = OPTF_NEGATED,
	  .help = "wake up for each sample: soon, but at ten times the cost" },
	{ OPT_UINT, 'r', "realtime", AT(realtime), "PRIORITY",
	  "empty the rings before all else, with this priority of SCHED_FIFO", .min = 1, .max = 99 },
	{ OPT_STR, 0, "threads", AT(threads), "LAYOUT",
	  "read the rings with several threads into a directory: one per cpu, core, package or numa "
	  "node, or CPUS/CPUS:... (whose rings / where to run)", .flags = OPTF_OPTIONAL,
	  .value = "cpu", .complete = "cpu core package numa" },
	{ OPT_GROUP, .help = "Output" },
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write FILE instead of perf.data; -: a stream to stdout", .complete = "file" },
	{ OPT_STR, 'z', "compression-level", AT(compress), "LEVEL", "compress, from 1 (fast) to 22",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_STR, 0, "max-size", AT(max_size), "SIZE", "end when the data has SIZE, e.g. 100M" },
	{ OPT_STR, 0, "switch-output", AT(switch_output), "WHEN",
	  "begin a new file on SIGUSR2 (signal), at a size (100M) or after a time (30s)",
	  .flags = OPTF_OPTIONAL, .value = "signal" },
	{ OPT_UINT, 0, "switch-max-files", AT(switch_max_files), "N",
	  "with --switch-output: keep the newest N files", .min = 1, .max = UINT32_MAX },
	{ OPT_FLAG, 0, "timestamp-filename", AT(timestamp_filename),
	  .help = "put the time behind the file's name" },
	{ OPT_CALL, 0, "timestamp-boundary", .call = done_anyway,
	  .help = "times of the first and last sample (always recorded)" },
	{ OPT_STR, 0, "synth", AT(synth), "WHAT",
	  "what to tell of running processes: all, no, task, mmap (with task), cgroup",
	  .complete = "all no task mmap cgroup" },
	{ OPT_FLAG, 0, "tail-synthesize", AT(tail_synth), .help = "tell it at the end of the file" },
	{ OPT_FLAG, 'B', "no-buildid", AT(no_build_ids), .flags = OPTF_NEGATED,
	  .help = "no table of build ids" },
	{ OPT_FLAG, 0, "buildid-all", AT(all_build_ids),
	  .help = "build ids of all objects, not only of those with samples" },
	{ OPT_CALL, 0, "buildid-mmap", .call = done_anyway,
	  .help = "build ids in the records of maps (always, from Linux 5.12 on)" },
	{ OPT_CALL, 'N', "no-buildid-cache", .call = done_anyway,
	  .help = "copy no objects into the build-id cache (never done)" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), .help = "print nothing but errors" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose),
	  .help = "say what was done differently; -vv: the events' attributes" },
	{ OPT_FLAG, 0, "dry-run", AT(dry_run), .help = "check the options and end" },
	{ OPT_FLAG, 0, "dump-attr", AT(dump_attr), .flags = OPTF_HIDDEN,
	  .help = "open, print every perf_event_attr, and end" },
	REFUSED(0, "affinity", "--threads has the rings read where they are filled"),
	REFUSED(0, "aio", "writing does not wait for the disk; --threads writes with several threads"),
	REFUSED(0, "mmap-flush",
		"the rings are emptied long before they are full, and once a second"),
	REFUSED(0, "clang-path", NO_BPF),
	REFUSED(0, "clang-opt", NO_BPF),
	REFUSED(0, "off-cpu", NO_BPF),
	REFUSED(0, "vmlinux", "it is for probes; names of probes come from where they were made"),
	REFUSED(0, "group", "write a group as -e '{cycles,instructions}'"),
	REFUSED(0, "kcore",
		"'archive' keeps objects; report reads the running kernel's symbols from kallsyms"),
	REFUSED(0, "num-thread-synthesize",
		"maps of running processes are read by one thread, which is quick enough"),
	REFUSED(0, "proc-map-timeout", "reading the maps of a process does not wait for it"),
	REFUSED(0, "debuginfod", "debug files are looked for when the recording is read"),
	REFUSED(0, "running-time", "times are recorded with -s as they are"),
	REFUSED(0, "switch-output-event",
		"--switch-output takes a signal, a size or a time, and --control fifo: the word snapshot"),
	REFUSED('n', "no-samples", "a recording without samples would hold maps only; 'stat' counts"),
	{ .kind = OPT_END },
};

/* Everything one invocation carries from step to step. */
struct record_session {
	struct record_opts *o;
	int argc;
	char **argv;
	struct record_plan plan;
	struct tacho *t;
	struct tacho_sampler *sampler;
	struct tacho_command *command;
	struct record_file file;
	struct record_loop loop;
	struct strlist cmdline;
	bool on_exec;			/* the command's exec starts the events */
	int status;
};

static void defaults(void *opts)
{
	struct record_opts *o = opts;

	o->no_inherit = "";
}

static void done(void *opts)
{
	struct record_opts *o = opts;

	vec_done(&o->event_args);
}

static int wrong(const char *text)
{
	message_text("record", "%s", text);
	return EXIT_USAGE;
}

/* Options that contradict each other, or lack one another; 0 or an exit status. */
static int check_options(const struct record_opts *o, int argc)
{
	bool tasks = o->pids || o->tids || o->user, cpus = o->all_cpus || o->cpus;

	if (o->freq && o->period)
		return wrong("-F and -c cannot be used together");
	if (o->pids && o->tids)
		return wrong("-p and -t cannot be used together");
	if (o->user && (o->pids || o->tids))
		return wrong("-u is all of a user's processes: it cannot be used with -p or -t");
	if (o->all_cpus && (tasks || o->cpus))
		return wrong("-a is the whole machine: it cannot be used with -p, -t, -u or -C");
	if (o->latency && (o->all_cpus || o->cpus || (!tasks && argc == 0)))
		return wrong("--latency is of a command or of some processes: with -a or -C take --switch-events");
	if (o->all_user && o->all_kernel)
		return wrong("--all-user and --all-kernel leave nothing to sample");
	if (o->kernel_chains && o->user_chains)
		return wrong("--kernel-callchains and --user-callchains leave nothing of a chain");
	if ((o->kernel_chains || o->user_chains) && !o->chains && !o->call_graph)
		return wrong("--kernel-callchains and --user-callchains need -g or --call-graph");
	if (event_args_have(&o->event_args, EVENT_ARG_CGROUPS) && !cpus)
		return wrong("cgroups can only be recorded per CPU: add -a or -C");
	if (o->per_thread && (cpus || (argc == 0 && !tasks)))
		return wrong("--per-thread goes with a command, -p, -t or -u");
	if (o->branch_any && o->branch_filter)
		return wrong("-b and -j cannot be used together");
	if (o->switch_max_files && !o->switch_output)
		return wrong("--switch-max-files needs --switch-output");
	if (o->overwrite && o->no_buffering)
		return wrong("--overwrite and --no-buffering cannot be used together");
	if (o->threads && (o->overwrite || o->per_thread || o->switch_output))
		return wrong("--threads cannot be used with --overwrite, --per-thread or --switch-output");
	if (o->snapshot && (o->aux_sample || o->switch_output || o->threads))
		return wrong("-S cannot be used with --aux-sample, --switch-output or --threads");
	if (o->no_build_ids && o->all_build_ids)
		return wrong("-B and --buildid-all cannot be used together");
	return 0;
}

/* -o -, or no -o and stdout is a pipe. */
static bool wants_pipe(const struct record_opts *o)
{
	struct stat st;

	if (o->output)
		return strcmp(o->output, "-") == 0;
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* In a pipe stdout is ours: the command's own output goes to stderr instead. */
static int spawn(struct record_session *s)
{
	struct tacho_error e = { .column = -1 };
	int keep = -1, err;

	if (!s->argc)
		return 0;
	if (s->file.pipe) {
		fflush(stdout);
		keep = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(STDERR_FILENO, STDOUT_FILENO);
	}
	err = tacho_command_spawn(&s->command, s->argv, &e);
	if (keep >= 0) {
		dup2(keep, STDOUT_FILENO);
		close(keep);
	}
	if (err < 0)
		message_error("record", NULL, NULL, &e);
	return err;
}

static void dump_attrs(const struct record_session *s, FILE *to)
{
	for (size_t i = 0; i < tacho_sampler_size(s->sampler); i++) {
		unsigned char attr[256] = { 0 };
		scoped(freep) char *text = NULL;

		if (tacho_sampler_attr(s->sampler, i, attr, sizeof(attr), NULL) < 0)
			continue;
		text = tacho_attr_text(attr, sizeof(attr));
		if (text)
			fprintf(to, "event %s\n%s\n", tacho_sampler_event(s->sampler, i)->name, text);
	}
}

/* Events that cannot be had are told, and do not stop the others. */
static void tell_refused(const struct record_session *s)
{
	size_t n;
	const struct tacho_note *notes = tacho_sampler_notes(s->sampler, &n);

	for (size_t i = 0; i < tacho_sampler_size(s->sampler); i++) {
		const char *why = NULL;

		if (tacho_sampler_attr(s->sampler, i, &(char){ 0 }, 1, &why) == -ENODEV && !s->o->quiet)
			message_text("record", "%s is not recorded: %s", tacho_sampler_event(s->sampler, i)->name,
				     why ? why : "the event could not be opened");
	}
	for (size_t i = 0; !s->o->quiet && i < n; i++)
		message_text("record", "%s", notes[i].text);
}

/* -D: the events wait for their time, or for a word. */
static bool starts_off(const struct record_session *s)
{
	return s->plan.waits || s->plan.ranges.n;
}

static int open_sampler(struct record_session *s)
{
	struct tacho_evset_opts *t = &s->plan.sampler.target;
	struct tacho_error e = { .column = -1 };
	int pid = s->command ? tacho_command_pid(s->command) : 0, n;
	bool alone = s->command && !t->n_pids && !t->n_tids && !t->by_uid && !t->all_cpus && !t->cpus;

	if (alone) {
		t->pids = &pid;
		t->n_pids = 1;
		s->on_exec = t->enable_on_exec = !starts_off(s);
	}
	n = tacho_sampler_open(s->sampler, &s->plan.sampler, &e);
	t->pids = s->plan.pids;
	if (n < 0) {
		message_error("record", NULL, NULL, &e);
		return n;
	}
	tell_refused(s);
	if ((s->o->snapshot || s->o->aux_sample) && tacho_sampler_n_aux(s->sampler) == 0) {
		s->status = wrong("-S and --aux-sample need an event with an AUX area, such as intel_pt// "
				  "or arm_spe_0//");
		return -EINVAL;
	}
	if (s->o->verbose > 1)
		dump_attrs(s, stderr);
	return 0;
}

/* When the command has been forked, which is not to inherit it. */
static int raise_priority(const struct record_session *s)
{
	const struct sched_param param = { .sched_priority = (int)s->o->realtime };

	if (!s->o->realtime || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	message_text("record", "-r %u is refused: %s; CAP_SYS_NICE, or a limit of rtprio, allows it",
		     s->o->realtime, strerror(errno));
	return -EPERM;
}

static int prepare(struct record_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_open(&s->t, NULL, &e);

	if (err < 0) {
		message_error("record", NULL, NULL, &e);
		return err;
	}
	err = event_lists_add("record", s->t, &s->o->event_lists);
	if (err == 0)
		err = tacho_sampler_new(&s->sampler, s->t);
	if (err == 0)
		err = record_add_events(s->o, s->sampler);
	if (err == 0)
		err = control_open(&s->loop.control, "record", s->o->control);
	if (err < 0)
		s->status = EXIT_USAGE;
	return err;
}

static int synthesize(struct record_session *s)
{
	return tacho_sampler_synthesize(s->sampler, s->plan.synth, record_file_write, &s->file,
					&s->file.error);
}

static int start_threads(struct record_session *s)
{
	int err = record_threads_start(&s->file.threads, s->o->threads, s->file.path,
				       s->plan.compress_level);

	if (err < 0)
		s->status = EXIT_FAILED;
	return err;
}

static int start(struct record_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err;

	if (!starts_off(s) && !s->on_exec)
		tacho_sampler_start(s->sampler);
	else if (starts_off(s) && !s->o->quiet)
		fputs("Events disabled\n", stderr);
	if (!s->command)
		return 0;
	err = tacho_command_go(s->command, &e);
	if (err < 0) {
		message_error("record", NULL, NULL, &e);
		s->status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
	}
	return err;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void tell_losses(const struct record_session *s)
{
	for (size_t i = 0; i < tacho_sampler_size(s->sampler); i++) {
		struct tacho_sampler_stats st = { .size = sizeof(st) };
		const char *name = tacho_sampler_event(s->sampler, i)->name;

		tacho_sampler_stats(s->sampler, i, &st);
		if (st.lost && i + 1 == tacho_sampler_size(s->sampler))
			fprintf(stderr, "[ %s record: Lost %llu records of maps and tasks: some symbols may "
				"not be found ]\n", program_name, (unsigned long long)st.lost);
		else if (st.lost)
			fprintf(stderr, "[ %s record: Lost %llu of %llu samples of %s; -m takes a larger "
				"buffer ]\n", program_name, (unsigned long long)st.lost,
				(unsigned long long)(st.lost + st.samples), name);
		if (st.throttled)
			fprintf(stderr, "[ %s record: The kernel paused %s %llu times for being too "
				"frequent ]\n", program_name, name, (unsigned long long)st.throttled);
	}
}

/* The two lines that everybody knows, and what was lost. */
static void tell_end(const struct record_session *s, bool complete)
{
	struct tacho_sampler_stats all = { .size = sizeof(all) };
	const struct record_file *f = &s->file;
	unsigned n_wakeups;

	if (s->o->quiet)
		return;
	tacho_sampler_stats(s->sampler, SIZE_MAX, &all);
	n_wakeups = s->loop.n_wakeups + s->file.threads.n_wakeups;
	fprintf(stderr, "[ %s record: Woken up %u times to write data ]\n", program_name,
		n_wakeups ? n_wakeups : 1);
	fprintf(stderr, "[ %s record: Captured and wrote %.3f MB %s", program_name,
		(double)f->bytes_total / 1048576.0, f->pipe ? "-" : f->path);
	if (complete)		/* how many of them fitted into the file is not known else */
		fprintf(stderr, " (%llu samples)", (unsigned long long)all.samples);
	fputs(" ]\n", stderr);
	tell_losses(s);
}

/* What is left in the rings, the losses as the kernel counted them, and the file's end. */
static int finish(struct record_session *s, int err)
{
	bool stamp = s->plan.switches || s->o->timestamp_filename;
	/* What a thread could not write is missing there; maps and tasks are not. */
	int threads = record_threads_stop(&s->file.threads), end;

	if (err == 0)
		err = record_drain(&s->loop, true);
	if (err == 0)
		err = tacho_sampler_settle(s->sampler, record_file_write, &s->file);
	if (err == 0 && s->o->tail_synth)
		err = synthesize(s);
	if (err < 0 && s->file.error.message[0])
		message_error("record", NULL, NULL, &s->file.error);
	end = record_file_finish(&s->file);
	if (end < 0 && err == 0)
		message_error("record", NULL, NULL, &s->file.error);
	if (end == 0 && stamp && !s->file.pipe)
		end = record_file_stamp(&s->file);
	if (err == 0)
		err = threads;
	tell_end(s, err == 0 && end == 0);
	return err < 0 ? err : end;
}

static int run_session(struct record_session *s)
{
	int err = prepare(s), named;

	if (err < 0 || s->o->dry_run)
		return err;
	err = spawn(s);
	if (s->file.pipe)	/* a reader that goes away is an error to tell, like a full disk */
		signal(SIGPIPE, SIG_IGN);
	if (err == 0)
		err = raise_priority(s);
	if (err == 0)
		err = open_sampler(s);
	if (err < 0)
		return err;
	if (s->o->dump_attr) {
		dump_attrs(s, stdout);
		return 0;
	}
	s->file.sampler = s->loop.sampler = s->file.threads.sampler = s->sampler;
	s->loop.command = s->command;
	err = record_file_open(&s->file);
	if (err < 0)
		return err;
	if (!s->o->tail_synth)
		err = synthesize(s);
	if (err == 0 && s->o->threads)
		err = start_threads(s);
	if (err == 0)
		err = start(s);
	named = err < 0 && s->status ? err : record_file_take_name(&s->file);
	if (named < 0) {		/* e.g. the command could not be started: nothing to keep */
		record_threads_stop(&s->file.threads);
		record_file_discard(&s->file);
		return named;
	}
	if (err == 0)
		err = record_file_checkpoint(&s->file);
	if (err == 0)
		err = record_loop_run(&s->loop);
	err = finish(s, err);
	if (err == 0 && s->command && s->loop.ended)
		s->status = exit_status(s->loop.usage.status);
	return err;
}

static void end_session(struct record_session *s)
{
	record_file_done(&s->file);
	tacho_sampler_free(s->sampler);
	tacho_command_free(s->command);
	record_plan_done(&s->plan);
	tacho_close(s->t);
	strlist_done(&s->cmdline);
}

static bool asks_for_registers(const struct record_opts *o)
{
	return (o->intr_regs && strcmp(o->intr_regs, "?") == 0) ||
	       (o->user_regs && strcmp(o->user_regs, "?") == 0);
}

static int record_run(void *opts, int argc, char **argv)
{
	struct record_opts *o = opts;
	struct record_session s = { .o = o, .argc = argc, .argv = argv };
	int status = check_options(o, argc), err;

	if (status)
		return status;
	if (asks_for_registers(o))
		return record_list_registers();
	s.file = (struct record_file){ .opts = o, .plan = &s.plan, .fd = -1, .pipe = wants_pipe(o),
				       .base = o->output ? o->output : "perf.data",
				       .threads = { .stop_fd = -1, .failed_fd = -1 },
				       .error = { .column = -1 } };
	s.loop = (struct record_loop){ .opts = o, .plan = &s.plan, .file = &s.file,
				       .usage.size = sizeof(s.loop.usage) };
	if (s.file.pipe && term_is_tty(STDOUT_FILENO))
		return wrong("a recording is not for a terminal; -o names a file");
	if (s.file.pipe && o->threads)
		return wrong("--threads makes a directory, which is nothing for a pipe");
	if (s.file.pipe && o->switch_output)
		return wrong("--switch-output needs files to switch between, not a pipe");
	err = record_plan_init(o, argc > 0, &s.plan);
	if (err < 0)
		s.status = EXIT_USAGE;
	if (err == 0)
		err = file_cmdline(&s.cmdline);
	s.file.argc = (int)s.cmdline.n;
	s.file.argv = s.cmdline.v;
	if (err == 0)
		err = run_session(&s);
	end_session(&s);
	if (err < 0)
		return s.status ? s.status : EXIT_FAILED;
	return s.status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "sample events into a perf.data file",
	.args = "[--] [COMMAND [ARG...]]",
	.rows = record_rows,
	.opts_size = sizeof(struct record_opts),
	.defaults = defaults,
	.run = record_run,
	.done = done,
	.stops_at_non_option = true,
	.complete_args = "command",
};
