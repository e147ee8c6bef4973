/*
 * The tables of `sched stats`: for the average of all CPUs, then for each CPU and its domains, a row per counter; a comparison
 * has two columns of values, and only the averages.
 */
#include "cli/sched/schedstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/vec.h"

#define WIDTH 100
#define NAME_WIDTH 65

enum extra { EXTRA_NONE, EXTRA_SHARE, EXTRA_JIFFIES };

struct schedstat_field {
	const char *name, *explanation;
	enum extra extra;
	unsigned of;			/* EXTRA_SHARE: in percent of this field */
};

static const struct schedstat_field cpu_fields[SCHEDSTAT_CPU_FIELDS] = {
	{ "yld_count", "calls of sched_yield()" },
	{ "array_exp", "not used since Linux 2.6.23" },
	{ "sched_count", "calls of schedule()" },
	{ "sched_goidle", "calls of schedule() after which the CPU was idle", EXTRA_SHARE, 2 },
	{ "ttwu_count", "wakeups of tasks" },
	{ "ttwu_local", "wakeups of tasks on this CPU by this CPU", EXTRA_SHARE, 4 },
	{ "rq_cpu_time", "time in which tasks ran, in nanoseconds" },
	{ "run_delay", "time in which tasks waited for this CPU, in nanoseconds", EXTRA_SHARE, 6 },
	{ "pcount", "time slices of tasks" },
};

/* Of each of the three kinds of load balancing, without their prefix. */
enum { LB_COUNT, LB_BALANCED, LB_FAILED };
static const struct schedstat_field balance_fields_15[] = {
	{ "count", "attempts to balance the load", EXTRA_JIFFIES },
	{ "balanced", "attempts that found the load balanced", EXTRA_JIFFIES },
	{ "failed", "attempts that could not move a task", EXTRA_JIFFIES },
	{ "imbalance", "imbalance, as the scheduler weighs it" },
	{ "gained", "tasks that were moved here" },
	{ "hot_gained", "tasks moved here that were cache-hot" },
	{ "nobusyq", "attempts that found no busier queue", EXTRA_JIFFIES },
	{ "nobusyg", "attempts that found no busier group", EXTRA_JIFFIES },
}, balance_fields_17[] = {
	{ "count", "attempts to balance the load", EXTRA_JIFFIES },
	{ "balanced", "attempts that found the load balanced", EXTRA_JIFFIES },
	{ "failed", "attempts that could not move a task", EXTRA_JIFFIES },
	{ "imbalance_load", "imbalance of load" },
	{ "imbalance_util", "imbalance of utilization" },
	{ "imbalance_task", "imbalance of the number of tasks" },
	{ "imbalance_misfit", "tasks that are too large for their CPU" },
	{ "gained", "tasks that were moved here" },
	{ "hot_gained", "tasks moved here that were cache-hot" },
	{ "nobusyq", "attempts that found no busier queue", EXTRA_JIFFIES },
	{ "nobusyg", "attempts that found no busier group", EXTRA_JIFFIES },
};

/* After the kinds of load balancing. */
static const struct { const char *heading; struct schedstat_field v[3]; } groups[] = {
	{ "<Category active_load_balance()>", { { "alb_count", "attempts to move the running task" },
						{ "alb_failed", "attempts to move the running task that failed" },
						{ "alb_pushed", "running tasks that were moved" } } },
	{ "<Category sched_balance_exec()>", { { "sbe_count", "not used" }, { "sbe_balanced", "not used" }, { "sbe_pushed", "not used" } } },
	{ "<Category sched_balance_fork()>", { { "sbf_count", "not used" }, { "sbf_balanced", "not used" }, { "sbf_pushed", "not used" } } },
	{ "<Wakeup Info>", { { "ttwu_wake_remote", "wakeups of tasks that last ran on another CPU" },
			     { "ttwu_move_affine", "wakeups that moved a task whose cache was cold" },
			     { "ttwu_move_balance", "wakeups that moved a task to balance the load" } } },
};

static const char *const kinds_15[] = { "idle", "busy", "newidle" }, *const kinds_16[] = { "busy", "idle", "newidle" };

static void put_rule(struct buf *out)
{
	buf_pad(out, '-', WIDTH);
	buf_putc(out, '\n');
}

static void put_heading(struct buf *out, const char *prefix, const char *kind, const char *suffix)
{
	size_t n = strlen(prefix) + strlen(kind) + strlen(suffix) + 2, left = (WIDTH - n) / 2;

	buf_pad(out, '-', left);
	buf_printf(out, " %s%s%s ", prefix, kind, suffix);
	buf_pad(out, '-', WIDTH - n - left);
	buf_putc(out, '\n');
}

/* ---- rows ---- */

/* A value of each of the two recordings. Ratios of small numbers are often halfway between two decimals: they are rounded as
 * perf's. */
struct pair {
	long double v[2];
};

static double change(struct pair p)
{
	return p.v[0] != 0 ? 100 * (double)(p.v[1] - p.v[0]) / (double)p.v[0] : 0;
}

static long double ratio(long double a, long double b)
{
	return b != 0 ? a / b : 0;
}

static void put_name(const struct schedstat_table *t, const char *name, const char *explanation, struct buf *out)
{
	buf_printf(out, "%-*s: ", NAME_WIDTH, t->explain ? explanation : name);
}

static void put_values(const struct schedstat_table *t, struct pair p, unsigned decimals, struct buf *out)
{
	buf_printf(out, "%11.*Lf", decimals, p.v[0]);
	if (t->second)
		buf_printf(out, ",%11.*Lf  | %8.2f%% |", decimals, p.v[1], change(p));
}

static void put_extra(const struct schedstat_table *t, enum extra extra, struct pair value, struct pair of, struct buf *out)
{
	struct pair p;

	if (extra == EXTRA_NONE)
		return;
	for (int i = 0; i < 2; i++)
		p.v[i] = extra == EXTRA_JIFFIES ? ratio(of.v[i], value.v[i]) : of.v[i] != 0 ? (double)value.v[i] * 100 / (double)of.v[i] : 0;
	if (extra == EXTRA_SHARE)
		buf_printf(out, t->second ? "  ( %8.2Lf%%,  %8.2Lf%% )" : "  ( %8.2Lf%% )", p.v[0], p.v[1]);
	else
		buf_printf(out, t->second ? "  $ %11.2Lf, %11.2Lf $" : "  $ %11.2Lf $", p.v[0], p.v[1]);
}

static void put_row(const struct schedstat_table *t, const struct schedstat_field *f, const char *name, const char *explanation, struct pair value,
		    struct pair of, struct buf *out)
{
	put_name(t, name, explanation, out);
	put_values(t, value, 0, out);
	put_extra(t, f->extra, value, of, out);
	buf_putc(out, '\n');
}

static void put_columns(const struct schedstat_table *t, bool of_cpu, struct buf *out)
{
	buf_printf(out, "%-*s ", NAME_WIDTH, "DESC");
	if (!t->second)
		buf_printf(out, of_cpu ? "%12s %12s\n" : "%12s %14s\n", "COUNT", of_cpu ? "PCT_CHANGE" : "AVG_JIFFIES");
	else if (of_cpu)
		buf_printf(out, "%12s %11s %12s %14s %11s\n", "COUNT1", "COUNT2", "PCT_CHANGE", "PCT_CHANGE1", "PCT_CHANGE2");
	else
		buf_printf(out, "%12s %11s %12s %16s %12s\n", "COUNT1", "COUNT2", "PCT_CHANGE", "AVG_JIFFIES1", "AVG_JIFFIES2");
}

/* ---- CPUs and domains ---- */

static void put_cpu(const struct schedstat_table *t, const struct schedstat_cpu *a, const struct schedstat_cpu *b, struct buf *out)
{
	if (a->number == UINT32_MAX)
		buf_puts(out, "CPU: <ALL CPUS SUMMARY>\n");
	else
		buf_printf(out, "CPU: %" PRIu32 "\n", a->number);
	put_rule(out);
	put_columns(t, true, out);
	put_rule(out);
	for (size_t i = 0; i < SCHEDSTAT_CPU_FIELDS; i++) {
		const struct schedstat_field *f = &cpu_fields[i];
		struct pair value = { { (long double)a->v[i], b ? (long double)b->v[i] : 0 } };
		struct pair of = { { (long double)a->v[f->of], b ? (long double)b->v[f->of] : 0 } };

		put_row(t, f, f->name, f->explanation, value, of, out);
	}
	put_rule(out);
}

struct domain_pair {
	const struct schedstat_domain *v[2];	/* the second is NULL without a comparison */
	struct pair jiffies;
};

static struct pair value_of(const struct domain_pair *d, size_t field)
{
	return (struct pair){ { (long double)d->v[0]->v[field], d->v[1] ? (long double)d->v[1]->v[field] : 0 } };
}

/* What follows from the counters of a kind of load balancing. */
static void put_derived(const struct schedstat_table *t, const struct domain_pair *d, const char *kind, size_t first, size_t gained,
			struct buf *out)
{
	struct pair n = value_of(d, first + LB_COUNT), balanced = value_of(d, first + LB_BALANCED), failed = value_of(d, first + LB_FAILED);
	struct pair moved = value_of(d, first + gained), success, average;
	char name[64], text[64];

	for (int i = 0; i < 2; i++) {
		success.v[i] = max_of(n.v[i] - balanced.v[i] - failed.v[i], 0.0L);
		average.v[i] = ratio(moved.v[i], success.v[i]);
	}
	snprintf(name, sizeof(name), "*%s_lb_success_count", kind);
	snprintf(text, sizeof(text), "*attempts that moved a task, CPU %s", kind);
	put_name(t, name, text, out);
	put_values(t, success, 0, out);
	snprintf(name, sizeof(name), "*%s_lb_avg_pulled", kind);
	snprintf(text, sizeof(text), "*tasks moved by each of these attempts, CPU %s", kind);
	buf_putc(out, '\n');
	put_name(t, name, text, out);
	put_values(t, average, 2, out);
	buf_putc(out, '\n');
}

static void put_kind(const struct schedstat_table *t, const struct domain_pair *d, const char *kind, size_t first, struct buf *out)
{
	bool is_17 = t->first->version == 17;
	const struct schedstat_field *fields = is_17 ? balance_fields_17 : balance_fields_15;
	size_t n = is_17 ? countof(balance_fields_17) : countof(balance_fields_15), gained = is_17 ? 7 : 4;
	char name[64], text[96];

	put_heading(out, "<Category ", kind, ">");
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s_lb_%s", kind, fields[i].name);
		snprintf(text, sizeof(text), "%.50s, CPU %s", fields[i].explanation, kind);
		put_row(t, &fields[i], name, text, value_of(d, first + i), d->jiffies, out);
	}
	put_derived(t, d, kind, first, gained, out);
}

static void put_domain(const struct schedstat_table *t, const struct schedstat_cpu *cpu, const struct domain_pair *d, struct buf *out)
{
	const char *const *kinds = t->first->version == 15 ? kinds_15 : kinds_16;
	size_t per_kind = (schedstat_domain_fields(t->first->version) - 3 * countof(groups)) / 3, at = 3 * per_kind;

	if (cpu->number == UINT32_MAX)
		buf_puts(out, "CPU: <ALL CPUS SUMMARY> | DOMAIN: ");
	else
		buf_printf(out, "CPU: %" PRIu32 " | DOMAIN: ", cpu->number);
	buf_puts(out, d->v[0]->name);
	if (cpu->number != UINT32_MAX)
		buf_printf(out, " | DOMAIN_CPUS: %s", d->v[0]->cpus);
	buf_putc(out, '\n');
	put_rule(out);
	put_columns(t, false, out);
	for (size_t i = 0; i < countof(kinds_15); i++)
		put_kind(t, d, kinds[i], i * per_kind, out);
	for (size_t g = 0; g < countof(groups); g++) {
		put_heading(out, groups[g].heading, "", "");
		for (size_t i = 0; i < 3; i++, at++)
			put_row(t, &groups[g].v[i], groups[g].v[i].name, groups[g].v[i].explanation, value_of(d, at), d->jiffies, out);
	}
	put_rule(out);
}

static const struct schedstat_domain *same_domain(const struct schedstat_cpu *cpu, const struct schedstat_domain *d)
{
	for (size_t i = 0; cpu && i < cpu->domains.n; i++)
		if (cpu->domains.v[i].number == d->number)
			return &cpu->domains.v[i];
	return NULL;
}

static void put_tables_of(const struct schedstat_table *t, const struct schedstat_cpu *a, const struct schedstat_cpu *b, struct buf *out)
{
	put_cpu(t, a, b, out);
	for (size_t i = 0; i < a->domains.n; i++) {
		struct domain_pair d = { { &a->domains.v[i], same_domain(b, &a->domains.v[i]) },
					 { { (long double)t->first->jiffies, t->second ? (long double)t->second->jiffies : 0 } } };

		if (!b || d.v[1])
			put_domain(t, a, &d, out);
	}
}

static void put_description(const struct schedstat_table *t, struct buf *out)
{
	buf_puts(out, "Description\n");
	put_rule(out);
	buf_puts(out, "DESC                          -> Name or explanation (-v) of the counter\n"
		      "COUNT                         -> Its value\n"
		      "PCT_CHANGE                    -> In percent of the counter that it is a part of; in a comparison also the change\n"
		      "AVG_JIFFIES                   -> Jiffies between two of these events\n");
	put_rule(out);
	buf_printf(out, "\n%-*s: %11" PRIu64, NAME_WIDTH, "Time elapsed (in jiffies)", t->first->jiffies);
	if (t->second)
		buf_printf(out, ",%11" PRIu64, t->second->jiffies);
	buf_putc(out, '\n');
	put_rule(out);
}

/* The CPUs of -C. 0 or -ENOMEM. */
static int select_cpus(struct schedstat *out, const struct schedstat *s, const struct cpuset *cpus)
{
	*out = (struct schedstat){ .version = s->version, .jiffies = s->jiffies };
	for (size_t i = 0; i < s->cpus.n; i++) {
		struct schedstat_cpu *cpu;

		if (cpus && !cpuset_has(cpus, (int)s->cpus.v[i].number))
			continue;
		cpu = vec_next(&out->cpus);
		if (!cpu)
			return -ENOMEM;
		*cpu = s->cpus.v[i];
	}
	return 0;
}

/* The tables of one CPU of `s` are borrowed. */
static int put_averages(const struct schedstat_table *t, struct buf *out)
{
	const struct schedstat *sources[2] = { t->first, t->second };
	struct schedstat chosen[2] = { 0 }, averages[2] = { 0 };
	int err = 0;

	for (int i = 0; i < 2 && sources[i] && err == 0; i++) {
		err = select_cpus(&chosen[i], sources[i], t->cpus);
		if (err == 0)
			err = schedstat_average(&averages[i], &chosen[i]);
	}
	if (err == 0)
		put_tables_of(t, &averages[0].cpus.v[0], t->second ? &averages[1].cpus.v[0] : NULL, out);
	for (int i = 0; i < 2; i++) {
		vec_done(&chosen[i].cpus);
		schedstat_done(&averages[i]);
	}
	return err;
}

int schedstat_put_tables(const struct schedstat_table *t, struct buf *out)
{
	int err;

	put_description(t, out);
	err = put_averages(t, out);
	for (size_t i = 0; err == 0 && !t->second && i < t->first->cpus.n; i++) {
		const struct schedstat_cpu *cpu = &t->first->cpus.v[i];

		if (t->cpus && !cpuset_has(t->cpus, (int)cpu->number))
			continue;
		put_rule(out);
		put_tables_of(t, cpu, NULL, out);
	}
	return err < 0 || buf_failed(out) ? -ENOMEM : 0;
}

/* ---- JSON ---- */

static void put_json_domain(struct json *j, unsigned version, const struct schedstat_domain *d)
{
	const char *const *kinds = version == 15 ? kinds_15 : kinds_16;
	const struct schedstat_field *fields = version == 17 ? balance_fields_17 : balance_fields_15;
	size_t n = version == 17 ? countof(balance_fields_17) : countof(balance_fields_15), at = 0;
	char name[64];

	json_begin(j, '{');
	json_member(j, "domain", str, d->name);
	json_member(j, "cpus", str, d->cpus);
	for (size_t kind = 0; kind < countof(kinds_15); kind++)
		for (size_t i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "%s_lb_%s", kinds[kind], fields[i].name);
			json_member(j, name, u64, d->v[at++]);
		}
	for (size_t g = 0; g < countof(groups); g++)
		for (size_t i = 0; i < 3; i++)
			json_member(j, groups[g].v[i].name, u64, d->v[at++]);
	json_end(j);
}

int schedstat_put_json(const struct schedstat_table *t, struct buf *out)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.sched-stats/1");
	json_member(&j, "version", u64, t->first->version);
	json_member(&j, "jiffies", u64, t->first->jiffies);
	json_key(&j, "cpus");
	json_begin(&j, '[');
	for (size_t i = 0; i < t->first->cpus.n; i++) {
		const struct schedstat_cpu *cpu = &t->first->cpus.v[i];

		if (t->cpus && !cpuset_has(t->cpus, (int)cpu->number))
			continue;
		json_begin(&j, '{');
		json_member(&j, "cpu", u64, cpu->number);
		for (size_t f = 0; f < SCHEDSTAT_CPU_FIELDS; f++)
			json_member(&j, cpu_fields[f].name, u64, cpu->v[f]);
		json_key(&j, "domains");
		json_begin(&j, '[');
		for (size_t k = 0; k < cpu->domains.n; k++)
			put_json_domain(&j, t->first->version, &cpu->domains.v[k]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
	return buf_failed(out) ? -ENOMEM : 0;
}
