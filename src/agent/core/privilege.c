/*
 * Drops capabilities. Capabilities are per thread, and a thread can change only its own, so each
 * thread gets a signal whose handler drops them.
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
#define DROP_SIGNAL (SIGRTMIN + 9)
#define MAX_THREADS 512
#define REPLY_TIMEOUT_S 2

/* PERFMON: counters; SYS_PTRACE: maps of other users' processes; SYSLOG: kernel symbols; DAC_READ_SEARCH:
 * binaries of other users. */
static const uint64_t needed_caps = CAP(CAP_PERFMON) | CAP(CAP_SYS_PTRACE) | CAP(CAP_SYSLOG) |
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
static sem_t replied;
static _Atomic int capset_errno;

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
		capset_errno = errno;
}

static void on_drop_signal(int number)
{
	int kept = errno;

	(void)number;
	set_caps();
	sem_post(&replied);
	errno = kept;
}

/* ---- all threads ---- */

struct thread_list {
	int tids[MAX_THREADS];
	size_t n;
};

static bool is_in_list(const struct thread_list *all, int tid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->tids[i] == tid)
			return true;
	return false;
}

static bool drop_in_thread(int tid)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += REPLY_TIMEOUT_S;
	if (syscall(SYS_tgkill, getpid(), tid, DROP_SIGNAL) < 0)
		return errno == ESRCH;		/* the thread has ended */
	while (sem_timedwait(&replied, &until) < 0)
		if (errno != EINTR)
			return syscall(SYS_tgkill, getpid(), tid, 0) < 0;
	return true;
}

/* One pass over the current threads. Returns how many were new, or a negative errno. */
static int drop_in_new_threads(struct thread_list *all, int *silent)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	uint32_t tid;
	int n = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (num_u32(str_of(entry->d_name), &tid) < 0 || is_in_list(all, (int)tid))
			continue;
		if (all->n == MAX_THREADS) {
			n = -E2BIG;
			break;
		}
		all->tids[all->n++] = (int)tid;
		n++;
		if ((int)tid != (int)syscall(SYS_gettid) && !drop_in_thread((int)tid))
			(*silent)++;
	}
	closedir(dir);
	return n;
}

/* New threads inherit the capabilities of the thread that starts them, so the loop ends with a pass
 * that finds no new thread. */
static int drop_in_all_threads(int *silent)
{
	struct sigaction action = { .sa_handler = on_drop_signal, .sa_flags = SA_RESTART }, before;
	struct thread_list *all = calloc(1, sizeof(*all));
	int n = all ? 1 : -ENOMEM;

	sem_init(&replied, 0, 0);
	sigfillset(&action.sa_mask);
	if (all && sigaction(DROP_SIGNAL, &action, &before) < 0)
		n = -errno;
	set_caps();
	while (n > 0)
		n = drop_in_new_threads(all, silent);
	free(all);
	if (*silent == 0)
		signal(DROP_SIGNAL, SIG_IGN);
	return n < 0 ? n : -capset_errno;
}

/* ---- which capabilities are kept ---- */

/* Distribution kernels with perf_event_paranoid levels above 2 require CAP_SYS_ADMIN where
 * CAP_PERFMON should suffice. */
static bool needs_sys_admin(void)
{
	char text[16] = "";
	int level = 0;

	return io_read_small(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0 &&
	       sscanf(text, "%d", &level) == 1 && level > 2;
}

static void log_text(struct agent *a, enum tacho_log_level level, const char *text)
{
	if (a->log)
		a->log(a->log_arg, level, text);
}

static void drop_caps(struct agent *a)
{
	uint64_t held = caps_held(), keep = held & needed_caps;
	char text[200];
	int silent = 0, err;

	if (!(held & CAP(CAP_PERFMON)))		/* before Linux 5.8 there is no CAP_PERFMON */
		keep |= held & CAP(CAP_SYS_ADMIN);
	else if (needs_sys_admin() && held & CAP(CAP_SYS_ADMIN)) {
		keep |= CAP(CAP_SYS_ADMIN);
		log_text(a, TACHO_LOG_INFO,
			 "keeping CAP_SYS_ADMIN: with kernel.perf_event_paranoid above 2, "
			 "CAP_PERFMON may not be sufficient");
	}
	if (held == keep)
		return;
	caps[0].permitted = caps[0].effective = (uint32_t)keep;
	caps[1].permitted = caps[1].effective = (uint32_t)(keep >> 32);
	err = drop_in_all_threads(&silent);
	if (err == 0 && silent == 0)
		return;
	snprintf(text, sizeof(text), "cannot drop capabilities in all threads: %s",
		 err < 0 ? strerror(-err) : "a thread did not respond to the signal");
	log_text(a, TACHO_LOG_WARN, text);
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
		snprintf(text, sizeof(text), "cannot install the seccomp filter: %s", err == -EOPNOTSUPP
			 ? "this build has no libseccomp" : strerror(-err));
		log_text(a, err == -EOPNOTSUPP ? TACHO_LOG_DEBUG : TACHO_LOG_WARN, text);
	}
}
