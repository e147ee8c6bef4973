/*
 * Reads mapfile.csv, which maps CPUs to event lists.
 *
 *	GenuineIntel-6-55-[01234],V1.37,/SKX/events/skylakex_core.json,core,,,
 *	GenuineIntel-6-97,V1.40,/ADL/events/alderlake_gracemont_core.json,hybridcore,0x20,0x000001,Atom
 *
 * The first column is a regular expression for vendor, family, model (hex) and optionally stepping (hex). On
 * hybrid CPUs the last column is the core type.
 */
#include "event/vendor.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"

#define MAP_MAX (4u << 20)

void vendor_files_done(struct vendor_files *f)
{
	strlist_done(&f->paths);
	strlist_done(&f->roles);
}

static bool cpuinfo_value(struct str line, const char *key, struct str *out)
{
	struct str name;

	if (!str_cut(&line, ':', &name) || !str_is(str_trim(name), key) || !line.s)
		return false;
	*out = str_trim(line);
	return true;
}

/* As in pmu-tools, the variable EVENTMAP may also contain a CPU ID: EVENTMAP=GenuineIntel-6-55-4. */
bool vendor_map_is_cpu(const char *text)
{
	regex_t re;
	bool is;

	if (regcomp(&re, "^[A-Za-z]+-[0-9]+-[0-9A-Fa-f]+(-[0-9A-Fa-f]+)?$", REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	is = strlen(text) < 64 && !io_is_accessible(text, F_OK) && regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return is;
}

int vendor_cpu_id(struct tacho *t, char *out, size_t size)
{
	const char *eventmap = secure_getenv("EVENTMAP");
	struct str vendor = { 0 }, value = { 0 }, rest, line;
	uint32_t family = 0, model = 0, stepping = 0;
	char text[8192];
	int n;

	if (eventmap && vendor_map_is_cpu(eventmap)) {
		snprintf(out, size, "%s", eventmap);
		return 0;
	}
	n = sys_read_sysfs(&t->sys, text, sizeof(text), "devices/system/cpu/cpu0/regs/identification/midr_el1");
	if (n > 0) {
		snprintf(out, size, "%.*s", n, text);
		return 0;
	}
	n = sys_read_procfs(&t->sys, text, sizeof(text), "cpuinfo");
	rest = str_n(text, (size_t)max_of(n, 0));
	while (rest.n && str_cut(&rest, '\n', &line) && str_trim(line).n) {
		if (cpuinfo_value(line, "vendor_id", &value))
			vendor = value;
		else if (cpuinfo_value(line, "cpu family", &value))
			num_u32(value, &family);
		else if (cpuinfo_value(line, "model", &value))
			num_u32(value, &model);
		else if (cpuinfo_value(line, "stepping", &value))
			num_u32(value, &stepping);
	}
	if (!vendor.n)
		return -ENOENT;
	snprintf(out, size, "%.*s-%u-%X-%X", (int)min_of(vendor.n, (size_t)24), vendor.s, family, model,
		 stepping);
	return 0;
}

bool vendor_cpu_matches(struct str pattern, const char *id)
{
	const char *dash = strrchr(id, '-');
	char text[160], shorter[64];
	regex_t re;
	bool hit;

	/* Counted repetition can make a compiled pattern huge; mapfiles use neither it nor escapes. */
	if (!pattern.n || pattern.n > 128 || memchr(pattern.s, '{', pattern.n) ||
	    memchr(pattern.s, '\\', pattern.n))
		return false;
	snprintf(text, sizeof(text), "^(%.*s)$", STR(pattern));
	if (regcomp(&re, text, REG_EXTENDED | REG_NOSUB | REG_ICASE) != 0)
		return false;
	hit = regexec(&re, id, 0, NULL, 0) == 0;
	if (!hit && dash) {		/* a row without a stepping matches all steppings */
		snprintf(shorter, sizeof(shorter), "%.*s", (int)(dash - id), id);
		hit = regexec(&re, shorter, 0, NULL, 0) == 0;
	}
	regfree(&re);
	return hit;
}

struct map_row {
	struct str cpu, file, type, role;
};

static bool split_row(struct str line, struct map_row *out)
{
	struct str cell[7] = { 0 };

	for (size_t i = 0; i < countof(cell) && str_cut(&line, ',', &cell[i]); i++)
		cell[i] = str_trim(cell[i]);
	*out = (struct map_row){ cell[0], cell[2], cell[3], cell[6] };
	return out->file.n && out->cpu.n && !str_is(out->cpu, "Family-model");
}

static bool is_events_row(const char *type)
{
	static const char *const types[] = { "core", "hybridcore", "uncore", "uncore experimental",
					     "offcore", "fp_arith_inst", "metrics", "retire latency" };

	for (size_t i = 0; i < countof(types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static const char *role_pmu(struct str role)
{
	return str_is(role, "Core") ? "cpu_core" : str_is(role, "Atom") ? "cpu_atom" :
	       str_is(role, "LowPower_Atom") ? "cpu_lowpower" : "";
}

/* Returns whether the file is a simple path below the mapfile's directory: no "..", no hidden files, no
 * characters that are special in URLs or options. */
static bool is_safe(struct str file)
{
	char before = '/';

	for (size_t i = 0; i < file.n; i++) {
		char c = file.s[i];

		if ((before == '/' && (c == '.' || c == '/' || c == '-')) || !(isalnum((unsigned char)c) ||
		    strchr("._-+/", c)) || !c)
			return false;
		before = c;
	}
	return file.n && file.n <= NAME_MAX && before != '/';
}

static int refuse_row(const char *map, unsigned line, struct str file, struct tacho_error *e)
{
	char shown[81];
	int n = snprintf(shown, sizeof(shown), "%.*s", (int)min_of(file.n, (size_t)80), file.s);

	str_make_printable(shown, (size_t)max_of(n, 0));
	error_set(e, -EINVAL, "'%.200s', line %u: '%s' is not a path below its directory", map, line, shown);
	error_hint(e, "a mapfile with such a row is not used at all");
	return -EINVAL;
}

struct map_walk {
	const char *path, *cpu;
	int (*fn)(void *arg, const struct tacho_mapped *file);
	void *arg;
	struct tacho_error *e;
	int n;
};

static int visit_row(struct map_walk *w, const struct map_row *row, unsigned line)
{
	struct tacho_mapped out = { .size = sizeof(out), .pmu = role_pmu(row->role) };
	struct str name = row->file;
	scoped(freep) char *file = NULL;
	scoped(freep) char *type = NULL;

	while (name.n && name.s[0] == '/')
		name = str_n(name.s + 1, name.n - 1);
	if (!is_safe(name))
		return refuse_row(w->path, line, row->file, w->e);
	file = str_dup(name);
	type = str_dup(row->type);
	if (!file || !type)
		return error_nomem(w->e);
	out.file = file;
	out.type = type;
	out.events = is_events_row(type);
	w->n++;
	return w->fn(w->arg, &out);
}

static int walk_rows(struct map_walk *w, struct str rest)
{
	unsigned line_no = 0;
	struct map_row row;
	struct str line;
	int err = 0;

	while (!err && str_cut(&rest, '\n', &line)) {
		line_no++;
		if (split_row(line, &row) && vendor_cpu_matches(row.cpu, w->cpu))
			err = visit_row(w, &row, line_no);
	}
	if (!err && !w->n)
		return error_set(w->e, -ENOENT, "'%.200s' has no list for the CPU %s", w->path, w->cpu);
	return err ? err : w->n;
}

int tacho_eventlist_cpu(struct tacho *t, char *out, size_t size, struct tacho_error *e)
{
	if (vendor_cpu_id(t, out, size) == 0)
		return 0;
	return error_set(e, -ENOENT, "cannot identify this CPU from /proc/cpuinfo or sysfs");
}

int tacho_eventlist_map(struct tacho *t, const char *mapfile, const char *cpu,
			int (*fn)(void *arg, const struct tacho_mapped *file), void *arg,
			struct tacho_error *e)
{
	struct map_walk w = { .path = mapfile, .cpu = cpu, .fn = fn, .arg = arg, .e = e };
	struct buf text = { 0 };
	char id[64];
	int err = io_read(mapfile, MAP_MAX, &text);

	if (err < 0)
		error_set(e, err, "'%.200s': %s", mapfile, strerror(-err));
	else if (!cpu)
		err = tacho_eventlist_cpu(t, id, sizeof(id), e);
	if (!err) {
		w.cpu = cpu ? cpu : id;
		err = walk_rows(&w, buf_view(&text));
	}
	buf_done(&text);
	return err;
}

struct map_collector {
	const char *map;
	struct vendor_files *out;
};

static int collect_row(void *arg, const struct tacho_mapped *file)
{
	const struct map_collector *x = arg;
	const char *slash = strrchr(x->map, '/');
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%.*s/%s", slash ? (int)(slash - x->map) : 1,
			 slash ? x->map : ".", file->file);

	if (!file->events || n < 0 || n >= (int)sizeof(path))
		return 0;
	return strlist_add(&x->out->paths, str_of(path)) || strlist_add(&x->out->roles, str_of(file->pmu)) ?
	       -ENOMEM : 0;
}

int vendor_map_read(struct tacho *t, const char *path, struct vendor_files *out, struct tacho_error *e)
{
	struct map_collector x = { .map = path, .out = out };
	int err = tacho_eventlist_map(t, path, NULL, collect_row, &x, e);

	if (err == -ENOMEM)
		return error_nomem(e);
	if (err >= 0 && !out->paths.n)
		return error_set(e, -ENOENT, "'%.200s' has no list for this CPU", path);
	return min_of(err, 0);
}

static int find_role(const char *map, struct str tail, char **out)
{
	struct buf text = { 0 };
	struct str rest = { 0 }, line;
	struct map_row row;
	int err = io_read(map, MAP_MAX, &text);

	if (!err)
		rest = buf_view(&text);
	while (!*out && str_cut(&rest, '\n', &line)) {
		if (!split_row(line, &row) || row.file.n < tail.n || !*role_pmu(row.role) ||
		    !str_eq(str_n(row.file.s + row.file.n - tail.n, tail.n), tail))
			continue;
		*out = str_dup(str_of(role_pmu(row.role)));
		err = *out ? 0 : -ENOMEM;
		break;
	}
	buf_done(&text);
	return err == -ENOMEM ? err : 0;
}

int vendor_map_role(const char *list_path, char **out)
{
	static const char *const ups[] = { "", "../", "../../" };
	const char *slash = strrchr(list_path, '/');
	struct str tail = str_of(slash ? slash + 1 : list_path);
	char map[PATH_MAX];
	int err = 0;

	*out = NULL;
	for (size_t i = 0; i < countof(ups) && !err && !*out; i++) {
		int n = snprintf(map, sizeof(map), "%.*s/%smapfile.csv", slash ? (int)(slash - list_path) : 1,
				 slash ? list_path : ".", ups[i]);

		if (n > 0 && n < (int)sizeof(map))
			err = find_role(map, tail, out);
	}
	return err;
}
