/*
 * The built-in metrics: one row each, an expression over event names. Clocks count nanoseconds
 * here and duration_time does too, so that their quotient is a number of CPUs. Names and units
 * are those of perf 7, thresholds mark what is worth a second look.
 */
#include "count/expr.h"

#include <errno.h>

/* Time on CPUs: the counted CPUs' own clock, or the tasks' where tasks are counted. */
#define CLOCK "(cpu\\-clock if #target_cpu else task\\-clock)"
#define PER_SECOND(event) event " * 1e9 / " CLOCK
#define SLOTS "(topdown\\-retiring + topdown\\-bad\\-spec + topdown\\-fe\\-bound + topdown\\-be\\-bound)"

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
	{ .name = "tma_retiring", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-retiring / " SLOTS, .desc = "Slots that did useful work" },
	{ .name = "tma_bad_speculation", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-bad\\-spec / " SLOTS, .threshold = "value > 0.15",
	  .desc = "Slots lost to wrong guesses" },
	{ .name = "tma_frontend_bound", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-fe\\-bound / " SLOTS, .threshold = "value > 0.15",
	  .desc = "Slots the front end left empty" },
	{ .name = "tma_backend_bound", .groups = "TopdownL1", .unit = "%", .scale = 100,
	  .expr = "topdown\\-be\\-bound / " SLOTS, .threshold = "value > 0.2",
	  .desc = "Slots that waited for memory or execution units" },
};

static bool in_group(const char *groups, struct str name)
{
	struct str rest = str_of(groups), group;

	while (str_cut(&rest, ';', &group))
		if (str_ieq(group, name))
			return true;
	return false;
}

static int refuse_name(const char *name, struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(name) };

	for (size_t i = 0; i < countof(metrics); i++) {
		struct str rest = str_of(metrics[i].groups), group;

		str_nearest_try(&near, str_of(metrics[i].name));
		while (str_cut(&rest, ';', &group))
			str_nearest_try(&near, group);
	}
	error_set(e, -ENOENT, "no metric or metric group is called '%s'", name);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(e, "'tacho list metric' shows those there are");
	return -ENOENT;
}

int tacho_metric_each(const char *name, int (*fn)(void *arg, const struct tacho_metric *m),
		      void *arg, struct tacho_error *e)
{
	int n = 0;

	for (size_t i = 0; i < countof(metrics); i++) {
		struct tacho_metric m = metrics[i];
		int err;

		if (name && !str_ieq(str_of(m.name), str_of(name)) &&
		    !in_group(m.groups, str_of(name)))
			continue;
		m.size = sizeof(m);
		err = fn(arg, &m);
		if (err)
			return err;
		n++;
	}
	return n ? n : refuse_name(name, e);
}
