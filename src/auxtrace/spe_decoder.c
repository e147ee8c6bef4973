/*
 * Samples of Arm SPE: the packets up to an END or TIMESTAMP packet describe one operation that the CPU has selected. It
 * becomes a sample of each event that it counts for (a load that misses the first level: l1d-miss, l1d-access, memory ...).
 *
 * Bytes that are no packet are skipped up to the end of the operation, which an error record reports.
 */
#include "auxtrace/spe_packets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spe_operation {
	uint64_t pc, target, data, physical, events, source, ticks;
	uint32_t latency, context;
	unsigned class, detail;		/* of the operation packet */
	unsigned level;			/* exception level of pc */
	bool has_context, has_class, has_source, has_time, has_data;
};

struct spe_decoder {
	struct trace_decoder base;
	struct expansion *x;
	const struct aux_queue *queue;
	size_t run;			/* the next one to open */
	uint8_t *bytes;
	const uint8_t *at, *end;
	uint64_t n_bytes, run_offset;
	struct spe_operation op;
	uint64_t time;			/* of `op` */
	bool pending;			/* `op` is complete, but its time has not come */
	bool common_sources;		/* the CPU has the data sources of Neoverse */
	uint64_t n_operations;
};

/* ---- data sources ---- */
enum {				/* fields of perf_mem_data_src, shifted to their places */
	OP_NA = 1, OP_LOAD = 2, OP_STORE = 4,
	LVL_NA = 1 << 5, LVL_HIT = 2 << 5, LVL_MISS = 4 << 5, LVL_L1 = 8 << 5, LVL_L2 = 0x20 << 5, LVL_L3 = 0x40 << 5,
	LVL_LOC_RAM = 0x80 << 5, LVL_REM_CCE1 = 0x400 << 5,
	SNOOP_NONE = 2 << 19, SNOOP_HIT = 4 << 19, SNOOP_HITM = 0x10 << 19,
	TLB_HIT = 2 << 26, TLB_MISS = 4 << 26,
};
#define TLB_WALK (0x20ULL << 26)
#define LEVEL_NUMBER(n) ((uint64_t)(n) << 33)
#define SNOOP_PEER (2ULL << 38)
enum { NUMBER_L1 = 1, NUMBER_L2, NUMBER_L3, NUMBER_RAM = 0xd };

/* The encodings that Arm's Neoverse and recent Cortex CPUs share. 0: unknown. */
static uint64_t common_source(uint64_t source)
{
	switch (source) {
	case 0x0: return LVL_L1 | LVL_HIT | LEVEL_NUMBER(NUMBER_L1) | SNOOP_NONE;
	case 0x8: return LVL_L2 | LVL_HIT | LEVEL_NUMBER(NUMBER_L2) | SNOOP_NONE;
	case 0x9:
	case 0xa:
	case 0xc: return LVL_L3 | LVL_HIT | LEVEL_NUMBER(NUMBER_L3) | SNOOP_PEER;	/* another core, cluster */
	case 0xb: return LVL_L3 | LVL_HIT | LEVEL_NUMBER(NUMBER_L3) | SNOOP_HIT;
	case 0xd: return LVL_REM_CCE1 | (1ULL << 37) | SNOOP_PEER;
	case 0xe: return LVL_LOC_RAM | LVL_HIT | LEVEL_NUMBER(NUMBER_RAM) | SNOOP_NONE;
	default: return 0;
	}
}

static uint64_t level_of_events(uint64_t events)
{
	uint64_t level = 0;

	if (events & (SPE_EVENT_LLC_ACCESS | SPE_EVENT_LLC_MISS))
		level = LVL_L3 | (events & SPE_EVENT_LLC_MISS ? LVL_MISS : LVL_HIT);
	else if (events & (SPE_EVENT_L1D_ACCESS | SPE_EVENT_L1D_REFILL))
		level = LVL_L1 | (events & SPE_EVENT_L1D_REFILL ? LVL_MISS : LVL_HIT);
	if (events & SPE_EVENT_REMOTE)
		level |= LVL_REM_CCE1;
	return level ? level : LVL_NA;
}

static uint64_t data_source(const struct spe_decoder *d, const struct spe_operation *op)
{
	uint64_t out, level = 0;

	if (!op->has_class || op->class != SPE_CLASS_MEMORY)
		return OP_NA;
	out = op->detail & 1 ? OP_STORE : OP_LOAD;
	if (d->common_sources && op->has_source && !(op->detail & 1))
		level = common_source(op->source);
	out |= level ? level : level_of_events(op->events);
	if (op->events & (SPE_EVENT_TLB_ACCESS | SPE_EVENT_TLB_WALK))
		out |= TLB_WALK | (op->events & SPE_EVENT_TLB_WALK ? TLB_MISS : TLB_HIT);
	return out;
}

/* ---- samples ---- */

static const struct {
	enum synth_event event;
	uint64_t bit;			/* of SPE_EVENTS */
} counted[] = {
	{ SYNTH_L1D_MISS, SPE_EVENT_L1D_REFILL }, { SYNTH_L1D_ACCESS, SPE_EVENT_L1D_ACCESS },
	{ SYNTH_LLC_MISS, SPE_EVENT_LLC_MISS }, { SYNTH_LLC_ACCESS, SPE_EVENT_LLC_ACCESS },
	{ SYNTH_TLB_MISS, SPE_EVENT_TLB_WALK }, { SYNTH_TLB_ACCESS, SPE_EVENT_TLB_ACCESS },
	{ SYNTH_REMOTE, SPE_EVENT_REMOTE },
};

static struct running_task task_of_operation(const struct spe_decoder *d)
{
	struct running_task task = d->op.has_context ? task_of_tid(&d->x->tasks, (int32_t)d->op.context) :
				   d->queue->cpu >= 0 ? task_on_cpu(&d->x->tasks, d->queue->cpu) :
							task_of_tid(&d->x->tasks, d->queue->tid);

	return task.tid == UINT32_MAX ? task_of_tid(&d->x->tasks, d->queue->tid) : task;
}

static uint32_t operation_flags(const struct spe_operation *op)
{
	if (!op->has_class || op->class != SPE_CLASS_BRANCH)
		return 0;
	return TACHO_BRANCH | (op->detail & 1 ? TACHO_BRANCH_CONDITIONAL : 0);
}

static bool samples_instruction(struct spe_decoder *d)
{
	const struct tacho_itrace *w = &d->x->synth.want;
	uint64_t period = w->unit == TACHO_ITRACE_INSTRUCTIONS && w->period ? w->period : 1;

	return d->n_operations++ % period == 0;
}

static int put_operation(struct spe_decoder *d, struct tacho_error *e)
{
	const struct spe_operation *op = &d->op;
	struct running_task task = task_of_operation(d);
	bool is_branch = op->has_class && op->class == SPE_CLASS_BRANCH;
	const struct synth_sample x = {
		.ip = op->pc, .addr = is_branch ? op->target : op->data, .time = d->time, .period = 1,
		.pid = task.pid, .tid = task.tid, .cpu = (uint32_t)d->queue->cpu, .flags = operation_flags(op),
		.weight = op->latency, .data_src = data_source(d, op), .phys_addr = op->physical,
	};
	int err = 0;

	for (size_t i = 0; i < countof(counted) && !err; i++)
		if (op->events & counted[i].bit)
			err = synth_put(&d->x->synth, counted[i].event, &x, e);
	if (!err && is_branch)
		err = synth_put(&d->x->synth, SYNTH_BRANCH, &x, e);
	if (!err && op->has_class && op->class == SPE_CLASS_MEMORY)
		err = synth_put(&d->x->synth, SYNTH_MEMORY, &x, e);
	if (!err && samples_instruction(d))
		err = synth_put(&d->x->synth, SYNTH_SPE_INSTRUCTIONS, &x, e);
	return err;
}

/* ---- packets of an operation ---- */

static void take_address(struct spe_operation *op, const struct spe_packet *p)
{
	switch (p->index) {
	case SPE_ADDRESS_PC:
		op->pc = spe_address(p);
		op->level = spe_exception_level(p);
		break;
	case SPE_ADDRESS_TARGET: op->target = spe_address(p); break;
	case SPE_ADDRESS_DATA:
		op->data = spe_address(p);
		op->has_data = true;
		break;
	case SPE_ADDRESS_PHYSICAL: op->physical = spe_address(p); break;
	}
}

/* Returns true at the end of the operation. */
static bool take_packet(struct spe_operation *op, const struct spe_packet *p)
{
	switch (p->kind) {
	case SPE_PAD: break;
	case SPE_END: return true;
	case SPE_TIMESTAMP:
		op->ticks = p->payload;
		op->has_time = true;
		return true;
	case SPE_EVENTS: op->events |= p->payload; break;
	case SPE_SOURCE:
		op->source = p->payload;
		op->has_source = true;
		break;
	case SPE_CONTEXT:
		op->context = (uint32_t)p->payload;
		op->has_context = true;
		break;
	case SPE_OPERATION:
		op->class = p->index;
		op->detail = (unsigned)p->payload;
		op->has_class = true;
		break;
	case SPE_ADDRESS: take_address(op, p); break;
	case SPE_COUNTER:
		if (p->index == SPE_COUNTER_TOTAL)
			op->latency = (uint32_t)p->payload;
		break;
	}
	return false;
}

static void close_run(struct spe_decoder *d)
{
	trace_bytes_free(take(d->bytes), d->n_bytes);
	d->run_offset += d->n_bytes;
	d->n_bytes = 0;
	d->at = d->end = NULL;
}

/* Returns 1, 0 at the end of the trace, or a negative errno. */
static int open_run(struct spe_decoder *d, struct tacho_error *e)
{
	const struct trace_run *run;
	int err;

	if (d->bytes)
		close_run(d);
	if (d->run == d->queue->runs.n)
		return 0;
	run = &d->queue->runs.v[d->run++];
	err = trace_run_load(d->queue, run, d->x->fd, &d->bytes);
	if (err < 0)
		return error_set(e, err, "cannot read the trace: %s", strerror(-err));
	d->n_bytes = run->bytes;
	d->at = d->bytes;
	d->end = d->bytes + d->n_bytes;
	return 1;
}

/* Skips bytes up to the next END or TIMESTAMP packet; what an operation has before a bad byte is not trusted. */
static int skip_damage(struct spe_decoder *d, struct tacho_error *e)
{
	const uint8_t *from = d->at;
	struct synth_error error = { .code = SYNTH_ERROR_PACKET, .cpu = (uint32_t)d->queue->cpu, .pid = UINT32_MAX,
				     .tid = (uint32_t)d->queue->tid, .time = d->time };
	struct spe_packet p;
	bool ended = false;

	while (d->at < d->end && !ended) {
		unsigned n = spe_packet_decode(&p, d->at, d->end);

		ended = n && (p.kind == SPE_END || p.kind == SPE_TIMESTAMP);
		d->at += max_of(n, 1u);
	}
	error.offset = d->run_offset + (uint64_t)(from - d->bytes);
	error.resumed = d->run_offset + (uint64_t)(d->at - d->bytes);
	d->x->n_lost_bytes += error.resumed - error.offset;
	d->op = (struct spe_operation){ 0 };
	return synth_put_error(&d->x->synth, &error, e);
}

/* Reads the next operation. Returns 1, 0 at the end, or a negative errno. */
static int next_operation(struct spe_decoder *d, struct tacho_error *e)
{
	d->op = (struct spe_operation){ 0 };
	for (;;) {
		struct spe_packet p;
		unsigned n;
		int err = d->at == d->end ? open_run(d, e) : 1;

		if (err <= 0)
			return err;
		n = spe_packet_decode(&p, d->at, d->end);
		if (!n) {
			err = skip_damage(d, e);
			if (err)
				return err;
			continue;
		}
		d->at += n;
		if (take_packet(&d->op, &p))
			break;
	}
	if (d->op.has_time)
		d->time = time_from_ticks(&d->x->traces.time, d->op.ticks);
	return 1;
}

static int spe_decode_until(struct trace_decoder *base, uint64_t time, struct tacho_error *e)
{
	struct spe_decoder *d = (struct spe_decoder *)base;
	int err = 0;

	if (!d->x->has_time && time != UINT64_MAX)
		return 0;
	while (!err) {
		if (!d->pending) {
			err = next_operation(d, e);
			if (err <= 0)
				return err;
			d->pending = true;
		}
		if (time != UINT64_MAX && d->time >= time)
			return 0;
		d->pending = false;
		err = put_operation(d, e);
	}
	return err;
}

/* MIDR: implementer 0x41 (Arm) and part numbers whose data sources are the common ones. */
static bool has_common_sources(uint64_t midr)
{
	static const uint16_t parts[] = { 0xd0c, 0xd40, 0xd49, 0xd4c, 0xd4e, 0xd4f, 0xd81, 0xd83, 0xd84, 0xd85, 0xd87, 0xd8e };
	unsigned part = midr >> 4 & 0xfff;

	for (size_t i = 0; i < countof(parts) && midr >> 24 == 0x41; i++)
		if (parts[i] == part)
			return true;
	return false;
}

static int spe_open(struct trace_decoder **out, struct expansion *x, const struct aux_queue *q, struct tacho_error *e)
{
	struct spe_decoder *d = calloc(1, sizeof(*d));
	uint64_t midr = x->traces.info.spe.midr;

	if (!d)
		return error_nomem(e);
	if (!midr && x->cpuid)
		midr = strtoull(x->cpuid, NULL, 16);
	*d = (struct spe_decoder){ .base.kind = &spe_decoder_kind, .x = x, .queue = q, .common_sources = has_common_sources(midr) };
	*out = &d->base;
	return 0;
}

static void spe_close(struct trace_decoder *base)
{
	struct spe_decoder *d = (struct spe_decoder *)base;

	if (d)
		trace_bytes_free(d->bytes, d->n_bytes);
	free(d);
}

const struct trace_decoder_kind spe_decoder_kind = {
	.kind = TRACE_ARM_SPE, .open = spe_open, .decode_until = spe_decode_until, .close = spe_close,
};
