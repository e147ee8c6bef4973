/*
 * The variables at the places of a point, with the reason why one cannot be read and the nearest line where it can.
 */
#include "probe/dwarf_internal.h"
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>

#include "base/sized_opts.h"
#include "base/vec.h"

#define RANGES_MAX 256u

struct shown_variable {
	char *type, *name, *ranges;
	const char *why;
	uint32_t near_line;
	enum tacho_variable_state state;
	bool is_external;
};

struct variables_view {
	struct probe_dwarf *d;
	const struct variable_scope *scope;
	struct { struct shown_variable *v; size_t n, cap; } list;
	const char *function;
	int declared;			/* line of the function */
	bool external;			/* those that are added now */
	int err;
};

static void view_done(struct variables_view *x)
{
	for (size_t i = 0; i < x->list.n; i++) {
		free(x->list.v[i].type);
		free(x->list.v[i].name);
		free(x->list.v[i].ranges);
	}
	vec_done(&x->list);
}

static bool is_readable(const struct variable_place *p)
{
	return p->kind == PLACE_REGISTER || p->kind == PLACE_MEMORY || p->kind == PLACE_STATIC || p->kind == PLACE_CONSTANT;
}

/* The first line that starts in the range, has its address to itself, and where the variable can be read. */
static int line_in(struct variables_view *x, Dwarf_Die *variable, uint64_t start, uint64_t end)
{
	const struct libdw *l = x->d->lib;
	Dwarf_Die unit = x->scope->unit;
	Dwarf_Lines *lines;
	size_t n;

	if (l->dwarf_getsrclines(&unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = l->dwarf_onesrcline(lines, i);
		struct location_context at = { x->scope->real, 0, x->scope->entry };
		struct variable_place place;
		Dwarf_Addr address;
		const char *file;
		uint64_t first;
		bool begins;
		int line, own;

		if (l->dwarf_lineaddr(row, &address) != 0 || address < start || address >= end ||
		    l->dwarf_linebeginstatement(row, &begins) != 0 || !begins || l->dwarf_lineno(row, &line) != 0 || line <= 0 ||
		    !dwarf_line_at(x->d, &unit, address, &file, &own, &first) || own != line)
			continue;
		at.address = address;
		dwarf_locate(x->d, variable, &at, &place);
		if (is_readable(&place))
			return line;
	}
	return 0;
}

/* All ranges of the location, as text, and the line of the nearest one. */
static void scan_ranges(struct variables_view *x, Dwarf_Die *variable, struct shown_variable *out, struct buf *text)
{
	const struct libdw *l = x->d->lib;
	uint64_t best = UINT64_MAX, entry = x->scope->entry;
	Dwarf_Die real = x->scope->real;
	Dwarf_Attribute attr;
	Dwarf_Addr base, start, end;
	Dwarf_Op *ops;
	ptrdiff_t at = 0;
	size_t n;

	if (!l->dwarf_attr_integrate(variable, DW_AT_location, &attr))
		return;
	for (unsigned i = 0; i < RANGES_MAX && (at = l->dwarf_getlocations(&attr, at, &base, &start, &end, &ops, &n)) > 0; i++) {
		uint64_t address = x->scope->address;
		uint64_t distance = address < start ? start - address : address >= end ? address - end + 1 : 0;
		int line;

		/* A single location holds in the whole function. */
		if (start == 0 && end == UINT64_MAX) {
			start = entry;
			if (l->dwarf_highpc(&real, &end) != 0)
				continue;
		}
		if (!n || start < entry)
			continue;
		buf_printf(text, "%s%" PRIu64 "-%" PRIu64, text->n ? "," : "", (uint64_t)start - entry, (uint64_t)end - entry);
		if (distance >= best)
			continue;
		line = line_in(x, variable, start, end);
		if (line >= x->declared && line) {
			best = distance;
			out->near_line = (uint32_t)(line - x->declared);
		}
	}
}

static void set_state(struct shown_variable *v, const struct variable_place *place)
{
	switch (place->kind) {
	case PLACE_NONE:
		v->state = TACHO_VARIABLE_OPTIMIZED_OUT;
		v->why = "optimized out";
		break;
	case PLACE_ENTRY_VALUE:
		v->state = TACHO_VARIABLE_ENTRY_VALUE;
		v->why = "entry value only";
		break;
	case PLACE_UNSUPPORTED:
		v->state = TACHO_VARIABLE_UNREADABLE;
		v->why = place->why;
		break;
	default:
		v->state = TACHO_VARIABLE_AVAILABLE;
	}
}

static bool is_listed(const struct variables_view *x, const char *name)
{
	for (size_t i = 0; i < x->list.n; i++)
		if (strcmp(x->list.v[i].name, name) == 0)
			return true;
	return false;
}

static int add_variable(void *arg, Dwarf_Die *variable)
{
	struct variables_view *x = arg;
	struct location_context at = { x->scope->real, x->scope->address, x->scope->entry };
	const char *name = x->d->lib->dwarf_diename(variable);
	struct buf type = { 0 }, ranges = { 0 };
	struct variable_place place;
	struct shown_variable *v;

	if (!name || is_listed(x, name))	/* hidden by one of an inner block */
		return 0;
	v = vec_add(&x->list);
	if (!v)
		return -ENOMEM;
	dwarf_locate(x->d, variable, &at, &place);
	set_state(v, &place);
	v->is_external = x->external;
	dwarf_put_type_name(x->d, variable, &type);
	if (!x->external)
		scan_ranges(x, variable, v, &ranges);
	if (v->state == TACHO_VARIABLE_AVAILABLE || v->state == TACHO_VARIABLE_UNREADABLE)
		v->near_line = 0;
	v->type = buf_take(&type);
	v->name = strdup(name);
	v->ranges = ranges.n ? buf_take(&ranges) : strdup("");
	buf_done(&ranges);
	return v->type && v->name && v->ranges ? 0 : -ENOMEM;
}

static int add_external(struct variables_view *x)
{
	const struct libdw *l = x->d->lib;
	Dwarf_Die unit = x->scope->unit, die;
	Dwarf_Attribute attr;
	int err = 0;

	x->external = true;
	if (l->dwarf_child(&unit, &die) != 0)
		return 0;
	do {
		if (l->dwarf_tag(&die) == DW_TAG_variable && l->dwarf_attr_integrate(&die, DW_AT_location, &attr))
			err = add_variable(x, &die);
	} while (err == 0 && l->dwarf_siblingof(&die, &die) == 0);
	return err;
}

static int by_type(const void *a, const void *b)
{
	const struct shown_variable *x = a, *y = b;
	int by = strcmp(x->type, y->type);

	return by ? by : strcmp(x->name, y->name);
}

static int show(struct variables_view *x, const char *place, int (*fn)(void *arg, const struct tacho_probe_variable *v),
		void *arg)
{
	int err = 0;

	if (x->list.n)
		qsort(x->list.v, x->list.n, sizeof(*x->list.v), by_type);
	for (size_t i = 0; err == 0 && i < x->list.n; i++) {
		const struct shown_variable *v = &x->list.v[i];
		struct buf ranges = { 0 };
		struct tacho_probe_variable shown = { .size = sizeof(shown), .place = place, .type = v->type, .name = v->name,
						      .why = v->why, .near_line = v->near_line, .state = v->state,
						      .is_external = v->is_external };

		if (v->ranges[0])
			buf_printf(&ranges, "@<%s+[%s]>", x->function, v->ranges);
		shown.ranges = ranges.n ? ranges.bytes : "";
		err = buf_failed(&ranges) ? -ENOMEM : fn(arg, &shown);
		buf_done(&ranges);
	}
	return err;
}

static int show_place(struct probe_dwarf *d, const struct dwarf_place *place, bool externals,
		      int (*fn)(void *arg, const struct tacho_probe_variable *v), void *arg)
{
	struct variable_scope scope;
	struct variables_view x = { .d = d, .scope = &scope };
	scoped(buf_done) struct buf at = { 0 };
	int err;

	dwarf_scope_at(d, place, &scope);
	x.function = scope.real.addr ? d->lib->dwarf_diename(&scope.real) : NULL;
	if (!x.function)
		x.function = "?";
	if (scope.function.addr)
		dwarf_declared_at(d, &scope.function, &x.declared);
	buf_printf(&at, "%s+%" PRIu64, x.function, place->address - scope.entry);
	err = buf_failed(&at) ? -ENOMEM : dwarf_each_variable(d, &scope, add_variable, &x);
	if (err == 0 && externals)
		err = add_external(&x);
	if (err == 0)
		err = show(&x, at.bytes, fn, arg);
	view_done(&x);
	return err;
}

int tacho_probes_variables(struct tacho_probes *p, const char *point, const struct tacho_probe_variables_opts *opts,
			   int (*fn)(void *arg, const struct tacho_probe_variable *v), void *arg, struct tacho_error *e)
{
	struct tacho_probe_variables_opts o;
	struct probe_request r = { 0 };
	struct dwarf_request want = { .r = &r, .source = p->target.source, .no_inlines = p->target.no_inlines };
	struct dwarf_places places = { 0 };
	struct probe_object *object = NULL;
	struct probe_dwarf *d = NULL;
	int err = opts_copy(&o, sizeof(o), opts, e);

	if (err == 0)
		err = probe_point_parse(&r, str_of(point), e);
	if (err == 0)
		err = probes_debug_object(p, &object, &d, e);
	want.o = object;
	if (err == 0)
		err = dwarf_find_places(d, &want, &places, e);
	if (err == -ENOENT && e && !places.n)
		error_set(e, err, "the debug information has no '%s'", point);
	for (size_t i = 0; err == 0 && i < places.n; i++)
		err = show_place(d, &places.v[i], o.externals, fn, arg);
	if (err == -ENOMEM)
		error_nomem(e);
	vec_done(&places);
	probe_request_done(&r);
	return err;
}
