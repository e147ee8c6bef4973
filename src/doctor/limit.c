/*
 * Checks of limits: locked memory, sampling rate, stack depth and open files.
 */
#include "doctor/check.h"

#include <stdio.h>

enum { MLOCK_KB_DEFAULT = 516, RATE_DEFAULT = 100000, RATE_WANTED = 4000, STACK_DEFAULT = 127 };

static bool has_no_ring_limit(const struct host_facts *h)
{
	return host_has_cap(h, HOST_CAP_IPC_LOCK) || h->paranoid == -1;
}

static bool check_mlock(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &d->host;

	(void)c;
	if (h->mlock_kb == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d KiB per CPU", h->mlock_kb);
	if (has_no_ring_limit(h)) {
		finding_set(f, TACHO_OK, "does not limit this user");
	} else if (h->mlock_kb >= MLOCK_KB_DEFAULT) {
		finding_set(f, TACHO_OK, "one ring buffer of 512 KiB for each of %d CPUs; anything beyond counts "
			    "as locked memory", d->n_cpus);
	} else {
		finding_set(f, TACHO_LIMITED, "ring buffers are smaller than usual, so samples are lost sooner");
		fix_sysctl(d, f, "kernel.perf_event_mlock_kb=516");
	}
	return true;
}

static void print_size(char *out, size_t size, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		snprintf(out, size, "unlimited");
	else if (bytes >= 1u << 20)
		snprintf(out, size, "%llu MiB", (unsigned long long)(bytes >> 20));
	else
		snprintf(out, size, "%llu KiB", (unsigned long long)(bytes >> 10));
}

/* BPF maps were charged to RLIMIT_MEMLOCK before Linux 5.11, to the cgroup since. */
static bool check_memlock(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &d->host;
	bool charged = h->version_major < 5 || (h->version_major == 5 && h->version_minor < 11);
	char text[32];

	(void)c;
	print_size(text, sizeof(text), h->memlock);
	finding_value(f, "%s", text);
	if (h->memlock == UINT64_MAX || (has_no_ring_limit(h) && !charged)) {
		finding_set(f, TACHO_OK, "does not limit this user");
	} else if (h->memlock >= 1u << 20 && !charged) {
		finding_set(f, TACHO_OK, "what all ring buffers together may lock beyond perf_event_mlock_kb");
	} else {
		finding_set(f, TACHO_LIMITED, "%s", charged ?
			    "ring buffers share this small amount of locked memory" :
			    "ring buffers cannot be larger than perf_event_mlock_kb");
		finding_fix(f, "prlimit --pid $$ --memlock=unlimited:unlimited");
	}
	return true;
}

/* The kernel lowers this limit itself if sampling takes too much CPU time. */
static bool check_rate(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int rate = d->host.max_sample_rate;

	(void)c;
	if (rate == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d Hz", rate);
	if (rate >= RATE_DEFAULT) {
		finding_set(f, TACHO_OK, "the highest rate for -F");
		return true;
	}
	finding_set(f, rate < RATE_WANTED ? TACHO_LIMITED : TACHO_OK,
		    "the highest rate for -F; the kernel lowers it if sampling takes too much CPU time");
	if (rate < RATE_WANTED)
		fix_sysctl(d, f, "kernel.perf_event_max_sample_rate=100000");
	return true;
}

static bool check_cpu_time(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int percent = d->host.cpu_time_max_percent;

	(void)c;
	if (percent == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d %%", percent);
	if (percent == 0 || percent >= 100) {
		finding_set(f, TACHO_OK, "the kernel never lowers the sampling rate, whatever sampling costs");
	} else if (percent >= 10) {
		finding_set(f, TACHO_OK, "above this share of a CPU the kernel lowers the sampling rate");
	} else {
		finding_set(f, TACHO_LIMITED, "the kernel lowers the sampling rate at a low share of a CPU");
		fix_sysctl(d, f, "kernel.perf_cpu_time_max_percent=25");
	}
	return true;
}

static bool check_stack(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int depth = d->host.max_stack;

	(void)c;
	if (depth == HOST_UNKNOWN) {
		finding_value(f, "127, fixed");
		finding_set(f, TACHO_INFO, "before Linux 4.8 the depth of call chains cannot be set");
		return true;
	}
	finding_value(f, "%d", depth);
	if (depth >= STACK_DEFAULT) {
		finding_set(f, TACHO_OK, "call chains of up to %d frames", depth);
	} else {
		finding_set(f, TACHO_LIMITED, "deeper call chains are cut off");
		fix_sysctl(d, f, "kernel.perf_event_max_stack=127");
	}
	return true;
}

/* Each event needs a file descriptor per CPU or thread. */
static bool check_files(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &d->host;
	uint64_t wanted = 4096;

	(void)c;
	if (wanted < (uint64_t)d->n_cpus * 64)
		wanted = (uint64_t)d->n_cpus * 64;
	finding_value(f, "%llu, up to %llu", (unsigned long long)h->nofile_soft,
		      (unsigned long long)h->nofile_hard);
	if (h->nofile_hard == UINT64_MAX)
		finding_value(f, "%llu, no upper limit", (unsigned long long)h->nofile_soft);
	if (h->nofile_hard >= wanted) {
		finding_set(f, TACHO_OK, "tacho raises it to the upper limit; each event needs one per CPU or thread");
	} else {
		finding_set(f, TACHO_LIMITED, "few for %d CPUs: each event needs one per CPU or thread",
			    d->n_cpus);
		finding_fix(f, "prlimit --pid $$ --nofile=1048576:1048576");
	}
	return true;
}

const struct doctor_check limit_checks[] = {
	{ "mlock-kb", "perf_event_mlock_kb", "record, agent", check_mlock, 0, NULL, NULL },
	{ "memlock", "RLIMIT_MEMLOCK", "record, agent", check_memlock, 0, NULL, NULL },
	{ "max-sample-rate", "max_sample_rate", "record, agent", check_rate, 0, NULL, NULL },
	{ "cpu-time-max-percent", "cpu_time_max_percent", "record, agent", check_cpu_time, 0, NULL, NULL },
	{ "max-stack", "max_stack", "record -g, agent", check_stack, 0, NULL, NULL },
	{ "nofile", "RLIMIT_NOFILE", "stat, record, agent", check_files, 0, NULL, NULL },
	{ .id = NULL },
};
