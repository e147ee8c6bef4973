/*
 * Formats events as `tacho evlist` prints them.
 */
#include "cli/files/evlist_text.h"

#include <inttypes.h>

#include "record/perf_abi.h"
#include "cli/files/attr_line.h"

void evlist_text_event(struct evlist_text *t, const struct tacho_file_event *ev, size_t i)
{
	const struct perf_event_attr *attr = ev->attr;
	bool freq = attr->flags & PERF_ATTR_FREQ;

	if (t->group && !t->left && ev->leader == i && ev->group_size > 1) {
		t->left = ev->group_size;
		buf_putc(t->out, '{');
	}
	buf_puts(t->out, ev->name);
	if (t->verbose) {
		buf_puts(t->out, ": ");
		file_attr(ev, ": ", t->out);
	} else if (t->frequency) {
		buf_printf(t->out, ": sample_%s=%" PRIu64, freq ? "freq" : "period", attr->sample_period);
	}
}

void evlist_text_next(struct evlist_text *t)
{
	if (t->left)
		buf_puts(t->out, --t->left ? "," : "}\n");
	else
		buf_putc(t->out, '\n');
}

void evlist_text_end(struct evlist_text *t)
{
	if (t->left)
		buf_puts(t->out, "}\n");
	t->left = 0;
}
