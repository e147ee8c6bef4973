/*
 * Decides where a request is looked up: debug data, if there is any, because it knows inlined copies and variables; else
 * the symbol table.
 */
#include "probe/probe.h"

#include <errno.h>

#include "probe/dwarf.h"

static bool needs_dwarf(const struct probe_request *r)
{
	return r->point.has_line || r->point.pattern || r->point.file || probe_request_has_variables(r);
}

static int refuse_without_dwarf(const struct probe_object *o, int err, struct tacho_error *e)
{
	if (err == -ENOMEM)
		return error_nomem(e);
	if (err == -EOPNOTSUPP) {
		error_set(e, err, "lines and variables need libdw, which is missing or not supported by this build");
		error_hint(e, "install libdw1 (elfutils)");
	} else if (err == -ENODATA) {
		error_set(e, err, "'%s' has no debug information", o->path);
		error_hint(e, "build it with -g, or install its debug symbols; functions, offsets and addresses work without");
	} else {
		error_set(e, err, "the debug information of '%s' cannot be read: %s", o->path, strerror(-err));
	}
	return err;
}

static int refuse_unknown(const struct probe_object *o, const struct probe_request *r, struct tacho_error *e)
{
	const struct probe_point *p = &r->point;

	if (p->function)
		error_set(e, -ENOENT, "the debug information of '%s' has no function '%s'", o->path, p->function);
	else
		error_set(e, -ENOENT, "the debug information of '%s' has no code at this address", o->path);
	if (p->function && p->file)
		error_hint(e, "or not in the file '%s'", p->file);
	error_at(e, r->point_column, r->point_length);
	return -ENOENT;
}

static int check_go(const struct probe_object *o, const struct probe_request *r, struct tacho_error *e)
{
	if (!r->point.is_return || (!elf_find_section(&o->own, ".gopclntab") && !elf_find_section(&o->own, ".note.go.buildid")))
		return 0;
	error_set(e, -EOPNOTSUPP, "%%return cannot be used on a Go program: it would crash when Go moves the stack");
	error_hint(e, "place probes on the addresses of the function's 'ret' instructions instead");
	return -EOPNOTSUPP;
}

int probe_need_dwarf(struct probe_object *o, struct probe_dwarf **out, struct tacho_error *e)
{
	int err = probe_dwarf_get(o, out);

	return err < 0 ? refuse_without_dwarf(o, err, e) : 0;
}

int probe_find_sites(struct probe_object *o, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e)
{
	struct probe_dwarf *d;
	bool needed = needs_dwarf(r);
	int err = check_go(o, r, e);

	if (err < 0)
		return err;
	if (r->point.sdt_name)
		return probe_find_static(o, r, out, e);
	if (r->point.has_address && !needed)
		return probe_find_symbols(o, r, out, e);
	err = probe_dwarf_get(o, &d);
	if (err < 0)
		return needed || err == -ENOMEM ? refuse_without_dwarf(o, err, e) : probe_find_symbols(o, r, out, e);
	err = probe_find_dwarf(d, o, r, out, e);
	if (err != -ENOENT)
		return err;
	return needed ? refuse_unknown(o, r, e) : probe_find_symbols(o, r, out, e);
}
