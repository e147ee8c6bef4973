/*
 * From places in debug data to sites: which function a place is in, whose variables are visible there, and whether the
 * prologue must be skipped.
 */
#include "probe/dwarf_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"

struct site_maker {
	struct probe_dwarf *d;
	struct probe_object *o;
	const struct probe_request *r;
	struct probe_sites *out;
	bool noted_prologue;
	struct tacho_error *e;
};

static bool is_optimized(struct probe_dwarf *d, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *producer = d->lib->dwarf_attr(unit, DW_AT_producer, &attr) ? d->lib->dwarf_formstring(&attr) : NULL;

	return producer && strstr(producer, "-O") && !strstr(producer, "-O0");
}

/* Without optimization, the prologue of a function stores the parameters on the stack, where its debug data says that they
 * are. A probe at the entry would read the stack before that. */
static void skip_prologue(struct site_maker *m, struct dwarf_place *place)
{
	const struct libdw *l = m->d->lib;
	Dwarf_Addr *after = NULL;
	uint64_t entry;
	int n;

	if (!probe_request_has_variables(m->r) || m->r->point.is_return || m->r->point.offset || !place->function.addr ||
	    dwarf_is_inlined_copy(m->d, &place->function) || !dwarf_entry(m->d, &place->function, &entry) ||
	    entry != place->address || is_optimized(m->d, &place->unit))
		return;
	n = l->dwarf_entry_breakpoints(&place->function, &after);
	if (n > 0 && after[0] != entry) {
		place->address = after[0];
		if (!m->noted_prologue)
			buf_printf(&m->out->notes, "the program is compiled without optimization: the probe is placed after the "
				   "prologue, where the parameters are stored (probe 0x%" PRIx64 " for the entry itself)\n", entry);
		m->noted_prologue = true;
	}
	free(after);
}

void dwarf_scope_at(struct probe_dwarf *d, const struct dwarf_place *place, struct variable_scope *s)
{
	*s = (struct variable_scope){ .unit = place->unit, .function = place->function, .address = place->address };
	if (!dwarf_real_function(d, &s->unit, place->address, &s->real))
		s->real = place->function;
	if (!s->function.addr && s->real.addr)
		dwarf_innermost(d, &s->real, place->address, &s->function);
	if (s->real.addr)
		dwarf_entry(d, &s->real, &s->entry);
}

static const char *name_of(struct site_maker *m, const struct variable_scope *s, const struct dwarf_place *place)
{
	Dwarf_Die function = place->function.addr ? place->function : s->real;
	const char *name = NULL, *linkage;

	if (function.addr) {
		name = m->d->lib->dwarf_diename(&function);
		linkage = dwarf_linkage_name(m->d, &function);
		/* A name given with its class is also the name of the event. */
		if (linkage && m->r->point.function && strstr(m->r->point.function, "::"))
			name = linkage;
	}
	return name;
}

static int add_site(struct site_maker *m, struct dwarf_place *place)
{
	scoped(buf_done) struct buf args = { 0 };
	struct probe_site site = { .is_return = m->r->point.is_return };
	struct variable_scope s;
	char absolute[32];
	uint64_t offset;
	int err;

	skip_prologue(m, place);
	dwarf_scope_at(m->d, place, &s);
	if (probe_object_offset(m->o, place->address, &offset))
		s.bias = (int64_t)(place->address - offset);
	err = dwarf_put_arguments(m->d, &s, m->r, &args, &m->out->notes, m->e);
	if (err < 0)
		return err;
	buf_putc(&args, '\0');
	if (buf_failed(&args))
		return error_nomem(m->e);
	site.address = place->address;
	site.args = args.bytes;
	snprintf(absolute, sizeof(absolute), "abs_%" PRIx64, place->address);
	site.function = m->r->point.has_address ? absolute : name_of(m, &s, place);
	if (!site.function)
		site.function = m->r->point.function ? m->r->point.function : absolute;
	return probe_sites_add(m->out, &site, m->e);
}

int probe_find_dwarf(struct probe_dwarf *d, struct probe_object *o, const struct probe_request *r, struct probe_sites *out,
		     struct tacho_error *e)
{
	struct dwarf_request want = { .r = r, .o = o, .source = out->source, .no_inlines = out->no_inlines };
	struct site_maker m = { .d = d, .o = o, .r = r, .out = out, .e = e };
	struct dwarf_places places = { 0 };
	int err = dwarf_find_places(d, &want, &places, e);

	for (size_t i = 0; err == 0 && i < places.n; i++)
		err = add_site(&m, &places.v[i]);
	vec_done(&places);
	return err;
}
