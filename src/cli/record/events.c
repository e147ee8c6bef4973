/*
 * Converts the options of `record` to settings of the sampler and the recorder: events, target, sample fields,
 * sizes and times.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "record/branch_type.h"
#include "base/error.h"
#include "base/num.h"
#include "cli/core/target_args.h"

#include <tacho/unwind.h>

static const char *message_command = "record";	/* set by the functions of record.h; `tacho top` has these options, too */

static void set_message_command(const struct record_opts *o)
{
	message_command = o->command ? o->command : "record";
}

static int refuse_argument(const char *option, const char *text, struct str part, const char *what,
		  const char *hint)
{
	struct tacho_error e;

	error_set(&e, -EINVAL, "'%.*s' is not a %s", STR(part), what);
	error_at(&e, (size_t)(part.s - text), part.n);
	if (hint)
		error_hint(&e, "%s", hint);
	message_error(message_command, option, text, &e);
	return -EINVAL;
}

/* Parses auto, fp[,defer], dwarf[,BYTES][,raw] or lbr. */
static int parse_call_graph(const struct record_opts *o, struct tacho_sampler_opts *out, bool *raw_stacks)
{
	const char *text = o->call_graph;
	struct str rest = str_of(text), mode;
	uint64_t bytes;

	if (!str_cut(&rest, ',', &mode))
		mode = str_of(text);
	if (str_is(mode, "fp"))
		out->chain = TACHO_CHAIN_FP;
	else if (str_is(mode, "lbr"))
		out->chain = TACHO_CHAIN_LBR;
	else if (str_is(mode, "dwarf"))
		out->chain = TACHO_CHAIN_DWARF;
	else if (str_is(mode, "auto"))
		out->chain = TACHO_CHAIN_AUTO;
	else
		return refuse_argument("--call-graph", text, mode, "way to record call chains",
			      "auto, fp, fp,defer, dwarf, dwarf,BYTES, dwarf,raw, dwarf,BYTES,raw or lbr");
	if (out->chain == TACHO_CHAIN_DWARF && (str_is(rest, "raw") || str_ends(rest, ",raw"))) {
		*raw_stacks = true;
		rest.n -= min_of(rest.n, strlen(",raw"));
	}
	if (out->chain == TACHO_CHAIN_FP && str_is(rest, "defer")) {
		out->chain_deferred = true;
		return 0;
	}
	/* These would record the copies of stacks as they are. */
	if (out->chain == TACHO_CHAIN_AUTO && (o->threads || o->overwrite || o->snapshot || o->aux_sample))
		out->chain = TACHO_CHAIN_FP;
	if (!rest.n)
		return 0;
	if (out->chain != TACHO_CHAIN_DWARF || num_bytes(rest, &bytes) < 0 || bytes == 0 ||
	    bytes > 65528)
		return refuse_argument("--call-graph", text, rest, "size of a stack",
			      "dwarf takes the bytes of stack to keep, 65528 at most");
	out->stack_bytes = ((uint32_t)bytes + 7) & ~7u;
	return 0;
}

/* Parses branch kinds, separated by commas. */
static int parse_branches(const char *text, uint64_t *out)
{
	struct str rest = str_of(text), word;
	uint64_t bits = 0;

	while (str_cut(&rest, ',', &word)) {
		uint64_t bit = branch_type_bit(word);

		if (!bit)
			return refuse_argument("-j", text, word, "kind of branch",
				      "any, any_call, any_ret, ind_call, cond, call, u, k ...");
		bits |= bit;
	}
	*out = branch_types_or_any(bits);
	return 0;
}

/* The ELF machine of this build, which determines the registers. */
#if defined(__x86_64__)
#define MACHINE 62
#elif defined(__aarch64__)
#define MACHINE 183
#elif defined(__riscv)
#define MACHINE 243
#else
#define MACHINE 0
#endif
#define GENERAL_REGS (MACHINE == 183 ? 33u : 32u)	/* arm64: x0-x29, lr, sp, pc */

static bool is_sampled_reg(unsigned bit)
{
	/* 64-bit code has no use for ds, es, fs, gs, and the kernel refuses them. */
	bool segment = MACHINE == 62 && bit >= 12 && bit <= 15;

	return bit < 64 && !segment && tacho_reg_name(MACHINE, bit);
}

int record_list_registers(void)
{
	const char *last = "";

	fputs("available registers:", stderr);
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!is_sampled_reg(bit) || strcmp(last, tacho_reg_name(MACHINE, bit)) == 0)
			continue;	/* a wide register has two bits, but one name */
		last = tacho_reg_name(MACHINE, bit);
		fprintf(stderr, " %s", last);
	}
	fputc('\n', stderr);
	return 0;
}

/* Parses register names, separated by commas; no names: the general registers. */
static int parse_regs(const char *option, const char *text, uint64_t *out)
{
	struct str rest = str_of(text), word;
	uint64_t bits = 0;

	for (unsigned bit = 0; !*text && bit < GENERAL_REGS; bit++)
		bits |= is_sampled_reg(bit) ? 1ULL << bit : 0;
	while (*text && str_cut(&rest, ',', &word)) {
		uint64_t found = 0;

		for (unsigned bit = 0; bit < 64; bit++)
			if (is_sampled_reg(bit) && str_ieq(word, str_of(tacho_reg_name(MACHINE, bit))))
				found = 1ULL << bit;
		if (!found)
			return refuse_argument(option, text, word, "register", "=? lists them");
		bits |= found;
	}
	*out = bits;
	return bits ? 0 : -EINVAL;
}

static const struct {
	const char *name;
	int id;
} clocks[] = {
	{ "realtime", CLOCK_REALTIME },		  { "real", CLOCK_REALTIME },
	{ "monotonic", CLOCK_MONOTONIC },	  { "mono", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW }, { "raw", CLOCK_MONOTONIC_RAW },
	{ "boottime", CLOCK_BOOTTIME },		  { "boot", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
};

static int parse_clock(const char *text, struct tacho_sampler_opts *out)
{
	struct str name = str_of(text);

	if (str_starts(name, "CLOCK_"))
		name = str_n(name.s + 6, name.n - 6);
	out->use_clockid = true;
	if (num_int(name, &out->clockid) == 0)
		return 0;
	for (size_t i = 0; i < countof(clocks); i++)
		if (str_ieq(name, str_of(clocks[i].name))) {
			out->clockid = clocks[i].id;
			return 0;
		}
	return refuse_argument("-k", text, str_of(text), "clock",
		      "monotonic, monotonic_raw, realtime, boottime, tai or a number");
}

/* Parses a number of pages, or of bytes with a unit; rounds up to a power of two pages. */
static int parse_pages(const char *text, struct str s, uint32_t *out)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), n;
	bool digits = s.n > 0;
	uint32_t pages = 1;

	for (size_t i = 0; i < s.n; i++)
		digits &= s.s[i] >= '0' && s.s[i] <= '9';
	if ((digits ? num_u64(s, &n) : num_bytes(s, &n)) < 0 || n == 0)
		return refuse_argument("-m", text, s, "number of pages", "pages, or bytes as in 64K or 8M");
	if (!digits)
		n = (n + page - 1) / page;
	if (n > 1u << 24)
		return refuse_argument("-m", text, s, "size a ring buffer can have", "64G at most");
	while (pages < n)
		pages *= 2;
	*out = pages;
	return 0;
}

/* Parses RING, RING,AUX or ,AUX. */
static int parse_rings(const char *text, struct tacho_sampler_opts *out)
{
	struct str rest = str_of(text), ring = { 0 };
	bool has_comma = str_find(rest, ',') >= 0;
	int err = 0;

	str_cut(&rest, ',', &ring);
	if (ring.n || !has_comma)
		err = parse_pages(text, ring, &out->ring_pages);
	return err < 0 || !has_comma ? err : parse_pages(text, rest, &out->aux_pages);
}

/* Parses [e][SIZE]. */
static int parse_snapshot(const char *text, struct record_plan *plan)
{
	struct str s = str_of(text);

	plan->sampler.aux_snapshot = true;
	plan->snapshot_at_end = str_starts(s, "e");
	if (plan->snapshot_at_end)
		s = str_n(s.s + 1, s.n - 1);
	if (s.n && (num_bytes(s, &plan->sampler.aux_snapshot_bytes) < 0 ||
		    !plan->sampler.aux_snapshot_bytes))
		return refuse_argument("-S", text, s, "size of a snapshot", "bytes as in 64K or 1M; with e also at the end");
	return 0;
}

#define AUX_SAMPLE_DEFAULT 4096
#define AUX_SAMPLE_MAX (60u << 10)	/* a whole record can have at most 64 KiB */

static int parse_aux_sample(const char *text, uint32_t *out)
{
	uint64_t n = AUX_SAMPLE_DEFAULT;

	if (*text && (num_bytes(str_of(text), &n) < 0 || !n || n > AUX_SAMPLE_MAX))
		return refuse_argument("--aux-sample", text, str_of(text), "size of a piece in a sample",
			      "bytes, 60K at most");
	*out = (uint32_t)n;
	return 0;
}

/* Parses all, no, or a list of task, mmap, cgroup. The kernel's mapping is always synthesized: without it
 * perf cannot resolve kernel symbols. mmap includes task, as in perf. */
static int parse_synth(const char *text, unsigned *out)
{
	static const struct { const char *name; unsigned bits; } kinds[] = {
		{ "all", TACHO_SYNTH_ALL }, { "no", TACHO_SYNTH_KERNEL }, { "task", TACHO_SYNTH_TASK },
		{ "mmap", TACHO_SYNTH_MMAP | TACHO_SYNTH_TASK }, { "cgroup", TACHO_SYNTH_CGROUP },
	};
	struct str rest = str_of(text), word;

	*out = TACHO_SYNTH_KERNEL;
	while (str_cut(&rest, ',', &word)) {
		size_t i = 0;

		while (i < countof(kinds) && !str_is(word, kinds[i].name))
			i++;
		if (i == countof(kinds))
			return refuse_argument("--synth", text, word, "thing to synthesize",
				      "all, no, task, mmap, cgroup");
		*out = str_is(word, "no") ? kinds[i].bits : *out | kinds[i].bits;
	}
	return 0;
}

/* Parses signal, a size with B, K, M or G, or a time with s, m, h or d. */
static int parse_switch(const char *text, struct record_plan *plan)
{
	struct str s = str_of(text);
	uint64_t n;
	char unit = s.n ? s.s[s.n - 1] : 0;

	plan->switches = true;
	if (!s.n || str_is(s, "signal")) {
		plan->switch_on_signal = true;
		return 0;
	}
	if (strchr("smhd", unit) && num_u64(str_n(s.s, s.n - 1), &n) == 0 && n) {
		plan->switch_s = (double)n * (unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600
											      : 86400);
		return 0;
	}
	if (strchr("BKMG", unit) && num_bytes(s, &n) == 0 && n) {
		plan->switch_bytes = n;
		return 0;
	}
	return refuse_argument("--switch-output", text, s, "moment to switch at",
		      "signal, a size like 100M, or a time like 30s, 5m, 1h");
}

static int add_range(struct record_plan *plan, double from_s, double to_s)
{
	struct record_range *r = vec_add(&plan->ranges);

	if (!r)
		return -ENOMEM;
	*r = (struct record_range){ from_s, to_s };
	return 0;
}

/* Parses milliseconds, -1, or ascending ranges of milliseconds, separated by commas. */
static int parse_delay(const char *text, struct record_plan *plan)
{
	static const char hint[] = "milliseconds, -1 for off, or ranges one after the other as in 10-20,30-40";
	struct str rest = str_of(text), part, from;
	uint32_t start, end, last = 0;
	int err = 0;

	if (str_is(rest, "-1")) {
		plan->waits = true;
		return 0;
	}
	if (num_u32(rest, &start) == 0)
		return start ? add_range(plan, start * 1e-3, INFINITY) : 0;
	while (err == 0 && str_cut(&rest, ',', &part)) {
		struct str whole = part;

		if (!str_cut(&part, '-', &from) || num_u32(from, &start) < 0 ||
		    num_u32(part, &end) < 0 || start < last || end <= start)
			return refuse_argument("-D", text, whole, "range of time", hint);
		last = end;
		err = add_range(plan, start * 1e-3, end * 1e-3);
	}
	return plan->ranges.n || err ? err : refuse_argument("-D", text, str_of(text), "delay", hint);
}

static int parse_freq(const struct record_opts *o, struct tacho_sampler_opts *out)
{
	out->period = o->period;
	out->strict_freq = o->strict_freq;
	if (!o->freq)
		return 0;
	if (strcmp(o->freq, "max") == 0) {
		out->freq_max = true;
		return 0;
	}
	if (num_u64(str_of(o->freq), &out->freq) < 0 || !out->freq)
		return refuse_argument("-F", o->freq, str_of(o->freq), "frequency", "samples a second, or max");
	return 0;
}

static uint32_t sample_fields(const struct record_opts *o)
{
	return (o->want_period || o->off_cpu ? TACHO_FIELD_PERIOD : 0) |
	       (o->sample_cpu ? TACHO_FIELD_CPU : 0) | (o->raw ? TACHO_FIELD_RAW : 0) |
	       (o->addresses ? TACHO_FIELD_ADDR | TACHO_FIELD_DATA_SRC : 0) |
	       (o->phys_addresses ? TACHO_FIELD_ADDR | TACHO_FIELD_PHYS_ADDR : 0) |
	       (o->mem_info ? TACHO_FIELD_DATA_SRC : 0) |
	       (o->weight ? TACHO_FIELD_WEIGHT : 0) | (o->transaction ? TACHO_FIELD_TRANSACTION : 0) |
	       (o->all_cgroups ? TACHO_FIELD_CGROUP : 0) |
	       (o->data_page_size ? TACHO_FIELD_ADDR | TACHO_FIELD_DATA_PAGE_SIZE : 0) |
	       (o->code_page_size ? TACHO_FIELD_CODE_PAGE_SIZE : 0);
}

static int plan_target(const struct record_opts *o, bool has_command, struct record_plan *plan)
{
	struct tacho_evset_opts *t = &plan->target;
	bool tasks = o->pids || o->tids || o->user;
	/* As in perf, -t does not follow children unless --inherit is given. */
	bool no_inherit = o->no_inherit && (*o->no_inherit || o->tids);
	int err = 0;

	*t = (struct tacho_evset_opts){ .size = sizeof(*t), .cpus = o->cpus,
					.no_inherit = no_inherit, .all_user = o->all_user,
					.all_kernel = o->all_kernel };
	t->all_cpus = o->all_cpus || (!tasks && !o->cpus && !has_command);
	if (o->pids)
		err = target_ids(message_command, "-p", o->pids, &plan->pids, &t->n_pids);
	if (err == 0 && o->tids)
		err = target_ids(message_command, "-t", o->tids, &plan->tids, &t->n_tids);
	if (err == 0 && o->cpus)
		err = target_cpus(message_command, o->cpus);
	if (err == 0 && o->user) {
		t->by_uid = true;
		err = target_user(message_command, o->user, &t->uid);
	}
	t->pids = plan->pids;
	t->tids = plan->tids;
	return err;
}

static int plan_sizes(const struct record_opts *o, struct record_plan *plan)
{
	uint64_t level = 1;
	int err = 0;

	if (o->pages)
		err = parse_rings(o->pages, &plan->sampler);
	if (err == 0 && o->max_size && (num_bytes(str_of(o->max_size), &plan->max_bytes) < 0 ||
					!plan->max_bytes))
		err = refuse_argument("--max-size", o->max_size, str_of(o->max_size), "size", "as in 100M or 2G");
	if (err == 0 && o->snapshot)
		err = parse_snapshot(o->snapshot, plan);
	if (err == 0 && o->aux_sample)
		err = parse_aux_sample(o->aux_sample, &plan->sampler.aux_sample_bytes);
	if (err == 0 && o->switch_output)
		err = parse_switch(o->switch_output, plan);
	if (err == 0 && o->compress && *o->compress &&
	    (num_u64(str_of(o->compress), &level) < 0 || level < 1 || level > 22))
		err = refuse_argument("-z", o->compress, str_of(o->compress), "level of compression",
			     "1 is fastest, 22 is smallest");
	plan->compress_level = o->compress ? (int)level : 0;
	return err;
}

int record_plan_init(const struct record_opts *o, bool has_command, struct record_plan *plan)
{
	struct tacho_sampler_opts *s = &plan->sampler;
	int err;

	set_message_command(o);
	*s = (struct tacho_sampler_opts){
		.size = sizeof(*s), .target = &plan->target, .fields = sample_fields(o),
		.chain = o->chains ? TACHO_CHAIN_FP : TACHO_CHAIN_NONE,
		.chain_no_user = o->kernel_chains, .chain_no_kernel = o->user_chains,
		.counts_per_thread = o->counts, .namespaces = o->namespaces, .switches = o->switches || o->latency || o->off_cpu,
		.no_bpf = o->no_bpf, .overwrite = o->overwrite, .no_buffering = o->no_buffering,
		.per_thread_rings = o->per_thread, .text_poke = o->text_poke, .data_mmaps = o->data_mmaps,
		.no_samples = o->no_samples, .read_times = o->read_times, .no_build_ids = o->no_mmap_ids,
	};
	plan->synth = TACHO_SYNTH_ALL;
	err = plan_target(o, has_command, plan);
	if (err == 0)
		err = plan_sizes(o, plan);
	if (err == 0)
		err = parse_freq(o, s);
	if (err == 0 && o->delay)
		err = parse_delay(o->delay, plan);
	if (err == 0 && o->call_graph)
		err = parse_call_graph(o, s, &plan->raw_stacks);
	/* The others write the copies of stacks as they are. */
	s->unwound_here = !plan->raw_stacks && !o->threads && !o->overwrite && !o->snapshot && !o->aux_sample;
	if (err == 0 && o->branch_any)
		s->branch_filter = 1 << 3;
	if (err == 0 && o->branch_filter)
		err = parse_branches(o->branch_filter, &s->branch_filter);
	if (err == 0 && o->intr_regs)
		err = parse_regs("--intr-regs", o->intr_regs, &s->regs_intr);
	if (err == 0 && o->user_regs)
		err = parse_regs("--user-regs", o->user_regs, &s->regs_user);
	if (err == 0 && (o->clockid || o->jit))	/* jitdumps have the times of that clock */
		err = parse_clock(o->clockid ? o->clockid : "monotonic", s);
	if (err == 0 && o->synth)
		err = parse_synth(o->synth, &plan->synth);
	return err;
}

void record_plan_done(struct record_plan *plan)
{
	free(plan->pids);
	free(plan->tids);
	vec_done(&plan->ranges);
}

/* --exclude-perf: filters the recorder's own process out of the tracepoints. */
static int exclude_self(struct tacho_sampler *s)
{
	char filter[64];
	size_t n = 0;

	snprintf(filter, sizeof(filter), "common_pid != %d", (int)getpid());
	for (size_t i = 0; i < tacho_sampler_size(s); i++) {
		int err;

		if (tacho_sampler_event(s, i)->kind != TACHO_EVENT_TRACEPOINT)
			continue;
		n++;
		err = tacho_sampler_set_filter(s, i, 1, filter, NULL);
		if (err < 0)
			return err;
	}
	if (n)
		return 0;
	message_text(message_command, "--exclude-perf is for tracepoints, and none is given with -e");
	return -EINVAL;
}

/* --off-cpu: an event whose samples the recorder turns into times. Without call chains of the other events, it has its
 * own. */
static int add_off_cpu(const struct record_opts *o, struct tacho_sampler *s)
{
	bool chains = o->chains || o->call_graph;
	struct tacho_error e = { .column = -1 };
	char spec[128];
	int err = 0;

	snprintf(spec, sizeof(spec), "context-switches/name=" OFF_CPU_EVENT ",period=1%s/",
		 chains ? "" : tacho_unwinder_supports(0) ? ",call-graph=dwarf" : ",call-graph=fp");
	if (!event_args_have(&o->event_args, EVENT_ARG_EVENTS))
		err = tacho_sampler_add(s, "cpu-clock", &e);
	if (err >= 0)
		err = tacho_sampler_add(s, spec, &e);
	if (err < 0)
		message_error(message_command, "--off-cpu", spec, &e);
	return min_of(err, 0);
}

int record_add_events(const struct record_opts *o, struct tacho_sampler *s)
{
	int err;

	set_message_command(o);
	err = event_args_apply(&o->event_args, message_command, tacho_sampler_evset(s), NULL, NULL);

	if (err == 0 && o->off_cpu)
		err = add_off_cpu(o, s);
	return err == 0 && o->exclude_self ? exclude_self(s) : err;
}
