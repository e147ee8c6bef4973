/*
 * `tacho profile`: samples with their stacks, counted in the kernel.
 */
#include "cli/stacks/stacks.h"

struct profile_opts {
	struct stacks_opts s;
	const char *event;
	uint32_t freq;
};

#define AT(field) offsetof(struct profile_opts, field)
static const struct option_row profile_rows[] = {
	{ OPT_GROUP, .help = "What to sample" },
	{ OPT_UINT, 'F', "freq", AT(freq), "N", "samples per second and CPU (default 99)", .min = 1, .max = 100000 },
	{ OPT_STR, 'e', "event", AT(event), "EVENT", "sample this event (default cycles, or cpu-clock without a PMU)", .complete = "event" },
	STACKS_TARGET_ROWS(struct profile_opts),
	STACKS_OUTPUT_ROWS(struct profile_opts),
	{ .kind = OPT_END },
};

static int profile_run(void *opts, int argc, char **argv)
{
	const struct profile_opts *o = opts;
	struct stacks_run r = { .command = "profile", .view = "profile", .by = "process", .o = &o->s, .default_format = "table",
				.v = { .size = sizeof(r.v), .event = o->event, .freq = o->freq } };

	return stacks_run(&r, argc, argv);
}

const struct command cmd_profile = {
	.name = "profile",
	.summary = "count the stacks of samples in the kernel",
	.args = "[SECONDS] [-- COMMAND [ARG...]]",
	.rows = profile_rows,
	.opts_size = sizeof(struct profile_opts),
	.run = profile_run,
	.keeps_double_dash = true,
};
