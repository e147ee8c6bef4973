/*
 * AUXTRACE_INFO: u32 kind, u32 reserved, then words whose meaning depends on the kind. Newer recorders append words; those
 * that an older one did not write are 0.
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>

static const char *const kind_names[] = {
	[TRACE_INTEL_PT] = "intel_pt", [TRACE_INTEL_BTS] = "intel_bts", [TRACE_ARM_ETM] = "cs_etm", [TRACE_ARM_SPE] = "arm_spe",
	[TRACE_S390] = "cpum_sf", [TRACE_HISI_PTT] = "hisi_ptt", [TRACE_VPA_DTL] = "vpa_dtl",
};

const char *trace_kind_name(uint32_t kind)
{
	return kind < countof(kind_names) ? kind_names[kind] : NULL;
}

/* At least the words up to per_cpu, which perf has written since it knows Intel PT. */
static int decode_pt(struct pt_info *out, struct cursor *c)
{
	uint64_t *words[] = {
		&out->pmu_type, &out->time_shift, &out->time_mult, &out->time_zero, &out->has_time_zero, &out->tsc_bit,
		&out->noretcomp_bit, &out->have_switches, &out->snapshot, &out->per_cpu, &out->mtc_bit, &out->mtc_freq_bits,
		&out->ctc_numerator, &out->ctc_denominator, &out->cyc_bit, &out->max_ratio,
	};
	size_t n = 0;

	while (n < countof(words) && c->end - c->at >= 8)
		*words[n++] = cursor_u64(c);
	return n >= 10 ? 0 : -EBADMSG;
}

/*
 * The first version has two words: type of the PMU, whether there is a buffer per CPU. The second (Linux 6.14) has a header
 * (version, words of the header, type of the PMU, number of CPUs), then for each CPU a block: magic number, CPU, number of
 * parameters, and those: MIDR ...
 */
static int decode_spe(struct spe_info *out, struct cursor *c)
{
	bool first_version = c->end - c->at == 16;
	uint64_t header[4];

	for (int i = 0; i < (first_version ? 2 : 4); i++)
		header[i] = cursor_u64(c);
	if (c->bad)
		return -EBADMSG;
	if (first_version) {
		*out = (struct spe_info){ .version = 1, .pmu_type = header[0] };
		return 0;
	}
	*out = (struct spe_info){ .version = header[0], .pmu_type = header[2] };
	if (header[1] < 4 || header[1] > 64)
		return -EBADMSG;
	for (uint64_t i = 4; i < header[1]; i++)
		cursor_u64(c);
	if (header[3] && c->end - c->at >= 32) {
		cursor_bytes(c, 24);
		out->midr = cursor_u64(c);
	}
	return c->bad ? -EBADMSG : 0;
}

int trace_info_decode(struct trace_info *out, const struct tacho_record *rec, struct tacho_error *e)
{
	struct cursor c = cursor_over(rec->bytes + RECORD_HEADER_BYTES, rec->size - RECORD_HEADER_BYTES, rec->swapped);
	const char *name;
	int err;

	*out = (struct trace_info){ .kind = cursor_u32(&c) };
	cursor_u32(&c);
	name = trace_kind_name(out->kind);
	err = c.bad ? -EBADMSG : out->kind == TRACE_INTEL_PT ? decode_pt(&out->pt, &c) :
	      out->kind == TRACE_ARM_SPE ? decode_spe(&out->spe, &c) : -EOPNOTSUPP;
	if (err == -EBADMSG)
		return error_set(e, err, "byte %llu: AUXTRACE_INFO has only %u bytes", (unsigned long long)rec->offset, rec->size);
	if (err && name)
		return error_set(e, err, "the recording has traces of %s, which cannot be decoded; only those of intel_pt and arm_spe can",
				 name);
	return err ? error_set(e, err, "the recording has traces of an unknown kind, number %u", out->kind) : 0;
}

uint64_t time_from_ticks(const struct time_conversion *c, uint64_t ticks)
{
	uint64_t whole, rest;

	if (c->shift >= 64)
		return 0;
	if (c->mask)
		ticks = c->cycles + ((ticks - c->cycles) & c->mask);
	whole = ticks >> c->shift;
	rest = ticks & ((1ULL << c->shift) - 1);
	return c->zero + whole * c->mult + (uint64_t)((unsigned __int128)rest * c->mult >> c->shift);
}
