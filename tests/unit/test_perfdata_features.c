/*
 * Typed decoding of features: hand-made payloads are decoded, and every payload is also decoded truncated at many
 * offsets and with random bytes changed. No decoder may read outside the payload or loop endlessly.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "perfdata/writer.h"

#include <tacho/trace.h>

static const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr) };

/* Writes a recording with these payloads and opens it. */
static struct tacho_perfdata *recording_with(const enum tacho_feature *f, const struct buf *payloads, size_t n)
{
	int fd = memfd_create("features", MFD_CLOEXEC);
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *pd;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(tacho_writer_open(&w, fd, NULL, NULL), 0);
	assert_int_equal(tacho_writer_event(w, "x", &attr, sizeof(attr), NULL, 0), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(tacho_writer_feature(w, f[i], payloads[i].bytes, payloads[i].n), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(tacho_perfdata_open(&pd, path, NULL, NULL), 0);
	close(fd);
	return pd;
}

static struct tacho_perfdata *recording(enum tacho_feature f, const struct buf *payload)
{
	return recording_with(&f, payload, 1);
}

static void assert_text(struct tacho_text t, const char *expected)
{
	assert_int_equal(t.n, strlen(expected));
	assert_memory_equal(t.s, expected, t.n);
}

static void put(struct buf *b, const char *text)
{
	put_string(b, str_of(text));
}

/* ---- payloads ---- */

static struct buf topology(uint32_t n_cpus, bool dies)
{
	struct buf b = { 0 };

	put_u32(&b, 1);
	put(&b, "0-1");
	put_u32(&b, 2);
	put(&b, "0");
	put(&b, "1");
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		put_u32(&b, 10 + cpu);
		put_u32(&b, 20 + cpu);
	}
	if (!dies)
		return b;
	put_u32(&b, 1);
	put(&b, "0-1");
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		put_u32(&b, 30 + cpu);
	return b;
}

static struct buf build_ids(void)
{
	static const char path[12] = "/bin/x";
	struct buf b = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		put_header(&b, 0, i ? 1 : 2 | 1u << 15, 36 + sizeof(path));
		put_u32(&b, 77);
		buf_pad(&b, (char)(0xa0 + i), 20);
		put_u32(&b, 8);
		buf_put(&b, path, sizeof(path));
	}
	return b;
}

static struct buf bpf_info(uint32_t btf_id)
{
	uint8_t info[200] = { 0 };
	uint64_t symbols = 0, lengths = 8, tags = 12, funcs = 20;
	uint32_t id = 5, one = 1, func_bytes = 8;
	struct buf b = { 0 };

	memcpy(info + 4, &id, 4);
	memcpy(info + 64, "prog", 4);
	memcpy(info + 104, &one, 4);
	memcpy(info + 108, &one, 4);
	memcpy(info + 112, &symbols, 8);
	memcpy(info + 120, &lengths, 8);
	memcpy(info + 128, &btf_id, 4);
	memcpy(info + 132, &func_bytes, 4);
	memcpy(info + 136, &funcs, 8);
	memcpy(info + 144, &one, 4);
	memcpy(info + 180, &one, 4);
	memcpy(info + 184, &tags, 8);
	put_u32(&b, 1);
	put_u32(&b, sizeof(info));
	put_u32(&b, 28);
	put_u64(&b, 0);
	buf_put(&b, info, sizeof(info));
	put_u64(&b, 0xffffffffc0000000);
	put_u32(&b, 123);
	buf_put(&b, "\1\2\3\4\5\6\7\10", 8);
	put_u32(&b, 0);
	put_u32(&b, 2);			/* type of the function */
	return b;
}

/* Two types: an int of 16 bytes, and a function whose name is at 1. */
static struct buf bpf_types(void)
{
	struct buf b = { 0 };

	put_u32(&b, 1);
	put_u32(&b, 9);
	put_u32(&b, 24 + 28 + 6);
	put_u32(&b, 0);
	put_u32(&b, 24);
	put_u32(&b, 0);
	put_u32(&b, 28);
	put_u32(&b, 28);
	put_u32(&b, 6);
	put_u32(&b, 0);
	put_u32(&b, 1u << 24);
	put_u32(&b, 4);
	put_u32(&b, 0);
	put_u32(&b, 1);
	put_u32(&b, 12u << 24);
	put_u32(&b, 0);
	buf_put(&b, "\0main\0", 6);
	return b;
}

static struct buf memory(void)
{
	struct buf b = { 0 };

	put_u64(&b, 1);
	put_u64(&b, 1 << 27);
	put_u64(&b, 1);
	put_u64(&b, 3);
	put_u64(&b, 16);
	put_u64(&b, 70);
	put_u64(&b, 1ULL << 63 | 1);
	put_u64(&b, 0x20);
	return b;
}

static struct buf caches(void)
{
	struct buf b = { 0 };

	put_u32(&b, 1);
	put_u32(&b, 1);
	for (uint32_t i = 1; i <= 4; i++)
		put_u32(&b, i);
	put(&b, "Data");
	put(&b, "32K");
	put(&b, "0-1");
	return b;
}

/* Lists of a u32 count and entries of numbers ('4', '8') and texts ('s'). */
static struct buf simple_list(const char *format)
{
	struct buf b = { 0 };

	put_u32(&b, 2);
	for (unsigned i = 0; i < 2; i++)
		for (const char *f = format; *f; f++) {
			char text[16];

			snprintf(text, sizeof(text), "text%u%zu", i, (size_t)(f - format));
			if (*f == '4')
				put_u32(&b, i + 1);
			else if (*f == '8')
				put_u64(&b, i + 1);
			else
				put(&b, text);
		}
	return b;
}

static struct buf pmu_caps(void)
{
	struct buf b = { 0 }, caps = simple_list("ss");

	put_u32(&b, 1);
	buf_put(&b, caps.bytes, caps.n);
	put(&b, "cpu_core");
	buf_done(&caps);
	return b;
}

/* ---- valid payloads ---- */

static void feature_numbers(void **state)
{
	struct buf b[5] = { 0 };
	enum tacho_feature f[5] = { TACHO_FEATURE_NRCPUS, TACHO_FEATURE_SAMPLE_TIME, TACHO_FEATURE_CLOCK_DATA,
				    TACHO_FEATURE_TOTAL_MEM, TACHO_FEATURE_CLOCKID };
	struct tacho_cpu_counts cpus;
	struct tacho_file_clock clock;
	struct tacho_perfdata *pd;
	uint64_t first, last, v;

	put_u32(&b[0], 8);
	put_u32(&b[0], 6);
	put_u64(&b[1], 100);
	put_u64(&b[1], 200);
	put_u32(&b[2], 1);
	put_u32(&b[2], 7);
	put_u64(&b[2], 5000);
	put_u64(&b[2], 50);
	put_u64(&b[3], 1234);
	put_u64(&b[4], 1);
	pd = recording_with(f, b, 5);
	assert_int_equal(tacho_perfdata_cpu_counts(pd, &cpus), 0);
	assert_int_equal(cpus.available, 8);
	assert_int_equal(cpus.online, 6);
	assert_int_equal(tacho_perfdata_sample_time(pd, &first, &last), 0);
	assert_int_equal(first, 100);
	assert_int_equal(last, 200);
	assert_int_equal(tacho_perfdata_clock(pd, &clock), 0);
	assert_int_equal(clock.clockid, 7);
	assert_int_equal(clock.wall_ns, 5000);
	assert_int_equal(clock.clock_ns, 50);
	assert_int_equal(tacho_perfdata_total_memory(pd, &v), 0);
	assert_int_equal(v, 1234);
	assert_int_equal(tacho_perfdata_clock_resolution(pd, &v), 0);
	assert_int_equal(v, 1);
	assert_int_equal(tacho_perfdata_dir_version(pd, &v), -ENOENT);
	tacho_perfdata_close(pd);
	for (size_t i = 0; i < countof(b); i++)
		buf_done(&b[i]);
}

static void feature_topology(void **state)
{
	enum tacho_feature f[2] = { TACHO_FEATURE_NRCPUS, TACHO_FEATURE_CPU_TOPOLOGY };
	struct tacho_cpu_position at;
	struct tacho_cpu_topology t;
	struct tacho_text text;

	for (int dies = 0; dies < 2; dies++) {
		struct buf b[2] = { { 0 }, topology(2, dies) };
		struct tacho_perfdata *pd;

		put_u32(&b[0], 2);
		put_u32(&b[0], 2);
		pd = recording_with(f, b, 2);
		assert_int_equal(tacho_perfdata_topology(pd, &t), 0);
		assert_int_equal(t.n_cpus, 2);
		assert_int_equal(t.has_dies, dies);
		assert_true(tacho_topology_cpu(&t, 1, &at));
		assert_int_equal(at.core, 11);
		assert_int_equal(at.socket, 21);
		assert_int_equal(at.die, dies ? 31 : 0);
		assert_false(tacho_topology_cpu(&t, 2, &at));
		assert_int_equal(tacho_text_next(&t.threads, &text), 1);
		assert_int_equal(tacho_text_next(&t.threads, &text), 1);
		assert_text(text, "1");
		assert_int_equal(tacho_text_next(&t.threads, &text), 0);
		assert_int_equal(tacho_text_next(&t.dies, &text), dies);
		tacho_perfdata_close(pd);
		buf_done(&b[0]);
		buf_done(&b[1]);
	}
}

static void feature_build_ids(void **state)
{
	struct buf b = build_ids();
	struct tacho_perfdata *pd = recording(TACHO_FEATURE_BUILD_ID, &b);
	struct tacho_feature_list list;
	struct tacho_file_build_id id;

	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_BUILD_ID, &list), 0);
	assert_int_equal(tacho_build_id_next(&list, &id), 1);
	assert_string_equal(id.path, "/bin/x");
	assert_int_equal(id.n, 8);
	assert_int_equal(id.pid, 77);
	assert_false(id.kernel);
	assert_int_equal(tacho_build_id_next(&list, &id), 1);
	assert_int_equal(id.n, 20);	/* no length given: as before Linux 5.10 */
	assert_int_equal(id.id[19], 0xa1);
	assert_true(id.kernel);
	assert_int_equal(tacho_build_id_next(&list, &id), 0);
	tacho_perfdata_close(pd);
	buf_done(&b);
}

static void feature_bpf(void **state)
{
	enum tacho_feature f[2] = { TACHO_FEATURE_BPF_PROG_INFO, TACHO_FEATURE_BPF_BTF };

	for (uint32_t btf = 0; btf <= 9; btf += 9) {
		struct buf b[2] = { bpf_info(btf), bpf_types() };
		struct tacho_perfdata *pd = recording_with(f, b, 2);
		struct tacho_feature_list list;
		struct tacho_bpf_function func;
		struct tacho_bpf_program p;

		assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_BPF_PROG_INFO, &list), 0);
		assert_int_equal(tacho_bpf_program_next(pd, &list, &p), 1);
		assert_int_equal(p.id, 5);
		assert_int_equal(p.n_functions, 1);
		assert_int_equal(tacho_bpf_function(&p, 0, &func), 0);
		assert_int_equal(func.address, 0xffffffffc0000000);
		assert_int_equal(func.size, 123);
		assert_int_equal(func.tag[7], 8);
		assert_text(func.name, btf ? "main" : "prog");
		assert_int_equal(tacho_bpf_function(&p, 1, &func), -EINVAL);
		assert_int_equal(tacho_bpf_program_next(pd, &list, &p), 0);
		tacho_perfdata_close(pd);
		buf_done(&b[0]);
		buf_done(&b[1]);
	}
}

static void feature_memory(void **state)
{
	struct buf b = memory();
	struct tacho_perfdata *pd = recording(TACHO_FEATURE_MEM_TOPOLOGY, &b);
	struct tacho_feature_list list;
	struct tacho_memory_node node;

	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_MEM_TOPOLOGY, &list), 0);
	assert_int_equal(list.block_bytes, 1 << 27);
	assert_int_equal(tacho_memory_node_next(&list, &node), 1);
	assert_int_equal(node.node, 3);
	assert_true(tacho_memory_node_has(&node, 0));
	assert_false(tacho_memory_node_has(&node, 1));
	assert_true(tacho_memory_node_has(&node, 63));
	assert_true(tacho_memory_node_has(&node, 69));
	assert_false(tacho_memory_node_has(&node, 70));
	assert_int_equal(tacho_memory_node_next(&list, &node), 0);
	tacho_perfdata_close(pd);
	buf_done(&b);
}

static void feature_lists(void **state)
{
	struct buf numa = simple_list("488s"), groups = simple_list("s44"), pmus = simple_list("4s"), caps = pmu_caps();
	struct tacho_perfdata *pd = recording(TACHO_FEATURE_NUMA_TOPOLOGY, &numa);
	struct tacho_feature_list list;
	struct tacho_pmu_mapping pmu;
	struct tacho_group_desc group;
	struct tacho_pmu_caps of_pmu;
	struct tacho_numa_node node;
	struct tacho_pmu_cap cap;

	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_NUMA_TOPOLOGY, &list), 0);
	assert_int_equal(tacho_numa_node_next(&list, &node), 1);
	assert_int_equal(tacho_numa_node_next(&list, &node), 1);
	assert_int_equal(node.node, 2);
	assert_text(node.cpus, "text13");
	assert_int_equal(tacho_numa_node_next(&list, &node), 0);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_CACHE, &list), -ENOENT);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_EVENT_DESC, &list), -EINVAL);
	tacho_perfdata_close(pd);

	pd = recording(TACHO_FEATURE_GROUP_DESC, &groups);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_GROUP_DESC, &list), 0);
	assert_int_equal(tacho_group_desc_next(&list, &group), 1);
	assert_text(group.name, "text00");
	assert_int_equal(group.leader, 1);
	tacho_perfdata_close(pd);

	pd = recording(TACHO_FEATURE_PMU_MAPPINGS, &pmus);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_PMU_MAPPINGS, &list), 0);
	assert_int_equal(tacho_pmu_mapping_next(&list, &pmu), 1);
	assert_int_equal(pmu.type, 1);
	assert_text(pmu.name, "text01");
	tacho_perfdata_close(pd);

	pd = recording(TACHO_FEATURE_PMU_CAPS, &caps);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_PMU_CAPS, &list), 0);
	assert_int_equal(tacho_pmu_caps_next(&list, &of_pmu), 1);
	assert_text(of_pmu.name, "cpu_core");
	assert_int_equal(tacho_pmu_cap_next(&of_pmu.caps, &cap), 1);
	assert_int_equal(tacho_pmu_cap_next(&of_pmu.caps, &cap), 1);
	assert_text(cap.value, "text11");
	assert_int_equal(tacho_pmu_cap_next(&of_pmu.caps, &cap), 0);
	assert_int_equal(tacho_pmu_caps_next(&list, &of_pmu), 0);
	tacho_perfdata_close(pd);
	buf_done(&numa);
	buf_done(&groups);
	buf_done(&pmus);
	buf_done(&caps);
}

/* ---- damaged payloads ---- */

/* Calls every decoder; returns how many entries all lists had. */
static size_t read_everything(const struct tacho_perfdata *pd)
{
	struct tacho_file_compression z;
	struct tacho_cpu_topology t;
	struct tacho_cpu_counts cpus;
	struct tacho_file_clock clock;
	struct tacho_trace *trace;
	uint64_t a, b;
	size_t n = 0;

	tacho_perfdata_cpu_counts(pd, &cpus);
	tacho_perfdata_total_memory(pd, &a);
	tacho_perfdata_sample_time(pd, &a, &b);
	tacho_perfdata_clock_resolution(pd, &a);
	tacho_perfdata_dir_version(pd, &a);
	tacho_perfdata_clock(pd, &clock);
	tacho_perfdata_compression(pd, &z);
	if (tacho_perfdata_tracing(pd, &trace, NULL) == 0)
		tacho_trace_free(trace);
	if (tacho_perfdata_topology(pd, &t) == 0) {
		struct tacho_cpu_position at;
		struct tacho_text text;

		for (uint32_t i = 0; tacho_topology_cpu(&t, i, &at); i++)
			n++;
		while (tacho_text_next(&t.sockets, &text) > 0 || tacho_text_next(&t.threads, &text) > 0 ||
		       tacho_text_next(&t.dies, &text) > 0)
			n++;
	}
	for (unsigned f = 1; f < TACHO_FEATURE_MAX; f++) {
		struct tacho_feature_list list;
		union {
			struct tacho_text text;
			struct tacho_file_build_id build_id;
			struct tacho_numa_node numa;
			struct tacho_cpu_cache cache;
			struct tacho_pmu_mapping pmu;
			struct tacho_group_desc group;
			struct tacho_memory_node memory;
			struct tacho_hybrid_pmu hybrid;
			struct tacho_pmu_cap cap;
			struct tacho_pmu_caps caps;
			struct tacho_bpf_program program;
			struct tacho_bpf_types types;
		} out;
		int more = tacho_perfdata_list(pd, f, &list) == 0;

		for (; more > 0; n++) {
			struct tacho_bpf_function func;
			struct tacho_pmu_cap cap;

			switch (f) {
			case TACHO_FEATURE_BUILD_ID: more = tacho_build_id_next(&list, &out.build_id); break;
			case TACHO_FEATURE_NUMA_TOPOLOGY: more = tacho_numa_node_next(&list, &out.numa); break;
			case TACHO_FEATURE_CACHE: more = tacho_cpu_cache_next(&list, &out.cache); break;
			case TACHO_FEATURE_PMU_MAPPINGS: more = tacho_pmu_mapping_next(&list, &out.pmu); break;
			case TACHO_FEATURE_GROUP_DESC: more = tacho_group_desc_next(&list, &out.group); break;
			case TACHO_FEATURE_MEM_TOPOLOGY:
				more = tacho_memory_node_next(&list, &out.memory);
				for (uint64_t i = 0; more > 0 && i < out.memory.n_blocks; i++)
					n += tacho_memory_node_has(&out.memory, i);
				break;
			case TACHO_FEATURE_HYBRID_TOPOLOGY: more = tacho_hybrid_pmu_next(&list, &out.hybrid); break;
			case TACHO_FEATURE_CPU_PMU_CAPS: more = tacho_pmu_cap_next(&list, &out.cap); break;
			case TACHO_FEATURE_PMU_CAPS:
				more = tacho_pmu_caps_next(&list, &out.caps);
				while (more > 0 && tacho_pmu_cap_next(&out.caps.caps, &cap) > 0)
					n++;
				break;
			case TACHO_FEATURE_BPF_PROG_INFO:
				more = tacho_bpf_program_next(pd, &list, &out.program);
				for (uint32_t i = 0; more > 0 && i < out.program.n_functions; i++)
					if (tacho_bpf_function(&out.program, i, &func) < 0)
						break;
				break;
			case TACHO_FEATURE_BPF_BTF: more = tacho_bpf_types_next(&list, &out.types); break;
			default: more = tacho_text_next(&list, &out.text);
			}
		}
	}
	return n;
}

static void feature_damage(void **state)
{
	enum tacho_feature f[] = { TACHO_FEATURE_NRCPUS, TACHO_FEATURE_CPU_TOPOLOGY, TACHO_FEATURE_BUILD_ID,
				   TACHO_FEATURE_BPF_PROG_INFO, TACHO_FEATURE_BPF_BTF, TACHO_FEATURE_MEM_TOPOLOGY,
				   TACHO_FEATURE_CACHE, TACHO_FEATURE_NUMA_TOPOLOGY, TACHO_FEATURE_PMU_MAPPINGS,
				   TACHO_FEATURE_GROUP_DESC, TACHO_FEATURE_HYBRID_TOPOLOGY, TACHO_FEATURE_CPU_PMU_CAPS,
				   TACHO_FEATURE_PMU_CAPS, TACHO_FEATURE_CMDLINE, TACHO_FEATURE_TRACING_DATA };
	struct buf b[countof(f)] = { { 0 }, topology(2, true), build_ids(), bpf_info(9), bpf_types(), memory(),
				     caches(), simple_list("488s"), simple_list("4s"), simple_list("s44"),
				     simple_list("ss"), simple_list("ss"), pmu_caps(), simple_list("s"), { 0 } };
	uint32_t seed = 1;

	put_u32(&b[0], 2);
	put_u32(&b[0], 2);
	buf_puts(&b[14], "\x17\x08\x44tracing0.6");
	for (size_t i = 0; i < countof(f); i++) {
		struct buf whole = b[i];

		for (size_t n = 0; n < whole.n; n += 1 + n / 64) {
			struct tacho_perfdata *pd;

			/* A copy of the exact size, so that the sanitizers find reads past its end. */
			b[i] = (struct buf){ 0 };
			buf_put(&b[i], whole.bytes, n);
			pd = recording_with(f, b, countof(f));
			read_everything(pd);
			tacho_perfdata_close(pd);
			buf_done(&b[i]);
		}
		for (int round = 0; round < 100; round++) {
			struct tacho_perfdata *pd;

			b[i] = (struct buf){ 0 };
			buf_put(&b[i], whole.bytes, whole.n);
			for (int k = 0; k < 3; k++) {
				seed = seed * 1664525 + 1013904223;
				b[i].bytes[(seed >> 8) % whole.n] = (char)(seed >> 24);
			}
			pd = recording_with(f, b, countof(f));
			read_everything(pd);
			tacho_perfdata_close(pd);
			buf_done(&b[i]);
		}
		b[i] = whole;
	}
	for (size_t i = 0; i < countof(b); i++)
		buf_done(&b[i]);
}

/* Writes a file below a directory of this test. */
static void put_file(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s", root, name);
	assert_int_equal(io_make_parent_dirs(path, 0755), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* The capabilities of PMUs are recorded: those of "cpu" by themselves, those of others with their names. */
static void host_capabilities(void **state)
{
	char root[] = "/tmp/tacho-test-caps-XXXXXX", path[64], command[96];
	int fd = memfd_create("caps", MFD_CLOEXEC);
	struct tacho_perfdata_writer *w;
	struct tacho_perfdata *pd;
	struct tacho_feature_list list;
	struct tacho_pmu_caps pmu;
	struct tacho_pmu_cap cap;

	assert_non_null(mkdtemp(root));
	put_file(root, "cpu/type", "4\n");
	put_file(root, "cpu/caps/branches", "32\n");
	put_file(root, "cpu_atom/type", "10\n");
	put_file(root, "cpu_atom/caps/max_precise", "3\n");
	put_file(root, "msr/type", "11\n");
	assert_int_equal(tacho_writer_open(&w, fd, NULL, NULL), 0);
	assert_int_equal(tacho_writer_event(w, "x", &attr, sizeof(attr), NULL, 0), 0);
	assert_int_equal(tacho_writer_host(w, root, root), 0);
	assert_int_equal(tacho_writer_finish(w, NULL), 0);
	tacho_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(tacho_perfdata_open(&pd, path, NULL, NULL), 0);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_CPU_PMU_CAPS, &list), 0);
	assert_int_equal(tacho_pmu_cap_next(&list, &cap), 1);
	assert_text(cap.name, "branches");
	assert_text(cap.value, "32");
	assert_int_equal(tacho_pmu_cap_next(&list, &cap), 0);
	assert_int_equal(tacho_perfdata_list(pd, TACHO_FEATURE_PMU_CAPS, &list), 0);
	assert_int_equal(tacho_pmu_caps_next(&list, &pmu), 1);
	assert_text(pmu.name, "cpu_atom");
	assert_int_equal(tacho_pmu_cap_next(&pmu.caps, &cap), 1);
	assert_text(cap.value, "3");
	assert_int_equal(tacho_pmu_caps_next(&list, &pmu), 0);
	tacho_perfdata_close(pd);
	close(fd);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(feature_numbers),
		cmocka_unit_test(feature_topology),
		cmocka_unit_test(feature_build_ids),
		cmocka_unit_test(feature_bpf),
		cmocka_unit_test(feature_memory),
		cmocka_unit_test(feature_lists),
		cmocka_unit_test(feature_damage),
		cmocka_unit_test(host_capabilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
