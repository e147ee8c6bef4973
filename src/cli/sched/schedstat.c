/*
 * Readings of /proc/schedstat: parsing the text, and differences and averages of readings. All numbers except the times of a
 * CPU are 32 bits wide in the kernel and may wrap, which the difference takes into account.
 */
#include "cli/sched/schedstat.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/num.h"
#include "base/vec.h"

#define FIRST_WIDE_FIELD 6u		/* of a CPU: rq_cpu_time, run_delay and pcount are 64 bits wide */

size_t schedstat_domain_fields(unsigned version)
{
	return version == 17 ? SCHEDSTAT_DOMAIN_FIELDS : version == 15 || version == 16 ? 36 : 0;
}

void schedstat_done(struct schedstat *s)
{
	for (size_t i = 0; i < s->cpus.n; i++)
		vec_done(&s->cpus.v[i].domains);
	vec_done(&s->cpus);
	arena_done(&s->arena);
	*s = (struct schedstat){ 0 };
}

/* ---- the text ---- */

static int parse_numbers(struct str *line, uint64_t *v, size_t n)
{
	struct str word;

	for (size_t i = 0; i < n; i++)
		if (!str_cut(line, ' ', &word) || num_u64(word, &v[i]) < 0)
			return -EBADMSG;
	return 0;
}

static int parse_cpu(struct schedstat *s, struct str word, struct str *line)
{
	struct schedstat_cpu *cpu;
	uint32_t number;

	if (num_u32(str_n(word.s + 3, word.n - 3), &number) < 0 || number >= SCHEDSTAT_CPUS_MAX || s->cpus.n >= SCHEDSTAT_CPUS_MAX)
		return -EBADMSG;
	cpu = vec_add(&s->cpus);
	if (!cpu)
		return -ENOMEM;
	cpu->number = number;
	return parse_numbers(line, cpu->v, SCHEDSTAT_CPU_FIELDS);
}

/* "00000000,0000000f": groups of 32 bits, the highest first. */
static int add_mask(struct cpuset *set, struct str mask)
{
	int bit = 0;

	for (size_t i = mask.n; i-- > 0;) {
		uint64_t digit;

		if (mask.s[i] == ',')
			continue;
		if (num_hex(str_n(mask.s + i, 1), &digit) < 0)
			return -EBADMSG;
		for (int b = 0; b < 4; b++, bit++)
			if (digit >> b & 1 && cpuset_add(set, bit) < 0)
				return -EBADMSG;
	}
	return 0;
}

static int parse_mask(struct schedstat *s, struct schedstat_domain *d, struct str mask)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	scoped(buf_done) struct buf text = { 0 };

	if (add_mask(&set, mask) < 0)
		return -EBADMSG;
	cpuset_print(&set, &text);
	d->cpus = buf_failed(&text) ? NULL : arena_text(&s->arena, buf_view(&text));
	return d->cpus ? 0 : -ENOMEM;
}

static int parse_domain(struct schedstat *s, struct str word, struct str *line)
{
	struct schedstat_cpu *cpu = s->cpus.n ? &s->cpus.v[s->cpus.n - 1] : NULL;
	struct str name = str_n(word.s + 6, word.n - 6), mask;
	struct schedstat_domain *d;
	int err;

	if (!cpu || cpu->domains.n >= SCHEDSTAT_DOMAINS_MAX)
		return -EBADMSG;
	d = vec_add(&cpu->domains);
	if (!d)
		return -ENOMEM;
	if (num_u32(name, &d->number) < 0 || (s->version >= 17 && !str_cut(line, ' ', &name)) || !str_cut(line, ' ', &mask))
		return -EBADMSG;
	d->name = arena_text(&s->arena, name);
	err = d->name ? parse_mask(s, d, mask) : -ENOMEM;
	return err < 0 ? err : parse_numbers(line, d->v, schedstat_domain_fields(s->version));
}

static int parse_line(struct schedstat *s, struct str line)
{
	uint64_t version;
	struct str word;

	if (!str_cut(&line, ' ', &word))
		return 0;
	if (str_is(word, "version")) {
		if (num_u64(line, &version) < 0 || version > 1000)
			return -EBADMSG;
		s->version = (unsigned)version;
		return schedstat_domain_fields(s->version) ? 0 : -EOPNOTSUPP;
	}
	if (str_is(word, "timestamp"))
		return num_u64(line, &s->jiffies);
	if (s->version && str_starts(word, "cpu"))
		return parse_cpu(s, word, &line);
	if (s->version && str_starts(word, "domain"))
		return parse_domain(s, word, &line);
	return s->version ? 0 : -EBADMSG;
}

int schedstat_parse(struct schedstat *out, struct str text, struct tacho_error *e)
{
	struct str line;

	*out = (struct schedstat){ 0 };
	for (unsigned n = 1; text.n && str_cut(&text, '\n', &line); n++) {
		int err = parse_line(out, line);

		if (err == -ENOMEM)
			return error_nomem(e);
		if (err == -EOPNOTSUPP)
			return error_set(e, err, "version %u of /proc/schedstat is not known: 15, 16 and 17 are", out->version);
		if (err < 0)
			return error_set(e, -EBADMSG, "/proc/schedstat: line %u is damaged", n);
	}
	return out->cpus.n ? 0 : error_set(e, -EBADMSG, "/proc/schedstat has no CPU");
}

/* ---- differences ---- */

static const struct schedstat_cpu *find_cpu(const struct schedstat *s, uint32_t number, size_t hint)
{
	if (hint < s->cpus.n && s->cpus.v[hint].number == number)
		return &s->cpus.v[hint];
	for (size_t i = 0; i < s->cpus.n; i++)
		if (s->cpus.v[i].number == number)
			return &s->cpus.v[i];
	return NULL;
}

static const struct schedstat_domain *find_domain(const struct schedstat_cpu *cpu, uint32_t number)
{
	for (size_t i = 0; i < cpu->domains.n; i++)
		if (cpu->domains.v[i].number == number)
			return &cpu->domains.v[i];
	return NULL;
}

static int add_domain(struct schedstat *out, struct schedstat_cpu *to, const struct schedstat_domain *from)
{
	struct schedstat_domain *d = vec_next(&to->domains);

	if (!d)
		return -ENOMEM;
	*d = *from;
	d->name = arena_text(&out->arena, str_of(from->name));
	d->cpus = arena_text(&out->arena, str_of(from->cpus));
	return d->name && d->cpus ? 0 : -ENOMEM;
}

static int subtract_domains(struct schedstat *out, struct schedstat_cpu *to, const struct schedstat_cpu *before,
			    const struct schedstat_cpu *after)
{
	for (size_t i = 0; i < after->domains.n; i++) {
		const struct schedstat_domain *old = find_domain(before, after->domains.v[i].number);

		if (!old)
			continue;
		if (add_domain(out, to, &after->domains.v[i]) < 0)
			return -ENOMEM;
		for (size_t f = 0; f < SCHEDSTAT_DOMAIN_FIELDS; f++)
			to->domains.v[to->domains.n - 1].v[f] = (uint32_t)(after->domains.v[i].v[f] - old->v[f]);
	}
	return 0;
}

int schedstat_subtract(struct schedstat *out, const struct schedstat *before, const struct schedstat *after)
{
	*out = (struct schedstat){ .version = after->version, .jiffies = after->jiffies - before->jiffies };
	for (size_t i = 0; i < after->cpus.n; i++) {
		const struct schedstat_cpu *new = &after->cpus.v[i], *old = find_cpu(before, new->number, i);
		struct schedstat_cpu *to = old ? vec_add(&out->cpus) : NULL;

		if (!old)
			continue;
		if (!to)
			return -ENOMEM;
		to->number = new->number;
		for (size_t f = 0; f < SCHEDSTAT_CPU_FIELDS; f++)
			to->v[f] = f < FIRST_WIDE_FIELD ? (uint32_t)(new->v[f] - old->v[f]) : new->v[f] - old->v[f];
		if (subtract_domains(out, to, old, new) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Domains of the same number are averaged, over the CPUs that have them. */
static int average_domains(struct schedstat *out, struct schedstat_cpu *to, const struct schedstat *s)
{
	uint64_t n[SCHEDSTAT_DOMAINS_MAX] = { 0 };

	for (size_t i = 0; i < s->cpus.n; i++)
		for (size_t k = 0; k < s->cpus.v[i].domains.n; k++) {
			const struct schedstat_domain *d = &s->cpus.v[i].domains.v[k], *sum = find_domain(to, d->number);
			size_t at = sum ? (size_t)(sum - to->domains.v) : to->domains.n;

			if (at >= SCHEDSTAT_DOMAINS_MAX)
				continue;
			if (!sum && add_domain(out, to, d) < 0)
				return -ENOMEM;
			for (size_t f = 0; sum && f < SCHEDSTAT_DOMAIN_FIELDS; f++)
				to->domains.v[at].v[f] += d->v[f];
			n[at]++;
		}
	for (size_t k = 0; k < to->domains.n; k++)
		for (size_t f = 0; f < SCHEDSTAT_DOMAIN_FIELDS; f++)
			to->domains.v[k].v[f] /= max_of(n[k], (size_t)1);
	return 0;
}

int schedstat_average(struct schedstat *out, const struct schedstat *s)
{
	struct schedstat_cpu *to;

	*out = (struct schedstat){ .version = s->version, .jiffies = s->jiffies };
	to = vec_add(&out->cpus);
	if (!to)
		return -ENOMEM;
	to->number = UINT32_MAX;
	for (size_t f = 0; f < SCHEDSTAT_CPU_FIELDS; f++) {
		for (size_t i = 0; i < s->cpus.n; i++)
			to->v[f] += s->cpus.v[i].v[f];
		to->v[f] /= s->cpus.n ? s->cpus.n : 1;
	}
	return average_domains(out, to, s);
}
