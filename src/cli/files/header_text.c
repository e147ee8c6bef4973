/*
 * A recording's header as comments in perf's format: other programs look for "# ========",
 * "# cmdline :" and "# captured on". All values come from the features of the file.
 */
#include "cli/files/header_text.h"

#include <time.h>

#include "cli/files/attr_line.h"
#include <tacho/perfdata.h>

/* ---- one function per feature ---- */

typedef void (*put_fn)(const struct tacho_perfdata *pd, struct buf *out);

/* Text of the file, which is untrusted. */
static void put_text(const char *before, struct tacho_text text, const char *after, struct buf *out)
{
	buf_puts(out, before);
	buf_text(out, str_n(text.s, text.n));
	buf_puts(out, after);
}

static void put_cpus(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_cpu_counts n;

	if (tacho_perfdata_cpu_counts(pd, &n) == 0)
		buf_printf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", n.online, n.available);
}

static void put_memory(const struct tacho_perfdata *pd, struct buf *out)
{
	uint64_t kb;

	if (tacho_perfdata_total_memory(pd, &kb) == 0)
		buf_printf(out, "# total memory : %llu kB\n", (unsigned long long)kb);
}

static void put_cmdline(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_text arg;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_CMDLINE, &list) < 0)
		return;
	buf_puts(out, "# cmdline : ");
	while (tacho_text_next(&list, &arg) > 0)
		put_text("", arg, " ", out);
	buf_putc(out, '\n');
}

static void put_events(const struct tacho_perfdata *pd, struct buf *out)
{
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

static void put_siblings(struct tacho_feature_list list, const char *label, struct buf *out)
{
	struct tacho_text text;

	while (tacho_text_next(&list, &text) > 0)
		put_text(label, text, "\n", out);
}

static void put_topology(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_cpu_position at;
	struct tacho_cpu_topology t;

	if (tacho_perfdata_topology(pd, &t) < 0)
		return;
	put_siblings(t.sockets, "# sibling sockets : ", out);
	put_siblings(t.dies, "# sibling dies    : ", out);
	put_siblings(t.threads, "# sibling threads : ", out);
	for (uint32_t cpu = 0; tacho_topology_cpu(&t, cpu, &at); cpu++)
		if (t.has_dies)
			buf_printf(out, "# CPU %u: Core ID %d, Die ID %d, Socket ID %d\n", cpu, at.core, at.die,
				   at.socket);
		else
			buf_printf(out, "# CPU %u: Core ID %d, Socket ID %d\n", cpu, at.core, at.socket);
}

static void put_numa(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_numa_node n;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_NUMA_TOPOLOGY, &list) < 0)
		return;
	while (tacho_numa_node_next(&list, &n) > 0) {
		buf_printf(out, "# node%u meminfo  : total = %llu kB, free = %llu kB\n", n.node,
			   (unsigned long long)n.total_kb, (unsigned long long)n.free_kb);
		buf_printf(out, "# node%u cpu list : ", n.node);
		put_text("", n.cpus, "\n", out);
	}
}

static void put_pmus(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_pmu_mapping pmu;
	const char *comma = "";

	if (tacho_perfdata_list(pd, TACHO_FEATURE_PMU_MAPPINGS, &list) < 0)
		return;
	buf_puts(out, "# pmu mappings: ");
	for (; tacho_pmu_mapping_next(&list, &pmu) > 0; comma = ", ") {
		put_text(comma, pmu.name, "", out);
		buf_printf(out, " = %u", pmu.type);
	}
	buf_putc(out, '\n');
}

static void put_groups(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_group_desc g;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_GROUP_DESC, &list) < 0)
		return;
	while (tacho_group_desc_next(&list, &g) > 0) {
		if (str_is(str_n(g.name.s, g.name.n), "{anon_group}"))	/* perf's name for an unnamed group */
			g.name.n = 0;
		put_text("# group: ", g.name, "{", out);
		for (uint32_t i = 0; i < g.n && g.leader + i < tacho_perfdata_n_events(pd); i++)
			buf_printf(out, "%s%s", i ? "," : "", tacho_perfdata_event(pd, g.leader + i)->name);
		buf_puts(out, "}\n");
	}
}

static void put_caches(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_cpu_cache c;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_CACHE, &list) < 0)
		return;
	buf_puts(out, "# CPU cache info:\n");
	while (tacho_cpu_cache_next(&list, &c) > 0) {
		buf_printf(out, "#  L%u ", c.level);
		put_text("", c.type, "", out);
		buf_pad(out, ' ', c.type.n < 15 ? 15 - c.type.n : 0);
		buf_pad(out, ' ', c.size.n < 8 ? 9 - c.size.n : 1);
		put_text("", c.size, " [", out);
		put_text("", c.cpus, "]\n", out);
	}
}

static void put_sample_time(const struct tacho_perfdata *pd, struct buf *out)
{
	uint64_t first, last;

	if (tacho_perfdata_sample_time(pd, &first, &last) < 0)
		return;
	buf_printf(out, "# time of first sample : %llu.%06llu\n", (unsigned long long)(first / 1000000000),
		   (unsigned long long)(first % 1000000000 / 1000));
	buf_printf(out, "# time of last sample : %llu.%06llu\n", (unsigned long long)(last / 1000000000),
		   (unsigned long long)(last % 1000000000 / 1000));
	buf_printf(out, "# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

/* Appends the memory blocks of a node as ranges, "0-23,32-199". Returns how many blocks there are. */
static uint64_t put_blocks(const struct tacho_memory_node *node, struct buf *out)
{
	uint64_t from = UINT64_MAX, n = 0;
	bool any = false;

	for (uint64_t i = 0; i <= node->n_blocks; i++) {
		bool set = tacho_memory_node_has(node, i);

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

static void put_memory_nodes(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_memory_node node;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_MEM_TOPOLOGY, &list) < 0)
		return;
	buf_printf(out, "# memory nodes (nr %llu, block size 0x%llx):\n", (unsigned long long)list.left,
		   (unsigned long long)list.block_bytes);
	while (tacho_memory_node_next(&list, &node) > 0) {
		scoped(buf_done) struct buf blocks = { 0 };
		uint64_t n = put_blocks(&node, &blocks);

		buf_printf(out, "# %4llu [%lluG]: %s\n", (unsigned long long)node.node,
			   (unsigned long long)(n * list.block_bytes >> 30), blocks.bytes ? blocks.bytes : "");
	}
}

static void put_clockid(const struct tacho_perfdata *pd, struct buf *out)
{
	uint64_t ns;

	if (tacho_perfdata_clock_resolution(pd, &ns) == 0)
		buf_printf(out, "# clockid frequency: %llu MHz\n", (unsigned long long)(ns * 1000));
}

static void put_clock_data(const struct tacho_perfdata *pd, struct buf *out)
{
	static const char *const names[] = { [0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw",
					     [7] = "boottime", [11] = "tai" };
	unsigned long long wall, at;
	struct tacho_file_clock c;
	const char *name;
	char date[32] = "";
	time_t seconds;
	struct tm tm;

	if (tacho_perfdata_clock(pd, &c) < 0)
		return;
	name = c.clockid < countof(names) && names[c.clockid] ? names[c.clockid] : "unknown";
	wall = c.wall_ns;
	at = c.clock_ns;
	seconds = (time_t)(wall / 1000000000);
	if (localtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	buf_printf(out, "# clockid: %s (%u)\n", name, c.clockid);
	buf_printf(out, "# reference time: %s.%06llu = %llu.%06llu (TOD) = %llu.%09llu (%s)\n", date,
		   wall % 1000000000 / 1000, wall / 1000000000, wall % 1000000000 / 1000, at / 1000000000,
		   at % 1000000000, name);
}

static void put_compressed(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_file_compression z;

	if (tacho_perfdata_compression(pd, &z) == 0)
		buf_printf(out, "# compressed : %s, level = %u, ratio = %u\n", z.type == 1 ? "Zstd" : "Unknown",
			   z.level, z.ratio);
}

static void put_directory(const struct tacho_perfdata *pd, struct buf *out)
{
	uint64_t version;

	if (tacho_perfdata_dir_version(pd, &version) == 0)
		buf_printf(out, "# directory data version : %llu\n", (unsigned long long)version);
}

static void put_hybrid(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_hybrid_pmu pmu;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_HYBRID_TOPOLOGY, &list) < 0)
		return;
	buf_puts(out, "# hybrid cpu system:\n");
	while (tacho_hybrid_pmu_next(&list, &pmu) > 0) {
		put_text("# ", pmu.name, " cpu list : ", out);
		put_text("", pmu.cpus, "\n", out);
	}
}

static void put_capabilities(struct tacho_feature_list list, struct buf *out)
{
	struct tacho_pmu_cap cap;
	const char *comma = "";

	if (!list.left)
		buf_puts(out, "not available");
	for (; tacho_pmu_cap_next(&list, &cap) > 0; comma = ", ") {
		put_text(comma, cap.name, "=", out);
		put_text("", cap.value, "", out);
	}
	buf_putc(out, '\n');
}

static void put_cpu_capabilities(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_CPU_PMU_CAPS, &list) < 0)
		return;
	buf_puts(out, "# cpu pmu capabilities: ");
	put_capabilities(list, out);
}

static void put_pmu_capabilities(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_pmu_caps pmu;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_PMU_CAPS, &list) < 0)
		return;
	while (tacho_pmu_caps_next(&list, &pmu) > 0) {
		put_text("# ", pmu.name, " pmu capabilities: ", out);
		put_capabilities(pmu.caps, out);
	}
}

/* ---- BPF programs ---- */

static void put_bpf_function(const struct tacho_bpf_function *f, struct buf *out)
{
	buf_puts(out, "bpf_prog_");
	for (size_t i = 0; i < sizeof(f->tag); i++)
		buf_printf(out, "%02x", f->tag[i]);
	if (f->name.n)
		put_text("_", f->name, "", out);
	buf_printf(out, " addr 0x%llx size %u\n", (unsigned long long)f->address, f->size);
}

static void put_bpf_programs(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_bpf_function f;
	struct tacho_bpf_program p;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_BPF_PROG_INFO, &list) < 0)
		return;
	while (tacho_bpf_program_next(pd, &list, &p) > 0) {
		if (tacho_bpf_function(&p, 0, &f) < 0)
			continue;
		buf_printf(out, p.n_functions == 1 ? "# bpf_prog_info %u: " : "# bpf_prog_info %u:\n", p.id);
		for (uint32_t i = 0; i < p.n_functions && tacho_bpf_function(&p, i, &f) == 0; i++) {
			if (p.n_functions > 1)
				buf_printf(out, "# \tsub_prog %u: ", i);
			put_bpf_function(&f, out);
		}
	}
}

static void put_bpf_types(const struct tacho_perfdata *pd, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_bpf_types types;

	if (tacho_perfdata_list(pd, TACHO_FEATURE_BPF_BTF, &list) < 0)
		return;
	while (tacho_bpf_types_next(&list, &types) > 0)
		buf_printf(out, "# btf info of id %u\n", types.id);
}

static const struct header_feature {
	enum tacho_feature feature;
	const char *name;		/* name in the list of missing features */
	const char *text;		/* key to print, for a feature that is a string */
	const char *line;		/* line to print, for a feature without data */
	put_fn put;
	bool long_text;			/* printed only with -I */
} header_features[] = {
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
	{ TACHO_FEATURE_CPU_TOPOLOGY, "CPU_TOPOLOGY", .put = put_topology, .long_text = true },
	{ TACHO_FEATURE_NUMA_TOPOLOGY, "NUMA_TOPOLOGY", .put = put_numa, .long_text = true },
	{ TACHO_FEATURE_BRANCH_STACK, "BRANCH_STACK", .line = "contains samples with branch stack" },
	{ TACHO_FEATURE_PMU_MAPPINGS, "PMU_MAPPINGS", .put = put_pmus },
	{ TACHO_FEATURE_GROUP_DESC, "GROUP_DESC", .put = put_groups },
	{ TACHO_FEATURE_AUXTRACE, "AUXTRACE", .line = "contains AUX area data (e.g. instruction trace)" },
	{ TACHO_FEATURE_STAT, "STAT", .line = "contains stat data" },
	{ TACHO_FEATURE_CACHE, "CACHE", .put = put_caches, .long_text = true },
	{ TACHO_FEATURE_SAMPLE_TIME, "SAMPLE_TIME", .put = put_sample_time },
	{ TACHO_FEATURE_MEM_TOPOLOGY, "MEM_TOPOLOGY", .put = put_memory_nodes, .long_text = true },
	{ TACHO_FEATURE_CLOCKID, "CLOCKID", .put = put_clockid },
	{ TACHO_FEATURE_DIR_FORMAT, "DIR_FORMAT", .put = put_directory },
	{ TACHO_FEATURE_BPF_PROG_INFO, "BPF_PROG_INFO", .put = put_bpf_programs },
	{ TACHO_FEATURE_BPF_BTF, "BPF_BTF", .put = put_bpf_types },
	{ TACHO_FEATURE_COMPRESSED, "COMPRESSED", .put = put_compressed },
	{ TACHO_FEATURE_CPU_PMU_CAPS, "CPU_PMU_CAPS", .put = put_cpu_capabilities },
	{ TACHO_FEATURE_CLOCK_DATA, "CLOCK_DATA", .put = put_clock_data },
	{ TACHO_FEATURE_HYBRID_TOPOLOGY, "HYBRID_TOPOLOGY", .put = put_hybrid, .long_text = true },
	{ TACHO_FEATURE_PMU_CAPS, "PMU_CAPS", .put = put_pmu_capabilities },
};

/* Features that are never printed, but included in the list of missing features. */
static const struct { enum tacho_feature feature; const char *name; } unprinted[] = {
	{ TACHO_FEATURE_TRACING_DATA, "TRACING_DATA" }, { TACHO_FEATURE_BUILD_ID, "BUILD_ID" },
};

static bool has_feature(const struct tacho_perfdata *pd, enum tacho_feature f)
{
	size_t n;

	return tacho_perfdata_feature(pd, f, &n) != NULL;
}

static void put_feature(const struct tacho_perfdata *pd, const struct header_feature *row, bool full, struct buf *out)
{
	const char *text;

	if (row->text) {
		text = tacho_perfdata_string(pd, row->feature);
		buf_printf(out, "# %s : %s\n", row->text, text ? text : "");
	} else if (row->line) {
		buf_printf(out, "# %s\n", row->line);
	} else if (row->long_text && !full) {
		buf_printf(out, "# %s info available, use -I to display\n", row->name);
	} else {
		row->put(pd, out);
	}
}

static void put_missing(const struct tacho_perfdata *pd, struct buf *out)
{
	buf_puts(out, "# missing features: ");
	for (unsigned f = 1; f < TACHO_FEATURE_MAX; f++) {
		if (has_feature(pd, f))
			continue;
		for (size_t i = 0; i < countof(header_features); i++)
			if (header_features[i].feature == f)
				buf_printf(out, "%s ", header_features[i].name);
		for (size_t i = 0; i < countof(unprinted); i++)
			if (unprinted[i].feature == f)
				buf_printf(out, "%s ", unprinted[i].name);
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
	for (size_t i = 0; i < countof(header_features); i++)
		if (has_feature(pd, header_features[i].feature))
			put_feature(pd, &header_features[i], full, out);
	if (!tacho_perfdata_is_pipe(pd))
		put_missing(pd, out);
	buf_puts(out, "# ========\n#\n");
}
