/*
 * Reads an Alumet configuration: [plugins.perf] in its two forms.
 *
 *	v0.9.5	hardware_events, software_events, cache_events: constants ("CACHE_MISSES"), metrics
 *		perf_hardware_CACHE_MISSES ...
 *	newer	events: names with modifiers #u:k, or { event = , rename = }, metrics perf_cache_misses
 *
 * Alumet counts user space only for events without modifiers. The same is done here, except for
 * events that happen only in the kernel (context switches), which would always read 0.
 */
#include "agent/config/build.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"

enum family { HARDWARE, SOFTWARE, CACHE, ANY };

static const struct { const char *alumet, *ours; enum family family; bool in_kernel; } event_names[] = {
	{ "CPU_CYCLES", "cpu-cycles", HARDWARE, false },
	{ "INSTRUCTIONS", "instructions", HARDWARE, false },
	{ "CACHE_REFERENCES", "cache-references", HARDWARE, false },
	{ "CACHE_MISSES", "cache-misses", HARDWARE, false },
	{ "BRANCH_INSTRUCTIONS", "branch-instructions", HARDWARE, false },
	{ "BRANCH_MISSES", "branch-misses", HARDWARE, false },
	{ "BUS_CYCLES", "bus-cycles", HARDWARE, false },
	{ "STALLED_CYCLES_FRONTEND", "stalled-cycles-frontend", HARDWARE, false },
	{ "STALLED_CYCLES_BACKEND", "stalled-cycles-backend", HARDWARE, false },
	{ "REF_CPU_CYCLES", "ref-cycles", HARDWARE, false },
	{ "PAGE_FAULTS", "page-faults", SOFTWARE, false },
	{ "CONTEXT_SWITCHES", "context-switches", SOFTWARE, true },
	{ "CPU_MIGRATIONS", "cpu-migrations", SOFTWARE, true },
	{ "PAGE_FAULTS_MIN", "minor-faults", SOFTWARE, false },
	{ "PAGE_FAULTS_MAJ", "major-faults", SOFTWARE, false },
	{ "ALIGNMENT_FAULTS", "alignment-faults", SOFTWARE, false },
	{ "EMULATION_FAULTS", "emulation-faults", SOFTWARE, false },
	{ "CGROUP_SWITCHES", "cgroup-switches", SOFTWARE, true },
};

static const char *const old_keys[] = {
	[HARDWARE] = "hardware_events", [SOFTWARE] = "software_events", [CACHE] = "cache_events",
};
static const char *const old_kinds[] = {
	[HARDWARE] = "hardware", [SOFTWARE] = "software", [CACHE] = "cache",
};

struct alumet {
	struct agent_config *cfg;
	struct source_config *source;
	struct value_origin from;
	struct tacho_error *e;
	bool old;			/* uses the keys of v0.9.5 */
};

static const struct config_key text_row = { KEY_STRING, "an event" };

/* L1D_READ_MISS -> L1-dcache-load-misses. Operations that perf has no name for, such as writes to the instruction
 * cache, keep Alumet's name, which the event language knows too. */
static bool put_cache_name(struct str name, struct buf *out)
{
	enum { READ = 1, WRITE = 2, PREFETCH = 4, ALL = READ | WRITE | PREFETCH };
	static const struct { const char *alumet, *ours; unsigned named_ops; } caches[] = {
		{ "L1D", "L1-dcache", ALL }, { "L1I", "L1-icache", READ | PREFETCH }, { "LL", "LLC", ALL },
		{ "DTLB", "dTLB", ALL }, { "ITLB", "iTLB", READ }, { "BPU", "branch", READ },
		{ "NODE", "node", ALL },
	};
	static const char *const ops[][3] = {
		{ "READ", "loads", "load-misses" }, { "WRITE", "stores", "store-misses" },
		{ "PREFETCH", "prefetches", "prefetch-misses" },
	};

	for (size_t c = 0; c < countof(caches); c++)
		for (size_t o = 0; o < countof(ops); o++)
			for (size_t miss = 0; miss < 2; miss++) {
				char word[64];

				snprintf(word, sizeof(word), "%s_%s_%s", caches[c].alumet, ops[o][0],
					 miss ? "MISS" : "ACCESS");
				if (!str_ieq(name, str_of(word)))
					continue;
				if (caches[c].named_ops & 1u << o)
					buf_printf(out, "%s-%s", caches[c].ours, ops[o][1 + miss]);
				else
					buf_puts(out, word);
				return true;
			}
	return false;
}

/* Converts Alumet's modifiers to ours: u:k -> uk. */
static int put_modifiers(struct alumet *a, struct str text, const struct toml_value *v, struct buf *out)
{
	struct str modifier;

	while (str_cut(&text, ':', &modifier)) {
		if (modifier.n != 1 || !strchr("ukhHGI", modifier.s[0]))
			return key_fail(a->e, &a->from, v->at,
					"'%.*s' is not a modifier; the modifiers are u, k, h, H, G "
					"and I, separated by colons",
					(int)min_of(modifier.n, (size_t)40), modifier.s);
		buf_putc(out, modifier.s[0]);
	}
	return 0;
}

/* Translates a name from the tables, or rN (a raw event). Returns false for other names, which may be
 * libpfm names. */
static bool put_plain_name(struct str name, struct buf *spec, bool *in_kernel)
{
	uint64_t raw;

	*in_kernel = false;
	for (size_t i = 0; i < countof(event_names); i++)
		if (str_ieq(name, str_of(event_names[i].alumet))) {
			buf_puts(spec, event_names[i].ours);
			*in_kernel = event_names[i].in_kernel;
			return true;
		}
	if (put_cache_name(name, spec))
		return true;
	if (name.n > 1 && name.s[0] == 'r' && !num_hex(str_n(name.s + 1, name.n - 1), &raw)) {
		buf_printf(spec, "r%llx", (unsigned long long)raw);
		return true;
	}
	return false;
}

/* Translates an event to our event syntax; in pmu/NAME the modifiers follow a second slash. */
static int put_spec(struct alumet *a, struct str text, const struct toml_value *v, struct buf *spec)
{
	ptrdiff_t hash = str_find(text, '#'), slash;
	struct str name = hash < 0 ? text : str_n(text.s, (size_t)hash);
	struct buf modifiers = { 0 };
	bool in_kernel = false;
	int err = 0;

	if (hash >= 0)
		err = put_modifiers(a, str_n(text.s + hash + 1, text.n - (size_t)hash - 1), v,
				    &modifiers);
	if (err) {
		buf_done(&modifiers);
		return err;
	}
	slash = str_find(name, '/');
	if (slash > 0 && (size_t)slash + 1 < name.n) {
		struct str word = str_n(name.s + slash + 1, name.n - (size_t)slash - 1);
		uint64_t raw;

		if (word.s[0] == 'r' && !num_hex(str_n(word.s + 1, word.n - 1), &raw))
			buf_printf(spec, "%.*s/config=0x%llx/", (int)slash, name.s, (unsigned long long)raw);
		else
			buf_printf(spec, "%.*s/", STR(name));
		buf_puts(spec, modifiers.n ? modifiers.bytes : "u");
	} else if (put_plain_name(name, spec, &in_kernel)) {
		if (modifiers.n)
			buf_printf(spec, ":%s", modifiers.bytes);
		else if (!in_kernel)
			buf_puts(spec, ":u");
	} else {	/* config_look_up() will report it if it is unknown */
		buf_str(spec, name);
	}
	err = buf_failed(spec) || buf_failed(&modifiers) ? error_nomem(a->e) : 0;
	buf_done(&modifiers);
	return err;
}

/* The metric's name: perf_hardware_X for v0.9.5, else perf_x with other characters than letters and
 * digits replaced by _. */
static void put_metric_name(const struct alumet *a, enum family family, struct str text,
			    struct str rename, struct buf *out)
{
	ptrdiff_t hash = str_find(text, '#');
	struct str name = rename.n ? rename : hash < 0 ? text : str_n(text.s, (size_t)hash);

	if (a->old) {
		buf_printf(out, "perf_%s_%.*s", old_kinds[family], STR(name));
		return;
	}
	buf_puts(out, "perf_");
	for (size_t i = 0; i < name.n; i++) {
		char c = name.s[i] >= 'A' && name.s[i] <= 'Z' ? (char)(name.s[i] + 32) : name.s[i];

		buf_putc(out, (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_');
	}
}

static int add_event(struct alumet *a, enum family family, const struct toml_value *v, struct str text,
		     struct str rename)
{
	struct buf spec = { 0 }, name = { 0 };
	int err = text.n ? put_spec(a, text, v, &spec) :
			   key_fail(a->e, &a->from, v->at, "an event name is empty");

	put_metric_name(a, family, text, rename, &name);
	if (!err && buf_failed(&name))
		err = error_nomem(a->e);
	for (size_t i = 0; i < a->source->n_events && !err; i++)
		if (!strcmp(a->source->events[i].name, name.bytes))
			err = key_fail(a->e, &a->from, v->at,
				       "two events have the metric name %s; give one of them "
				       "another name with 'rename'",
				       name.bytes);
	if (!err && !config_add_event(a->source, buf_view(&spec), buf_view(&name), text, v->at))
		err = error_nomem(a->e);
	buf_done(&spec);
	buf_done(&name);
	return err;
}

static int read_event(struct alumet *a, enum family family, const struct toml_value *v)
{
	const struct toml_value *event = v, *rename = NULL;
	struct str text, other = { 0 };
	int err;

	if (v->kind == TOML_TABLE) {
		event = toml_get(v, STR_LIT("event"));
		rename = toml_get(v, STR_LIT("rename"));
		if (!event || v->n > 1u + !!rename)
			return key_fail(
				a->e, &a->from, v->at,
				"an event must be a string or { event = ..., rename = ... }");
	}
	err = key_text(&text_row, event, &a->from, &text, a->e);
	if (!err && rename)
		err = key_text(&text_row, rename, &a->from, &other, a->e);
	return err ? err : add_event(a, family, event, text, other);
}

static int read_events(struct alumet *a, enum family family, const struct toml_value *list)
{
	int err = 0;

	if (list->kind != TOML_ARRAY)
		return key_fail(a->e, &a->from, list->at, "%.*s must be an array", STR(list->key));
	for (const struct toml_value *v = list->first; v && !err; v = v->next)
		err = read_event(a, family, v);
	return err;
}

/* Parses a duration as Rust's humantime does: a sum of numbers with units, "1s 500ms", "2min", "1
 * hour". */
static int parse_duration(struct str s, uint64_t *out)
{
	static const struct { const char *words; const char *unit; } units[] = {
		{ " ns nsec nanos nanosecond nanoseconds ", "ns" },
		{ " us usec micros microsecond microseconds ", "us" },
		{ " ms msec millis millisecond milliseconds ", "ms" },
		{ " s sec secs second seconds ", "s" }, { " m min mins minute minutes ", "m" },
		{ " h hr hrs hour hours ", "h" }, { " d day days ", "d" },
	};
	uint64_t sum = 0, part;

	s = str_trim(s);
	while (s.n) {
		size_t digits = 0, word, from;
		char text[64], wanted[32];
		size_t u = 0;

		while (digits < s.n && s.s[digits] >= '0' && s.s[digits] <= '9')
			digits++;
		for (from = digits; from < s.n && s.s[from] == ' '; from++)
			;
		for (word = from; word < s.n && s.s[word] >= 'a' && s.s[word] <= 'z'; word++)
			;
		if (!digits || digits > 18 || word == from || word - from > 14)
			return -EINVAL;
		snprintf(wanted, sizeof(wanted), " %.*s ", (int)(word - from), s.s + from);
		while (u < countof(units) && !strstr(units[u].words, wanted))
			u++;
		if (u == countof(units))
			return -EINVAL;
		snprintf(text, sizeof(text), "%.*s%s", (int)digits, s.s, units[u].unit);
		if (num_duration_ns(str_of(text), &part) || __builtin_add_overflow(sum, part, &sum))
			return -ERANGE;
		s = str_trim(str_n(s.s + word, s.n - word));
	}
	*out = sum;
	return sum ? 0 : -EINVAL;
}

static int read_duration(struct alumet *a, const struct toml_value *v, uint64_t *out)
{
	static const struct config_key row = { KEY_STRING, "a duration" };
	struct str s;
	int err = key_text(&row, v, &a->from, &s, a->e);

	if (err)
		return err;
	if (parse_duration(s, out) || *out < 1000000 || *out > 86400000000000)
		return key_fail(a->e, &a->from, v->at,
				"%.*s: '%.*s' is not a duration between 1ms and 1d", STR(v->key),
				(int)min_of(s.n, (size_t)40), s.s);
	return 0;
}

static int note_key_origin(struct alumet *a, const char *key, const struct toml_value *v)
{
	struct origin_set *set = origins_of(a->cfg, ORIGIN_SOURCE, a->cfg->n_sources - 1);
	int err = origin_note(set, keys_find(source_keys, str_of(key)), "%s:%d", a->from.file, v->at.line);

	return err ? error_nomem(a->e) : 0;
}

static int read_key(struct alumet *a, const struct toml_value *v)
{
	static const char *const known[] = { "poll_interval", "flush_interval", "events", "hardware_events",
					     "software_events", "cache_events", "enable", "enabled",
					     "add_source_in_pause_state", "multiplexing_auto_scale" };
	struct str_nearest near = { .word = v->key };
	int err;

	if (str_is(v->key, "poll_interval"))
		err = read_duration(a, v, &a->source->interval_ns);
	else if (str_is(v->key, "flush_interval"))
		err = read_duration(a, v, &a->source->flush_ns);
	else if (str_is(v->key, "events"))
		err = read_events(a, ANY, v);
	else {
		for (size_t f = HARDWARE; f <= CACHE; f++)
			if (str_is(v->key, old_keys[f])) {
				err = read_events(a, (enum family)f, v);
				return err ? err : note_key_origin(a, "events", v);
			}
		for (size_t i = 0; i < countof(known); i++) {
			if (str_is(v->key, known[i]))
				return 0;
			str_nearest_try(&near, str_of(known[i]));
		}
		key_fail(a->e, &a->from, v->key_at, "[plugins.perf] has no key '%.*s'",
			 (int)min_of(v->key.n, (size_t)60), v->key.s);
		if (near.best.n)
			error_hint(a->e, "did you mean '%.*s'?", STR(near.best));
		return -EINVAL;
	}
	if (!err)
		err = note_key_origin(a, str_is(v->key, "poll_interval") ? "interval" :
				  str_is(v->key, "flush_interval") ? "flush" : "events", v);
	return err;
}

static bool is_disabled(const struct toml_value *perf)
{
	const struct toml_value *v = toml_get(perf, STR_LIT("enable"));

	if (!v)
		v = toml_get(perf, STR_LIT("enabled"));
	return v && v->kind == TOML_BOOL && !v->boolean;
}

static int add_default_events(struct alumet *a, const struct toml_value *perf)
{
	static const char *const defaults[] = { "REF_CPU_CYCLES", "CACHE_MISSES", "BRANCH_MISSES",
						"LL_READ_MISS" };
	int err = 0;

	if (a->source->n_events)
		return 0;
	for (size_t i = 0; i < countof(defaults) && !err; i++)
		err = add_event(a, ANY, perf, str_of(defaults[i]), (struct str){ 0 });
	return err;
}

static int read_perf(struct alumet *a, const struct toml_value *perf)
{
	const struct toml_value *scale = toml_get(perf, STR_LIT("multiplexing_auto_scale"));
	struct origin_set *set;
	int err = 0;

	a->source = config_add_source(a->cfg, a->e);
	if (!a->source)
		return -ENOMEM;
	set = origins_of(a->cfg, ORIGIN_SOURCE, a->cfg->n_sources - 1);
	if (!set || origin_where(set, &a->from, perf->at))
		return error_nomem(a->e);
	a->source->name = str_dup(STR_LIT("perf"));
	a->source->naming = NAMING_ALUMET;
	a->source->flush_ns = 0;
	a->old = toml_get(perf, STR_LIT("hardware_events")) || toml_get(perf, STR_LIT("software_events")) ||
		 toml_get(perf, STR_LIT("cache_events"));
	if (a->old && toml_get(perf, STR_LIT("events")))
		return key_fail(a->e, &a->from, perf->at,
				"[plugins.perf] mixes 'events' with the keys of Alumet v0.9.5");
	err = note_key_origin(a, "name", perf);
	if (!err)
		err = note_key_origin(a, "naming", perf);
	for (const struct toml_value *v = perf->first; v && !err; v = v->next)
		err = read_key(a, v);
	if (!err && !toml_get(perf, STR_LIT("flush_interval")))
		a->source->flush_ns = max_of(a->source->interval_ns, 5000000000ull);
	if (!err && a->source->flush_ns < a->source->interval_ns)
		a->source->flush_ns = a->source->interval_ns;	/* at least one poll, as in Alumet */
	if (!err && !a->old)
		err = add_default_events(a, perf);
	if (!err && scale && scale->kind == TOML_BOOL && !scale->boolean)
		err = config_note(a->cfg, "multiplexing_auto_scale = false: both the scaled and "
					  "the raw count are reported");
	if (!err)
		err = config_note(
			a->cfg,
			"Alumet's `run` counts nothing without a cgroup plugin; tacho counts the "
			"whole machine, per CPU, and user space only for events without modifiers");
	return err ? (err == -ENOMEM ? error_nomem(a->e) : err) : a->source->name ? 0 : error_nomem(a->e);
}

static int note_ignored_plugins(struct alumet *a, const struct toml_value *plugins)
{
	struct buf list = { 0 };
	int err;

	for (const struct toml_value *v = plugins->first; v; v = v->next)
		if (!str_is(v->key, "perf"))
			buf_printf(&list, "%s%.*s", list.n ? ", " : "", STR(v->key));
	err = buf_failed(&list) ? -ENOMEM
	      : list.n		? config_note(a->cfg,
					      "ignored, because only [plugins.perf] is used: [plugins.*] %s",
					      list.bytes)
				: 0;
	buf_done(&list);
	return err ? error_nomem(a->e) : 0;
}

static int read_root(struct alumet *a, const struct toml_value *root)
{
	const struct toml_value *plugins = toml_get(root, STR_LIT("plugins"));
	const struct toml_value *perf = plugins ? toml_get(plugins, STR_LIT("perf")) : NULL;
	int err;

	a->cfg->default_sources = false;
	if (!plugins || plugins->kind != TOML_TABLE)
		return key_fail(a->e, &a->from, root->at, "this Alumet file has no table [plugins.*]");
	err = note_ignored_plugins(a, plugins);
	if (err)
		return err;
	if (perf && perf->kind == TOML_TABLE && !is_disabled(perf))
		return read_perf(a, perf);
	return config_note(a->cfg, "[plugins.perf] %s: nothing is counted", perf ? "is not enabled" :
			   "is not there") ? error_nomem(a->e) : 0;
}

int config_read_alumet(struct agent_config *cfg, const char *path, struct str text,
		       struct tacho_error *e)
{
	struct alumet a = { .cfg = cfg, .from = { path, NULL }, .e = e };
	struct tacho_error why = { 0 };
	struct buf plain = { 0 };
	struct str unset = { 0 };
	struct toml doc;
	int err = config_substitute_text(text, "\\", &plain, &unset);

	if (err == -ENOENT)
		error_set(e, err, "%s: the environment variable '%.*s' is not set", path,
			  (int)min_of(unset.n, (size_t)60), unset.s);
	else if (err < 0)
		error_nomem(e);
	if (err >= 0) {
		err = toml_parse(&doc, plain.n ? buf_view(&plain) : STR_LIT(""), &why);
		if (err)
			err = err == -ENOMEM ? error_nomem(e) : key_fail(e, &a.from, doc.at, "%s", why.message);
		else
			err = read_root(&a, doc.root);
		if (!err || doc.root)
			toml_done(&doc);
	}
	buf_done(&plain);
	return err;
}
