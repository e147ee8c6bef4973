/*
 * `tacho kvm`: `stat` measures what the host does for virtual machines; the other words run the command of their name on the
 * file that perf uses for virtual machines.
 */
#include "cli/kvm/kvm.h"

#include "cli/core/command_args.h"
#include "cli/kernel/record.h"

#include <errno.h>
#include <tacho/trace.h>

extern const struct command cmd_record, cmd_report, cmd_diff, cmd_buildid_list, cmd_top;

#define AT(field) offsetof(struct kvm_opts, field)
#define NO_GUEST_SYMBOLS "symbols of guests are not read: run tacho inside the guest for them"
#define EVENT_ROW { OPT_STR, 0, "event", AT(event), "EVENT", "vmexit (default); on x86 also mmio and ioport", .complete = "vmexit mmio ioport" }
#define VCPU_ROW { OPT_INT, 0, "vcpu", AT(vcpu), "N", "only the virtual CPU N of each machine", .min = 0, .max = INT32_MAX }
#define KEY_ROW { OPT_STR, 'k', "key", AT(key), "KEY", "sort by sample (default), time, max_t, min_t or mean_t", \
		  .complete = "sample percent_sample time percent_time max_t min_t mean_t" }
#define PID_ROW { OPT_STR, 'p', "pid", AT(pids), "PID,...", "only virtual machines of these processes", .complete = "pid" }

static const struct option_row kvm_rows[] = {
	KERNEL_INPUT_ROWS(struct kvm_opts),
	{ OPT_STR, 'o', "output", AT(output), "FILE", "the file of record", .complete = "file" },
	{ OPT_FLAG, 0, "host", AT(host), NULL, "the host: the file is perf.data.kvm" },
	{ OPT_FLAG, 0, "guest", AT(guest), NULL, "guests (default): the file is perf.data.guest; with --host --no-guest perf.data.host" },
	NOTED('v', "verbose", NULL, "errors are always reported"),
	REFUSED(0, "guest-code", NO_GUEST_SYMBOLS), REFUSED(0, "guestkallsyms", NO_GUEST_SYMBOLS),
	REFUSED(0, "guestmodules", NO_GUEST_SYMBOLS), REFUSED(0, "guestmount", NO_GUEST_SYMBOLS),
	REFUSED(0, "guestvmlinux", NO_GUEST_SYMBOLS),
	{ .kind = OPT_END },
};
static const struct option_row stat_rows[] = {
	KERNEL_INPUT_ROWS(struct kvm_opts),
	{ .kind = OPT_END },
};
static const struct option_row report_rows[] = {
	KERNEL_INPUT_ROWS(struct kvm_opts), KERNEL_TIME_ROW(struct kvm_opts), EVENT_ROW, VCPU_ROW, KEY_ROW, PID_ROW,
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.kvm-stat/1)" },
	NOTED(0, "stdio", NULL, "the table is always text"),
	{ .kind = OPT_END },
};
static const struct option_row live_rows[] = {
	EVENT_ROW, VCPU_ROW, KEY_ROW, PID_ROW,
	{ OPT_FLAG, 'a', "all-cpus", AT(all_cpus), NULL, "all virtual machines (default)" },
	{ OPT_UINT, 'd', "display", AT(display_s), "SECONDS", "time between two tables (default 1)", .min = 1, .max = 3600 },
	{ OPT_UINT, 0, "duration", AT(duration_us), "USEC", "also a line for each event that takes longer, unless the guest was idle" },
	{ OPT_STR, 'm', "mmap-pages", AT(mmap_pages), "PAGES", "size of the ring buffers (default 1024)" },
	NOTED('v', "verbose", NULL, "errors are always reported"),
	NOTED(0, "proc-map-timeout", "MSEC", "no maps of processes are read"),
	{ .kind = OPT_END },
};

static void kvm_defaults(void *opts)
{
	struct kvm_opts *o = opts;

	o->guest = true;
	o->vcpu = -1;
	o->display_s = 1;
}

const char *kvm_file(const struct kvm_opts *o)
{
	if (o->host == o->guest)
		return "perf.data.kvm";
	return o->host ? "perf.data.host" : "perf.data.guest";
}

const struct kernel_record_event *kvm_events(const char *command)
{
	static const struct kernel_record_event events[] = {
		{ "kvm:kvm_entry" }, { "kvm:kvm_exit" },
		{ "kvm:kvm_mmio", .optional = true }, { "kvm:kvm_pio", .optional = true },	/* not on every architecture */
		{ NULL },
	};
	struct tacho_trace *t = NULL;
	int err = tacho_trace_new_here(&t, NULL, &events[1].name, 1, NULL);

	tacho_trace_free(t);
	if (err != -ENOENT)
		return events;
	message_text(command, "this kernel has no tracepoint kvm:kvm_exit: its module kvm is not loaded ('modprobe kvm'), or it was built "
		     "without KVM");
	return NULL;
}

static int stat_record(const struct kvm_opts *o, int argc, char **argv)
{
	const char *const args[] = { "-R", "-m", "1024", "-c", "1", "-o", o->output ? o->output : kvm_file(o), NULL };
	const struct kernel_record_event *events = kvm_events("kvm stat record");

	return events ? kernel_record(args, events, argc, argv) : EXIT_FAILED;
}

static int stat_run(void *opts, int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "record"))
		return stat_record(opts, argc - 1, argv + 1);
	if (argc)
		message_text("kvm stat", "'%s' is none of record, report and live; 'tacho stat' counts other events", argv[0]);
	else
		message_text("kvm stat", "what to do? record, report or live");
	return EXIT_USAGE;
}

/* Words whose command is run with the file of virtual machines. */
static const struct kvm_wrapper {
	const char *word;
	const struct command *cmd;
	bool reads, writes;		/* a file */
} wrappers[] = {
	{ "record", &cmd_record, .writes = true }, { "report", &cmd_report, .reads = true },
	{ "buildid-list", &cmd_buildid_list, .reads = true }, { "diff", &cmd_diff }, { "top", &cmd_top },
};

static int run_wrapper(const struct kvm_opts *o, const struct kvm_wrapper *w, int argc, char **argv)
{
	struct command_args a = { 0 };
	int status;

	if (!o->host && !w->reads && w->cmd != &cmd_diff) {
		message_text("kvm", "'%s' profiles the host only: add --host, or run tacho inside the guest", w->word);
		return EXIT_USAGE;
	}
	command_arg(&a, w->word);
	command_arg_value(&a, "-i", !w->reads ? NULL : o->source.input ? o->source.input : kvm_file(o));
	command_arg_value(&a, "-o", !w->writes ? NULL : o->output ? o->output : kvm_file(o));
	command_arg_flag(&a, "-f", w->reads && o->source.force);
	for (int i = 1; i < argc; i++)
		command_arg(&a, argv[i]);
	status = command_args_run(w->cmd, &a, NULL);
	command_args_done(&a);
	return status;
}

static int kvm_run(void *opts, int argc, char **argv)
{
	for (size_t i = 0; argc && i < countof(wrappers); i++)
		if (!strcmp(argv[0], wrappers[i].word))
			return run_wrapper(opts, &wrappers[i], argc, argv);
	if (argc)
		message_text("kvm", "'%s' is none of stat, top, record, report, diff and buildid-list", argv[0]);
	else
		message_text("kvm", "what to do? stat, top, record, report, diff or buildid-list");
	return EXIT_USAGE;
}

static const struct command cmd_kvm_stat_report = {
	.name = "kvm stat report", .summary = "show what guests were left for and how long the host took", .rows = report_rows,
	.opts_size = sizeof(struct kvm_opts), .run = kvm_stat_report_run,
};
static const struct command cmd_kvm_stat_live = {
	.name = "kvm stat live", .summary = "show it while it happens, interval by interval", .rows = live_rows,
	.opts_size = sizeof(struct kvm_opts), .run = kvm_stat_live_run,
};
static const struct command *const stat_verbs[] = { &cmd_kvm_stat_report, &cmd_kvm_stat_live, NULL };
static const struct command cmd_kvm_stat = {
	.name = "kvm stat", .summary = "record, report or live", .args = "record|report|live", .rows = stat_rows,
	.opts_size = sizeof(struct kvm_opts), .run = stat_run, .verbs = stat_verbs, .stops_at_non_option = true,
};
static const struct command *const kvm_verbs[] = { &cmd_kvm_stat, NULL };

const struct command cmd_kvm = {
	.name = "kvm", .summary = "record and analyse virtual machines of KVM",
	.args = "stat record|report|live, or top|record|report|diff|buildid-list", .rows = kvm_rows, .opts_size = sizeof(struct kvm_opts),
	.defaults = kvm_defaults, .run = kvm_run, .verbs = kvm_verbs, .stops_at_non_option = true,
	.complete_args = "stat top record report diff buildid-list",
};
