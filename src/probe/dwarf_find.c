/*
 * Functions and lines in debug data.
 *
 * A function stands for its code and for every place where it was inlined. A line stands for each address where the line
 * table says that a statement of it starts; rows that share their address with a preceding line do not count, because the
 * address belongs to that line. Within a function, rows of functions inlined into it do not count either, except that the
 * line of the call stands for the first address of the inlined code.
 */
#include "probe/dwarf_internal.h"

#include <errno.h>

#include "base/io.h"
#include "base/vec.h"
#include "probe/function_match.h"
#include "probe/source_file.h"
#include "symbol/demangle.h"

#define CHOICES_MAX 8u
#define PLACES_MAX 1000000u

struct place_finder {
	struct probe_dwarf *d;
	const struct dwarf_request *want;
	struct dwarf_places *out;
	struct tacho_error *e;
	Dwarf_Die unit;
	struct function_match match;
	struct { Dwarf_Die *v; size_t n, cap; } functions;	/* that match */
	struct { Dwarf_Die *v; size_t n, cap; } units;	/* of each of them */
	/* lines */
	const char *file;		/* end of the path; or NULL: that of the function */
	int line;			/* 0: see `pattern` */
	const char *pattern;
	struct source_text source;	/* for the pattern */
	int near_line;			/* a requested line shares its address with this one */
	Dwarf_Die *within;		/* function whose lines are searched; NULL: the whole unit */
	size_t n_inlined_returns;
	const char *found_file, *found_directory;	/* the file of FILE:LINE as the debug data has it */
	struct line_set *lines;		/* instead of places: which lines of the file have code */
};

static int add_place(struct place_finder *f, Dwarf_Die *function, uint64_t address)
{
	struct dwarf_place *place;

	for (size_t i = 0; i < f->out->n && f->out->n < 4096; i++)
		if (f->out->v[i].address == address)
			return 0;
	if (f->out->n >= PLACES_MAX)
		return error_set(f->e, -E2BIG, "the request stands for more than %u places", PLACES_MAX);
	place = vec_add(f->out);
	if (!place)
		return error_nomem(f->e);
	place->unit = f->unit;
	place->address = address;
	if (function)
		place->function = *function;
	return 0;
}

/* ---- functions ---- */

/* "twice" also stands for the instances of a template: "twice<int>". */
static bool is_instance(struct place_finder *f, const char *name)
{
	const char *open = strchr(name, '<');

	return open && !f->match.is_glob && strncmp(name, "operator", 8) != 0 &&
	       str_eq(f->match.wanted, str_n(name, (size_t)(open - name)));
}

static bool name_fits(struct place_finder *f, Dwarf_Die *die)
{
	const char *name = f->d->lib->dwarf_diename(die), *linkage = dwarf_linkage_name(f->d, die);

	if (name && !f->match.is_qualified && (function_match_symbol(&f->match, name) || is_instance(f, name)))
		return true;
	if (linkage && function_match_symbol(&f->match, linkage))
		return true;
	/* "twice<i32>": Rust's older mangling does not have the instance. */
	if (linkage)
		return name && str_find(f->match.wanted, '<') > 0 && !memmem(f->match.wanted.s, f->match.wanted.n, "::", 2) &&
		       function_match_demangled(&f->match, name);
	return name && function_match_symbol(&f->match, name);
}

static int collect_function(void *arg, Dwarf_Die *die)
{
	struct place_finder *f = arg;
	Dwarf_Die *slot, *unit;
	const char *file;
	uint64_t entry;
	int line;

	if ((f->want->no_inlines && dwarf_is_inlined_copy(f->d, die)) || !name_fits(f, die) || !dwarf_entry(f->d, die, &entry))
		return 0;
	file = dwarf_declared_at(f->d, die, &line);
	if (f->want->r->point.file && (!file || !path_has_tail(file, f->want->r->point.file)))
		return 0;
	slot = vec_next(&f->functions);
	unit = vec_next(&f->units);
	if (!slot || !unit)
		return -ENOMEM;
	*slot = *die;
	*unit = f->unit;
	return 0;
}

static int collect_unit(void *arg, Dwarf_Die *unit)
{
	struct place_finder *f = arg;

	f->unit = *unit;
	return dwarf_each_function(f->d, unit, collect_function, f);
}

/* Another name of a function is only in the symbol table: malloc is __libc_malloc in the debug data. */
static int collect_aliases(struct place_finder *f)
{
	const struct probe_functions *all = &f->want->o->functions;
	uint64_t last = UINT64_MAX, entry;
	int err = 0;

	for (size_t i = 0; err == 0 && i < all->n && !f->want->r->point.file; i++) {
		Dwarf_Die die, *slot, *unit;

		if (all->v[i].address == last || all->v[i].is_indirect || !function_match_symbol(&f->match, all->v[i].name) ||
		    !dwarf_unit_at(f->d, all->v[i].address, &f->unit) ||
		    !dwarf_real_function(f->d, &f->unit, all->v[i].address, &die) || !dwarf_entry(f->d, &die, &entry) ||
		    entry != all->v[i].address)
			continue;
		last = all->v[i].address;
		slot = vec_next(&f->functions);
		unit = vec_next(&f->units);
		err = slot && unit ? 0 : -ENOMEM;
		if (err == 0) {
			*slot = die;
			*unit = f->unit;
		}
	}
	return err;
}

static void put_choice(struct place_finder *f, Dwarf_Die *die, struct buf *out)
{
	const char *linkage = dwarf_linkage_name(f->d, die);

	if (!linkage || !demangle(linkage, true, out))
		buf_puts(out, linkage ? linkage : "");
	buf_putc(out, '\0');
}

/* A name that stands for several functions of C++ or Rust is ambiguous, unless it is a pattern. */
static int refuse_overloads(struct place_finder *f)
{
	const struct probe_request *r = f->want->r;
	struct strlist seen = { 0 };
	struct buf choices = { 0 };
	int err = 0;

	for (size_t i = 0; err == 0 && i < f->functions.n; i++) {
		scoped(buf_done) struct buf text = { 0 };
		bool is_new = true;

		put_choice(f, &f->functions.v[i], &text);
		if (buf_failed(&text) || !text.bytes[0])
			continue;
		for (size_t k = 0; is_new && k < seen.n; k++)
			is_new = strcmp(seen.v[k], text.bytes) != 0;
		if (!is_new)
			continue;
		err = strlist_add(&seen, str_of(text.bytes));
		if (seen.n <= CHOICES_MAX)
			buf_printf(&choices, "%s'%s'", choices.n ? ", " : "", text.bytes);
	}
	if (err < 0 || buf_failed(&choices)) {
		err = error_nomem(f->e);
	} else if (seen.n > 1) {
		error_set(f->e, -EEXIST, "'%s' stands for %zu functions: %s%s", r->point.function, seen.n, choices.bytes,
			  seen.n > CHOICES_MAX ? " ..." : "");
		error_hint(f->e, "give the parameters to choose one, or '%s(*)' for all", r->point.function);
		error_at(f->e, r->point_column, r->point_length);
		err = -EEXIST;
	}
	strlist_done(&seen);
	buf_done(&choices);
	return err;
}

static int add_function_place(struct place_finder *f, Dwarf_Die *die)
{
	const struct probe_point *p = &f->want->r->point;
	uint64_t entry;

	if (!dwarf_entry(f->d, die, &entry))
		return 0;
	if (p->is_return && dwarf_is_inlined_copy(f->d, die)) {
		f->n_inlined_returns++;
		return 0;
	}
	if (p->offset && f->d->lib->dwarf_haspc(die, entry + p->offset) == 0 && !dwarf_is_inlined_copy(f->d, die))
		return error_set(f->e, -EINVAL, "the offset %llu is outside of '%s'", (unsigned long long)p->offset, p->function);
	return add_place(f, die, entry + p->offset);
}

/* ---- lines ---- */

static bool is_wanted_line(struct place_finder *f, const char *file, int line)
{
	if (!file || !path_has_tail(file, f->file))
		return false;
	if (f->lines)
		return line > 0;
	return f->pattern ? source_file_has(&f->source, line) && line_matches(str_of(f->pattern), source_file_line(&f->source, line)) :
			    line == f->line;
}

/* Rows of code that was inlined into the function belong to the inlined function. */
static bool belongs_to(struct place_finder *f, Dwarf_Die *function, uint64_t address)
{
	Dwarf_Die inner;

	return f->d->lib->dwarf_haspc(function, address) > 0 && !dwarf_innermost(f->d, function, address, &inner);
}

static int add_row(struct place_finder *f, Dwarf_Line *row)
{
	const struct libdw *l = f->d->lib;
	const char *file, *first_file;
	uint64_t start;
	Dwarf_Addr address;
	int line, first_line;
	bool begins, ends;

	if (l->dwarf_lineno(row, &line) != 0 || l->dwarf_lineaddr(row, &address) != 0 ||
	    l->dwarf_linebeginstatement(row, &begins) != 0 || !begins || l->dwarf_lineendsequence(row, &ends) != 0 || ends)
		return 0;
	file = l->dwarf_linesrc(row, NULL, NULL);
	if (!is_wanted_line(f, file, line) || (f->within && !belongs_to(f, f->within, address)))
		return 0;
	if (dwarf_line_at(f->d, &f->unit, address, &first_file, &first_line, &start) &&
	    (first_line != line || strcmp(first_file, file) != 0)) {
		f->near_line = first_line;
		return 0;
	}
	return f->lines ? line_set_add(f->lines, line) : add_place(f, f->within, address);
}

static int add_rows(struct place_finder *f)
{
	Dwarf_Lines *lines;
	size_t n;
	int err = 0;

	if (f->d->lib->dwarf_getsrclines(&f->unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; err == 0 && i < n; i++)
		err = add_row(f, f->d->lib->dwarf_onesrcline(lines, i));
	return err;
}

/* The line table does not say where functions are declared and where inlined ones are called. */
static int add_entry_of(void *arg, Dwarf_Die *die)
{
	struct place_finder *f = arg;
	uint64_t entry;
	const char *file;
	int line;

	if (!dwarf_entry(f->d, die, &entry))
		return 0;
	file = dwarf_is_inlined_copy(f->d, die) ? dwarf_called_at(f->d, die, &line) : dwarf_declared_at(f->d, die, &line);
	if (!is_wanted_line(f, file, line))
		return 0;
	return f->lines ? line_set_add(f->lines, line) : add_place(f, f->within, entry);
}

/* Only direct children: calls within inlined code are not calls of this function. */
static int add_calls(struct place_finder *f, Dwarf_Die *parent, unsigned depth)
{
	const struct libdw *l = f->d->lib;
	Dwarf_Die die;
	int err = 0;

	if (depth > DIE_DEPTH_MAX || l->dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = l->dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine)
			err = add_entry_of(f, &die);
		else if (tag == DW_TAG_lexical_block)
			err = add_calls(f, &die, depth + 1);
	} while (err == 0 && l->dwarf_siblingof(&die, &die) == 0);
	return err;
}

static const char *unit_directory(struct place_finder *f)
{
	Dwarf_Attribute attr;

	return f->d->lib->dwarf_attr(&f->unit, DW_AT_comp_dir, &attr) ? f->d->lib->dwarf_formstring(&attr) : NULL;
}

/* Reads the source file for a pattern. */
static int prepare_pattern(struct place_finder *f, const char *path)
{
	int err;

	if (!f->pattern || (f->source.path && strcmp(f->source.path, path) == 0))
		return 0;
	source_file_done(&f->source);
	err = source_file_read(&f->source, path, unit_directory(f), f->want->source);
	if (err < 0)
		return error_set(f->e, err, "the source file '%s' cannot be read: %s", path, strerror(-err));
	return 0;
}

static int add_function_lines(struct place_finder *f, Dwarf_Die *die)
{
	const struct probe_point *p = &f->want->r->point;
	int declared, err;

	f->file = dwarf_declared_at(f->d, die, &declared);
	if (!f->file)
		return 0;
	f->within = die;
	f->line = p->has_line ? declared + (int)p->line : 0;
	f->pattern = p->pattern;
	if (p->has_line && !p->line)
		return add_function_place(f, die);
	err = prepare_pattern(f, f->file);
	if (err == 0)
		err = add_rows(f);
	return err == 0 ? add_calls(f, die, 0) : err;
}

/* FILE:LINE or FILE;PATTERN in a unit. */
static int add_unit_lines(void *arg, Dwarf_Die *unit)
{
	struct place_finder *f = arg;
	const struct libdw *l = f->d->lib;
	Dwarf_Files *files;
	size_t n;
	bool has_file = false;
	int err = 0;

	f->unit = *unit;
	if (l->dwarf_getsrcfiles(unit, &files, &n) != 0)
		return 0;
	for (size_t i = 0; err == 0 && !has_file && i < n; i++) {
		const char *path = l->dwarf_filesrc(files, i, NULL, NULL);

		has_file = path && path_has_tail(path, f->file);
		if (has_file && !f->found_file) {
			f->found_file = path;
			f->found_directory = unit_directory(f);
		}
		if (has_file)
			err = prepare_pattern(f, path);
	}
	if (err < 0 || !has_file)
		return err;
	err = add_rows(f);
	return err == 0 ? dwarf_each_function(f->d, unit, add_entry_of, f) : err;
}

static int refuse_place(struct place_finder *f)
{
	const struct probe_request *r = f->want->r;

	if (f->n_inlined_returns) {
		error_set(f->e, -EINVAL, "'%s' is inlined everywhere: it has no return", r->point.function);
	} else if (f->near_line) {
		error_set(f->e, -ENOENT, "the line has no code of its own: its address is that of line %d%s", f->near_line,
			  r->point.function ? " of the file" : "");
		error_hint(f->e, "probe line %d instead", f->near_line);
	} else if (r->point.pattern) {
		error_set(f->e, -ENOENT, "no line with code matches '%s'", r->point.pattern);
	} else {
		error_set(f->e, -ENOENT, "no code was generated for the line %u of '%s'", r->point.line,
			  r->point.function ? r->point.function : r->point.file);
		error_hint(f->e, "'probe -L' shows the lines that can be probed");
	}
	error_at(f->e, r->point_column, r->point_length);
	return f->n_inlined_returns ? -EINVAL : -ENODATA;
}

static int find_by_function(struct place_finder *f)
{
	const struct probe_point *p = &f->want->r->point;
	int err = function_match_init(&f->match, p->function);

	if (err == 0)
		err = dwarf_each_unit(f->d, collect_unit, f);
	if (err < 0)
		return error_nomem(f->e);
	if (!f->functions.n && (probe_request_has_variables(f->want->r) || p->has_line || p->pattern) && collect_aliases(f) < 0)
		return error_nomem(f->e);
	if (!f->functions.n)
		return -ENOENT;
	if (!f->match.is_glob && !f->match.has_params)
		err = refuse_overloads(f);
	for (size_t i = 0; err == 0 && i < f->functions.n; i++) {
		f->unit = f->units.v[i];
		err = p->has_line || p->pattern ? add_function_lines(f, &f->functions.v[i]) :
						  add_function_place(f, &f->functions.v[i]);
	}
	return err;
}

static int find_by_file(struct place_finder *f)
{
	f->file = f->want->r->point.file;
	f->line = (int)f->want->r->point.line;
	f->pattern = f->want->r->point.pattern;
	return dwarf_each_unit(f->d, add_unit_lines, f);
}

static int find_by_address(struct place_finder *f)
{
	uint64_t address = f->want->r->point.address;

	if (!dwarf_unit_at(f->d, address, &f->unit))
		return -ENOENT;
	return add_place(f, NULL, address);
}

int line_set_add(struct line_set *s, int line)
{
	if (line > LINES_MAX)
		return 0;
	if ((size_t)line >= s->n_bits) {
		size_t n = (size_t)line + 4096;
		uint8_t *grown = realloc(s->bits, n / 8 + 1);

		if (!grown)
			return -ENOMEM;
		memset(grown + s->n_bits / 8 + (s->bits ? 1 : 0), 0, n / 8 + 1 - (s->n_bits / 8 + (s->bits ? 1 : 0)));
		s->bits = grown;
		s->n_bits = n;
	}
	s->bits[line / 8] |= (uint8_t)(1u << line % 8);
	s->last = max_of(s->last, line);
	return 0;
}

bool line_set_has(const struct line_set *s, int line)
{
	return line >= 0 && (size_t)line < s->n_bits && s->bits[line / 8] >> line % 8 & 1;
}

void line_set_done(struct line_set *s)
{
	free(s->bits);
	*s = (struct line_set){ 0 };
}

/* The lines of one function or of a file. */
static int collect_lines(struct place_finder *f, struct dwarf_lines_found *out)
{
	const struct probe_point *p = &f->want->r->point;
	int err = 0, declared;

	if (!p->function) {
		f->file = p->file;
		return dwarf_each_unit(f->d, add_unit_lines, f);
	}
	for (size_t i = 0; err == 0 && i < f->functions.n; i++) {
		Dwarf_Die *die = &f->functions.v[i];
		const char *file = dwarf_declared_at(f->d, die, &declared);

		/* Functions of the same name elsewhere would mix their lines with these. */
		if (!file || (out->file && (strcmp(out->file, file) != 0 || out->declared != declared)))
			continue;
		out->file = file;
		out->declared = declared;
		f->unit = f->units.v[i];
		f->file = file;
		f->within = die;
		err = add_rows(f);
		if (err == 0)
			err = add_calls(f, die, 0);
		if (err == 0 && !dwarf_is_inlined_copy(f->d, die))
			err = line_set_add(f->lines, declared);
	}
	return err;
}

int dwarf_find_lines(struct probe_dwarf *d, const struct dwarf_request *want, struct dwarf_lines_found *out, struct tacho_error *e)
{
	struct place_finder f = { .d = d, .want = want, .e = e, .lines = &out->lines };
	int err = want->r->point.function ? function_match_init(&f.match, want->r->point.function) : 0;

	if (err == 0 && want->r->point.function)
		err = dwarf_each_unit(d, collect_unit, &f);
	if (err == 0)
		err = collect_lines(&f, out);
	if (err == 0 && want->r->point.file && !want->r->point.function) {
		out->file = f.found_file;
		out->directory = f.found_directory;
	} else if (err == 0 && out->file) {
		out->directory = unit_directory(&f);
	}
	function_match_done(&f.match);
	vec_done(&f.functions);
	vec_done(&f.units);
	return err == -ENOMEM ? error_nomem(e) : err < 0 ? err : out->file ? 0 : -ENOENT;
}

int dwarf_find_places(struct probe_dwarf *d, const struct dwarf_request *want, struct dwarf_places *out, struct tacho_error *e)
{
	struct place_finder f = { .d = d, .want = want, .out = out, .e = e };
	int err;

	if (want->r->point.has_address)
		err = find_by_address(&f);
	else if (want->r->point.function)
		err = find_by_function(&f);
	else
		err = find_by_file(&f);
	if (err == 0 && !out->n)
		err = refuse_place(&f);
	function_match_done(&f.match);
	source_file_done(&f.source);
	vec_done(&f.functions);
	vec_done(&f.units);
	return err;
}
