/*
 * Prints the fields that all records have, and provides helpers for values with names.
 */
#include "record/dump.h"

#include "record/callchain_markers.h"

#include <errno.h>

static const char *const cpumodes[] = {
	"unknown", "kernel", "user", "hypervisor", "guest_kernel", "guest_user",
};

/* The meaning of bits 13 and 14 of misc depends on the record type. */
static const struct {
	uint32_t type;
	const char *bit13, *bit14;
} misc_names[] = {
	{ TACHO_RECORD_MMAP, "mmap_data", NULL },
	{ TACHO_RECORD_MMAP2, "mmap_data", "build_id" },
	{ TACHO_RECORD_COMM, "exec", NULL },
	{ TACHO_RECORD_FORK, "exec", NULL },
	{ TACHO_RECORD_SWITCH, "switch_out", "preempt" },
	{ TACHO_RECORD_SWITCH_CPU_WIDE, "switch_out", "preempt" },
	{ TACHO_RECORD_SAMPLE, NULL, "exact_ip" },
};

void dump_hex(struct buf *out, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++) {
		buf_putc(out, digits[p[i] >> 4]);
		buf_putc(out, digits[p[i] & 15]);
	}
}

void dump_flags(const struct dump *d, const char *key, uint64_t v, const char *const *names,
		size_t n)
{
	const char *set[DUMP_FLAGS_MAX];
	size_t n_set = 0;

	for (size_t i = 0; i < n && n_set < countof(set); i++)
		if ((v >> i & 1) && names[i])
			set[n_set++] = names[i];
	d->ops->names(d->to, key, set, n_set);
}

void dump_choice(const struct dump *d, const char *key, uint64_t v, const char *const *names,
		 size_t n)
{
	if (v < n && names[v])
		dump_text(d, key, names[v]);
	else
		dump_number(d, key, v);
}

/* Context markers in call chains. */
static const struct {
	uint64_t marker;
	const char *name;
} contexts[] = {
	{ CONTEXT_HYPERVISOR, "hypervisor" },	    { CONTEXT_KERNEL, "kernel" },
	{ CONTEXT_USER, "user" },		    { CONTEXT_USER_DEFERRED, "user_deferred" },
	{ CONTEXT_GUEST, "guest" },		    { CONTEXT_GUEST_KERNEL, "guest_kernel" },
	{ CONTEXT_GUEST_USER, "guest_user" },
};

static const char *context_name(uint64_t marker)
{
	for (size_t i = 0; i < countof(contexts); i++)
		if (marker == contexts[i].marker)
			return contexts[i].name;
	return "unknown";
}

void dump_chain(const struct dump *d, const char *key, struct tacho_words chain)
{
	dump_open(d, key, '[');
	for (size_t i = 0; i < chain.n; i++) {
		if (chain.v[i] < CONTEXT_FIRST) {
			dump_address(d, NULL, chain.v[i]);
			continue;
		}
		dump_open(d, NULL, '{');
		dump_text(d, "context", context_name(chain.v[i]));
		dump_address(d, "marker", chain.v[i]);
		if (chain.v[i] == CONTEXT_USER_DEFERRED && i + 1 < chain.n)
			dump_address(d, "cookie", chain.v[++i]);
		dump_close(d);
	}
	dump_close(d);
}

void dump_read(const struct dump *d, const char *key, const struct tacho_read *r)
{
	dump_open(d, key, '{');
	if (r->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		dump_number(d, "enabled_ns", r->enabled_ns);
	if (r->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		dump_number(d, "running_ns", r->running_ns);
	dump_open(d, "values", '[');
	for (size_t i = 0; i < r->n; i++) {
		struct tacho_read_value v = tacho_read_get(r, i);

		dump_open(d, NULL, '{');
		dump_number(d, "value", v.value);
		if (r->format & PERF_FORMAT_ID)
			dump_number(d, "id", v.id);
		if (r->format & PERF_FORMAT_LOST)
			dump_number(d, "lost", v.lost);
		dump_close(d);
	}
	dump_close(d);
	dump_close(d);
}

static void dump_header(const struct dump *d, const struct tacho_record *rec)
{
	const char *flags[3];
	const char *name = tacho_record_name(rec->type);
	size_t n = 0;

	dump_text(d, "record", name ? name : "unknown");
	dump_number(d, "type", rec->type);
	dump_address(d, "offset", rec->offset);
	dump_number(d, "size", rec->size);
	dump_address(d, "misc", rec->misc);
	if (rec->type >= RECORD_USER_TYPE)
		return;
	dump_choice(d, "cpumode", rec->misc & PERF_MISC_CPUMODE, cpumodes, countof(cpumodes));
	if (rec->misc & PERF_MISC_TIMEOUT)
		flags[n++] = "maps_timeout";
	for (size_t i = 0; i < countof(misc_names); i++) {
		if (misc_names[i].type != rec->type)
			continue;
		if ((rec->misc & PERF_MISC_BIT13) && misc_names[i].bit13)
			flags[n++] = misc_names[i].bit13;
		if ((rec->misc & PERF_MISC_BIT14) && misc_names[i].bit14)
			flags[n++] = misc_names[i].bit14;
	}
	d->ops->names(d->to, "flags", flags, n);
}

/* Prints the raw bytes of a record that cannot be decoded. */
static void dump_undecoded(const struct dump *d, const struct tacho_record *rec, int err)
{
	if (err == -EBADMSG)
		dump_text(d, "error", "the record is too short for the fields of its layout");
	if (rec->size > RECORD_HEADER_BYTES)
		dump_bytes(d, "bytes", rec->bytes + RECORD_HEADER_BYTES,
			   rec->size - RECORD_HEADER_BYTES);
}

int dump_record(const struct dump *d, const struct tacho_record *rec, const struct tacho_layout *lay)
{
	scoped(freep) struct tacho_scratch *scratch = malloc(sizeof(*scratch));
	struct tacho_sample sample;
	struct tacho_sideband sideband;
	int err = -EOPNOTSUPP;

	if (!scratch)
		return -ENOMEM;
	dump_open(d, NULL, '{');
	dump_header(d, rec);
	if (lay && rec->type == TACHO_RECORD_SAMPLE) {
		err = tacho_sample_decode(&sample, rec, lay, scratch);
		if (!err)
			dump_sample(d, &sample, lay);
	} else if (lay) {
		err = tacho_sideband_decode(&sideband, rec, lay, scratch);
		if (!err)
			dump_sideband(d, &sideband);
	}
	if (err)
		dump_undecoded(d, rec, err);
	dump_close(d);
	return 0;
}
