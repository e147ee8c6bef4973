/*
 * The machine's PMUs, from bus/event_source/devices in sysfs. Everything is read on first use: only the
 * name of a PMU is known until its type is needed, and formats and events are looked up by name, one small
 * file each.
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
	struct cpuset cpus;		/* CPUs listed in that file */
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

/* The context's catalog, created on first use. NULL if memory is exhausted. */
struct catalog *catalog_get(struct tacho *t);

/* Finds a PMU by exact name. Returns 1, 0 if there is none, or a negative errno. */
int pmu_find(struct tacho *t, struct str name, struct pmu **out);
/* Reads type and CPUs unless already read. 0, -ENOENT if it has vanished, or another negative errno. */
int pmu_load(struct tacho *t, struct pmu *pmu);
/* All PMUs, in natural order of names; owned by the catalog. */
int pmu_all(struct tacho *t, const struct pmu_list **out);
/* The core PMUs: one on most machines, two on hybrid ones, none in a VM without a vPMU. */
int pmu_cores(struct tacho *t, const struct pmu_list **out);
/* Returns whether `typed`, a name or a pattern, matches this PMU. The prefix uncore_ and the instance
 * number may be omitted. */
bool pmu_matches(struct str typed, struct str name);
/* The name without the instance number: uncore_imc_0 -> uncore_imc. */
struct str pmu_stem(struct str name);

/* Reads a file in the PMU's directory, trimmed. Returns its length or a negative errno. */
int pmu_read(struct tacho *t, const struct pmu *pmu, char *out, size_t size, const char *dir,
	     struct str file);
int pmu_dir(struct tacho *t, const struct pmu *pmu, const char *dir, struct strlist *out);

/* A term's format: the bits of a config word that it sets. */
struct pmu_format {
	uint8_t word;			/* 0: config, 1: config1 ... 4: config4 */
	uint64_t mask;
};

/* Parses "config1:0-7,21". 0 or -EINVAL. */
int format_parse(struct str text, struct pmu_format *out);
unsigned format_width(const struct pmu_format *f);
/* Distributes the value's bits over the bits of the mask, lowest first. The value must fit. */
uint64_t format_spread(const struct pmu_format *f, uint64_t value);
/* Reads the format of a term. Returns 1, 0 if the PMU has no such term, or a negative errno. */
int pmu_format(struct tacho *t, const struct pmu *pmu, struct str key, struct pmu_format *out);

struct pmu_alias {
	char name[128];			/* spelling in sysfs */
	char terms[512];		/* "event=0x3c,umask=0x1" */
	char unit[64];
	double scale;
	bool per_pkg, snapshot;
};

/* Finds an event in the PMU's events/ directory; case is ignored if there is no exact match.
 * Returns 1, 0 if there is none, or a negative errno. */
int pmu_alias(struct tacho *t, const struct pmu *pmu, struct str name, struct pmu_alias *out);
/* Returns true for the .scale, .unit, .per-pkg and .snapshot files of an event. */
bool pmu_alias_is_detail(struct str file);

/* Appends the names of the PMU's terms ("event, umask, inv") for a message; tries them and its events as
 * guesses. */
void pmu_format_names(struct tacho *t, const struct pmu *pmu, struct buf *out, struct name_guess *g);
/* Tries the names and events of all PMUs as guesses. */
void pmu_guess(struct tacho *t, struct name_guess *g);

#endif
