/*
 * `tacho sched latency`: how long tasks waited for a CPU, in perf's table; optionally with percentiles, and as JSON.
 */
#include "cli/sched/sched.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/app.h"
#include "cli/kernel/input.h"

#define COMMAND "sched latency"
#define MAX_PERCENTILES 16
#define MAX_KEYS 8
#define RULE_WIDTH 139

struct delay_row {
	const struct tacho_sched_delays *d;
	size_t index;
};

struct delay_table {
	struct tacho_sched_latency *latency;
	struct delay_row *rows;
	size_t n;
	double percentiles[MAX_PERCENTILES];
	size_t n_percentiles;
	uint64_t n_delays, runtime_ns;		/* of all rows */
};

/* ---- order ---- */

static uint64_t mean_delay(const struct tacho_sched_delays *d)
{
	return d->delay_ns / d->n_delays;
}

static uint64_t key_avg(const struct tacho_sched_delays *d) { return mean_delay(d); }
static uint64_t key_max(const struct tacho_sched_delays *d) { return d->max_delay_ns; }
static uint64_t key_switch(const struct tacho_sched_delays *d) { return d->n_delays; }
static uint64_t key_runtime(const struct tacho_sched_delays *d) { return d->runtime_ns; }
static uint64_t key_pid(const struct tacho_sched_delays *d) { return d->tid; }

static const struct delay_key {
	const char *name;
	uint64_t (*value)(const struct tacho_sched_delays *d);
} delay_keys[] = {
	{ "avg", key_avg }, { "max", key_max }, { "switch", key_switch }, { "runtime", key_runtime }, { "pid", key_pid },
};

struct delay_order {
	const struct delay_key *keys[MAX_KEYS];
	size_t n;
};

static int parse_order(const char *text, struct delay_order *order, struct tacho_error *e)
{
	struct str rest = str_of(text), word;

	*order = (struct delay_order){ .n = 0 };
	while (str_cut(&rest, ',', &word)) {
		const struct delay_key *key = NULL;

		word = str_trim(word);
		for (size_t i = 0; i < countof(delay_keys); i++)
			if (str_is(word, delay_keys[i].name))
				key = &delay_keys[i];
		if (!key) {
			error_set(e, -EINVAL, "'%.*s' is not a sort key", STR(word));
			error_hint(e, "avg, max, switch, runtime or pid");
			error_at(e, (size_t)(word.s - text), word.n);
			return -EINVAL;
		}
		if (order->n < MAX_KEYS)
			order->keys[order->n++] = key;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct delay_row *x = a, *y = b;
	const struct delay_order *order = arg;

	for (size_t i = 0; i < order->n; i++) {
		uint64_t p = order->keys[i]->value(x->d), q = order->keys[i]->value(y->d);

		if (p != q)
			return p > q ? -1 : 1;
	}
	return x->index < y->index ? -1 : 1;
}

/* ---- text ---- */

static void put_rule(struct buf *out, size_t n)
{
	buf_putc(out, ' ');
	buf_pad(out, '-', n);
	buf_putc(out, '\n');
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void put_heading(const struct delay_table *t, struct buf *out)
{
	char name[32];

	buf_putc(out, '\n');
	put_rule(out, RULE_WIDTH + 14 * t->n_percentiles);
	buf_puts(out, "  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    |"
		      " Max delay start           | Max delay end          |");
	for (size_t i = 0; i < t->n_percentiles; i++) {
		snprintf(name, sizeof(name), "p%g ms", t->percentiles[i]);
		buf_printf(out, " %11s |", name);
	}
	buf_putc(out, '\n');
	put_rule(out, RULE_WIDTH + 14 * t->n_percentiles);
}

static void put_row(const struct delay_table *t, const struct delay_row *row, struct buf *out)
{
	const struct tacho_sched_delays *d = row->d;
	size_t from = out->n;

	if (d->n_threads > 1)
		buf_printf(out, "  %s:(%" PRIu32 ") ", d->comm, d->n_threads);
	else
		buf_printf(out, "  %s:%" PRIu32 " ", d->comm, d->tid);
	if (out->n - from < 24)
		buf_pad(out, ' ', 24 - (out->n - from));
	buf_printf(out, "|%11.3f ms |%9" PRIu64 " | avg:%8.3f ms | max:%8.3f ms | max start: ", ms(d->runtime_ns), d->n_delays,
		   ms(mean_delay(d)), ms(d->max_delay_ns));
	sched_put_time(out, d->max_from_ns, 12);
	buf_puts(out, " s | max end: ");
	sched_put_time(out, d->max_to_ns, 12);
	buf_puts(out, " s");
	for (size_t i = 0; i < t->n_percentiles; i++)
		buf_printf(out, " %s%11.3f%s", i ? "" : "| ",
			   ms(tacho_sched_latency_percentile(t->latency, row->index, t->percentiles[i])), " |");
	buf_putc(out, '\n');
}

static double percent(uint64_t part, uint64_t all)
{
	return 100.0 * (double)part / (double)all;
}

static void put_problems(const struct delay_table *t, struct buf *out)
{
	const struct tacho_sched_order *order = tacho_sched_latency_order(t->latency);
	const struct tacho_kernel_totals *totals = tacho_sched_latency_totals(t->latency);

	if (order->unordered)
		buf_printf(out, "  INFO: %.3f%% unordered timestamps (%" PRIu64 " out of %" PRIu64 ")\n",
			   percent(order->unordered, order->wakeups), order->unordered, order->wakeups);
	if (totals->lost && totals->samples)
		buf_printf(out, "  INFO: %.3f%% lost events (%" PRIu64 " out of %" PRIu64 ", in %" PRIu64 " chunks)\n",
			   percent(totals->lost, totals->samples), totals->lost, totals->samples, totals->lost_chunks);
	if (order->wrong_switches)
		buf_printf(out, "  INFO: %.3f%% context switch bugs (%" PRIu64 " out of %" PRIu64 ")%s\n",
			   percent(order->wrong_switches, order->switches), order->wrong_switches, order->switches,
			   totals->lost ? " (due to lost events?)" : "");
}

static void put_text(const struct delay_table *t, struct buf *out)
{
	put_heading(t, out);
	for (size_t i = 0; i < t->n; i++)
		put_row(t, &t->rows[i], out);
	put_rule(out, 113);
	buf_printf(out, "  TOTAL:                |%11.3f ms |%9" PRIu64 " |\n", ms(t->runtime_ns), t->n_delays);
	put_rule(out, 51);
	put_problems(t, out);
	buf_putc(out, '\n');
}

/* ---- JSON ---- */

static void put_json_row(const struct delay_table *t, const struct delay_row *row, struct json *j)
{
	const struct tacho_sched_delays *d = row->d;
	char name[32];

	json_begin(j, '{');
	json_member(j, "comm", str, d->comm);
	json_member(j, "tid", u64, d->tid);
	json_member(j, "threads", u64, d->n_threads);
	json_member(j, "runtime_ns", u64, d->runtime_ns);
	json_member(j, "delays", u64, d->n_delays);
	json_member(j, "delay_ns", u64, d->delay_ns);
	json_member(j, "max_delay_ns", u64, d->max_delay_ns);
	json_member(j, "max_from_ns", u64, d->max_from_ns);
	json_member(j, "max_to_ns", u64, d->max_to_ns);
	json_key(j, "percentiles_ns");
	json_begin(j, '{');
	for (size_t i = 0; i < t->n_percentiles; i++) {
		snprintf(name, sizeof(name), "%g", t->percentiles[i]);
		json_member(j, name, u64, tacho_sched_latency_percentile(t->latency, row->index, t->percentiles[i]));
	}
	json_end(j);
	json_end(j);
}

static void put_json(const struct delay_table *t, struct buf *out)
{
	const struct tacho_sched_order *order = tacho_sched_latency_order(t->latency);
	const struct tacho_kernel_totals *totals = tacho_sched_latency_totals(t->latency);
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.sched-latency/1");
	json_key(&j, "tasks");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->n; i++)
		put_json_row(t, &t->rows[i], &j);
	json_end(&j);
	json_member(&j, "runtime_ns", u64, t->runtime_ns);
	json_member(&j, "delays", u64, t->n_delays);
	json_member(&j, "wakeups", u64, order->wakeups);
	json_member(&j, "unordered_wakeups", u64, order->unordered);
	json_member(&j, "switches", u64, order->switches);
	json_member(&j, "wrong_switches", u64, order->wrong_switches);
	json_member(&j, "lost_events", u64, totals->lost);
	json_end(&j);
	buf_putc(out, '\n');
}

/* ---- the command ---- */

static int parse_percentiles(const char *text, struct delay_table *t, struct tacho_error *e)
{
	struct str rest = str_of(text), word;

	while (str_cut(&rest, ',', &word)) {
		double v;

		if (num_double(str_trim(word), &v) < 0 || v < 0 || v > 100) {
			error_set(e, -EINVAL, "'%.*s' is not a percentage", STR(word));
			error_at(e, (size_t)(word.s - text), word.n);
			return -EINVAL;
		}
		if (t->n_percentiles == MAX_PERCENTILES)
			return error_set(e, -EINVAL, "more than %d percentiles", MAX_PERCENTILES);
		t->percentiles[t->n_percentiles++] = v;
	}
	return 0;
}

static int make_table(struct delay_table *t, struct delay_order *order)
{
	const struct tacho_sched_delays *d;

	while (tacho_sched_latency_row(t->latency, t->n))
		t->n++;
	t->rows = calloc(t->n + 1, sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		d = tacho_sched_latency_row(t->latency, i);
		t->rows[i] = (struct delay_row){ d, i };
		t->n_delays += d->n_delays;
		t->runtime_ns += d->runtime_ns;
	}
	qsort_r(t->rows, t->n, sizeof(*t->rows), compare_rows, order);
	return 0;
}

static int show(const struct sched_opts *o, struct delay_table *t, struct delay_order *order)
{
	struct buf out = { 0 };

	if (make_table(t, order) < 0) {
		message_if_out_of_memory(COMMAND, -ENOMEM);
		return EXIT_FAILED;
	}
	if (o->json)
		put_json(t, &out);
	else
		put_text(t, &out);
	return print_out(COMMAND, &out);
}

static int analyse(const struct sched_opts *o, struct delay_table *t, struct delay_order *order, struct tacho_perfdata *pd)
{
	struct tacho_sched_latency_opts opts = { .size = sizeof(opts), .per_thread = o->per_thread,
						 .keep_delays = t->n_percentiles > 0 };
	struct tacho_error e = { .column = -1 };
	struct time_window window;
	int err, status, shown;

	if (!sched_time(COMMAND, o, pd, &window))
		return EXIT_USAGE;
	opts.from_ns = window.from_ns;
	opts.to_ns = window.to_ns;
	if (o->cpus && num_u32(str_of(o->cpus), &opts.cpu) < 0) {
		message_text(COMMAND, "-C takes the number of one CPU, not '%s'", o->cpus);
		return EXIT_USAGE;
	}
	opts.only_cpu = o->cpus;
	err = tacho_sched_latency_new(&t->latency, pd, &opts, &e);
	if (!t->latency || err == -ENOENT || err == -ENOMEM) {
		message_error(COMMAND, NULL, NULL, &e);
		return EXIT_FAILED;
	}
	shown = show(o, t, order);
	status = kernel_status(COMMAND, tacho_sched_latency_totals(t->latency), err, &e);
	return shown ? shown : status;
}

int sched_latency_run(void *opts, int argc, char **argv)
{
	const struct sched_opts *o = opts;
	struct delay_table t = { 0 };
	struct delay_order order;
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd;
	int status;

	if (argc) {
		message_text(COMMAND, "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (parse_order(o->sort ? o->sort : "avg,max,switch,runtime", &order, &e) < 0) {
		message_error(COMMAND, "-s", o->sort, &e);
		return EXIT_USAGE;
	}
	if ((o->percentiles || o->json) && parse_percentiles(o->percentiles ? o->percentiles : "50,90,99", &t, &e) < 0) {
		message_error(COMMAND, "--percentiles", o->percentiles, &e);
		return EXIT_USAGE;
	}
	pd = kernel_open(COMMAND, o->input, o->force);
	if (!pd)
		return EXIT_FAILED;
	status = analyse(o, &t, &order, pd);
	free(t.rows);
	tacho_sched_latency_free(t.latency);
	tacho_perfdata_close(pd);
	return status;
}
