/*
 * The sampling part of each perf_event_attr: sample rate, sample_type, call chains, AUX settings. The
 * sampler's options apply to all events; an event's terms (period=, freq=, call-graph= ...) override them.
 *
 * The last event is the tracker, a dummy event that delivers mmap, comm, fork and exit records and takes
 * no samples. It excludes the kernel, which does not affect these records, so that
 * perf_event_paranoid=2 allows it.
 */
#include "sample/sampler.h"

#include <errno.h>

#include "base/num.h"

#define MAX_STACK_BYTES 65528		/* the kernel's limit: below 64 KiB, a multiple of 8 */

/* User registers sampled for DWARF unwinding. x86: all except the segment registers ds, es, fs, gs, which
 * 64-bit code does not use; other architectures: the general registers up to the program counter. */
#if defined(__x86_64__)
#define DWARF_REGS 0xff0fffULL
#define CAN_UNWIND true
#elif defined(__aarch64__)
#define DWARF_REGS 0x1ffffffffULL
#define CAN_UNWIND true
#elif defined(__riscv)
#define DWARF_REGS 0xffffffffULL
#else
#define DWARF_REGS 0ULL
#endif
#ifndef CAN_UNWIND
#define CAN_UNWIND false	/* see unwind/arch.c */
#endif
#define STACK_BYTES 8192u
#define AUTO_STACK_BYTES MAX_STACK_BYTES	/* compilers and interpreters have deep stacks */

#define BRANCH_USER (1ULL << 0)
#define BRANCH_CALL_STACK (1ULL << 11)
#define BRANCH_NO_FLAGS (1ULL << 14)
#define BRANCH_NO_CYCLES (1ULL << 15)

static const struct {
	uint32_t field;
	uint64_t bit;
} fields[] = {
	{ TACHO_FIELD_PERIOD, PERF_SAMPLE_PERIOD },
	{ TACHO_FIELD_CPU, PERF_SAMPLE_CPU },
	{ TACHO_FIELD_ADDR, PERF_SAMPLE_ADDR },
	{ TACHO_FIELD_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR },
	{ TACHO_FIELD_RAW, PERF_SAMPLE_RAW },
	{ TACHO_FIELD_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT },
	{ TACHO_FIELD_DATA_SRC, PERF_SAMPLE_DATA_SRC },
	{ TACHO_FIELD_TRANSACTION, PERF_SAMPLE_TRANSACTION },
	{ TACHO_FIELD_CGROUP, PERF_SAMPLE_CGROUP },
	{ TACHO_FIELD_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE },
	{ TACHO_FIELD_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE },
};

/* Sets opts.freq, the frequency of all events without a rate of their own; 0 if a period was given. */
static int choose_freq(struct tacho_sampler *s, struct tacho_error *e)
{
	struct tacho_sampler_opts *o = &s->opts;
	bool given = o->freq != 0;
	int max = 0;

	s->rate_given = given || o->freq_max || o->period;
	if (o->period && !o->freq_max && !given)
		return 0;
	if (!given)
		o->freq = SAMPLER_DEFAULT_FREQ;
	if (sys_sysctl_int(&s->t->sys, "kernel/perf_event_max_sample_rate", &max) < 0 || max <= 0)
		return o->freq_max ? error_set(e, -ENOENT, "cannot read the highest sampling frequency "
					       "(kernel.perf_event_max_sample_rate)") : 0;
	if (o->freq_max)
		o->freq = (uint64_t)max;
	if (o->freq <= (uint64_t)max)
		return 0;
	if (given && (o->strict_freq || s->target.no_fallback)) {
		error_set(e, -EINVAL, "%llu samples a second are more than the kernel allows (%d)",
			  (unsigned long long)o->freq, max);
		error_hint(e, "sample less often, or: sysctl -w kernel.perf_event_max_sample_rate=%llu",
			   (unsigned long long)o->freq);
		return -EINVAL;
	}
	set_note(s->set, NO_EVENT, "%d samples a second instead of %llu, the most the kernel allows "
		 "(kernel.perf_event_max_sample_rate)", max, (unsigned long long)o->freq);
	o->freq = (uint64_t)max;
	return 0;
}

static void set_freq(struct perf_event_attr *attr, uint64_t freq)
{
	attr->sample_freq = freq;
	attr->flags |= PERF_ATTR_FREQ;
}

/* Events written by BPF programs (bpf_perf_event_output) consist of raw data only. */
static bool is_bpf_output(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

/* By default tracepoints, probes, breakpoints and BPF output are sampled every time, other events by frequency. */
static void set_rate(const struct tacho_sampler *s, struct perf_event_attr *attr,
		     const struct event *event)
{
	const struct tacho_sampler_opts *o = &s->opts;
	bool every_event = attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT ||
		    is_bpf_output(attr) || event_is_probe(event->pmu);

	if (o->no_samples) {
		attr->sample_period = 0;
		attr->flags &= ~PERF_ATTR_FREQ;
		return;
	}
	if (event->terms.period_given || event->terms.freq_given)
		return;
	if (aux_is_pmu(event->pmu)) {		/* traces continuously */
		attr->sample_period = 1;
		return;
	}
	if (o->period && !o->freq_max && !o->freq)
		attr->sample_period = o->period;
	else if (every_event && !s->rate_given)
		attr->sample_period = 1;
	else
		set_freq(attr, o->freq);
}

static void set_sample_fields(const struct tacho_sampler *s, struct perf_event_attr *attr)
{
	const struct tacho_sampler_opts *o = &s->opts;

	attr->sample_type |= SAMPLER_TYPE;
	for (size_t i = 0; i < countof(fields); i++)
		if (o->fields & fields[i].field)
			attr->sample_type |= fields[i].bit;
	if (attr->flags & PERF_ATTR_FREQ)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (attr->type == PERF_TYPE_TRACEPOINT || is_bpf_output(attr)) {
		attr->sample_type |= PERF_SAMPLE_RAW | PERF_SAMPLE_CPU;
		/* With PERF_SAMPLE_PERIOD the kernel takes a sample at every hit, whatever the period. */
		if (attr->sample_period == 1)
			attr->sample_type |= PERF_SAMPLE_PERIOD;
	}
	if (s->target.all_cpus || s->target.cpus || o->fields & TACHO_FIELD_RAW)
		attr->sample_type |= PERF_SAMPLE_CPU;
}

static enum tacho_chain chain_mode(const struct tacho_sampler *s, const struct event *event)
{
	const char *own = event->terms.call_graph;

	if (!own)
		return s->opts.chain;
	if (strcmp(own, "dwarf") == 0)
		return TACHO_CHAIN_DWARF;
	if (strcmp(own, "lbr") == 0)
		return TACHO_CHAIN_LBR;
	return strcmp(own, "no") == 0 ? TACHO_CHAIN_NONE : TACHO_CHAIN_FP;
}

static int set_call_chain(const struct tacho_sampler *s, struct perf_event_attr *attr,
		     const struct event *event, struct tacho_error *e)
{
	const struct tacho_sampler_opts *o = &s->opts;
	enum tacho_chain chain = chain_mode(s, event);
	uint32_t usual = chain == TACHO_CHAIN_AUTO ? AUTO_STACK_BYTES : STACK_BYTES;
	uint32_t bytes = event->terms.stack_size ? event->terms.stack_size
		       : o->stack_bytes ? o->stack_bytes : usual;

	if (chain == TACHO_CHAIN_AUTO)
		chain = CAN_UNWIND && !(attr->flags & PERF_ATTR_EXCLUDE_USER) && !o->chain_no_user ? TACHO_CHAIN_DWARF
												     : TACHO_CHAIN_FP;
	if (chain == TACHO_CHAIN_NONE)
		return 0;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = (uint16_t)event->terms.max_stack;
	if (o->chain_no_kernel)
		attr->flags |= PERF_ATTR_EXCLUDE_CALLCHAIN_KERNEL;
	if (o->chain_no_user)
		attr->flags |= PERF_ATTR_EXCLUDE_CALLCHAIN_USER;
	if (chain == TACHO_CHAIN_LBR) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = BRANCH_USER | BRANCH_CALL_STACK | BRANCH_NO_CYCLES |
					   BRANCH_NO_FLAGS;
	}
	if (chain == TACHO_CHAIN_FP && o->chain_deferred && !o->chain_no_user && !(attr->flags & PERF_ATTR_EXCLUDE_USER))
		attr->flags |= PERF_ATTR_DEFER_CALLCHAIN;
	if (chain != TACHO_CHAIN_DWARF)
		return 0;
	if (bytes > MAX_STACK_BYTES)
		return error_set(e, -EINVAL, "a sample can hold at most %d bytes of stack, not %u",
				 MAX_STACK_BYTES, bytes);
	if (!DWARF_REGS)
		return error_set(e, -EOPNOTSUPP, "DWARF call chains are not supported on this architecture");
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user |= DWARF_REGS;
	attr->sample_stack_user = (bytes + 7) & ~7u;
	attr->flags |= PERF_ATTR_EXCLUDE_CALLCHAIN_USER;
	return 0;
}

static void set_regs_branches_clock(const struct tacho_sampler *s, struct perf_event_attr *attr,
		     const struct event *event)
{
	const struct tacho_sampler_opts *o = &s->opts;
	uint64_t branches = event->terms.branches_given	      ? event->terms.branch_type
			    : attr->type != PERF_TYPE_TRACEPOINT ? o->branch_filter : 0;

	if (o->regs_intr) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = o->regs_intr;
	}
	if (o->regs_user) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= o->regs_user;
	}
	if (branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type |= branches;
	}
	attr->flags |= PERF_ATTR_SAMPLE_ID_ALL;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	if (o->counts_per_thread)
		attr->flags |= PERF_ATTR_INHERIT_STAT;
	if (o->counts_per_thread || o->read_times)
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (o->use_clockid) {
		attr->flags |= PERF_ATTR_USE_CLOCKID;
		attr->clockid = o->clockid;
	}
	if (event->terms.overwrite ? event->terms.overwrite > 0 : o->overwrite)
		attr->flags |= PERF_ATTR_WRITE_BACKWARD;
}

bool sampler_is_aux(const struct tacho_sampler *s, uint32_t event)
{
	return event != s->set->sampling.tracker && aux_is_pmu(set_event(s->set, event)->pmu);
}

uint32_t sampler_aux_pages(const struct tacho_sampler *s)
{
	return s->opts.aux_pages ? s->opts.aux_pages
				 : (uint32_t)((4u << 20) / (size_t)sysconf(_SC_PAGESIZE));
}

static uint32_t aux_action(const char *actions)
{
	static const char *const kinds[] = { "start-paused", "pause", "resume" };
	struct str rest = str_of(actions ? actions : ""), action;
	uint32_t bits = 0;

	while (str_cut(&rest, ',', &action))
		for (uint32_t i = 0; i < countof(kinds); i++)
			bits |= str_is(action, kinds[i]) ? 1u << i : 0;
	return bits;
}

/* AUX settings: the fill level at which the kernel wakes us, and how many bytes of the AUX area go into
 * each sample of the other events of the group (--aux-sample). */
static void set_aux(const struct tacho_sampler *s, struct perf_event_attr *attr,
		    const struct event *event)
{
	const struct tacho_sampler_opts *o = &s->opts;
	const struct event *lead = set_event(s->set, event->leader);
	uint32_t bytes = event->terms.aux_sample_size;

	if (aux_is_pmu(event->pmu) && !o->aux_snapshot && !o->aux_sample_bytes)
		attr->aux_watermark = (uint32_t)min_of(
			(uint64_t)sampler_aux_pages(s) * (uint64_t)sysconf(_SC_PAGESIZE) / 4,
			(uint64_t)UINT32_MAX);
	attr->aux_action = aux_action(event->terms.aux_action);
	if (event->terms.aux_output > 0)
		attr->flags |= PERF_ATTR_AUX_OUTPUT;
	if (!bytes && lead != event && aux_is_pmu(lead->pmu))
		bytes = o->aux_sample_bytes;
	if (!bytes)
		return;
	attr->sample_type |= PERF_SAMPLE_AUX;
	attr->aux_sample_size = bytes;
}

/* Modifier S: only the leader samples, and its samples contain the values of all group members. */
static void set_leader_sampling(const struct tacho_sampler *s, uint32_t i)
{
	const struct event *event = set_event(s->set, i);
	const struct event *lead = set_event(s->set, event->leader);
	struct perf_event_attr *attr = &s->set->events.v[i].attr;

	if (!(lead->flags & EVENT_LEADER_SAMPLING) || event->group_size < 2)
		return;
	attr->sample_type |= PERF_SAMPLE_READ;
	attr->read_format |= PERF_FORMAT_GROUP;
	if (event == lead)
		return;
	attr->flags &= ~PERF_ATTR_FREQ;
	attr->sample_period = 0;
}

static int prepare_event(struct tacho_sampler *s, uint32_t i, struct tacho_error *e)
{
	const struct event *event = set_event(s->set, i);
	struct perf_event_attr *attr = &s->set->events.v[i].attr;
	int err;

	if (event->kind == TACHO_EVENT_TOOL) {
		struct counted_event *ev = &s->set->events.v[i];

		ev->state = TACHO_UNSUPPORTED;
		ev->err = -EOPNOTSUPP;
		ev->why = "tool events are computed when a command ends and cannot be sampled";
		return 0;
	}
	if (event->terms.time < 0)
		return error_set(e, -EOPNOTSUPP, "'%s': time=0 is not supported: samples are sorted by time",
				 event->name);
	set_rate(s, attr, event);
	set_sample_fields(s, attr);
	err = set_call_chain(s, attr, event, e);
	if (err < 0)
		return err;
	set_regs_branches_clock(s, attr, event);
	set_aux(s, attr, event);
	set_leader_sampling(s, i);
	return 0;
}

/* ratio-to-prev: the event before it overflows at a count that is larger by the ratio. */
static int set_ratio(struct tacho_sampler *s, uint32_t i, struct tacho_error *e)
{
	const struct event *event = set_event(s->set, i);
	const struct perf_event_attr *attr = &s->set->events.v[i].attr;
	struct perf_event_attr *prev;
	double period;

	if (!(event->terms.ratio_to_prev > 0))
		return 0;
	if ((attr->flags & PERF_ATTR_FREQ) || !attr->sample_period)
		return error_set(e, -EINVAL, "'%s': Event period term or count (-c) must be set when using "
				 "ratio-to-prev term.", event->name);
	prev = &s->set->events.v[i - 1].attr;	/* of the same group */
	period = (double)attr->sample_period / event->terms.ratio_to_prev;
	if (!(period >= 1 && period < 0x1p63))
		return error_set(e, -EINVAL, "'%s': the period %llu divided by the ratio is not a period",
				 event->name, (unsigned long long)attr->sample_period);
	prev->flags &= ~PERF_ATTR_FREQ;
	prev->sample_period = (uint64_t)period;
	prev->sample_type &= ~PERF_SAMPLE_PERIOD;
	return 0;
}

/* Other unwinders search .eh_frame in mappings, which may be non-executable; ours reads the files. A process may make hundreds of
 * mappings of data, by malloc() alone. */
bool sampler_wants_data_mmaps(const struct tacho_sampler *s)
{
	for (size_t i = 0; i < s->set->events.n && !s->opts.unwound_here; i++)
		if (s->set->events.v[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return s->opts.data_mmaps || s->opts.fields & (TACHO_FIELD_ADDR | TACHO_FIELD_PHYS_ADDR);
}

/* Whether records of mappings and tasks have a CPU: as those of perf, if samples have one, and where switches tell
 * which thread ran on which CPU. */
static bool tracker_has_cpu(const struct tacho_sampler *s)
{
	bool has_cpu = s->opts.switches;

	for (size_t i = 0; i < s->set->events.n; i++)
		has_cpu |= s->set->events.v[i].attr.sample_type & PERF_SAMPLE_CPU;
	return has_cpu;
}

/* Flags that the running kernel does not know are dropped when the tracker is opened. */
static struct perf_event_attr tracker_attr(const struct tacho_sampler *s)
{
	const struct tacho_sampler_opts *o = &s->opts;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = SAMPLER_TYPE | (tracker_has_cpu(s) ? PERF_SAMPLE_CPU : 0),
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.flags = PERF_ATTR_MMAP | PERF_ATTR_MMAP2 | PERF_ATTR_COMM | PERF_ATTR_COMM_EXEC |
			 PERF_ATTR_TASK | PERF_ATTR_SAMPLE_ID_ALL | PERF_ATTR_BUILD_ID |
			 PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV,
	};

	if (o->no_build_ids)
		attr.flags &= ~PERF_ATTR_BUILD_ID;
	if (!o->no_bpf)
		attr.flags |= PERF_ATTR_KSYMBOL | PERF_ATTR_BPF_EVENT;
	if (o->switches)
		attr.flags |= PERF_ATTR_CONTEXT_SWITCH;
	if (o->text_poke)
		attr.flags |= PERF_ATTR_TEXT_POKE;
	if (o->chain_deferred)
		attr.flags |= PERF_ATTR_DEFER_OUTPUT;
	if (o->namespaces)
		attr.flags |= PERF_ATTR_NAMESPACES;
	if (o->fields & TACHO_FIELD_CGROUP)
		attr.flags |= PERF_ATTR_CGROUP;
	if (sampler_wants_data_mmaps(s))
		attr.flags |= PERF_ATTR_MMAP_DATA;
	if (o->use_clockid) {
		attr.flags |= PERF_ATTR_USE_CLOCKID;
		attr.clockid = o->clockid;
	}
	return attr;
}

int sampler_prepare(struct tacho_sampler *s, struct tacho_error *e)
{
	struct perf_event_attr tracker;
	int err = choose_freq(s, e);

	for (uint32_t i = 0; err == 0 && i < s->set->events.n; i++)
		err = prepare_event(s, i, e);
	for (uint32_t i = 0; err == 0 && i < s->set->events.n; i++)
		err = set_ratio(s, i, e);
	if (err < 0)
		return err;
	tracker = tracker_attr(s);
	err = tacho_evset_add_attr(s->set, &tracker, sizeof(tracker), "dummy:u", e);
	if (err < 0)
		return err;
	s->set->sampling.tracker = (uint32_t)s->set->events.n - 1;
	return 0;
}
