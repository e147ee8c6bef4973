/*
 * The command that mends a finding, for the place where tacho runs. Inside a container settings
 * belong to the host and capabilities to whoever starts the container; on the host itself a file
 * capability on the binary is the smallest step.
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

static bool is_named(const struct host_facts *h, int cap)
{
	return is_perfmon_kernel(h) || (cap != HOST_CAP_PERFMON && cap != HOST_CAP_BPF);
}

void remedy_sysctl(const struct patient *p, struct finding *f, const char *setting)
{
	finding_fix(f, "sysctl -w %s%s", setting, p->host.container[0] ? "  # on the host" : "");
}

static const char *engine(const struct host_facts *h)
{
	return strcmp(h->container, "podman") == 0 ? "podman" : "docker";
}

/* Rootless engines cannot give what only the initial user namespace decides. */
static void container_capability(const struct host_facts *h, struct finding *f, const char *name)
{
	if (strcmp(h->container, "kubernetes") == 0)
		finding_fix(f, "securityContext: { capabilities: { add: [\"%s\"] } }  # in the pod's container",
			    name);
	else if (strcmp(h->container, "lxc") == 0)
		finding_fix(f, "lxc.cap.keep = %s  # in the container's configuration", name);
	else
		finding_fix(f, "%s%s run --cap-add %s IMAGE", h->user_namespace ? "sudo " : "",
			    engine(h), name);
}

static const char *docker_name(const struct host_facts *h, int cap)
{
	for (size_t i = 0; is_named(h, cap) && i < countof(caps); i++)
		if (caps[i].number == cap)
			return caps[i].docker;
	return "SYS_ADMIN";
}

void remedy_capability(struct patient *p, struct finding *f, int cap)
{
	const struct host_facts *h = &p->host;
	char list[160] = "";
	size_t n = 0;

	if (h->container[0]) {
		container_capability(h, f, docker_name(h, cap));
		return;
	}
	if (!is_named(h, cap))
		cap = HOST_CAP_SYS_ADMIN;
	p->caps_asked |= 1ULL << cap;
	for (size_t i = 0; i < countof(caps); i++)
		if (p->caps_asked >> caps[i].number & 1)
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? "," : "",
					      caps[i].name);
	finding_fix(f, "setcap %s+ep \"$(command -v tacho)\"", list);
}

static void remedy_refused(struct patient *p, struct finding *f, int paranoid)
{
	const struct host_facts *h = &p->host;
	char setting[64];

	if (h->seccomp == 2 && h->container[0] && strcmp(h->container, "kubernetes") == 0) {
		finding_fix(f, "securityContext: { seccompProfile: { type: Unconfined }, capabilities: "
			       "{ add: [\"PERFMON\"] } }  # in the pod's container");
	} else if (h->container[0]) {
		finding_fix(f, "%s%s run --cap-add %s%s IMAGE", h->user_namespace ? "sudo " : "",
			    engine(h), is_perfmon_kernel(h) ? "PERFMON" : "SYS_ADMIN",
			    h->seccomp == 2 ? " --security-opt seccomp=unconfined" : "");
	} else if (h->paranoid != HOST_UNKNOWN && h->paranoid > paranoid &&
		   (h->paranoid > 2 || !host_is_perfmon(h))) {
		snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid=%d", paranoid);
		remedy_sysctl(p, f, setting);
	} else if (!host_is_perfmon(h)) {
		remedy_capability(p, f, HOST_CAP_PERFMON);
	}
}

void remedy_open(struct patient *p, struct finding *f, int err, int paranoid)
{
	if (err == -EACCES || err == -EPERM || (err == -ENOSYS && p->host.seccomp == 2))
		remedy_refused(p, f, paranoid);
	else if (err == -EMFILE || err == -ENFILE)
		finding_fix(f, "prlimit --pid $$ --nofile=1048576:1048576");
}

void remedy_mount(const struct patient *p, struct finding *f, const char *type, const char *at)
{
	if (p->host.container[0])
		finding_fix(f, "%s%s run -v %s:%s IMAGE", p->host.user_namespace ? "sudo " : "",
			    engine(&p->host), at, at);
	else
		finding_fix(f, "mount -t %s nodev %s", type, at);
}

/* Only the hypervisor's side can hand a PMU to its guest. */
static const struct { const char *hypervisor, *fix; } vpmu[] = {
	{ "kvm", "qemu-system-$(uname -m) -cpu host,pmu=on ...  # on the host; libvirt: <features><pmu "
		 "state='on'/></features>" },
	{ "vmware", "vpmc.enable = \"TRUE\"  # in the machine's .vmx file, while it is off" },
	{ "hyperv", "Set-VMProcessor NAME -Perfmon @(\"pmu\")  # on the host, in PowerShell" },
	{ "xen", "vpmu=on  # on the command line of the Xen hypervisor" },
};

void remedy_vpmu(const struct patient *p, struct finding *f)
{
	for (size_t i = 0; i < countof(vpmu); i++)
		if (strcmp(p->host.hypervisor, vpmu[i].hypervisor) == 0)
			finding_fix(f, "%s", vpmu[i].fix);
}
