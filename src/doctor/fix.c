/*
 * The command that fixes a finding in the environment where tacho runs. For a container, settings must be
 * changed on the host, and capabilities given when the container is started. On the host itself, a
 * file capability on the binary is the smallest change.
 */
#include "doctor/check.h"

#include <errno.h>
#include <stdio.h>

static const struct { int number; const char *name, *docker; } caps[] = {
	{ HOST_CAP_PERFMON, "cap_perfmon", "PERFMON" },
	{ HOST_CAP_BPF, "cap_bpf", "BPF" },
	{ HOST_CAP_SYSLOG, "cap_syslog", "SYSLOG" },
	{ HOST_CAP_SYS_PTRACE, "cap_sys_ptrace", "SYS_PTRACE" },
	{ HOST_CAP_IPC_LOCK, "cap_ipc_lock", "IPC_LOCK" },
	{ HOST_CAP_DAC_READ_SEARCH, "cap_dac_read_search", "DAC_READ_SEARCH" },
	{ HOST_CAP_SYS_ADMIN, "cap_sys_admin", "SYS_ADMIN" },
};

static bool is_perfmon_kernel(const struct host_facts *h)
{
	/* CAP_PERFMON and CAP_BPF came with Linux 5.8. */
	return h->version_major > 5 || (h->version_major == 5 && h->version_minor >= 8);
}

/* Whether this kernel has the capability. */
static bool has_capability_name(const struct host_facts *h, int cap)
{
	return is_perfmon_kernel(h) || (cap != HOST_CAP_PERFMON && cap != HOST_CAP_BPF);
}

void fix_sysctl(const struct doctor *d, struct finding *f, const char *setting)
{
	finding_fix(f, "sysctl -w %s%s", setting, d->host.container[0] ? "  # on the host" : "");
}

static const char *container_engine(const struct host_facts *h)
{
	return strcmp(h->container, "podman") == 0 ? "podman" : "docker";
}

/* sudo, because rootless engines cannot give capabilities that must be held in the initial user namespace. */
static void fix_container_capability(const struct host_facts *h, struct finding *f, const char *name)
{
	if (strcmp(h->container, "kubernetes") == 0)
		finding_fix(f, "securityContext: { capabilities: { add: [\"%s\"] } }  # in the pod's container",
			    name);
	else if (strcmp(h->container, "lxc") == 0)
		finding_fix(f, "lxc.cap.keep = %s  # in the container's configuration", name);
	else
		finding_fix(f, "%s%s run --cap-add %s IMAGE", h->user_namespace ? "sudo " : "",
			    container_engine(h), name);
}

static const char *docker_name(const struct host_facts *h, int cap)
{
	for (size_t i = 0; has_capability_name(h, cap) && i < countof(caps); i++)
		if (caps[i].number == cap)
			return caps[i].docker;
	return "SYS_ADMIN";
}

void fix_capability(struct doctor *d, struct finding *f, int cap)
{
	const struct host_facts *h = &d->host;
	char list[160] = "";
	size_t n = 0;

	if (h->container[0]) {
		fix_container_capability(h, f, docker_name(h, cap));
		return;
	}
	if (!has_capability_name(h, cap))
		cap = HOST_CAP_SYS_ADMIN;
	d->caps_in_fixes |= 1ULL << cap;
	for (size_t i = 0; i < countof(caps); i++)
		if (d->caps_in_fixes >> caps[i].number & 1)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? "," : "",
					      caps[i].name);
	finding_fix(f, "setcap %s+ep \"$(command -v tacho)\"", list);
}

static void fix_permission(struct doctor *d, struct finding *f, int paranoid)
{
	const struct host_facts *h = &d->host;
	char setting[64];

	if (h->seccomp == 2 && h->container[0] && strcmp(h->container, "kubernetes") == 0) {
		finding_fix(f, "securityContext: { seccompProfile: { type: Unconfined }, capabilities: "
			       "{ add: [\"PERFMON\"] } }  # in the pod's container");
	} else if (h->container[0]) {
		finding_fix(f, "%s%s run --cap-add %s%s IMAGE", h->user_namespace ? "sudo " : "",
			    container_engine(h), is_perfmon_kernel(h) ? "PERFMON" : "SYS_ADMIN",
			    h->seccomp == 2 ? " --security-opt seccomp=unconfined" : "");
	} else if (h->paranoid != HOST_UNKNOWN && h->paranoid > paranoid &&
		   (h->paranoid > 2 || !host_is_perfmon(h))) {
		snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid=%d", paranoid);
		fix_sysctl(d, f, setting);
	} else if (!host_is_perfmon(h)) {
		fix_capability(d, f, HOST_CAP_PERFMON);
	}
}

void fix_open(struct doctor *d, struct finding *f, int err, int paranoid)
{
	if (err == -EACCES || err == -EPERM || (err == -ENOSYS && d->host.seccomp == 2))
		fix_permission(d, f, paranoid);
	else if (err == -EMFILE || err == -ENFILE)
		finding_fix(f, "prlimit --pid $$ --nofile=1048576:1048576");
}

void fix_mount(const struct doctor *d, struct finding *f, const char *type, const char *at)
{
	if (d->host.container[0])
		finding_fix(f, "%s%s run -v %s:%s IMAGE", d->host.user_namespace ? "sudo " : "",
			    container_engine(&d->host), at, at);
	else
		finding_fix(f, "mount -t %s nodev %s", type, at);
}

/* A virtual PMU must be enabled in the hypervisor. */
static const struct { const char *hypervisor, *fix; } vpmu[] = {
	{ "kvm", "qemu-system-$(uname -m) -cpu host,pmu=on ...  # on the host; libvirt: <features><pmu "
		 "state='on'/></features>" },
	{ "vmware", "vpmc.enable = \"TRUE\"  # in the machine's .vmx file, while it is off" },
	{ "hyperv", "Set-VMProcessor NAME -Perfmon @(\"pmu\")  # on the host, in PowerShell" },
	{ "xen", "vpmu=on  # on the command line of the Xen hypervisor" },
};

void fix_vpmu(const struct doctor *d, struct finding *f)
{
	for (size_t i = 0; i < countof(vpmu); i++)
		if (strcmp(d->host.hypervisor, vpmu[i].hypervisor) == 0)
			finding_fix(f, "%s", vpmu[i].fix);
}
