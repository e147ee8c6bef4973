/*
 * `tacho offcpu`: how long threads are blocked, by stack, added up in the kernel.
 */
#include "cli/stacks/stacks.h"

struct offcpu_opts {
	struct stacks_opts s;
	double min_ms;
	bool wakers;
};

#define AT(field) offsetof(struct offcpu_opts, field)
static const struct option_row offcpu_rows[] = {
	{ OPT_GROUP, .help = "What to measure" },
	{ OPT_DOUBLE, 0, "min", AT(min_ms), "MSEC", "leave out times below MSEC (default 0.001)" },
	{ OPT_FLAG, 'w', "wakers", AT(wakers), NULL, "also who wakes the thread, with its kernel stack" },
	STACKS_TARGET_ROWS(struct offcpu_opts),
	STACKS_OUTPUT_ROWS(struct offcpu_opts),
	{ .kind = OPT_END },
};

static int offcpu_run(void *opts, int argc, char **argv)
{
	const struct offcpu_opts *o = opts;
	struct stacks_run r = { .command = "offcpu", .view = "offcpu", .by = o->wakers ? "process,waker" : "process", .o = &o->s,
				.default_format = "stacks", .weighs_time = true, .v = { .size = sizeof(r.v) } };

	if (o->min_ms < 0 || o->min_ms > 1e9) {
		message_text("offcpu", "--min takes a number of milliseconds");
		return EXIT_USAGE;
	}
	r.v.min_ns = (uint64_t)(o->min_ms * 1e6);
	return stacks_run(&r, argc, argv);
}

const struct command cmd_offcpu = {
	.name = "offcpu",
	.summary = "add up in the kernel how long threads are blocked, by stack",
	.args = "[SECONDS] [-- COMMAND [ARG...]]",
	.rows = offcpu_rows,
	.opts_size = sizeof(struct offcpu_opts),
	.run = offcpu_run,
	.keeps_double_dash = true,
};
