/*
 * Runs libipt's instruction decoder over the runs of a queue. Bytes that cannot be decoded do not end it: decoding resumes
 * at the next PSB packet, and an error record says from where to where the trace was skipped.
 *
 * The time of an instruction is that of the timing packets before it. libipt may have read a little ahead, so the time of a
 * queue tells before each step whether records of other threads (maps, context switches) must be processed first.
 */
#include "auxtrace/pt_decoder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PSB_BYTES 4096u			/* packets between PSB and PSBEND, and what libipt has read ahead */
#define MAX_INSNS_WITHOUT_PACKET 1000000u	/* in a row, without a jump: not code */

static int read_code(uint8_t *out, size_t n, const struct pt_asid *asid, uint64_t ip, void *arg)
{
	struct pt_decoder *d = arg;
	uint8_t bytes[16];
	int got = trace_code_read(&d->x->code, d->task.pid, ip, bytes, min_of(n, sizeof(bytes)));

	(void)asid;
	if (got == -ENOMEM)
		d->nomem = -ENOMEM;
	if (got <= 0)
		return -pte_nomap;
	memcpy(out, bytes, (size_t)got);
	return got;
}

static uint64_t trace_offset(const struct pt_decoder *d)
{
	uint64_t at = 0;

	if (d->lib->offset(d->insn, &at) < 0)
		at = d->n_bytes;
	return d->run_offset + at;
}

static int write_failure(struct pt_decoder *d, uint64_t resumed, struct tacho_error *e)
{
	if (!d->has_failure)
		return 0;
	d->has_failure = false;
	d->failure.resumed = resumed;
	if (resumed != UINT64_MAX && resumed > d->failure.offset)
		d->x->n_lost_bytes += resumed - d->failure.offset;
	return synth_put_error(&d->x->synth, &d->failure, e);
}

int pt_note_error(struct pt_decoder *d, enum synth_error_code code, uint64_t ip, struct tacho_error *e)
{
	int err = write_failure(d, UINT64_MAX, e);

	d->failure = (struct synth_error){
		.code = code, .cpu = (uint32_t)d->queue->cpu, .pid = d->task.pid, .tid = d->task.tid, .ip = ip, .time = d->time,
		.offset = trace_offset(d), .resumed = UINT64_MAX,
	};
	d->has_failure = true;
	/* After an overflow, libipt goes on by itself. */
	return err || code != SYNTH_ERROR_OVERFLOW ? err : write_failure(d, UINT64_MAX, e);
}

/* ---- runs ---- */

static void close_run(struct pt_decoder *d)
{
	if (d->insn)
		d->lib->insn_free(d->insn);
	d->insn = NULL;
	trace_bytes_free(take(d->bytes), d->n_bytes);
	d->run_offset += d->n_bytes;
	d->n_bytes = 0;
	d->synced = false;
}

static int open_run(struct pt_decoder *d, struct tacho_error *e)
{
	const struct trace_run *run = &d->queue->runs.v[d->run++];
	int err = trace_run_load(d->queue, run, d->x->fd, &d->bytes);

	if (err < 0)
		return error_set(e, err, "cannot read the trace: %s", strerror(-err));
	d->n_bytes = run->bytes;
	d->config.begin = d->bytes;
	d->config.end = d->bytes + d->n_bytes;
	d->insn = d->lib->insn_alloc(&d->config);
	if (!d->insn || d->lib->set_image(d->insn, d->image) < 0)
		return error_nomem(e);
	d->position = d->psb_offset = UINT64_MAX;
	return 0;
}

/* ---- time ---- */

static void set_time(struct pt_decoder *d, uint64_t ticks)
{
	/* The packet has 56 bits; the reference of the AUXTRACE record is a whole TSC. */
	ticks |= d->queue->pieces.v[0].reference & (0xffULL << 56);
	d->ticks = ticks;
	d->has_time = true;
	d->time = time_from_ticks(&d->x->traces.time, ticks);
}

static void update_time(struct pt_decoder *d)
{
	uint64_t ticks = 0;

	if (d->lib->time(d->insn, &ticks, NULL, NULL) == 0)	/* else there has not been a TSC packet */
		set_time(d, ticks);
}

static enum synth_error_code error_code(enum pt_error_code code)
{
	switch (code) {
	case pte_bad_opc:
	case pte_bad_packet: return SYNTH_ERROR_PACKET;
	case pte_nomap:
	case pte_bad_insn: return SYNTH_ERROR_NO_CODE;
	case pte_nomem: return SYNTH_ERROR_NOMEM;
	case pte_eos: return SYNTH_ERROR_NODATA;
	case pte_internal: return SYNTH_ERROR_INTERNAL;
	default: return SYNTH_ERROR_MISMATCH;
	}
}

/* Goes to the next PSB. Returns 1 if there is one, 0 at the end of the run. */
static int synchronize(struct pt_decoder *d, struct tacho_error *e)
{
	uint64_t at = d->n_bytes, tried = UINT64_MAX;
	int err;

	for (;;) {
		d->status = d->lib->sync_forward(d->insn);
		if (d->status >= 0)
			break;
		if (d->status == -pte_eos)
			return write_failure(d, d->run_offset + d->n_bytes, e);
		/* The packets after this PSB are damaged, too: the next one is tried, unless there is no progress. */
		if (d->lib->sync_offset(d->insn, &at) < 0 || at == tried)
			return write_failure(d, d->run_offset + d->n_bytes, e);
		tried = at;
		err = d->has_failure ? 0 : pt_note_error(d, error_code(pt_errcode(d->status)), 0, e);
		if (err)
			return err;
	}
	d->lib->sync_offset(d->insn, &at);
	d->synced = true;
	d->n_since_packet = 0;
	update_time(d);
	err = write_failure(d, d->run_offset + at, e);
	return err ? err : 1;
}

/* ---- steps ---- */

static void update_task(struct pt_decoder *d)
{
	struct running_task task = d->queue->cpu >= 0 ? task_on_cpu(&d->x->tasks, d->queue->cpu) :
							task_of_tid(&d->x->tasks, d->queue->tid);

	if (d->queue->cpu >= 0 && task.tid == UINT32_MAX)
		task = task_of_tid(&d->x->tasks, d->queue->tid);
	d->task = task;
}

/* Moves to the next synchronized position. Returns 1, 0 at the end of the trace, or a negative errno. */
static int prepare(struct pt_decoder *d, struct tacho_error *e)
{
	while (!d->synced) {
		int err;

		if (!d->insn) {
			if (d->run == d->queue->runs.n)
				return 0;
			err = open_run(d, e);
			if (err < 0)
				return err;
		}
		err = synchronize(d, e);
		if (err < 0)
			return err;
		if (err == 0)
			close_run(d);
	}
	return 1;
}

static int lose_sync(struct pt_decoder *d, int status, struct tacho_error *e)
{
	enum pt_error_code code = pt_errcode(status);
	uint64_t ip = d->pending.valid ? d->pending.ip : 0;

	d->pending.valid = false;
	d->synced = false;
	if (d->nomem)
		return error_nomem(e);
	if (code == pte_eos) {		/* the normal end of a run */
		close_run(d);
		return 0;
	}
	return pt_note_error(d, error_code(code), ip, e);
}

/* Whether an instruction may need a packet to tell where it continues. Jumps and calls that do have moved the position. */
static bool needs_packet(enum pt_insn_class class)
{
	return class == ptic_cond_jump || class == ptic_return || class == ptic_far_call || class == ptic_far_return ||
	       class == ptic_far_jump;
}

/*
 * Code that comes back to an address without a packet on the way never ends: in a correct trace it is interrupted first. Brent's
 * method: an address is remembered, and replaced after 1, 2, 4 ... instructions.
 */
static bool is_endless(struct pt_decoder *d, const struct pt_insn *insn)
{
	uint64_t at = 0;

	if (d->lib->offset(d->insn, &at) < 0 || at != d->position || needs_packet(insn->iclass)) {
		d->position = at;
		d->n_since_packet = d->loop_check = 0;
		d->loop_ip = insn->ip;
		return false;
	}
	if (insn->ip == d->loop_ip || ++d->n_since_packet >= MAX_INSNS_WITHOUT_PACKET)
		return true;
	if (d->n_since_packet >> d->loop_check) {
		d->loop_ip = insn->ip;
		d->loop_check++;
	}
	return false;
}

static int check_loop(struct pt_decoder *d, const struct pt_insn *insn, struct tacho_error *e)
{
	if (!is_endless(d, insn))
		return 0;
	d->synced = false;
	d->position = UINT64_MAX;
	d->pending.valid = false;
	return pt_note_error(d, SYNTH_ERROR_LOOP, insn->ip, e);
}

/* Where the last PSB before the current position begins: after a synchronization libipt does not tell. */
static uint64_t last_psb(const struct pt_decoder *d)
{
	static const uint8_t psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	uint64_t at = 0, oldest;

	if (d->lib->offset(d->insn, &at) < 0 || at < sizeof(psb) || at > d->n_bytes)
		return UINT64_MAX;
	oldest = at > MAX_PSB_BYTES ? at - MAX_PSB_BYTES : 0;
	for (at -= sizeof(psb);; at--) {
		if (memcmp(d->bytes + at, psb, sizeof(psb)) == 0)
			return at;
		if (at == oldest)
			return UINT64_MAX;
	}
}

int pt_notice_psb(struct pt_decoder *d, struct tacho_error *e)
{
	uint64_t at;

	if (!synth_wants(&d->x->synth, SYNTH_PSB))
		return 0;
	at = last_psb(d);
	if (at == UINT64_MAX || at == d->psb_offset)
		return 0;
	d->psb_offset = at;
	return pt_psb_sample(d, e);
}

/* Takes one event, or executes one instruction. */
static int step(struct pt_decoder *d, struct tacho_error *e)
{
	struct pt_event ev;
	struct pt_insn insn;
	int err;

	if (d->status & pts_event_pending) {
		d->status = d->lib->event(d->insn, &ev, sizeof(ev));
		if (d->status < 0)
			return lose_sync(d, d->status, e);
		if (ev.has_tsc)
			set_time(d, ev.tsc);
		return pt_event_happened(d, &ev, e);
	}
	if (d->status & pts_eos)
		return lose_sync(d, -pte_eos, e);
	d->status = d->lib->next(d->insn, &insn, sizeof(insn));
	if (d->status < 0)
		return lose_sync(d, d->status, e);
	err = pt_insn_executed(d, &insn, e);
	return err ? err : check_loop(d, &insn, e);
}

static int pt_decode_until(struct trace_decoder *base, uint64_t time, struct tacho_error *e)
{
	struct pt_decoder *d = (struct pt_decoder *)base;
	int err = 0;

	while (!d->ended && !err) {
		err = prepare(d, e);
		if (err <= 0) {
			d->ended = true;
			return err;
		}
		err = 0;
		update_time(d);
		/* Without times, all is decoded at the end of the recording. */
		if (time != UINT64_MAX && (!d->x->has_time || !d->has_time || d->time >= time))
			return 0;
		update_task(d);
		if (d->psb_offset == UINT64_MAX)
			err = pt_notice_psb(d, e);
		if (err >= 0)
			err = step(d, e);
	}
	return err;
}

/* ---- opening ---- */

/* "GenuineIntel,6,158,10": the errata of that model are worked around. */
static void set_cpu(struct pt_decoder *d)
{
	unsigned family, model, stepping;

	if (!d->x->cpuid || sscanf(d->x->cpuid, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) != 3)
		return;
	d->config.cpu = (struct pt_cpu){ .vendor = pcv_intel, .family = (uint16_t)family, .model = (uint8_t)model,
					 .stepping = (uint8_t)stepping };
	if (d->lib->cpu_errata(&d->config.errata, &d->config.cpu) < 0)	/* a newer model than libipt knows */
		memset(&d->config.errata, 0, sizeof(d->config.errata));
}

static void set_timing(struct pt_decoder *d)
{
	const struct pt_info *info = &d->x->traces.info.pt;

	d->config.cpuid_0x15_eax = (uint32_t)info->ctc_denominator;
	d->config.cpuid_0x15_ebx = (uint32_t)info->ctc_numerator;
	d->config.nom_freq = (uint8_t)min_of(info->max_ratio, (uint64_t)255);
	if (info->mtc_freq_bits)
		d->config.mtc_freq = (uint8_t)((d->x->pt_config & info->mtc_freq_bits) >> __builtin_ctzll(info->mtc_freq_bits));
}

static void pt_close(struct trace_decoder *base)
{
	struct pt_decoder *d = (struct pt_decoder *)base;

	if (!d)
		return;
	close_run(d);
	if (d->image)
		d->lib->image_free(d->image);
	free(d->branches);
	free(d->chain);
	free(d);
}

static int pt_open(struct trace_decoder **out, struct expansion *x, const struct aux_queue *q, struct tacho_error *e)
{
	const struct libipt *lib = libipt_load();
	struct pt_decoder *d;

	if (!lib) {
		error_set(e, -EOPNOTSUPP, "the recording has traces of Intel PT, but libipt.so.2, which decodes them, cannot be loaded");
		error_hint(e, "install the package libipt2");
		return -EOPNOTSUPP;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_nomem(e);
	*d = (struct pt_decoder){ .base.kind = &pt_decoder_kind, .x = x, .queue = q, .lib = lib, .task = { UINT32_MAX, UINT32_MAX },
				     .stack_tid = UINT32_MAX };
	pt_config_init(&d->config);
	set_cpu(d);
	set_timing(d);
	d->image = lib->image_alloc("recording");
	if (x->synth.want.last_branches)
		d->branches = calloc(x->synth.want.n_last_branches, 2 * sizeof(*d->branches));
	if (x->synth.want.callchain)
		d->chain = calloc(x->synth.want.callchain_frames + 2, sizeof(*d->chain));
	if (!d->image || lib->image_set_callback(d->image, read_code, d) < 0 ||
	    (x->synth.want.last_branches && !d->branches) || (x->synth.want.callchain && !d->chain)) {
		pt_close(&d->base);
		return error_nomem(e);
	}
	*out = &d->base;
	return 0;
}

const struct trace_decoder_kind pt_decoder_kind = {
	.kind = TRACE_INTEL_PT, .open = pt_open, .decode_until = pt_decode_until, .close = pt_close,
};
