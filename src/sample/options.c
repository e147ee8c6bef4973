/*
 * Checks a sampler's options before anything is opened, so that what the kernel would refuse with EINVAL, or what
 * would have no effect, is refused with a sentence.
 */
#include "sample/sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#define ALL_FIELDS (TACHO_FIELD_CODE_PAGE_SIZE * 2u - 1)

/* Masks of the registers that the kernel samples. regs_intr may also name the vector registers of x86. */
#if defined(__x86_64__)
#define USER_REGS 0xff0fffULL			/* not ds, es, fs, gs */
#define INTR_REGS (USER_REGS | 0xffffffffULL << 32)
#else
#define USER_REGS UINT64_MAX
#define INTR_REGS UINT64_MAX
#endif

static int check_rate(const struct tacho_sampler_opts *o, struct tacho_error *e)
{
	if (o->period && (o->freq || o->freq_max))
		return error_set(e, -EINVAL, "a period and a frequency exclude each other");
	return 0;
}

static int check_fields(const struct tacho_sampler_opts *o, struct tacho_error *e)
{
	if (o->fields & ~ALL_FIELDS)
		return error_set(e, -EINVAL, "'fields' has bits that libtacho %s does not know: %#x", TACHO_VERSION,
				 o->fields & ~ALL_FIELDS);
	if ((unsigned)o->chain > TACHO_CHAIN_AUTO)
		return error_set(e, -EINVAL, "'chain' is %d, which is not one of the TACHO_CHAIN_ values", (int)o->chain);
	if (o->stack_bytes % 8)
		return error_set(e, -EINVAL, "'stack_bytes' is %u, which is not a multiple of 8", o->stack_bytes);
	return 0;
}

static int check_regs(const char *name, uint64_t given, uint64_t known, struct tacho_error *e)
{
	if (!(given & ~known))
		return 0;
	return error_set(e, -EINVAL, "'%s' has bits of registers that the kernel does not sample: %#" PRIx64, name,
			 given & ~known);
}

/* The clocks that perf_event_open() accepts. */
static int check_clock(const struct tacho_sampler_opts *o, struct tacho_error *e)
{
	static const int32_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_TAI };

	for (size_t i = 0; o->use_clockid && i < countof(clocks); i++)
		if (o->clockid == clocks[i])
			return 0;
	if (!o->use_clockid)
		return 0;
	error_set(e, -EINVAL, "perf events cannot take their times from clock %d", o->clockid);
	error_hint(e, "use CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME or CLOCK_TAI");
	return -EINVAL;
}

static int check_pages(const char *name, uint32_t pages, struct tacho_error *e)
{
	if (!(pages & (pages - 1)))
		return 0;
	return error_set(e, -EINVAL, "'%s' is %u, which is not a power of two", name, pages);
}

int sampler_check_options(const struct tacho_sampler_opts *o, struct tacho_error *e)
{
	int err = check_rate(o, e);

	if (err == 0)
		err = check_fields(o, e);
	if (err == 0)
		err = check_regs("regs_user", o->regs_user, USER_REGS, e);
	if (err == 0)
		err = check_regs("regs_intr", o->regs_intr, INTR_REGS, e);
	if (err == 0)
		err = check_clock(o, e);
	if (err == 0)
		err = check_pages("ring_pages", o->ring_pages, e);
	if (err == 0)
		err = check_pages("aux_pages", o->aux_pages, e);
	return err;
}

int sampler_check_stack(const struct tacho_sampler *s, struct tacho_error *e)
{
	for (size_t i = 0; i < s->set->events.n; i++)
		if (s->set->events.v[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			return 0;
	/* TACHO_CHAIN_AUTO uses frame pointers where stacks cannot be unwound. */
	if (!s->opts.stack_bytes || s->opts.chain == TACHO_CHAIN_AUTO)
		return 0;
	error_set(e, -EINVAL, "'stack_bytes' is %u, but no event records its stack", s->opts.stack_bytes);
	error_hint(e, "set 'chain' to TACHO_CHAIN_DWARF or TACHO_CHAIN_AUTO");
	return -EINVAL;
}
