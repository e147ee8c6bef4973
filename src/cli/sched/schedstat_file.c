/*
 * Recordings of /proc/schedstat: a record per CPU and per domain of each of the two readings, and the feature CPU_DOMAIN_INFO
 * with the names and CPUs of domains.
 *
 *	SCHEDSTAT_CPU		header, u64 jiffies, u32 cpu, u16 version, u16 0, u32 v[6], u64 v[3]
 *	SCHEDSTAT_DOMAIN	header, u64 jiffies, u32 cpu, u16 version, u16 domain, u32 v[36 or 45], padded to 8 bytes
 *	CPU_DOMAIN_INFO		u32 version, u32 most domains of a CPU; for each CPU: u32 cpu, u32 n; for each of its domains: u32
 *				domain, its name (since version 17), its CPUs as a mask, and as a list; texts as in all features
 */
#include "cli/sched/schedstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

#define HEADER_BYTES 8u
#define HEAD_BYTES (HEADER_BYTES + 16u)	/* up to the numbers */
#define NARROW_CPU_FIELDS 6u
#define TEXT_ALIGNMENT 64u

/* ---- writing ---- */

static void put16(struct buf *b, uint16_t v) { buf_put(b, &v, sizeof(v)); }
static void put32(struct buf *b, uint32_t v) { buf_put(b, &v, sizeof(v)); }
static void put64(struct buf *b, uint64_t v) { buf_put(b, &v, sizeof(v)); }

static void put_head(struct buf *b, uint32_t type, size_t n_body, const struct schedstat *s, uint32_t cpu, uint32_t domain)
{
	put32(b, type);
	put16(b, 0);
	put16(b, (uint16_t)((HEAD_BYTES + n_body + 7) & ~(size_t)7));
	put64(b, s->jiffies);
	put32(b, cpu);
	put16(b, (uint16_t)s->version);
	put16(b, (uint16_t)domain);
}

int schedstat_put_records(const struct schedstat *s, struct buf *out)
{
	size_t n = schedstat_domain_fields(s->version);

	for (size_t i = 0; i < s->cpus.n; i++) {
		const struct schedstat_cpu *cpu = &s->cpus.v[i];

		put_head(out, TACHO_RECORD_SCHEDSTAT_CPU, NARROW_CPU_FIELDS * 4 + (SCHEDSTAT_CPU_FIELDS - NARROW_CPU_FIELDS) * 8, s,
			 cpu->number, 0);
		for (size_t f = 0; f < NARROW_CPU_FIELDS; f++)
			put32(out, (uint32_t)cpu->v[f]);
		for (size_t f = NARROW_CPU_FIELDS; f < SCHEDSTAT_CPU_FIELDS; f++)
			put64(out, cpu->v[f]);
		for (size_t k = 0; k < cpu->domains.n; k++) {
			put_head(out, TACHO_RECORD_SCHEDSTAT_DOMAIN, n * 4, s, cpu->number, cpu->domains.v[k].number);
			for (size_t f = 0; f < n; f++)
				put32(out, (uint32_t)cpu->domains.v[k].v[f]);
			buf_pad(out, '\0', n % 2 * 4);
		}
	}
	return buf_failed(out) ? -ENOMEM : 0;
}

static void put_text(struct buf *out, const char *text)
{
	size_t n = strlen(text) + 1, padded = (n + TEXT_ALIGNMENT - 1) / TEXT_ALIGNMENT * TEXT_ALIGNMENT;

	put32(out, (uint32_t)padded);
	buf_put(out, text, n);
	buf_pad(out, '\0', padded - n);
}

/* Without leading zeros, as perf writes it. */
static void put_mask(struct buf *out, const char *cpus)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	scoped(buf_done) struct buf mask = { 0 };
	int last = -1;

	if (cpuset_parse(&set, str_of(cpus)) == 0)
		for (int cpu = cpuset_next(&set, -1); cpu >= 0; cpu = cpuset_next(&set, cpu))
			last = cpu;
	for (int digit = last / 4; digit >= 0 && last >= 0; digit--) {
		unsigned v = 0;

		for (int bit = 0; bit < 4; bit++)
			v |= (unsigned)cpuset_has(&set, digit * 4 + bit) << bit;
		buf_printf(&mask, "%x%s", v, digit % 8 == 0 && digit ? "," : "");
	}
	buf_putc(&mask, '\0');
	if (buf_failed(&mask))
		out->bad = true;
	else
		put_text(out, mask.bytes);
}

void schedstat_put_domains(const struct schedstat *s, struct buf *out)
{
	size_t most = 0;

	for (size_t i = 0; i < s->cpus.n; i++)
		most = max_of(most, s->cpus.v[i].domains.n);
	put32(out, s->version);
	put32(out, (uint32_t)most);
	for (size_t i = 0; i < s->cpus.n; i++) {
		put32(out, s->cpus.v[i].number);
		put32(out, (uint32_t)s->cpus.v[i].domains.n);
		for (size_t k = 0; k < s->cpus.v[i].domains.n; k++) {
			const struct schedstat_domain *d = &s->cpus.v[i].domains.v[k];

			put32(out, d->number);
			if (s->version >= 17)
				put_text(out, d->name);
			put_mask(out, d->cpus);
			put_text(out, d->cpus);
		}
	}
}

/* ---- reading ---- */

struct wire {				/* what is left of a payload */
	const uint8_t *at;
	size_t n;
	bool swapped, bad;
};

static uint64_t wire_number(struct wire *w, size_t n)
{
	bool big = w->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint64_t v = 0;

	if (w->bad || n > w->n) {
		w->bad = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)w->at[big ? n - 1 - i : i] << 8 * i;
	w->at += n;
	w->n -= n;
	return v;
}

static struct str wire_text(struct wire *w)
{
	size_t n = (size_t)wire_number(w, 4);
	const char *text = (const char *)w->at;

	if (w->bad || n > w->n) {
		w->bad = true;
		return (struct str){ 0 };
	}
	w->at += n;
	w->n -= n;
	return str_n(text, strnlen(text, n));
}

static struct schedstat_cpu *find_cpu(struct schedstat *s, uint32_t number)
{
	for (size_t i = s->cpus.n; i-- > 0;)
		if (s->cpus.v[i].number == number)
			return &s->cpus.v[i];
	return NULL;
}

struct reader {
	struct schedstat readings[2];
	unsigned n;			/* readings that have begun */
};

/* A CPU that the current reading has already begins the second one. NULL: damaged, or out of memory (*err). */
static struct schedstat_cpu *new_cpu(struct reader *r, uint32_t number, int *err)
{
	struct schedstat_cpu *cpu;

	*err = -EBADMSG;
	if (!r->n || (r->n == 1 && find_cpu(&r->readings[0], number)))
		r->n++;
	else if (find_cpu(&r->readings[r->n - 1], number))
		return NULL;
	if (r->readings[r->n - 1].cpus.n >= SCHEDSTAT_CPUS_MAX)
		return NULL;
	cpu = vec_add(&r->readings[r->n - 1].cpus);
	*err = -ENOMEM;
	if (cpu)
		cpu->number = number;
	return cpu;
}

static int read_cpu(struct reader *r, struct wire *w, uint64_t jiffies, uint32_t number, unsigned version)
{
	struct schedstat_cpu *cpu;
	int err;

	if (number >= SCHEDSTAT_CPUS_MAX || !schedstat_domain_fields(version) || (r->n && r->readings[0].version != version))
		return -EBADMSG;
	cpu = new_cpu(r, number, &err);
	if (!cpu)
		return err;
	r->readings[r->n - 1].version = version;
	r->readings[r->n - 1].jiffies = jiffies;
	for (size_t f = 0; f < SCHEDSTAT_CPU_FIELDS; f++)
		cpu->v[f] = wire_number(w, f < NARROW_CPU_FIELDS ? 4 : 8);
	return w->bad ? -EBADMSG : 0;
}

static int read_domain(struct reader *r, struct wire *w, uint32_t number, unsigned version, uint32_t domain)
{
	struct schedstat *s = r->n ? &r->readings[r->n - 1] : NULL;
	struct schedstat_cpu *cpu = s && s->version == version ? find_cpu(s, number) : NULL;
	struct schedstat_domain *d;
	char name[16];

	if (!cpu || cpu->domains.n >= SCHEDSTAT_DOMAINS_MAX)
		return -EBADMSG;
	d = vec_add(&cpu->domains);
	if (!d)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%" PRIu32, domain);
	d->number = domain;
	d->cpus = "";
	d->name = arena_text(&s->arena, str_of(name));
	for (size_t f = 0; f < schedstat_domain_fields(version); f++)
		d->v[f] = wire_number(w, 4);
	return !d->name ? -ENOMEM : w->bad ? -EBADMSG : 0;
}

static int read_record(struct reader *r, const struct tacho_record *rec)
{
	struct wire w = { rec->bytes + HEADER_BYTES, rec->size - HEADER_BYTES, rec->swapped, false };
	uint64_t jiffies = wire_number(&w, 8);
	uint32_t cpu = (uint32_t)wire_number(&w, 4);
	unsigned version = (unsigned)wire_number(&w, 2);
	uint32_t domain = (uint32_t)wire_number(&w, 2);

	if (w.bad)
		return -EBADMSG;
	return rec->type == TACHO_RECORD_SCHEDSTAT_CPU ? read_cpu(r, &w, jiffies, cpu, version) : read_domain(r, &w, cpu, version, domain);
}

static int name_domain(struct schedstat *s, struct schedstat_cpu *cpu, uint32_t number, struct str name, struct str cpus)
{
	for (size_t i = 0; cpu && i < cpu->domains.n; i++) {
		struct schedstat_domain *d = &cpu->domains.v[i];

		if (d->number != number)
			continue;
		if (name.n)
			d->name = arena_text(&s->arena, name);
		d->cpus = arena_text(&s->arena, cpus);
		return d->name && d->cpus ? 0 : -ENOMEM;
	}
	return 0;
}

/* Names and CPUs of domains; a damaged list names those that precede the damage. */
static int read_names(struct schedstat *s, const struct tacho_perfdata *pd)
{
	size_t n;
	const void *payload = tacho_perfdata_feature(pd, TACHO_FEATURE_CPU_DOMAIN_INFO, &n);
	struct wire w = { payload, payload ? n : 0, tacho_perfdata_swapped(pd), !payload };
	unsigned version = (unsigned)wire_number(&w, 4);

	wire_number(&w, 4);
	while (!w.bad && w.n) {
		struct schedstat_cpu *cpu = find_cpu(s, (uint32_t)wire_number(&w, 4));
		uint32_t n_domains = (uint32_t)wire_number(&w, 4);

		for (uint32_t i = 0; i < n_domains && !w.bad; i++) {
			uint32_t number = (uint32_t)wire_number(&w, 4);
			struct str name = version >= 17 ? wire_text(&w) : (struct str){ 0 }, cpus;

			wire_text(&w);
			cpus = wire_text(&w);
			if (!w.bad && name_domain(s, cpu, number, name, cpus) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int read_records(struct reader *r, struct tacho_perfdata *pd, struct tacho_error *e)
{
	struct tacho_record rec;
	int err;

	while ((err = tacho_perfdata_next(pd, &rec, e)) > 0) {
		if (rec.type != TACHO_RECORD_SCHEDSTAT_CPU && rec.type != TACHO_RECORD_SCHEDSTAT_DOMAIN)
			continue;
		err = read_record(r, &rec);
		if (err < 0)
			return err == -ENOMEM ? error_nomem(e) : error_set(e, err, "byte %" PRIu64 ": a record of /proc/schedstat is damaged, or of an unknown version", rec.offset);
	}
	if (err < 0)
		return err;
	if (r->n < 2)
		return error_set(e, -ENODATA, "the recording does not have two readings of /proc/schedstat: 'sched stats record' makes them");
	return read_names(&r->readings[1], pd) < 0 ? error_nomem(e) : 0;
}

int schedstat_read_file(struct schedstat *out, const char *path, bool force, struct tacho_error *e)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .force = force, .no_events = true };
	struct tacho_perfdata *pd = NULL;
	struct reader r = { .n = 0 };
	int err = tacho_perfdata_open(&pd, path, &opts, e);

	*out = (struct schedstat){ 0 };
	if (err == 0)
		err = read_records(&r, pd, e);
	if (err == 0 && schedstat_subtract(out, &r.readings[0], &r.readings[1]) < 0)
		err = error_nomem(e);
	schedstat_done(&r.readings[0]);
	schedstat_done(&r.readings[1]);
	tacho_perfdata_close(pd);
	return err;
}
