/* sys/host.c: machines described by directories of fixtures. */
#include "sys/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

static struct host_facts probe(const char *machine)
{
	char sysfs[512], procfs[512];
	struct host_facts h;
	struct sys sys;

	snprintf(sysfs, sizeof(sysfs), "%s/host/%s/sys", TEST_DATA, machine);
	snprintf(procfs, sizeof(procfs), "%s/host/%s/proc", TEST_DATA, machine);
	assert_int_equal(sys_init(&sys, sysfs, procfs, NULL), 0);
	assert_int_equal(host_probe(&sys, &h), 0);
	sys_done(&sys);
	return h;
}

static void a_virtual_machine(void **state)
{
	struct host_facts h = probe("vm");

	assert_string_equal(h.release, "6.18.44");
	assert_int_equal(h.version_major, 6);
	assert_int_equal(h.version_minor, 18);
	assert_string_equal(h.hypervisor, "kvm");
	assert_string_equal(h.container, "");		/* although /.dockerenv is there */
	assert_int_equal(h.euid, 0);
	assert_true(host_is_perfmon(&h));
	assert_false(host_has_cap(&h, HOST_CAP_SYS_RESOURCE));
	assert_false(h.user_namespace);
	assert_int_equal(h.paranoid, 2);
	assert_int_equal(h.mlock_kb, 516);
	assert_int_equal(h.perf_user_access, HOST_UNKNOWN);
	assert_string_equal(h.lockdown, "");
	assert_string_equal(h.lsm, "");
	assert_int_equal(h.nofile_soft, 20000);
	assert_int_equal(h.memlock, 8388608);
}

static void a_container(void **state)
{
	struct host_facts h = probe("container");

	assert_string_equal(h.container, "docker");
	assert_string_equal(h.hypervisor, "");
	assert_int_equal(h.seccomp, 2);
	assert_false(host_is_perfmon(&h));
	assert_int_equal(h.paranoid, 3);
	assert_string_equal(h.lockdown, "none");
	assert_string_equal(h.lsm, "lockdown,capability,landlock,yama,apparmor");
}

static void a_desktop(void **state)
{
	struct host_facts h = probe("desktop");

	assert_string_equal(h.container, "");
	assert_string_equal(h.hypervisor, "");
	assert_int_equal(h.euid, 1000);
	assert_int_equal(h.caps_effective, 0);
	assert_string_equal(h.lockdown, "integrity");
	assert_int_equal(h.nmi_watchdog, 1);
	assert_int_equal(h.nofile_soft, 1024);
	assert_int_equal(h.nofile_hard, 524288);
}

/* Root in a user namespace: CapEff is full, but capabilities that the initial namespace checks do not count. */
static void a_rootless_container(void **state)
{
	struct host_facts h = probe("paranoid4");

	assert_string_equal(h.container, "podman");
	assert_string_equal(h.hypervisor, "vmware");
	assert_true(h.user_namespace);
	assert_false(host_is_perfmon(&h));
	assert_false(host_has_cap(&h, HOST_CAP_BPF));
	assert_true(host_has_cap(&h, HOST_CAP_SYS_PTRACE));
	assert_int_equal(h.paranoid, 4);
	assert_int_equal(h.max_stack, HOST_UNKNOWN);
	assert_string_equal(h.lockdown, "confidentiality");
	assert_int_equal(h.version_major, 5);
	assert_int_equal(h.version_minor, 10);
}

/* With empty roots, system calls are the fallback, and facts that only files have are unknown. */
static void no_files_at_all(void **state)
{
	struct host_facts h = probe("nowhere");

	assert_true(h.release[0] != '\0');
	assert_true(h.nofile_soft > 0);
	assert_int_equal(h.euid, geteuid());
	assert_int_equal(h.paranoid, HOST_UNKNOWN);
	assert_int_equal(h.caps_effective, 0);
	assert_string_equal(h.container, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_virtual_machine),	cmocka_unit_test(a_container),
		cmocka_unit_test(a_desktop),		cmocka_unit_test(a_rootless_container),
		cmocka_unit_test(no_files_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
