/* Capabilities are dropped in every thread; each case runs in its own process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "agent/core/privilege.h"
#include "base/io.h"

static char logged[1000];

static void keep_log(void *arg, enum tacho_log_level level, const char *text)
{
	strncat(logged, text, sizeof(logged) - strlen(logged) - 1);
}

static struct agent_config config;
static struct agent agent = { .config = &config, .log = keep_log };

static uint64_t caps_of_thread(void)
{
	char path[64];
	struct buf text = { 0 };
	unsigned long long caps = ~0ull;
	const char *at;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status", syscall(SYS_gettid));
	io_read(path, 65536, &text);
	at = text.bytes ? strstr(text.bytes, "CapEff:") : NULL;
	if (!at || sscanf(at, "CapEff: %llx", &caps) != 1)
		caps = ~0ull;
	buf_done(&text);
	return caps;
}

static pthread_barrier_t before, after;
static bool blocks;

static void *other(void *out)
{
	sigset_t all;
	uint64_t *caps = out;

	sigfillset(&all);
	if (blocks)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_barrier_wait(&before);
	pthread_barrier_wait(&after);
	caps[0] = caps_of_thread();
	caps[1] = syscall(SYS_unshare, CLONE_FS) < 0 && errno == EPERM;
	return NULL;
}

/* In a child: drops capabilities with a second thread running; the exit status is the result. */
enum { NOT_DROPPED = 1, NOT_LOCKED = 2, LOST_MORE = 4, SAID = 8 };

static int drop_in_child(void)
{
	const uint64_t forbidden = 1ull << 21 | 1ull << 1 | 1;	/* SYS_ADMIN, DAC_OVERRIDE, CHOWN */
	uint64_t theirs[2] = { 0 }, held = caps_of_thread();
	pthread_t thread;
	int status = 0;

	pthread_barrier_init(&before, NULL, 2);
	pthread_barrier_init(&after, NULL, 2);
	pthread_create(&thread, NULL, other, theirs);
	pthread_barrier_wait(&before);
	privilege_raise_limits();
	privilege_drop(&agent);
	pthread_barrier_wait(&after);
	pthread_join(thread, NULL);
	if ((caps_of_thread() | theirs[0]) & forbidden)
		status |= NOT_DROPPED;
	if (!theirs[1] || syscall(SYS_unshare, CLONE_FS) == 0)
		status |= NOT_LOCKED;
	if ((held & 1ull << 38) && !(caps_of_thread() & theirs[0] & 1ull << 38))
		status |= LOST_MORE;
	return status | (logged[0] ? SAID : 0);
}

static int run_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(drop_in_child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int needs_root(void)
{
	if (geteuid() == 0 && (caps_of_thread() & 1ull << 21))
		return 1;
	skip();
	return 0;
}

static bool paranoid(void)
{
	struct buf text = { 0 };
	bool above;

	io_read("/proc/sys/kernel/perf_event_paranoid", 64, &text);
	above = text.bytes && atoi(text.bytes) > 2;
	buf_done(&text);
	return above;
}

static void test_all_threads(void **state)
{
	if (!needs_root() || paranoid())
		return;
	blocks = config.keep_privileges = false;
	assert_int_equal(run_child() & ~(seccomp_denies("unshare") ? 0 : NOT_LOCKED), 0);
}

/* A thread that blocks the signal keeps its capabilities; that is logged. */
static void test_deaf_thread(void **state)
{
	if (!needs_root() || paranoid())
		return;
	blocks = true;
	config.keep_privileges = false;
	assert_int_equal(run_child() & (NOT_DROPPED | SAID), NOT_DROPPED | SAID);
}

static void test_capabilities_not_dropped(void **state)
{
	if (!needs_root())
		return;
	blocks = false;
	config.keep_privileges = true;
	assert_int_equal(run_child(), NOT_DROPPED | NOT_LOCKED);
}

static void test_list(void **state)
{
	static const char *const used[] = { "perf_event_open", "bpf", "sched_setaffinity", "process_vm_readv",
					    "prlimit64", "execve", "clone3", "openat", "pidfd_open" };

	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
		assert_false(seccomp_denies(used[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_threads), cmocka_unit_test(test_deaf_thread),
		cmocka_unit_test(test_capabilities_not_dropped), cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
