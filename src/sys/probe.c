/*
 * Probes which attr features the kernel's perf core supports. A feature is tried on a disabled dummy software
 * event on the calling thread, so that no PMU is involved: if the kernel refuses it with EINVAL or E2BIG, it
 * does not know the feature. Open and close cost about 10 us, so features are probed only after an
 * open was refused.
 */
#include "sys/probe.h"

#include <errno.h>

#define FLAG(word, version, bit_) { word, version, FEATURE_FLAG, bit_ }
#define FIELD(field, version)                                                                      \
	{ #field, version, FEATURE_FIELD, offsetof(struct perf_event_attr, field) }

static const struct kernel_feature features[] = {
	FIELD(config4, "6.19"),
	FLAG("defer_output", "6.19", PERF_ATTR_DEFER_OUTPUT),
	FLAG("defer_callchain", "6.19", PERF_ATTR_DEFER_CALLCHAIN),
	{ "BRANCH_COUNTERS", "6.8", FEATURE_BRANCH, 1ULL << 19 },
	FIELD(config3, "6.3"),
	{ "PRIV_SAVE", "6.1", FEATURE_BRANCH, 1ULL << 18 },
	{ "FORMAT_LOST", "6.0", FEATURE_FORMAT, PERF_FORMAT_LOST },
	FLAG("sigtrap", "5.13", PERF_ATTR_SIGTRAP),
	FLAG("remove_on_exec", "5.13", PERF_ATTR_REMOVE_ON_EXEC),
	FLAG("inherit_thread", "5.13", PERF_ATTR_INHERIT_THREAD),
	FIELD(sig_data, "5.13"),
	{ "WEIGHT_STRUCT", "5.12", FEATURE_SAMPLE, PERF_SAMPLE_WEIGHT_STRUCT },
	FLAG("build_id", "5.12", PERF_ATTR_BUILD_ID),
	{ "CODE_PAGE_SIZE", "5.11", FEATURE_SAMPLE, PERF_SAMPLE_CODE_PAGE_SIZE },
	{ "DATA_PAGE_SIZE", "5.11", FEATURE_SAMPLE, PERF_SAMPLE_DATA_PAGE_SIZE },
	FLAG("text_poke", "5.9", PERF_ATTR_TEXT_POKE),
	FLAG("cgroup", "5.7", PERF_ATTR_CGROUP),
	{ "SAMPLE_CGROUP", "5.7", FEATURE_SAMPLE, PERF_SAMPLE_CGROUP },
	{ "HW_INDEX", "5.7", FEATURE_BRANCH, 1ULL << 17 },
	{ "SAMPLE_AUX", "5.5", FEATURE_SAMPLE, PERF_SAMPLE_AUX },
	FIELD(aux_sample_size, "5.5"),
	FLAG("aux_output", "5.4", PERF_ATTR_AUX_OUTPUT),
	FLAG("bpf_event", "5.1", PERF_ATTR_BPF_EVENT),
	FLAG("ksymbol", "5.1", PERF_ATTR_KSYMBOL),
	{ "PHYS_ADDR", "4.14", FEATURE_SAMPLE, PERF_SAMPLE_PHYS_ADDR },
	{ "TYPE_SAVE", "4.14", FEATURE_BRANCH, 1ULL << 16 },
	FLAG("namespaces", "4.12", PERF_ATTR_NAMESPACES),
	FLAG("write_backward", "4.7", PERF_ATTR_WRITE_BACKWARD),
	FLAG("context_switch", "4.3", PERF_ATTR_CONTEXT_SWITCH),
	FLAG("use_clockid", "4.1", PERF_ATTR_USE_CLOCKID),
	FIELD(aux_watermark, "4.1"),
};
_Static_assert(countof(features) <= PROBE_FEATURES, "one slot per feature");

const struct kernel_feature *probe_features(size_t *n)
{
	*n = countof(features);
	return features;
}

const struct kernel_feature *probe_feature(const char *name)
{
	for (size_t i = 0; i < countof(features); i++)
		if (strcmp(features[i].name, name) == 0)
			return &features[i];
	return NULL;
}

void probe_init(struct probe *p, const struct sys *sys)
{
	*p = (struct probe){ .sys = sys };
}

uint32_t probe_attr_bytes(struct probe *p)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = 1 };
	int fd;

	if (p->attr_bytes)
		return p->attr_bytes;
	/* The kernel refuses a size below the first layout with E2BIG and writes its own size to attr.size. */
	fd = sys_perf_open(p->sys, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		sys_perf_close(p->sys, fd);
	p->attr_bytes = fd == -E2BIG && attr.size >= PERF_ATTR_SIZE_VER0 ? attr.size
									 : PERF_ATTR_SIZE_VER0;
	return p->attr_bytes;
}

/* Sets the feature's bit, and what it requires, so that the kernel does not refuse it for another reason. */
static void set_feature(struct perf_event_attr *attr, const struct kernel_feature *f)
{
	switch (f->kind) {
	case FEATURE_FLAG:
		attr->flags |= f->bit;
		if (f->bit == PERF_ATTR_INHERIT_THREAD)
			attr->flags |= PERF_ATTR_INHERIT;
		if (f->bit == PERF_ATTR_SIGTRAP)
			attr->flags |= PERF_ATTR_REMOVE_ON_EXEC;
		if (f->bit == PERF_ATTR_USE_CLOCKID)
			attr->clockid = 1;	/* CLOCK_MONOTONIC: allowed on every PMU */
		break;
	case FEATURE_FORMAT:
		attr->read_format |= f->bit;
		break;
	case FEATURE_SAMPLE:
		attr->sample_type |= f->bit;
		break;
	case FEATURE_BRANCH:
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = f->bit | 1ULL << 3;	/* ANY: one kind is required */
		break;
	case FEATURE_FIELD:
		break;
	}
}

static bool try_feature(struct probe *p, const struct kernel_feature *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		/* Without the kernel, so that perf_event_paranoid 2 does not refuse it. */
		.flags = PERF_ATTR_DISABLED | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV,
	};
	int fd;

	if (f->kind == FEATURE_FIELD)
		return f->bit < probe_attr_bytes(p);
	set_feature(&attr, f);
	fd = sys_perf_open(p->sys, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		sys_perf_close(p->sys, fd);
	return fd != -EINVAL && fd != -E2BIG;
}

bool probe_knows(struct probe *p, const struct kernel_feature *f)
{
	int8_t *known = &p->known[f - features];

	if (!*known)
		*known = try_feature(p, f) ? 1 : -1;
	return *known > 0;
}

static bool uses_feature(const struct perf_event_attr *attr, const struct kernel_feature *f)
{
	const char *bytes = (const char *)attr;
	uint64_t word = 0;

	switch (f->kind) {
	case FEATURE_FLAG:
		return attr->flags & f->bit;
	case FEATURE_FORMAT:
		return attr->read_format & f->bit;
	case FEATURE_SAMPLE:
		return attr->sample_type & f->bit;
	case FEATURE_BRANCH:
		return attr->branch_sample_type & f->bit;
	case FEATURE_FIELD:
		/* Every field in the table is the first of an extension by eight bytes. */
		memcpy(&word, bytes + f->bit, sizeof(word));
		return word != 0;
	}
	return false;
}

const struct kernel_feature *probe_refused(struct probe *p, const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < countof(features); i++)
		if (uses_feature(attr, &features[i]) && !probe_knows(p, &features[i]))
			return &features[i];
	return NULL;
}
