/*
 * The command that fixes a finding in the environment where tacho runs. For a container, settings must be
 * changed on the host, and capabilities given when the container is started. On the host itself, file
 * capabilities on the binary are the smallest change. Inside a user namespace neither has an effect.
 */
#include "doctor/check.h"

#include <errno.h>
#include <stdio.h>

/* What tacho can use, see permission_checks. */
static const struct { int number; const char *lower, *upper; } caps[] = {
	{ HOST_CAP_PERFMON, "perfmon", "PERFMON" },
	{ HOST_CAP_BPF, "bpf", "BPF" },
	{ HOST_CAP_SYSLOG, "syslog", "SYSLOG" },
	{ HOST_CAP_SYS_PTRACE, "sys_ptrace", "SYS_PTRACE" },
	{ HOST_CAP_IPC_LOCK, "ipc_lock", "IPC_LOCK" },
	{ HOST_CAP_DAC_READ_SEARCH, "dac_read_search", "DAC_READ_SEARCH" },
};

struct cap_list {
	char text[300];
};

struct cap_style {
	bool upper;
	const char *before, *after, *between;
};

/* Lists all capabilities, even those that are held: setcap replaces the whole set of a file, and a container is
 * started by one command. Before Linux 5.8, CAP_SYS_ADMIN is needed instead of CAP_PERFMON and CAP_BPF. */
static struct cap_list list_caps(const struct host_facts *h, struct cap_style style)
{
	bool has_perfmon = h->version_major > 5 || (h->version_major == 5 && h->version_minor >= 8);
	struct cap_list list = { "" };
	size_t n = 0;

	for (size_t i = 0; i < countof(caps) && n < sizeof(list.text); i++) {
		const char *name = style.upper ? caps[i].upper : caps[i].lower;

		if (caps[i].number == HOST_CAP_BPF && !has_perfmon)
			continue;
		if (caps[i].number == HOST_CAP_PERFMON && !has_perfmon)
			name = style.upper ? "SYS_ADMIN" : "sys_admin";
		n += (size_t)snprintf(list.text + n, sizeof(list.text) - n, "%s%s%s%s", i ? style.between : "",
				      style.before, name, style.after);
	}
	return list;
}

/* Where a command must be run, as a shell comment. */
static const char *place_comment(const struct host_facts *h)
{
	return h->container[0] ? "  # on the host" :
	       h->user_namespace ? "  # as root outside this user namespace" : "";
}

void fix_sysctl(const struct doctor *d, struct finding *f, const char *setting)
{
	finding_fix(f, "sysctl -w %s%s", setting, place_comment(&d->host));
}

void fix_sysfs(const struct doctor *d, struct finding *f, const char *value, const char *path)
{
	finding_fix(f, "echo %s > %.128s%s", value, path, place_comment(&d->host));
}

static const char *container_engine(const struct host_facts *h)
{
	return strcmp(h->container, "podman") == 0 ? "podman" : "docker";
}

/* The command or setting that starts the container with all capabilities, and with perf_event_open if a seccomp
 * filter refuses it. sudo, because rootless engines cannot give capabilities that must be held in the initial
 * user namespace. */
static void fix_container(const struct doctor *d, struct finding *f)
{
	const struct host_facts *h = &d->host;
	bool filtered = h->seccomp == 2 && (d->self_error == -EPERM || d->self_error == -ENOSYS);

	if (strcmp(h->container, "kubernetes") == 0)
		finding_fix(f, "securityContext: { %scapabilities: { add: [%s] } }  # in the pod's container",
			    filtered ? "seccompProfile: { type: Unconfined }, " : "",
			    list_caps(h, (struct cap_style){ true, "\"", "\"", ", " }).text);
	else if (strcmp(h->container, "lxc") == 0)
		finding_fix(f, "lxc.cap.drop =  # in the container's configuration: drops no capability");
	else if (strcmp(h->container, "systemd-nspawn") == 0)
		finding_fix(f, "systemd-nspawn --capability=%s%s ...",
			    list_caps(h, (struct cap_style){ true, "CAP_", "", "," }).text,
			    filtered ? " --system-call-filter=perf_event_open" : "");
	else
		finding_fix(f, "%s%s run %s%s IMAGE", h->user_namespace ? "sudo " : "", container_engine(h),
			    list_caps(h, (struct cap_style){ true, "--cap-add ", "", " " }).text,
			    filtered ? " --security-opt seccomp=unconfined" : "");
}

/* File capabilities are ineffective in a user namespace; check_container() says how to leave it. */
void fix_capability(const struct doctor *d, struct finding *f)
{
	if (d->host.container[0])
		fix_container(d, f);
	else if (!d->host.user_namespace)
		finding_fix(f, "setcap %s+ep \"$(command -v tacho)\"",
			    list_caps(&d->host, (struct cap_style){ false, "cap_", "", "," }).text);
}

static void fix_permission(const struct doctor *d, struct finding *f, int paranoid)
{
	const struct host_facts *h = &d->host;
	char setting[64];

	if (h->container[0]) {
		fix_container(d, f);
	} else if (h->paranoid != HOST_UNKNOWN && h->paranoid > paranoid &&
		   (h->paranoid > 2 || !host_is_perfmon(h))) {
		snprintf(setting, sizeof(setting), "kernel.perf_event_paranoid=%d", paranoid);
		fix_sysctl(d, f, setting);
	} else if (!host_is_perfmon(h)) {
		fix_capability(d, f);
	}
}

void fix_open(const struct doctor *d, struct finding *f, int err, int paranoid)
{
	if (err == -EACCES || err == -EPERM || (err == -ENOSYS && d->host.seccomp == 2))
		fix_permission(d, f, paranoid);
	else if (err == -EMFILE || err == -ENFILE)
		finding_fix(f, "prlimit --pid $$ --nofile=1048576:1048576");
}

void fix_mount(const struct doctor *d, struct finding *f, const char *type, const char *at)
{
	const struct host_facts *h = &d->host;

	if (strcmp(h->container, "kubernetes") == 0)
		finding_fix(f, "hostPath: { path: %s }  # a volume of the pod, mounted at the same path", at);
	else if (strcmp(h->container, "lxc") == 0)
		finding_fix(f, "lxc.mount.entry = %s %s none bind,create=dir  # in the container's configuration",
			    at, at + 1);
	else if (strcmp(h->container, "systemd-nspawn") == 0)
		finding_fix(f, "systemd-nspawn --bind=%s ...", at);
	else if (h->container[0])
		finding_fix(f, "%s%s run -v %s:%s IMAGE", h->user_namespace ? "sudo " : "", container_engine(h), at,
			    at);
	else if (!h->user_namespace)
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
