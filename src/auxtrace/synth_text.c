/*
 * Texts of synthesised samples: flags of branches, and the raw data of events that come from packets of their own
 * (ptwrite, mwait, pwre, exstop, pwrx, cbr, psb), as perf script prints them.
 *
 * The raw data begins with 4 bytes of padding, so that with the size before it, its words are aligned.
 */
#include "auxtrace/auxtrace.h"

#include <stdio.h>
#include <string.h>

#define B TACHO_BRANCH
static const struct {
	uint32_t flags;
	const char *name;
} names[] = {
	{ B | TACHO_BRANCH_CALL, "call" },
	{ B | TACHO_BRANCH_RETURN, "return" },
	{ B | TACHO_BRANCH_CONDITIONAL, "jcc" },
	{ B, "jmp" },
	{ B | TACHO_BRANCH_CALL | TACHO_BRANCH_INTERRUPT, "int" },
	{ B | TACHO_BRANCH_RETURN | TACHO_BRANCH_INTERRUPT, "iret" },
	{ B | TACHO_BRANCH_CALL | TACHO_BRANCH_SYSCALL, "syscall" },
	{ B | TACHO_BRANCH_RETURN | TACHO_BRANCH_SYSCALL, "sysret" },
	{ B | TACHO_BRANCH_ASYNC, "async" },
	{ B | TACHO_BRANCH_CALL | TACHO_BRANCH_ASYNC | TACHO_BRANCH_INTERRUPT, "hw int" },
	{ B | TACHO_BRANCH_TX_ABORT, "tx abrt" },
};
#undef B

const char *tacho_insn_flags_text(uint32_t flags, char out[64])
{
	const uint32_t around = TACHO_BRANCH_TRACE_BEGIN | TACHO_BRANCH_TRACE_END | TACHO_BRANCH_IN_TX;
	const char *before = flags & TACHO_BRANCH_TRACE_BEGIN ? "tr strt " : flags & TACHO_BRANCH_TRACE_END ? "tr end  " : "";
	const char *after = flags & TACHO_BRANCH_IN_TX ? " (x)" : "", *name = "";

	for (size_t i = 0; i < countof(names); i++)
		if (names[i].flags == (flags & ~around))
			name = names[i].name;
	if (!*name && (flags & ~around))
		snprintf(out, 64, "%s%#x%s", before, flags & ~around, after);
	else
		snprintf(out, 64, "%s%s%s", before, name, after);
	return out;
}

static uint32_t word32(const uint8_t *raw, size_t at)
{
	return load_u32(raw + at, false);
}

static uint64_t word64(const uint8_t *raw, size_t at)
{
	return load_u64(raw + at, false);
}

static int put_pwrx(const uint8_t *raw, char *out, size_t room)
{
	uint64_t v = word64(raw, 8);

	return snprintf(out, room, " deepest cstate: %u last cstate: %u wake reason: %#x ", (unsigned)v & 15,
			(unsigned)(v >> 4) & 15, (unsigned)(v >> 8) & 15);
}

static int put_cbr(const uint8_t *raw, char *out, size_t room)
{
	uint32_t flags = word32(raw, 4), freq_khz = word32(raw, 8);
	unsigned cbr = flags & 255, max = flags >> 16 & 255;
	int n = snprintf(out, room, " cbr: %2u freq: %4u MHz ", cbr, (freq_khz + 500) / 1000);

	if (max)
		n += snprintf(out + n, room - (size_t)n, "(%3u%%) ", (5 + 1000 * cbr / max) / 10);
	return n;
}

/* perf pads these texts to the same width, so that the addresses after them are aligned. */
#define WIDTH 34

size_t tacho_synth_text(uint64_t config, const uint8_t *raw, size_t n_raw, char *out, size_t room)
{
	static const uint8_t sizes[] = { 16, 16, 16, 8, 16, 16, 16 };
	int n = 0;

	if (room < 128 || config >= countof(sizes) || !raw || n_raw < sizes[config])
		return 0;
	switch (config) {
	case SYNTH_CONFIG_PTWRITE:
		n = snprintf(out, room, " IP: %u payload: %#llx ", word32(raw, 4) & 1, (unsigned long long)word64(raw, 8));
		break;
	case SYNTH_CONFIG_MWAIT:
		n = snprintf(out, room, " hints: %#x extensions: %#x ", (unsigned)word64(raw, 8) & 255,
			     (unsigned)(word64(raw, 8) >> 32) & 3);
		break;
	case SYNTH_CONFIG_PWRE:
		n = snprintf(out, room, " hw: %u cstate: %u sub-cstate: %u ", (unsigned)(word64(raw, 8) >> 7) & 1,
			     (unsigned)(word64(raw, 8) >> 12) & 15, (unsigned)(word64(raw, 8) >> 8) & 15);
		break;
	case SYNTH_CONFIG_EXSTOP:
		n = snprintf(out, room, " IP: %u ", word32(raw, 4) & 1);
		break;
	case SYNTH_CONFIG_PWRX:
		n = put_pwrx(raw, out, room);
		break;
	case SYNTH_CONFIG_CBR:
		n = put_cbr(raw, out, room);
		break;
	default:
		n = snprintf(out, room, " psb offs: %#llx ", (unsigned long long)word64(raw, 8));
	}
	while (n < WIDTH)
		out[n++] = ' ';
	out[n] = 0;
	return (size_t)n;
}
