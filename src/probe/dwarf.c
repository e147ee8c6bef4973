/*
 * Opens debug data and walks its entries. Files are hostile: depths are bounded, and libdw works on a copy in memory.
 */
#include "probe/dwarf_internal.h"

#include <errno.h>

static int open_dwarf(struct probe_object *o, struct probe_dwarf **out)
{
	const struct elf *file = o->debug.size ? &o->debug : &o->own;
	struct probe_dwarf *d = calloc(1, sizeof(*d));
	int err = d ? libdw_debug_open(&d->debug, file, DWARF_IMAGE_ALL) : -ENOMEM;

	if (err < 0) {
		free(d);
		return err;
	}
	d->lib = d->debug.lib;
	d->machine = o->own.machine;
	d->is_wide = o->own.wide;
	d->own = &o->own;
	d->is_kernel = o->is_kernel;
	d->text_start = o->functions.start;
	*out = d;
	return 0;
}

int probe_dwarf_get(struct probe_object *o, struct probe_dwarf **out)
{
	if (!o->dwarf_tried) {
		o->dwarf_tried = true;
		o->dwarf_error = open_dwarf(o, &o->dwarf);
	}
	*out = o->dwarf;
	return o->dwarf_error;
}

void probe_dwarf_close(struct probe_dwarf *d)
{
	if (!d)
		return;
	if (d->frames[0])
		d->lib->dwarf_cfi_end(d->frames[0]);
	if (d->own_elf)
		d->lib->elf_end(d->own_elf);
	buf_done(&d->own_file);
	libdw_debug_close(&d->debug);
	free(d);
}

int dwarf_each_unit(struct probe_dwarf *d, int (*fn)(void *arg, Dwarf_Die *unit), void *arg)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, sub;
	uint8_t type;
	int err = 0;

	while (err == 0 && d->lib->dwarf_get_units(d->debug.dwarf, cu, &cu, NULL, &type, &die, &sub) == 0) {
		if (type == DW_UT_skeleton && sub.addr)
			die = sub;
		if (d->lib->dwarf_tag(&die) == DW_TAG_compile_unit || d->lib->dwarf_tag(&die) == DW_TAG_partial_unit)
			err = fn(arg, &die);
	}
	return err;
}

static bool may_contain_functions(int tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

struct function_walk {
	struct probe_dwarf *d;
	int (*fn)(void *arg, Dwarf_Die *function);
	void *arg;
};

static int walk_functions(struct function_walk *w, Dwarf_Die *parent, unsigned depth)
{
	const struct libdw *l = w->d->lib;
	Dwarf_Die die;
	int err = 0;

	if (depth > DIE_DEPTH_MAX || l->dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = l->dwarf_tag(&die);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			err = w->fn(w->arg, &die);
		if (err == 0 && may_contain_functions(tag))
			err = walk_functions(w, &die, depth + 1);
	} while (err == 0 && l->dwarf_siblingof(&die, &die) == 0);
	return err;
}

int dwarf_each_function(struct probe_dwarf *d, Dwarf_Die *unit, int (*fn)(void *arg, Dwarf_Die *function), void *arg)
{
	struct function_walk w = { d, fn, arg };

	return walk_functions(&w, unit, 0);
}

bool dwarf_entry(struct probe_dwarf *d, Dwarf_Die *die, uint64_t *out)
{
	const struct libdw *l = d->lib;
	Dwarf_Addr address, base, end;

	if (l->dwarf_entrypc(die, &address) != 0 && l->dwarf_lowpc(die, &address) != 0 &&
	    l->dwarf_ranges(die, 0, &base, &address, &end) <= 0)
		return false;
	*out = address;
	return address != 0;
}

static const char *string_attribute(struct probe_dwarf *d, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return d->lib->dwarf_attr_integrate(die, name, &attr) ? d->lib->dwarf_formstring(&attr) : NULL;
}

const char *dwarf_linkage_name(struct probe_dwarf *d, Dwarf_Die *die)
{
	const char *name = string_attribute(d, die, DW_AT_linkage_name);

	return name ? name : string_attribute(d, die, DW_AT_MIPS_linkage_name);
}

bool dwarf_is_inlined_copy(struct probe_dwarf *d, Dwarf_Die *die)
{
	return d->lib->dwarf_tag(die) == DW_TAG_inlined_subroutine;
}

/* Descends to the child that has the address; `tags`: functions count, blocks are only passed through. */
static bool find_child_at(struct probe_dwarf *d, Dwarf_Die *parent, uint64_t address, Dwarf_Die *out)
{
	const struct libdw *l = d->lib;
	Dwarf_Die die;

	if (l->dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = l->dwarf_tag(&die);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_subprogram ||
		     tag == DW_TAG_try_block || tag == DW_TAG_catch_block) && l->dwarf_haspc(&die, address) > 0) {
			*out = die;
			return true;
		}
	} while (l->dwarf_siblingof(&die, &die) == 0);
	return false;
}

bool dwarf_innermost(struct probe_dwarf *d, Dwarf_Die *top, uint64_t address, Dwarf_Die *out)
{
	Dwarf_Die at = *top, child;
	bool found = false;

	*out = *top;
	for (unsigned depth = 0; depth < DIE_DEPTH_MAX && find_child_at(d, &at, address, &child); depth++) {
		int tag = d->lib->dwarf_tag(&child);

		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) {
			*out = child;
			found = true;
		}
		at = child;
	}
	return found;
}

struct real_search {
	struct probe_dwarf *d;
	uint64_t address;
	Dwarf_Die *out;
};

static int is_real(void *arg, Dwarf_Die *function)
{
	struct real_search *s = arg;

	if (dwarf_is_inlined_copy(s->d, function) || s->d->lib->dwarf_haspc(function, s->address) <= 0)
		return 0;
	*s->out = *function;
	return 1;
}

bool dwarf_real_function(struct probe_dwarf *d, Dwarf_Die *unit, uint64_t address, Dwarf_Die *out)
{
	struct real_search s = { d, address, out };

	return dwarf_each_function(d, unit, is_real, &s) == 1;
}

bool dwarf_number(struct probe_dwarf *d, Dwarf_Die *die, unsigned attribute, uint64_t *out)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!d->lib->dwarf_attr_integrate(die, attribute, &attr) || d->lib->dwarf_formudata(&attr, &value) != 0)
		return false;
	*out = value;
	return true;
}

/* The path of a file by the number in an attribute. Not dwarf_decl_file(), which does not know the file 0 of DWARF 5. */
static const char *file_of(struct probe_dwarf *d, Dwarf_Attribute *attr)
{
	const struct libdw *l = d->lib;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t n;

	if (l->dwarf_formudata(attr, &number) != 0 || !l->dwarf_cu_die(attr->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    l->dwarf_getsrcfiles(&unit, &files, &n) != 0 || number >= n)
		return NULL;
	return l->dwarf_filesrc(files, number, NULL, NULL);
}

static const char *source_of(struct probe_dwarf *d, Dwarf_Die *die, unsigned file, unsigned line, int *out)
{
	Dwarf_Attribute attr;
	uint64_t number;

	*out = 0;
	if (!dwarf_number(d, die, line, &number) || !d->lib->dwarf_attr_integrate(die, file, &attr))
		return NULL;
	*out = (int)min_of(number, (uint64_t)INT32_MAX / 2);	/* lines are added to it */
	return file_of(d, &attr);
}

const char *dwarf_declared_at(struct probe_dwarf *d, Dwarf_Die *die, int *line)
{
	return source_of(d, die, DW_AT_decl_file, DW_AT_decl_line, line);
}

const char *dwarf_called_at(struct probe_dwarf *d, Dwarf_Die *copy, int *line)
{
	return source_of(d, copy, DW_AT_call_file, DW_AT_call_line, line);
}

bool path_has_tail(const char *path, const char *tail)
{
	size_t n_path = strlen(path), n_tail = strlen(tail);

	return n_path >= n_tail && strcmp(path + n_path - n_tail, tail) == 0 &&
	       (n_path == n_tail || tail[0] == '/' || path[n_path - n_tail - 1] == '/');
}

struct unit_search {
	struct probe_dwarf *d;
	uint64_t address;
	Dwarf_Die *out;
};

static int unit_has(void *arg, Dwarf_Die *unit)
{
	struct unit_search *s = arg;

	if (s->d->lib->dwarf_haspc(unit, s->address) <= 0)
		return 0;
	*s->out = *unit;
	return 1;
}

bool dwarf_unit_at(struct probe_dwarf *d, uint64_t address, Dwarf_Die *out)
{
	struct unit_search s = { d, address, out };

	return d->lib->dwarf_addrdie(d->debug.dwarf, address, out) || dwarf_each_unit(d, unit_has, &s) == 1;
}

bool dwarf_line_at(struct probe_dwarf *d, Dwarf_Die *unit, uint64_t address, const char **file, int *line, uint64_t *start)
{
	const struct libdw *l = d->lib;
	Dwarf_Lines *lines;
	Dwarf_Line *row = NULL;
	Dwarf_Addr at, best = 0;
	size_t n, found = 0;

	if (l->dwarf_getsrclines(unit, &lines, &n) != 0)
		return false;
	/* Rows are sorted by address; the first of those with the same address counts. */
	for (size_t low = 0, high = n; low < high;) {
		size_t middle = low + (high - low) / 2;

		row = l->dwarf_onesrcline(lines, middle);
		if (l->dwarf_lineaddr(row, &at) != 0)
			return false;
		if (at <= address)
			low = found = middle + 1;
		else
			high = middle;
	}
	if (!found)
		return false;
	row = l->dwarf_onesrcline(lines, found - 1);
	l->dwarf_lineaddr(row, &best);
	while (found > 1) {
		bool ends;
		Dwarf_Line *before = l->dwarf_onesrcline(lines, found - 2);

		if (l->dwarf_lineaddr(before, &at) != 0 || at != best || l->dwarf_lineendsequence(before, &ends) != 0 || ends)
			break;
		row = before;
		found--;
	}
	*file = l->dwarf_linesrc(row, NULL, NULL);
	*start = best;
	return *file && l->dwarf_lineno(row, line) == 0;
}

/* "sum_node:3@/src/p.c": the line within the function that includes the address, or of the inlined copy's caller. */
int probe_dwarf_describe(struct probe_dwarf *d, uint64_t address, bool is_return, struct buf *out)
{
	Dwarf_Die unit, real, inner;
	const char *file, *name, *decl_file;
	uint64_t start, entry = 0, inner_entry;
	int line, decl_line, call_line;

	if (!dwarf_unit_at(d, address, &unit) || !dwarf_real_function(d, &unit, address, &real))
		return -ENOENT;
	name = d->lib->dwarf_diename(&real);
	decl_file = dwarf_declared_at(d, &real, &decl_line);
	if (!name || !decl_file)
		return -ENOENT;
	buf_text(out, str_of(name));
	if (is_return)
		buf_puts(out, "%return");
	if (dwarf_entry(d, &real, &entry) && entry == address) {
		buf_putc(out, '@');
		buf_text(out, str_of(decl_file));
		return 0;
	}
	if (!dwarf_line_at(d, &unit, address, &file, &line, &start))
		return -ENOENT;
	if (dwarf_innermost(d, &real, address, &inner)) {
		const char *called = dwarf_called_at(d, &inner, &call_line);

		if (called && dwarf_entry(d, &inner, &inner_entry) && inner_entry == address) {
			file = called;
			line = call_line;
		}
	}
	if (strcmp(file, decl_file) == 0 && line >= decl_line)
		buf_printf(out, ":%d@", line - decl_line);
	else
		buf_printf(out, "+%llu@", (unsigned long long)(address - entry));
	buf_text(out, str_of(file));
	if (strcmp(file, decl_file) != 0)
		buf_printf(out, ":%d", line);
	return 0;
}
