/*
 * Synthesised events: an attr each, and their samples as records.
 *
 *	header | IDENTIFIER IP TID TIME ADDR CPU PERIOD | CALLCHAIN | RAW | BRANCH_STACK | WEIGHT | DATA_SRC | PHYS_ADDR | note
 *
 * The note (flags, length of the instruction, depth of calls) has no bit of sample_type. It is appended to the sample: readers ignore
 * what follows the fields that they know. Its magic number and its fixed position at the end identify it.
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOTE_MAGIC 0x31746f4e6e736e49ULL	/* "InsnNot1" */
struct note_bytes {
	uint64_t magic;
	uint32_t flags;
	uint16_t n_bytes, depth;
};


#define HW(config) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	uint64_t fields;		/* of sample_type, besides those of all */
	bool stacks;			/* has a call chain and last branches, if asked for */
} events[N_SYNTH_EVENTS] = {
	[SYNTH_BRANCHES] = { "branches", HW(BRANCH_INSTRUCTIONS), PERF_SAMPLE_ADDR, false },
	[SYNTH_INSTRUCTIONS] = { "instructions", HW(INSTRUCTIONS), 0, true },
	[SYNTH_TRANSACTIONS] = { "transactions", HW(INSTRUCTIONS), 0, true },
	[SYNTH_PTWRITE] = { "ptwrite", PERF_TYPE_SYNTH, SYNTH_CONFIG_PTWRITE, PERF_SAMPLE_RAW, false },
	[SYNTH_MWAIT] = { "mwait", PERF_TYPE_SYNTH, SYNTH_CONFIG_MWAIT, PERF_SAMPLE_RAW, false },
	[SYNTH_PWRE] = { "pwre", PERF_TYPE_SYNTH, SYNTH_CONFIG_PWRE, PERF_SAMPLE_RAW, false },
	[SYNTH_EXSTOP] = { "exstop", PERF_TYPE_SYNTH, SYNTH_CONFIG_EXSTOP, PERF_SAMPLE_RAW, false },
	[SYNTH_PWRX] = { "pwrx", PERF_TYPE_SYNTH, SYNTH_CONFIG_PWRX, PERF_SAMPLE_RAW, false },
	[SYNTH_CBR] = { "cbr", PERF_TYPE_SYNTH, SYNTH_CONFIG_CBR, PERF_SAMPLE_RAW, false },
	[SYNTH_PSB] = { "psb", PERF_TYPE_SYNTH, SYNTH_CONFIG_PSB, PERF_SAMPLE_RAW, false },
#define MEMORY (PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_PHYS_ADDR)
	[SYNTH_L1D_MISS] = { "l1d-miss", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_L1D_ACCESS] = { "l1d-access", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_LLC_MISS] = { "llc-miss", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_LLC_ACCESS] = { "llc-access", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_TLB_MISS] = { "tlb-miss", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_TLB_ACCESS] = { "tlb-access", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_BRANCH] = { "branch", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_REMOTE] = { "remote-access", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_MEMORY] = { "memory", HW(INSTRUCTIONS), MEMORY, false },
	[SYNTH_SPE_INSTRUCTIONS] = { "instructions", HW(INSTRUCTIONS), MEMORY, false },
};

#define PT_POWER_EVENTS 0x10u		/* config: packets of power events are enabled */

static bool wanted(const struct tacho_itrace *w, enum synth_event ev, uint32_t kind, uint64_t config)
{
	bool pt = kind == TRACE_INTEL_PT;

	switch (ev) {
	case SYNTH_BRANCHES: return pt && (w->branches || w->calls || w->returns);
	case SYNTH_INSTRUCTIONS: return pt && w->instructions;
	case SYNTH_TRANSACTIONS: return pt && w->transactions;
	case SYNTH_PTWRITE: return pt && w->ptwrites;
	case SYNTH_MWAIT:
	case SYNTH_PWRE:
	case SYNTH_EXSTOP:
	case SYNTH_PWRX: return pt && w->power && config & PT_POWER_EVENTS;
	case SYNTH_CBR:
	case SYNTH_PSB: return pt && w->power;
	case SYNTH_L1D_MISS:
	case SYNTH_L1D_ACCESS: return !pt && w->first_level_cache;
	case SYNTH_LLC_MISS:
	case SYNTH_LLC_ACCESS: return !pt && w->last_level_cache;
	case SYNTH_TLB_MISS:
	case SYNTH_TLB_ACCESS: return !pt && w->tlb;
	case SYNTH_BRANCH: return !pt && w->branches;
	case SYNTH_REMOTE: return !pt && w->remote;
	case SYNTH_MEMORY: return !pt && w->memory;
	case SYNTH_SPE_INSTRUCTIONS: return !pt && w->instructions;
	case N_SYNTH_EVENTS: break;
	}
	return false;
}

static int event_add(struct trace_synth *s, enum synth_event ev, const struct perf_event_attr *base, bool has_time, bool has_cpu,
		     struct tacho_error *e)
{
	struct perf_event_attr attr = { .type = events[ev].type, .size = 128, .config = events[ev].config };
	uint64_t id = s->first_id + ev;
	char name[32];
	int err;

	attr.sample_period = ev == SYNTH_INSTRUCTIONS ? s->want.period : 1;
	attr.flags = (base->flags & (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV)) |
		     PERF_ATTR_SAMPLE_ID_ALL;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
			   (has_cpu ? PERF_SAMPLE_CPU : 0) | (has_time ? PERF_SAMPLE_TIME : 0) | events[ev].fields;
	attr.read_format = base->read_format;
	if (events[ev].stacks && s->want.callchain)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (events[ev].stacks && s->want.last_branches) {
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = 1u << 3;	/* any */
	}
	/* As perf names events that are limited to a privilege level. */
	snprintf(name, sizeof(name), "%s%s", events[ev].name,
		 events[ev].type == PERF_TYPE_SYNTH || ev == SYNTH_TRANSACTIONS ? "" : attr.flags & PERF_ATTR_EXCLUDE_KERNEL ? ":u" :
		 attr.flags & PERF_ATTR_EXCLUDE_USER ? ":k" : "");
	err = tacho_writer_event(s->out, name, &attr, attr.size, &id, 1);
	if (err)
		return error_set(e, err, "cannot add the event '%s': %s", name, strerror(-err));
	s->ids[ev] = id;
	s->types[ev] = attr.sample_type;
	return 0;
}

int synth_events_add(struct trace_synth *s, const struct perf_event_attr *base, uint32_t kind, bool has_time, bool has_cpu,
		     struct tacho_error *e)
{
	int err = 0;

	for (int ev = 0; ev < N_SYNTH_EVENTS && !err; ev++)
		if (wanted(&s->want, (enum synth_event)ev, kind, base->config))
			err = event_add(s, (enum synth_event)ev, base, has_time, has_cpu, e);
	return err;
}

static void put_u64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_u32(struct buf *b, uint32_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_fields(struct buf *b, uint64_t type, uint64_t id, const struct synth_sample *x)
{
	put_u64(b, id);
	put_u64(b, x->ip);
	put_u32(b, x->pid);
	put_u32(b, x->tid);
	if (type & PERF_SAMPLE_TIME)
		put_u64(b, x->time);
	if (type & PERF_SAMPLE_ADDR)
		put_u64(b, x->addr);
	if (type & PERF_SAMPLE_CPU)
		put_u64(b, x->cpu);
	put_u64(b, x->period);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(b, x->n_chain);
		buf_put(b, x->chain, x->n_chain * sizeof(*x->chain));
	}
	if (type & PERF_SAMPLE_RAW) {
		put_u32(b, x->n_raw);
		buf_put(b, x->raw, x->n_raw);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		put_u64(b, x->n_branches);
		buf_put(b, x->branches, x->n_branches * sizeof(*x->branches));
	}
	if (type & PERF_SAMPLE_WEIGHT)
		put_u64(b, x->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_u64(b, x->data_src);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_u64(b, x->phys_addr);
}

static int write_record(struct trace_synth *s, struct tacho_error *e)
{
	uint16_t size = (uint16_t)s->record.n;

	if (buf_failed(&s->record) || s->record.n > UINT16_MAX)
		return error_nomem(e);
	memcpy(s->record.bytes + 6, &size, sizeof(size));
	s->bytes_in_round += size;
	return tacho_writer_records(s->out, s->record.bytes, s->record.n, e);
}

static void begin_record(struct trace_synth *s, uint32_t type, uint16_t misc)
{
	buf_clear(&s->record);
	put_u32(&s->record, type);
	put_u32(&s->record, misc);
}

int synth_put(struct trace_synth *s, enum synth_event ev, const struct synth_sample *x, struct tacho_error *e)
{
	uint64_t mode_ip = x->ip ? x->ip : x->addr;
	struct note_bytes note = { NOTE_MAGIC, x->flags, x->n_insn_bytes, x->depth };

	if (!s->ids[ev])
		return 0;
	if (s->n_skipped < s->want.skip) {
		s->n_skipped++;
		return 0;
	}
	begin_record(s, TACHO_RECORD_SAMPLE, mode_ip >> 63 ? 1 : 2);
	put_fields(&s->record, s->types[ev], s->ids[ev], x);
	buf_put(&s->record, &note, sizeof(note));
	s->n_samples++;
	return write_record(s, e);
}

bool tacho_insn_note_get(const struct tacho_record *rec, struct tacho_insn_note *out)
{
	struct note_bytes note;

	if (rec->type != TACHO_RECORD_SAMPLE || rec->swapped || rec->size < RECORD_HEADER_BYTES + sizeof(note))
		return false;
	memcpy(&note, rec->bytes + rec->size - sizeof(note), sizeof(note));
	if (note.magic != NOTE_MAGIC)
		return false;
	*out = (struct tacho_insn_note){ note.flags, note.n_bytes, note.depth };
	return true;
}

/* ---- errors ---- */

static const char *const error_texts[] = {
	[SYNTH_ERROR_NOMEM] = "Memory allocation failed", [SYNTH_ERROR_INTERNAL] = "Internal error",
	[SYNTH_ERROR_PACKET] = "Bad packet", [SYNTH_ERROR_NODATA] = "No more data",
	[SYNTH_ERROR_NO_CODE] = "Failed to get instruction", [SYNTH_ERROR_MISMATCH] = "Trace doesn't match instruction",
	[SYNTH_ERROR_OVERFLOW] = "Overflow packet", [SYNTH_ERROR_LOST] = "Lost trace data",
	[SYNTH_ERROR_UNKNOWN] = "Unknown error!", [SYNTH_ERROR_LOOP] = "Never-ending loop",
};

/* AUXTRACE_ERROR: u32 kind (1: of an instruction trace), code, cpu, pid, tid, format; u64 ip, time; 64 bytes of text. */
int synth_put_error(struct trace_synth *s, const struct synth_error *x, struct tacho_error *e)
{
	const uint32_t fields[] = { 1, x->code, x->cpu, x->pid, x->tid, 1 };
	char text[64] = { 0 };
	int n = snprintf(text, sizeof(text), "%s", error_texts[x->code]);

	if (!s->want.errors || (x->code == SYNTH_ERROR_OVERFLOW && s->want.hide_overflows) ||
	    (x->code == SYNTH_ERROR_LOST && s->want.hide_lost))
		return 0;
	if (x->offset != UINT64_MAX && x->resumed != UINT64_MAX)
		snprintf(text + n, sizeof(text) - (size_t)n, ", 0x%llx to 0x%llx", (unsigned long long)x->offset,
			 (unsigned long long)x->resumed);
	else if (x->offset != UINT64_MAX)
		snprintf(text + n, sizeof(text) - (size_t)n, ", from 0x%llx", (unsigned long long)x->offset);
	begin_record(s, TACHO_RECORD_AUXTRACE_ERROR, 0);
	buf_put(&s->record, fields, sizeof(fields));
	put_u64(&s->record, x->ip);
	put_u64(&s->record, x->time);
	buf_put(&s->record, text, sizeof(text));
	s->n_errors++;
	return write_record(s, e);
}
