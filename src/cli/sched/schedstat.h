/*
 * `tacho sched stats`: the scheduler's counters in /proc/schedstat, of versions 15 to 17 of its format, before and after a command.
 */
#ifndef CLI_SCHED_SCHEDSTAT_H
#define CLI_SCHED_SCHEDSTAT_H

#include "base/arena.h"
#include "base/cpuset.h"
#include "base/str.h"
#include "cli/core/command.h"

#include <tacho/perfdata.h>

#define SCHEDSTAT_CPU_FIELDS 9
#define SCHEDSTAT_DOMAIN_FIELDS 45	/* of version 17; the older ones have 36 */
#define SCHEDSTAT_CPUS_MAX 8192u
#define SCHEDSTAT_DOMAINS_MAX 32u	/* of a CPU */

struct schedstat_domain {
	uint32_t number;
	const char *name;		/* "MC"; before version 17 its number */
	const char *cpus;		/* "0-3"; empty: not known */
	uint64_t v[SCHEDSTAT_DOMAIN_FIELDS];
};

struct schedstat_cpu {
	uint32_t number;
	uint64_t v[SCHEDSTAT_CPU_FIELDS];
	struct { struct schedstat_domain *v; size_t n, cap; } domains;
};

struct schedstat {			/* one reading of the file, or the difference of two */
	unsigned version;
	uint64_t jiffies;
	struct arena arena;		/* texts */
	struct { struct schedstat_cpu *v; size_t n, cap; } cpus;
};

void schedstat_done(struct schedstat *s);
/* How many numbers a domain has; 0: the version is not known. */
size_t schedstat_domain_fields(unsigned version);
/* Parses the text of /proc/schedstat. 0, -ENOMEM, or -EBADMSG with the line. */
int schedstat_parse(struct schedstat *out, struct str text, struct tacho_error *e);
/* What happened between two readings. 0 or -ENOMEM. CPUs and domains that one of them does not have are left out. */
int schedstat_subtract(struct schedstat *out, const struct schedstat *before, const struct schedstat *after);
/* Adds the average of all CPUs as the first "CPU", UINT32_MAX. 0 or -ENOMEM. */
int schedstat_average(struct schedstat *out, const struct schedstat *s);

/* ---- files ---- */

/* Appends the records of a reading, as perf writes them. 0, -ENOMEM or -E2BIG. */
int schedstat_put_records(const struct schedstat *s, struct buf *out);
/* Appends the feature CPU_DOMAIN_INFO. */
void schedstat_put_domains(const struct schedstat *s, struct buf *out);
/* Reads both readings of a recording and subtracts them. 0 or a negative errno with a message in *e. */
int schedstat_read_file(struct schedstat *out, const char *path, bool force, struct tacho_error *e);

/* ---- tables ---- */

struct schedstat_table {
	const struct schedstat *first, *second;	/* second: of a comparison, else NULL */
	bool explain;			/* print explanations instead of the names of fields */
	const struct cpuset *cpus;	/* NULL: all */
};

int schedstat_put_tables(const struct schedstat_table *t, struct buf *out);	/* 0 or -ENOMEM */
int schedstat_put_json(const struct schedstat_table *t, struct buf *out);	/* of `first` */

struct sched_opts;
int sched_stats_run(void *opts, int argc, char **argv);
int sched_stats_record(void *opts, int argc, char **argv);
int sched_stats_report(void *opts, int argc, char **argv);
int sched_stats_diff(void *opts, int argc, char **argv);

#endif
