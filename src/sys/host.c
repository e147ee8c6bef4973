/*
 * Determines what the kernel allows this process to do, mainly from small files below the roots of struct
 * sys. Facts that exist as a file are read from it, even where uname() or getrlimit() would give them, so
 * that a directory of fixtures can describe a whole machine; the calls are the fallback.
 *
 * Two things are surprising. Root in a user namespace has every capability in CapEff,
 * but perf_events, BPF and kallsyms check the initial namespace, where these do not count.
 * And /.dockerenv still exists in images that were turned into virtual machines, so it is
 * trusted only if the root file system looks like a container's, too.
 */
#include "sys/host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/io.h"
#include "base/num.h"

#define MOUNTINFO_MAX (4u << 20)

/* The rest of the first line that starts with `key`, trimmed. */
static struct str line_value(struct str text, const char *key)
{
	struct str line;

	while (str_cut(&text, '\n', &line))
		if (str_starts(line, key))
			return str_trim(str_n(line.s + strlen(key), line.n - strlen(key)));
	return (struct str){ 0 };
}

/* Splits the next word off `rest`; empty at the end. */
static struct str next_word(struct str *rest)
{
	struct str word;

	*rest = str_trim(*rest);
	word = *rest;
	if (!word.n)
		return word;
	for (size_t i = 0; i < rest->n; i++)
		if (rest->s[i] == ' ' || rest->s[i] == '\t') {
			word.n = i;
			break;
		}
	rest->s += word.n;
	rest->n -= word.n;
	return word;
}

static bool contains(struct str text, const char *needle)
{
	return text.s && memmem(text.s, text.n, needle, strlen(needle));
}

static void set_text(char *out, size_t size, struct str text)
{
	snprintf(out, size, "%.*s", (int)min_of(text.n, size - 1), text.n ? text.s : "");
}

static bool exists_below(const char *root, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", root, name);

	return n > 0 && n < (int)sizeof(path) && io_is_accessible(path, F_OK);
}

/* The release */

/* "6.18.44-cloud": both numbers stay 0 if the release has another form. */
static void parse_version(struct host_facts *h)
{
	struct str rest = str_of(h->release), major, minor;
	int first, second;

	str_cut(&rest, '.', &major);
	minor = rest;
	minor.n = rest.s ? strspn(rest.s, "0123456789") : 0;
	if (num_int(major, &first) == 0 && num_int(minor, &second) == 0) {
		h->version_major = first;
		h->version_minor = second;
	}
}

static int probe_release(const struct sys *sys, struct host_facts *h)
{
	struct utsname un;

	if (sys_read_procfs(sys, h->release, sizeof(h->release), "sys/kernel/osrelease") <= 0) {
		if (uname(&un) < 0)
			return -errno;
		set_text(h->release, sizeof(h->release), str_of(un.release));
	}
	parse_version(h);
	return 0;
}

/* The user */

/* The initial namespace maps every ID to itself: "0 0 4294967295". */
static bool in_user_namespace(const struct sys *sys)
{
	char text[256];
	struct str rest;
	uint64_t inside, outside, count;

	if (sys_read_procfs(sys, text, sizeof(text), "self/uid_map") < 0)
		return false;
	rest = str_of(text);
	if (num_u64(next_word(&rest), &inside) < 0 || num_u64(next_word(&rest), &outside) < 0 ||
	    num_u64(next_word(&rest), &count) < 0)
		return true;
	return inside != 0 || outside != 0 || count < UINT32_MAX;
}

/* Capabilities that the kernel checks in the initial user namespace. */
static uint64_t initial_namespace_caps(void)
{
	return 1ULL << HOST_CAP_SYS_ADMIN | 1ULL << HOST_CAP_IPC_LOCK |
	       1ULL << HOST_CAP_SYS_RESOURCE | 1ULL << HOST_CAP_SYSLOG | 1ULL << HOST_CAP_PERFMON |
	       1ULL << HOST_CAP_BPF;
}

static void probe_user(const struct sys *sys, struct host_facts *h)
{
	scoped(buf_done) struct buf status = { 0 };
	char path[PATH_MAX];
	struct str ids;
	int seccomp;

	h->euid = geteuid();
	snprintf(path, sizeof(path), "%s/self/status", sys->procfs);
	if (io_read(path, 1u << 20, &status) < 0)
		return;
	ids = line_value(buf_view(&status), "Uid:");
	next_word(&ids);
	if (num_u32(next_word(&ids), &h->euid) < 0)
		h->euid = geteuid();
	if (num_hex(line_value(buf_view(&status), "CapEff:"), &h->caps_effective) < 0)
		h->caps_effective = 0;
	if (num_int(line_value(buf_view(&status), "Seccomp:"), &seccomp) == 0)
		h->seccomp = seccomp;
	h->user_namespace = in_user_namespace(sys);
	if (h->user_namespace)
		h->caps_effective &= ~initial_namespace_caps();
}

bool host_is_perfmon(const struct host_facts *h)
{
	return host_has_cap(h, HOST_CAP_PERFMON) || host_has_cap(h, HOST_CAP_SYS_ADMIN);
}

/* Settings */

static int sysctl_or_unknown(const struct sys *sys, const char *name)
{
	int value;

	return sys_sysctl_int(sys, name, &value) < 0 ? HOST_UNKNOWN : value;
}

static void probe_sysctls(const struct sys *sys, struct host_facts *h)
{
	h->paranoid = sysctl_or_unknown(sys, "kernel/perf_event_paranoid");
	h->kptr_restrict = sysctl_or_unknown(sys, "kernel/kptr_restrict");
	h->mlock_kb = sysctl_or_unknown(sys, "kernel/perf_event_mlock_kb");
	h->max_sample_rate = sysctl_or_unknown(sys, "kernel/perf_event_max_sample_rate");
	h->max_stack = sysctl_or_unknown(sys, "kernel/perf_event_max_stack");
	h->cpu_time_max_percent = sysctl_or_unknown(sys, "kernel/perf_cpu_time_max_percent");
	h->nmi_watchdog = sysctl_or_unknown(sys, "kernel/nmi_watchdog");
	h->perf_user_access = sysctl_or_unknown(sys, "kernel/perf_user_access");
	h->unprivileged_bpf_disabled = sysctl_or_unknown(sys, "kernel/unprivileged_bpf_disabled");
}

/* "[none] integrity confidentiality": the word in brackets is the active mode. */
static void probe_security(const struct sys *sys, struct host_facts *h)
{
	char text[128];
	char *from, *to;

	if (sys_read_sysfs(sys, h->lsm, sizeof(h->lsm), "kernel/security/lsm") < 0)
		h->lsm[0] = '\0';
	if (sys_read_sysfs(sys, text, sizeof(text), "kernel/security/lockdown") < 0)
		return;
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (to)
		set_text(h->lockdown, sizeof(h->lockdown), str_n(from + 1, (size_t)(to - from - 1)));
}

/* Limits */

static uint64_t limit_number(struct str word)
{
	uint64_t value;

	return num_u64(word, &value) < 0 ? UINT64_MAX : value;	/* "unlimited" */
}

static uint64_t rlim_number(rlim_t limit)
{
	return limit == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit;
}

static void probe_limits(const struct sys *sys, struct host_facts *h)
{
	char text[4096];
	struct str files, memory;
	struct rlimit limit;

	if (sys_read_procfs(sys, text, sizeof(text), "self/limits") > 0) {
		files = line_value(str_of(text), "Max open files");
		memory = line_value(str_of(text), "Max locked memory");
		if (files.n && memory.n) {
			h->nofile_soft = limit_number(next_word(&files));
			h->nofile_hard = limit_number(next_word(&files));
			h->memlock = limit_number(next_word(&memory));
			return;
		}
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		h->nofile_soft = rlim_number(limit.rlim_cur);
		h->nofile_hard = rlim_number(limit.rlim_max);
	}
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		h->memlock = rlim_number(limit.rlim_cur);
}

/* The container */

static const struct { const char *needle, *name; } cgroup_marks[] = {
	{ "kubepods", "kubernetes" },	{ "libpod", "podman" },
	{ "/docker/", "docker" },	{ "docker-", "docker" },
	{ "/lxc", "lxc" },		{ "machine.slice/machine-", "systemd-nspawn" },
	{ "containerd", "containerd" },
};

static const struct { const char *needle, *name; } overlay_marks[] = {
	{ "/docker/", "docker" },
	{ "/containers/storage/", "podman" },
	{ "containerd", "containerd" },
};

/* The line of the root mount in mountinfo; a later one hides an earlier one. */
static struct str root_mount(struct str text)
{
	struct str line, found = { 0 };

	while (str_cut(&text, '\n', &line)) {
		struct str rest = line;

		for (int i = 0; i < 4; i++)
			next_word(&rest);
		if (str_is(next_word(&rest), "/"))
			found = rest;
	}
	return found;
}

/* If the root file system is an overlay, the container engine that made it or "overlay"; else NULL. */
static const char *root_overlay(const struct sys *sys)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	struct str root;

	snprintf(path, sizeof(path), "%s/self/mountinfo", sys->procfs);
	if (io_read(path, MOUNTINFO_MAX, &text) < 0)
		return NULL;
	root = root_mount(buf_view(&text));
	if (!contains(root, " - overlay ") && !contains(root, " - fuse.fuse-overlayfs "))
		return NULL;
	for (size_t i = 0; i < countof(overlay_marks); i++)
		if (contains(root, overlay_marks[i].needle))
			return overlay_marks[i].name;
	return "overlay";
}

/* container=NAME in the environment of process 1, or systemd's copy of it in /run. */
static struct str named_container(const struct sys *sys, char *text, size_t size)
{
	struct str rest, one;
	int n = sys_read_procfs(sys, text, size, "1/environ");

	rest = str_n(text, n > 0 ? (size_t)n : 0);
	while (str_cut(&rest, '\0', &one))
		if (str_starts(one, "container="))
			return str_n(one.s + 10, one.n - 10);
	n = sys_read_procfs(sys, text, size, "self/root/run/systemd/container");
	return str_n(text, n > 0 ? (size_t)n : 0);
}

static const char *marked_container(const struct sys *sys)
{
	const char *overlay = root_overlay(sys);
	char text[4096];

	if (exists_below(sys->procfs, "self/root/run/secrets/kubernetes.io"))
		return "kubernetes";
	if (sys_read_procfs(sys, text, sizeof(text), "1/cgroup") > 0)
		for (size_t i = 0; i < countof(cgroup_marks); i++)
			if (contains(str_of(text), cgroup_marks[i].needle))
				return cgroup_marks[i].name;
	if (exists_below(sys->procfs, "self/root/run/.containerenv"))
		return "podman";
	if (overlay && exists_below(sys->procfs, "self/root/.dockerenv"))
		return "docker";
	return overlay && strcmp(overlay, "overlay") != 0 ? overlay : "";
}

static void probe_container(const struct sys *sys, struct host_facts *h)
{
	char text[4096];
	struct str name = named_container(sys, text, sizeof(text));

	/* "oci" is the format of the container, not the engine; other signs say which engine it is. */
	if (name.n && !str_is(name, "oci"))
		set_text(h->container, sizeof(h->container), name);
	else
		set_text(h->container, sizeof(h->container), str_of(marked_container(sys)));
	if (name.n && !h->container[0])
		set_text(h->container, sizeof(h->container), name);
}

/* The hypervisor */

#define CLOCKS "devices/system/clocksource/clocksource0/available_clocksource"

/* `alone`: the mark is sufficient without the CPU's hypervisor flag. The others are not, because bare-metal
 * machines of Amazon, Microsoft and others have the vendor's name, too. */
static const struct { bool alone; const char *file, *needle, *name; } firmware_marks[] = {
	{ true, "class/dmi/id/product_name", "KVM", "kvm" },
	{ true, "class/dmi/id/product_name", "VirtualBox", "virtualbox" },
	{ true, "class/dmi/id/product_name", "VMware", "vmware" },
	{ true, "class/dmi/id/product_name", "HVM domU", "xen" },
	{ true, "class/dmi/id/sys_vendor", "QEMU", "kvm" },
	{ true, "class/dmi/id/sys_vendor", "Apple Virtualization", "apple" },
	{ false, "class/dmi/id/product_name", "Google Compute Engine", "kvm" },
	{ false, "class/dmi/id/sys_vendor", "Amazon EC2", "kvm" },
	{ false, "class/dmi/id/sys_vendor", "VMware", "vmware" },
	{ false, "class/dmi/id/sys_vendor", "Xen", "xen" },
	{ false, "class/dmi/id/sys_vendor", "Parallels", "parallels" },
	{ false, "class/dmi/id/sys_vendor", "Microsoft", "hyperv" },
	{ false, "class/dmi/id/bios_vendor", "BHYVE", "bhyve" },
	{ false, CLOCKS, "kvm-clock", "kvm" },
	{ false, CLOCKS, "hyperv", "hyperv" },
	{ false, CLOCKS, "xen", "xen" },
};

/* Only the start of cpuinfo is read: all processors have the same flags. */
static bool cpu_is_virtual(const struct sys *sys)
{
	char text[8192];
	struct str flags;

	if (sys_read_procfs(sys, text, sizeof(text), "cpuinfo") < 0)
		return false;
	flags = line_value(str_of(text), "flags");
	for (struct str word = next_word(&flags); word.n; word = next_word(&flags))
		if (str_is(word, "hypervisor"))
			return true;
	return false;
}

/* arm64 and riscv guests without firmware tables have a hypervisor node in the device tree. */
static bool probe_device_tree(const struct sys *sys, struct host_facts *h)
{
	char text[64];

	if (sys_read_procfs(sys, text, sizeof(text), "device-tree/hypervisor/compatible") <= 0)
		return false;
	set_text(h->hypervisor, sizeof(h->hypervisor),
		 str_of(strstr(text, "kvm") ? "kvm" : strstr(text, "xen") ? "xen" : "unknown"));
	return true;
}

static void probe_hypervisor(const struct sys *sys, struct host_facts *h)
{
	char text[256];
	bool is_virtual = cpu_is_virtual(sys);

	if (sys_read_sysfs(sys, text, sizeof(text), "hypervisor/type") > 0) {
		set_text(h->hypervisor, sizeof(h->hypervisor), str_of(text));
		return;
	}
	if (probe_device_tree(sys, h))
		return;
	for (size_t i = 0; i < countof(firmware_marks); i++) {
		if ((is_virtual || firmware_marks[i].alone) &&
		    sys_read_sysfs(sys, text, sizeof(text), "%s", firmware_marks[i].file) > 0 &&
		    contains(str_of(text), firmware_marks[i].needle)) {
			set_text(h->hypervisor, sizeof(h->hypervisor), str_of(firmware_marks[i].name));
			return;
		}
	}
	if (is_virtual)
		set_text(h->hypervisor, sizeof(h->hypervisor), STR_LIT("unknown"));
}

int host_probe(const struct sys *sys, struct host_facts *out)
{
	struct host_facts h = { 0 };
	int err = probe_release(sys, &h);

	if (err < 0)
		return err;
	probe_user(sys, &h);
	probe_sysctls(sys, &h);
	probe_security(sys, &h);
	probe_limits(sys, &h);
	probe_container(sys, &h);
	probe_hypervisor(sys, &h);
	*out = h;
	return 0;
}
