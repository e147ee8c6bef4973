/*
 * Resolves an event of a list on the machine's PMUs: which of them it belongs to, and whether their formats have
 * all terms it needs. If a term is missing or a value does not fit, the event is refused, because
 * a similar encoding would count something else.
 */
#include "event/vendor.h"

#include <errno.h>
#include <stdio.h>

#include "base/num.h"
#include "base/vec.h"
#include "event/vendor_add.h"

void vendor_found_done(struct vendor_found *f)
{
	buf_done(&f->terms);
}

static int pmu_list_add(struct pmu_list *l, struct pmu *pmu)
{
	struct pmu **slot = vec_add(l);

	if (!slot)
		return -ENOMEM;
	*slot = pmu;
	return 0;
}

/* Finds the instances of the first PMU in `candidates` ("a|b") that exists. */
static int uncore_pmus(struct tacho *t, const char *candidates, struct pmu_list *out, char *why,
		       size_t size)
{
	struct str rest = str_of(candidates), one;
	const struct pmu_list *all;
	int err = pmu_all(t, &all);

	while (!err && !out->n && str_cut(&rest, '|', &one))
		for (size_t i = 0; !err && i < all->n; i++) {
			struct str name = str_of(all->v[i]->name);

			if (str_eq(one, name) || str_eq(one, pmu_stem(name)))
				err = pmu_list_add(out, all->v[i]);
		}
	if (!err && !out->n) {
		rest = str_of(candidates);
		str_cut(&rest, '|', &one);
		snprintf(why, size, "this machine has no PMU %.*s%s", SHOW(one),
			 rest.s ? ", nor an equivalent one" : "");
	}
	return err;
}

/* Implementer and part number (MIDR) of the first CPU of a PMU; 0: unknown. */
static uint32_t pmu_midr(struct tacho *t, const struct pmu *pmu)
{
	char text[64];
	uint64_t midr;
	int cpu = max_of(cpuset_next(&pmu->cpus, -1), 0);
	int n = sys_read_sysfs(&t->sys, text, sizeof(text),
			       "devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);

	if (n <= 0 || num_u64(str_trim(str_n(text, (size_t)n)), &midr) < 0)
		return 0;
	return (uint32_t)(midr >> 24 & 0xff) << 12 | (uint32_t)(midr >> 4 & 0xfff);
}

static int list_role(struct vendor_list *l, const char **out)
{
	int err = l->role_known ? 0 : vendor_map_role(l->path, &l->role);

	l->role_known = !err;
	*out = l->role;
	return err;
}

/* On machines with several core types, finds the core PMU that the list is for. */
static int core_of_many(struct tacho *t, struct vendor_list *l, const struct pmu_list *cores,
			struct pmu_list *out, char *why, size_t size)
{
	const char *role = NULL;
	int err = l->head->midr ? 0 : list_role(l, &role);

	for (size_t i = 0; !err && i < cores->n; i++)
		if (l->head->midr ? pmu_midr(t, cores->v[i]) == l->head->midr :
		    role && !strcmp(role, cores->v[i]->name))
			err = pmu_list_add(out, cores->v[i]);
	if (err || out->n)
		return err;
	if (role || l->head->midr)
		snprintf(why, size, "its list is for another core type than those of this machine (%s ...)",
			 role ? role : cores->v[0]->name);
	else
		snprintf(why, size, "this machine has several core types (%s, %s), and no mapfile.csv near the "
			 "list says which it is for", cores->v[0]->name, cores->v[1]->name);
	return 0;
}

static int core_pmus(struct tacho *t, struct vendor_list *l, struct pmu_list *out, char *why, size_t size)
{
	const struct pmu_list *cores;
	int err = pmu_cores(t, &cores);

	if (err < 0)
		return err;
	if (!cores->n) {
		snprintf(why, size, "sysfs shows no core PMU, as in a VM without one");
		return 0;
	}
	return cores->n == 1 ? pmu_list_add(out, cores->v[0]) : core_of_many(t, l, cores, out, why, size);
}

int vendor_pmus(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		struct pmu_list *out, char *why, size_t size)
{
	const char *pmu = vendor_str(l, ev->pmu);

	why[0] = '\0';
	return *pmu ? uncore_pmus(t, pmu, out, why, size) : core_pmus(t, l, out, why, size);
}

/* Terms whose names differ between PMUs. */
static const struct { const char *key, *also; } spellings[] = {
	{ "cmask", "thresh" }, { "cmask", "threshold" }, { "thresh", "threshold" }, { "thresh", "cmask" },
};

static int find_format(struct tacho *t, const struct pmu *pmu, struct str *key, struct pmu_format *f)
{
	int err = pmu_format(t, pmu, *key, f);

	for (size_t i = 0; !err && i < countof(spellings); i++)
		if (str_is(*key, spellings[i].key)) {
			err = pmu_format(t, pmu, str_of(spellings[i].also), f);
			if (err > 0)
				*key = str_of(spellings[i].also);
		}
	return err;
}

static bool is_config(struct str key)
{
	return str_is(key, "config") || str_is(key, "config1") || str_is(key, "config2");
}

/* Checks one "key=0x1" of the list against the PMU's formats. Appends it, or sets out->why. */
static int resolve_term(struct tacho *t, const struct pmu *pmu, struct str key, struct str text,
		    struct vendor_found *out)
{
	struct pmu_format f;
	uint64_t value;
	unsigned width;
	int err;

	if (num_u64(text, &value) < 0)
		return 0;
	err = is_config(key) ? 0 : find_format(t, pmu, &key, &f);
	if (err < 0)
		return err == -ENOMEM ? err :
		       (snprintf(out->why, sizeof(out->why), "the format of '%.*s' of PMU %s cannot be read",
				 SHOW(key), pmu->name), 0);
	if (!err && str_is(key, "any")) {
		snprintf(out->notice, sizeof(out->notice),
			 "any=1 is ignored: PMU %s can count for one thread only", pmu->name);
		return 0;
	}
	if (!err && !is_config(key)) {
		snprintf(out->why, sizeof(out->why), "it needs %.*s=0x%llx, but PMU %s has no such term",
			 SHOW(key), (unsigned long long)value, pmu->name);
		return 0;
	}
	width = err ? format_width(&f) : 64;
	if (width < 64 && value >> width) {
		snprintf(out->why, sizeof(out->why), "it needs %.*s=0x%llx, but the term has only %u bit%s on PMU %s",
			 SHOW(key), (unsigned long long)value, width, width == 1 ? "" : "s", pmu->name);
		return 0;
	}
	buf_printf(&out->terms, "%s%.*s=0x%llx", out->terms.n ? "," : "", STR(key),
		   (unsigned long long)value);
	return 0;
}

static int resolve_all_terms(struct tacho *t, const struct pmu *pmu, const char *terms, struct vendor_found *out)
{
	struct str rest = str_of(terms), one, key;
	int err = 0;

	while (!err && !out->why[0] && str_cut(&rest, ',', &one)) {
		str_cut(&one, '=', &key);
		err = resolve_term(t, pmu, key, one, out);
	}
	if (out->why[0])
		buf_clear(&out->terms);
	return err ? err : buf_failed(&out->terms) ? -ENOMEM : 0;
}

/* Writes the name of the PMU, or for several instances the name without a number, which selects all of
 * them. */
static void name_pmus(const struct pmu_list *pmus, const char *wanted, char *out, size_t size)
{
	struct str first = str_of(wanted), rest = first;

	str_cut(&rest, '|', &first);
	if (!pmus->n)
		snprintf(out, size, "%.*s", SHOW(first));
	else if (pmus->n == 1)
		snprintf(out, size, "%s", pmus->v[0]->name);
	else
		snprintf(out, size, "%.*s", SHOW(pmu_stem(str_of(pmus->v[0]->name))));
}

/* Adds a notice: without its filter an event may count everything or nothing, depending on the event. */
static void note_filter(struct vendor_list *l, const struct vendor_event *ev, struct vendor_found *out)
{
	const char *filter = vendor_str(l, ev->filter);

	if (*filter && !out->notice[0] && !out->why[0])
		snprintf(out->notice, sizeof(out->notice),
			 "its filter %.60s is not set; it can be set by terms of PMU %s", filter, out->pmu);
}

/* Takes terms and descriptions from the event, or from the standard event that it refers to. */
static int load_definition(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		      struct vendor_found *out)
{
	const struct vendor_event *standard = NULL;
	struct vendor_list *in = l;
	int err = ev->standard ? vendor_standard(t, l, ev, &in, &standard) : 0;

	if (!standard) {
		standard = ev;
		in = l;
	}
	buf_clear(&out->terms);
	out->why[0] = out->notice[0] = '\0';
	out->asked = vendor_str(in, standard->terms);
	out->refused = vendor_str(in, standard->refused);
	out->desc = vendor_str(ev->desc ? l : in, ev->desc ? ev->desc : standard->desc);
	out->more = vendor_str(ev->more ? l : in, ev->more ? ev->more : standard->more);
	if (!*out->more)
		out->more = out->desc;
	return err;
}

static int resolve_on(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		      const struct pmu *pmu, struct vendor_found *out)
{
	int err = 0;

	if (*out->refused)
		snprintf(out->why, sizeof(out->why), "%s", out->refused);
	else if (!out->why[0])
		err = resolve_all_terms(t, pmu, out->asked, out);
	note_filter(l, ev, out);
	return err;
}

int vendor_resolve(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		   struct vendor_found *out)
{
	const char *wanted = vendor_str(l, ev->pmu);
	struct pmu_list pmus = { 0 };
	int err = load_definition(t, l, ev, out);

	if (!err)
		err = vendor_pmus(t, l, ev, &pmus, out->why, sizeof(out->why));
	if (!err) {
		name_pmus(&pmus, *wanted ? wanted : "cpu", out->pmu, sizeof(out->pmu));
		err = resolve_on(t, l, ev, pmus.n ? pmus.v[0] : NULL, out);
	}
	vec_done(&pmus);
	return err;
}

int vendor_resolve_on(struct tacho *t, struct vendor_list *l, const struct vendor_event *ev,
		      const struct pmu *pmu, struct vendor_found *out)
{
	struct pmu_list pmus = { 0 };
	bool counts = false;
	int err = load_definition(t, l, ev, out);

	if (!err)
		err = vendor_pmus(t, l, ev, &pmus, out->why, sizeof(out->why));
	for (size_t i = 0; !err && i < pmus.n; i++)
		counts |= !strcmp(pmus.v[i]->name, pmu->name);
	snprintf(out->pmu, sizeof(out->pmu), "%s", pmu->name);
	if (!err && counts)
		err = resolve_on(t, l, ev, pmu, out);
	vec_done(&pmus);
	return err ? err : counts;
}
