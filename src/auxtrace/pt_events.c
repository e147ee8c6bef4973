/*
 * Events of libipt: the trace begins and ends, interrupts, transactions, ptwrite, power.
 */
#include "auxtrace/pt_decoder.h"

#include <string.h>

/* ---- samples of events; see synth_text.c for the raw data ---- */

static int put_raw(struct pt_decoder *d, enum synth_event kind, uint64_t ip, const void *raw, uint32_t n, struct tacho_error *e)
{
	struct synth_sample x;

	if (!synth_wants(&d->x->synth, kind))
		return 0;
	pt_fill_sample(d, &x, ip);
	x.raw = raw;
	x.n_raw = n;
	return synth_put(&d->x->synth, kind, &x, e);
}

struct raw_words {			/* 4 bytes of padding, 32 bits, 64 bits */
	uint32_t padding, flags;
	uint64_t payload;
	uint32_t end;			/* the size before it and this make the record a multiple of 8 bytes */
} __attribute__((packed));

static int put_words(struct pt_decoder *d, enum synth_event kind, uint64_t ip, uint32_t flags, uint64_t payload,
		     struct tacho_error *e)
{
	const struct raw_words raw = { .flags = flags, .payload = payload };

	return put_raw(d, kind, ip, &raw, sizeof(raw), e);
}

int pt_psb_sample(struct pt_decoder *d, struct tacho_error *e)
{
	return put_words(d, SYNTH_PSB, d->pending.valid ? d->pending.ip : 0, 0, d->run_offset + d->psb_offset, e);
}

/* The frequency is the ratio times that of the bus, 100 MHz unless the TSC's frequency tells better. */
static uint64_t frequency_khz(const struct pt_decoder *d, uint32_t ratio)
{
	const struct time_conversion *t = &d->x->traces.time;
	uint64_t max = d->x->traces.info.pt.max_ratio;
	double tsc_khz = t->mult && t->shift < 64 ? (double)(1ULL << t->shift) * 1e6 / (double)t->mult : 0;

	return max && tsc_khz > 0 ? (uint64_t)(tsc_khz * ratio / (double)max) : ratio * 100000ULL;
}

int pt_cbr_sample(struct pt_decoder *d, uint64_t ip, struct tacho_error *e)
{
	uint64_t max = min_of(d->x->traces.info.pt.max_ratio, (uint64_t)255);

	return put_words(d, SYNTH_CBR, ip, (d->cbr & 255) | (uint32_t)max << 16, frequency_khz(d, d->cbr) & UINT32_MAX, e);
}

static int cbr_changed(struct pt_decoder *d, uint32_t ratio, struct tacho_error *e)
{
	if (ratio == d->cbr)
		return 0;
	d->cbr = ratio;
	return pt_cbr_sample(d, d->pending.valid ? d->pending.ip : 0, e);
}

/* ---- control flow ---- */

static int enabled(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	d->pending.valid = false;
	if (ev->status_update)		/* at a PSB: the trace was enabled before */
		return 0;
	return pt_branch(d, 0, ev->variant.enabled.ip, TACHO_BRANCH | TACHO_BRANCH_TRACE_BEGIN, 0, e);
}

static int disabled(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	uint64_t to = ev->ip_suppressed ? 0 : ev->variant.disabled.ip;

	return pt_end_pending(d, to, TACHO_BRANCH_TRACE_END, e);
}

static int async_disabled(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	uint64_t at = ev->variant.async_disabled.at, to = ev->ip_suppressed ? 0 : ev->variant.async_disabled.ip;
	int err = pt_end_pending(d, at, 0, e);

	return err ? err : pt_branch(d, at, to, TACHO_BRANCH | TACHO_BRANCH_ASYNC | TACHO_BRANCH_TRACE_END, 0, e);
}

static int async_branch(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	uint64_t from = ev->variant.async_branch.from, to = ev->ip_suppressed ? 0 : ev->variant.async_branch.to;
	int err = pt_end_pending(d, from, 0, e);

	return err ? err : pt_branch(d, from, to, TACHO_BRANCH | TACHO_BRANCH_CALL | TACHO_BRANCH_ASYNC | TACHO_BRANCH_INTERRUPT, 0, e);
}

static int overflowed(struct pt_decoder *d, struct tacho_error *e)
{
	uint64_t ip = d->pending.valid ? d->pending.ip : 0;

	d->pending.valid = false;
	return pt_note_error(d, SYNTH_ERROR_OVERFLOW, ip, e);
}

static int transaction(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	bool was = d->in_tx;
	struct synth_sample x;
	uint64_t ip = ev->ip_suppressed ? 0 : ev->variant.tsx.ip;

	d->in_tx = ev->variant.tsx.speculative;
	if (ev->status_update || (was == d->in_tx && !ev->variant.tsx.aborted) || !synth_wants(&d->x->synth, SYNTH_TRANSACTIONS))
		return 0;
	pt_fill_sample(d, &x, ip);
	x.flags = (ev->variant.tsx.aborted ? TACHO_BRANCH | TACHO_BRANCH_TX_ABORT : 0) | (d->in_tx ? TACHO_BRANCH_IN_TX : 0);
	if (pt_fill_stacks(d, &x) < 0)
		return error_nomem(e);
	return synth_put(&d->x->synth, SYNTH_TRANSACTIONS, &x, e);
}

/* ---- packets with data of their own ---- */

static int power_event(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	uint64_t ip = d->pending.valid ? d->pending.ip : 0;

	switch (ev->type) {
	case ptev_mwait:
		return put_words(d, SYNTH_MWAIT, ev->ip_suppressed ? ip : ev->variant.mwait.ip, 0,
				 ev->variant.mwait.hints | (uint64_t)ev->variant.mwait.ext << 32, e);
	case ptev_pwre:
		return put_words(d, SYNTH_PWRE, ip, 0, (uint64_t)ev->variant.pwre.hw << 7 |
				 (uint64_t)(ev->variant.pwre.sub_state & 15) << 8 | (uint64_t)(ev->variant.pwre.state & 15) << 12, e);
	case ptev_pwrx:
		return put_words(d, SYNTH_PWRX, ip, 0, (ev->variant.pwrx.deepest & 15) | (uint64_t)(ev->variant.pwrx.last & 15) << 4 |
				 (uint64_t)ev->variant.pwrx.interrupt << 8 | (uint64_t)ev->variant.pwrx.store << 10 |
				 (uint64_t)ev->variant.pwrx.autonomous << 11, e);
	default:
		return put_words(d, SYNTH_EXSTOP, ev->ip_suppressed ? ip : ev->variant.exstop.ip, !ev->ip_suppressed, 0, e);
	}
}

int pt_event_happened(struct pt_decoder *d, const struct pt_event *ev, struct tacho_error *e)
{
	int err = ev->status_update ? pt_notice_psb(d, e) : 0;

	if (err)
		return err;
	switch (ev->type) {
	case ptev_enabled: return enabled(d, ev, e);
	case ptev_disabled: return disabled(d, ev, e);
	case ptev_async_disabled: return async_disabled(d, ev, e);
	case ptev_async_branch: return async_branch(d, ev, e);
	case ptev_overflow: return overflowed(d, e);
	case ptev_tsx: return transaction(d, ev, e);
	case ptev_ptwrite:
		return put_words(d, SYNTH_PTWRITE, ev->ip_suppressed ? (d->pending.valid ? d->pending.ip : 0) : ev->variant.ptwrite.ip,
				 !ev->ip_suppressed, ev->variant.ptwrite.payload, e);
	case ptev_mwait:
	case ptev_pwre:
	case ptev_pwrx:
	case ptev_exstop: return power_event(d, ev, e);
	case ptev_cbr: return cbr_changed(d, ev->variant.cbr.ratio, e);
	default: return 0;		/* execution mode, paging, VMCS: nothing depends on them here */
	}
}
