/*
 * Permission checks: perf_event_paranoid, the relevant capabilities, and the visibility of kernel addresses.
 */
#include "doctor/check.h"

#include <errno.h>

static bool check_user(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	finding_value(f, "%u%s", d->host.euid, d->host.euid == 0 ? " (root)" : "");
	finding_set(f, TACHO_INFO, "%s", host_is_perfmon(&d->host) ?
		    "allowed to see all processes and CPUs" :
		    d->host.euid == 0 ? "root without the capabilities that matter here" :
		    "an unprivileged user: the settings below decide");
	return true;
}

/* What an unprivileged user may do at each level. Levels 3 and 4 exist in Debian's and Ubuntu's kernels only. */
static const struct { int level; enum tacho_verdict verdict; const char *meaning, *setting; }
levels[] = {
	{ 3, TACHO_NO, "unprivileged users may not use perf_events at all (a level of Debian's and "
		       "Ubuntu's kernels)", "kernel.perf_event_paranoid=2" },
	{ 2, TACHO_LIMITED, "own processes in user space only: no counting in the kernel, no -a",
	  "kernel.perf_event_paranoid=1" },
	{ 1, TACHO_LIMITED, "own processes in user space and kernel: no -a",
	  "kernel.perf_event_paranoid=0" },
	{ 0, TACHO_OK, "everything but raw tracepoint data (record -e tracepoint)", NULL },
	{ -1, TACHO_OK, "everything is allowed to everyone", NULL },
};

static bool check_paranoid(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	int level = d->host.paranoid;
	size_t i = 0;

	(void)c;
	if (level == HOST_UNKNOWN) {
		finding_value(f, "missing");
		finding_set(f, TACHO_NO, "the kernel was built without CONFIG_PERF_EVENTS, or /proc is "
			    "not mounted");
		return true;
	}
	finding_value(f, "%d", level);
	/* Some patched kernels require CAP_SYS_ADMIN above level 2; the trial shows whether this one does. */
	if (host_is_perfmon(&d->host) && !(level > 2 && d->self_error == -EACCES)) {
		finding_set(f, TACHO_OK, "does not limit this user, who has %s",
			    host_has_cap(&d->host, HOST_CAP_PERFMON) ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
		return true;
	}
	/* On kernels without that patch, levels above 2 mean the same as 2. */
	if (level > 2 && d->self_error == 0)
		level = 2;
	while (i < countof(levels) - 1 && level < levels[i].level)
		i++;
	finding_set(f, levels[i].verdict, "%s", levels[i].meaning);
	if (levels[i].setting)
		fix_sysctl(d, f, levels[i].setting);
	return true;
}

/* CAP_SYS_ADMIN includes CAP_PERFMON, which was split off from it in Linux 5.8. */
static bool has_sys_admin_instead(const struct host_facts *h, int cap)
{
	return cap == HOST_CAP_PERFMON && host_has_cap(h, HOST_CAP_SYS_ADMIN);
}

static bool check_capability(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &d->host;

	if (host_has_cap(h, c->number)) {
		finding_value(f, "held");
		finding_set(f, TACHO_OK, "%s", c->word);
	} else if (has_sys_admin_instead(h, c->number)) {
		finding_value(f, "CAP_SYS_ADMIN");
		finding_set(f, TACHO_OK, "%s", c->word);
	} else {
		finding_value(f, "not held");
		finding_set(f, TACHO_LIMITED, "%s", c->loss);
		fix_capability(d, f);
	}
	return true;
}

/* Informational only and without a fix: smaller capabilities are sufficient. */
static bool check_sys_admin(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	bool held = host_has_cap(&d->host, HOST_CAP_SYS_ADMIN);
	bool old = d->host.version_major && (d->host.version_major < 5 ||
		   (d->host.version_major == 5 && d->host.version_minor < 8));

	(void)c;
	finding_value(f, "%s", held ? "held" : "not held");
	finding_set(f, TACHO_INFO, "%s", old ? "before Linux 5.8 it is needed instead of CAP_PERFMON" :
		    held ? "more than tacho needs: CAP_PERFMON is sufficient" :
			   "not needed if CAP_PERFMON is held");
	return true;
}

/*
 * /proc/kallsyms shows addresses to users with CAP_SYSLOG if kptr_restrict is below 2, and to
 * everyone if it is 0 and perf_event_paranoid is at most 1.
 */
static bool check_kptr(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	const struct host_facts *h = &d->host;
	bool syslog = host_has_cap(h, HOST_CAP_SYSLOG);

	(void)c;
	if (h->kptr_restrict == HOST_UNKNOWN)
		return false;
	finding_value(f, "%d", h->kptr_restrict);
	if (h->kptr_restrict < 2 && syslog) {
		finding_set(f, TACHO_OK, "kernel symbols are visible, because CAP_SYSLOG is held");
	} else if (h->kptr_restrict == 0 && h->paranoid != HOST_UNKNOWN && h->paranoid <= 1) {
		finding_set(f, TACHO_OK, "kernel symbols are visible to everyone");
	} else if (syslog) {
		finding_set(f, TACHO_LIMITED, "kernel addresses are hidden from everyone: kernel frames "
			    "have no names");
		fix_sysctl(d, f, "kernel.kptr_restrict=1");
	} else {
		finding_set(f, TACHO_LIMITED, "kernel addresses are hidden: kernel frames have no names");
		fix_sysctl(d, f, h->kptr_restrict == 0 ? "kernel.perf_event_paranoid=1" :
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
	{ "paranoid", "perf_event_paranoid", "stat, record, agent", check_paranoid, 0, NULL, NULL },
	CAP("cap-perfmon", "CAP_PERFMON", "stat -a, record -a, agent", HOST_CAP_PERFMON,
	    "all processes, all CPUs, kernel and user side",
	    "perf_event_paranoid decides what is allowed"),
	CAP("cap-bpf", "CAP_BPF", NULL, HOST_CAP_BPF,
	    "summaries can be made in the kernel", "summaries are made from samples"),
	CAP("cap-syslog", "CAP_SYSLOG", "record, report, agent", HOST_CAP_SYSLOG,
	    "kernel addresses may be read", "kernel symbols only where kptr_restrict is 0"),
	CAP("cap-sys-ptrace", "CAP_SYS_PTRACE", "record -p, agent", HOST_CAP_SYS_PTRACE,
	    "maps and files of other users' processes may be read",
	    "other users' processes show no symbols"),
	CAP("cap-ipc-lock", "CAP_IPC_LOCK", "record -m", HOST_CAP_IPC_LOCK,
	    "ring buffers may be of any size", "ring buffers are limited by perf_event_mlock_kb and RLIMIT_MEMLOCK"),
	CAP("cap-dac-read-search", "CAP_DAC_READ_SEARCH", "list, stat, record", HOST_CAP_DAC_READ_SEARCH,
	    "tracefs and all programs' files may be read",
	    "tracepoints need a tracefs that this user may read; programs of others may have no symbols"),
	{ "cap-sys-admin", "CAP_SYS_ADMIN", "stat -a, record -a, agent", check_sys_admin, 0, NULL,
	  NULL },
	{ "kptr-restrict", "kptr_restrict", "record, report, agent", check_kptr, 0, NULL, NULL },
	{ .id = NULL },
};
