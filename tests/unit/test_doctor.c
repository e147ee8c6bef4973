/* doctor/: findings and fixes, for machines made of fixtures and a fake kernel. */
#include "event/event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>

#include <tacho/doctor.h>

/* The rules by which the fake kernel refuses events. Its file descriptors are memfds, so that a
 * ring buffer can be mapped. */
struct rules {
	int paranoid;
	bool perfmon, hardware;
	int refuses_all;	/* a negative errno, as of a seccomp filter */
	unsigned n_open;
};

static int rule_of(const struct rules *k, const struct perf_event_attr *attr, pid_t pid)
{
	if (k->refuses_all)
		return k->refuses_all;
	if (!k->perfmon && (k->paranoid > 2 || (k->paranoid > 0 && pid == -1) ||
			    (k->paranoid > 1 && !(attr->flags & PERF_ATTR_EXCLUDE_KERNEL))))
		return -EACCES;
	return attr->type == PERF_TYPE_HARDWARE && !k->hardware ? -ENOENT : 0;
}

static int rules_open(void *arg, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		      unsigned long flags)
{
	struct rules *k = arg;
	int err = rule_of(k, attr, pid), fd;

	if (err < 0)
		return err;
	if (attr->size < PERF_ATTR_SIZE_VER0) {
		attr->size = PERF_ATTR_SIZE_VER7;
		return -E2BIG;
	}
	fd = memfd_create("event", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	k->n_open++;
	return fd;
}

static int rules_close(void *arg, int fd)
{
	((struct rules *)arg)->n_open--;
	return close(fd);
}

static const struct sys_ops rules_ops = { .open = rules_open, .close = rules_close };

/* An expected finding. */
struct wanted {
	const char *machine, *id;
	enum tacho_verdict verdict;
	const char *value;	/* NULL: any */
	const char *meaning;	/* a part of it; NULL: any */
	const char *fix;	/* all of it, NULL: none */
};

struct seen {
	const struct wanted *want;
	unsigned n_hits, n_all;
};

static int look(void *arg, const struct tacho_finding *f)
{
	struct seen *s = arg;

	s->n_all++;
	assert_int_equal(f->size, sizeof(*f));
	assert_true(f->meaning && f->meaning[0] && f->meaning[strlen(f->meaning) - 1] != '.');
	if (!s->want || strcmp(f->id, s->want->id) != 0)
		return 0;
	s->n_hits++;
	assert_int_equal(f->verdict, s->want->verdict);
	if (s->want->value)
		assert_string_equal(f->value, s->want->value);
	if (s->want->meaning)
		assert_non_null(strstr(f->meaning, s->want->meaning));
	if (s->want->fix)
		assert_string_equal(f->fix, s->want->fix);
	else
		assert_null(f->fix);
	return 0;
}

static struct rules rules_of(const char *machine)
{
	if (strcmp(machine, "vm") == 0)
		return (struct rules){ .paranoid = 2, .perfmon = true };
	if (strcmp(machine, "desktop") == 0)
		return (struct rules){ .paranoid = 1, .hardware = true };
	if (strcmp(machine, "container") == 0)
		return (struct rules){ .paranoid = 3, .refuses_all = -EPERM };
	return (struct rules){ .paranoid = 4 };		/* also where CAP_PERFMON is held: as patched */
}

static struct tacho_diagnosis examine(const char *machine, struct rules *k, struct seen *s)
{
	struct tacho_diagnosis d = { .size = sizeof(d) };
	char sysfs[512], procfs[512];
	struct tacho *t;

	snprintf(sysfs, sizeof(sysfs), "%s/host/%s/sys", TEST_DATA, machine);
	snprintf(procfs, sizeof(procfs), "%s/host/%s/proc", TEST_DATA, machine);
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = sysfs, .procfs = procfs), NULL), 0);
	t->sys.ops = &rules_ops;
	t->sys.ops_arg = k;
	assert_int_equal(tacho_doctor(t, look, s, &d, NULL), 0);
	tacho_close(t);
	assert_int_equal(k->n_open, 0);
	return d;
}

#define SETCAP "setcap cap_perfmon,cap_bpf,cap_syslog,cap_sys_ptrace,cap_ipc_lock,cap_dac_read_search+ep " \
	       "\"$(command -v tacho)\""
#define ADD_CAPS "--cap-add PERFMON --cap-add BPF --cap-add SYSLOG --cap-add SYS_PTRACE --cap-add IPC_LOCK " \
		 "--cap-add DAC_READ_SEARCH"
#define VPMU "qemu-system-$(uname -m) -cpu host,pmu=on ...  # on the host; libvirt: <features><pmu " \
	     "state='on'/></features>"

static const struct wanted wanted[] = {
	{ "vm", "kernel", TACHO_OK, "6.18.44", "new enough", NULL },
	{ "vm", "attr-size", TACHO_OK, "128 bytes", "not yet config3", NULL },
	{ "vm", "features", TACHO_INFO, NULL, "not in this kernel: config4 (6.19), config3 (6.3)", NULL },
	{ "vm", "hypervisor", TACHO_INFO, "kvm", NULL, NULL },
	{ "vm", "pmu-core", TACHO_NO, "none", "VM without a vPMU", VPMU },
	{ "vm", "pmu-uncore", TACHO_INFO, "none", NULL, NULL },
	{ "vm", "pmu-energy", TACHO_INFO, "power", NULL, NULL },
	{ "vm", "pmu-software", TACHO_OK, "breakpoint, software, tracepoint, uprobe", NULL, NULL },
	{ "vm", "pmu-other", TACHO_INFO, "msr", NULL, NULL },
	{ "vm", "live-hardware", TACHO_NO, "not supported", NULL, VPMU },
	{ "vm", "live-sample-system", TACHO_OK, "works", NULL, NULL },
	{ "vm", "paranoid", TACHO_OK, "2", "CAP_PERFMON", NULL },
	{ "vm", "kprobes", TACHO_NO, "none", NULL, NULL },
	{ "vm", "tracefs", TACHO_NO, "not mounted", NULL, "mount -t tracefs nodev " TEST_DATA
	  "/host/vm/sys/kernel/tracing" },
	{ "vm", "btf", TACHO_INFO, "available", "structures", NULL },
	{ "vm", "config-perf-events", TACHO_OK, "y", NULL, NULL },
	{ "vm", "config-kprobes", TACHO_LIMITED, "not set", NULL, NULL },
	{ "vm", "config-uprobes", TACHO_OK, "m", NULL, NULL },
	{ "vm", "config-unwinder", TACHO_LIMITED, "neither", NULL, NULL },

	{ "desktop", "lockdown", TACHO_OK, "integrity", NULL, NULL },
	{ "desktop", "lsm", TACHO_INFO, NULL, NULL, NULL },
	{ "desktop", "pmu-core", TACHO_OK, "cpu_atom, cpu_core", NULL, NULL },
	{ "desktop", "pmu-uncore", TACHO_LIMITED, "uncore_imc_0, uncore_imc_1", "whole sockets",
	  "sysctl -w kernel.perf_event_paranoid=0" },
	{ "desktop", "pmu-trace", TACHO_OK, "intel_pt", NULL, NULL },
	{ "desktop", "nmi-watchdog", TACHO_LIMITED, "on", "one hardware counter",
	  "sysctl -w kernel.nmi_watchdog=0" },
	{ "desktop", "rdpmc", TACHO_OK, "1", NULL, NULL },
	{ "desktop", "paranoid", TACHO_LIMITED, "1", "no -a", "sysctl -w kernel.perf_event_paranoid=0" },
	{ "desktop", "cap-perfmon", TACHO_LIMITED, "not held", NULL, SETCAP },
	{ "desktop", "cap-syslog", TACHO_LIMITED, "not held", NULL, SETCAP },
	{ "desktop", "kptr-restrict", TACHO_LIMITED, "1", NULL, "sysctl -w kernel.kptr_restrict=0" },
	{ "desktop", "mlock-kb", TACHO_OK, "516 KiB per CPU", "each of 4 CPUs", NULL },
	{ "desktop", "nofile", TACHO_OK, "1024, up to 524288", NULL, NULL },
	{ "desktop", "kprobes", TACHO_LIMITED, "not permitted", NULL, SETCAP },
	{ "desktop", "config-kprobes", TACHO_OK, "y", NULL, NULL },
	{ "desktop", "config-unwinder", TACHO_OK, "ORC", NULL, NULL },
	{ "desktop", "live-hardware", TACHO_OK, "works", NULL, NULL },
	{ "desktop", "live-kernel", TACHO_OK, "works", NULL, NULL },
	{ "desktop", "live-tracepoint", TACHO_OK, "works", NULL, NULL },
	{ "desktop", "live-count-system", TACHO_NO, "not permitted", NULL,
	  "sysctl -w kernel.perf_event_paranoid=0" },

	{ "container", "container", TACHO_INFO, "docker", NULL, NULL },
	{ "container", "seccomp", TACHO_NO, "filter", NULL,
	  "docker run " ADD_CAPS " --security-opt seccomp=unconfined IMAGE" },
	{ "container", "paranoid", TACHO_NO, "3", "Debian", "sysctl -w kernel.perf_event_paranoid=2"
	  "  # on the host" },
	{ "container", "cap-sys-ptrace", TACHO_LIMITED, "not held", NULL,
	  "docker run " ADD_CAPS " --security-opt seccomp=unconfined IMAGE" },
	{ "container", "cap-sys-admin", TACHO_INFO, "not held", NULL, NULL },
	{ "container", "tracefs", TACHO_NO, "not mounted", NULL,
	  "docker run -v " TEST_DATA "/host/container/sys/kernel/tracing:" TEST_DATA
	  "/host/container/sys/kernel/tracing IMAGE" },
	{ "container", "config", TACHO_INFO, "not found", "/boot/config-6.1.0-28-amd64",
	  "modprobe configs" },
	{ "container", "live-count-self", TACHO_NO, "not permitted", NULL,
	  "docker run " ADD_CAPS " --security-opt seccomp=unconfined IMAGE" },

	{ "debian3", "cap-perfmon", TACHO_OK, "held", NULL, NULL },
	{ "debian3", "paranoid", TACHO_NO, "3", "Debian", "sysctl -w kernel.perf_event_paranoid=2" },
	{ "debian3", "live-count-self", TACHO_NO, "not permitted", NULL,
	  "sysctl -w kernel.perf_event_paranoid=2" },
	{ "debian3", "pmu-core", TACHO_NO, "none", "no driver", NULL },

	{ "paranoid4", "kernel", TACHO_OK, "5.10.0-33-amd64", "older than 6.0", NULL },
	{ "paranoid4", "container", TACHO_INFO, "podman, user namespace", NULL, NULL },
	{ "paranoid4", "lockdown", TACHO_LIMITED, "confidentiality", "no kprobes",
	  "lockdown=integrity  # on the kernel's command line; then reboot" },
	{ "paranoid4", "pmu-core", TACHO_NO, "none", "VM without a vPMU",
	  "vpmc.enable = \"TRUE\"  # in the machine's .vmx file, while it is off" },
	{ "paranoid4", "paranoid", TACHO_NO, "4", "Debian", "sysctl -w kernel.perf_event_paranoid=2"
	  "  # on the host" },
	{ "paranoid4", "cap-perfmon", TACHO_LIMITED, "not held", NULL,
	  "sudo podman run " ADD_CAPS " IMAGE" },
	{ "paranoid4", "cap-sys-ptrace", TACHO_OK, "held", NULL, NULL },
	{ "paranoid4", "kptr-restrict", TACHO_LIMITED, "2", NULL,
	  "sysctl -w kernel.kptr_restrict=0 kernel.perf_event_paranoid=1  # on the host" },
	{ "paranoid4", "memlock", TACHO_LIMITED, "64 KiB", "small amount",
	  "prlimit --pid $$ --memlock=unlimited:unlimited" },
	{ "paranoid4", "max-sample-rate", TACHO_LIMITED, "2000 Hz", NULL,
	  "sysctl -w kernel.perf_event_max_sample_rate=100000  # on the host" },
	{ "paranoid4", "max-stack", TACHO_INFO, "127, fixed", NULL, NULL },
	{ "paranoid4", "btf", TACHO_INFO, "none", NULL, NULL },
	{ "paranoid4", "live-sample-self", TACHO_NO, "not permitted", NULL,
	  "sudo podman run " ADD_CAPS " IMAGE" },
};

static void findings(void **state)
{
	for (size_t i = 0; i < countof(wanted); i++) {
		struct rules k = rules_of(wanted[i].machine);
		struct seen s = { .want = &wanted[i] };

		print_message("%s: %s\n", wanted[i].machine, wanted[i].id);
		examine(wanted[i].machine, &k, &s);
		assert_int_equal(s.n_hits, 1);
		assert_true(s.n_all > 30);
	}
}

static void diagnoses(void **state)
{
	static const struct { const char *machine; bool works; } cases[] = {
		{ "vm", true }, { "desktop", true }, { "container", false }, { "paranoid4", false },
		{ "nowhere", false },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct rules k = rules_of(cases[i].machine);
		struct seen s = { 0 };
		struct tacho_diagnosis d = examine(cases[i].machine, &k, &s);

		assert_int_equal(d.counting, cases[i].works);
		assert_int_equal(d.sampling, cases[i].works);
	}
}

static void no_system_call(void **state)
{
	static const struct wanted want = { "vm", "attr-size", TACHO_NO, NULL, "CONFIG_PERF_EVENTS", NULL };
	struct rules k = { .refuses_all = -ENOSYS };
	struct seen s = { .want = &want };

	examine("vm", &k, &s);
	assert_int_equal(s.n_hits, 1);
}

/* Level 4 on a kernel without levels above 2: the result of the trial decides. */
static void unpatched_level(void **state)
{
	static const struct wanted want = { "paranoid4", "paranoid", TACHO_LIMITED, "4",
					    "own processes in user space", "sysctl -w "
					    "kernel.perf_event_paranoid=1  # on the host" };
	struct rules k = { .paranoid = 2 };
	struct seen s = { .want = &want };

	examine("paranoid4", &k, &s);
	assert_int_equal(s.n_hits, 1);
}

static int stop_at_third(void *arg, const struct tacho_finding *f)
{
	return ++*(int *)arg == 3 ? 42 : 0;
}

/* A non-zero return of the callback ends the checks, and the diagnosis is not written. */
static void stopped(void **state)
{
	struct tacho_diagnosis d = { .size = sizeof(d), .counting = true };
	struct tacho *t;
	int n = 0;

	assert_int_equal(tacho_open(&t, NULL, NULL), 0);
	assert_int_equal(tacho_doctor(t, stop_at_third, &n, &d, NULL), 42);
	assert_int_equal(n, 3);
	assert_true(d.counting && !d.sampling);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings), cmocka_unit_test(diagnoses), cmocka_unit_test(no_system_call),
		cmocka_unit_test(unpatched_level), cmocka_unit_test(stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
