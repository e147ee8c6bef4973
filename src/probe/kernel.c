/*
 * Places probes in the kernel by its own symbol table. A place is written as an offset from _text where the addresses can
 * be read: that is unambiguous even if several static functions have the same name, and the same whatever address the
 * kernel was loaded to. Places in modules are written as MODULE:FUNCTION+OFFSET.
 *
 * Names of arguments are passed on: the kernel resolves them by its own type information (BTF) since Linux 6.4.
 */
#include "probe/kernel.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

#define KALLSYMS_BYTES_MAX (256u << 20)

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int add_line(struct kernel_functions *f, struct str line, const char *module)
{
	struct str address, type, name, in = { 0 };
	struct kernel_function *fn;
	uint64_t at;
	ptrdiff_t tab = str_find(line, '\t');

	if (tab >= 0) {
		in = str_trim(str_n(line.s + tab + 1, line.n - (size_t)tab - 1));
		line.n = (size_t)tab;
	}
	if (!str_cut(&line, ' ', &address) || !str_cut(&line, ' ', &type) || type.n != 1 || num_hex(address, &at) < 0)
		return 0;
	name = str_trim(line);
	if (str_is(name, "_text"))
		f->start = at;
	if (in.n > 2)
		in = str_n(in.s + 1, in.n - 2);
	if (!is_code(type.s[0]) || (module ? !str_is(in, module) : in.n > 0))
		return 0;
	fn = vec_add(f);
	if (!fn)
		return -ENOMEM;
	fn->address = at;
	fn->name = arena_str(&f->text, name);
	fn->module = module;
	return fn->name ? 0 : -ENOMEM;
}

int kernel_functions_read(struct kernel_functions *f, const struct sys *sys, const char *module, struct tacho_error *e)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, line;
	char path[256];
	int err;

	*f = (struct kernel_functions){ 0 };
	snprintf(path, sizeof(path), "%s/kallsyms", sys->procfs);
	err = io_read(path, KALLSYMS_BYTES_MAX, &text);
	rest = buf_view(&text);
	while (err == 0 && str_cut(&rest, '\n', &line))
		err = add_line(f, line, module);
	if (err == -ENOMEM)
		error_nomem(e);
	else if (err < 0)
		error_set(e, err, "cannot read %s: %s", path, strerror(-err));
	else if (!f->n && module)
		err = error_set(e, -ENOENT, "no module '%s' is loaded", module);
	if (err < 0)
		kernel_functions_done(f);
	return err;
}

void kernel_functions_done(struct kernel_functions *f)
{
	vec_done(f);
	arena_done(&f->text);
	f->start = 0;
}

/* Functions that kprobes must not be placed in, as "0xADDRESS-0xADDRESS\tNAME". Only root may read them. */
static void read_blacklist(const struct sys *sys, struct buf *out)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/kernel/debug/kprobes/blacklist", sys->sysfs);
	if (io_read(path, KALLSYMS_BYTES_MAX, out) < 0)
		buf_clear(out);
}

static bool is_blacklisted(const struct buf *list, uint64_t address)
{
	struct str rest = buf_view(list), line, from;
	uint64_t start, end;

	while (address && str_cut(&rest, '\n', &line)) {
		if (str_cut(&line, '-', &from) && str_starts(from, "0x") && str_starts(line, "0x")) {
			ptrdiff_t tab = str_find(line, '\t');

			line.n = tab < 0 ? line.n : (size_t)tab;
			if (num_hex(str_n(from.s + 2, from.n - 2), &start) == 0 &&
			    num_hex(str_n(line.s + 2, line.n - 2), &end) == 0 && address >= start && address < end)
				return true;
		}
	}
	return false;
}

static int put_arguments(const struct probe_request *r, struct buf *out, struct tacho_error *e)
{
	for (size_t i = 0; i < r->args.n; i++) {
		const struct probe_argument *a = &r->args.v[i];

		if (strcmp(a->text, "$vars") == 0) {
			error_set(e, -ENODATA, "$vars needs the debug information of the kernel");
			error_hint(e, "$params, all parameters, needs none; -k VMLINUX names the file that has it");
			error_at(e, a->column, a->length);
			return -ENODATA;
		}
		/* The kernel's own spelling of all parameters. */
		buf_printf(out, "%s%s%s%s", out->n ? " " : "", a->name ? a->name : "", a->name ? "=" : "",
			   strcmp(a->text, "$params") == 0 ? "$arg*" : a->text);
		if (a->type)
			buf_printf(out, ":%s", a->type);
	}
	buf_putc(out, '\0');
	return buf_failed(out) ? error_nomem(e) : 0;
}

static int refuse_function(const struct kernel_functions *f, const struct probe_request *r, struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(r->point.function) };

	error_set(e, -ENOENT, "the kernel has no function '%s'", r->point.function);
	error_at(e, r->point_column, r->point_length);
	for (size_t i = 0; i < f->n; i++)
		str_nearest_try(&near, str_of(f->v[i].name));
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return -ENOENT;
}

static int refuse_blacklisted(const struct probe_request *r, struct tacho_error *e)
{
	error_set(e, -EPERM, "the kernel does not allow probes in '%s'", r->point.function);
	error_at(e, r->point_column, r->point_length);
	error_hint(e, "kprobes themselves may use it; /sys/kernel/debug/kprobes/blacklist has all such functions");
	return -EPERM;
}

static int add_function(const struct kernel_functions *f, const struct kernel_function *fn, const struct probe_request *r,
			const char *args, struct probe_sites *out, struct tacho_error *e)
{
	scoped(buf_done) struct buf symbol = { 0 };
	struct probe_site site = { .address = fn->address + r->point.offset, .function = fn->name, .args = args,
				   .is_return = r->point.is_return };

	if (fn->module)
		buf_printf(&symbol, "%s:%s", fn->module, fn->name);
	else	/* the kernel looks up the types of parameters by the name of the function */
		buf_puts(&symbol, f->start && fn->address >= f->start && !probe_request_has_variables(r) ? "_text" : fn->name);
	if (buf_failed(&symbol))
		return error_nomem(e);
	site.symbol = symbol.bytes;
	site.offset = strcmp(symbol.bytes, "_text") == 0 ? fn->address - f->start + r->point.offset : r->point.offset;
	return probe_sites_add(out, &site, e);
}

static int check_request(const struct probe_request *r, struct tacho_error *e)
{
	if (r->point.sdt_name)
		return error_set(e, -EINVAL, "static probes are in programs: name the program with -x");
	if (!r->point.function || r->point.has_line || r->point.pattern || r->point.file) {
		error_set(e, -ENODATA, "lines of the kernel need its debug information");
		error_hint(e, "install the kernel's debug package, or name the file with -k VMLINUX or -m MODULE.ko");
		return -ENODATA;
	}
	return 0;
}

int probe_find_kernel(const struct kernel_target *k, const struct probe_request *r, struct probe_sites *out,
		      struct tacho_error *e)
{
	scoped(buf_done) struct buf args = { 0 };
	struct kernel_functions f = { 0 };
	struct str wanted;
	scoped(buf_done) struct buf blacklist = { 0 };
	size_t before = out->n, n_blacklisted = 0;
	int err = check_request(r, e);

	if (err >= 0)
		err = put_arguments(r, &args, e);
	if (err >= 0)
		err = kernel_functions_read(&f, k->sys, k->module, e);
	if (err < 0)
		return err;
	read_blacklist(k->sys, &blacklist);
	wanted = str_of(r->point.function);
	for (size_t i = 0; err >= 0 && i < f.n; i++) {
		bool fits = str_has_glob(wanted) ? str_glob(wanted, str_of(f.v[i].name)) : str_is(wanted, f.v[i].name);

		if (fits && is_blacklisted(&blacklist, f.v[i].address + r->point.offset))
			n_blacklisted++;
		else if (fits)
			err = add_function(&f, &f.v[i], r, args.bytes, out, e);
	}
	if (err >= 0 && out->n == before)
		err = n_blacklisted ? refuse_blacklisted(r, e) : refuse_function(&f, r, e);
	else if (err >= 0 && n_blacklisted)
		buf_printf(&out->notes, "%zu functions are left out: the kernel does not allow probes in them\n", n_blacklisted);
	kernel_functions_done(&f);
	return err < 0 ? err : 0;
}
