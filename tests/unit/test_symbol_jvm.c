/*
 * Which processes count as HotSpot JVMs: a process that lacks any of their marks must not get SIGQUIT.
 */
#include "symbol_support.h"

#include "symbol/jit/jvm_process.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(symbol_jvm_recognized) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
