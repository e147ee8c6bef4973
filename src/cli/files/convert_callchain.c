/*
 * Mappings are followed as when a report is made, so a stack is unwound by the objects that were mapped at its time.
 * Samples of events without call chains, and damaged ones, are left as they are.
 */
#include "cli/files/convert_callchain.h"

#include "base/error.h"
#include "cli/files/build_id_table.h"
#include "record/perf_abi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONVERTED_FIELDS ((uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER))

static bool is_converted(const struct tacho_layout *layout)
{
	return (layout->sample_type & CONVERTED_FIELDS) == CONVERTED_FIELDS;
}

int stack_converter_init(struct stack_converter *c, const struct tacho_perfdata *pd, struct tacho_error *e)
{
	const struct tacho_symbols_opts opts = { .size = sizeof(opts) };
	uint16_t machine = tacho_perfdata_n_events(pd) ? tacho_perfdata_event(pd, 0)->layout.machine : 0;
	int err;

	*c = (struct stack_converter){ 0 };
	if (!tacho_unwinder_supports(machine))
		return error_set(e, -EOPNOTSUPP, "stacks can be unwound for x86-64 and arm64 only");
	c->scratch = malloc(sizeof(*c->scratch));
	if (!c->scratch)
		return error_nomem(e);
	err = tacho_symbols_new(&c->symbols, &opts, e);
	if (err == 0)
		err = tacho_unwinder_new(&c->unwinder, c->symbols, machine, e);
	if (err == 0 && file_build_ids_feed(pd, c->symbols) < 0)
		err = error_nomem(e);
	if (err == 0)
		tacho_symbols_set_monotonic(c->symbols, tacho_perfdata_is_monotonic(pd));
	return err;
}

void stack_converter_done(struct stack_converter *c)
{
	tacho_unwinder_free(c->unwinder);
	tacho_symbols_free(c->symbols);
	free(c->scratch);
	*c = (struct stack_converter){ 0 };
}

int stack_converter_attr(const struct tacho_file_event *ev, struct buf *out)
{
	buf_clear(out);
	buf_put(out, ev->attr, ev->attr_size);
	if (buf_failed(out))
		return -ENOMEM;
	return is_converted(&ev->layout) ? tacho_unwinder_rewrite_attr(out->bytes, out->n, false) : 0;
}

static int convert_sample(struct stack_converter *c, const struct tacho_layout *layout, struct tacho_record *rec)
{
	struct tacho_sample sample;
	int err;

	if (!is_converted(layout) || tacho_sample_decode(&sample, rec, layout, c->scratch) < 0)
		return 0;
	err = tacho_unwinder_rewrite(c->unwinder, rec, &sample, layout, false, rec);
	c->n_samples += err == 0;
	return err == -ENOMEM ? err : 0;
}

int stack_converter_record(struct stack_converter *c, const struct tacho_perfdata *pd, struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(pd, rec);
	const struct tacho_layout *layout;
	struct tacho_sideband sideband;

	if (!tacho_perfdata_n_events(pd) || rec->type >= TACHO_RECORD_HEADER_ATTR)
		return 0;
	layout = &tacho_perfdata_event(pd, i < 0 ? 0 : (size_t)i)->layout;
	c->scratch->used = 0;
	if (rec->type == TACHO_RECORD_SAMPLE)
		return convert_sample(c, layout, rec);
	if (tacho_sideband_decode(&sideband, rec, layout, c->scratch) < 0)
		return 0;
	return tacho_symbols_feed(c->symbols, &sideband) == -ENOMEM ? -ENOMEM : 0;
}
