/*
 * Finds the machine's PMUs: one by name with a single file access, or all of them, for patterns and
 * hints, by listing the directory. A server can have two hundred uncore PMUs, so nothing is read before
 * it is needed.
 */
#include "event/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

#define DEVICES "bus/event_source/devices"

struct catalog *catalog_get(struct tacho *t)
{
	if (!t->catalog)
		t->catalog = calloc(1, sizeof(*t->catalog));
	return t->catalog;
}

void catalog_free(struct catalog *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->known.n; i++)
		cpuset_done(&c->known.v[i]->cpus);
	vec_done(&c->known);
	vec_done(&c->core);
	arena_done(&c->arena);
	free(c);
}

static struct pmu *catalog_has(const struct catalog *c, struct str name)
{
	for (size_t i = 0; i < c->known.n; i++)
		if (str_is(name, c->known.v[i]->name))
			return c->known.v[i];
	return NULL;
}

static int catalog_add(struct catalog *c, struct str name, struct pmu **out)
{
	struct pmu *pmu = arena_alloc(&c->arena, sizeof(*pmu));
	struct pmu **slot;

	if (!pmu)
		return -ENOMEM;
	pmu->name = arena_str(&c->arena, name);
	if (!pmu->name)
		return -ENOMEM;
	slot = vec_add(&c->known);
	if (!slot)
		return -ENOMEM;
	*slot = *out = pmu;
	return 0;
}

static bool pmu_has_file(struct tacho *t, struct str name, const char *file)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" DEVICES "/%.*s/%s", t->sys.sysfs, STR(name), file);

	return n > 0 && n < (int)sizeof(path) && io_is_accessible(path, F_OK);
}

int pmu_find(struct tacho *t, struct str name, struct pmu **out)
{
	struct catalog *c = catalog_get(t);
	struct pmu *pmu;
	int err;

	if (!c)
		return -ENOMEM;
	pmu = catalog_has(c, name);
	if (!pmu) {
		if (c->scanned || !name.n || name.n > NAME_MAX || name.s[0] == '.' ||
		    !pmu_has_file(t, name, "type"))
			return 0;
		err = catalog_add(c, name, &pmu);
		if (err < 0)
			return err;
	}
	*out = pmu;
	return 1;
}

int pmu_load(struct tacho *t, struct pmu *pmu)
{
	char text[4096];
	int n;

	if (pmu->loaded)
		return 0;
	n = pmu_read(t, pmu, text, sizeof(text), NULL, STR_LIT("type"));
	if (n < 0)
		return n;
	n = num_u32(str_trim(str_n(text, (size_t)n)), &pmu->type);
	if (n < 0)
		return n;
	pmu->core = strcmp(pmu->name, "cpu") == 0;
	n = pmu_read(t, pmu, text, sizeof(text), NULL, STR_LIT("cpus"));
	if (n >= 0)
		pmu->core = true;
	else if (!pmu->core) {
		n = pmu_read(t, pmu, text, sizeof(text), NULL, STR_LIT("cpumask"));
		pmu->uncore = n >= 0;
	}
	if (n > 0) {
		n = cpuset_parse(&pmu->cpus, str_trim(str_n(text, (size_t)n)));
		if (n == -ENOMEM)
			return n;
	}
	pmu->loaded = true;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return str_natcmp((*(struct pmu *const *)a)->name, (*(struct pmu *const *)b)->name);
}

int pmu_all(struct tacho *t, const struct pmu_list **out)
{
	scoped(strlist_done) struct strlist names = { 0 };
	struct catalog *c = catalog_get(t);
	char path[PATH_MAX];
	struct pmu *pmu;
	int err;

	if (!c)
		return -ENOMEM;
	*out = &c->known;
	if (c->scanned)
		return 0;
	snprintf(path, sizeof(path), "%s/" DEVICES, t->sys.sysfs);
	err = sys_list_dir(path, &names);
	if (err == -ENOMEM)
		return err;
	for (size_t i = 0; i < names.n; i++) {
		if (catalog_has(c, str_of(names.v[i])))
			continue;
		err = catalog_add(c, str_of(names.v[i]), &pmu);
		if (err < 0)
			return err;
	}
	if (c->known.n)
		qsort(c->known.v, c->known.n, sizeof(struct pmu *), by_name);
	c->scanned = true;
	return 0;
}

static int core_add(struct tacho *t, struct catalog *c, struct pmu *pmu)
{
	struct pmu **slot;
	int err = pmu_load(t, pmu);

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	if (!pmu->core)
		return 0;
	slot = vec_add(&c->core);
	if (!slot)
		return -ENOMEM;
	*slot = pmu;
	return 0;
}

int pmu_cores(struct tacho *t, const struct pmu_list **out)
{
	struct catalog *c = catalog_get(t);
	const struct pmu_list *all;
	struct pmu *cpu;
	int err;

	if (!c)
		return -ENOMEM;
	*out = &c->core;
	if (c->core_known)
		return 0;
	c->core.n = 0;
	err = pmu_find(t, STR_LIT("cpu"), &cpu);
	if (err > 0) {
		err = core_add(t, c, cpu);
	} else if (err == 0) {
		err = pmu_all(t, &all);
		for (size_t i = 0; err >= 0 && i < all->n; i++)
			if (pmu_has_file(t, str_of(all->v[i]->name), "cpus"))
				err = core_add(t, c, all->v[i]);
	}
	if (err < 0)
		return err;
	c->core_known = true;
	return 0;
}

bool event_has_core_pmu(struct tacho *t)
{
	const struct pmu_list *cores;

	return pmu_cores(t, &cores) >= 0 && cores->n > 0;
}

struct str pmu_stem(struct str name)
{
	size_t n = name.n, digits;
	bool hex = false;

	while (n && isxdigit((unsigned char)name.s[n - 1])) {
		hex |= !isdigit((unsigned char)name.s[n - 1]);
		n--;
	}
	digits = name.n - n;
	/* One or two hex digits that include letters are part of the name: cpum_cf is not an instance of
	 * cpum. */
	if (!digits || n < 2 || name.s[n - 1] != '_' || (hex && digits <= 2))
		return name;
	return str_n(name.s, n - 1);
}

static bool matches_plain(struct str typed, struct str name)
{
	return str_eq(typed, name) || str_eq(typed, pmu_stem(name));
}

static bool matches_glob(struct str typed, struct str name)
{
	return str_glob(typed, name) || str_glob(typed, pmu_stem(name));
}

bool pmu_matches(struct str typed, struct str name)
{
	bool (*matches)(struct str, struct str) = str_has_glob(typed) ? matches_glob : matches_plain;
	size_t skip = strlen("uncore_");

	if (!typed.n)
		return false;
	return matches(typed, name) ||
	       (str_starts(name, "uncore_") && matches(typed, str_n(name.s + skip, name.n - skip)));
}

int pmu_read(struct tacho *t, const struct pmu *pmu, char *out, size_t size, const char *dir,
	     struct str file)
{
	if (file.n > NAME_MAX)
		return -ENOENT;
	return sys_read_sysfs(&t->sys, out, size, DEVICES "/%s/%s%s%.*s", pmu->name, dir ? dir : "",
			      dir ? "/" : "", STR(file));
}

int pmu_dir(struct tacho *t, const struct pmu *pmu, const char *dir, struct strlist *out)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", t->sys.sysfs, pmu->name, dir);
	return sys_list_dir(path, out);
}
