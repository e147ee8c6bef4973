/*
 * Lists the probes of tracefs with the places that they are at, in source code where debug data is available.
 */
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>

#include "base/vec.h"
#include "probe/dwarf.h"
#include "probe/kernel.h"
#include "probe/tracefs.h"

struct probe_lister {
	struct tacho_probes *p;
	struct probe_object object;	/* of the previous probe: neighbours are usually of the same file */
	bool is_open;
	struct kernel_functions kernel;
	bool kernel_read;
	struct probe_object *debug;	/* the kernel's debug information, or NULL */
	bool debug_tried;
	struct buf line, place, args, group, event;
};

static void listing_done(struct probe_lister *l)
{
	struct buf *all[] = { &l->line, &l->place, &l->args, &l->group, &l->event };

	if (l->is_open)
		probe_object_close(&l->object);
	kernel_functions_done(&l->kernel);
	for (size_t i = 0; i < countof(all); i++)
		buf_done(all[i]);
}

static const char *text_of(struct buf *b, struct str s)
{
	buf_clear(b);
	buf_text(b, s);
	buf_putc(b, '\0');
	return buf_failed(b) ? NULL : b->bytes;
}

static struct probe_object *object_of(struct probe_lister *l, struct str path)
{
	struct probe_object_place place = { .symfs = l->p->target.symfs };
	scoped(freep) char *copy = str_dup(path);

	if (l->is_open && copy && strcmp(l->object.path, copy) == 0)
		return &l->object;
	if (l->is_open)
		probe_object_close(&l->object);
	place.path = copy;
	l->is_open = copy && probe_object_open(&l->object, &place, NULL) == 0;
	return l->is_open ? &l->object : NULL;
}

/* "sum_node:3@/src/p.c", or "sum_node+8", or "0x13c8". */
static void put_user_place(struct probe_lister *l, const struct probe_definition *d)
{
	struct probe_object *o = object_of(l, d->target);
	const struct probe_function *fn;
	struct probe_dwarf *dwarf;
	uint64_t address;
	size_t before = l->place.n;

	if (o && probe_object_address(o, d->offset, &address)) {
		if (probe_dwarf_get(o, &dwarf) == 0 && probe_dwarf_describe(dwarf, address, d->is_return, &l->place) == 0)
			return;
		l->place.n = before;
		fn = probe_functions_at(&o->functions, address);
		if (fn) {
			buf_text(&l->place, str_of(fn->name));
			if (address > fn->address)
				buf_printf(&l->place, "+%" PRIu64, address - fn->address);
			if (d->is_return)
				buf_puts(&l->place, "%return");
			return;
		}
	}
	buf_printf(&l->place, "0x%" PRIx64, d->offset);
}

/* With debug information of the kernel: "inode_permission:2@fs/namei.c". */
static bool put_kernel_line(struct probe_lister *l, const struct probe_definition *d)
{
	struct probe_object *o;
	struct probe_dwarf *dwarf;
	size_t before = l->place.n;

	if (!l->debug_tried) {
		l->debug_tried = true;
		if (l->p->target.module || probes_kernel_object(l->p, &o, NULL) != 0 || probe_dwarf_get(o, &dwarf) < 0)
			return false;
		l->debug = o;
	}
	if (!l->debug || probe_dwarf_get(l->debug, &dwarf) < 0)
		return false;
	if (probe_dwarf_describe(dwarf, l->debug->functions.start + d->offset, d->is_return, &l->place) == 0)
		return true;
	l->place.n = before;
	return false;
}

/* "_text+7047664" is shown as "vfs_read". */
static void put_kernel_place(struct probe_lister *l, const struct probe_definition *d)
{
	const struct kernel_function *best = NULL;
	uint64_t address, offset = d->offset;

	if (str_is(d->target, "_text") && put_kernel_line(l, d))
		return;
	if (str_is(d->target, "_text") && !l->kernel_read) {
		l->kernel_read = true;
		kernel_functions_read(&l->kernel, &l->p->sys, NULL, NULL);
	}
	address = l->kernel.start + d->offset;
	for (size_t i = 0; str_is(d->target, "_text") && l->kernel.start && i < l->kernel.n; i++) {
		const struct kernel_function *f = &l->kernel.v[i];

		if (f->address <= address && (!best || f->address > best->address))
			best = f;
	}
	if (best)
		offset = address - best->address;
	buf_text(&l->place, best ? str_of(best->name) : d->target);
	if (offset)
		buf_printf(&l->place, "+%" PRIu64, offset);
	if (d->is_return)
		buf_puts(&l->place, "%return");
}

static void put_names(struct buf *out, struct str args)
{
	struct str word;

	while (str_cut(&args, ' ', &word)) {
		ptrdiff_t equals = str_find(word, '=');

		if (word.n)
			buf_printf(out, "%s%.*s", out->n ? " " : "", (int)(equals < 0 ? (ptrdiff_t)word.n : equals), word.s);
	}
	buf_putc(out, '\0');
}

static void put_definition(struct buf *out, const struct probe_definition *d)
{
	buf_clear(out);
	buf_printf(out, "%c:%.*s/%.*s %.*s", d->is_return ? 'r' : 'p', STR(d->group), STR(d->event), STR(d->target));
	if (d->is_kernel)
		buf_printf(out, "+%" PRIu64, d->offset);
	else
		buf_printf(out, ":0x%" PRIx64, d->offset);
	if (d->semaphore)
		buf_printf(out, "(0x%" PRIx64 ")", d->semaphore);
	if (d->args.n)
		buf_printf(out, " %.*s", STR(d->args));
}

static int list_one(struct probe_lister *l, const struct probe_definition *d, int (*fn)(void *arg, const struct tacho_probe *),
		    void *arg)
{
	struct tacho_probe probe = { .size = sizeof(probe), .is_kernel = d->is_kernel };

	buf_clear(&l->place);
	buf_clear(&l->args);
	if (d->is_kernel)
		put_kernel_place(l, d);
	else
		put_user_place(l, d);
	if (!d->is_kernel) {
		buf_puts(&l->place, " in ");
		buf_text(&l->place, d->target);
	}
	put_names(&l->args, d->args);
	put_definition(&l->line, d);
	probe.group = text_of(&l->group, d->group);
	probe.event = text_of(&l->event, d->event);
	if (buf_failed(&l->place) || buf_failed(&l->args) || buf_failed(&l->line) || !probe.group || !probe.event)
		return -ENOMEM;
	probe.definition = l->line.bytes;
	probe.place = l->place.bytes;
	probe.args = l->args.bytes;
	return fn(arg, &probe);
}

static bool is_selected(const struct probe_definition *d, struct str pattern)
{
	ptrdiff_t colon = str_find(pattern, ':');

	if (!pattern.s)
		return true;
	if (colon < 0)
		return str_glob(pattern, d->event);
	return str_glob(str_n(pattern.s, (size_t)colon), d->group) &&
	       str_glob(str_n(pattern.s + colon + 1, pattern.n - (size_t)colon - 1), d->event);
}

/* Entry probes before return probes, then by name, as perf lists them. */
static int by_name(const void *a, const void *b)
{
	const struct probe_definition *x = a, *y = b;
	int by;

	if (x->is_return != y->is_return)
		return x->is_return ? 1 : -1;
	by = str_cmp(x->group, y->group);
	if (!by)
		by = str_cmp(x->event, y->event);
	if (!by)
		by = x->offset < y->offset ? -1 : x->offset > y->offset;
	return by;
}

int tacho_probes_list(struct tacho_probes *p, const char *pattern, int (*fn)(void *arg, const struct tacho_probe *probe),
		      void *arg, struct tacho_error *e)
{
	struct probe_definitions all;
	struct probe_lister l = { .p = p };
	int err = probe_definitions_read(&all, &p->sys, e);

	if (err < 0)
		return err;
	if (all.list.n)
		qsort(all.list.v, all.list.n, sizeof(*all.list.v), by_name);
	for (size_t i = 0; err == 0 && i < all.list.n; i++)
		if (is_selected(&all.list.v[i], pattern ? str_of(pattern) : (struct str){ 0 }))
			err = list_one(&l, &all.list.v[i], fn, arg);
	if (err == -ENOMEM)
		error_nomem(e);
	listing_done(&l);
	probe_definitions_done(&all);
	return err;
}
