/*
 * Reads the format/ and events/ directories of a PMU in sysfs. A file in format/ gives the bits of the
 * config words that a term sets; a file in events/ contains the terms of a named event. Further files such
 * as NAME.scale and NAME.unit contain the event's scale and unit.
 */
#include "event/pmu.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/num.h"

static int format_range(struct str range, uint64_t *mask)
{
	struct str low;
	uint32_t from, to;

	if (!str_cut(&range, '-', &low) || num_u32(low, &from) < 0)
		return -EINVAL;
	to = from;
	if ((range.s && num_u32(range, &to) < 0) || to < from || to > 63)
		return -EINVAL;
	*mask |= (to - from == 63 ? UINT64_MAX : ((1ULL << (to - from + 1)) - 1)) << from;
	return 0;
}

int format_parse(struct str text, struct pmu_format *out)
{
	struct pmu_format f = { 0 };
	struct str word, range;

	text = str_trim(text);
	if (!str_cut(&text, ':', &word) || !str_starts(word, "config") || !text.s)
		return -EINVAL;
	word = str_n(word.s + 6, word.n - 6);
	if (word.n > 1 || (word.n && (word.s[0] < '1' || word.s[0] > '4')))
		return -EINVAL;
	f.word = word.n ? (uint8_t)(word.s[0] - '0') : 0;
	while (str_cut(&text, ',', &range))
		if (format_range(str_trim(range), &f.mask) < 0)
			return -EINVAL;
	*out = f;
	return 0;
}

unsigned format_width(const struct pmu_format *f)
{
	return (unsigned)__builtin_popcountll(f->mask);
}

uint64_t format_spread(const struct pmu_format *f, uint64_t value)
{
	uint64_t out = 0;

	for (uint64_t mask = f->mask; mask; mask &= mask - 1) {
		if (value & 1)
			out |= mask & -mask;
		value >>= 1;
	}
	return out;
}

int pmu_format(struct tacho *t, const struct pmu *pmu, struct str key, struct pmu_format *out)
{
	char text[256];
	int n = pmu_read(t, pmu, text, sizeof(text), "format", key);

	if (n == -ENOENT || n == -ENOTDIR || n == -EISDIR)
		return 0;
	if (n < 0)
		return n;
	n = format_parse(str_n(text, (size_t)n), out);
	return n < 0 ? n : 1;
}

bool pmu_alias_is_detail(struct str file)
{
	return str_ends(file, ".scale") || str_ends(file, ".unit") || str_ends(file, ".per-pkg") ||
	       str_ends(file, ".snapshot");
}

/* Reads a file that belongs to an event, e.g. "energy-pkg" + ".unit". */
static int read_alias_detail(struct tacho *t, const struct pmu *pmu, const char *name,
			const char *suffix, char *out, size_t size)
{
	char file[NAME_MAX + 1];
	int n = snprintf(file, sizeof(file), "%s%s", name, suffix);

	if (n < 0 || n >= (int)sizeof(file))
		return -ENOENT;
	return pmu_read(t, pmu, out, size, "events", str_n(file, (size_t)n));
}

static int alias_read(struct tacho *t, const struct pmu *pmu, struct str name,
		      struct pmu_alias *out)
{
	char text[64];
	int n;

	if (!name.n || name.n >= sizeof(out->name))
		return 0;
	n = pmu_read(t, pmu, out->terms, sizeof(out->terms), "events", name);
	if (n == -ENOENT || n == -ENOTDIR || n == -EISDIR)
		return 0;
	if (n < 0)
		return n;
	memcpy(out->name, name.s, name.n);
	out->name[name.n] = '\0';
	out->scale = 1;
	n = read_alias_detail(t, pmu, out->name, ".scale", text, sizeof(text));
	if (n > 0 && num_double(str_trim(str_n(text, (size_t)n)), &out->scale) < 0)
		out->scale = 1;
	if (read_alias_detail(t, pmu, out->name, ".unit", out->unit, sizeof(out->unit)) < 0)
		out->unit[0] = '\0';
	out->per_pkg = read_alias_detail(t, pmu, out->name, ".per-pkg", text, sizeof(text)) >= 0;
	out->snapshot = read_alias_detail(t, pmu, out->name, ".snapshot", text, sizeof(text)) >= 0;
	return 1;
}

int pmu_alias(struct tacho *t, const struct pmu *pmu, struct str name, struct pmu_alias *out)
{
	scoped(strlist_done) struct strlist files = { 0 };
	int n;

	if (!name.n || name.s[0] == '.' || pmu_alias_is_detail(name))
		return 0;
	n = alias_read(t, pmu, name, out);
	if (n)
		return n;
	n = pmu_dir(t, pmu, "events", &files);
	if (n == -ENOMEM)
		return n;
	for (size_t i = 0; i < files.n; i++)
		if (str_ieq(name, str_of(files.v[i])))
			return alias_read(t, pmu, str_of(files.v[i]), out);
	return 0;
}

void pmu_format_names(struct tacho *t, const struct pmu *pmu, struct buf *out, struct name_guess *g)
{
	scoped(strlist_done) struct strlist files = { 0 };

	pmu_dir(t, pmu, "format", &files);
	for (size_t i = 0; i < files.n; i++) {
		buf_puts(out, out->n ? ", " : "");
		buf_puts(out, files.v[i]);
		guess_try(g, str_of(files.v[i]));
	}
	strlist_done(&files);
	pmu_dir(t, pmu, "events", &files);
	for (size_t i = 0; i < files.n; i++)
		if (!pmu_alias_is_detail(str_of(files.v[i])))
			guess_try(g, str_of(files.v[i]));
}

void pmu_guess(struct tacho *t, struct name_guess *g)
{
	const struct pmu_list *all;

	if (pmu_all(t, &all) < 0)
		return;
	for (size_t i = 0; i < all->n; i++) {
		scoped(strlist_done) struct strlist files = { 0 };

		guess_try(g, str_of(all->v[i]->name));
		pmu_dir(t, all->v[i], "events", &files);
		for (size_t k = 0; k < files.n; k++)
			if (!pmu_alias_is_detail(str_of(files.v[k])))
				guess_try(g, str_of(files.v[k]));
	}
}
