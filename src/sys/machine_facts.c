/*
 * Reads the facts of machine_facts.h. Missing files leave the facts unknown.
 */
#include "sys/machine_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/cpuset.h"
#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

#define CPUINFO_MAX (16u << 20)
#define CPUS_MAX 65536u

struct facts_reader {
	struct machine_facts *m;
	const char *sysfs, *procfs;
	char text[4096];		/* content of the file read last, trimmed */
};

/* The content of a small file below one of the roots; empty if it cannot be read. */
static struct str read_text(struct facts_reader *r, const char *fmt, ...) printf_like(2, 3);
static struct str read_text(struct facts_reader *r, const char *fmt, ...)
{
	char path[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(path) ? io_read_small(AT_FDCWD, path, r->text, sizeof(r->text)) : -1;
	return n > 0 ? str_trim(str_n(r->text, (size_t)n)) : (struct str){ "", 0 };
}

static int store(struct facts_reader *r, struct str s, struct str *out)
{
	char *copy = arena_str(&r->m->arena, s);

	*out = str_n(copy, copy ? s.n : 0);
	return copy ? 0 : -ENOMEM;
}

static uint32_t read_u32(struct facts_reader *r, const char *dir, const char *name)
{
	uint32_t v;

	return num_u32(read_text(r, "%s/%s", dir, name), &v) < 0 ? UINT32_MAX : v;
}

/* The value after "key : " in a file like /proc/cpuinfo. */
static struct str find_field(struct str text, const char *key)
{
	struct str line;

	while (str_cut(&text, '\n', &line)) {
		ptrdiff_t colon = str_find(line, ':');

		if (colon > 0 && str_is(str_trim(str_n(line.s, (size_t)colon)), key))
			return str_trim(str_n(line.s + colon + 1, line.n - (size_t)colon - 1));
	}
	return (struct str){ 0 };
}

/* The number in "1234 kB"; *out is unchanged if there is none. */
static void parse_kb(struct str text, uint64_t *out)
{
	struct str digits = { 0 };

	str_cut(&text, ' ', &digits);
	num_u64(digits, out);
}

static int read_names(struct facts_reader *r)
{
	struct utsname u;

	if (store(r, read_text(r, "%s/sys/kernel/hostname", r->procfs), &r->m->hostname) < 0 ||
	    store(r, read_text(r, "%s/sys/kernel/osrelease", r->procfs), &r->m->release) < 0)
		return -ENOMEM;
	return uname(&u) == 0 ? store(r, str_of(u.machine), &r->m->arch) : 0;
}

static int read_cpu_model(struct facts_reader *r)
{
	scoped(buf_done) struct buf info = { 0 }, id = { 0 };
	struct str text, vendor;
	char path[512];

	snprintf(path, sizeof(path), "%s/cpuinfo", r->procfs);
	if (io_read(path, CPUINFO_MAX, &info) < 0)
		return 0;
	text = buf_view(&info);
	vendor = find_field(text, "vendor_id");
	if (vendor.n)
		buf_printf(&id, "%.*s,%.*s,%.*s,%.*s", STR(vendor), STR(find_field(text, "cpu family")),
			   STR(find_field(text, "model")), STR(find_field(text, "stepping")));
	else
		buf_str(&id, read_text(r, "%s/devices/system/cpu/cpu0/regs/identification/midr_el1", r->sysfs));
	if (buf_failed(&id) || store(r, find_field(text, "model name"), &r->m->cpu_model) < 0)
		return -ENOMEM;
	return store(r, buf_view(&id), &r->m->cpu_id);
}

static int read_memory(struct facts_reader *r)
{
	parse_kb(find_field(read_text(r, "%s/meminfo", r->procfs), "MemTotal"), &r->m->memory_kb);
	return 0;
}

static int compare_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_dir(const char *path, struct strlist *out)
{
	DIR *dir = opendir(path);
	const struct dirent *d;
	int err = 0;

	if (!dir)
		return 0;
	while (err == 0 && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			err = strlist_add(out, str_of(d->d_name));
	closedir(dir);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), compare_name);
	return err;
}

static int read_caps(struct facts_reader *r, const char *pmu_dir, struct machine_pmu *pmu)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char path[900];

	snprintf(path, sizeof(path), "%s/caps", pmu_dir);
	if (list_dir(path, &names) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < names.n; i++) {
		struct machine_pmu_cap *cap = vec_add(&pmu->caps);

		if (!cap || store(r, str_of(names.v[i]), &cap->name) < 0 ||
		    store(r, read_text(r, "%s/%s", path, names.v[i]), &cap->value) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_pmus(struct facts_reader *r)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", r->sysfs);
	if (list_dir(path, &names) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < names.n; i++) {
		struct machine_pmu *pmu;
		char dir[800];
		uint32_t type;

		snprintf(dir, sizeof(dir), "%s/%s", path, names.v[i]);
		type = read_u32(r, dir, "type");
		if (type == UINT32_MAX)
			continue;
		pmu = vec_add(&r->m->pmus);
		if (!pmu || store(r, str_of(names.v[i]), &pmu->name) < 0)
			return -ENOMEM;
		pmu->type = type;
		if (read_caps(r, dir, pmu) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A line of a node's meminfo is "Node 0 MemTotal:   24080 kB". */
static int read_nodes(struct facts_reader *r)
{
	scoped(strlist_done) struct strlist names = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/devices/system/node", r->sysfs);
	if (list_dir(path, &names) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < names.n; i++) {
		struct machine_node *node;
		uint32_t number;
		char key[48];

		if (!str_starts(str_of(names.v[i]), "node") || num_u32(str_of(names.v[i] + 4), &number) < 0)
			continue;
		node = vec_add(&r->m->nodes);
		if (!node)
			return -ENOMEM;
		node->node = number;
		snprintf(key, sizeof(key), "Node %u MemTotal", number);
		parse_kb(find_field(read_text(r, "%s/%s/meminfo", path, names.v[i]), key), &node->total_kb);
		snprintf(key, sizeof(key), "Node %u MemFree", number);
		parse_kb(find_field(read_text(r, "%s/%s/meminfo", path, names.v[i]), key), &node->free_kb);
		if (store(r, read_text(r, "%s/%s/cpulist", path, names.v[i]), &node->cpus) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The last number of a list like "0-3,8". */
static uint32_t last_cpu(struct str list)
{
	size_t at = list.n;
	uint32_t v;

	while (at > 0 && list.s[at - 1] >= '0' && list.s[at - 1] <= '9')
		at--;
	return num_u32(str_n(list.s + at, list.n - at), &v) < 0 ? 0 : v;
}

/* The distinct sibling lists in `file`, or in the file of its older name. */
static int read_siblings(struct facts_reader *r, const char *file, const char *older, struct strlist *lists)
{
	for (uint32_t cpu = 0; cpu < r->m->n_cpus; cpu++) {
		struct str s = read_text(r, "%s/devices/system/cpu/cpu%u/topology/%s", r->sysfs, cpu, file);
		size_t i = 0;

		if (!s.n && older)
			s = read_text(r, "%s/devices/system/cpu/cpu%u/topology/%s", r->sysfs, cpu, older);
		while (i < lists->n && !str_is(s, lists->v[i]))
			i++;
		if (s.n && i == lists->n && strlist_add(lists, s) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_cpus(struct facts_reader *r)
{
	uint32_t n = last_cpu(read_text(r, "%s/devices/system/cpu/present", r->sysfs)) + 1;
	struct machine_facts *m = r->m;
	struct cpuset online = { 0 };

	if (n > CPUS_MAX)
		return 0;
	m->cpus = calloc(n, sizeof(*m->cpus));
	if (!m->cpus)
		return -ENOMEM;
	m->n_cpus = n;
	if (cpuset_parse(&online, read_text(r, "%s/devices/system/cpu/online", r->sysfs)) == 0)
		m->n_online = (uint32_t)cpuset_count(&online);
	cpuset_done(&online);
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		char dir[512];

		snprintf(dir, sizeof(dir), "%s/devices/system/cpu/cpu%u/topology", r->sysfs, cpu);
		m->cpus[cpu].core = read_u32(r, dir, "core_id");
		m->cpus[cpu].socket = read_u32(r, dir, "physical_package_id");
		m->cpus[cpu].die = read_u32(r, dir, "die_id");
	}
	if (read_siblings(r, "package_cpus_list", "core_siblings_list", &m->packages) < 0 ||
	    read_siblings(r, "core_cpus_list", "thread_siblings_list", &m->cores) < 0)
		return -ENOMEM;
	return read_siblings(r, "die_cpus_list", NULL, &m->dies);
}

int machine_facts_read(struct machine_facts *out, const char *sysfs, const char *procfs)
{
	static int (*const steps[])(struct facts_reader *) = {
		read_names, read_cpus, read_cpu_model, read_memory, read_pmus, read_nodes,
	};
	struct facts_reader r = { .m = out, .sysfs = sysfs, .procfs = procfs };

	*out = (struct machine_facts){ 0 };
	for (size_t i = 0; i < countof(steps); i++)
		if (steps[i](&r) < 0) {
			machine_facts_done(out);
			return -ENOMEM;
		}
	return 0;
}

void machine_facts_done(struct machine_facts *m)
{
	arena_done(&m->arena);
	free(m->cpus);
	strlist_done(&m->packages);
	strlist_done(&m->cores);
	strlist_done(&m->dies);
	for (size_t i = 0; i < m->pmus.n; i++)
		vec_done(&m->pmus.v[i].caps);
	vec_done(&m->pmus);
	vec_done(&m->nodes);
	*m = (struct machine_facts){ 0 };
}
