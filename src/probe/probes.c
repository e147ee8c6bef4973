/*
 * The public interface: finds the places of a request, and writes them as definitions of tracefs.
 */
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>

#include "base/sized_opts.h"
#include "base/vec.h"
#include "probe/kernel.h"
#include "probe/name.h"
#include "probe/tracefs.h"

static int copy_strings(struct tacho_probes *p)
{
	const char **all[] = { &p->target.file, &p->target.module, &p->target.symfs, &p->target.source,
			       &p->target.vmlinux };

	for (size_t i = 0; i < countof(all); i++)
		if (*all[i]) {
			*all[i] = arena_str(&p->strings, str_of(*all[i]));
			if (!*all[i])
				return -ENOMEM;
		}
	return 0;
}

int tacho_probes_new(struct tacho_probes **out, const struct tacho_probe_target *target, struct tacho_error *e)
{
	struct tacho_probes *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_nomem(e);
	err = opts_copy(&p->target, sizeof(p->target), target, e);
	if (err < 0) {
		free(p);
		return err;
	}
	if (sys_init(&p->sys, NULL, p->target.procfs, p->target.tracefs) < 0 || copy_strings(p) < 0) {
		tacho_probes_free(p);
		return error_nomem(e);
	}
	*out = p;
	return 0;
}

void tacho_probes_free(struct tacho_probes *p)
{
	if (!p)
		return;
	if (p->is_open)
		probe_object_close(&p->object);
	vec_done(&p->found);
	arena_done(&p->text);
	arena_done(&p->strings);
	buf_done(&p->notes);
	sys_done(&p->sys);
	free(p);
}

const char *tacho_probes_notes(const struct tacho_probes *p)
{
	return p->notes.n ? p->notes.bytes : "";
}

bool probes_target_is_kernel(const struct tacho_probes *p)
{
	return !p->target.file;
}

int probes_object(struct tacho_probes *p, struct probe_object **out, struct tacho_error *e)
{
	struct probe_object_place place = { p->target.file, p->target.symfs, p->target.pid };
	int err = p->is_open ? 0 : probe_object_open(&p->object, &place, e);

	if (err < 0)
		return err;
	p->is_open = true;
	*out = &p->object;
	return 0;
}

int probes_debug_object(struct tacho_probes *p, struct probe_object **out, struct probe_dwarf **dwarf, struct tacho_error *e)
{
	int err;

	err = probes_target_is_kernel(p) ? probes_kernel_object(p, out, e) : probes_object(p, out, e);
	if (err > 0) {
		error_set(e, -ENODATA, "source lines and variables of the kernel need its debug information");
		error_hint(e, "install the kernel's debug package, or name the file with -k VMLINUX or -m MODULE.ko");
		return -ENODATA;
	}
	return err < 0 ? err : probe_need_dwarf(*out, dwarf, e);
}

/* "PATH:0x10(0x20)" or "_text+16" */
static int put_place(const struct tacho_probes *p, const struct probe_site *site, struct buf *out, struct tacho_error *e)
{
	uint64_t offset, semaphore;

	if (site->symbol) {
		buf_printf(out, "%s+%" PRIu64, site->symbol, site->offset);
		return 0;
	}
	if (!probe_object_offset(&p->object, site->address, &offset))
		return error_set(e, -EINVAL, "the address %#" PRIx64 " is not in the code of '%s'", site->address, p->object.path);
	/* The kernel splits the line at blanks, and takes another line as another definition. */
	if (strpbrk(p->object.path, " \t\r\n"))
		return error_set(e, -EINVAL, "the kernel takes no path with blanks for a probe: '%s'", p->object.path);
	buf_printf(out, "%s%s:0x%" PRIx64, p->object.root ? p->object.root : "", p->object.path, offset);
	if (!site->semaphore)
		return 0;
	if (!probe_object_offset(&p->object, site->semaphore, &semaphore))
		return error_set(e, -EINVAL, "the semaphore at %#" PRIx64 " is not in '%s'", site->semaphore, p->object.path);
	buf_printf(out, "(0x%" PRIx64 ")", semaphore);
	return 0;
}

/* The request's point as the user wrote it: "sum_node%return", "@p.c:35". */
static void put_point(const struct probe_request *r, const struct probe_site *site, struct buf *out)
{
	const struct probe_point *pt = &r->point;

	if (pt->has_address)
		buf_printf(out, "0x%" PRIx64, pt->address);
	if (pt->sdt_name)
		buf_putc(out, '%');
	if (pt->sdt_name || pt->function)	/* a name of the file */
		buf_text(out, str_of(site->function));
	if (pt->offset)
		buf_printf(out, "+%" PRIu64, pt->offset);
	if (pt->is_return)
		buf_puts(out, "%return");
	if (pt->function && pt->has_line && pt->line)
		buf_printf(out, ":%u", pt->line);
	if (pt->file)
		buf_printf(out, "@%s", pt->file);
	if (!pt->function && pt->has_line)
		buf_printf(out, ":%u", pt->line);
	if (pt->pattern)
		buf_printf(out, ";%s", pt->pattern);
}

static const char *keep(struct tacho_probes *p, struct buf *b)
{
	const char *text = buf_failed(b) ? NULL : arena_str(&p->text, b->n ? buf_view(b) : STR_LIT(""));

	buf_done(b);
	return text;
}

static int add_found(struct tacho_probes *p, const struct probe_request *r, const struct probe_site *site,
		     struct probe_used_names *used, struct tacho_error *e)
{
	struct buf group = { 0 }, base = { 0 }, event = { 0 }, line = { 0 }, place = { 0 }, args = { 0 };
	struct tacho_probe found = { .size = sizeof(found), .is_kernel = probes_target_is_kernel(p) };
	struct tacho_probe *slot;
	int err;

	if (r->group)
		buf_puts(&group, r->group);
	else
		probe_group_name(found.is_kernel ? NULL : p->object.path, site, &group);
	probe_event_base(r, site, &base);
	used->group = buf_view(&group);
	err = probe_unique_name(used, buf_view(&base), &event, e);
	buf_done(&base);
	if (err >= 0) {
		buf_printf(&line, "%c:%.*s/%.*s ", site->is_return ? 'r' : 'p', STR(buf_view(&group)), STR(buf_view(&event)));
		err = put_place(p, site, &line, e);
	}
	if (site->args[0])
		buf_printf(&line, " %s", site->args);
	put_point(r, site, &place);
	if (!found.is_kernel)
		buf_printf(&place, " in %s", p->object.path);
	for (size_t i = 0; i < r->args.n; i++)
		buf_printf(&args, "%s%s", i ? " " : "", r->args.v[i].name ? r->args.v[i].name : r->args.v[i].text);
	found.group = keep(p, &group);
	found.event = keep(p, &event);
	found.definition = keep(p, &line);
	found.place = keep(p, &place);
	found.args = keep(p, &args);
	if (err < 0)
		return err;
	slot = found.group && found.event && found.definition && found.place && found.args ? vec_next(&p->found) : NULL;
	if (!slot)
		return error_nomem(e);
	*slot = found;
	return 0;
}

static int find_sites(struct tacho_probes *p, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e)
{
	struct probe_object *o;
	int err;

	out->max_sites = p->target.max_probes;
	out->no_inlines = p->target.no_inlines;
	out->source = p->target.source;
	if (probes_target_is_kernel(p))
		return probes_find_kernel(p, r, out, e);
	err = probes_object(p, &o, e);
	return err < 0 ? err : probe_find_sites(o, r, out, e);
}

int tacho_probes_find(struct tacho_probes *p, const char *request, const struct tacho_probe **out, struct tacho_error *e)
{
	struct probe_request r = { 0 };
	struct probe_sites sites = { 0 };
	struct probe_definitions defined = { 0 };
	struct probe_used_names used = { .defined = &defined, .force = p->target.force };
	int err = probe_request_parse(&r, str_of(request), e);

	p->found.n = 0;
	arena_done(&p->text);
	buf_clear(&p->notes);
	if (err >= 0)
		err = find_sites(p, &r, &sites, e);
	/* Without access to tracefs the names that exist are unknown, which matters only when a probe is defined. */
	if (err >= 0)
		probe_definitions_read(&defined, &p->sys, NULL);
	for (size_t i = 0; err >= 0 && i < sites.n; i++)
		err = add_found(p, &r, &sites.v[i], &used, e);
	buf_str(&p->notes, buf_view(&sites.notes));
	probe_definitions_done(&defined);
	probe_sites_done(&sites);
	probe_request_done(&r);
	if (err < 0)
		return err;
	*out = p->found.v;
	return (int)p->found.n;
}

int tacho_probes_add(struct tacho_probes *p, const struct tacho_probe *probe, struct tacho_error *e)
{
	return probe_definition_write(&p->sys, probe->is_kernel, probe->definition, e);
}

int tacho_probes_delete(struct tacho_probes *p, const struct tacho_probe *probe, struct tacho_error *e)
{
	scoped(buf_done) struct buf line = { 0 };

	buf_printf(&line, "-:%s/%s", probe->group, probe->event);
	if (buf_failed(&line))
		return error_nomem(e);
	return probe_definition_write(&p->sys, probe->is_kernel, line.bytes, e);
}
