#include "cli/files/trace_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacho/auxtrace.h>

typedef unsigned long long ull;

enum { KIND_INTEL_PT = 1, KIND_ARM_SPE = 4, HEADER_BYTES = 8 };

static uint64_t word64(const struct tacho_record *rec, size_t at)
{
	uint64_t v = 0;

	if (at + sizeof(v) <= rec->size)
		memcpy(&v, rec->bytes + at, sizeof(v));
	return v;
}

static uint32_t word32(const struct tacho_record *rec, size_t at)
{
	uint32_t v = 0;

	if (at + sizeof(v) <= rec->size)
		memcpy(&v, rec->bytes + at, sizeof(v));
	return v;
}

static void put_info(const struct tacho_record *rec, uint32_t kind, struct buf *out)
{
	static const struct { const char *name; bool hexadecimal; } pt[] = {
		{ "PMU Type", false }, { "Time Shift", false }, { "Time Multiplier", false }, { "Time Zero", false },
		{ "Cap Time Zero", false }, { "TSC bit", true }, { "NoRETComp bit", true }, { "Have sched_switch", false },
		{ "Snapshot mode", false }, { "Per-cpu maps", false }, { "MTC bit", true }, { "MTC freq bits", true },
		{ "TSC:CTC numerator", false }, { "TSC:CTC denominator", false }, { "CYC bit", true },
		{ "Max non-turbo ratio", false }, { "Filter string len.", false },
	};

	buf_printf(out, " type: %u\n", kind);
	for (size_t i = 0; i < countof(pt) && kind == KIND_INTEL_PT && 16 + 8 * i + 8 <= rec->size; i++)
		buf_printf(out, pt[i].hexadecimal ? "  %-20s%#llx\n" : "  %-20s%lld\n", pt[i].name, (ull)word64(rec, 16 + 8 * i));
}

static int put_line(void *arg, const char *line, size_t n)
{
	struct buf *out = arg;

	buf_put(out, line, n);
	buf_putc(out, '\n');
	return buf_failed(out) ? -ENOMEM : 0;
}

/* Reads the data after an AUXTRACE record. NULL: it cannot be read; *n is how much there is. */
static uint8_t *read_data(const struct tacho_record *rec, const char *path, uint64_t *n)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t at = rec->offset + rec->size;
	struct stat st;
	uint8_t *bytes;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || at >= (uint64_t)st.st_size)
		return NULL;
	*n = min_of(*n, (uint64_t)st.st_size - at);
	bytes = malloc(*n + 1);
	got = bytes ? pread(fd, bytes, *n, (off_t)at) : -1;
	if (got < 0) {
		free(bytes);
		return NULL;
	}
	*n = (uint64_t)got;
	return bytes;
}

static int put_data(const struct tacho_record *rec, const char *path, uint32_t kind, struct buf *out)
{
	uint64_t n = word64(rec, 8);
	uint8_t *bytes;
	int err = 0;

	buf_printf(out, " size: %#llx  offset: %#llx  ref: %#llx  idx: %u  tid: %d  cpu: %d\n", (ull)n, (ull)word64(rec, 16),
		   (ull)word64(rec, 24), word32(rec, 32), (int)word32(rec, 36), (int)word32(rec, 40));
	bytes = n && (kind == KIND_INTEL_PT || kind == KIND_ARM_SPE) ? read_data(rec, path, &n) : NULL;
	if (!bytes)
		return 0;
	buf_printf(out, ".\n. ... %s data: size %llu bytes\n", kind == KIND_INTEL_PT ? "Intel Processor Trace" : "ARM SPE", (ull)n);
	err = tacho_auxtrace_packets(kind, bytes, n, put_line, out);
	free(bytes);
	if (err == -EOPNOTSUPP)
		buf_puts(out, ".  libipt, which lists the packets, cannot be loaded\n");
	return err == -ENOMEM ? err : 0;
}

int trace_dump_put(const struct tacho_record *rec, const char *path, uint32_t *kind, struct buf *out)
{
	if (rec->swapped) {
		buf_putc(out, '\n');
		return 0;
	}
	switch (rec->type) {
	case TACHO_RECORD_AUXTRACE_INFO:
		*kind = word32(rec, HEADER_BYTES);
		put_info(rec, *kind, out);
		return 0;
	case TACHO_RECORD_AUXTRACE: return put_data(rec, path, *kind, out);
	default: buf_putc(out, '\n'); return 0;
	}
}

/* ---- AMD IBS ---- */

/* A field of a register: its lowest bit, and how many it has. */
struct ibs_field {
	const char *name;
	uint8_t low, n;
};

struct ibs_register {
	const char *name;
	const struct ibs_field *fields;	/* NULL: an address */
	size_t n_fields;
};

static const struct ibs_field op_ctl[] = {
	{ "L3MissOnly", 16, 1 }, { "En", 17, 1 }, { "Val", 18, 1 }, { "CntCtl", 19, 1 }, { "CurCnt", 32, 27 },
};
static const struct ibs_field op_data[] = {
	{ "CompToRetCtr", 0, 16 }, { "TagToRetCtr", 16, 16 }, { "BrnTaken", 35, 1 }, { "BrnMisp", 36, 1 }, { "BrnRet", 37, 1 },
	{ "RipInvalid", 38, 1 }, { "BrnFuse", 39, 1 }, { "Microcode", 40, 1 },
};
static const struct ibs_field op_data2[] = { { "DataSrc", 0, 3 }, { "RmtNode", 4, 1 }, { "CacheHitSt", 5, 1 }, { "DataSrcHi", 6, 2 } };
static const struct ibs_field op_data3[] = {
	{ "LdOp", 0, 1 }, { "StOp", 1, 1 }, { "DcL1TlbMiss", 2, 1 }, { "DcL2TlbMiss", 3, 1 }, { "DcL1TlbHit2M", 4, 1 },
	{ "DcL1TlbHit1G", 5, 1 }, { "DcL2TlbHit2M", 6, 1 }, { "DcMiss", 7, 1 }, { "DcMisAcc", 8, 1 }, { "DcWcMemAcc", 13, 1 },
	{ "DcUcMemAcc", 14, 1 }, { "DcLockedOp", 15, 1 }, { "DcMissNoMabAlloc", 16, 1 }, { "DcLinAddrValid", 17, 1 },
	{ "DcPhyAddrValid", 18, 1 }, { "DcL2TlbHit1G", 19, 1 }, { "L2Miss", 20, 1 }, { "SwPf", 21, 1 }, { "OpMemWidth", 22, 4 },
	{ "OpDcMissOpenMemReqs", 26, 6 }, { "DcMissLat", 32, 16 }, { "TlbRefillLat", 48, 16 },
};
static const struct ibs_field fetch_ctl[] = {
	{ "MaxCnt", 0, 16 }, { "Cnt", 16, 16 }, { "Lat", 32, 16 }, { "En", 48, 1 }, { "Val", 49, 1 }, { "Comp", 50, 1 }, { "IcMiss", 51, 1 },
	{ "PhyAddrValid", 52, 1 }, { "L1TlbPgSz", 53, 2 }, { "L1TlbMiss", 55, 1 }, { "L2TlbMiss", 56, 1 }, { "RandEn", 57, 1 },
	{ "L2Miss", 58, 1 },
};

#define REGISTER(name, fields) { name, fields, countof(fields) }
#define ADDRESS(name) { name, NULL, 0 }
static const struct ibs_register op_registers[] = {
	REGISTER("ibs_op_ctl", op_ctl), ADDRESS("IbsOpRip"), REGISTER("ibs_op_data", op_data), REGISTER("ibs_op_data2", op_data2),
	REGISTER("ibs_op_data3", op_data3), ADDRESS("IbsDCLinAd"), ADDRESS("IbsDCPhysAd"), ADDRESS("IbsBrTarget"),
};
static const struct ibs_register fetch_registers[] = {
	REGISTER("ibs_fetch_ctl", fetch_ctl), ADDRESS("IbsFetchLinAd"), ADDRESS("IbsFetchPhysAd"), ADDRESS("IbsFetchCtlExtd"),
};

/* The count is stored without its lowest four bits; newer CPUs have seven more bits above. */
static ull op_max_count(uint64_t v)
{
	return (v & 0xffff) << 4 | (v >> 20 & 0x7f) << 20;
}

/* The raw data: u32 capabilities, then a word for each register. */
static void put_registers(const struct ibs_register *r, size_t n, const struct tacho_sample *s, struct buf *out)
{
	for (size_t i = 0; i < n && 4 + 8 * i + 8 <= s->n_raw; i++) {
		uint64_t v;

		memcpy(&v, s->raw + 4 + 8 * i, sizeof(v));
		buf_printf(out, "%s:\t%016llx", r[i].name, (ull)v);
		if (r[i].fields == op_ctl)
			buf_printf(out, " MaxCnt %llu", op_max_count(v));
		for (size_t k = 0; k < r[i].n_fields; k++)
			buf_printf(out, " %s %llu", r[i].fields[k].name,
				   (ull)(v >> r[i].fields[k].low & ((1ULL << r[i].fields[k].n) - 1)));
		buf_putc(out, '\n');
	}
}

void ibs_dump_put(const struct tacho_perfdata *pd, uint32_t pmu_type, const struct tacho_sample *s, struct buf *out)
{
	struct tacho_feature_list list;
	struct tacho_pmu_mapping pmu;

	if (!s->raw || tacho_perfdata_swapped(pd) || tacho_perfdata_list(pd, TACHO_FEATURE_PMU_MAPPINGS, &list) < 0)
		return;
	while (tacho_pmu_mapping_next(&list, &pmu) > 0) {
		if (pmu.type != pmu_type)
			continue;
		if (str_is(str_n(pmu.name.s, pmu.name.n), "ibs_op"))
			put_registers(op_registers, countof(op_registers), s, out);
		else if (str_is(str_n(pmu.name.s, pmu.name.n), "ibs_fetch"))
			put_registers(fetch_registers, countof(fetch_registers), s, out);
	}
}
