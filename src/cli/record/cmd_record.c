/*
 * `tacho record`: samples events while a command runs, in running processes, on CPUs, in cgroups
 * or on the whole machine, and writes a perf.data file. This file has the options and the steps of a
 * recording; cli/record/record.h lists the other files.
 */
#include "cli/record/record.h"

#include <tacho/bpf.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "cli/events/list_option.h"
#include "cli/core/jit_env.h"
#include "cli/core/run_command.h"
#include "cli/core/terminal.h"

/* Accepts options of perf that are always on in tacho. */
static int accept_always_on(void *opts, const char *arg, struct tacho_error *e)
{
	(void)opts;
	(void)arg;
	(void)e;
	return 0;
}

static int clear_delay(void *opts, const char *arg, struct tacho_error *e)
{
	struct record_opts *o = opts;

	(void)arg;
	(void)e;
	o->delay = NULL;
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
	  .help = "record only samples that match, of the events of the -e before it" },
	{ OPT_STR, 0, "setup-filter", AT(setup_filter), "pin|unpin",
	  "let all users filter samples with --filter, until unpin or the next boot; only root can", .complete = "pin unpin" },
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
	  "single threads, without threads and children they start (unless --inherit is given)" },
	{ OPT_STR, 'u', "uid", AT(user), "USER",
	  "all processes of a user; with CAP_BPF and CAP_PERFMON also those that start later" },
	{ OPT_CALL, 'G', "cgroup", .arg = "NAMES", .call = event_args_add_cgroups,
	  .help = "a cgroup for each event before it; one name serves all (with -a or -C)" },
	{ OPT_FLAG, 'i', "no-inherit", AT(no_inherit), .flags = OPTF_NEGATED, .value = "-i",
	  .help = "do not follow threads and children started later" },
	{ OPT_FLAG, 0, "per-thread", AT(per_thread),
	  .help = "one ring buffer per thread instead of per CPU; children are not followed" },
	{ OPT_GROUP, .help = "How often" },
	{ OPT_STR, 'F', "freq", AT(freq), "N|max", "N samples a second (default 4000), or the most allowed" },
	{ OPT_U64, 'c', "count", AT(period), "N", "a sample every N events", .min = 1 },
	{ OPT_FLAG, 0, "strict-freq", AT(strict_freq),
	  .help = "fail instead of lowering a frequency the kernel does not allow" },
	{ OPT_STR, 'D', "delay", AT(delay), "MSEC",
	  "start MSEC milliseconds after the command; -1: start by --control; 10-20,30-40: only in "
	  "these ranges, then end" },
	{ OPT_CALL, 0, "no-delay", .call = clear_delay, .help = "the opposite of an earlier -D" },
	{ OPT_STR, 0, "control", AT(control), "fd:CTL[,ACK]|fifo:CTL[,ACK]",
	  "read enable, disable, snapshot, stop and ping from CTL; write ack to ACK" },
	{ OPT_GROUP, .help = "What a sample holds" },
	{ OPT_FLAG, 'g', NULL, AT(chains), .help = "call chains, by frame pointers" },
	{ OPT_STR, 0, "call-graph", AT(call_graph), "MODE",
	  "call chains: fp[,defer], lbr, dwarf[,BYTES] (unwound while recording from copies of the stack; with "
	  ",raw the copies are recorded instead), or auto (dwarf where it is possible, else fp)",
	  .complete = "auto fp dwarf lbr" },
	{ OPT_FLAG, 0, "kernel-callchains", AT(kernel_chains), .help = "only the kernel part of call chains" },
	{ OPT_FLAG, 0, "user-callchains", AT(user_chains), .help = "only the user part of call chains" },
	{ OPT_FLAG, 'd', "data", AT(addresses),
	  .help = "data addresses; includes --data-mmap and --sample-mem-info" },
	{ OPT_FLAG, 0, "data-mmap", AT(data_mmaps), .help = "mappings of data" },
	{ OPT_FLAG, 0, "sample-mem-info", AT(mem_info),
	  .help = "where memory accesses found their data (of some events of some processors)" },
	{ OPT_FLAG, 0, "phys-data", AT(phys_addresses), .help = "physical data addresses" },
	{ OPT_FLAG, 0, "data-page-size", AT(data_page_size), .help = "page sizes of data addresses" },
	{ OPT_FLAG, 0, "code-page-size", AT(code_page_size), .help = "page sizes of code addresses" },
	{ OPT_CALL, 'T', "timestamp", .call = accept_always_on, .help = "timestamps (always recorded)" },
	{ OPT_FLAG, 'P', "period", AT(want_period), .help = "periods, even if they are fixed" },
	{ OPT_FLAG, 0, "sample-cpu", AT(sample_cpu), .help = "CPUs, also when recording processes" },
	{ OPT_CALL, 0, "sample-identifier", .call = accept_always_on,
	  .help = "event ids (always recorded)" },
	{ OPT_FLAG, 'R', "raw-samples", AT(raw), .help = "raw data, not only of tracepoints" },
	{ OPT_FLAG, 'W', "weight", AT(weight), .help = "weights, e.g. the latency of a load" },
	{ OPT_FLAG, 0, "transaction", AT(transaction), .help = "flags of hardware transactions" },
	{ OPT_FLAG, 'b', "branch-any", AT(branch_any), .help = "the last branches taken" },
	{ OPT_STR, 'j', "branch-filter", AT(branch_filter), "KINDS",
	  "the last branches of these kinds: any, any_call, any_ret, cond, ind_call, u, k ..." },
	{ OPT_STR, 'I', "intr-regs", AT(intr_regs), "REGS", "registers at the sample; =? lists them",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_STR, 0, "user-regs", AT(user_regs), "REGS", "registers of user space; =? lists them",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "all-cgroups", AT(all_cgroups), .help = "cgroups, and their names" },
	{ OPT_FLAG, 's', "stat", AT(counts), .help = "event counts of each thread when it ends" },
	{ OPT_FLAG, 'n', "no-samples", AT(no_samples), .flags = OPTF_NEGATED,
	  .help = "only mappings, tasks and the counts of -s" },
	{ OPT_FLAG, 0, "running-time", AT(read_times),
	  .help = "enabled and running times in samples of group values (modifier S)" },
	{ OPT_FLAG, 0, "namespaces", AT(namespaces), .help = "namespaces of new processes" },
	{ OPT_FLAG, 0, "off-cpu", AT(off_cpu),
	  .help = "how long threads were blocked, by stack, as the event offcpu-time in nanoseconds; without -e "
		  "beside cpu-clock" },
	{ OPT_UINT, 0, "off-cpu-thresh", AT(off_cpu_ms), "MSEC",
	  "with --off-cpu: times below MSEC (default 500) are added up by thread and stack; 0: none" },
	{ OPT_FLAG, 0, "switch-events", AT(switches), .help = "context switches" },
	{ OPT_FLAG, 0, "latency", AT(latency), .help = "the same, for 'report --latency' of a command or processes" },
	{ OPT_FLAG, 0, "text-poke", AT(text_poke),
	  .help = "changes to the kernel's own code (Linux 5.9)" },
	{ OPT_FLAG, 0, "no-bpf-event", AT(no_bpf), .flags = OPTF_NEGATED,
	  .help = "do not record BPF programs and their symbols" },
	{ OPT_STR, 'k', "clockid", AT(clockid), "CLOCK",
	  "clock of the timestamps: monotonic, monotonic_raw, boottime, realtime, tai" },
	{ OPT_FLAG, 0, "jit", AT(jit),
	  .help = "record names of JIT-compiled functions: start Node, Java, Python and .NET so that they write them, and "
		  "ask running JVMs" },
	{ OPT_FLAG, 0, "embed-symbols", AT(embed_symbols),
	  .help = "at the end, put the names, source lines and inlined functions of the samples into the file, so that it can be "
		  "read on other machines" },
	{ OPT_GROUP, .help = "Ring buffers" },
	{ OPT_STR, 'm', "mmap-pages", AT(pages), "PAGES[,AUX]",
	  "data pages per ring buffer, or bytes as in 8M; after the comma those of an AUX area" },
	{ OPT_STR, 'S', "snapshot", AT(snapshot), "[e]SIZE",
	  "overwrite AUX areas (intel_pt, arm_spe ...); write the newest SIZE bytes on SIGUSR2, with e "
	  "also at the end", .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_STR, 0, "aux-sample", AT(aux_sample), "SIZE",
	  "put SIZE bytes (4K) of the AUX area into each sample of the other events of its group",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_FLAG, 0, "overwrite", AT(overwrite),
	  .help = "overwrite the oldest samples in the ring buffers; write them at the end or at a switch" },
	{ OPT_FLAG, 0, "no-buffering", AT(no_buffering), .flags = OPTF_NEGATED,
	  .help = "wake up for each sample, at ten times the cost" },
	{ OPT_UINT, 'r', "realtime", AT(realtime), "PRIORITY",
	  "run the recorder with this SCHED_FIFO priority", .min = 1, .max = 99 },
	{ OPT_STR, 0, "threads", AT(threads), "LAYOUT",
	  "read the ring buffers with several threads into a directory: one per cpu, core, package or "
	  "numa node, or CPUS/CPUS:... (CPUs whose buffers are read / CPUs to run on)",
	  .flags = OPTF_OPTIONAL, .value = "cpu", .complete = "cpu core package numa" },
	{ OPT_GROUP, .help = "Output" },
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write to FILE instead of perf.data; -: to stdout in pipe format", .complete = "file" },
	{ OPT_STR, 'z', "compression-level", AT(compress), "LEVEL", "compress, from 1 (fast) to 22; perf before 6.16 cannot read the file",
	  .flags = OPTF_OPTIONAL, .value = "" },
	{ OPT_STR, 0, "max-size", AT(max_size), "SIZE", "end before the output exceeds SIZE, e.g. 100M" },
	{ OPT_STR, 0, "switch-output", AT(switch_output), "WHEN",
	  "begin a new file on SIGUSR2 (signal), at a size (100M) or after a time (30s)",
	  .flags = OPTF_OPTIONAL, .value = "signal" },
	{ OPT_UINT, 0, "switch-max-files", AT(switch_max_files), "N",
	  "with --switch-output: keep the newest N files", .min = 1, .max = UINT32_MAX },
	{ OPT_FLAG, 0, "timestamp-filename", AT(timestamp_filename),
	  .help = "append the time to the file's name" },
	{ OPT_CALL, 0, "timestamp-boundary", .call = accept_always_on,
	  .help = "times of the first and last sample (always recorded)" },
	{ OPT_STR, 0, "synth", AT(synth), "WHAT",
	  "what to record of running processes: all, no, task, mmap (with task), cgroup",
	  .complete = "all no task mmap cgroup" },
	{ OPT_FLAG, 0, "tail-synthesize", AT(tail_synth), .help = "record it at the end of the file" },
	{ OPT_FLAG, 'B', "no-buildid", AT(no_build_ids), .flags = OPTF_NEGATED,
	  .help = "no table of build IDs" },
	{ OPT_FLAG, 0, "buildid-all", AT(all_build_ids),
	  .help = "build IDs of all objects, not only of those with samples" },
	{ OPT_FLAG, 0, "no-buildid-mmap", AT(no_mmap_ids), .flags = OPTF_NEGATED,
	  .help = "no build IDs in mmap records (recorded since Linux 5.12)" },
	{ OPT_FLAG, 'N', "no-buildid-cache", AT(no_cache), .flags = OPTF_NEGATED,
	  .help = "do not copy the objects with samples into the build ID cache (see tacho-buildid-cache(1))" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), .help = "print nothing but errors" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose),
	  .help = "print what was changed or left out; -vv: the events' attributes" },
	{ OPT_FLAG, 0, "dry-run", AT(dry_run), .help = "check the options and exit" },
	{ OPT_FLAG, 0, "dump-attr", AT(dump_attr), .flags = OPTF_HIDDEN,
	  .help = "open the events, print every perf_event_attr, and exit" },
	NOTED(0, "affinity", "MODE", "--threads reads each ring buffer on its own CPU"),
	NOTED_OPTIONAL(0, "aio", "N", "writing does not wait for the disk; --threads writes with several threads"),
	NOTED(0, "mmap-flush", "BYTES", "ring buffers are drained long before they are full, and once a second"),
	NOTED(0, "vmlinux", "FILE", "it is for probes, which must be defined before recording"),
	NOTED(0, "group", NULL, "a group is written as -e '{cycles,instructions}'"),
	NOTED(0, "num-thread-synthesize", "N",
	      "mappings of running processes are read by one thread, which is fast enough"),
	NOTED(0, "proc-map-timeout", "MSEC", "reading the mappings of a process does not block"),
	NOTED_OPTIONAL(0, "debuginfod", "URLS", "debug files are searched for when the recording is read"),
	REFUSED(0, "clang-path", NO_BPF),
	REFUSED(0, "clang-opt", NO_BPF),
	REFUSED(0, "kcore",
		"use 'archive' to save objects; report reads the running kernel's symbols from kallsyms"),
	REFUSED(0, "switch-output-event",
		"--switch-output accepts a signal, a size or a time, and --control the command snapshot"),
	{ .kind = OPT_END },
};

/* State of one recording. */
struct record_session {
	struct record_opts *o;
	int argc;
	char **argv;
	struct record_plan plan;
	struct tacho *t;
	struct tacho_recorder *recorder;
	struct tacho_sampler *sampler;	/* owned by the recorder */
	struct tacho_command *command;
	struct record_file file;
	struct record_loop loop;
	struct strlist cmdline;
	bool on_exec;			/* events are enabled by the command's exec */
	int status;
};

static void defaults(void *opts)
{
	struct record_opts *o = opts;

	o->no_inherit = "";
	o->off_cpu_ms = OFF_CPU_THRESHOLD_MS;
}

static void done(void *opts)
{
	struct record_opts *o = opts;

	vec_done(&o->event_args);
}

static int usage_error(const char *text)
{
	message_text("record", "%s", text);
	return EXIT_USAGE;
}

/* Refuses options that contradict each other or need others. Returns 0 or an exit status. */
static int check_options(const struct record_opts *o, int argc)
{
	bool tasks = o->pids || o->tids || o->user, cpus = o->all_cpus || o->cpus;

	if (o->freq && o->period)
		return usage_error("-F and -c cannot be used together");
	if (o->pids && o->tids)
		return usage_error("-p and -t cannot be used together");
	if (o->user && (o->pids || o->tids))
		return usage_error("-u records all processes of a user: it cannot be used with -p or -t");
	if (o->all_cpus && (o->pids || o->tids || o->cpus))
		return usage_error("-a records the whole machine: it cannot be used with -p, -t or -C");
	if (o->latency && (o->all_cpus || o->cpus || (!tasks && argc == 0)))
		return usage_error("--latency needs a command or processes: with -a or -C use --switch-events");
	if (o->all_user && o->all_kernel)
		return usage_error("--all-user and --all-kernel leave nothing to sample");
	if (o->kernel_chains && o->user_chains)
		return usage_error("--kernel-callchains and --user-callchains leave no call chain to record");
	if ((o->kernel_chains || o->user_chains) && !o->chains && !o->call_graph)
		return usage_error("--kernel-callchains and --user-callchains need -g or --call-graph");
	if (event_args_have(&o->event_args, EVENT_ARG_CGROUPS) && !cpus)
		return usage_error("cgroups can only be recorded per CPU: add -a or -C");
	if (o->per_thread && (cpus || (argc == 0 && !tasks)))
		return usage_error("--per-thread goes with a command, -p, -t or -u");
	if (o->branch_any && o->branch_filter)
		return usage_error("-b and -j cannot be used together");
	if (o->switch_max_files && !o->switch_output)
		return usage_error("--switch-max-files needs --switch-output");
	if (o->overwrite && o->no_buffering)
		return usage_error("--overwrite and --no-buffering cannot be used together");
	if (o->threads && (o->overwrite || o->per_thread || o->switch_output))
		return usage_error("--threads cannot be used with --overwrite, --per-thread or --switch-output");
	if (o->snapshot && (o->aux_sample || o->switch_output || o->threads))
		return usage_error("-S cannot be used with --aux-sample, --switch-output or --threads");
	if (o->off_cpu && (o->threads || o->overwrite || o->snapshot || o->aux_sample || o->all_user || o->no_samples))
		return usage_error("--off-cpu cannot be used with --threads, --overwrite, -S, --aux-sample, --all-user or -n");
	if (o->embed_symbols && (o->threads || o->no_samples))
		return usage_error("--embed-symbols cannot be used with --threads or -n");
	if (o->no_build_ids && o->all_build_ids)
		return usage_error("-B and --buildid-all cannot be used together");
	return 0;
}

/* Returns whether to write to stdout: -o -, or no -o and stdout is a pipe. */
static bool wants_pipe(const struct record_opts *o)
{
	struct stat st;

	if (o->output)
		return strcmp(o->output, "-") == 0;
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Forks the command, which waits until start() lets it run. If the recording goes to stdout, the
 * command's stdout is redirected to stderr. */
static int spawn_command(struct record_session *s)
{
	struct jit_env env = { 0 };
	int keep = -1, err = 0;

	if (!s->argc)
		return 0;
	if (s->o->jit)
		err = jit_env_set(&env);
	if (err < 0)
		return err;
	if (s->file.pipe) {
		fflush(stdout);
		keep = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(STDERR_FILENO, STDOUT_FILENO);
	}
	err = run_command_hold(&s->command, "record", s->argv);
	jit_env_restore(&env);
	if (keep >= 0) {
		dup2(keep, STDOUT_FILENO);
		close(keep);
	}
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

/* Prints the events that could not be opened, and the sampler's notes. */
static void print_refused_events(const struct record_session *s)
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

/* -D: events start disabled until a time or the control channel enables them. */
static bool starts_disabled(const struct record_session *s)
{
	return s->plan.waits || s->plan.ranges.n;
}

static int open_sampler(struct record_session *s)
{
	struct tacho_evset_opts *t = &s->plan.target;
	struct tacho_error e = { .column = -1 };
	int pid = s->command ? tacho_command_pid(s->command) : 0, n;
	bool alone = s->command && !t->n_pids && !t->n_tids && !t->by_uid && !t->all_cpus && !t->cpus;

	if (alone) {
		t->pids = &pid;
		t->n_pids = 1;
		s->on_exec = t->enable_on_exec = !starts_disabled(s);
	}
	n = tacho_sampler_open(s->sampler, &s->plan.sampler, &e);
	t->pids = s->plan.pids;
	if (n < 0) {
		message_error("record", NULL, NULL, &e);
		return n;
	}
	print_refused_events(s);
	if ((s->o->snapshot || s->o->aux_sample) && tacho_sampler_n_aux(s->sampler) == 0) {
		s->status = usage_error("-S and --aux-sample need an event with an AUX area, such as intel_pt// "
				  "or arm_spe_0//");
		return -EINVAL;
	}
	if (s->o->verbose > 1)
		dump_attrs(s, stderr);
	return 0;
}

/* Called after the command was forked, so that the command does not inherit the priority. */
static int raise_priority(const struct record_session *s)
{
	const struct sched_param param = { .sched_priority = (int)s->o->realtime };

	if (!s->o->realtime || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	message_text("record", "cannot set priority -r %u: %s; it needs CAP_SYS_NICE or a higher ulimit -r",
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
		err = tacho_recorder_new(&s->recorder, s->t);
	if (err == 0) {
		s->sampler = tacho_recorder_sampler(s->recorder);
		err = record_add_events(s->o, s->sampler);
	}
	if (err == 0)
		err = control_open(&s->loop.control, "record", s->o->control);
	if (err < 0)
		s->status = EXIT_USAGE;
	return err;
}

static int synthesize(struct record_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_recorder_synthesize(s->recorder, s->plan.synth, &e);

	if (err < 0)
		message_error("record", NULL, NULL, &e);
	return err;
}

static int start_threads(struct record_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_recorder_start_threads(s->recorder, s->o->threads, &e);

	if (err < 0) {
		message_error("record", "--threads", s->o->threads, &e);
		s->status = EXIT_FAILED;
	}
	return err;
}

/* Enables the events and lets the command run. */
static int start(struct record_session *s)
{
	if (!starts_disabled(s) && !s->on_exec)
		tacho_sampler_start(s->sampler);
	else if (starts_disabled(s) && !s->o->quiet)
		fputs("Events disabled\n", stderr);
	return run_command_release(s->command, "record", &s->status);
}

static void print_losses(const struct record_session *s)
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

/* Reports how many stacks were unwound whole, if any were unwound while recording. */
static void print_stacks(const struct tacho_recorder_stats *st)
{
	if (!st->stacks)
		return;
	fprintf(stderr, "[ %s record: Unwound %llu stacks, %.1f %% of them up to their start", program_name,
		(unsigned long long)st->stacks, 100.0 * (double)st->whole_stacks / (double)st->stacks);
	if (st->truncated_stacks)
		fprintf(stderr, "; %llu are deeper than the copy of the stack, --call-graph dwarf,65528 takes the "
			"largest", (unsigned long long)st->truncated_stacks);
	fputs(" ]\n", stderr);
}

/* Prints perf's two lines at the end of a recording, and what was lost. */
static void print_summary(const struct record_session *s, bool complete)
{
	struct tacho_sampler_stats all = { .size = sizeof(all) };
	struct tacho_recorder_stats written = { .size = sizeof(written) };
	unsigned n_wakeups;

	if (s->o->quiet)
		return;
	tacho_sampler_stats(s->sampler, SIZE_MAX, &all);
	tacho_recorder_stats(s->recorder, &written);
	n_wakeups = s->loop.n_wakeups + written.thread_wakeups;
	fprintf(stderr, "[ %s record: Woken up %u times to write data ]\n", program_name,
		n_wakeups ? n_wakeups : 1);
	fprintf(stderr, "[ %s record: Captured and wrote %.3f MB %s", program_name,
		(double)written.total_bytes / 1048576.0, s->file.pipe ? "-" : s->file.out.path);
	if (complete)		/* otherwise the number of written samples is unknown */
		fprintf(stderr, " (%llu samples)", (unsigned long long)(all.samples - written.samples_left_out));
	fputs(" ]\n", stderr);
	print_stacks(&written);
	if (written.off_cpu_dropped)
		fprintf(stderr, "[ %s record: Dropped %llu times that threads were blocked: too many stacks at once ]\n",
			program_name, (unsigned long long)written.off_cpu_dropped);
	print_losses(s);
}

/* As in perf, the cache is not updated by recordings that must not stop for it. Reader threads do not find out which
 * objects have samples. */
static bool caches_objects(const struct record_session *s)
{
	const struct record_opts *o = s->o;

	return !o->no_cache && !o->no_build_ids && !o->switch_output && !o->threads && !s->file.pipe;
}

/* Drains the rings and completes the file, even after an error `err`, which was already reported. */
static int finish(struct record_session *s, int err)
{
	bool stamp = s->plan.switches || s->o->timestamp_filename;
	struct tacho_error e = { .column = -1 };
	int end;

	if (err == 0) {
		err = tacho_recorder_stop(s->recorder, record_takes_snapshot(&s->loop), &e);
		if (err < 0)
			message_error("record", NULL, NULL, &e);
	}
	if (err == 0 && s->o->tail_synth)
		err = synthesize(s);
	if (err == 0 && s->o->embed_symbols)
		record_embed_symbols(&s->file);
	end = tacho_recorder_finish(s->recorder, &e);
	if (end < 0 && err == 0)
		message_error("record", NULL, NULL, &e);
	if (end == 0 && stamp && !s->file.pipe)
		end = record_file_stamp(&s->file);
	if (err == 0 && end == 0 && caches_objects(s))
		record_cache_objects(s->o, s->sampler);
	print_summary(s, err == 0 && end == 0);
	return err < 0 ? err : end;
}

static int checkpoint(struct record_session *s)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_recorder_checkpoint(s->recorder, &e);

	if (err < 0)
		message_error("record", NULL, NULL, &e);
	return err;
}

/* Without a command and a target the whole machine is recorded, which not everybody expects. */
static void announce_target(const struct record_session *s)
{
	const struct record_opts *o = s->o;

	if (s->plan.target.all_cpus && !o->all_cpus && !o->quiet && !o->dump_attr)
		message_text("record", "no command, process or CPU is given: recording the whole machine until Ctrl-C");
}

static int run_session(struct record_session *s)
{
	int err = prepare(s), named;

	if (err < 0 || s->o->dry_run)
		return err;
	announce_target(s);
	err = spawn_command(s);
	if (s->file.pipe)	/* a closed pipe is a write error, like a full disk */
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
	s->file.recorder = s->loop.recorder = s->recorder;
	s->loop.sampler = s->sampler;
	s->loop.command = s->command;
	err = record_file_open(&s->file);
	if (err < 0)
		return err;
	if (!s->o->tail_synth)
		err = synthesize(s);
	if (err == 0 && s->o->threads)
		err = start_threads(s);
	if (err == 0 && s->o->jit)
		record_jit_ask(&s->plan, s->o->quiet);
	if (err == 0)
		err = start(s);
	named = err < 0 && s->status ? err : record_file_take_name(&s->file);
	if (named < 0) {		/* e.g. the command could not be started: keep the old file */
		record_file_discard(&s->file);
		return named;
	}
	if (err == 0)
		err = checkpoint(s);
	if (err == 0)
		err = record_loop_run(&s->loop);
	if (err == 0 && s->o->jit) {	/* the functions that were compiled meanwhile */
		record_jit_ask(&s->plan, true);
		record_jit_fetch(&s->plan, 0);
	}
	err = finish(s, err);
	if (err == 0 && s->command && s->loop.ended)
		s->status = run_command_exit_status(s->loop.usage.status);
	return err;
}

static void end_session(struct record_session *s)
{
	tacho_recorder_free(s->recorder);
	record_file_done(&s->file);
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

int record_run_opts(struct record_opts *o, int argc, char **argv)
{
	struct record_session s = { .o = o, .argc = argc, .argv = argv };
	int status = check_options(o, argc), err;

	if (status)
		return status;
	if (asks_for_registers(o))
		return record_list_registers();
	s.file = (struct record_file){ .opts = o, .plan = &s.plan, .pipe_fd = -1, .out.fd = -1, .pipe = wants_pipe(o),
				       .base = o->output ? o->output : "perf.data" };
	s.loop = (struct record_loop){ .opts = o, .plan = &s.plan, .file = &s.file,
				       .usage.size = sizeof(s.loop.usage) };
	if (s.file.pipe && term_is_tty(STDOUT_FILENO))
		return usage_error("cannot write a recording to a terminal; give a file with -o");
	if (s.file.pipe && o->threads)
		return usage_error("--threads writes a directory: it cannot be used with a pipe");
	if (s.file.pipe && o->switch_output)
		return usage_error("--switch-output writes several files: it cannot be used with a pipe");
	if (s.file.pipe && o->embed_symbols)
		return usage_error("--embed-symbols completes a file at its end: it cannot be used with a pipe");
	err = record_plan_init(o, argc > 0, &s.plan);
	if (err == 0 && o->embed_symbols && s.plan.raw_stacks) {
		message_text("record", "--embed-symbols: copies of stacks can be unwound on this machine only; use "
			     "--call-graph dwarf without raw");
		err = -EINVAL;
	}
	if (err < 0)
		s.status = EXIT_USAGE;
	if (err == 0)
		err = file_cmdline(&s.cmdline);
	s.file.argc = (int)s.cmdline.n;
	s.file.argv = s.cmdline.v;
	if (err == 0)
		err = run_session(&s);
	end_session(&s);
	message_if_out_of_memory("record", err);
	if (err < 0)
		return s.status ? s.status : EXIT_FAILED;
	return s.status;
}

static int setup_filter(const char *action)
{
	struct tacho_error e = { .column = -1 };
	bool pins = strcmp(action, "pin") == 0;

	if (!pins && strcmp(action, "unpin") != 0)
		return usage_error("--setup-filter is pin or unpin");
	if ((pins ? tacho_sample_filter_pin(&e) : tacho_sample_filter_unpin(&e)) < 0) {
		message_error("record", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	if (pins && !tacho_sample_filter_is_reachable())
		message_text("record", "other users cannot reach what is pinned, because /sys/fs/bpf is closed to them: "
			     "chmod o+x /sys/fs/bpf");
	return 0;
}

static int record_run(void *opts, int argc, char **argv)
{
	const struct record_opts *o = opts;

	return o->setup_filter ? setup_filter(o->setup_filter) : record_run_opts(opts, argc, argv);
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
