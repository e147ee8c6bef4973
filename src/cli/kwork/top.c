/*
 * `kwork top`: how tasks, interrupts and softirqs shared the CPUs.
 */
#include "cli/kwork/kwork.h"

#include <errno.h>
#include <inttypes.h>

#include "base/json.h"
#include "cli/core/app.h"

#define BAR_WIDTH 30
#define TOP_CLASSES (1u << TACHO_KWORK_IRQ | 1u << TACHO_KWORK_SOFTIRQ | 1u << TACHO_KWORK_SCHED)

struct kwork_top {
	const struct tacho_kwork *k;
	const char *key;
	const struct tacho_kwork_task **v;
	size_t n;
};

static int compare_tasks(const void *a, const void *b, void *arg)
{
	const struct kwork_top *t = arg;
	const struct tacho_kwork_task *x = *(const struct tacho_kwork_task *const *)a, *y = *(const struct tacho_kwork_task *const *)b;

	if (!strcmp(t->key, "rate") && x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (strcmp(t->key, "tid") != 0 && x->run_ns != y->run_ns)
		return x->run_ns > y->run_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int sort_tasks(struct kwork_top *t)
{
	size_t n = 0;

	while (tacho_kwork_task(t->k, n))
		n++;
	t->v = calloc(max_of(n, (size_t)1), sizeof(*t->v));
	if (!t->v)
		return -ENOMEM;
	for (; t->n < n; t->n++)
		t->v[t->n] = tacho_kwork_task(t->k, t->n);
	qsort_r(t->v, n, sizeof(*t->v), compare_tasks, t);
	return 0;
}

/* CPUs by number; the list is in the order of first events. */
static const struct tacho_kwork_cpu *next_cpu(const struct tacho_kwork *k, int64_t after)
{
	const struct tacho_kwork_cpu *c, *best = NULL;

	for (size_t i = 0; (c = tacho_kwork_cpu(k, i)) != NULL; i++)
		if (c->total_ns && c->cpu > after && (!best || c->cpu < best->cpu))
			best = c;
	return best;
}

/* In percent with two decimals, not rounded, as in perf. */
static double two_decimals(double share)
{
	return (double)(uint64_t)(share * 10000) / 100;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? two_decimals((double)part / (double)whole) : 0;
}

static void put_cpus(const struct tacho_kwork *k, struct buf *out)
{
	struct tacho_kwork_cpu sum = { 0 };
	const struct tacho_kwork_cpu *c;
	unsigned n = 0;

	for (c = next_cpu(k, -1); c; c = next_cpu(k, c->cpu), n++) {
		sum.total_ns += c->total_ns;
		sum.idle_ns += c->idle_ns;
		sum.irq_ns += c->irq_ns;
		sum.softirq_ns += c->softirq_ns;
	}
	buf_printf(out, "\nTotal  : %10.3f ms, %u cpus\n", (double)sum.total_ns / 1e6, n);
	buf_printf(out, "%%Cpu(s): %6.2f%% id, %6.2f%% hi, %6.2f%% si\n", percent(sum.idle_ns, sum.total_ns),
		   percent(sum.irq_ns, sum.total_ns), percent(sum.softirq_ns, sum.total_ns));
	for (c = next_cpu(k, -1); c; c = next_cpu(k, c->cpu)) {
		double load = percent(c->total_ns - c->idle_ns - c->irq_ns - c->softirq_ns, c->total_ns);
		size_t bars = (size_t)(min_of(load, 100.0) * BAR_WIDTH / 100);	/* sums of wrong times wrap */

		buf_printf(out, "%%Cpu%-4" PRIu32 "[", c->cpu);
		buf_pad(out, '|', bars);
		buf_pad(out, ' ', BAR_WIDTH - bars);
		buf_printf(out, "%7.2f%%]\n", load);
	}
}

static void put_text(const struct kwork_top *t, struct buf *out)
{
	put_cpus(t->k, out);
	buf_puts(out, "\n      PID    %CPU           RUNTIME  COMMAND         \n"
		      "  ----------------------------------------------------\n");
	for (size_t i = 0; i < t->n; i++)
		buf_printf(out, " %8" PRIu32 " %7.2f   %12.3f ms  %-16s\n", t->v[i]->tid, two_decimals(t->v[i]->share), (double)t->v[i]->run_ns / 1e6,
			   t->v[i]->comm ? t->v[i]->comm : "");
	buf_putc(out, '\n');
}

static void put_json(const struct kwork_top *t, struct buf *out)
{
	struct json j = { .out = out };
	const struct tacho_kwork_cpu *c;

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.kwork-top/1");
	json_key(&j, "cpus");
	json_begin(&j, '[');
	for (c = next_cpu(t->k, -1); c; c = next_cpu(t->k, c->cpu)) {
		json_begin(&j, '{');
		json_member(&j, "cpu", u64, c->cpu);
		json_member(&j, "total_ns", u64, c->total_ns);
		json_member(&j, "idle_ns", u64, c->idle_ns);
		json_member(&j, "irq_ns", u64, c->irq_ns);
		json_member(&j, "softirq_ns", u64, c->softirq_ns);
		json_end(&j);
	}
	json_end(&j);
	json_key(&j, "tasks");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->n; i++) {
		json_begin(&j, '{');
		json_member(&j, "tid", u64, t->v[i]->tid);
		json_member(&j, "comm", str, t->v[i]->comm);
		json_member(&j, "run_ns", u64, t->v[i]->run_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static bool is_key(const char *key)
{
	return !strcmp(key, "rate") || !strcmp(key, "runtime") || !strcmp(key, "tid");
}

int kwork_top_run(void *opts, int argc, char **argv)
{
	const struct kwork_opts *o = opts;
	struct kwork_top t = { .key = o->sort ? o->sort : "rate" };
	struct tacho_kwork_opts read = { 0 };
	struct kernel_source source;
	struct tacho_kwork *k;
	struct buf out = { 0 };
	int status = EXIT_FAILED, damage = 0;

	if (argc || !is_key(t.key)) {
		message_text("kwork top", argc ? "'%s' is not expected here" : "-s: '%s' is none of rate, runtime and tid",
			     argc ? argv[0] : t.key);
		return EXIT_USAGE;
	}
	if (kwork_classes("kwork top", o, &read.classes) < 0)
		return EXIT_USAGE;
	read.classes = (read.classes ? read.classes : TOP_CLASSES) | 1u << TACHO_KWORK_SCHED;
	k = kwork_read("kwork top", &read, o, &source, &damage);
	if (!k)
		return EXIT_FAILED;
	t.k = k;
	if (sort_tasks(&t) < 0) {
		message_text("kwork top", "out of memory");
	} else {
		(o->json ? put_json : put_text)(&t, &out);
		status = print_out("kwork top", &out);
	}
	if (!next_cpu(k, -1))
		message_text("kwork top", "the recording has no switches of tasks: record them with 'kwork -k sched,irq,softirq record'");
	free(t.v);
	tacho_kwork_free(k);
	kernel_source_done(&source);
	return max_of(status, damage);
}
