/*
 * tacho_list(): walks over all events. This file lists the generic tables; PMUs, vendors' lists and
 * tracepoints are in list_*.c. Each item is passed to the caller as soon as it is found.
 */
#include "event/list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/sized_opts.h"
#include "event/names.h"
#include "sys/arch.h"

static const struct { const char *word, *class_; } class_words[] = {
	{ "hw", "hw" }, { "hardware", "hw" }, { "sw", "sw" }, { "software", "sw" },
	{ "cache", "cache" }, { "hwcache", "cache" }, { "pmu", "pmu" },
	{ "vendor", "vendor" },
	{ "tracepoint", "tracepoint" }, { "tool", "tool" }, { "raw", "raw" }, { "bp", "bp" },
};

static const char *class_of(const char *word)
{
	for (size_t i = 0; i < countof(class_words); i++)
		if (strcmp(word, class_words[i].word) == 0)
			return class_words[i].class_;
	return NULL;
}

/* Matches a pattern, or a word anywhere in the name; case is ignored. */
static bool word_matches(const char *word, const char *name)
{
	char pattern[256], text[256];
	size_t n = 0;

	if (!name)
		return false;
	snprintf(pattern, sizeof(pattern), str_has_glob(str_of(word)) ? "%s" : "*%s*", word);
	for (n = 0; pattern[n]; n++)
		pattern[n] = (char)tolower((unsigned char)pattern[n]);
	for (n = 0; n < sizeof(text) - 1 && name[n]; n++)
		text[n] = (char)tolower((unsigned char)name[n]);
	return str_glob(str_of(pattern), str_n(text, n));
}

static bool pmu_wanted(const struct lister *l, const char *pmu)
{
	return !l->opts->pmu || (pmu && str_glob(str_of(l->opts->pmu), str_of(pmu)));
}

bool lister_wants(const struct lister *l, const char *class_, const char *pmu)
{
	if (pmu && !pmu_wanted(l, pmu))
		return false;
	for (size_t i = 0; i < l->opts->n_words; i++) {
		const char *c = class_of(l->opts->words[i]);

		if (!c || strcmp(c, class_) == 0)
			return true;
	}
	return l->opts->n_words == 0;
}

static bool selected(const struct lister *l, const struct tacho_listing *item)
{
	if (!pmu_wanted(l, item->pmu))
		return false;
	for (size_t i = 0; i < l->opts->n_words; i++) {
		const char *word = l->opts->words[i], *c = class_of(word);

		if (c ? strcmp(c, item->class_) == 0 :
			word_matches(word, item->name) || word_matches(word, item->alias))
			return true;
	}
	return l->opts->n_words == 0;
}

int lister_emit(struct lister *l, const struct tacho_listing *item)
{
	struct tacho_listing given = *item;

	if (!selected(l, item))
		return 0;
	given.size = sizeof(given);
	if (given.available && l->refused && strcmp(given.class_, "tool") != 0) {
		given.available = false;
		given.why = probe_why(l->refused);
	}
	return l->fn(l->arg, &given);
}

int probe_attr(struct tacho *t, const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr a = *attr;
	int fd;

	a.size = sizeof(a);
	a.flags |= PERF_ATTR_DISABLED;
	fd = sys_perf_open(&t->sys, &a, cpu < 0 ? 0 : -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -EACCES && cpu < 0) {
		a.flags |= PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV;
		fd = sys_perf_open(&t->sys, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		return fd;
	sys_perf_close(&t->sys, fd);
	return 0;
}

const char *probe_why(int err)
{
	switch (-err) {
	case ENOENT: return "this CPU or kernel does not have it";
	case ENODEV: return "its PMU cannot count it on this CPU";
	case EPERM: return "not permitted: a seccomp filter refuses it, or CAP_PERFMON is missing";
	case EACCES: return "not permitted: needs CAP_PERFMON or a lower kernel.perf_event_paranoid";
	case EOPNOTSUPP: return "its PMU does not support counting it";
	case EBUSY: return "its PMU is in use by something else";
	case EINVAL: return "the kernel refuses it here";
	case ENOSYS: return "this kernel has no perf_event_open, or a filter hides it";
	case EMFILE: return "too many open files to try it";
	default: return "opening it failed";
	}
}

struct table_class {
	const char *kind, *class_, *pmu, *topic, *missing;
	uint32_t type;
	bool probe;
};

static int emit_generic(struct lister *l, const struct table_class *c, const char *name,
			const char *alias, uint64_t config, const struct generic_name *row)
{
	struct perf_event_attr attr = { .type = c->type, .config = config };
	struct tacho_listing item = { .name = name, .alias = alias, .kind = c->kind,
				      .class_ = c->class_, .pmu = c->pmu, .topic = c->topic,
				      .scale = row ? row->scale : 1, .unit = row ? row->unit : NULL,
				      .desc = row ? row->desc : NULL, .available = !c->missing,
				      .why = c->missing };
	char encoding[64];
	int err = 0;

	if (l->opts->details && c->type != TOOL_TYPE) {
		if (c->type == PERF_TYPE_SOFTWARE)
			snprintf(encoding, sizeof(encoding), "software/config=0x%llx/",
				 (unsigned long long)config);
		else
			snprintf(encoding, sizeof(encoding), "%u:0x%llx", c->type,
				 (unsigned long long)config);
		item.encoding = encoding;
	}
	if (l->opts->probe && c->probe && item.available && selected(l, &item))
		err = probe_attr(l->t, &attr, -1);
	if (err < 0) {
		item.available = false;
		item.why = probe_why(err);
	}
	if (c->type == TOOL_TYPE && config == TOOL_SYSTEM_TSC_FREQ && !arch_tsc_hz()) {
		item.available = false;
		item.why = "this processor does not report the frequency of its time-stamp counter";
	}
	return lister_emit(l, &item);
}

static int by_row_name(const void *a, const void *b)
{
	return strcmp((*(const struct generic_name *const *)a)->name,
		      (*(const struct generic_name *const *)b)->name);
}

static int list_table(struct lister *l, struct table_class *c, const struct generic_name *table,
		      size_t n)
{
	const struct generic_name *sorted[16] = { 0 };
	int err = 0;

	if (!lister_wants(l, c->class_, c->pmu))
		return 0;
	n = min_of(n, countof(sorted));
	for (size_t i = 0; i < n; i++)
		sorted[i] = &table[i];
	qsort(sorted, n, sizeof(*sorted), by_row_name);
	for (size_t i = 0; !err && i < n; i++) {
		const struct generic_name *row = sorted[i];

		/* slots is listed with the events of its PMU. */
		if (c->type != TOOL_TYPE || row->config != TOOL_SLOTS)
			err = emit_generic(l, c, row->name, row->alias, row->config, row);
	}
	return err;
}

struct cache_name {
	char name[48];
	uint64_t config;
};

static int by_cache_name(const void *a, const void *b)
{
	return strcmp(((const struct cache_name *)a)->name, ((const struct cache_name *)b)->name);
}

static int list_caches(struct lister *l, struct table_class *c)
{
	struct cache_name all[48];
	size_t n = 0;
	int err = 0;

	if (!lister_wants(l, c->class_, c->pmu))
		return 0;
	while (n < countof(all) && cache_name_at(n, all[n].name, &all[n].config))
		n++;
	qsort(all, n, sizeof(*all), by_cache_name);
	for (size_t i = 0; !err && i < n; i++)
		err = emit_generic(l, c, all[i].name, NULL, all[i].config, NULL);
	return err;
}

static int list_generic(struct lister *l)
{
	const char *missing = event_has_core_pmu(l->t) ? NULL :
			      "no hardware PMU: sysfs shows no core PMU, as in a VM without one";
	struct table_class hw = { "Hardware event", "hw", "cpu", "hardware", missing,
				  PERF_TYPE_HARDWARE, true };
	struct table_class sw = { "Software event", "sw", "software", "software", NULL,
				  PERF_TYPE_SOFTWARE, true };
	struct table_class tool = { "Tool event", "tool", "tool", "tool", NULL, TOOL_TYPE, false };
	struct table_class cache = { "Hardware cache event", "cache", "cpu", "cache", missing,
				     PERF_TYPE_HW_CACHE, true };
	int err = list_table(l, &hw, hardware_names, n_hardware_names);

	if (!err)
		err = list_table(l, &sw, software_names, n_software_names);
	if (!err)
		err = list_caches(l, &cache);
	return err ? err : list_table(l, &tool, tool_names, n_tool_names);
}

/* Lists templates: event syntax with placeholders for numbers or terms. */
static int list_templates(struct lister *l)
{
	static const struct tacho_listing templates[] = {
		{ .name = "rNNN", .kind = "Raw event descriptor", .class_ = "raw", .pmu = "cpu",
		  .topic = "raw", .scale = 1, .desc = "A number in hex for the core PMU's config",
		  .why = "a template: put hex digits in place of NNN" },
		{ .name = "cpu/event=0..255,umask=0..255,.../modifier", .kind = "Raw event descriptor",
		  .class_ = "raw", .pmu = "cpu", .topic = "raw", .scale = 1,
		  .desc = "Terms of any PMU, as its format directory names them",
		  .why = "a template: put terms of the PMU between the slashes" },
		{ .name = "mem:<addr>[/len][:access]", .kind = "Hardware breakpoint", .class_ = "bp",
		  .pmu = "breakpoint", .topic = "breakpoint", .scale = 1,
		  .desc = "Accesses (r, w, x) to 1 to 8 bytes at an address",
		  .why = "a template: put an address in place of <addr>" },
	};
	int err = 0;

	for (size_t i = 0; !err && i < countof(templates); i++)
		if (lister_wants(l, templates[i].class_, templates[i].pmu))
			err = lister_emit(l, &templates[i]);
	return err;
}

int tacho_list(struct tacho *t, const struct tacho_list_opts *opts,
	       int (*fn)(void *arg, const struct tacho_listing *item), void *arg,
	       struct tacho_error *e)
{
	struct perf_event_attr dummy = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY };
	struct tacho_list_opts o;
	struct lister l = { .t = t, .opts = &o, .fn = fn, .arg = arg };
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err < 0)
		return err;
	l.refused = probe_attr(t, &dummy, -1);
	err = list_generic(&l);
	if (!err)
		err = list_pmus(&l);
	if (!err)
		err = list_vendor(&l);
	if (!err)
		err = list_templates(&l);
	if (!err)
		err = list_tracepoints(&l);
	return err == -ENOMEM ? error_nomem(e) : err;
}
