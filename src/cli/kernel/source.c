/*
 * Opens what a view of the kernel reads.
 */
#include "cli/kernel/source.h"

#include <errno.h>
#include <inttypes.h>

#include "cli/core/time_filter.h"
#include "cli/kernel/input.h"

/* Several ranges, or none that is left, are refused: a view is a whole. */
static int read_time(struct kernel_source *s, const char *command, const char *text)
{
	struct time_filter filter = { 0 };
	struct tacho_error e = { .column = -1 };
	int err = time_filter_init(&filter, text, s->pd, &e);

	if (err < 0)
		message_error(command, "--time", text, &e);
	else if (filter.n != 1) {
		message_text(command, "--time takes one range");
		err = -EINVAL;
	} else
		s->time = filter.v[0];
	time_filter_done(&filter);
	return err;
}

static int new_symbols(struct kernel_source *s, const char *command, const struct kernel_source_opts *o)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_symbols_new(&s->symbols, TACHO_OPTS(tacho_symbols_opts, .symfs = o->symfs, .vmlinux = o->vmlinux,
							     .kallsyms = o->kallsyms, .force = o->force), &e);

	if (err < 0)
		message_error(command, NULL, NULL, &e);
	return err;
}

int kernel_source_open(struct kernel_source *out, const char *command, const struct kernel_source_opts *o, bool with_symbols)
{
	int err = 0;

	*out = (struct kernel_source){ .pd = kernel_open(command, o->input, o->force) };
	if (!out->pd)
		return -ENOENT;
	if (with_symbols)
		err = new_symbols(out, command, o);
	if (err == 0 && o->time)
		err = read_time(out, command, o->time);
	if (err < 0)
		kernel_source_done(out);
	return err;
}

void kernel_source_done(struct kernel_source *s)
{
	tacho_symbols_free(s->symbols);
	tacho_perfdata_close(s->pd);
	*s = (struct kernel_source){ 0 };
}

void kernel_put_function(struct buf *out, struct tacho_symbols *symbols, uint64_t address, bool with_offset)
{
	struct tacho_frame frame;

	if (!symbols || tacho_symbols_resolve(symbols, 0, TACHO_SPACE_KERNEL, address, &frame) <= 0) {
		buf_printf(out, "%#" PRIx64, address);
		return;
	}
	buf_puts(out, tacho_symbols_name(symbols, frame.symbol));
	if (with_offset)
		buf_printf(out, "+%" PRIx64, frame.symbol_offset);
}
