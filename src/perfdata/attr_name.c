/*
 * Makes names for events that have no name in the file: a killed recorder has not written EVENT_DESC, and
 * very old files do not have it. The name is derived from the attr alone; PMU names are only known on the
 * machine that recorded.
 */
#include "perfdata/perfdata.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const hardware[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
	"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};

static const char *const software[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
	"bpf-output", "cgroup-switches",
};

static const char *const cache[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};
static const char *const cache_op[] = { "load", "store", "prefetch" };
static const char *const cache_ops[] = { "loads", "stores", "prefetches" };

static bool cache_event_name(uint64_t config, char *out, size_t size)
{
	unsigned level = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (level >= countof(cache) || op >= countof(cache_op) || result > 1)
		return false;
	if (result)
		snprintf(out, size, "%s-%s-misses", cache[level], cache_op[op]);
	else
		snprintf(out, size, "%s-%s", cache[level], cache_ops[op]);
	return true;
}

static void format_modifiers(const struct perf_event_attr *a, char *out, size_t size)
{
	unsigned precise = (a->flags & PERF_ATTR_PRECISE_MASK) >> PERF_ATTR_PRECISE_SHIFT;
	bool some = a->flags & (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL);

	snprintf(out, size, "%s%s%s%.*s", some || precise ? ":" : "",
		 some && !(a->flags & PERF_ATTR_EXCLUDE_USER) ? "u" : "",
		 some && !(a->flags & PERF_ATTR_EXCLUDE_KERNEL) ? "k" : "", (int)precise, "ppp");
}

void attr_name(const struct perf_event_attr *a, char *out, size_t size)
{
	uint32_t pmu = (uint32_t)(a->config >> 32);	/* on hybrid machines: the type of the PMU */
	uint64_t config = pmu && a->type == PERF_TYPE_HARDWARE ? a->config & 0xffffffff : a->config;
	char base[64], tail[8];

	if (a->type == PERF_TYPE_HARDWARE && config < countof(hardware))
		snprintf(base, sizeof(base), "%s", hardware[config]);
	else if (a->type == PERF_TYPE_SOFTWARE && config < countof(software))
		snprintf(base, sizeof(base), "%s", software[config]);
	else if (a->type == PERF_TYPE_TRACEPOINT)
		snprintf(base, sizeof(base), "tracepoint/%" PRIu64 "/", config);
	else if (a->type == PERF_TYPE_RAW)
		snprintf(base, sizeof(base), "r%" PRIx64, config);
	else if (a->type == PERF_TYPE_BREAKPOINT)
		snprintf(base, sizeof(base), "mem:0x%" PRIx64, a->bp_addr);
	else if (a->type != PERF_TYPE_HW_CACHE || !cache_event_name(config, base, sizeof(base)))
		snprintf(base, sizeof(base), "pmu%u/0x%" PRIx64 "/", a->type, config);
	format_modifiers(a, tail, sizeof(tail));
	snprintf(out, size, "%s%s", base, tail);
}
