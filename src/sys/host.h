/*
 * Facts about the kernel, the user and the container that decide what may be counted. Every call of
 * host_probe() reads them again, from files below the roots of `sys`; no perf event is opened.
 */
#ifndef SYS_HOST_H
#define SYS_HOST_H

#include "sys/sys.h"

/* The numbers of the capabilities that perf_events, BPF and symbols depend on. */
enum { HOST_CAP_SYS_PTRACE = 19, HOST_CAP_SYS_ADMIN = 21, HOST_CAP_IPC_LOCK = 14,
       HOST_CAP_SYS_RESOURCE = 24, HOST_CAP_SYSLOG = 34, HOST_CAP_DAC_READ_SEARCH = 2,
       HOST_CAP_PERFMON = 38, HOST_CAP_BPF = 39 };

#define HOST_UNKNOWN (-1000)

struct host_facts {
	char release[128];		/* uname -r */
	int version_major, version_minor;
	uint64_t caps_effective;	/* one bit per capability; in a user namespace, without those
					 * that the kernel checks in the initial namespace */
	bool user_namespace;		/* not the initial namespace, as in rootless containers */
	uint32_t euid;
	int paranoid;			/* this and the following: HOST_UNKNOWN if the file is missing */
	int kptr_restrict, mlock_kb, max_sample_rate, max_stack, cpu_time_max_percent;
	int nmi_watchdog, perf_user_access, unprivileged_bpf_disabled;
	char lockdown[32];		/* "none", "integrity", "confidentiality", "" unknown */
	char lsm[128];			/* "lockdown,capability,apparmor", "" unknown */
	int seccomp;			/* 0 off, 1 strict, 2 filter */
	char container[32];		/* "docker", "podman", "lxc", "kubernetes" ... or "" */
	char hypervisor[32];		/* "kvm", "vmware", "xen", "hyperv" ... or "" */
	uint64_t nofile_soft, nofile_hard;
	uint64_t memlock;
};

int host_probe(const struct sys *sys, struct host_facts *out);	/* 0, or a negative errno of uname */

static inline bool host_has_cap(const struct host_facts *h, int cap)
{
	return h->caps_effective >> cap & 1;
}

/* Has CAP_PERFMON, or CAP_SYS_ADMIN, which includes it. */
bool host_is_perfmon(const struct host_facts *h);

#endif
