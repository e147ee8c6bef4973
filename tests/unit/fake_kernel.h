/*
 * A kernel made of a table, for tests of opening and reading: it refuses what a Linux of the
 * given version refuses, shares a few hardware counters among the events that want them, and
 * has its own clock. Together with a directory of /sys and /proc files it is a whole machine.
 */
#ifndef TESTS_FAKE_KERNEL_H
#define TESTS_FAKE_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <cmocka.h>
#include <tacho/tacho.h>

#include "event/event.h"
#include "record/read.h"

#define FAKE_FDS 512
#define FAKE_FD_FIRST 1000

struct fake_fd {
	bool used, enabled, broken;
	struct perf_event_attr attr;
	int pid, cpu, leader;			/* leader: index, its own when it leads */
	uint64_t value, enabled_ns, running_ns;
	double rate;				/* counts per ns; 0: one per us */
};

struct fake_kernel {
	int version;				/* 419 is 4.19 */
	const char *release;
	uint32_t attr_bytes;
	bool privileged, debian;		/* debian: paranoid 3 closes everything */
	int paranoid;
	bool has_pmu;
	unsigned n_hardware;			/* counters one group may have */
	bool refuses_guest_bits, imprecise;
	int gone_tid, offline_cpu;		/* 0 / -1: none */
	unsigned max_fds;			/* 0: no limit */
	int errno_open;				/* every open fails with it (seccomp) */
	unsigned n_child_races;			/* group reads that still answer ECHILD */
	struct fake_fd fds[FAKE_FDS];
	uint64_t now_ns;
	unsigned n_opens, n_reads, n_enables;
	char filter_seen[128];
	bool refuses_filters;
};

static inline bool fake_is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

static const struct { int version; uint64_t flags; } fake_flags[] = {
	{ 404, (1ULL << 27) - 1 },		/* up to context_switch, 4.3 */
	{ 407, PERF_ATTR_WRITE_BACKWARD },  { 412, PERF_ATTR_NAMESPACES },
	{ 501, PERF_ATTR_KSYMBOL | PERF_ATTR_BPF_EVENT },
	{ 504, PERF_ATTR_AUX_OUTPUT },	    { 507, PERF_ATTR_CGROUP },
	{ 509, PERF_ATTR_TEXT_POKE },	    { 512, PERF_ATTR_BUILD_ID },
	{ 513, PERF_ATTR_INHERIT_THREAD | PERF_ATTR_REMOVE_ON_EXEC | PERF_ATTR_SIGTRAP },
	{ 619, PERF_ATTR_DEFER_CALLCHAIN | PERF_ATTR_DEFER_OUTPUT },
};

static inline bool fake_knows(const struct fake_kernel *k, const struct perf_event_attr *attr)
{
	uint64_t known = 0, formats = k->version >= 600 ? 31 : 15;

	for (size_t i = 0; i < countof(fake_flags); i++)
		if (k->version >= fake_flags[i].version)
			known |= fake_flags[i].flags;
	return !(attr->flags & ~known) && !(attr->read_format & ~formats);
}

static inline int fake_check_size(const struct fake_kernel *k, struct perf_event_attr *attr)
{
	const char *bytes = (const char *)attr;
	bool excess = attr->size < PERF_ATTR_SIZE_VER0;

	for (uint32_t i = k->attr_bytes; !excess && i < attr->size; i++)
		excess = bytes[i] != 0;
	if (!excess)
		return 0;
	attr->size = k->attr_bytes;
	return -E2BIG;
}

static inline int fake_check_rights(const struct fake_kernel *k, const struct perf_event_attr *attr, int pid,
			     int cpu)
{
	if (k->privileged)
		return 0;
	if (k->debian && k->paranoid >= 3)
		return -EACCES;
	if (pid == -1 && cpu >= 0 && k->paranoid > 0)
		return -EACCES;
	return k->paranoid > 1 && !(attr->flags & PERF_ATTR_EXCLUDE_KERNEL) ? -EACCES : 0;
}

static inline unsigned fake_group_hardware(const struct fake_kernel *k, int leader)
{
	unsigned n = 0;

	for (int i = 0; i < FAKE_FDS; i++)
		n += k->fds[i].used && k->fds[i].leader == leader && fake_is_hardware(&k->fds[i].attr);
	return n;
}

static inline int fake_check_event(const struct fake_kernel *k, const struct perf_event_attr *attr, int leader)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config >= (k->version >= 513 ? 12u : 11u) ? -ENOENT : 0;
	if (!fake_is_hardware(attr))
		return 0;
	if (!k->has_pmu)
		return -ENOENT;
	if (k->refuses_guest_bits && attr->flags & (PERF_ATTR_EXCLUDE_GUEST | PERF_ATTR_EXCLUDE_HOST))
		return -EINVAL;
	if (k->imprecise && attr->flags & PERF_ATTR_PRECISE_MASK)
		return -EOPNOTSUPP;
	return leader >= 0 && fake_group_hardware(k, leader) >= k->n_hardware ? -EINVAL : 0;
}

static inline int fake_slot(const struct fake_kernel *k)
{
	unsigned used = 0;

	for (int i = 0; i < FAKE_FDS; i++) {
		if (!k->fds[i].used)
			return k->max_fds && used >= k->max_fds ? -EMFILE : i;
		used++;
	}
	return -EMFILE;
}

static inline int fake_open(void *arg, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags)
{
	struct fake_kernel *k = arg;
	int leader = group_fd < 0 ? -1 : group_fd - FAKE_FD_FIRST;
	int err = k->errno_open ? -k->errno_open : fake_check_size(k, attr), slot;

	k->n_opens++;
	if (err == 0 && !fake_knows(k, attr))
		err = -EINVAL;
	/* Groups of inherited events could be read as such from 4.13 on. */
	if (err == 0 && k->version < 413 && attr->flags & PERF_ATTR_INHERIT &&
	    attr->read_format & PERF_FORMAT_GROUP)
		err = -EINVAL;
	/* And put into inherited samples from 6.12 on. */
	if (err == 0 && k->version < 612 && attr->flags & PERF_ATTR_INHERIT &&
	    attr->sample_type & PERF_SAMPLE_READ)
		err = -EINVAL;
	if (err == 0)
		err = fake_check_rights(k, attr, pid, cpu);
	if (err == 0 && k->gone_tid && pid == k->gone_tid)
		err = -ESRCH;
	if (err == 0 && cpu >= 0 && cpu == k->offline_cpu)
		err = -ENODEV;
	if (err == 0)
		err = fake_check_event(k, attr, leader);
	slot = err < 0 ? err : fake_slot(k);
	if (slot < 0)
		return slot;
	k->fds[slot] = (struct fake_fd){ .used = true, .enabled = !(attr->flags & PERF_ATTR_DISABLED),
					 .attr = *attr, .pid = pid, .cpu = cpu,
					 .leader = leader < 0 ? slot : leader };
	return FAKE_FD_FIRST + slot;
}

static inline size_t fake_put(const struct fake_fd *f, uint64_t format, uint64_t *out)
{
	size_t n = 0;

	out[n++] = f->value;
	if (!(format & PERF_FORMAT_GROUP)) {
		out[n++] = f->enabled_ns;
		out[n++] = f->running_ns;
	}
	if (format & PERF_FORMAT_LOST)
		out[n++] = 7;
	return n;
}

static inline ssize_t fake_read(void *arg, int fd, void *bytes, size_t size)
{
	struct fake_kernel *k = arg;
	int slot = fd - FAKE_FD_FIRST;
	const struct fake_fd *f = &k->fds[slot];
	uint64_t format = f->attr.read_format, *out = bytes;
	size_t n = 0;

	k->n_reads++;
	if (slot < 0 || slot >= FAKE_FDS || !f->used)
		return -EBADF;
	if (f->broken)
		return 0;
	if (!(format & PERF_FORMAT_GROUP)) {
		assert_true(size >= read_bytes(format, 1));
		return (ssize_t)(fake_put(f, format, out) * 8);
	}
	if (k->n_child_races && k->n_child_races--)
		return -ECHILD;
	out[1] = f->enabled_ns;
	out[2] = f->running_ns;
	n = 3;
	out[0] = 0;
	for (int i = slot; i < FAKE_FDS; i++)
		if (k->fds[i].used && k->fds[i].leader == slot) {
			out[0]++;
			n += fake_put(&k->fds[i], format, out + n);
		}
	assert_true(n * 8 <= size);
	return (ssize_t)(n * 8);
}

static inline int fake_ioctl(void *arg, int fd, unsigned request, uintptr_t value)
{
	struct fake_kernel *k = arg;
	struct fake_fd *f = &k->fds[fd - FAKE_FD_FIRST];

	assert_true(f->used);
	assert_int_not_equal(request, PERF_IOC_RESET);
	if (request == PERF_IOC_ENABLE) {
		f->enabled = true;
		k->n_enables++;
	} else if (request == PERF_IOC_DISABLE) {
		f->enabled = false;
	} else if (request == PERF_IOC_SET_FILTER) {
		if (k->refuses_filters)
			return -EINVAL;
		snprintf(k->filter_seen, sizeof(k->filter_seen), "%s", (const char *)value);
	}
	return 0;
}

static inline int fake_close(void *arg, int fd)
{
	struct fake_kernel *k = arg;

	assert_true(k->fds[fd - FAKE_FD_FIRST].used);
	k->fds[fd - FAKE_FD_FIRST].used = false;
	return 0;
}

static inline uint64_t fake_now(void *arg)
{
	return ((struct fake_kernel *)arg)->now_ns;
}

__attribute__((unused)) static const struct sys_ops fake_ops = { fake_open, fake_read, fake_ioctl, fake_close, fake_now };

/* Lets `ns` pass. Hardware events run for `share` of it, the others always. */
static inline void fake_advance(struct fake_kernel *k, uint64_t ns, double share)
{
	k->now_ns += ns;
	for (int i = 0; i < FAKE_FDS; i++) {
		struct fake_fd *f = &k->fds[i];
		uint64_t ran = fake_is_hardware(&f->attr) ? (uint64_t)((double)ns * share) : ns;

		if (!f->used || !k->fds[f->leader].enabled)
			continue;
		f->enabled_ns += ns;
		f->running_ns += ran;
		f->value += (uint64_t)((double)ran * (f->rate != 0 ? f->rate : 0.001));
	}
}

static inline unsigned fake_n_open(const struct fake_kernel *k)
{
	unsigned n = 0;

	for (int i = 0; i < FAKE_FDS; i++)
		n += k->fds[i].used;
	return n;
}

/* The machine's files: a fresh directory with sys/ and proc/ below it. */
struct fake_machine {
	char dir[64], sysfs[80], procfs[80];
};

static inline void fake_file(const struct fake_machine *m, const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", m->dir, path);
	for (char *c = full + strlen(m->dir) + 1; *c; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(full, 0755);
			*c = '/';
		}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline void fake_machine_init(struct fake_machine *m)
{
	strcpy(m->dir, "/tmp/tacho-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(m->sysfs, sizeof(m->sysfs), "%s/sys", m->dir);
	snprintf(m->procfs, sizeof(m->procfs), "%s/proc", m->dir);
	fake_file(m, "sys/devices/system/cpu/online", "0-3\n");
	fake_file(m, "sys/devices/system/cpu/present", "0-3\n");
	fake_file(m, "sys/bus/event_source/devices/software/type", "1\n");
}

static inline void fake_machine_done(struct fake_machine *m)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", m->dir);
	assert_int_equal(system(command), 0);
}

/* The files that say what the kernel's fields say, and a context on top of both. */
static inline struct tacho *fake_context(struct fake_machine *m, struct fake_kernel *k)
{
	char text[64];
	struct tacho *t;

	if (!k->attr_bytes)
		k->attr_bytes = k->version >= 619 ? 144 : k->version >= 603 ? 136 :
				k->version >= 513 ? 128 : k->version >= 505 ? 120 : 112;
	if (!k->offline_cpu)
		k->offline_cpu = -1;
	snprintf(text, sizeof(text), "%d\n", k->paranoid);
	fake_file(m, "proc/sys/kernel/perf_event_paranoid", text);
	fake_file(m, "proc/sys/kernel/osrelease", k->release ? k->release : "6.12.0");
	fake_file(m, "proc/self/status", k->privileged ? "Name:\tx\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n"
						       : "Name:\tx\nUid:\t9\t9\t9\t9\nCapEff:\t0000000000000000\n");
	if (k->has_pmu) {
		fake_file(m, "sys/bus/event_source/devices/cpu/type", "4\n");
		fake_file(m, "sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	}
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = m->sysfs, .procfs = m->procfs),
				    NULL), 0);
	t->sys.ops = &fake_ops;
	t->sys.ops_arg = k;
	return t;
}

#endif
