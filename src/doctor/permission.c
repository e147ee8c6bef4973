/*
 * What this user may do: the paranoid level, each capability that unlocks something, and who may
 * see kernel addresses.
 */
#include "doctor/check.h"

#include <errno.h>

static bool check_user(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	finding_value(f, "%u%s", p->host.euid, p->host.euid == 0 ? " (root)" : "");
	finding_say(f, TACHO_INFO, "%s", host_is_perfmon(&p->host) ?
		    "allowed to see all processes and CPUs" :
		    p->host.euid == 0 ? "root without the capabilities that matter here" :
		    "an unprivileged user: the settings below decide");
	return true;
}

/* What an unprivileged user may do at a level; 3 and 4 exist in Debian's and Ubuntu's kernels. */
static const struct { int level; enum tacho_verdict verdict; const char *meaning, *setting; }
levels[] = {
	{ 3, TACHO_NO, "perf_events are closed to unprivileged users (a level of Debian's and "
		       "Ubuntu's kernels)", "kernel.perf_event_paranoid=2" },
	{ 2, TACHO_LIMITED, "own processes in user space only: no kernel side, no -a",
	  "kernel.perf_event_paranoid=1" },
	{ 1, TACHO_LIMITED, "own processes with their kernel side: no -a",
	  "kernel.perf_event_paranoid=0" },
	{ 0, TACHO_OK, "everything but raw tracepoint data (record -e tracepoint, trace)", NULL },
	{ -1, TACHO_OK, "everything is allowed to everyone", NULL },
};

static bool check_paranoid(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	int level = p->host.paranoid;
	size_t i = 0;

	(void)c;
	if (level == HOST_UNKNOWN) {
		finding_value(f, "missing");
		finding_say(f, TACHO_NO, "the kernel was built without CONFIG_PERF_EVENTS, or /proc is "
			    "not mounted");
		return true;
	}
	finding_value(f, "%d", level);
	/* Some patched kernels ask for CAP_SYS_ADMIN above 2; the trial tells. */
	if (host_is_perfmon(&p->host) && !(level > 2 && p->self_error == -EACCES)) {
		finding_say(f, TACHO_OK, "does not bind this user, who holds %s",
			    host_has_cap(&p->host, HOST_CAP_PERFMON) ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
		return true;
	}
	/* Where the kernel is not patched, 3 and above are no more than 2. */
	if (level > 2 && p->self_error == 0)
		level = 2;
	while (i < countof(levels) - 1 && level < levels[i].level)
		i++;
	finding_say(f, levels[i].verdict, "%s", levels[i].meaning);
	if (levels[i].setting)
		remedy_sysctl(p, f, levels[i].setting);
	return true;
}

/* CAP_SYS_ADMIN stands for CAP_PERFMON and CAP_BPF, as it did alone before Linux 5.8. */
static bool stands_in(const struct host_facts *h, int cap)
{
	return (cap == HOST_CAP_PERFMON || cap == HOST_CAP_BPF) && host_has_cap(h, HOST_CAP_SYS_ADMIN);
}

static bool check_capability(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &p->host;

	if (host_has_cap(h, c->number)) {
		finding_value(f, "held");
		finding_say(f, TACHO_OK, "%s", c->word);
	} else if (stands_in(h, c->number)) {
		finding_value(f, "CAP_SYS_ADMIN");
		finding_say(f, TACHO_OK, "%s", c->word);
	} else {
		finding_value(f, "not held");
		finding_say(f, TACHO_LIMITED, "%s", c->loss);
		remedy_capability(p, f, c->number);
	}
	return true;
}

/* Never asked for: what it unlocks, smaller capabilities unlock as well. */
static bool check_sys_admin(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	bool held = host_has_cap(&p->host, HOST_CAP_SYS_ADMIN);
	bool old = p->host.version_major && (p->host.version_major < 5 ||
		   (p->host.version_major == 5 && p->host.version_minor < 8));

	(void)c;
	finding_value(f, "%s", held ? "held" : "not held");
	finding_say(f, TACHO_INFO, "%s", old ? "before Linux 5.8 it is what CAP_PERFMON and CAP_BPF are now" :
		    held ? "more than tacho needs: CAP_PERFMON would do" :
			   "not needed where CAP_PERFMON is held");
	return true;
}

/*
 * /proc/kallsyms shows addresses to holders of CAP_SYSLOG while kptr_restrict is below 2, and to
 * everyone where it is 0 and perf_event_paranoid at most 1.
 */
static bool check_kptr(struct patient *p, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &p->host;
	bool syslog = host_has_cap(h, HOST_CAP_SYSLOG);

	(void)c;
	if (h->kptr_restrict == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d", h->kptr_restrict);
	if (h->kptr_restrict < 2 && syslog) {
		finding_say(f, TACHO_OK, "kernel symbols are visible, as CAP_SYSLOG is held");
	} else if (h->kptr_restrict == 0 && h->paranoid != HOST_UNKNOWN && h->paranoid <= 1) {
		finding_say(f, TACHO_OK, "kernel symbols are visible to everyone");
	} else if (syslog) {
		finding_say(f, TACHO_LIMITED, "kernel addresses are hidden from everyone: kernel frames "
			    "stay without names");
		remedy_sysctl(p, f, "kernel.kptr_restrict=1");
	} else {
		finding_say(f, TACHO_LIMITED, "kernel addresses are hidden: kernel frames stay without names");
		remedy_sysctl(p, f, h->kptr_restrict == 0 ? "kernel.perf_event_paranoid=1" :
			      h->paranoid != HOST_UNKNOWN && h->paranoid <= 1 ? "kernel.kptr_restrict=0" :
			      "kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	}
	return true;
}

#define CAP(id_, title_, affects_, cap_, with_, without_)                                          \
	{ .id = (id_), .title = (title_), .affects = (affects_), .run = check_capability,          \
	  .number = (cap_), .word = (with_), .loss = (without_) }

const struct doctor_check permission_checks[] = {
	{ "user", "user", NULL, check_user, 0, NULL, NULL },
	{ "paranoid", "perf_event_paranoid", "stat, record, top, trace", check_paranoid, 0, NULL, NULL },
	CAP("cap-perfmon", "CAP_PERFMON", "stat -a, record -a, top, trace", HOST_CAP_PERFMON,
	    "all processes, all CPUs, kernel and user side",
	    "perf_event_paranoid decides what may be seen"),
	CAP("cap-bpf", "CAP_BPF", "trace, record --off-cpu", HOST_CAP_BPF,
	    "BPF programs may be loaded", "no BPF programs: summaries are made in user space"),
	CAP("cap-syslog", "CAP_SYSLOG", "record, report, top", HOST_CAP_SYSLOG,
	    "kernel addresses may be read", "kernel symbols only where kptr_restrict is 0"),
	CAP("cap-sys-ptrace", "CAP_SYS_PTRACE", "record -p, top", HOST_CAP_SYS_PTRACE,
	    "maps and files of other users' processes may be read",
	    "other users' processes show no symbols"),
	CAP("cap-ipc-lock", "CAP_IPC_LOCK", "record -m", HOST_CAP_IPC_LOCK,
	    "rings may be of any size", "rings are bound by perf_event_mlock_kb and RLIMIT_MEMLOCK"),
	CAP("cap-dac-read-search", "CAP_DAC_READ_SEARCH", "list, trace, record", HOST_CAP_DAC_READ_SEARCH,
	    "tracefs and all programs' files may be read",
	    "tracepoints need a tracefs this user may read; others' programs may stay without symbols"),
	{ "cap-sys-admin", "CAP_SYS_ADMIN", "stat -a, record -a, top, trace", check_sys_admin, 0, NULL,
	  NULL },
	{ "kptr-restrict", "kptr_restrict", "record, report, top", check_kptr, 0, NULL, NULL },
	{ .id = NULL },
};
