/*
 * The checks of `tacho doctor`. Each check is a table row with an ID, a title and a function that evaluates
 * the facts in struct doctor and writes one finding. The checks of a topic are in one file; doctor.c
 * runs the topics in order. A row may have a number or a word, so that several rows can share a function.
 */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "event/event.h"
#include "sys/host.h"

#include <tacho/doctor.h>

/* The facts that checks evaluate, gathered once. */
struct doctor {
	struct tacho *t;
	struct host_facts host;
	struct strlist pmus;		/* the names in bus/event_source/devices */
	bool core_pmu;
	int n_cpus;
	int self_error;			/* error of opening a software event on this process; 0: works */
	int sample_error;		/* error of sampling this process through a ring buffer; 0: works */
	struct buf config;		/* the kernel's configuration; empty: not found */
};

struct finding {
	enum tacho_verdict verdict;
	char value[160];
	char meaning[400];
	char fix[400];
};

struct doctor_check {
	const char *id, *title, *affects;
	/* Writes *f and returns true, or returns false if the check does not apply here. */
	bool (*run)(struct doctor *d, const struct doctor_check *c, struct finding *f);
	int number;			/* a capability; for a config option 1: optional */
	const char *word;		/* a PMU name, or the meaning if the result is good */
	const char *loss;		/* the meaning if the result is bad */
};

struct topic {
	const char *name;
	const struct doctor_check *checks;	/* ends with a row without id */
};

extern const struct doctor_check kernel_checks[], cpu_checks[], permission_checks[], limit_checks[],
	tracing_checks[], config_checks[], live_checks[];

/* Each sets one part of a finding; finding_set() sets the verdict and the meaning. */
void finding_set(struct finding *f, enum tacho_verdict verdict, const char *fmt, ...)
	printf_like(3, 4);
void finding_value(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_fix(struct finding *f, const char *fmt, ...) printf_like(2, 3);

/* fix.c: each writes the command or setting that fixes a finding, which depends on container and user. */
void fix_sysctl(const struct doctor *d, struct finding *f, const char *setting);
void fix_sysfs(const struct doctor *d, struct finding *f, const char *value, const char *path);
/* Names all capabilities that tacho can use, so that it is the same command for every finding. */
void fix_capability(const struct doctor *d, struct finding *f);
/* For a perf_event_open() that failed with `err` and is allowed if perf_event_paranoid is at most `paranoid`. */
void fix_open(const struct doctor *d, struct finding *f, int err, int paranoid);
void fix_mount(const struct doctor *d, struct finding *f, const char *type, const char *at);
void fix_vpmu(const struct doctor *d, struct finding *f);

/* kernel_trials.c: opens events on this process, for self_error and sample_error. */
int try_count_self(struct doctor *d);
int try_sample_self(struct doctor *d);

/* kernel_config.c: reads d->config; leaves it empty if no configuration is found. */
void kconfig_load(struct doctor *d);

/* proc_config_gz.c or proc_config_none.c: uncompresses the gzip file `path` and appends it to `out`. Returns 0,
 * -EOPNOTSUPP in a build without zlib, -EFBIG, -EBADMSG, or another negative errno. */
int config_read_gz(const char *path, size_t limit, struct buf *out);

#endif
