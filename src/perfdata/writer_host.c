/*
 * The features that describe the machine: host name, kernel, CPUs, memory, PMUs, NUMA nodes. They are read from
 * /proc and /sys below the given roots. Features whose files do not exist are omitted.
 */
#include "perfdata/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/cpuset.h"
#include "base/io.h"
#include "base/num.h"

#define TEXT_MAX (1u << 20)
#define CPUS_MAX 65536u
/* hotspot takes this for the version of perf, and uses FINISHED_ROUND records from version 3.17 on. */
#define VERSION_TEXT "7.0-tacho-" TACHO_VERSION

struct host_writer {
	struct tacho_perfdata_writer *w;
	const char *sysfs, *procfs;
	char text[4096];		/* content of the file read last, trimmed */
};

/* The content of a small file below one of the roots; empty if it cannot be read. */
static struct str read_text(struct host_writer *h, const char *fmt, ...) printf_like(2, 3);
static struct str read_text(struct host_writer *h, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(path) ? io_read_small(AT_FDCWD, path, h->text, sizeof(h->text)) : -1;
	return n > 0 ? str_trim(str_n(h->text, (size_t)n)) : (struct str){ "", 0 };
}

static int put_text(struct host_writer *h, enum tacho_feature f, struct str s)
{
	scoped(buf_done) struct buf b = { 0 };

	if (!s.n)
		return 0;
	put_string(&b, s);
	return writer_set_feature(h->w, f, &b);
}

static uint32_t read_u32(struct host_writer *h, const char *dir, const char *name)
{
	uint32_t v;

	return num_u32(read_text(h, "%s/%s", dir, name), &v) < 0 ? UINT32_MAX : v;
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

static int put_names(struct host_writer *h)
{
	struct utsname u;
	int err;

	err = put_text(h, TACHO_FEATURE_HOSTNAME, read_text(h, "%s/sys/kernel/hostname", h->procfs));
	if (err == 0)
		err = put_text(h, TACHO_FEATURE_OSRELEASE,
			       read_text(h, "%s/sys/kernel/osrelease", h->procfs));
	if (err == 0)
		err = put_text(h, TACHO_FEATURE_VERSION, STR_LIT(VERSION_TEXT));
	if (err == 0 && uname(&u) == 0)
		err = put_text(h, TACHO_FEATURE_ARCH, str_of(u.machine));
	return err;
}

/* "GenuineIntel,6,106,6" on x86, the main id register on arm64. */
static int put_cpu(struct host_writer *h)
{
	scoped(buf_done) struct buf info = { 0 }, id = { 0 };
	struct str text, vendor;
	char path[512];
	int err;

	snprintf(path, sizeof(path), "%s/cpuinfo", h->procfs);
	if (io_read(path, 16 * TEXT_MAX, &info) < 0)
		return 0;
	text = buf_view(&info);
	err = put_text(h, TACHO_FEATURE_CPUDESC, find_field(text, "model name"));
	vendor = find_field(text, "vendor_id");
	if (vendor.n)
		buf_printf(&id, "%.*s,%.*s,%.*s,%.*s", STR(vendor), STR(find_field(text, "cpu family")),
			   STR(find_field(text, "model")), STR(find_field(text, "stepping")));
	else
		buf_str(&id, read_text(h, "%s/devices/system/cpu/cpu0/regs/identification/midr_el1",
				       h->sysfs));
	if (err < 0 || buf_failed(&id))
		return err < 0 ? err : -ENOMEM;
	return put_text(h, TACHO_FEATURE_CPUID, buf_view(&id));
}

static int put_memory(struct host_writer *h)
{
	struct str kb = find_field(read_text(h, "%s/meminfo", h->procfs), "MemTotal"), digits;
	uint64_t v;

	str_cut(&kb, ' ', &digits);
	if (num_u64(digits, &v) < 0)
		return 0;
	return tacho_writer_feature(h->w, TACHO_FEATURE_TOTAL_MEM, &v, sizeof(v));
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

/* u32 count; each: u32 type, name. */
static int put_pmus(struct host_writer *h)
{
	scoped(strlist_done) struct strlist names = { 0 };
	scoped(buf_done) struct buf b = { 0 };
	uint32_t n = 0;
	char path[512];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", h->sysfs);
	if (list_dir(path, &names) < 0)
		return -ENOMEM;
	put_u32(&b, 0);
	for (size_t i = 0; i < names.n; i++) {
		char dir[800];
		uint32_t type;

		snprintf(dir, sizeof(dir), "%s/%s", path, names.v[i]);
		type = read_u32(h, dir, "type");
		if (type == UINT32_MAX)
			continue;
		put_u32(&b, type);
		put_string(&b, str_of(names.v[i]));
		n++;
	}
	if (n == 0 || buf_failed(&b))
		return n ? -ENOMEM : 0;
	memcpy(b.bytes, &n, sizeof(n));
	return writer_set_feature(h->w, TACHO_FEATURE_PMU_MAPPINGS, &b);
}

/* u32 nodes; each: u32 number, u64 total kB, u64 free kB, its CPUs. */
static int put_nodes(struct host_writer *h)
{
	scoped(strlist_done) struct strlist names = { 0 };
	scoped(buf_done) struct buf b = { 0 };
	char path[512];
	uint32_t n = 0;

	snprintf(path, sizeof(path), "%s/devices/system/node", h->sysfs);
	if (list_dir(path, &names) < 0)
		return -ENOMEM;
	put_u32(&b, 0);
	for (size_t i = 0; i < names.n; i++) {
		uint64_t kb[2] = { 0 };
		uint32_t node;

		if (!str_starts(str_of(names.v[i]), "node") ||
		    num_u32(str_of(names.v[i] + 4), &node) < 0)
			continue;
		for (int k = 0; k < 2; k++) {	/* "Node 0 MemTotal:   24080 kB" */
			char key[48];
			struct str v, digits;

			snprintf(key, sizeof(key), "Node %u %s", node, k ? "MemFree" : "MemTotal");
			v = find_field(read_text(h, "%s/%s/meminfo", path, names.v[i]), key);
			str_cut(&v, ' ', &digits);
			num_u64(digits, &kb[k]);
		}
		put_u32(&b, node);
		put_u64(&b, kb[0]);
		put_u64(&b, kb[1]);
		put_string(&b, read_text(h, "%s/%s/cpulist", path, names.v[i]));
		n++;
	}
	if (n == 0 || buf_failed(&b))
		return n ? -ENOMEM : 0;
	memcpy(b.bytes, &n, sizeof(n));
	return writer_set_feature(h->w, TACHO_FEATURE_NUMA_TOPOLOGY, &b);
}

static uint32_t last_cpu(struct str list)
{
	ptrdiff_t at = (ptrdiff_t)list.n;
	uint32_t v;

	while (at > 0 && list.s[at - 1] >= '0' && list.s[at - 1] <= '9')
		at--;
	return num_u32(str_n(list.s + at, list.n - (size_t)at), &v) < 0 ? 0 : v;
}

/* Appends the distinct sibling lists in CPU order: u32 count and the lists. */
static int put_siblings(struct host_writer *h, uint32_t n_cpus, const char *file, const char *older,
			struct buf *out)
{
	scoped(strlist_done) struct strlist lists = { 0 };

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		struct str s = read_text(h, "%s/devices/system/cpu/cpu%u/topology/%s", h->sysfs,
					 cpu, file);
		size_t i = 0;

		if (!s.n && older)
			s = read_text(h, "%s/devices/system/cpu/cpu%u/topology/%s", h->sysfs, cpu,
				      older);
		while (i < lists.n && !str_is(s, lists.v[i]))
			i++;
		if (s.n && i == lists.n && strlist_add(&lists, s) < 0)
			return -ENOMEM;
	}
	put_u32(out, (uint32_t)lists.n);
	for (size_t i = 0; i < lists.n; i++)
		put_string(out, str_of(lists.v[i]));
	return 0;
}

/* Core and thread siblings, core and socket of each CPU, die siblings, and the die of each CPU. */
static int put_topology(struct host_writer *h, uint32_t n_cpus)
{
	scoped(buf_done) struct buf b = { 0 };
	char dir[512];

	if (put_siblings(h, n_cpus, "package_cpus_list", "core_siblings_list", &b) < 0 ||
	    put_siblings(h, n_cpus, "core_cpus_list", "thread_siblings_list", &b) < 0)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		snprintf(dir, sizeof(dir), "%s/devices/system/cpu/cpu%u/topology", h->sysfs, cpu);
		put_u32(&b, read_u32(h, dir, "core_id"));
		put_u32(&b, read_u32(h, dir, "physical_package_id"));
	}
	if (put_siblings(h, n_cpus, "die_cpus_list", NULL, &b) < 0)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		snprintf(dir, sizeof(dir), "%s/devices/system/cpu/cpu%u/topology", h->sysfs, cpu);
		put_u32(&b, read_u32(h, dir, "die_id"));
	}
	return writer_set_feature(h->w, TACHO_FEATURE_CPU_TOPOLOGY, &b);
}

static int put_cpus(struct host_writer *h)
{
	uint32_t possible = last_cpu(read_text(h, "%s/devices/system/cpu/present", h->sysfs)) + 1;
	struct cpuset online = { 0 };
	uint32_t n[2] = { possible, 0 };
	int err;

	if (possible > CPUS_MAX)
		return 0;
	if (cpuset_parse(&online, read_text(h, "%s/devices/system/cpu/online", h->sysfs)) == 0)
		n[1] = (uint32_t)cpuset_count(&online);
	cpuset_done(&online);
	err = tacho_writer_feature(h->w, TACHO_FEATURE_NRCPUS, n, sizeof(n));
	return err < 0 ? err : put_topology(h, possible);
}

int tacho_writer_host(struct tacho_perfdata_writer *w, const char *sysfs, const char *procfs)
{
	static int (*const steps[])(struct host_writer *) = {
		put_names, put_cpus, put_cpu, put_memory, put_pmus, put_nodes,
	};
	struct host_writer h = { .w = w, .sysfs = sysfs ? sysfs : "/sys",
			  .procfs = procfs ? procfs : "/proc" };
	int err = writer_features_closed(w) ? -EBUSY : 0;

	for (size_t i = 0; i < countof(steps) && err == 0; i++)
		err = steps[i](&h);
	return err;
}
