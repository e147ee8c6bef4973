/*
 * The features that describe the machine, from the facts that sys/ reads. Unknown facts are omitted.
 */
#include "perfdata/writer.h"

#include <errno.h>

#include "sys/machine_facts.h"

/* hotspot takes this for the version of perf, and uses FINISHED_ROUND records from version 3.17 on. */
#define VERSION_TEXT "7.0-tacho-" TACHO_VERSION

static int set_text(struct tacho_perfdata_writer *w, enum tacho_feature f, struct str s)
{
	scoped(buf_done) struct buf b = { 0 };

	if (!s.n)
		return 0;
	put_string(&b, s);
	return writer_set_feature(w, f, &b);
}

static int set_names(struct tacho_perfdata_writer *w, const struct machine_facts *m)
{
	const struct { enum tacho_feature f; struct str text; } names[] = {
		{ TACHO_FEATURE_HOSTNAME, m->hostname }, { TACHO_FEATURE_OSRELEASE, m->release },
		{ TACHO_FEATURE_VERSION, STR_LIT(VERSION_TEXT) }, { TACHO_FEATURE_ARCH, m->arch },
		{ TACHO_FEATURE_CPUDESC, m->cpu_model }, { TACHO_FEATURE_CPUID, m->cpu_id },
	};
	int err = 0;

	for (size_t i = 0; i < countof(names) && err == 0; i++)
		err = set_text(w, names[i].f, names[i].text);
	return err;
}

static void put_siblings(struct buf *b, const struct strlist *lists)
{
	put_u32(b, (uint32_t)lists->n);
	for (size_t i = 0; i < lists->n; i++)
		put_string(b, str_of(lists->v[i]));
}

/* Core and thread siblings, core and socket of each CPU, die siblings, and the die of each CPU. */
static int set_topology(struct tacho_perfdata_writer *w, const struct machine_facts *m)
{
	const uint32_t counts[] = { m->n_cpus, m->n_online };
	scoped(buf_done) struct buf b = { 0 };
	int err;

	if (!m->n_cpus)
		return 0;
	put_siblings(&b, &m->packages);
	put_siblings(&b, &m->cores);
	for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++) {
		put_u32(&b, m->cpus[cpu].core);
		put_u32(&b, m->cpus[cpu].socket);
	}
	put_siblings(&b, &m->dies);
	for (uint32_t cpu = 0; cpu < m->n_cpus; cpu++)
		put_u32(&b, m->cpus[cpu].die);
	err = tacho_writer_feature(w, TACHO_FEATURE_NRCPUS, counts, sizeof(counts));
	return err < 0 ? err : writer_set_feature(w, TACHO_FEATURE_CPU_TOPOLOGY, &b);
}

static int set_memory(struct tacho_perfdata_writer *w, const struct machine_facts *m)
{
	if (!m->memory_kb)
		return 0;
	return tacho_writer_feature(w, TACHO_FEATURE_TOTAL_MEM, &m->memory_kb, sizeof(m->memory_kb));
}

/* u32 count; each: u32 type, name. */
static int set_pmus(struct tacho_perfdata_writer *w, const struct machine_facts *m)
{
	scoped(buf_done) struct buf b = { 0 };

	if (!m->pmus.n)
		return 0;
	put_u32(&b, (uint32_t)m->pmus.n);
	for (size_t i = 0; i < m->pmus.n; i++) {
		put_u32(&b, m->pmus.v[i].type);
		put_string(&b, m->pmus.v[i].name);
	}
	return writer_set_feature(w, TACHO_FEATURE_PMU_MAPPINGS, &b);
}

static void put_caps(struct buf *b, const struct machine_pmu *pmu)
{
	put_u32(b, (uint32_t)pmu->caps.n);
	for (size_t i = 0; i < pmu->caps.n; i++) {
		put_string(b, pmu->caps.v[i].name);
		put_string(b, pmu->caps.v[i].value);
	}
}

/* The capabilities of the PMU "cpu" have a feature of their own, which is older than that of all others. */
static int set_caps(struct tacho_perfdata_writer *w, const struct machine_facts *m)
{
	scoped(buf_done) struct buf cpu = { 0 }, others = { 0 };
	uint32_t n = 0;
	int err = 0;

	put_u32(&others, 0);
	for (size_t i = 0; i < m->pmus.n; i++) {
		const struct machine_pmu *pmu = &m->pmus.v[i];

		if (!pmu->caps.n)
			continue;
		if (str_is(pmu->name, "cpu")) {
			put_caps(&cpu, pmu);
			continue;
		}
		put_caps(&others, pmu);
		put_string(&others, pmu->name);
		n++;
	}
	if (cpu.n)
		err = writer_set_feature(w, TACHO_FEATURE_CPU_PMU_CAPS, &cpu);
	if (n && err == 0 && !buf_failed(&others)) {
		memcpy(others.bytes, &n, sizeof(n));
		err = writer_set_feature(w, TACHO_FEATURE_PMU_CAPS, &others);
	}
	return err;
}

/* u32 nodes; each: u32 number, u64 total kB, u64 free kB, its CPUs. */
static int set_nodes(struct tacho_perfdata_writer *w, const struct machine_facts *m)
{
	scoped(buf_done) struct buf b = { 0 };

	if (!m->nodes.n)
		return 0;
	put_u32(&b, (uint32_t)m->nodes.n);
	for (size_t i = 0; i < m->nodes.n; i++) {
		put_u32(&b, m->nodes.v[i].node);
		put_u64(&b, m->nodes.v[i].total_kb);
		put_u64(&b, m->nodes.v[i].free_kb);
		put_string(&b, m->nodes.v[i].cpus);
	}
	return writer_set_feature(w, TACHO_FEATURE_NUMA_TOPOLOGY, &b);
}

int tacho_writer_host(struct tacho_perfdata_writer *w, const char *sysfs, const char *procfs)
{
	static int (*const steps[])(struct tacho_perfdata_writer *, const struct machine_facts *) = {
		set_names, set_topology, set_memory, set_pmus, set_caps, set_nodes,
	};
	scoped(machine_facts_done) struct machine_facts m = { 0 };
	int err = writer_features_closed(w) ? -EBUSY : 0;

	if (err == 0)
		err = machine_facts_read(&m, sysfs ? sysfs : "/sys", procfs ? procfs : "/proc");
	for (size_t i = 0; i < countof(steps) && err == 0; i++)
		err = steps[i](w, &m);
	return err;
}
