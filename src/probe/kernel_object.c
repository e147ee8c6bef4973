/*
 * The running kernel, or a module, with its debug information: a vmlinux, or the file of the module. Its addresses are those
 * of the file, so places are written as the kernel knows them whatever address it was loaded to: _text+OFFSET, or
 * MODULE:FUNCTION+OFFSET.
 *
 * Without debug information the kernel's own symbol table and types answer what they can: kernel.c.
 */
#include "probe/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "base/io.h"
#include "probe/kernel.h"

#define NOTES_BYTES_MAX (1u << 20)

const char *probes_module_name(const struct tacho_probes *p)
{
	return p->module_name ? p->module_name : p->target.module;
}

static bool is_path(const char *module)
{
	return module && (strchr(module, '/') || str_ends(str_of(module), ".ko") || str_ends(str_of(module), ".debug"));
}

/* "/lib/uncore-lab.ko.debug" is the module uncore_lab. */
static int name_module(struct tacho_probes *p)
{
	const char *slash = strrchr(p->target.module, '/'), *base = slash ? slash + 1 : p->target.module;
	char *name = arena_str(&p->strings, str_n(base, strcspn(base, ".")));

	if (!name)
		return -ENOMEM;
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	p->module_name = name;
	return 0;
}

/* The length of the running kernel's build ID; 0 or negative: unknown. */
static int running_build_id(uint8_t out[BUILD_ID_MAX])
{
	scoped(buf_done) struct buf notes = { 0 };
	int err = io_read("/sys/kernel/notes", NOTES_BYTES_MAX, &notes);

	return err < 0 ? err : elf_notes_build_id((const uint8_t *)notes.bytes, notes.n, false, out);
}

static bool is_running_kernel(const struct elf *file)
{
	uint8_t running[BUILD_ID_MAX], own[BUILD_ID_MAX];
	int n = running_build_id(running);

	return n > 0 && elf_build_id(file, own) == n && memcmp(running, own, (size_t)n) == 0;
}

/* Where distributions install it; it must be of the running kernel. */
static bool find_vmlinux(char out[256])
{
	static const char *const places[] = { "/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux",
					      "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s" };
	struct utsname here;

	if (uname(&here) < 0)
		return false;
	for (size_t i = 0; i < countof(places); i++) {
		scoped(elf_close) struct elf file = { .fd = -1 };
		const char *percent = strstr(places[i], "%s");

		snprintf(out, 256, "%.*s%s%s", (int)(percent - places[i]), places[i], here.release, percent + 2);
		if (elf_open(&file, out) == 0 && is_running_kernel(&file))
			return true;
	}
	return false;
}

static int open_object(struct tacho_probes *p, const char *path, struct tacho_error *e)
{
	struct probe_object_place place = { .path = path };
	int err = probe_object_open(&p->object, &place, e);

	if (err < 0)
		return err;
	p->is_open = true;
	p->object.is_kernel = true;
	if (!p->target.module && !p->object.functions.start)
		return error_set(e, -EINVAL, "'%s' is not a vmlinux: it has no symbol _text", p->object.path);
	return 0;
}

int probes_kernel_object(struct tacho_probes *p, struct probe_object **out, struct tacho_error *e)
{
	char found[256];
	int err = 0;

	if (!p->is_open && is_path(p->target.module))
		err = name_module(p) < 0 ? error_nomem(e) : open_object(p, p->target.module, e);
	else if (!p->is_open && p->target.module)
		err = 1;
	else if (!p->is_open && p->target.vmlinux)
		err = open_object(p, p->target.vmlinux, e);
	else if (!p->is_open)
		err = find_vmlinux(found) ? open_object(p, found, e) : 1;
	if (err == 0)
		*out = &p->object;
	return err;
}

/* Writes a site's address as the kernel takes it. */
static int name_site(struct tacho_probes *p, struct probe_sites *all, struct probe_site *site, struct tacho_error *e)
{
	const struct probe_function *fn = probe_functions_at(&p->object.functions, site->address);
	scoped(buf_done) struct buf symbol = { 0 };

	if (!probes_module_name(p)) {
		if (site->address < p->object.functions.start)
			return error_set(e, -EINVAL, "the address %#" PRIx64 " lies before the kernel's code", site->address);
		site->symbol = "_text";
		site->offset = site->address - p->object.functions.start;
		return 0;
	}
	if (!fn)
		return error_set(e, -EINVAL, "no function of the module has the address %#" PRIx64, site->address);
	buf_printf(&symbol, "%s:%s", probes_module_name(p), fn->name);
	site->symbol = buf_failed(&symbol) ? NULL : arena_str(&all->text, buf_view(&symbol));
	site->offset = site->address - fn->address;
	return site->symbol ? 0 : error_nomem(e);
}

static bool needs_debug_data(const struct tacho_probes *p, const struct probe_request *r)
{
	bool has_all = false;

	for (size_t i = 0; i < r->args.n; i++)
		has_all = has_all || strcmp(r->args.v[i].text, "$vars") == 0;
	return p->target.vmlinux || is_path(p->target.module) || r->point.has_line || r->point.pattern || r->point.file || has_all;
}

static int find_in_debug_data(struct tacho_probes *p, const struct probe_request *r, struct probe_sites *out,
			      struct tacho_error *e)
{
	struct probe_object *o;
	size_t before = out->n;
	int err = probes_kernel_object(p, &o, e);

	if (err == 0 && r->point.sdt_name)
		err = error_set(e, -EINVAL, "static probes are in programs: name the program with -x");
	if (err == 0)
		err = probe_find_sites(o, r, out, e);
	if (err == 0 && p->target.vmlinux && !p->target.module && !is_running_kernel(&o->own))
		buf_printf(&out->notes, "'%s' is not the file of the running kernel\n", o->path);
	for (size_t i = before; err == 0 && i < out->n; i++)
		err = name_site(p, out, &out->v[i], e);
	return err;
}

int probes_find_kernel(struct tacho_probes *p, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e)
{
	struct kernel_target k = { &p->sys, p->target.module };
	int err = needs_debug_data(p, r) ? find_in_debug_data(p, r, out, e) : 1;

	return err > 0 ? probe_find_kernel(&k, r, out, e) : err;
}
