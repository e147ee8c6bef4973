/*
 * A file's header as comments, key by key as perf prints them: readers of such text look for
 * "# ========", "# cmdline :" and "# captured on". Everything comes from feature payloads.
 */
#include "cli/files/header_text.h"

#include <time.h>

#include "cli/files/attr_line.h"
#include "cli/files/bpf_header.h"
#include "cli/files/feature_payload.h"

/* ---- one function per feature; each writes its lines ---- */

typedef void (*put_fn)(const struct tacho_perfdata *pd, struct payload *p, struct buf *out);

static void put_cpus(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t available = payload_u32(p), online = payload_u32(p);

	(void)pd;
	buf_printf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", online, available);
}

static void put_memory(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	(void)pd;
	buf_printf(out, "# total memory : %llu kB\n", (unsigned long long)payload_u64(p));
}

static void put_cmdline(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	(void)pd;
	buf_puts(out, "# cmdline : ");
	while (n-- && !p->bad) {
		buf_str(out, payload_str(p));
		buf_putc(out, ' ');
	}
	buf_putc(out, '\n');
}

static void put_events(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	(void)p;
	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(pd, i);

		buf_printf(out, "# event : name = %s, , id = {", ev->name);
		for (size_t k = 0; k < ev->n_ids; k++)
			buf_printf(out, "%s %llu", k ? "," : "", (unsigned long long)ev->ids[k]);
		buf_puts(out, " }, ");
		file_attr(ev, " = ", out);
		buf_putc(out, '\n');
	}
}

static void put_list(struct payload *p, const char *what, struct buf *out)
{
	uint32_t n = payload_u32(p);

	while (n-- && !p->bad) {
		struct str text = payload_str(p);

		buf_printf(out, "# %s: %.*s\n", what, STR(text));
	}
}

/* Sockets, threads, (core, socket) per CPU, and in newer files dies and a die per CPU; of one that was
 * off all are -1. */
static void put_topology(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	struct payload cpus = payload_of(pd, TACHO_FEATURE_NRCPUS), dies;
	uint32_t n = payload_u32(&cpus);
	struct buf threads = { 0 };

	put_list(p, "sibling sockets ", out);
	put_list(p, "sibling threads ", &threads);
	dies = *p;
	payload_bytes(&dies, (size_t)n * 8);
	if (!dies.bad && dies.at < dies.end)
		put_list(&dies, "sibling dies    ", out);
	else
		dies.bad = true;
	buf_str(out, buf_view(&threads));
	buf_done(&threads);
	for (uint32_t i = 0; i < n && !p->bad; i++) {
		int32_t core = (int32_t)payload_u32(p), socket = (int32_t)payload_u32(p);
		int32_t die = (int32_t)payload_u32(&dies);

		if (dies.bad)
			buf_printf(out, "# CPU %u: Core ID %d, Socket ID %d\n", i, core, socket);
		else
			buf_printf(out, "# CPU %u: Core ID %d, Die ID %d, Socket ID %d\n", i, core, die, socket);
	}
}

static void put_numa(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	(void)pd;
	while (n-- && !p->bad) {
		uint32_t node = payload_u32(p);
		unsigned long long total = payload_u64(p), unused = payload_u64(p);
		struct str cpus = payload_str(p);

		buf_printf(out, "# node%u meminfo  : total = %llu kB, free = %llu kB\n", node, total, unused);
		buf_printf(out, "# node%u cpu list : %.*s\n", node, STR(cpus));
	}
}

static void put_pmus(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	(void)pd;
	buf_puts(out, "# pmu mappings: ");
	for (uint32_t i = 0; i < n && !p->bad; i++) {
		uint32_t type = payload_u32(p);
		struct str name = payload_str(p);

		buf_printf(out, "%s%.*s = %u", i ? ", " : "", STR(name), type);
	}
	buf_putc(out, '\n');
}

static void put_groups(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	while (n-- && !p->bad) {
		struct str name = payload_str(p);
		uint32_t leader = payload_u32(p), members = payload_u32(p);

		if (str_is(name, "{anon_group}"))	/* perf's for none */
			name.n = 0;
		buf_printf(out, "# group: %.*s{", STR(name));
		for (uint32_t i = 0; i < members && leader + i < tacho_perfdata_n_events(pd); i++)
			buf_printf(out, "%s%s", i ? "," : "", tacho_perfdata_event(pd, leader + i)->name);
		buf_puts(out, "}\n");
	}
}

static void put_caches(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t version = payload_u32(p), n = payload_u32(p);

	(void)pd;
	if (version != 1)
		return;
	buf_puts(out, "# CPU cache info:\n");
	while (n-- && !p->bad) {
		uint32_t level = payload_u32(p);
		struct str type, size, cpus;

		payload_bytes(p, 12);	/* line, sets, ways */
		type = payload_str(p);
		size = payload_str(p);
		cpus = payload_str(p);
		buf_printf(out, "#  L%u %-15.*s %8.*s [%.*s]\n", level, STR(type), STR(size), STR(cpus));
	}
}

static void put_sample_time(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint64_t first = payload_u64(p), last = payload_u64(p);

	(void)pd;
	buf_printf(out, "# time of first sample : %llu.%06llu\n", (unsigned long long)(first / 1000000000),
		   (unsigned long long)(first % 1000000000 / 1000));
	buf_printf(out, "# time of last sample : %llu.%06llu\n", (unsigned long long)(last / 1000000000),
		   (unsigned long long)(last % 1000000000 / 1000));
	buf_printf(out, "# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

/* "0-23,32-199": the blocks of a node that hold memory. Returns how many they are. */
static uint64_t put_bitmap(struct payload *p, uint64_t n_bits, struct buf *out)
{
	uint64_t word = 0, from = UINT64_MAX, n = 0;
	bool any = false;

	for (uint64_t i = 0; i <= n_bits && !p->bad; i++) {
		bool set;

		if (i % 64 == 0 && i < n_bits)
			word = payload_u64(p);
		set = i < n_bits && (word >> i % 64 & 1);
		n += set;
		if (set && from == UINT64_MAX)
			from = i;
		if (set || from == UINT64_MAX)
			continue;
		buf_printf(out, "%s%llu", any ? "," : "", (unsigned long long)from);
		if (i - from > 1)
			buf_printf(out, "-%llu", (unsigned long long)(i - 1));
		any = true;
		from = UINT64_MAX;
	}
	return n;
}

static void put_memory_nodes(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint64_t version = payload_u64(p), block = payload_u64(p), n = payload_u64(p);

	(void)pd;
	if (version != 1)
		return;
	buf_printf(out, "# memory nodes (nr %llu, block size 0x%llx):\n", (unsigned long long)n,
		   (unsigned long long)block);
	while (n-- && !p->bad) {
		uint64_t node = payload_u64(p), blocks;
		struct buf list = { 0 };

		payload_u64(p);
		blocks = put_bitmap(p, payload_u64(p), &list);
		buf_printf(out, "# %4llu [%lluG]: %s\n", (unsigned long long)node,
			   (unsigned long long)(blocks * block >> 30), list.bytes ? list.bytes : "");
		buf_done(&list);
	}
}

static void put_clockid(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	(void)pd;
	buf_printf(out, "# clockid frequency: %llu MHz\n", (unsigned long long)(payload_u64(p) * 1000));
}

/* A moment by the clock of the samples and by the wall's. */
static void put_clock_data(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	static const char *const names[] = { [0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw",
					     [7] = "boottime", [11] = "tai" };
	uint32_t version = payload_u32(p), clock = payload_u32(p);
	unsigned long long wall = payload_u64(p), at = payload_u64(p);
	const char *name = clock < countof(names) && names[clock] ? names[clock] : "unknown";
	time_t seconds = (time_t)(wall / 1000000000);
	char date[32] = "";
	struct tm tm;

	(void)pd;
	if (p->bad || version != 1)
		return;
	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	buf_printf(out, "# clockid: %s (%u)\n", name, clock);
	buf_printf(out, "# reference time: %s.%06llu = %llu.%06llu (TOD) = %llu.%09llu (%s)\n", date,
		   wall % 1000000000 / 1000, wall / 1000000000, wall % 1000000000 / 1000, at / 1000000000,
		   at % 1000000000, name);
}

static void put_compressed(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t type, level, ratio;

	(void)pd;
	payload_u32(p);
	type = payload_u32(p);
	level = payload_u32(p);
	ratio = payload_u32(p);
	buf_printf(out, "# compressed : %s, level = %u, ratio = %u\n", type == 1 ? "Zstd" : "Unknown", level,
		   ratio);
}

static void put_directory(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	(void)pd;
	buf_printf(out, "# directory data version : %llu\n", (unsigned long long)payload_u64(p));
}

/* u32 PMUs; each: its name and its CPUs. */
static void put_hybrid(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	(void)pd;
	buf_puts(out, "# hybrid cpu system:\n");
	for (uint32_t i = 0; i < n; i++) {
		struct str name = payload_str(p), cpus = payload_str(p);

		if (p->bad)
			return;
		buf_printf(out, "# %.*s cpu list : %.*s\n", STR(name), STR(cpus));
	}
}

/* u32 capabilities; each: its name and its value. They follow the name of the PMU. */
static void put_capabilities(struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	if (!n && !p->bad)
		buf_puts(out, "not available");
	for (uint32_t i = 0; i < n && !p->bad; i++) {
		struct str name = payload_str(p), value = payload_str(p);

		if (!p->bad)
			buf_printf(out, "%s%.*s=%.*s", i ? ", " : "", STR(name), STR(value));
	}
	buf_putc(out, '\n');
}

static void put_cpu_capabilities(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	(void)pd;
	buf_puts(out, "# cpu pmu capabilities: ");
	put_capabilities(p, out);
}

/* u32 PMUs; each: its capabilities, then its name. */
static void put_pmu_capabilities(const struct tacho_perfdata *pd, struct payload *p, struct buf *out)
{
	uint32_t n = payload_u32(p);

	(void)pd;
	for (uint32_t i = 0; i < n && !p->bad; i++) {
		scoped(buf_done) struct buf list = { 0 };
		struct str name;

		put_capabilities(p, &list);
		name = payload_str(p);
		if (!p->bad && !buf_failed(&list))
			buf_printf(out, "# %.*s pmu capabilities: %s", STR(name), list.bytes);
	}
}

static const struct row {
	enum tacho_feature feature;
	const char *name;		/* as "missing features" calls it */
	const char *text;		/* of those that are a string: the key */
	const char *line;		/* of those that are there or not: what that means */
	put_fn put;
	bool long_one;			/* shown with -I only */
} rows[] = {
	{ TACHO_FEATURE_HOSTNAME, "HOSTNAME", .text = "hostname" },
	{ TACHO_FEATURE_OSRELEASE, "OSRELEASE", .text = "os release" },
	{ TACHO_FEATURE_VERSION, "VERSION", .text = "perf version" },
	{ TACHO_FEATURE_ARCH, "ARCH", .text = "arch" },
	{ TACHO_FEATURE_NRCPUS, "NRCPUS", .put = put_cpus },
	{ TACHO_FEATURE_CPUDESC, "CPUDESC", .text = "cpudesc" },
	{ TACHO_FEATURE_CPUID, "CPUID", .text = "cpuid" },
	{ TACHO_FEATURE_TOTAL_MEM, "TOTAL_MEM", .put = put_memory },
	{ TACHO_FEATURE_CMDLINE, "CMDLINE", .put = put_cmdline },
	{ TACHO_FEATURE_EVENT_DESC, "EVENT_DESC", .put = put_events },
	{ TACHO_FEATURE_CPU_TOPOLOGY, "CPU_TOPOLOGY", .put = put_topology, .long_one = true },
	{ TACHO_FEATURE_NUMA_TOPOLOGY, "NUMA_TOPOLOGY", .put = put_numa, .long_one = true },
	{ TACHO_FEATURE_BRANCH_STACK, "BRANCH_STACK", .line = "contains samples with branch stack" },
	{ TACHO_FEATURE_PMU_MAPPINGS, "PMU_MAPPINGS", .put = put_pmus },
	{ TACHO_FEATURE_GROUP_DESC, "GROUP_DESC", .put = put_groups },
	{ TACHO_FEATURE_AUXTRACE, "AUXTRACE", .line = "contains AUX area data (e.g. instruction trace)" },
	{ TACHO_FEATURE_STAT, "STAT", .line = "contains stat data" },
	{ TACHO_FEATURE_CACHE, "CACHE", .put = put_caches, .long_one = true },
	{ TACHO_FEATURE_SAMPLE_TIME, "SAMPLE_TIME", .put = put_sample_time },
	{ TACHO_FEATURE_MEM_TOPOLOGY, "MEM_TOPOLOGY", .put = put_memory_nodes, .long_one = true },
	{ TACHO_FEATURE_CLOCKID, "CLOCKID", .put = put_clockid },
	{ TACHO_FEATURE_DIR_FORMAT, "DIR_FORMAT", .put = put_directory },
	{ TACHO_FEATURE_BPF_PROG_INFO, "BPF_PROG_INFO", .put = file_bpf_programs },
	{ TACHO_FEATURE_BPF_BTF, "BPF_BTF", .put = file_bpf_types },
	{ TACHO_FEATURE_COMPRESSED, "COMPRESSED", .put = put_compressed },
	{ TACHO_FEATURE_CPU_PMU_CAPS, "CPU_PMU_CAPS", .put = put_cpu_capabilities },
	{ TACHO_FEATURE_CLOCK_DATA, "CLOCK_DATA", .put = put_clock_data },
	{ TACHO_FEATURE_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY", .put = put_hybrid, .long_one = true },
	{ TACHO_FEATURE_PMU_CAPS, "PMU_CAPS", .put = put_pmu_capabilities },
};

/* Features without a line of their own, for the list of what is missing. */
static const struct { enum tacho_feature feature; const char *name; } others[] = {
	{ TACHO_FEATURE_TRACING_DATA, "TRACING_DATA" }, { TACHO_FEATURE_BUILD_ID, "BUILD_ID" },
};

static bool has(const struct tacho_perfdata *pd, enum tacho_feature f)
{
	size_t n;

	return tacho_perfdata_feature(pd, f, &n) != NULL;
}

static void put_row(const struct tacho_perfdata *pd, const struct row *row, bool full, struct buf *out)
{
	struct payload p = payload_of(pd, row->feature);
	const char *text;

	if (row->text) {
		text = tacho_perfdata_string(pd, row->feature);
		buf_printf(out, "# %s : %s\n", row->text, text ? text : "");
	} else if (row->line) {
		buf_printf(out, "# %s\n", row->line);
	} else if (row->long_one && !full) {
		buf_printf(out, "# %s info available, use -I to display\n", row->name);
	} else {
		row->put(pd, &p, out);
	}
}

static void put_missing(const struct tacho_perfdata *pd, struct buf *out)
{
	buf_puts(out, "# missing features: ");
	for (unsigned f = 1; f < TACHO_FEATURE_MAX; f++) {
		if (has(pd, f))
			continue;
		for (size_t i = 0; i < countof(rows); i++)
			if (rows[i].feature == f)
				buf_printf(out, "%s ", rows[i].name);
		for (size_t i = 0; i < countof(others); i++)
			if (others[i].feature == f)
				buf_printf(out, "%s ", others[i].name);
	}
	buf_putc(out, '\n');
}

void file_header(const struct tacho_perfdata *pd, bool full, struct buf *out)
{
	struct tacho_file_facts facts = { .size = sizeof(facts) };
	time_t captured;
	char when[32] = "";

	tacho_perfdata_facts(pd, &facts);
	captured = (time_t)facts.captured_s;
	if (ctime_r(&captured, when))
		when[strcspn(when, "\n")] = 0;
	buf_printf(out, "# ========\n# captured on    : %s\n# header version : 1\n", when);
	buf_printf(out, "# data offset    : %llu\n# data size      : %llu\n# feat offset    : %llu\n",
		   (unsigned long long)facts.data_offset, (unsigned long long)facts.data_size,
		   (unsigned long long)facts.features_offset);
	for (size_t i = 0; i < countof(rows); i++)
		if (has(pd, rows[i].feature))
			put_row(pd, &rows[i], full, out);
	if (!tacho_perfdata_is_pipe(pd))
		put_missing(pd, out);
	buf_puts(out, "# ========\n#\n");
}
