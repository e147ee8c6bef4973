/*
 * Reads inlined functions. A concrete function's entries are walked in their order, so that an inlined call
 * comes after the call that contains it, and painted over it (painted_ranges.h). Names and call positions are read when
 * an address in the call is looked up: most calls never are.
 */
#include "symbol/inlines.h"

#include "symbol/debug/split_unit.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_header.h"
#include "symbol/inline_walk.h"

#include <errno.h>
#include <stdlib.h>

/* The limit of a file's walks. Its units are walked once for their functions, and each function once for its calls, some
 * levels of which are skipped repeatedly. */
#define WALK_BYTES_MIN (1u << 20)
#define WALKS_MAX 16u

struct inline_function {
	uint64_t offset;		/* of its entry */
	struct inline_unit *unit;
	bool read;
	struct painted_table table;	/* address -> index of a call */
	struct inline_calls calls;
};

struct inline_unit {
	struct debug_unit *entries;
	struct split_skeleton *skeleton;	/* NULL: not a split unit */
	bool opened;			/* `entries` are the split unit's, not the skeleton's */
	bool read, searched;		/* its functions were listed; also those inside functions */
	struct painted_table table;	/* address -> index of a function */
	bool without_addresses;
	struct inline_function *functions;
	size_t n_functions;
	bool files_read;
	struct line_unit *files;	/* the header of its line table; NULL: none */
	const char **paths;		/* of files->files; NULL: not yet made */
	struct dwarf_lines *lines;	/* its line table; NULL: not read */
};

struct inlines {
	struct debug_data debug;
	struct inlines_opts opts;
	struct inline_walk walk;
	struct painted_table table;	/* address -> index of a unit */
	struct painted_ranges gaps;	/* looked up, but in no function */
	bool grown;			/* something was read that inlines_export() passes on */
	struct arena text;		/* paths of files, where they are not those in the debug data */
	struct { struct inline_unit *v; size_t n, cap; } units;
	struct split_units split;
	bool lacks_split;		/* the debug data of a unit were not found */
	struct { struct line_found *v; size_t n, cap; } lines;	/* that were looked up */
	struct int_map lines_at;	/* their start -> index */
	size_t n_tables;		/* bytes of tables, about */
};

/* Functions and calls that the limit left out are missing; what was found before it counts. */
static int without_limit(int err)
{
	return err == -EFBIG ? 0 : err;
}

static void ranges_done(struct painted_ranges *r)
{
	vec_done(r);
}

/* ---- opening ---- */

/* Notes whether the unit is the skeleton of a split one. The parts of sections are in the order of the units, usually. */
static int note_skeleton(struct inline_unit *unit, struct split_skeleton **last)
{
	struct split_skeleton s;

	if (!split_skeleton_read(unit->entries, &s))
		return 0;
	unit->skeleton = malloc(sizeof(s));
	if (!unit->skeleton)
		return -ENOMEM;
	*unit->skeleton = s;
	if (*last && s.addr_base > (*last)->addr_base)
		(*last)->addr_end = s.addr_base;
	if (*last && s.ranges_base > (*last)->ranges_base)
		(*last)->ranges_end = s.ranges_base;
	*last = unit->skeleton;
	return 0;
}

/* Adds the addresses of a unit. */
static int add_unit_ranges(struct inlines *m, struct inline_unit *unit, struct painted_ranges *ranges)
{
	size_t before = ranges->n;
	struct debug_entry root;
	uint64_t next;
	int err = debug_entry_start(unit->entries, unit->entries->first, &root);

	if (err == 0)
		err = debug_entry_attributes(&root, &next);
	if (err == 0)
		err = inline_walk_ranges(&m->walk, &root, (uint32_t)(m->units.n - 1), ranges);
	unit->without_addresses = ranges->n == before;
	return err == -EBADMSG ? 0 : err;
}

static int list_units(struct inlines *m)
{
	scoped(ranges_done) struct painted_ranges ranges = { 0 };
	struct split_skeleton *skeleton = NULL;
	int err = debug_data_list_units(&m->debug);

	for (size_t i = 0; i < m->debug.units.n && err == 0; i++) {
		struct debug_unit *u = &m->debug.units.v[i];
		struct inline_unit *unit;

		if (u->tag != TAG_COMPILE_UNIT && u->tag != TAG_SKELETON_UNIT)
			continue;
		unit = vec_add(&m->units);
		if (!unit)
			return -ENOMEM;
		unit->entries = u;
		if (note_skeleton(unit, &skeleton) < 0)
			return -ENOMEM;
		err = add_unit_ranges(m, unit, &ranges);
	}
	if (!skeleton)
		split_units_forget(&m->split);
	err = without_limit(err);
	return err < 0 ? err : painted_table_fill(&m->table, &ranges);
}

static int open_entries(struct inlines *m, struct elf *file, bool close_file)
{
	int err = file->type == ELF_ET_REL ? -ENODATA : 0;	/* its addresses are not relocated yet */

	if (err == 0)
		err = split_units_init(&m->split, file, m->opts.symfs);
	if (err == 0)
		err = code_sections_list(&m->walk.code, file);
	if (err < 0)
		return err;
	err = debug_data_open(&m->debug, file, close_file);
	if (err < 0)
		return err;
	m->walk.bytes_left = WALK_BYTES_MIN + WALKS_MAX * (uint64_t)m->debug.sections[DEBUG_INFO].n;
	return list_units(m);
}

int inlines_open(struct inlines **out, struct elf *file, const struct inlines_opts *opts, bool close_file)
{
	struct inlines *m = calloc(1, sizeof(*m));
	int err = -ENOMEM;

	if (m) {
		m->opts = *opts;
		m->debug.file.fd = -1;
		err = open_entries(m, file, close_file);
	}
	elf_close(file);
	*file = (struct elf){ .fd = -1 };
	if (err < 0) {
		inlines_free(m);
		return err;
	}
	*out = m;
	return 0;
}

static void unit_done(struct inline_unit *u, size_t n_functions)
{
	for (size_t i = 0; i < n_functions; i++) {
		vec_done(&u->functions[i].table);
		vec_done(&u->functions[i].calls);
	}
	free(take(u->functions));
	vec_done(&u->table);
	u->n_functions = 0;
}

static void lines_free(struct dwarf_lines *lines)
{
	if (lines)
		dwarf_lines_done(lines);
	free(lines);
}

static void files_free(struct line_unit *files)
{
	if (files)
		line_unit_done(files);
	free(files);
}

void inlines_free(struct inlines *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->units.n; i++) {
		unit_done(&m->units.v[i], m->units.v[i].n_functions);
		free(m->units.v[i].skeleton);
		free(m->units.v[i].paths);
		files_free(m->units.v[i].files);
		lines_free(m->units.v[i].lines);
	}
	vec_done(&m->lines);
	int_map_done(&m->lines_at);
	vec_done(&m->units);
	vec_done(&m->table);
	vec_done(&m->walk.code);
	vec_done(&m->gaps);
	arena_done(&m->text);
	split_units_done(&m->split);
	debug_data_close(&m->debug);
	free(m);
}

size_t inlines_bytes(const struct inlines *m)
{
	return sizeof(*m) + debug_data_bytes(&m->debug) + m->split.n_images + m->n_tables;
}

/* ---- units and functions ---- */

static int take_functions(struct inline_unit *u, const struct inline_functions *list)
{
	unit_done(u, u->n_functions);
	u->functions = calloc(list->n + 1, sizeof(*u->functions));
	if (!u->functions)
		return -ENOMEM;
	u->n_functions = list->n;
	for (size_t i = 0; i < list->n; i++) {
		u->functions[i].offset = list->v[i];
		u->functions[i].unit = u;
	}
	return 0;
}

static uint64_t address_bias(const struct inline_unit *u)
{
	return u->opened ? u->skeleton->low_pc : 0;
}

/* Without the split unit the skeleton is used, which may have functions, too. */
static int open_split(struct inlines *m, struct inline_unit *u)
{
	size_t before = m->split.n_images;
	int err = split_unit_open(&m->split, u->skeleton, &u->entries);

	if (err == -ENOMEM)
		return err;
	u->opened = err == 0;
	m->lacks_split |= err < 0;
	if (err < 0)
		u->entries = u->skeleton->unit;
	m->walk.bytes_left += WALKS_MAX * (uint64_t)(m->split.n_images - before);
	return 0;
}

static int read_unit(struct inlines *m, struct inline_unit *u, bool inside)
{
	scoped(ranges_done) struct painted_ranges ranges = { 0 };
	struct inline_functions list = { 0 };
	int err;

	if (u->skeleton && !u->opened && !u->read && open_split(m, u) < 0)
		return -ENOMEM;
	u->read = true;
	u->searched = inside;
	m->walk.bias = address_bias(u);
	err = without_limit(inline_walk_functions(&m->walk, u->entries, inside, &list, &ranges));
	if (err == 0)
		err = take_functions(u, &list);
	if (err == 0)
		err = painted_table_fill(&u->table, &ranges);
	m->n_tables += u->table.cap * sizeof(*u->table.v) + u->n_functions * sizeof(*u->functions);
	vec_done(&list);
	u->read = err == 0;
	return err;
}

/* Sets *out to the function at an address, or NULL. Functions inside others are searched only for addresses that no
 * function seems to cover. */
static int function_in_unit(struct inlines *m, struct inline_unit *u, uint64_t address, struct inline_function **out)
{
	uint32_t at;
	int err = 0;

	*out = NULL;
	if (!u->read)
		err = read_unit(m, u, false);
	at = painted_table_find(&u->table, address);
	if (err == 0 && at == PAINTED_NONE && !u->searched) {
		err = read_unit(m, u, true);
		at = painted_table_find(&u->table, address);
	}
	if (err == 0 && at < u->n_functions)
		*out = &u->functions[at];
	return err;
}

/* Units without addresses of their own (assembled or made by old compilers) have them in their functions. */
static int function_elsewhere(struct inlines *m, uint64_t address, struct inline_function **out)
{
	int err = 0;

	*out = NULL;
	for (size_t i = 0; i < m->units.n && err == 0 && !*out; i++)
		if (m->units.v[i].without_addresses)
			err = function_in_unit(m, &m->units.v[i], address, out);
	return err;
}

static int find_function(struct inlines *m, uint64_t address, struct inline_function **out)
{
	uint32_t unit = painted_table_find(&m->table, address);

	return unit < m->units.n ? function_in_unit(m, &m->units.v[unit], address, out) :
				   function_elsewhere(m, address, out);
}

static int read_function(struct inlines *m, struct inline_function *f)
{
	scoped(ranges_done) struct painted_ranges ranges = { 0 };
	int err;

	m->walk.bias = address_bias(f->unit);
	err = without_limit(inline_walk_calls(&m->walk, f->unit->entries, f->offset, &f->calls, &ranges));
	if (err == 0)
		err = painted_table_fill(&f->table, &ranges);
	if (err < 0) {
		vec_done(&f->calls);
		vec_done(&f->table);
		return err;
	}
	m->n_tables += f->table.cap * sizeof(*f->table.v) + f->calls.cap * sizeof(*f->calls.v);
	f->read = m->grown = true;
	return 0;
}

/* Cuts a gap to the addresses around one that are in no function of the unit. */
static void cut_gap(struct painted_range *gap, const struct inline_unit *u, uint64_t address)
{
	struct painted_range inner = painted_table_around(&u->table, address);

	gap->start = max_of(gap->start, inner.start);
	gap->end = min_of(gap->end, inner.end);
}

/* Notes the addresses around one that is in no function. */
static int note_gap(struct inlines *m, uint64_t address)
{
	struct painted_range gap = painted_table_around(&m->table, address);

	if (gap.value < m->units.n)
		cut_gap(&gap, &m->units.v[gap.value], address);
	for (size_t i = 0; i < m->units.n && gap.value == PAINTED_NONE; i++)
		if (m->units.v[i].without_addresses)
			cut_gap(&gap, &m->units.v[i], address);
	m->grown = true;
	return painted_ranges_add(&m->gaps, gap.start, gap.end, PAINTED_NONE);
}

/* ---- names and positions ---- */

static const char *raw_name(struct debug_unit *u, uint64_t offset)
{
	struct debug_entry e;
	const char *raw;
	uint64_t next;

	if (debug_entry_start(u, offset, &e) < 0 || debug_entry_attributes(&e, &next) < 0)
		return NULL;
	raw = debug_entry_text(&e, SLOT_LINKAGE_NAME);
	return raw ? raw : debug_entry_text(&e, SLOT_NAME);
}

static int name_call(struct inlines *m, struct inline_unit *u, struct inline_call *call)
{
	const char *raw = raw_name(u->entries, call->offset);

	if (raw && *raw) {
		call->name = inlines_intern(&m->opts, raw);
		if (!call->name)
			return -ENOMEM;
	}
	call->named = true;
	return 0;
}

/* The directory of the compilation; split units do not know it. */
static const char *unit_dir(const struct inline_unit *u)
{
	return u->skeleton ? u->skeleton->ref.dir : debug_text(u->entries, u->entries->dir);
}

static struct str section_text(const struct debug_section *s)
{
	return str_n((const char *)s->at, s->n);
}

static int read_files_at(struct debug_unit *u, uint64_t offset, struct line_unit *out)
{
	const struct debug_section *s = debug_data_section(u->data, DEBUG_LINE);
	struct dwarf_cursor c = { .at = s->at, .end = s->at ? s->at + s->n : NULL, .swap = u->data->file.swap };

	if (!s->n || !dwarf_bytes(&c, offset))
		return debug_data_failed(u->data) ? -ENOMEM : -ENODATA;
	return line_unit_read(out, &c, &(struct line_texts){ section_text(debug_data_section(u->data, DEBUG_STR)),
							     section_text(debug_data_section(u->data, DEBUG_LINE_STR)) });
}

/* Reads the list of files. That of a split unit of DWARF 5 is at the start of its section, or else in the skeleton. */
static int read_files(struct inline_unit *u)
{
	struct debug_unit *own = u->entries, *of = u->opened ? u->skeleton->unit : NULL;
	bool at_start = own->type == UNIT_SPLIT_COMPILE && !own->line_table.form;
	uint64_t offset = 0;
	int err = -ENODATA;

	u->files = calloc(1, sizeof(*u->files));
	if (!u->files)
		return -ENOMEM;
	if (at_start || debug_number(own->line_table, &offset))
		err = read_files_at(own, offset, u->files);
	if (err < 0 && err != -ENOMEM && of && debug_number(of->line_table, &offset)) {
		line_unit_done(u->files);
		*u->files = (struct line_unit){ 0 };
		err = read_files_at(of, offset, u->files);
	}
	if (err < 0) {
		files_free(u->files);
		u->files = NULL;
	}
	return err == -ENOMEM ? err : 0;
}

/* The name with the directory that it is relative to, as text that can be printed. NULL without memory. */
static const char *file_path(struct inlines *m, const struct inline_unit *u, const struct line_file *f)
{
	scoped(buf_done) struct buf name = { 0 }, path = { 0 };
	const char *dir;

	line_unit_path(u->files, f, &name);
	if (buf_failed(&name))
		return NULL;
	dir = name.n && name.bytes[0] == '/' ? NULL : unit_dir(u);
	if (dir)
		buf_printf(&path, "%s/", dir);
	buf_str(&path, buf_view(&name));
	return buf_failed(&path) ? NULL : arena_text(&m->text, buf_view(&path));
}

/* Sets *out to the path of one of the unit's files; NULL: not known. Before DWARF 5 the first file has the number 1. */
static int file_of_unit(struct inlines *m, struct inline_unit *u, uint64_t number, const char **out)
{
	size_t at;

	*out = NULL;
	if (!u->files_read && read_files(u) < 0)
		return -ENOMEM;
	u->files_read = true;
	at = u->files ? (size_t)(u->files->version >= 5 ? number : number - 1) : 0;
	if (!u->files || at >= u->files->files.n || !u->files->files.v[at].name.n)
		return 0;
	if (!u->paths)
		u->paths = calloc(u->files->files.n, sizeof(*u->paths));
	if (u->paths && !u->paths[at])
		u->paths[at] = file_path(m, u, &u->files->files.v[at]);
	*out = u->paths ? u->paths[at] : NULL;
	return *out ? 0 : -ENOMEM;
}

static int place_call(struct inlines *m, struct inline_unit *u, struct inline_call *call)
{
	uint64_t line = 0, number = 0, next;
	const char *file = NULL;
	struct debug_entry e;
	int err = 0;

	if (debug_entry_start(u->entries, call->offset, &e) == 0 && debug_entry_attributes(&e, &next) == 0) {
		debug_number(e.v[SLOT_CALL_LINE], &line);
		debug_number(e.v[SLOT_CALL_FILE], &number);
	}
	if (line && line < UINT32_MAX)
		err = file_of_unit(m, u, number, &file);
	if (err < 0)
		return err;
	call->file = file;
	call->line = file ? (uint32_t)line : 0;
	call->placed = true;
	return 0;
}

static int describe_call(struct inlines *m, struct inline_unit *u, struct inline_call *call, bool with_calls,
			 struct inlined_function *out)
{
	int err = call->named ? 0 : name_call(m, u, call);

	if (err == 0 && with_calls && !call->placed) {
		err = place_call(m, u, call);
		m->grown = true;
	}
	*out = (struct inlined_function){ call->name, with_calls ? call->file : NULL, with_calls ? call->line : 0 };
	return err;
}

/* Whether something was left out for want of memory. */
static bool has_failed(const struct inlines *m)
{
	bool failed = debug_data_failed(&m->debug);

	for (size_t i = 0; i < m->split.images.n && !failed; i++)
		failed = debug_data_failed(m->split.images.v[i]);
	return failed;
}

int inlines_find(struct inlines *m, uint64_t address, bool with_calls, struct inlined_function out[INLINE_DEPTH_MAX])
{
	struct inline_function *f;
	int err = find_function(m, address, &f), n = 0;
	uint32_t at;

	if (err < 0)
		return err;
	if (!f)
		return has_failed(m) ? -ENOMEM : note_gap(m, address);
	if (!f->read)
		err = read_function(m, f);
	if (err < 0)
		return err;
	for (at = painted_table_find(&f->table, address); at < f->calls.n && n < (int)INLINE_DEPTH_MAX; n++) {
		err = describe_call(m, f->unit, &f->calls.v[at], with_calls, &out[n]);
		if (err < 0)
			return err;
		at = f->calls.v[at].outer;
	}
	return has_failed(m) ? -ENOMEM : n;
}

/* ---- source lines ---- */

/* The table of a split unit is that of its skeleton. */
static int read_lines(struct inlines *m, struct inline_unit *u)
{
	struct debug_unit *of = u->skeleton ? u->skeleton->unit : u->entries;
	const struct debug_section *s = debug_data_section(of->data, DEBUG_LINE);
	struct dwarf_cursor at = { .at = s->at, .end = s->at ? s->at + s->n : NULL, .swap = of->data->file.swap };
	uint64_t offset;
	int err = 0;

	u->lines = calloc(1, sizeof(*u->lines));
	if (!u->lines)
		return -ENOMEM;
	if (s->n && debug_number(of->line_table, &offset) && dwarf_bytes(&at, offset))
		err = dwarf_lines_read_unit(u->lines, at, &(struct line_texts){
				section_text(debug_data_section(of->data, DEBUG_STR)),
				section_text(debug_data_section(of->data, DEBUG_LINE_STR)) }, &m->walk.code);
	m->n_tables += u->lines->rows.cap * sizeof(*u->lines->rows.v);
	if (err < 0) {
		lines_free(u->lines);
		u->lines = NULL;
	}
	return err;
}

/* Cuts the addresses without line to those that are in no sequence of the unit. */
static void cut_to_sequences(struct line_found *out, const struct dwarf_lines *l, uint64_t address)
{
	for (size_t i = 0; i < l->sequences.n; i++) {
		const struct line_sequence *s = &l->sequences.v[i];

		if (s->end <= address)
			out->start = max_of(out->start, s->end);
		else if (s->start > address)
			out->end = min_of(out->end, s->start);
	}
}

/* Returns 1 if the unit has a row for the address; or cuts *out and returns 0. */
static int line_in_unit(struct inlines *m, struct inline_unit *u, uint64_t address, struct line_found *out)
{
	struct line_found row;

	if (!u->lines && read_lines(m, u) < 0)
		return -ENOMEM;
	if (!dwarf_lines_find_row(u->lines, address, &row)) {
		cut_to_sequences(out, u->lines, address);
		return 0;
	}
	if (!row.line)
		row.file = NULL;
	*out = row;
	return 1;
}

static int note_line(struct inlines *m, const struct line_found *found)
{
	struct line_found *slot;
	uint32_t at;

	if (int_map_get(&m->lines_at, found->start, &at))
		return 0;
	slot = vec_next(&m->lines);
	if (!slot)
		return -ENOMEM;
	*slot = *found;
	m->grown = true;
	return int_map_put(&m->lines_at, found->start, (uint32_t)(m->lines.n - 1));
}

int inlines_find_line(struct inlines *m, uint64_t address, struct line_found *out)
{
	struct painted_range around = painted_table_around(&m->table, address);
	int got = 0;

	*out = (struct line_found){ .start = around.start, .end = around.end };
	if (around.value < m->units.n)
		got = line_in_unit(m, &m->units.v[around.value], address, out);
	for (size_t i = 0; i < m->units.n && got == 0; i++)
		if (m->units.v[i].without_addresses)
			got = line_in_unit(m, &m->units.v[i], address, out);
	if (got >= 0 && has_failed(m))
		got = -ENOMEM;
	return got < 0 || note_line(m, out) < 0 ? -ENOMEM : 1;
}

/* ---- for the cache ---- */

size_t inlines_n_lines(const struct inlines *m)
{
	return m->lines.n;
}

const struct line_found *inlines_line(const struct inlines *m, size_t i)
{
	return &m->lines.v[i];
}

uint32_t inlines_intern(const struct inlines_opts *opts, const char *raw)
{
	scoped(buf_done) struct buf text = { 0 };

	if (opts->no_demangle || !demangle(raw, !opts->short_names, &text))
		buf_puts(&text, raw);
	return buf_failed(&text) ? 0 : names_add(opts->names, buf_view(&text));
}

bool inlines_has_more(const struct inlines *m)
{
	return m->grown && !m->debug.lacks_alt && !m->lacks_split && !has_failed(m);
}

/* Adds the rows of a function's table that lie in a range of its addresses. */
static int clip_calls(const struct painted_table *t, struct painted_range in, struct painted_ranges *out)
{
	int err = painted_ranges_add(out, in.start, in.end, PAINTED_NONE);

	for (uint64_t at = in.start; at < in.end && err == 0;) {
		struct painted_range row = painted_table_around(t, at);

		if (row.value != PAINTED_NONE)
			err = painted_ranges_add(out, at, min_of(row.end, in.end), row.value);
		at = row.end;
	}
	return err;
}

static int function_ranges(const struct inline_unit *u, uint32_t function, struct painted_ranges *out)
{
	int err = 0;

	for (size_t i = 0; i + 1 < u->table.n && err == 0; i++)
		if (u->table.v[i].value == function)
			err = clip_calls(&u->functions[function].table,
					 (struct painted_range){ u->table.v[i].start, u->table.v[i + 1].start, 0 }, out);
	return err;
}

static struct inline_export_call *export_calls(struct inline_function *f)
{
	struct inline_export_call *v = calloc(f->calls.n + 1, sizeof(*v));

	for (size_t i = 0; v && i < f->calls.n; i++) {
		struct inline_call *c = &f->calls.v[i];

		v[i] = (struct inline_export_call){ c->outer, raw_name(f->unit->entries, c->offset), c->file, c->line,
						    c->placed };
	}
	return v;
}

static int export_function(struct inline_unit *u, uint32_t function,
			   int (*fn)(void *arg, const struct inline_export *f), void *arg)
{
	scoped(freep) struct inline_export_call *calls = export_calls(&u->functions[function]);
	scoped(ranges_done) struct painted_ranges ranges = { 0 };
	int err = calls ? function_ranges(u, function, &ranges) : -ENOMEM;
	const struct inline_export f = { calls, u->functions[function].calls.n, ranges.v, ranges.n };

	return err < 0 ? err : fn(arg, &f);
}

int inlines_export(struct inlines *m, int (*fn)(void *arg, const struct inline_export *f), void *arg)
{
	const struct inline_export gaps = { .ranges = m->gaps.v, .n_ranges = m->gaps.n };
	int err = fn(arg, &gaps);

	for (size_t i = 0; i < m->units.n && err == 0; i++)
		for (uint32_t k = 0; k < m->units.v[i].n_functions && err == 0; k++)
			if (m->units.v[i].functions[k].read)
				err = export_function(&m->units.v[i], k, fn, arg);
	return err;
}
