/*
 * Kernel configuration checks. The configuration is read from /proc/config.gz, /boot, or the
 * modules' directory. /boot and the modules are looked up below <proc>/self/root, so that a
 * directory of test fixtures can contain them as well.
 */
#include "doctor/check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"

#define CONFIG_MAX (4u << 20)

static const char *const places[] = { "boot/config-%s", "lib/modules/%s/config",
				      "usr/lib/modules/%s/config" };

/* gzread() passes uncompressed data through, so check that it is a configuration. */
static bool is_config(const struct buf *text)
{
	return text->n && memmem(text->bytes, text->n, "CONFIG_", 7);
}

static int read_plain(const struct doctor *d, size_t i, struct buf *out)
{
	char name[200], path[PATH_MAX];
	struct str pattern = str_of(places[i]);
	const char *mark = strstr(places[i], "%s");

	snprintf(name, sizeof(name), "%.*s%s%s", (int)(mark - pattern.s), pattern.s, d->host.release,
		 mark + 2);
	snprintf(path, sizeof(path), "%s/self/root/%s", d->t->sys.procfs, name);
	return io_read(path, CONFIG_MAX, out);
}

void kconfig_load(struct doctor *d)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/config.gz", d->t->sys.procfs);
	if (config_read_gz(path, CONFIG_MAX, &d->config) == 0 && is_config(&d->config))
		return;
	for (size_t i = 0; i < countof(places); i++) {
		buf_clear(&d->config);
		if (read_plain(d, i, &d->config) == 0 && is_config(&d->config))
			return;
	}
	buf_clear(&d->config);
}

/* The value of an option: "y", "m", a string, or an empty str if it is not set. */
static struct str config_value(const struct doctor *d, const char *option)
{
	struct str text = buf_view(&d->config), line;
	size_t n = strlen(option);

	while (str_cut(&text, '\n', &line))
		if (line.n > n && line.s[n] == '=' && memcmp(line.s, option, n) == 0)
			return str_n(line.s + n + 1, line.n - n - 1);
	return (struct str){ 0 };
}

static bool check_source(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	(void)c;
	if (d->config.n)
		return false;
	finding_value(f, "not found");
	finding_set(f, TACHO_INFO, "neither /proc/config.gz nor /boot/config-%s is there, so the kernel's "
		    "build options are unknown", d->host.release);
	finding_fix(f, "modprobe configs");
	return true;
}

/* For rows with number 1, a missing option is only informational. */
static bool check_option(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	struct str value = config_value(d, c->title);

	if (!d->config.n)
		return false;
	if (value.n) {
		finding_value(f, "%.*s", (int)min_of(value.n, 32), value.s);
		finding_set(f, TACHO_OK, "%s", c->word);
	} else {
		finding_value(f, "not set");
		finding_set(f, c->number ? TACHO_INFO : TACHO_LIMITED, "%s", c->loss);
	}
	return true;
}

/* ORC on x86, frame pointers elsewhere: either is sufficient. */
static bool check_unwinder(struct doctor *d, const struct doctor_check *c, struct finding *f)
{
	bool orc = config_value(d, "CONFIG_UNWINDER_ORC").n > 0;
	bool frames = config_value(d, "CONFIG_FRAME_POINTER").n > 0 ||
		      config_value(d, "CONFIG_UNWINDER_FRAME_POINTER").n > 0;

	(void)c;
	if (!d->config.n)
		return false;
	finding_value(f, "%s", orc ? "ORC" : frames ? "frame pointers" : "neither");
	if (orc || frames)
		finding_set(f, TACHO_OK, "kernel call chains are complete");
	else
		finding_set(f, TACHO_LIMITED, "kernel call chains are unreliable");
	return true;
}

#define OPTION(id_, option_, affects_, minor_, with_, without_)                                    \
	{ .id = (id_), .title = (option_), .affects = (affects_), .run = check_option,             \
	  .number = (minor_), .word = (with_), .loss = (without_) }

const struct doctor_check config_checks[] = {
	{ "config", "kernel configuration", NULL, check_source, 0, NULL, NULL },
	OPTION("config-perf-events", "CONFIG_PERF_EVENTS", "stat, record, agent", 0,
	       "perf_event_open is built in", "there is no perf_event_open"),
	OPTION("config-cgroup-perf", "CONFIG_CGROUP_PERF", "stat -G, record -G", 0,
	       "events can be bound to a cgroup", "no counting per cgroup"),
	OPTION("config-tracepoints", "CONFIG_TRACEPOINTS", "list, stat, record", 0,
	       "tracepoints are built in", "no tracepoints"),
	OPTION("config-ftrace", "CONFIG_FTRACE", "list, stat, record", 0,
	       "tracefs and its events are built in", "no tracefs, so tracepoints cannot be used by name"),
	OPTION("config-ftrace-syscalls", "CONFIG_FTRACE_SYSCALLS", "stat, record", 0,
	       "each system call has a tracepoint", "no syscalls:* events; raw_syscalls:* has all calls in two events"),
	OPTION("config-kprobes", "CONFIG_KPROBES", "stat, record", 0,
	       "kernel functions can be probed", "kernel functions cannot be probed"),
	OPTION("config-kprobe-events", "CONFIG_KPROBE_EVENTS", "stat, record", 0,
	       "kprobes can be events", "kprobes cannot be events"),
	OPTION("config-uprobes", "CONFIG_UPROBES", "stat, record", 0,
	       "user functions can be probed", "user functions cannot be probed"),
	OPTION("config-uprobe-events", "CONFIG_UPROBE_EVENTS", "stat, record", 0,
	       "uprobes can be events", "uprobes cannot be events"),
	OPTION("config-bpf-syscall", "CONFIG_BPF_SYSCALL", NULL, 1,
	       "BPF programs can be loaded", "BPF programs cannot be loaded; tacho uses none"),
	OPTION("config-bpf-events", "CONFIG_BPF_EVENTS", NULL, 1,
	       "BPF programs can be attached to events",
	       "BPF programs cannot be attached to events; tacho uses none"),
	OPTION("config-btf", "CONFIG_DEBUG_INFO_BTF", NULL, 1,
	       "the kernel has BTF type information", "no BTF type information; tacho uses none"),
	OPTION("config-kallsyms", "CONFIG_KALLSYMS", "record, report, agent", 0,
	       "kernel symbols are available", "kernel frames have no names"),
	OPTION("config-kallsyms-all", "CONFIG_KALLSYMS_ALL", "record -d, report", 1,
	       "kernel data has names, too", "kernel functions have names, kernel data does not"),
	OPTION("config-schedstats", "CONFIG_SCHEDSTATS", "stat, record", 1,
	       "sched:sched_stat_* events give waiting times",
	       "sched:sched_stat_* events are missing"),
	OPTION("config-hw-breakpoint", "CONFIG_HAVE_HW_BREAKPOINT", "stat, record -e mem:", 0,
	       "breakpoint events are built in", "no mem: events"),
	{ "config-unwinder", "kernel unwinder", "record -g, agent", check_unwinder, 0, NULL, NULL },
	{ .id = NULL },
};
