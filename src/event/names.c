/*
 * Tables of the generic event names, and the grammar of cache event names: cache[-op][-result]. Each part
 * has several spellings; the order is fixed. Not every cache supports every operation: an instruction
 * cache has no stores.
 */
#include "event/names.h"

#include <stdio.h>

const struct generic_name hardware_names[] = {
	{ "cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, "Core clock cycles", NULL, 1 },
	{ "instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, "Retired instructions", NULL, 1 },
	{ "cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES,
	  "Accesses to the last-level cache, as the CPU defines it", NULL, 1 },
	{ "cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES,
	  "Misses of the last-level cache, as the CPU defines it", NULL, 1 },
	{ "branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  "Retired branch instructions", NULL, 1 },
	{ "branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, "Mispredicted branches", NULL, 1 },
	{ "bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, "Bus clock cycles", NULL, 1 },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  "Cycles in which the front end delivered nothing", NULL, 1 },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  "Cycles in which the back end was stuck", NULL, 1 },
	{ "ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES,
	  "Cycles at a constant rate, whatever the clock frequency", NULL, 1 },
};
const size_t n_hardware_names = countof(hardware_names);

const struct generic_name software_names[] = {
	{ "cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, "Time on the CPU, by a per-CPU timer",
	  "msec", 1e-6 },
	{ "task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, "Time on the CPU, by the task's own clock",
	  "msec", 1e-6 },
	{ "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, "Page faults, minor and major",
	  NULL, 1 },
	{ "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES,
	  "Switches to another task", NULL, 1 },
	{ "cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS,
	  "Moves of a task to another CPU", NULL, 1 },
	{ "minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN,
	  "Page faults served without reading from storage", NULL, 1 },
	{ "major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	  "Page faults that had to read from storage", NULL, 1 },
	{ "alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS,
	  "Unaligned accesses handled by the kernel", NULL, 1 },
	{ "emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS,
	  "Instructions emulated by the kernel", NULL, 1 },
	{ "dummy", NULL, PERF_COUNT_SW_DUMMY, "Placeholder that counts nothing", NULL, 1 },
	{ "bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT,
	  "Data that BPF programs write into a ring buffer", NULL, 1 },
	{ "cgroup-switches", NULL, PERF_COUNT_SW_CGROUP_SWITCHES,
	  "Switches to a task of another cgroup", NULL, 1 },
};
const size_t n_software_names = countof(software_names);

const struct generic_name tool_names[] = {
	{ "duration_time", NULL, TOOL_DURATION_TIME, "Wall-clock time of the run", "ns", 1 },
	{ "user_time", NULL, TOOL_USER_TIME, "Time in user space", "ns", 1 },
	{ "system_time", NULL, TOOL_SYSTEM_TIME, "Time in the kernel", "ns", 1 },
	{ "num_cpus", NULL, TOOL_NUM_CPUS, "Logical CPUs", NULL, 1 },
	{ "num_cpus_online", NULL, TOOL_NUM_CPUS_ONLINE, "Logical CPUs that are online", NULL, 1 },
	{ "num_cores", NULL, TOOL_NUM_CORES, "Cores, each of one or more threads", NULL, 1 },
	{ "num_dies", NULL, TOOL_NUM_DIES, "Dies, each of one or more cores", NULL, 1 },
	{ "num_packages", NULL, TOOL_NUM_PACKAGES, "Packages, each of one or more dies", NULL, 1 },
	{ "smt_on", NULL, TOOL_SMT_ON, "1 when cores run several threads at once", NULL, 1 },
	{ "system_tsc_freq", NULL, TOOL_SYSTEM_TSC_FREQ,
	  "Ticks of the time-stamp counter per second", NULL, 1 },
	{ "has_pmem", NULL, TOOL_HAS_PMEM, "1 when there is persistent memory", NULL, 1 },
	{ "core_wide", NULL, TOOL_CORE_WIDE,
	  "1 when every thread of a core is counted, or there is one per core", NULL, 1 },
	{ "target_cpu", NULL, TOOL_TARGET_CPU,
	  "1 when CPUs are counted, 0 when tasks are", NULL, 1 },
	{ "slots", NULL, TOOL_SLOTS, "Pipeline slots per cycle of a core", NULL, 1 },
};
const size_t n_tool_names = countof(tool_names);

/* Alumet's names that differ from perf's by more than '_' instead of '-'. */
static const struct { const char *alumet, *name; } alumet_names[] = {
	{ "ref-cpu-cycles", "ref-cycles" },
	{ "page-faults-min", "minor-faults" },
	{ "page-faults-maj", "major-faults" },
};

struct spelling {
	const char *name;
	uint8_t value;
};

/* The first spelling of each value is the one that is listed. */
static const struct spelling cache_spellings[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D }, { "L1-icache", PERF_COUNT_HW_CACHE_L1I },
	{ "LLC", PERF_COUNT_HW_CACHE_LL }, { "dTLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB }, { "branch", PERF_COUNT_HW_CACHE_BPU },
	{ "node", PERF_COUNT_HW_CACHE_NODE },
	{ "l1-d", PERF_COUNT_HW_CACHE_L1D }, { "l1d", PERF_COUNT_HW_CACHE_L1D },
	{ "L1-data", PERF_COUNT_HW_CACHE_L1D }, { "l1-i", PERF_COUNT_HW_CACHE_L1I },
	{ "l1i", PERF_COUNT_HW_CACHE_L1I }, { "L1-instruction", PERF_COUNT_HW_CACHE_L1I },
	{ "L2", PERF_COUNT_HW_CACHE_LL }, { "LL", PERF_COUNT_HW_CACHE_LL },
	{ "d-tlb", PERF_COUNT_HW_CACHE_DTLB }, { "Data-TLB", PERF_COUNT_HW_CACHE_DTLB },
	{ "i-tlb", PERF_COUNT_HW_CACHE_ITLB }, { "Instruction-TLB", PERF_COUNT_HW_CACHE_ITLB },
	{ "branches", PERF_COUNT_HW_CACHE_BPU }, { "bpu", PERF_COUNT_HW_CACHE_BPU },
	{ "btb", PERF_COUNT_HW_CACHE_BPU }, { "bpc", PERF_COUNT_HW_CACHE_BPU },
};

static const struct spelling op_spellings[] = {
	{ "load", PERF_COUNT_HW_CACHE_OP_READ }, { "loads", PERF_COUNT_HW_CACHE_OP_READ },
	{ "read", PERF_COUNT_HW_CACHE_OP_READ }, { "store", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "stores", PERF_COUNT_HW_CACHE_OP_WRITE }, { "write", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetch", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-read", PERF_COUNT_HW_CACHE_OP_PREFETCH },
	{ "speculative-load", PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

static const struct spelling result_spellings[] = {
	{ "refs", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "Reference", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "ops", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "access", PERF_COUNT_HW_CACHE_RESULT_ACCESS },
	{ "misses", PERF_COUNT_HW_CACHE_RESULT_MISS },
	{ "miss", PERF_COUNT_HW_CACHE_RESULT_MISS },
};

#define OP(op) (1u << PERF_COUNT_HW_CACHE_OP_##op)
static const uint8_t cache_ops[PERF_COUNT_HW_CACHE_MAX] = {
	[PERF_COUNT_HW_CACHE_L1D] = OP(READ) | OP(WRITE) | OP(PREFETCH),
	[PERF_COUNT_HW_CACHE_L1I] = OP(READ) | OP(PREFETCH),
	[PERF_COUNT_HW_CACHE_LL] = OP(READ) | OP(WRITE) | OP(PREFETCH),
	[PERF_COUNT_HW_CACHE_DTLB] = OP(READ) | OP(WRITE) | OP(PREFETCH),
	[PERF_COUNT_HW_CACHE_ITLB] = OP(READ),
	[PERF_COUNT_HW_CACHE_BPU] = OP(READ),
	[PERF_COUNT_HW_CACHE_NODE] = OP(READ) | OP(WRITE) | OP(PREFETCH),
};

/* Removes the longest matching spelling, which must be followed by '-' or the end, from *rest. */
static bool cut_spelling(const struct spelling *table, size_t n, struct str *rest, uint8_t *out)
{
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		struct str s = str_of(table[i].name);

		if (s.n <= best || s.n > rest->n || (s.n < rest->n && rest->s[s.n] != '-') ||
		    !str_ieq(s, str_n(rest->s, s.n)))
			continue;
		best = s.n;
		*out = table[i].value;
	}
	if (!best)
		return false;
	best += best < rest->n;
	*rest = str_n(rest->s + best, rest->n - best);
	return true;
}

static bool cache_find(struct str word, bool any_op, struct generic *out)
{
	uint8_t cache = 0, op = PERF_COUNT_HW_CACHE_OP_READ;
	uint8_t result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	struct str rest = word;

	if (!word.n || word.s[word.n - 1] == '-' ||
	    !cut_spelling(cache_spellings, countof(cache_spellings), &rest, &cache))
		return false;
	if (rest.n)
		cut_spelling(op_spellings, countof(op_spellings), &rest, &op);
	if (rest.n)
		cut_spelling(result_spellings, countof(result_spellings), &rest, &result);
	if (rest.n || (!any_op && !(cache_ops[cache] & 1u << op)))
		return false;
	*out = (struct generic){ .kind = TACHO_EVENT_CACHE, .type = PERF_TYPE_HW_CACHE, .unit = "",
				 .scale = 1,
				 .config = cache | (uint64_t)op << 8 | (uint64_t)result << 16 };
	return true;
}

static bool table_find(const struct generic_name *table, size_t n, struct str word,
		       enum tacho_event_kind kind, uint32_t type, struct generic *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct generic_name *row = &table[i];

		if (!str_ieq(word, str_of(row->name)) &&
		    !(row->alias && str_ieq(word, str_of(row->alias))))
			continue;
		*out = (struct generic){ .kind = kind, .type = type, .config = row->config,
					 .unit = row->unit ? row->unit : "", .scale = row->scale };
		if (kind == TACHO_EVENT_TOOL)
			out->tool = (enum tool_event)row->config;
		return true;
	}
	return false;
}

bool generic_find_software(struct str word, struct generic *out)
{
	return table_find(software_names, n_software_names, word, TACHO_EVENT_SOFTWARE,
			  PERF_TYPE_SOFTWARE, out);
}

bool generic_find_tool(struct str word, struct generic *out)
{
	return table_find(tool_names, n_tool_names, word, TACHO_EVENT_TOOL, TOOL_TYPE, out);
}

bool generic_find_hardware(struct str word, struct generic *out)
{
	return table_find(hardware_names, n_hardware_names, word, TACHO_EVENT_HARDWARE,
			  PERF_TYPE_HARDWARE, out) ||
	       cache_find(word, false, out);
}

bool generic_find(struct str word, struct generic *out)
{
	return generic_find_software(word, out) || generic_find_hardware(word, out) ||
	       generic_find_tool(word, out);
}

bool generic_find_alumet(struct str word, struct generic *out)
{
	char text[40];
	struct str s = str_n(text, word.n);

	if (word.n >= sizeof(text))
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (word.s[i] == '-')
			return false;
		text[i] = word.s[i] == '_' ? '-' : word.s[i];
	}
	for (size_t i = 0; i < countof(alumet_names); i++)
		if (str_ieq(s, str_of(alumet_names[i].alumet)))
			s = str_of(alumet_names[i].name);
	return generic_find_software(s, out) || generic_find_hardware(s, out) ||
	       cache_find(s, true, out);
}

bool cache_name_at(size_t i, char out[48], uint64_t *config)
{
	static const char *const ops[] = { "load", "store", "prefetch" };

	for (unsigned cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (unsigned op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++) {
			bool miss = i == 1;

			if (!(cache_ops[cache] & 1u << op))
				continue;
			if (i >= PERF_COUNT_HW_CACHE_RESULT_MAX) {
				i -= PERF_COUNT_HW_CACHE_RESULT_MAX;
				continue;
			}
			snprintf(out, 48, "%s-%s%s", cache_spellings[cache].name, ops[op],
				 miss ? "-misses" : op == PERF_COUNT_HW_CACHE_OP_PREFETCH ? "es" : "s");
			*config = cache | (uint64_t)op << 8 | (uint64_t)miss << 16;
			return true;
		}
	return false;
}

static void guess_table(struct name_guess *g, const struct generic_name *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		guess_try(g, str_of(table[i].name));
		if (table[i].alias)
			guess_try(g, str_of(table[i].alias));
	}
}

void generic_guess(struct name_guess *g)
{
	char name[48];
	uint64_t config;

	guess_table(g, hardware_names, n_hardware_names);
	guess_table(g, software_names, n_software_names);
	guess_table(g, tool_names, n_tool_names);
	for (size_t i = 0; cache_name_at(i, name, &config); i++)
		guess_try(g, str_of(name));
}
