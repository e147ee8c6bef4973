/*
 * Trials on the running kernel: opens events as the commands do, but disabled, and closes them
 * again. They show what really works, independent of the settings.
 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "sys/kernel_trial.h"

enum { RING_PAGES = 8 };	/* well below the memory that every user may lock */

#define USER_SIDE (PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV)

struct trial {
	uint32_t type;
	uint64_t config;
	uint64_t flags;
	bool sampling, all_processes;
};

/* Opens the event, maps a ring buffer if it samples, and closes it. 0 or a negative errno. */
static int try_attr(const struct doctor *d, struct perf_event_attr *attr, bool all_processes)
{
	const struct sys *sys = &d->t->sys;
	int fd, err = 0;

	/* The smallest layout has every field used here and is accepted by any kernel. */
	attr->size = PERF_ATTR_SIZE_VER0;
	if (attr->type == PERF_TYPE_BREAKPOINT)
		attr->size = 72;	/* bp_len */
	fd = sys_perf_open(sys, attr, all_processes ? -1 : 0, all_processes ? 0 : -1, -1,
			   PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	if (attr->sample_period)
		err = trial_ring(fd, RING_PAGES);
	sys_perf_close(sys, fd);
	return err;
}

static int try_event(const struct doctor *d, struct trial trial)
{
	struct perf_event_attr attr = {
		.type = trial.type,
		.config = trial.config,
		.flags = PERF_ATTR_DISABLED | trial.flags,
	};

	if (trial.sampling) {
		attr.sample_freq = 99;
		attr.flags |= PERF_ATTR_FREQ;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	}
	return try_attr(d, &attr, trial.all_processes);
}

int try_count_self(struct doctor *d)
{
	return try_event(d, (struct trial){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, USER_SIDE,
					    false, false });
}

int try_sample_self(struct doctor *d)
{
	return try_event(d, (struct trial){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, USER_SIDE,
					    true, false });
}

static const char *refusal_text(int err)
{
	switch (-err) {
	case EACCES:
	case EPERM:
		return "not permitted";
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return "not supported";
	case ENOSYS:
		return "no such system call";
	default:
		return strerror(-err);
	}
}

/* `paranoid` is the highest perf_event_paranoid at which an unprivileged user may do it. */
static bool write_result(struct doctor *d, struct finding *f, int err, int paranoid,
			 const char *works, const char *fails)
{
	if (err == 0) {
		finding_value(f, "works");
		finding_set(f, TACHO_OK, "%s", works);
		return true;
	}
	finding_value(f, "%s", refusal_text(err));
	finding_set(f, TACHO_NO, "%s", fails);
	fix_open(d, f, err, paranoid);
	return true;
}

static bool check_count_self(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	return write_result(d, f, d->self_error, 2, c->word, c->loss);
}

static bool check_sample_self(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	return write_result(d, f, d->sample_error, 2, c->word, c->loss);
}

static bool check_count_system(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int err = try_event(d, (struct trial){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, false,
					       true });

	return write_result(d, f, err, 0, c->word, c->loss);
}

static bool check_sample_system(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int err = try_event(d, (struct trial){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0, true,
					       true });

	return write_result(d, f, err, 0, c->word, c->loss);
}

static bool check_kernel_side(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int err = try_event(d, (struct trial){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, false,
					       false });

	return write_result(d, f, err, 1, c->word, c->loss);
}

static bool check_hardware(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int err = try_event(d, (struct trial){ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, USER_SIDE,
					       false, false });

	write_result(d, f, err, 2, c->word, c->loss);
	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP)
		fix_vpmu(d, f);
	return true;
}

static int tracepoint_id(const struct doctor *d, uint64_t *out)
{
	static const char *const names[] = { "sched/sched_switch", "raw_syscalls/sys_enter" };
	const char *tracefs = sys_tracefs(&d->t->sys);
	int err = tracefs ? -ENOENT : -errno;

	for (size_t i = 0; tracefs && i < countof(names); i++) {
		char path[600], text[32];

		snprintf(path, sizeof(path), "%.500s/events/%s/id", tracefs, names[i]);
		err = io_read_small(AT_FDCWD, path, text, sizeof(text));
		if (err >= 0)
			return num_u64(str_trim(str_of(text)), out);
	}
	return err;
}

/* Any user may count a tracepoint on their own processes, but looking up its ID needs tracefs. */
static bool check_tracepoint(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	uint64_t id = 0;
	int err = tracepoint_id(d, &id);

	if (err < 0) {
		finding_value(f, "%s", err == -ENOENT ? "no tracefs" : refusal_text(err));
		finding_set(f, TACHO_NO, "tracepoints cannot be looked up, see tracefs");
		return true;
	}
	err = try_event(d, (struct trial){ PERF_TYPE_TRACEPOINT, id, 0, false, false });
	return write_result(d, f, err, 1, c->word, c->loss);
}

static bool check_breakpoint(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	static volatile uint32_t watched;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.flags = PERF_ATTR_DISABLED | USER_SIDE,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
	};

	return write_result(d, f, try_attr(d, &attr, false), 2, c->word, c->loss);
}

const struct doctor_check live_checks[] = {
	{ "live-count-self", "counting own processes", "stat", check_count_self, 0,
	  "software events can be counted", "not even software events of own processes can be counted" },
	{ "live-hardware", "hardware counters", "stat, record, agent", check_hardware, 0,
	  "cycles can be counted", "cycles and other hardware events are reported as not supported" },
	{ "live-kernel", "kernel side of own processes", "stat, record", check_kernel_side, 0,
	  "events also count in the kernel", "events count in user space only (as with :u)" },
	{ "live-count-system", "counting all processes", "stat -a", check_count_system, 0,
	  "stat -a and -C work", "no stat -a, -C or uncore events" },
	{ "live-tracepoint", "counting tracepoints", "stat, record", check_tracepoint, 0,
	  "a tracepoint can be opened", "tracepoints cannot be counted" },
	{ "live-breakpoint", "breakpoints", "stat, record -e mem:", check_breakpoint, 0,
	  "a watchpoint can be opened", "mem: events cannot be opened" },
	{ "live-sample-self", "sampling own processes", "record, flame", check_sample_self, 0,
	  "sampling into a ring buffer works", "own processes cannot be sampled" },
	{ "live-sample-system", "sampling all processes", "record -a, agent", check_sample_system, 0,
	  "record -a works, as does the profile of the agent", "no record -a, and no profile by the agent" },
	{ .id = NULL },
};
