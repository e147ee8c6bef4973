/*
 * Giving up capabilities: see the header. The kernel keeps them per thread, and only a thread can
 * change its own, so each is asked by a signal whose handler does it.
 */
#include "agent/core/privilege.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "base/num.h"

#define CAP(n) (1ull << (n))
#define ASK_SIGNAL (SIGRTMIN + 9)
#define MAX_THREADS 512
#define ANSWER_S 2

/* Counters and probes; maps and files of other users' processes; kernel symbols; binaries. */
static const uint64_t needed = CAP(CAP_PERFMON) | CAP(CAP_BPF) | CAP(CAP_SYS_PTRACE) | CAP(CAP_SYSLOG) |
			       CAP(CAP_DAC_READ_SEARCH);

void privilege_raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
}

/* ---- one thread ---- */

static struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
static sem_t answered;
static _Atomic int refused;

static uint64_t caps_held(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data) < 0)
		return 0;
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

static void set_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	if (syscall(SYS_capset, &head, caps) < 0)
		refused = errno;
}

static void on_ask(int number)
{
	int kept = errno;

	(void)number;
	set_caps();
	sem_post(&answered);
	errno = kept;
}

/* ---- all threads ---- */

struct asked {
	int tids[MAX_THREADS];
	size_t n;
};

static bool was_asked(const struct asked *all, int tid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->tids[i] == tid)
			return true;
	return false;
}

static bool ask(int tid)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ANSWER_S;
	if (syscall(SYS_tgkill, getpid(), tid, ASK_SIGNAL) < 0)
		return errno == ESRCH;		/* it has ended */
	while (sem_timedwait(&answered, &until) < 0)
		if (errno != EINTR)
			return syscall(SYS_tgkill, getpid(), tid, 0) < 0;
	return true;
}

/* One pass over the threads there are. Returns how many were new, or a negative errno. */
static int ask_threads(struct asked *all, int *silent)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	uint32_t tid;
	int n = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (num_u32(str_of(entry->d_name), &tid) < 0 || was_asked(all, (int)tid))
			continue;
		if (all->n == MAX_THREADS) {
			n = -E2BIG;
			break;
		}
		all->tids[all->n++] = (int)tid;
		n++;
		if ((int)tid != (int)syscall(SYS_gettid) && !ask((int)tid))
			(*silent)++;
	}
	closedir(dir);
	return n;
}

/* New threads inherit from the one that starts them, so a pass without a new one is the end. */
static int ask_all(int *silent)
{
	struct sigaction action = { .sa_handler = on_ask, .sa_flags = SA_RESTART }, before;
	struct asked *all = calloc(1, sizeof(*all));
	int n = all ? 1 : -ENOMEM;

	sem_init(&answered, 0, 0);
	sigfillset(&action.sa_mask);
	if (all && sigaction(ASK_SIGNAL, &action, &before) < 0)
		n = -errno;
	set_caps();
	while (n > 0)
		n = ask_threads(all, silent);
	free(all);
	if (*silent == 0)
		signal(ASK_SIGNAL, SIG_IGN);
	return n < 0 ? n : -refused;
}

/* ---- what is kept ---- */

/* Kernels with a level above 2 want more than CAP_PERFMON says. */
static bool wants_admin(void)
{
	char text[16] = "";
	int level = 0;

	return io_read_small(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0 &&
	       sscanf(text, "%d", &level) == 1 && level > 2;
}

static void say(struct agent *a, enum tacho_log_level level, const char *text)
{
	if (a->log)
		a->log(a->log_arg, level, text);
}

static void drop_caps(struct agent *a)
{
	uint64_t held = caps_held(), keep = held & needed;
	char text[200];
	int silent = 0, err;

	if (!(held & CAP(CAP_PERFMON)))		/* before Linux 5.8 there is no other way */
		keep |= held & CAP(CAP_SYS_ADMIN);
	else if (wants_admin() && held & CAP(CAP_SYS_ADMIN)) {
		keep |= CAP(CAP_SYS_ADMIN);
		say(a, TACHO_LOG_INFO, "CAP_SYS_ADMIN is kept: kernel.perf_event_paranoid is above 2, where "
		    "CAP_PERFMON may not be enough");
	}
	if (held == keep)
		return;
	caps[0].permitted = caps[0].effective = (uint32_t)keep;
	caps[1].permitted = caps[1].effective = (uint32_t)(keep >> 32);
	err = ask_all(&silent);
	if (err == 0 && silent == 0)
		return;
	snprintf(text, sizeof(text), "capabilities could not be given up by all threads: %s",
		 err < 0 ? strerror(-err) : "some do not answer");
	say(a, TACHO_LOG_WARN, text);
}

void privilege_drop(struct agent *a)
{
	char text[200];
	int err;

	if (a->config->keep_privileges)
		return;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_caps(a);
	err = seccomp_deny();
	if (err < 0) {
		snprintf(text, sizeof(text), "no system calls are locked: %s", err == -EOPNOTSUPP
			 ? "this build has no libseccomp" : strerror(-err));
		say(a, err == -EOPNOTSUPP ? TACHO_LOG_DEBUG : TACHO_LOG_WARN, text);
	}
}
