/*
 * The fields of an event in all JSON schemas. An unknown field with a value may be essential for the
 * encoding, so its name is stored, and the event is refused later.
 */
#include "event/vendor.h"

#include "base/num.h"

#define IGNORED F_MAX			/* a known field that does not affect the encoding */

static const struct { const char *key; enum vendor_field which; } known[] = {
	{ "EventName", F_NAME }, { "EventCode", F_CODE }, { "UMask", F_UMASK },
	{ "UMaskExt", F_UMASK_EXT }, { "UMask2", F_UMASK_EXT }, { "PortMask", F_PORT_MASK },
	{ "FCMask", F_FC_MASK }, { "ExtSel", F_EXT_SEL }, { "Filter", F_FILTER },
	{ "FILTER_VALUE", F_FILTER_VALUE }, { "CounterMask", F_CMASK }, { "Invert", F_INVERT },
	{ "EdgeDetect", F_EDGE }, { "AnyThread", F_ANY }, { "Equal", F_EQUAL },
	{ "MSRIndex", F_MSR_INDEX }, { "MSRValue", F_MSR_VALUE }, { "Counter", F_COUNTER },
	{ "CounterType", F_COUNTER_TYPE }, { "Unit", F_UNIT }, { "PEBS", F_PEBS },
	{ "Precise", F_PRECISE }, { "CollectPEBSRecord", F_COLLECT_PEBS }, { "Data_LA", F_DATA_LA },
	{ "Errata", F_ERRATA }, { "Deprecated", F_DEPRECATED }, { "SampleAfterValue", F_PERIOD },
	{ "BriefDescription", F_BRIEF }, { "PublicDescription", F_PUBLIC }, { "Topic", F_TOPIC },
	{ "PerPkg", F_PER_PKG }, { "ScaleUnit", F_SCALE_UNIT }, { "ConfigCode", F_CONFIG },
	{ "EventidCode", F_EVENT_ID }, { "NodeType", F_NODE_TYPE }, { "EnAllCores", F_ALL_CORES },
	{ "EnAllSlices", F_ALL_SLICES }, { "SliceId", F_SLICE }, { "ThreadMask", F_THREAD_MASK },
	{ "RdWrMask", F_RDWR_MASK }, { "ArchStdEvent", F_ARCH_STD }, { "MetricName", F_METRIC },
	{ "MetricExpr", F_METRIC_EXPR }, { "MATRIX_REQUEST", F_REQUEST },
	{ "MATRIX_RESPONSE", F_RESPONSE }, { "MATRIX_VALUE", F_MATRIX_VALUE },
	{ "BitName", F_BIT_NAME }, { "BitIndex", F_BIT_INDEX }, { "code", F_ARM_CODE },
	{ "name", F_ARM_NAME }, { "description", F_ARM_DESC }, { "type", F_ARM_TYPE },
	{ "Description", F_BRIEF }, { "DESCRIPTION", F_BRIEF },
	/* Counter constraints and sampling capabilities, which the kernel handles, and descriptions. */
	{ "CounterHTOff", IGNORED }, { "PEBScounters", IGNORED }, { "TakenAlone", IGNORED },
	{ "ProgrammingRestriction", IGNORED }, { "PDISTCounter", IGNORED }, { "Speculative", IGNORED },
	{ "L1_Hit_Indication", IGNORED }, { "ELLC", IGNORED }, { "Offcore", IGNORED },
	{ "Offmodule", IGNORED }, { "PRECISE_STORE", IGNORED }, { "PDIR_COUNTER", IGNORED },
	{ "MATRIX_REGISTER", IGNORED }, { "FlopsMultiplier", IGNORED }, { "Compat", IGNORED },
	{ "Experimental", IGNORED }, { "MetricGroup", IGNORED }, { "MetricConstraint", IGNORED },
	{ "MetricThreshold", IGNORED }, { "MetricgroupNoGroup", IGNORED },
	{ "DefaultMetricgroupName", IGNORED }, { "DefaultShowEvents", IGNORED },
	{ "AggregationMode", IGNORED }, { "RetirementLatencyMax", IGNORED },
	{ "RetirementLatencyMean", IGNORED }, { "RetirementLatencyMin", IGNORED },
	{ "architectural", IGNORED }, { "subtype", IGNORED }, { "component", IGNORED },
	{ "event_bits", IGNORED }, { "event_lsb", IGNORED }, { "trace_lsb", IGNORED },
	{ "accesses", IGNORED }, { "impdef", IGNORED }, { "direction", IGNORED },
	{ "instances", IGNORED },
};

static bool is_empty_value(struct str s)
{
	uint64_t n;

	s = str_trim(s);
	return !s.n || str_ieq(s, STR_LIT("na")) || str_ieq(s, STR_LIT("n/a")) ||
	       str_ieq(s, STR_LIT("null")) || str_ieq(s, STR_LIT("none")) || str_is(s, "false") ||
	       (num_u64(s, &n) == 0 && n == 0);
}

/* All events of a file have the same fields in the same order, so the search begins after the last match. */
void vendor_field_set(struct vendor_fields *f, struct str key, struct str value)
{
	static _Thread_local size_t last;

	for (size_t i = 0; i < countof(known); i++) {
		size_t at = (last + 1 + i) % countof(known);

		if (!str_is(key, known[at].key))
			continue;
		last = at;
		if (known[at].which != IGNORED)
			f->v[known[at].which] = str_trim(value);
		return;
	}
	if (!f->unknown.n && !is_empty_value(value))
		f->unknown = key;
}

bool vendor_field_given(const struct vendor_fields *f, enum vendor_field which)
{
	return !is_empty_value(f->v[which]);
}

bool vendor_field_num(const struct vendor_fields *f, enum vendor_field which, uint64_t *out)
{
	struct str rest = f->v[which], first;

	*out = 0;
	if (!vendor_field_given(f, which))
		return true;
	str_cut(&rest, ',', &first);
	return num_u64(str_trim(first), out) == 0;
}
