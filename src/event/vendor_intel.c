/*
 * Converts events of Intel's lists, and of the kernel's lists, which use the same fields, to terms. Each field
 * that affects the encoding becomes a term or a reason to refuse the event; none is silently ignored.
 */
#include "event/vendor.h"

#include <errno.h>
#include <strings.h>

#include "base/num.h"

struct intel_encoder {
	const struct vendor_fields *f;
	struct buf terms, pmu, why;	/* why: reason to refuse the event */
	bool core;			/* an event of a core PMU */
	bool must_precise;
	bool filtered;			/* Filter has registers that the user may set */
};

static void refuse(struct intel_encoder *r, const char *fmt, ...) printf_like(2, 3);

static void refuse(struct intel_encoder *r, const char *fmt, ...)
{
	va_list ap;

	if (r->why.n)
		return;
	va_start(ap, fmt);
	buf_vprintf(&r->why, fmt, ap);
	va_end(ap);
}

static void put_term(struct intel_encoder *r, const char *key, uint64_t value)
{
	buf_printf(&r->terms, "%s%s=0x%llx", r->terms.n ? "," : "", key, (unsigned long long)value);
}

static uint64_t field_number(struct intel_encoder *r, enum vendor_field which, const char *name)
{
	uint64_t n;

	if (!vendor_field_num(r->f, which, &n))
		refuse(r, "its %s '%.*s' is not a number", name, (int)min_of(r->f->v[which].n, (size_t)40),
		       r->f->v[which].s);
	return n;
}

static void put_field_term(struct intel_encoder *r, const char *key, enum vendor_field which, const char *name)
{
	uint64_t n = field_number(r, which, name);

	if (n)
		put_term(r, key, n);
}

static bool starts_ci(struct str s, const char *with)
{
	return s.n >= strlen(with) && !strncasecmp(s.s, with, strlen(with));
}

/* Encodes events of fixed counters: lists give them event code 0, but the kernel uses the code of the
 * equivalent event of the general counters. */
static bool put_fixed_by_name(struct intel_encoder *r)
{
	static const struct { const char *name, *terms; } fixed[] = {
		{ "INST_RETIRED.ANY", "event=0xc0" },
		{ "CPU_CLK_UNHALTED.THREAD", "event=0x3c" },
		{ "CPU_CLK_UNHALTED.CORE", "event=0x3c" },
		{ "CPU_CLK_UNHALTED.THREAD_ANY", "event=0x3c,any=0x1" },
		{ "CPU_CLK_UNHALTED.REF", "event=0x0,umask=0x3" },
	};

	for (size_t i = 0; i < countof(fixed); i++)
		if (str_ieq(r->f->v[F_NAME], str_of(fixed[i].name))) {
			buf_puts(&r->terms, fixed[i].terms);
			return true;
		}
	return false;
}

/* Refuses event 0 except with the umasks that the kernel supports: precise instructions, reference cycles and
 * slots. */
static void check_fixed(struct intel_encoder *r, uint64_t umask)
{
	if (umask == 1 || umask == 3 || umask == 4)
		return;
	refuse(r, "only '%.*s' counts it, for which the kernel has no code; try the event for general "
	       "counters, which often has the same name with _P",
	       (int)min_of(r->f->v[F_COUNTER].n, (size_t)40), r->f->v[F_COUNTER].s);
}

static void put_event_and_umask(struct intel_encoder *r)
{
	uint64_t code = field_number(r, F_CODE, "EventCode"), ext = field_number(r, F_EXT_SEL, "ExtSel");
	uint64_t umask = field_number(r, F_UMASK, "UMask"), more = field_number(r, F_UMASK_EXT, "UMaskExt");

	if (code >> 32 || ext >> 8 || umask >> 8 * 7 || more >> 48) {
		refuse(r, "its EventCode or UMask is too large");
		return;
	}
	/* If PortMask or FCMask is given, UMaskExt repeats them. */
	if (field_number(r, F_PORT_MASK, "PortMask") || field_number(r, F_FC_MASK, "FCMask"))
		more = 0;
	/* UMaskExt holds the bits above an 8-bit UMask. */
	if (more && umask >> 8) {
		refuse(r, "its UMask 0x%llx and UMaskExt 0x%llx overlap", (unsigned long long)umask,
		       (unsigned long long)more);
		return;
	}
	put_term(r, "event", code | ext << 8);
	if (umask | more << 8)
		put_term(r, "umask", umask | more << 8);
	if (r->core && !code && starts_ci(r->f->v[F_COUNTER], "Fixed counter"))
		check_fixed(r, umask);
}

static void put_qualifiers(struct intel_encoder *r)
{
	static const struct { const char *key; enum vendor_field which; const char *name; } rows[] = {
		{ "cmask", F_CMASK, "CounterMask" }, { "edge", F_EDGE, "EdgeDetect" },
		{ "inv", F_INVERT, "Invert" }, { "any", F_ANY, "AnyThread" }, { "eq", F_EQUAL, "Equal" },
		{ "ch_mask", F_PORT_MASK, "PortMask" }, { "fc_mask", F_FC_MASK, "FCMask" },
		{ "enallcores", F_ALL_CORES, "EnAllCores" },
		{ "enallslices", F_ALL_SLICES, "EnAllSlices" }, { "sliceid", F_SLICE, "SliceId" },
		{ "threadmask", F_THREAD_MASK, "ThreadMask" }, { "rdwrmask", F_RDWR_MASK, "RdWrMask" },
		{ "eventid", F_EVENT_ID, "EventidCode" }, { "type", F_NODE_TYPE, "NodeType" },
	};

	for (size_t i = 0; i < countof(rows); i++)
		put_field_term(r, rows[i].key, rows[i].which, rows[i].name);
}

/* Adds the term of an extra register (MSR), which the list gives by number. */
static void put_extra_register(struct intel_encoder *r)
{
	static const struct { uint64_t index; const char *key; } registers[] = {
		{ 0x1a6, "offcore_rsp" }, { 0x1a7, "offcore_rsp" }, { 0x3f6, "ldlat" },
		{ 0x3f7, "frontend" },
	};
	uint64_t index = field_number(r, F_MSR_INDEX, "MSRIndex"), value = field_number(r, F_MSR_VALUE, "MSRValue");

	if (!index) {
		if (value)
			refuse(r, "it has a value for a register (MSRValue 0x%llx) but no MSRIndex",
			       (unsigned long long)value);
		return;
	}
	for (size_t i = 0; i < countof(registers); i++)
		if (registers[i].index == index) {
			if (value)
				put_term(r, registers[i].key, value);
			r->must_precise |= index == 0x3f6;
			return;
		}
	refuse(r, "it needs the register 0x%llx, which the kernel has no term for",
	       (unsigned long long)index);
}

/* Adds the terms of a Filter field of the kernel's lists: "fc_mask=0x4,ch_mask=0x1". */
static void put_filter_terms(struct intel_encoder *r, struct str filter)
{
	struct str one, key;
	uint64_t value;

	while (str_cut(&filter, ',', &one)) {
		str_cut(&one, '=', &key);
		key = str_trim(key);
		if (!key.n || key.n > 40 || num_u64(str_trim(one), &value) < 0) {
			refuse(r, "its Filter '%.*s' cannot be parsed", (int)min_of(key.n, (size_t)40), key.s);
			return;
		}
		buf_printf(&r->terms, ",%.*s=0x%llx", STR(key), (unsigned long long)value);
	}
}

/* Returns whether a filter register is optional: if it is not set, the event counts everything. */
static bool is_optional_filter(struct str one)
{
	static const char *const starts[] = { "CBoFilter", "CHAFilter", "PCUFilter", "QPIMask", "QPIMatch",
					      "UBoxFilter", "CtrCtrl", "fc", "chnl" };

	for (size_t i = 0; i < countof(starts); i++)
		if (starts_ci(one, starts[i]))
			return true;
	return false;
}

static void check_filter_registers(struct intel_encoder *r, struct str filter)
{
	struct str one;

	while (str_cut(&filter, ',', &one)) {
		one = str_trim(one);
		/* "fc" and "chnl" are also in separate fields, which are used instead. */
		r->filtered |= is_optional_filter(one) && !starts_ci(one, "fc") && !starts_ci(one, "chnl");
		if (!one.n || is_optional_filter(one))
			continue;
		if (starts_ci(one, "HA_") || starts_ci(one, "IRPFilter"))
			refuse(r, "it needs the register %.*s, which its PMU's driver does not support",
			       (int)min_of(one.n, (size_t)40), one.s);
		else
			refuse(r, "its Filter '%.*s' is unknown", (int)min_of(one.n, (size_t)40), one.s);
	}
}

static void put_filter(struct intel_encoder *r)
{
	struct str text = r->f->v[F_FILTER];
	uint64_t value = field_number(r, F_FILTER_VALUE, "FILTER_VALUE");

	if (str_ieq(text, STR_LIT("Filter1")) && value && value <= UINT32_MAX)
		put_term(r, "config1", value << 32);	/* the upper half of config1 */
	else if (value)
		refuse(r, "its FILTER_VALUE 0x%llx is for the unknown filter '%.*s'",
		       (unsigned long long)value, (int)min_of(text.n, (size_t)40), text.s);
	else if (str_find(text, '=') >= 0)
		put_filter_terms(r, text);
	else if (vendor_field_given(r->f, F_FILTER) && !str_ieq(text, STR_LIT("Filter1")))
		check_filter_registers(r, text);
}

/* The number after `mark` in the name, or -1. */
static int number_after(struct str name, const char *mark)
{
	size_t n = strlen(mark);
	int value = 0;

	for (size_t i = 0; i + n < name.n; i++) {
		if (strncasecmp(name.s + i, mark, n) != 0 || name.s[i + n] < '0' || name.s[i + n] > '9')
			continue;
		for (i += n; i < name.n && name.s[i] >= '0' && name.s[i] <= '9' && value < 1000; i++)
			value = value * 10 + (name.s[i] - '0');
		return value;
	}
	return -1;
}

static bool has_ci(struct str name, const char *part)
{
	for (size_t i = 0; i + strlen(part) <= name.n; i++)
		if (starts_ci(str_n(name.s + i, name.n - i), part))
			return true;
	return false;
}

/* Free-running counters have a separate PMU. The counter's number can only be derived from the event's
 * name. */
static void put_free_running(struct intel_encoder *r)
{
	static const struct { const char *part; unsigned type; bool indexed; } kinds[] = {
		{ "CLOCKTICKS", 1, false }, { "BANDWIDTH_IN", 2, true }, { "BANDWIDTH_OUT", 3, true },
		{ "_TOTAL_", 1, false }, { "_RDCAS_", 2, false }, { "_WRCAS_", 3, false },
	};
	struct str name = r->f->v[F_NAME];
	int unit = number_after(name, "_MC"), part = number_after(name, ".PART");

	if (!has_ci(buf_view(&r->pmu), "put_free_running")) {
		buf_puts(&r->pmu, "_free_running");
		if (unit >= 0)
			buf_printf(&r->pmu, "_%d", unit);
		if (unit == 0)
			buf_puts(&r->pmu, "|uncore_imc_free_running");
	} else if (field_number(r, F_CODE, "EventCode") == 0xff) {
		put_event_and_umask(r);
		return;
	}
	for (size_t i = 0; i < countof(kinds); i++) {
		if (!has_ci(name, kinds[i].part) || (kinds[i].indexed && (part < 0 || part > 15)))
			continue;
		put_term(r, "event", 0xff);
		put_term(r, "umask", kinds[i].type << 4 | (kinds[i].indexed ? (unsigned)part : 0));
		return;
	}
	refuse(r, "it is a free-running counter, and which one cannot be derived from its name");
}

static bool is_fixed_uncore(const struct intel_encoder *r)
{
	return str_ieq(r->f->v[F_COUNTER], STR_LIT("FIXED")) || str_is(r->f->v[F_UNIT], "NCU") ||
	       str_ieq(r->f->v[F_COUNTER_TYPE], STR_LIT("FIXED"));
}

static void encode_event(struct intel_encoder *r)
{
	struct str type = r->f->v[F_COUNTER_TYPE];
	uint64_t n;

	if (r->f->unknown.n)
		refuse(r, "it has a field '%.*s' in the list, whose meaning is unknown",
		       (int)min_of(r->f->unknown.n, (size_t)40), r->f->unknown.s);
	if (r->f->v[F_CONFIG].n) {
		n = field_number(r, F_CONFIG, "ConfigCode");
		put_term(r, "config", n);
	} else if (!r->core && str_ieq(type, STR_LIT("FREERUN"))) {
		put_free_running(r);
	} else if (!r->core && is_fixed_uncore(r)) {
		put_term(r, "event", 0xff);
	} else if (r->core && field_number(r, F_CODE, "EventCode") == 0 && put_fixed_by_name(r)) {
		return;
	} else if (!r->f->v[F_CODE].n && !r->f->v[F_EVENT_ID].n) {
		refuse(r, r->f->v[F_ARCH_STD].n ? "the list refers to a standard event of the architecture "
		       "without its code" : "the list has no code for it");
	} else {
		if (r->f->v[F_CODE].n)
			put_event_and_umask(r);
		put_qualifiers(r);
		put_filter(r);
		put_extra_register(r);
	}
}

static uint32_t flags_of(struct intel_encoder *r)
{
	uint64_t pebs = field_number(r, F_PEBS, "PEBS"), collect = field_number(r, F_COLLECT_PEBS, "CollectPEBSRecord");
	bool must = pebs == 2 || collect == 3 || r->must_precise;

	return (pebs || must || vendor_field_given(r->f, F_PRECISE) ? VENDOR_PRECISE : 0u) |
	       (must ? VENDOR_MUST_PRECISE : 0u) |
	       (vendor_field_given(r->f, F_DEPRECATED) ? VENDOR_DEPRECATED : 0u) |
	       (vendor_field_given(r->f, F_PER_PKG) ? VENDOR_PER_PKG : 0u) |
	       (vendor_field_given(r->f, F_DATA_LA) ? VENDOR_DATA_ADDR : 0u);
}

/* Splits "64Bytes", "6.1e-5MB" or "1%" into scale and unit. */
static void scale_unit(struct vendor_builder *b, struct vendor_event *ev, struct str text)
{
	for (size_t n = text.n; n > 0; n--)
		if (num_double(str_n(text.s, n), &ev->scale) == 0) {
			ev->unit = vendor_put(b, str_trim(str_n(text.s + n, text.n - n)));
			return;
		}
	ev->scale = 1;
}

static void describe(struct vendor_builder *b, struct vendor_event *ev, struct intel_encoder *r)
{
	const struct vendor_fields *f = r->f;

	ev->flags = flags_of(r);
	vendor_field_num(f, F_PERIOD, &ev->period);
	ev->desc = vendor_put(b, f->v[F_BRIEF].n ? f->v[F_BRIEF] : f->v[F_PUBLIC]);
	if (!str_eq(f->v[F_PUBLIC], f->v[F_BRIEF]))
		ev->more = vendor_put(b, f->v[F_PUBLIC]);
	ev->topic = vendor_put(b, f->v[F_TOPIC]);
	ev->counters = vendor_put(b, f->v[F_COUNTER]);
	if (!f->v[F_CODE].n && !f->v[F_CONFIG].n && !f->v[F_EVENT_ID].n)
		ev->standard = vendor_put(b, f->v[F_ARCH_STD]);
	if (vendor_field_given(f, F_ERRATA))
		ev->errata = vendor_put(b, f->v[F_ERRATA]);
	if (r->filtered)
		ev->filter = vendor_put(b, f->v[F_FILTER]);
	scale_unit(b, ev, f->v[F_SCALE_UNIT]);
}

int vendor_intel_event(struct vendor_builder *b, const struct vendor_fields *f)
{
	struct intel_encoder r = { .f = f };
	struct str name = f->v[F_NAME].n ? f->v[F_NAME] : f->v[F_ARCH_STD];
	struct vendor_event *ev;
	int err = -ENOMEM;

	vendor_unit_pmu(f->v[F_UNIT], &r.pmu);
	r.core = !r.pmu.n || str_starts(buf_view(&r.pmu), "cpu_");
	encode_event(&r);
	ev = vendor_add(b, name);
	if (ev && !buf_failed(&r.terms) && !buf_failed(&r.pmu) && !buf_failed(&r.why)) {
		describe(b, ev, &r);
		ev->pmu = vendor_put(b, buf_view(&r.pmu));
		ev->terms = vendor_put(b, buf_view(&r.terms));
		ev->refused = vendor_put(b, buf_view(&r.why));
		err = buf_failed(&b->pool) ? -ENOMEM : 0;
	}
	buf_done(&r.terms);
	buf_done(&r.pmu);
	buf_done(&r.why);
	return err;
}
