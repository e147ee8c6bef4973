/*
 * `tacho kwork`: records interrupts, softirqs and work queues, and shows how long they run and wait.
 */
#include "cli/kwork/kwork.h"

#include "cli/kernel/record.h"

#define AT(field) offsetof(struct kwork_opts, field)
#define NO_CHAINS "'kwork record' records no call chains"
#define CLASS_ROW { OPT_STR, 'k', "kwork", AT(classes), "CLASS,...", "irq, softirq, workqueue, sched", \
		    .complete = "irq softirq workqueue sched" }
#define COMMON_ROWS                                                                                            \
	CLASS_ROW, KERNEL_INPUT_ROWS(struct kwork_opts), KERNEL_TIME_ROW(struct kwork_opts),                   \
	{ OPT_STR, 'C', "cpu", AT(cpus), "CPU,...", "only on these CPUs", .complete = "cpu" },                  \
	{ OPT_STR, 'n', "name", AT(name), "NAME", "only work with NAME in its name" },                         \
	KERNEL_SYMBOL_ROWS(struct kwork_opts, 0), KERNEL_SYMFS_ROW(struct kwork_opts),                         \
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON" },                                                 \
	NOTED('v', "verbose", NULL, "errors are always reported"),                                             \
	REFUSED('D', "dump-raw-trace", "'tacho script -D' prints the records of a recording"),                 \
	REFUSED('b', "use-bpf", "recorded tracepoints give the same: 'kwork record', then 'kwork report'")
#define SORT_ROW(help_text) { OPT_STR, 's', "sort", AT(sort), "KEY,...", help_text }

static const struct option_row kwork_rows[] = { COMMON_ROWS, { .kind = OPT_END } };
static const struct option_row report_rows[] = {
	COMMON_ROWS, SORT_ROW("sort by runtime, max, count"),
	{ OPT_FLAG, 'S', "with-summary", AT(summary), NULL, "also the sums" },
	{ .kind = OPT_END },
};
static const struct option_row latency_rows[] = { COMMON_ROWS, SORT_ROW("sort by avg, max, count"), { .kind = OPT_END } };
static const struct option_row timehist_rows[] = {
	COMMON_ROWS, REFUSED('g', "call-graph", NO_CHAINS), REFUSED(0, "max-stack", NO_CHAINS), { .kind = OPT_END },
};
static const struct option_row top_rows[] = { COMMON_ROWS, SORT_ROW("sort by rate, runtime or tid"), { .kind = OPT_END } };

static int record(const struct kwork_opts *o, int argc, char **argv)
{
	static const struct { enum tacho_kwork_class kind; const char *event; } all[] = {
		{ TACHO_KWORK_IRQ, "irq:irq_handler_entry" }, { TACHO_KWORK_IRQ, "irq:irq_handler_exit" },
		{ TACHO_KWORK_SOFTIRQ, "irq:softirq_raise" }, { TACHO_KWORK_SOFTIRQ, "irq:softirq_entry" },
		{ TACHO_KWORK_SOFTIRQ, "irq:softirq_exit" }, { TACHO_KWORK_WORKQUEUE, "workqueue:workqueue_activate_work" },
		{ TACHO_KWORK_WORKQUEUE, "workqueue:workqueue_execute_start" },
		{ TACHO_KWORK_WORKQUEUE, "workqueue:workqueue_execute_end" }, { TACHO_KWORK_SCHED, "sched:sched_switch" },
	};
	static const char *const args[] = { "-a", "-R", "-m", "1024", "-c", "1", NULL };
	struct kernel_record_event events[countof(all) + 1] = { 0 };
	uint32_t classes;
	size_t n = 0;

	if (kwork_classes("kwork record", o, &classes) < 0)
		return EXIT_USAGE;
	if (!classes)
		classes = ~(1u << TACHO_KWORK_SCHED);
	for (size_t i = 0; i < countof(all); i++)
		if (classes >> all[i].kind & 1)
			events[n++].name = all[i].event;
	return kernel_record(args, events, argc, argv);
}

static int kwork_run(void *opts, int argc, char **argv)
{
	if (argc && !strcmp(argv[0], "record"))
		return record(opts, argc - 1, argv + 1);
	if (argc)
		message_text("kwork", "'%s' is none of record, report, latency, timehist and top", argv[0]);
	else
		message_text("kwork", "what to do? record, report, latency, timehist or top");
	return EXIT_USAGE;
}

#define VERB(verb, text, run_function, rows_of) { \
	.name = "kwork " verb, .summary = (text), .args = "", .rows = (rows_of), .opts_size = sizeof(struct kwork_opts), \
	.run = (run_function) }
static const struct command cmd_kwork_report = VERB("report", "show how long work ran", kwork_report_run, report_rows);
static const struct command cmd_kwork_latency = VERB("latency", "show how long work waited", kwork_latency_run, latency_rows);
static const struct command cmd_kwork_timehist = VERB("timehist", "show each run", kwork_timehist_run, timehist_rows);
static const struct command cmd_kwork_top = VERB("top", "show who used the CPUs", kwork_top_run, top_rows);
static const struct command *const kwork_verbs[] = { &cmd_kwork_report, &cmd_kwork_latency, &cmd_kwork_timehist, &cmd_kwork_top, NULL };

const struct command cmd_kwork = {
	.name = "kwork", .summary = "record and analyse interrupts, softirqs and work queues",
	.args = "record|report|latency|timehist|top [OPTIONS]", .rows = kwork_rows, .opts_size = sizeof(struct kwork_opts),
	.run = kwork_run, .verbs = kwork_verbs, .stops_at_non_option = true, .complete_args = "record report latency timehist top",
};
