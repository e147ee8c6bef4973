/*
 * `kwork report` and `kwork latency`: a row per work and CPU; `kwork timehist`: a line per run.
 */
#include "cli/kwork/kwork.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "base/json.h"
#include "cli/core/app.h"
#include "cli/core/terminal.h"
#include "cli/kernel/input.h"

#define RULE_WIDTH 128
#define FLUSH_BYTES 65536
#define MSECS(ns) ((double)(ns) / 1e6)

/* Microseconds are not rounded. */
static double seconds(uint64_t ns)
{
	uint64_t usec = ns / 1000;

	return (double)usec / 1e6;
}

static const char *const class_names[] = { "irq", "softirq", "workqueue", "sched" };

int kwork_classes(const char *command, const struct kwork_opts *o, uint32_t *out)
{
	struct str rest = str_of(o->classes), one;

	*out = 0;
	while (rest.n && str_cut(&rest, ',', &one)) {
		size_t i = 0;

		while (i < countof(class_names) && !str_is(one, class_names[i]))
			i++;
		if (i == countof(class_names)) {
			message_text(command, "-k: '%.*s' is none of irq, softirq, workqueue and sched", STR(one));
			return -EINVAL;
		}
		*out |= 1u << i;
	}
	return 0;
}

struct tacho_kwork *kwork_read(const char *command, struct tacho_kwork_opts *opts, const struct kwork_opts *o,
			       struct kernel_source *source, int *damage)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_kwork *k = NULL;
	int err;

	if (kernel_source_open(source, command, &o->source, true) < 0)
		return NULL;
	opts->size = sizeof(*opts);
	opts->symbols = source->symbols;
	opts->cpus = o->cpus;
	opts->name = o->name;
	opts->from_ns = source->time.from_ns;
	opts->to_ns = source->time.to_ns;
	err = tacho_kwork_new(&k, source->pd, opts, &e);
	if (k) {
		*damage = kernel_status(command, tacho_kwork_totals(k), err, &e);
		return k;
	}
	message_error(command, NULL, NULL, &e);
	kernel_source_done(source);
	return NULL;
}

/* ---- report and latency ---- */

struct kwork_table {
	const char *command;
	bool is_latency;
	const char *keys;
	const struct tacho_kwork_row **v;
	size_t n;
};

static const struct tacho_kwork_times *times_of(const struct kwork_table *t, const struct tacho_kwork_row *row)
{
	return t->is_latency ? &row->delays : &row->runs;
}

static double average(const struct tacho_kwork_times *t)
{
	return t->n ? (double)t->sum_ns / (double)t->n : 0;
}

static double key_value(const struct tacho_kwork_times *t, struct str key)
{
	return str_is(key, "max") ? (double)t->max_ns : str_is(key, "count") ? (double)t->n :
	       str_is(key, "avg") ? average(t) : (double)t->sum_ns;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct kwork_table *t = arg;
	const struct tacho_kwork_row *x = *(const struct tacho_kwork_row *const *)a, *y = *(const struct tacho_kwork_row *const *)b;
	struct str rest = str_of(t->keys), one;

	while (str_cut(&rest, ',', &one)) {
		double v = key_value(times_of(t, x), one), w = key_value(times_of(t, y), one);

		if (v != w)
			return v > w ? -1 : 1;
	}
	return x->cpu != y->cpu ? (x->cpu < y->cpu ? -1 : 1) : strcmp(x->name, y->name);
}

static int check_keys(const char *command, const char *keys, bool is_latency)
{
	struct str rest = str_of(keys), one;

	while (str_cut(&rest, ',', &one)) {
		if (str_is(one, "max") || str_is(one, "count") || str_is(one, is_latency ? "avg" : "runtime"))
			continue;
		message_text(command, "-s: '%.*s' is none of %s, max and count", STR(one), is_latency ? "avg" : "runtime");
		return -EINVAL;
	}
	return 0;
}

static int sort_rows(struct kwork_table *t, const struct tacho_kwork *k)
{
	const struct tacho_kwork_row *row;
	size_t n = 0;

	while (tacho_kwork_row(k, n))
		n++;
	t->v = calloc(max_of(n, (size_t)1), sizeof(*t->v));
	if (!t->v)
		return -ENOMEM;
	for (size_t i = 0; (row = tacho_kwork_row(k, i)) != NULL; i++)
		if (times_of(t, row)->n)
			t->v[t->n++] = row;
	qsort_r(t->v, t->n, sizeof(*t->v), compare_rows, t);
	return 0;
}

static void put_rule(struct buf *out)
{
	buf_putc(out, ' ');
	buf_pad(out, '-', RULE_WIDTH);
	buf_putc(out, '\n');
}

static void put_row(const struct kwork_table *t, const struct tacho_kwork_row *row, struct buf *out)
{
	const struct tacho_kwork_times *times = times_of(t, row);

	buf_printf(out, "  %-30.30s | %04" PRIu32 " | %10.3f ms | %9" PRIu64 " | %10.3f ms | %17.6f s | %17.6f s |\n", row->name, row->cpu,
		   t->is_latency ? average(times) / 1e6 : MSECS(times->sum_ns), times->n, MSECS(times->max_ns),
		   seconds(times->max_from_ns), seconds(times->max_to_ns));
}

static void put_summary(const struct kwork_table *t, const struct tacho_kwork *k, struct buf *out)
{
	const struct tacho_kernel_totals *totals = tacho_kwork_totals(k);
	uint64_t span = totals->last_ns > totals->first_ns ? totals->last_ns - totals->first_ns : 0, sum = 0, n = 0;

	for (size_t i = 0; i < t->n; i++) {
		sum += t->v[i]->runs.sum_ns;
		n += t->v[i]->runs.n;
	}
	buf_printf(out, "  Total count            : %9" PRIu64 "\n", n);
	buf_printf(out, "  Total runtime   (msec) : %9.3f (%.3f%% load average)\n", MSECS(sum), span ? 100 * (double)sum / (double)span : 0);
	buf_printf(out, "  Total time span (msec) : %9.3f\n", MSECS(span));
	put_rule(out);
}

static void put_text(const struct kwork_table *t, const struct tacho_kwork *k, bool summary, struct buf *out)
{
	const char *kind = t->is_latency ? "delay" : "runtime";

	buf_printf(out, "\n  %-30s | %-4s | %-13s | %-9s | Max %-9s | Max %-15s | Max %-15s |\n", "Kwork Name", "Cpu",
		   t->is_latency ? "Avg delay" : "Total Runtime", "Count", kind, t->is_latency ? "delay start" : "runtime start",
		   t->is_latency ? "delay end" : "runtime end");
	put_rule(out);
	for (size_t i = 0; i < t->n; i++)
		put_row(t, t->v[i], out);
	put_rule(out);
	if (summary && !t->is_latency)
		put_summary(t, k, out);
	buf_putc(out, '\n');
}

static void put_json_times(struct json *j, const char *key, const struct tacho_kwork_times *t)
{
	json_key(j, key);
	json_begin(j, '{');
	json_member(j, "count", u64, t->n);
	json_member(j, "sum_ns", u64, t->sum_ns);
	json_member(j, "max_ns", u64, t->max_ns);
	json_member(j, "max_from_ns", u64, t->max_from_ns);
	json_member(j, "max_to_ns", u64, t->max_to_ns);
	json_end(j);
}

static void put_json(const struct kwork_table *t, const struct tacho_kwork *k, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.kwork/1");
	json_member(&j, "lost", u64, tacho_kwork_totals(k)->lost);
	json_key(&j, "rows");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->n; i++) {
		json_begin(&j, '{');
		json_member(&j, "class", str, class_names[t->v[i]->kind]);
		json_member(&j, "name", str, t->v[i]->name);
		json_member(&j, "cpu", u64, t->v[i]->cpu);
		put_json_times(&j, "runs", &t->v[i]->runs);
		put_json_times(&j, "delays", &t->v[i]->delays);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static int run_table(struct kwork_table *t, const struct kwork_opts *o, int argc, char **argv)
{
	struct tacho_kwork_opts opts = { 0 };
	struct kernel_source source;
	struct tacho_kwork *k;
	struct buf out = { 0 };
	int status = EXIT_FAILED, damage = 0;

	if (argc) {
		message_text(t->command, "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (kwork_classes(t->command, o, &opts.classes) < 0 || check_keys(t->command, t->keys, t->is_latency) < 0)
		return EXIT_USAGE;
	k = kwork_read(t->command, &opts, o, &source, &damage);
	if (!k)
		return EXIT_FAILED;
	pager_start();
	if (sort_rows(t, k) < 0) {
		message_text(t->command, "out of memory");
	} else {
		if (o->json)
			put_json(t, k, &out);
		else
			put_text(t, k, o->summary, &out);
		status = print_out(t->command, &out);
	}
	free(t->v);
	tacho_kwork_free(k);
	kernel_source_done(&source);
	return max_of(status, damage);
}

int kwork_report_run(void *opts, int argc, char **argv)
{
	const struct kwork_opts *o = opts;
	struct kwork_table t = { .command = "kwork report", .keys = o->sort ? o->sort : "runtime,max,count" };

	return run_table(&t, o, argc, argv);
}

int kwork_latency_run(void *opts, int argc, char **argv)
{
	const struct kwork_opts *o = opts;
	struct kwork_table t = { .command = "kwork latency", .is_latency = true, .keys = o->sort ? o->sort : "avg,max,count" };

	return run_table(&t, o, argc, argv);
}

/* ---- timehist ---- */

struct kwork_history {
	struct buf text;
	bool is_json;
};

static void put_json_run(struct kwork_history *h, const struct tacho_kwork_run *run)
{
	struct json j = { .out = &h->text };

	json_begin(&j, '{');
	json_member(&j, "class", str, class_names[run->row->kind]);
	json_member(&j, "name", str, run->row->name);
	json_member(&j, "cpu", u64, run->row->cpu);
	json_member(&j, "from_ns", u64, run->from_ns);
	json_member(&j, "to_ns", u64, run->to_ns);
	json_key(&j, "delay_ns");
	if (run->delay_ns == UINT64_MAX)
		json_null(&j);
	else
		json_u64(&j, run->delay_ns);
	json_end(&j);
	buf_putc(&h->text, '\n');
}

static int put_run(void *arg, const struct tacho_kwork_run *run)
{
	struct kwork_history *h = arg;
	int err = 0;

	if (h->is_json) {
		put_json_run(h, run);
	} else {
		buf_printf(&h->text, " %17.6f  %17.6f  [%04" PRIu32 "]  %-30.30s  %10.3f  ", seconds(run->from_ns), seconds(run->to_ns),
			   run->row->cpu, run->row->name, MSECS(run->to_ns - run->from_ns));
		if (run->delay_ns == UINT64_MAX)
			buf_printf(&h->text, "%10s \n", "");
		else
			buf_printf(&h->text, "%10.3f \n", MSECS(run->delay_ns));
	}
	if (buf_failed(&h->text))
		return -ENOMEM;
	if (h->text.n >= FLUSH_BYTES) {
		err = io_write_all(STDOUT_FILENO, h->text.bytes, h->text.n);
		buf_clear(&h->text);
	}
	return err;
}

static void put_titles(struct buf *out)
{
	buf_printf(out, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "Runtime start", "Runtime end", "Cpu", "Kwork name", "Runtime",
		   "Delaytime");
	buf_printf(out, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "", "", "", "(TYPE)NAME:NUM", "(msec)", "(msec)");
	buf_puts(out, " -----------------  -----------------  ------  ------------------------------  ----------  ----------\n");
}

int kwork_timehist_run(void *opts, int argc, char **argv)
{
	const struct kwork_opts *o = opts;
	struct kwork_history h = { .is_json = o->json };
	struct tacho_kwork_opts read = { .run = put_run, .arg = &h };
	struct kernel_source source;
	struct tacho_kwork *k;
	int status, damage = 0;

	if (argc) {
		message_text("kwork timehist", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (kwork_classes("kwork timehist", o, &read.classes) < 0)
		return EXIT_USAGE;
	pager_start();
	if (!o->json)
		put_titles(&h.text);
	k = kwork_read("kwork timehist", &read, o, &source, &damage);
	if (!k) {
		buf_done(&h.text);
		return EXIT_FAILED;
	}
	status = print_out("kwork timehist", &h.text);
	tacho_kwork_free(k);
	kernel_source_done(&source);
	return max_of(status, damage);
}
