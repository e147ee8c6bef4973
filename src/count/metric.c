/*
 * The built-in metrics, one row each, and looking up metrics by name or group in these and in vendors'
 * lists. In expressions, clocks and duration_time are in nanoseconds, so their quotient is a number of
 * CPUs. Names and units are those of perf 7; a value that exceeds the metric's threshold is worth
 * investigating.
 */
#include "count/metric_set.h"

#include <errno.h>

#include "event/metric.h"

/* CPU time: the clock of the counted CPUs, or of the counted tasks. */
#define CLOCK "(cpu\\-clock if #target_cpu else task\\-clock)"
#define PER_SECOND(event) event " * 1e9 / " CLOCK
#define SLOTS "(topdown\\-retiring + topdown\\-bad\\-spec + topdown\\-fe\\-bound + topdown\\-be\\-bound)"

#define INTEL "has_event(topdown\\-retiring)"
#define ARM_SLOTS "(#slots * cpu_cycles)"
#define BUSY "(1 - stall_slot / " ARM_SLOTS ")"
#define WATTS(what) \
	"power@energy\\-" what "@ * #[scale:power/energy-" what "/] * 1e9 / duration_time"

static const struct tacho_metric metrics[] = {
	{ .name = "CPUs_utilized", .groups = "Default;software", .unit = "CPUs", .scale = 1,
	  .expr = CLOCK " / duration_time", .desc = "CPUs in use on average" },
	{ .name = "cs_per_second", .groups = "Default;software", .unit = "cs/sec", .scale = 1,
	  .expr = PER_SECOND("context\\-switches"), .desc = "Context switches per second of CPU time" },
	{ .name = "migrations_per_second", .groups = "Default;software", .unit = "migrations/sec",
	  .scale = 1, .expr = PER_SECOND("cpu\\-migrations"),
	  .desc = "Moves of a task to another CPU per second of CPU time" },
	{ .name = "page_faults_per_second", .groups = "Default;software", .unit = "faults/sec",
	  .scale = 1, .expr = PER_SECOND("page\\-faults"),
	  .desc = "Page faults per second of CPU time" },
	{ .name = "cycles_frequency", .groups = "Default", .unit = "GHz", .scale = 1,
	  .expr = "cycles / " CLOCK, .desc = "Clock rate while running" },
	{ .name = "insn_per_cycle", .groups = "Default", .unit = "instructions", .scale = 1,
	  .expr = "instructions / cycles", .threshold = "value < 1",
	  .desc = "Instructions retired per cycle" },
	{ .name = "branch_frequency", .groups = "Default", .unit = "M/sec", .scale = 1000,
	  .expr = "branches / " CLOCK, .desc = "Branches per second of CPU time" },
	{ .name = "branch_miss_rate", .groups = "Default", .unit = "%", .scale = 100,
	  .expr = "branch\\-misses / branches", .threshold = "value > 0.05",
	  .desc = "Share of branches that were predicted wrongly" },
	{ .name = "frontend_cycles_idle", .groups = "Stalls", .unit = "%", .scale = 100,
	  .expr = "stalled\\-cycles\\-frontend / cycles", .threshold = "value > 0.1",
	  .desc = "Cycles without instructions from the front end" },
	{ .name = "backend_cycles_idle", .groups = "Stalls", .unit = "%", .scale = 100,
	  .expr = "stalled\\-cycles\\-backend / cycles", .threshold = "value > 0.2",
	  .desc = "Cycles in which the back end waited" },
	{ .name = "l1d_miss_rate", .groups = "Default2", .unit = "%", .scale = 100,
	  .expr = "L1\\-dcache\\-load\\-misses / L1\\-dcache\\-loads", .threshold = "value > 0.05",
	  .desc = "Loads that miss the first-level data cache" },
	{ .name = "llc_miss_rate", .groups = "Default2", .unit = "%", .scale = 100,
	  .expr = "LLC\\-load\\-misses / LLC\\-loads", .threshold = "value > 0.05",
	  .desc = "Loads that miss the last-level cache" },
	{ .name = "l1i_miss_rate", .groups = "Default3", .unit = "%", .scale = 100,
	  .expr = "L1\\-icache\\-load\\-misses / L1\\-icache\\-loads", .threshold = "value > 0.05",
	  .desc = "Fetches that miss the first-level instruction cache" },
	{ .name = "dtlb_miss_rate", .groups = "Default3", .unit = "%", .scale = 100,
	  .expr = "dTLB\\-load\\-misses / dTLB\\-loads", .threshold = "value > 0.05",
	  .desc = "Loads that miss the data TLB" },
	{ .name = "itlb_miss_rate", .groups = "Default3", .unit = "%", .scale = 100,
	  .expr = "iTLB\\-load\\-misses / iTLB\\-loads", .threshold = "value > 0.05",
	  .desc = "Fetches that miss the instruction TLB" },
	{ .name = "l1_prefetch_miss_rate", .groups = "Default4", .unit = "%", .scale = 100,
	  .expr = "L1\\-dcache\\-prefetch\\-misses / L1\\-dcache\\-prefetches",
	  .threshold = "value > 0.05", .desc = "Prefetches that miss the first-level data cache" },
	/* Intel's core PMU counts slots. Arm has architectural events, and its PMU gives the slots per cycle. */
	{ .name = "tma_retiring", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-retiring / " SLOTS " if " INTEL " else op_retired / op_spec * " BUSY,
	  .desc = "Slots that did useful work" },
	{ .name = "tma_bad_speculation", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-bad\\-spec / " SLOTS " if " INTEL " else (1 - op_retired / op_spec) * " BUSY,
	  .threshold = "value > 0.15", .desc = "Slots lost to wrong guesses" },
	{ .name = "tma_frontend_bound", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-fe\\-bound / " SLOTS " if " INTEL " else stall_slot_frontend / " ARM_SLOTS,
	  .threshold = "value > 0.15", .desc = "Slots the front end left empty" },
	{ .name = "tma_backend_bound", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-be\\-bound / " SLOTS " if " INTEL " else stall_slot_backend / " ARM_SLOTS,
	  .threshold = "value > 0.2", .desc = "Slots that waited for memory or execution units" },
	/* Power and memory bandwidth of the whole machine. */
	{ .name = "energy_package", .groups = "System;Power", .unit = "W", .scale = 1,
	  .expr = WATTS("pkg"), .desc = "Power that the packages take" },
	{ .name = "energy_cores", .groups = "System;Power", .unit = "W", .scale = 1,
	  .expr = WATTS("cores"), .desc = "Power that the cores take" },
	{ .name = "energy_ram", .groups = "System;Power", .unit = "W", .scale = 1,
	  .expr = WATTS("ram"), .desc = "Power that the memory takes" },
	{ .name = "memory_bandwidth_read", .groups = "System;Memory", .unit = "MB/s", .scale = 1e-6,
	  .expr = "(cas_count_read if has_event(cas_count_read) else data_reads) * 64e9 / duration_time",
	  .desc = "Bytes that the memory controllers read, 64 at a time" },
	{ .name = "memory_bandwidth_write", .groups = "System;Memory", .unit = "MB/s", .scale = 1e-6,
	  .expr = "(cas_count_write if has_event(cas_count_write) else data_writes) * 64e9 / duration_time",
	  .desc = "Bytes that the memory controllers wrote, 64 at a time" },
};

static bool in_group(const char *groups, struct str name)
{
	struct str rest = str_of(groups), group;

	while (str_cut(&rest, ';', &group))
		if (str_ieq(str_trim(group), name))
			return true;
	return false;
}

/* Whether a metric has the name or is in a group of that name; NULL matches all. */
static bool has_name_or_group(const char *own, const char *groups, const char *name)
{
	return !name || str_ieq(str_of(own), str_of(name)) || in_group(groups, str_of(name));
}

static void suggest_from(struct str_nearest *near, const char *name, const char *groups)
{
	struct str rest = str_of(groups), group;

	str_nearest_try(near, str_of(name));
	while (str_cut(&rest, ';', &group))
		str_nearest_try(near, str_trim(group));
}

static int refuse_unknown_name(const struct metric_defs *defs, const char *name, struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(name) };

	for (size_t i = 0; i < countof(metrics); i++)
		suggest_from(&near, metrics[i].name, metrics[i].groups);
	for (size_t i = 0; defs && i < defs->list.n; i++)
		suggest_from(&near, defs->list.v[i].name, defs->list.v[i].groups);
	error_set(e, -ENOENT, "no metric or metric group is called '%.200s'", name);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(e, "'tacho list metric' shows the known ones%s",
			   defs && !defs->list.n ? "; 'tacho events update' fetches the CPU vendor's" : "");
	return -ENOENT;
}

struct metric_walk {
	const char *name;
	int (*fn)(void *arg, const struct tacho_metric *m);
	void *arg;
	int n;
};

/* Built-in metrics, except those that a vendor's list replaces by name. */
static int walk_built_in(struct metric_walk *w, const struct metric_defs *defs)
{
	for (size_t i = 0; i < countof(metrics); i++) {
		struct tacho_metric m = metrics[i];
		int err;

		if (!has_name_or_group(m.name, m.groups, w->name) || (defs && metric_defs_find(defs, m.name)))
			continue;
		m.size = sizeof(m);
		m.level = in_group(m.groups, STR_LIT("TopdownL1"));
		err = w->fn(w->arg, &m);
		if (err)
			return err;
		w->n++;
	}
	return 0;
}

static const char *null_if_empty(const char *s)
{
	return *s ? s : NULL;
}

static struct tacho_metric metric_from_list(const struct metric_def *d)
{
	return (struct tacho_metric){
		.size = sizeof(struct tacho_metric), .name = d->name, .groups = d->groups, .expr = d->expr,
		.unit = d->unit, .scale = d->scale, .threshold = null_if_empty(d->threshold), .desc = d->desc,
		.level = d->level, .parent = null_if_empty(d->parent), .sample = null_if_empty(d->sample),
		.listed = true,
	};
}

int metric_find(struct tacho *t, const char *name, struct tacho_metric *out)
{
	const struct metric_defs *defs;
	const struct metric_def *d;
	int err = metric_defs_get(t, true, &defs);

	if (err < 0)
		return err;
	d = metric_defs_find(defs, name);
	if (!d || (strcmp(d->name, name) != 0 && strcmp(d->legacy, name) != 0))
		return 0;
	*out = metric_from_list(d);
	return 1;
}

static int walk_listed(struct metric_walk *w, const struct metric_defs *defs)
{
	int err = 0;

	for (size_t i = 0; !err && i < defs->list.n; i++) {
		const struct metric_def *d = &defs->list.v[i];
		struct tacho_metric m = metric_from_list(d);

		/* If several lists define a metric, the first one is used. */
		if ((!has_name_or_group(d->name, d->groups, w->name) && strcmp(d->legacy, w->name) != 0) ||
		    metric_defs_find(defs, d->name) != d)
			continue;
		err = w->fn(w->arg, &m);
		w->n += !err;
	}
	return err;
}

int tacho_metric_each(const char *name, int (*fn)(void *arg, const struct tacho_metric *m),
		      void *arg, struct tacho_error *e)
{
	struct metric_walk w = { .name = name, .fn = fn, .arg = arg };
	int err = walk_built_in(&w, NULL);

	return err ? err : w.n ? w.n : refuse_unknown_name(NULL, name, e);
}

static bool is_built_in(const char *name)
{
	for (size_t i = 0; i < countof(metrics); i++)
		if (has_name_or_group(metrics[i].name, metrics[i].groups, name))
			return true;
	return false;
}

int tacho_metric_walk(struct tacho *t, const char *name,
		      int (*fn)(void *arg, const struct tacho_metric *m), void *arg, struct tacho_error *e)
{
	struct metric_walk w = { .name = name, .fn = fn, .arg = arg };
	const struct metric_defs *defs;
	int err = metric_defs_get(t, !name || !is_built_in(name), &defs);

	if (err < 0)
		return error_nomem(e);
	err = walk_listed(&w, defs);
	if (!err)
		err = walk_built_in(&w, defs);
	return err ? err : w.n ? w.n : refuse_unknown_name(defs, name, e);
}
