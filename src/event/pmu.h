/*
 * The machine's PMUs as sysfs shows them below bus/event_source/devices. Everything is read
 * when first asked for: a PMU is a name until its type is needed, and formats and aliases are
 * looked up by name, one small file each.
 */
#ifndef EVENT_PMU_H
#define EVENT_PMU_H

#include "event/event.h"
#include "event/nearest_name.h"

struct pmu {
	const char *name;
	uint32_t type;
	bool loaded;
	bool core;			/* named cpu, or has a `cpus` file */
	bool uncore;			/* has a `cpumask` file */
	struct cpuset cpus;		/* from either file */
};

struct pmu_list {
	struct pmu **v;
	size_t n, cap;
};

struct catalog {
	struct arena arena;		/* the PMUs and their names */
	struct pmu_list known;
	bool scanned;			/* `known` holds every PMU */
	struct pmu_list core;
	bool core_known;
};

/* The context's catalog, made on first use; NULL without memory. */
struct catalog *catalog_get(struct tacho *t);

/* By exact name. 1 found, 0 there is none, or a negative errno. */
int pmu_find(struct tacho *t, struct str name, struct pmu **out);
/* Reads type and CPUs once. 0, -ENOENT when it vanished, or a negative errno. */
int pmu_load(struct tacho *t, struct pmu *pmu);
/* Every PMU, in natural order of names; borrowed from the catalog. */
int pmu_all(struct tacho *t, const struct pmu_list **out);
/* The core PMUs: one on most machines, two on hybrid ones, none in a VM without a vPMU. */
int pmu_cores(struct tacho *t, const struct pmu_list **out);
/* True when `typed` means this PMU: its name, a pattern, or the name without uncore_ or
 * without the number of the instance. */
bool pmu_matches(struct str typed, struct str name);
/* The name without the instance's number: uncore_imc_0 -> uncore_imc. */
struct str pmu_stem(struct str name);

/* One file below the PMU's directory into `out`, trimmed; its length or a negative errno. */
int pmu_read(struct tacho *t, const struct pmu *pmu, char *out, size_t size, const char *dir,
	     struct str file);
int pmu_dir(struct tacho *t, const struct pmu *pmu, const char *dir, struct strlist *out);

/* Where a term's bits go. */
struct pmu_format {
	uint8_t word;			/* config, config1 ... config4 */
	uint64_t mask;
};

/* Parses "config1:0-7,21". 0 or -EINVAL. */
int format_parse(struct str text, struct pmu_format *out);
unsigned format_width(const struct pmu_format *f);
/* Spreads the value's bits, lowest first; the value must fit. */
uint64_t format_spread(const struct pmu_format *f, uint64_t value);
/* 1 found, 0 the PMU has no such term, or a negative errno. */
int pmu_format(struct tacho *t, const struct pmu *pmu, struct str key, struct pmu_format *out);

struct pmu_alias {
	char name[128];			/* as sysfs spells it */
	char terms[512];		/* "event=0x3c,umask=0x1" */
	char unit[64];
	double scale;
	bool per_pkg, snapshot;
};

/* An event of the PMU's events/ directory; case is ignored when nothing fits exactly.
 * 1 found, 0 there is none, or a negative errno. */
int pmu_alias(struct tacho *t, const struct pmu *pmu, struct str name, struct pmu_alias *out);
/* True for the .scale, .unit, .per-pkg and .snapshot files beside an event. */
bool pmu_alias_is_detail(struct str file);

/* "event, umask, inv": what the PMU's terms may be, for a message. */
void pmu_format_names(struct tacho *t, const struct pmu *pmu, struct buf *out, struct name_guess *g);
/* Offers every event of every PMU, and the PMUs' names. */
void pmu_guess(struct tacho *t, struct name_guess *g);

#endif
