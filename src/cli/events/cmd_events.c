/*
 * `tacho events`: works with vendors' event lists. `show` prints a list's complete entry for an event,
 * `check` resolves every event of the lists against the PMUs of this machine or of a recorded sysfs tree, and
 * `update` fetches the lists for a CPU.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/events/list_option.h"
#include "cli/core/terminal.h"
#include "cli/events/update.h"

#include <tacho/metric.h>

struct events_opts {
	struct strlist lists;
	const char *sysfs;
	bool json;
	const char *from, *to, *cpu;
	uint32_t timeout_s;
};

#define AT(field) offsetof(struct events_opts, field)
static const struct option_row events_rows[] = {
	EVENT_LIST_ROW(AT(lists)),
	{ OPT_STR, 0, "sysfs", AT(sysfs), "DIR", "a recorded tree to use instead of /sys", .complete = "file" },
	{ OPT_FLAG, 'j', "json", AT(json), NULL, "write JSON" },
	{ OPT_GROUP, .help = "Where update gets the lists from" },
	{ OPT_STR, 0, "from", AT(from), "URL|DIR", "fetch from this server, or copy from this directory",
	  .complete = "file" },
	{ OPT_STR, 0, "to", AT(to), "DIR", "write the lists to DIR", .complete = "file" },
	{ OPT_STR, 0, "cpu", AT(cpu), "ID", "the lists of this CPU, such as GenuineIntel-6-55-4" },
	{ OPT_UINT, 0, "timeout", AT(timeout_s), "SEC", "give up if the server sends nothing for SEC seconds (default: 30)",
	  .min = 1, .max = 86400 },
	{ .kind = OPT_END },
};

struct events {
	const struct events_opts *o;
	struct tacho *t;
	struct buf out;
	struct json j;
	size_t resolved, refused;
	size_t valid, broken;		/* metrics of the lists */
};

static void put_field(struct buf *out, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	buf_printf(out, "  %-12s", label);
	term_wrap(out, str_of(text), 14, 14, max_of(term_width(STDOUT_FILENO), 60u));
	buf_putc(out, '\n');
}

static void show_numbers(struct buf *out, const struct tacho_listed *ev)
{
	if (ev->period)
		buf_printf(out, "  %-12s%llu\n", "period", (unsigned long long)ev->period);
	if (*ev->unit)
		buf_printf(out, "  %-12s%g %s\n", "scale", ev->scale, ev->unit);
}

static int show_text(void *arg, const struct tacho_listed *ev)
{
	struct events *x = arg;
	struct buf *out = &x->out;

	buf_printf(out, "%s%s\n", out->n ? "\n" : "", ev->name);
	put_field(out, "", ev->details);
	if (ev->terms)
		buf_printf(out, "  %-12s%s/%s/\n", "counts as", ev->pmu, ev->terms);
	else
		buf_printf(out, "  %-12s%s/%s/\n", "asks for", ev->pmu, ev->asked);
	put_field(out, "not here", ev->reason);
	put_field(out, "notice", ev->notice);
	put_field(out, "counters", ev->counters);
	show_numbers(out, ev);
	put_field(out, "PEBS", ev->must_be_precise ? "has to be sampled precisely" :
	     ev->precise ? "can be sampled precisely" : NULL);
	put_field(out, "errata", ev->errata);
	put_field(out, "deprecated", ev->deprecated ? "yes" : NULL);
	put_field(out, "topic", ev->topic);
	put_field(out, "list", ev->file);
	return buf_failed(out) ? -ENOMEM : 0;
}

static int show_json(void *arg, const struct tacho_listed *ev)
{
	struct events *x = arg;
	struct json *j = &x->j;

	json_begin(j, '{');
	json_member(j, "name", str, ev->name);
	json_member(j, "pmu", str, ev->pmu);
	json_member(j, "terms", str, ev->terms);
	json_member(j, "asked", str, ev->asked);
	json_member(j, "reason", str, ev->reason);
	json_member(j, "notice", str, ev->notice);
	json_member(j, "description", str, ev->details);
	json_member(j, "topic", str, ev->topic);
	json_member(j, "counters", str, ev->counters);
	json_member(j, "errata", str, ev->errata);
	json_member(j, "unit", str, ev->unit);
	json_member(j, "scale", double, ev->scale);
	json_member(j, "period", u64, ev->period);
	json_member(j, "precise", bool, ev->precise);
	json_member(j, "must_be_precise", bool, ev->must_be_precise);
	json_member(j, "deprecated", bool, ev->deprecated);
	json_member(j, "file", str, ev->file);
	json_end(j);
	return buf_failed(&x->out) ? -ENOMEM : 0;
}

static int check_json(void *arg, const struct tacho_listed *ev)
{
	struct events *x = arg;
	struct json *j = &x->j;

	if (ev->terms)
		x->resolved++;
	else
		x->refused++;
	json_begin(j, '{');
	json_member(j, "name", str, ev->name);
	json_member(j, "pmu", str, ev->pmu);
	json_member(j, "terms", str, ev->terms);
	json_member(j, "reason", str, ev->reason);
	if (ev->notice)
		json_member(j, "notice", str, ev->notice);
	json_end(j);
	return buf_failed(&x->out) ? -ENOMEM : 0;
}

static int check_text(void *arg, const struct tacho_listed *ev)
{
	struct events *x = arg;

	if (ev->terms) {
		x->resolved++;
		buf_printf(&x->out, "%s  %s/%s/\n", ev->name, ev->pmu, ev->terms);
		if (ev->notice)
			buf_printf(&x->out, "    %s\n", ev->notice);
	} else {
		x->refused++;
		buf_printf(&x->out, "%s  refused: %s\n", ev->name, ev->reason);
	}
	return buf_failed(&x->out) ? -ENOMEM : 0;
}

static int report_not_found(struct events *x, const char *name)
{
	struct tacho_error e;

	(void)x;
	error_set(&e, -ENOENT, "no event list has an event '%s'", name);
	error_hint(&e, "name a list with --event-list FILE, or see '%s help events' for the directories "
		   "that are searched", program_name);
	message_error("events", NULL, NULL, &e);
	return EXIT_FAILED;
}

static int report_walk(int err, const struct tacho_error *e)
{
	if (err == -ENOMEM)
		message_text("events", "out of memory");
	else
		message_error("events", NULL, NULL, e);
	return EXIT_FAILED;
}

static void json_start(struct events *x)
{
	x->j = (struct json){ .out = &x->out, .indent = 0 };
}

static int show_events(struct events *x, int argc, char **argv)
{
	struct tacho_error e = { .column = -1 };
	int status = event_lists_add("events", x->t, &x->o->lists) < 0 ? EXIT_FAILED : 0;

	if (!status && argc < 1) {
		message_text("events", "show needs the name of an event");
		return EXIT_USAGE;
	}
	json_start(x);
	if (!status && x->o->json)
		json_begin(&x->j, '[');
	for (int i = 0; !status && i < argc; i++) {
		int n = tacho_eventlist_walk(x->t, argv[i], x->o->json ? show_json : show_text, x, &e);

		status = n < 0 ? report_walk(n, &e) : n == 0 ? report_not_found(x, argv[i]) : 0;
	}
	if (status)
		return status;
	if (x->o->json) {
		json_end(&x->j);
		buf_putc(&x->out, '\n');
	}
	return print_out("events", &x->out);
}

static int add_files(struct events *x, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		struct tacho_error e = { .column = -1 };

		if (tacho_eventlist_add(x->t, argv[i], &e) < 0) {
			message_error("events", NULL, NULL, &e);
			return EXIT_FAILED;
		}
	}
	return event_lists_add("events", x->t, &x->o->lists) < 0 ? EXIT_FAILED : 0;
}

/* Compiles a metric's expression, or its threshold. Returns whether it is valid, and otherwise why not. */
static bool is_valid_expression(const char *expr, struct buf *why)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_expr *x = NULL;

	if (!expr || tacho_expr_new(&x, expr, &e) == 0) {
		tacho_expr_free(x);
		return true;
	}
	buf_printf(why, "%s", e.message);
	if (e.column >= 0)
		buf_printf(why, " (at column %d of '%s')", e.column + 1, expr);
	return false;
}

static int check_metric(void *arg, const struct tacho_metric *m)
{
	scoped(buf_done) struct buf why = { 0 };
	struct events *x = arg;
	bool valid;

	if (!m->listed)
		return 0;
	valid = is_valid_expression(m->expr, &why) && is_valid_expression(m->threshold, &why);
	if (buf_failed(&why))
		return -ENOMEM;
	if (valid)
		x->valid++;
	else
		x->broken++;
	if (x->o->json) {
		json_begin(&x->j, '{');
		json_member(&x->j, "name", str, m->name);
		json_member(&x->j, "expression", str, m->expr);
		json_member(&x->j, "error", str, valid ? NULL : why.bytes);
		json_end(&x->j);
	} else if (!valid) {
		buf_printf(&x->out, "%s  broken: %s\n", m->name, why.bytes);
	}
	return buf_failed(&x->out) ? -ENOMEM : 0;
}

/* Checks the metrics of the lists. 0 or a negative errno. */
static int check_metrics(struct events *x, struct tacho_error *e)
{
	int n;

	if (x->o->json) {
		json_end(&x->j);
		json_key(&x->j, "metrics");
		json_begin(&x->j, '[');
	}
	n = tacho_metric_walk(x->t, NULL, check_metric, x, e);
	if (x->o->json)
		json_end(&x->j);
	return n < 0 && n != -ENOENT ? n : 0;
}

static int put_totals(struct events *x)
{
	if (x->o->json) {
		json_member(&x->j, "resolved", u64, x->resolved);
		json_member(&x->j, "refused", u64, x->refused);
		json_member(&x->j, "broken_metrics", u64, x->broken);
		json_end(&x->j);
		buf_putc(&x->out, '\n');
	} else {
		buf_printf(&x->out, "%zu events: %zu resolved, %zu refused\n", x->resolved + x->refused,
			   x->resolved, x->refused);
		if (x->valid + x->broken)
			buf_printf(&x->out, "%zu metrics: %zu valid, %zu broken\n", x->valid + x->broken,
				   x->valid, x->broken);
	}
	return print_out("events", &x->out);
}

static int check_lists(struct events *x, int argc, char **argv)
{
	struct tacho_error e = { .column = -1 };
	int n, status = add_files(x, argc, argv);

	if (status)
		return status;
	json_start(x);
	if (x->o->json) {
		json_begin(&x->j, '{');
		json_member(&x->j, "schema", str, "tacho.events-check.v1");
		json_key(&x->j, "events");
		json_begin(&x->j, '[');
	}
	n = tacho_eventlist_walk(x->t, NULL, x->o->json ? check_json : check_text, x, &e);
	if (n >= 0 || n == -ENOENT) {
		int err = check_metrics(x, &e);

		n = err < 0 ? err : n;
	}
	if (n < 0 && (n != -ENOENT || x->valid + x->broken == 0))
		return report_walk(n, &e);
	if (n == 0 && x->valid + x->broken == 0) {
		message_text("events", "no event list was found for this CPU; name files to check");
		return EXIT_FAILED;
	}
	status = put_totals(x);
	return x->broken ? EXIT_FAILED : status;
}

static int update_lists(struct events *x, int argc, char **argv)
{
	const struct update_opts opts = { .from = x->o->from, .to = x->o->to, .cpu = x->o->cpu,
					  .timeout_s = x->o->timeout_s, .json = x->o->json };

	if (argc || x->o->lists.n) {
		message_text("events", "update takes no list argument (%s); use --from to say where the lists come from",
			     argc ? argv[0] : x->o->lists.v[0]);
		return EXIT_USAGE;
	}
	return events_update(x->t, &opts);
}

static const struct { const char *name; int (*run)(struct events *, int, char **); } subcommands[] = {
	{ "show", show_events }, { "check", check_lists }, { "update", update_lists },
};

static int run_subcommand(const struct events_opts *o, size_t which, int argc, char **argv)
{
	struct events x = { .o = o };
	struct tacho_error e = { .column = -1 };
	int status;

	if (subcommands[which].run != update_lists && (o->from || o->to || o->cpu || o->timeout_s)) {
		message_text("events", "--from, --to, --cpu and --timeout are for 'update'");
		return EXIT_USAGE;
	}
	if (tacho_open(&x.t, TACHO_OPTS(tacho_opts, .sysfs = o->sysfs), &e) < 0) {
		message_error("events", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	status = subcommands[which].run(&x, argc, argv);
	buf_done(&x.out);
	tacho_close(x.t);
	return status;
}

static int events_run(void *opts, int argc, char **argv)
{
	for (size_t i = 0; argc && i < countof(subcommands); i++)
		if (!strcmp(argv[0], subcommands[i].name))
			return run_subcommand(opts, i, argc - 1, argv + 1);
	message_text("events", argc ? "'%s' is not one of 'show NAME', 'check FILE' and 'update'" :
		     "needs 'show NAME', 'check FILE' or 'update'%s", argc ? argv[0] : "");
	return EXIT_USAGE;
}

const struct command cmd_events = {
	.name = "events", .summary = "show, check and fetch vendors' event lists",
	.args = "show NAME... | check [FILE...] | update", .rows = events_rows,
	.opts_size = sizeof(struct events_opts), .run = events_run, .complete_args = "show check update",
};
