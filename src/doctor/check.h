/*
 * The doctor's checks are a family: each is a row of id, topic, title and a function that looks
 * at the patient and writes one finding. A topic's rows live in one file; doctor.c strings the
 * files together. A row may carry a number or a word, so that one function serves several.
 */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "event/event.h"
#include "sys/host.h"

#include <tacho/doctor.h>

/* What every check looks at; gathered once. */
struct patient {
	struct tacho *t;
	struct host_facts host;
	struct strlist pmus;		/* names below bus/event_source/devices */
	bool core_pmu;
	int n_cpus;
	int self_error;			/* of opening a software event on this process; 0: fine */
	int sample_error;		/* of sampling this process through a ring; 0: fine */
	struct buf config;		/* the kernel's configuration; empty: not found */
	uint64_t caps_asked;		/* by the remedies so far, see remedy_capability() */
};

struct finding {
	enum tacho_verdict verdict;
	char value[160];
	char meaning[400];
	char fix[400];
};

struct doctor_check {
	const char *id, *title, *affects;
	/* Writes *f and returns true, or returns false where the question does not arise. */
	bool (*run)(struct patient *p, const struct doctor_check *c, struct finding *f);
	int number;			/* a capability */
	const char *word;		/* a configuration option, a PMU, a flag of setcap */
	const char *loss;		/* what is missed without it */
};

struct topic {
	const char *name;
	const struct doctor_check *checks;	/* ends with a row without id */
};

extern const struct doctor_check kernel_checks[], cpu_checks[], permission_checks[], limit_checks[],
	tracing_checks[], config_checks[], live_checks[];

/* Each sets one part of a finding; `say` also sets the verdict. */
void finding_say(struct finding *f, enum tacho_verdict verdict, const char *fmt, ...)
	printf_like(3, 4);
void finding_value(struct finding *f, const char *fmt, ...) printf_like(2, 3);
void finding_fix(struct finding *f, const char *fmt, ...) printf_like(2, 3);

/* remedy.c: the command that mends it here; where that is depends on container and user. */
void remedy_sysctl(const struct patient *p, struct finding *f, const char *setting);
/* setcap replaces the whole set, so a remedy repeats what earlier ones asked for: run one after
 * the other they add up. */
void remedy_capability(struct patient *p, struct finding *f, int cap);
/* For an open that was refused with `err`; it would be allowed from `paranoid` downwards. */
void remedy_open(struct patient *p, struct finding *f, int err, int paranoid);
void remedy_mount(const struct patient *p, struct finding *f, const char *type, const char *at);
void remedy_vpmu(const struct patient *p, struct finding *f);

/* live.c: opens events on this process for patient.self_error and .sample_error. */
int live_count_self(struct patient *p);
int live_sample_self(struct patient *p);

/* config.c: fills patient.config; nothing is said when there is none. */
void kconfig_load(struct patient *p);

/* proc_config_gz.c or proc_config_none.c: the gzipped file at `path`, unpacked and appended. Returns 0,
 * -EOPNOTSUPP in a build without zlib, -EFBIG, -EBADMSG, or another negative errno. */
int config_read_gz(const char *path, size_t limit, struct buf *out);

#endif
