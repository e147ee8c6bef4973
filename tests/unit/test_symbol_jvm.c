/*
 * Which processes count as HotSpot JVMs: a process that lacks any of their marks must not get SIGQUIT.
 */
#include "symbol_support.h"

#include "base/clock.h"
#include "symbol/jit/jvm_process.h"

#include <tacho/jit.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#define STATUS "Name:	java\nUid:	0	1000	0	1000\nGid:	0	1001	0	1001\nNSpid:	77	8\nSigCgt:	"
#define HOTSPOT "7f0000000000-7f0000001000 r-xp 00000000 08:01 12 /opt/jdk/lib/server/libjvm.so"

static const struct jvm_case {
	const char *status, *thread, *maps, *cmdline;
	int result;
} cases[] = {
	{ STATUS "0000000101005ccd\n", "Signal Dispatch", HOTSPOT "\n", "java", 1 },
	{ STATUS "0000000101005ccd\n", "Signal Dispatch", HOTSPOT " (deleted)\n", "java", 1 },
	{ STATUS "0000000101005cc9\n", "Signal Dispatch", HOTSPOT "\n", "java", 0 },	/* does not handle SIGQUIT */
	{ STATUS "0000000101005ccd\n", "GC Thread#0", HOTSPOT "\n", "java", 0 },
	{ STATUS "0000000101005ccd\n", "Signal Dispatcher", HOTSPOT "\n", "java", 0 },
	{ STATUS "0000000101005ccd\n", "Signal Dispatch", "", "java", 0 },
	{ STATUS "0000000101005ccd\n", "Signal Dispatch",
	  "7f0000000000-7f0000001000 r--p 00000000 08:01 12 /opt/jdk/lib/server/libjvm.so\n", "java", 0 },	/* not code */
	{ STATUS "0000000101005ccd\n", "Signal Dispatch",
	  "7f0000000000-7f0000001000 r-xp 00000000 08:01 12 /opt/jdk/lib/server/notlibjvm.so\n", "java", 0 },
	{ STATUS "0000000101005ccd\n", "Signal Dispatch",
	  HOTSPOT "\n7f0000002000-7f0000003000 r-xp 00000000 08:01 13 /opt/jdk/lib/default/libj9vm29.so\n", "java", 0 },
	{ STATUS "0000000101005ccd\n", "Signal Dispatch", HOTSPOT "\n", "java -XX:+DisableAttachMechanism", -EOPNOTSUPP },
	{ "Name:	java\nUid:	0\n", "Signal Dispatch", HOTSPOT "\n", "java", 0 },
	{ STATUS "zz\n", "Signal Dispatch", HOTSPOT "\n", "java", 0 },
	{ "", "Signal Dispatch", HOTSPOT "\n", "java", 0 },
};

static void write_file(const char *dir, const char *name, const char *text, char blank)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	for (; *text; text++)
		fputc(*text == ' ' ? blank : *text, f);
	fclose(f);
}

static void write_process(const char *procfs, const struct jvm_case *c)
{
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/77/task/78", procfs);
	write_file(dir, "comm", c->thread, ' ');
	snprintf(dir, sizeof(dir), "%s/77", procfs);
	write_file(dir, "status", c->status, ' ');
	write_file(dir, "maps", c->maps, ' ');
	write_file(dir, "cmdline", c->cmdline, '\0');
}

static void make_dirs(char *procfs)
{
	static const char *const names[] = { "77", "77/task", "77/task/78" };
	char path[512];

	assert_non_null(mkdtemp(procfs));
	for (size_t i = 0; i < countof(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", procfs, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

static void remove_dirs(const char *procfs)
{
	static const char *const names[] = { "77/task/78/comm", "77/task/78", "77/task", "77/status", "77/maps",
					     "77/cmdline", "77", "" };
	char path[512];

	for (size_t i = 0; i < countof(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", procfs, names[i]);
		assert_int_equal(remove(path), 0);
	}
}

static void symbol_jvm_recognized(void **state)
{
	char procfs[] = "/tmp/tacho-test-jvm-XXXXXX";
	struct jvm_process jvm = { 0 };

	(void)state;
	make_dirs(procfs);
	for (size_t i = 0; i < countof(cases); i++) {
		write_process(procfs, &cases[i]);
		assert_int_equal(jvm_process_read(procfs, 77, &jvm, NULL), cases[i].result);
	}
	write_process(procfs, &cases[0]);
	assert_int_equal(jvm_process_read(procfs, 77, &jvm, NULL), 1);
	assert_int_equal(jvm.inner_pid, 8);
	assert_int_equal(jvm.uid, 1000);
	assert_int_equal(jvm.gid, 1001);
	assert_int_equal(jvm_process_read(procfs, 78, &jvm, NULL), -ESRCH);
	remove_dirs(procfs);
}

/* ---- a process that has the marks of a JVM, and answers a byte at a time ---- */

static void on_quit(int signal)
{
	(void)signal;
}

static void *wait_for_signals(void *arg)
{
	pthread_setname_np(pthread_self(), "Signal Dispatch");
	(void)!write(*(const int *)arg, "", 1);
	pause();
	return NULL;
}

static _Noreturn void answer_slowly(const char *library, int ready)
{
	const struct timespec pause_time = { .tv_nsec = 100000000 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = open(library, O_RDWR | O_CREAT, 0600), listener = socket(AF_UNIX, SOCK_STREAM, 0), client;
	pthread_t thread;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGQUIT, on_quit);
	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/.java_pid%d", (int)getpid());
	if (fd < 0 || ftruncate(fd, 4096) < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
	    bind(listener, (const struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 1) < 0 ||
	    pthread_create(&thread, NULL, wait_for_signals, &ready) != 0)
		_exit(1);
	client = accept(listener, NULL, NULL);
	for (int i = 0; i < 100 && write(client, " ", 1) == 1; i++)
		nanosleep(&pause_time, NULL);
	_exit(0);
}

static void symbol_jvm_slow_answer(void **state)
{
	char dir[] = "/tmp/tacho-test-jvm-XXXXXX", library[64], socket_path[64], byte;
	int ready[2];
	int64_t start, taken;
	pid_t pid;
	int err;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(library, sizeof(library), "%s/libjvm.so", dir);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0)
		answer_slowly(library, ready[1]);
	close(ready[1]);
	err = read(ready[0], &byte, 1) == 1 ? 0 : -EIO;
	start = (int64_t)clock_mono_ns();
	if (err == 0)
		err = tacho_jvm_write_map(pid, 1000, NULL);
	taken = (int64_t)clock_mono_ns() - start;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snprintf(socket_path, sizeof(socket_path), "/tmp/.java_pid%d", (int)pid);
	unlink(socket_path);
	unlink(library);
	rmdir(dir);
	close(ready[0]);
	assert_int_equal(err, -ETIMEDOUT);
	assert_true(taken < 5000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(symbol_jvm_recognized), cmocka_unit_test(symbol_jvm_slow_answer) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
