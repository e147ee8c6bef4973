/*
 * A .dwo file is searched below SYMFS, at its path, and beside the program. A package is searched beside the program.
 *
 * A package has the sections of all units one after the other. Its index maps the id of a unit to a row of offsets and
 * sizes, a column for each kind of section:
 *
 *	version | columns | units | slots | slots x id | slots x row | kinds | units x columns offsets | ... sizes
 *
 * Strings are the exception: all units share one section, which may have hundreds of MB. Of .dwo files and packages alike, only
 * the strings that a unit refers to are copied, and its table of offsets is rewritten.
 */
#include "symbol/debug/split_files.h"

#include "symbol/debug/elf_image.h"
#include "symbol/dwarf_cursor.h"
#include "symbol/elf_section_data.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define SHF_COMPRESSED 0x800u
#define COLUMNS_MAX 16u
#define STRINGS_MAX (256u << 20)	/* of one unit */

static const char *const section_names[SPLIT_SECTIONS] = {
	[SPLIT_INFO] = ".debug_info.dwo", [SPLIT_ABBREV] = ".debug_abbrev.dwo", [SPLIT_LINE] = ".debug_line.dwo",
	[SPLIT_STR_OFFSETS] = ".debug_str_offsets.dwo", [SPLIT_RNGLISTS] = ".debug_rnglists.dwo", [SPLIT_STR] = ".debug_str.dwo",
};

int split_files_init(struct split_files *f, const struct elf *file, const char *symfs)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	*f = (struct split_files){ .symfs = symfs, .package = { .fd = -1 } };
	if (file->fd < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	f->path = strdup(path);
	return f->path ? 0 : -ENOMEM;
}

void split_files_done(struct split_files *f)
{
	for (size_t i = 0; i < SPLIT_SECTIONS; i++)
		buf_done(&f->unpacked[i]);
	buf_done(&f->index);
	elf_close(&f->package);
	free(take(f->path));
}

void split_sections_done(struct split_sections *s)
{
	for (size_t i = 0; i < SPLIT_SECTIONS; i++)
		buf_done(&s->v[i]);
	*s = (struct split_sections){ 0 };
}

/* ---- strings ---- */

/* Copies the strings that a table of offsets refers to, and changes the table. */
static int pick_strings(struct buf *offsets, size_t header, const struct buf *strings, bool swap, struct buf *out)
{
	buf_putc(out, '\0');
	for (size_t at = header; at + 4 <= offsets->n; at += 4) {
		uint8_t *slot = (uint8_t *)offsets->bytes + at;
		uint64_t offset = elf_uint(swap, slot, 4);
		const char *text = offset < strings->n ? strings->bytes + offset : "";
		size_t n = offset < strings->n ? strnlen(text, strings->n - offset) : 0;

		elf_put_uint(slot, swap, n ? out->n : 0, 4);
		if (n) {
			buf_put(out, text, n);
			buf_putc(out, '\0');
		}
		if (out->n > STRINGS_MAX)
			return -EFBIG;
	}
	return buf_failed(out) ? -ENOMEM : 0;
}

static int take_strings(struct split_sections *s, const struct buf *strings, unsigned version, bool swap)
{
	struct buf *offsets = &s->v[SPLIT_STR_OFFSETS];

	if (version >= 5 && offsets->n >= 4 && elf_uint(swap, (const uint8_t *)offsets->bytes, 4) == UINT32_MAX)
		return -EOPNOTSUPP;
	return pick_strings(offsets, version >= 5 ? 8 : 0, strings, swap, &s->v[SPLIT_STR]);
}

/* ---- .dwo files ---- */

static int read_section(const struct elf *e, enum split_section which, struct buf *out)
{
	const struct elf_section *s = elf_find_debug(e, section_names[which]);

	return s ? elf_read_section_data(e, s, out) : 0;
}

static int read_file(const struct elf *e, const struct split_ref *ref, struct split_sections *out)
{
	struct buf strings = { 0 };
	int err = elf_find_debug(e, section_names[SPLIT_INFO]) ? 0 : -ENOENT;

	for (unsigned i = 0; i < SPLIT_STR && err == 0; i++)
		err = read_section(e, i, &out->v[i]);
	if (err == 0)
		err = read_section(e, SPLIT_STR, &strings);
	if (err == 0)
		err = take_strings(out, &strings, ref->version, e->swap);
	buf_done(&strings);
	return err;
}

/* Takes ownership of `path`, which is NULL if it could not be allocated. */
static int try_file(char *path, const struct split_ref *ref, struct split_sections *out)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	scoped(freep) char *owned = path;
	int err = owned ? elf_open(&e, owned) : -ENOMEM;

	if (err == 0)
		err = read_file(&e, ref, out);
	if (err < 0)
		split_sections_done(out);
	return err;
}

static char *path_of(const char *root, const char *dir, const char *name)
{
	struct buf text = { 0 };

	buf_puts(&text, root);
	if (name[0] != '/')
		buf_printf(&text, "%s/", dir ? dir : "");
	buf_puts(&text, name);
	return buf_take(&text);
}

static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *last = strrchr(name, '/');
	struct buf text = { 0 };

	buf_printf(&text, "%.*s/%s", slash ? (int)(slash - path) : 0, path, last ? last + 1 : name);
	return buf_take(&text);
}

static int read_dwo(const struct split_files *f, const struct split_ref *ref, struct split_sections *out)
{
	bool has_path = ref->name[0] == '/' || ref->dir;
	int err = -ENOENT;

	if (f->symfs && has_path)
		err = try_file(path_of(f->symfs, ref->dir, ref->name), ref, out);
	if (err < 0 && err != -ENOMEM && has_path)
		err = try_file(path_of("", ref->dir, ref->name), ref, out);
	if (err < 0 && err != -ENOMEM && f->path)
		err = try_file(beside(f->path, ref->name), ref, out);
	return err;
}

/* ---- packages ---- */

/* What is compressed is decompressed once; the rest is read slice by slice. */
static int unpack(struct split_files *f)
{
	int err = 0;

	for (unsigned i = 0; i < SPLIT_SECTIONS && err == 0; i++) {
		const struct elf_section *s = elf_find_debug(&f->package, section_names[i]);

		if (s && (i == SPLIT_STR || s->flags & SHF_COMPRESSED || elf_section_name(&f->package, s)[1] == 'z'))
			err = elf_read_section_data(&f->package, s, &f->unpacked[i]);
	}
	return err;
}

/* The package of prog is prog.dwp, that of its debug file xx.debug is xx.dwp or xx.debug.dwp. */
static int open_beside(struct split_files *f)
{
	scoped(buf_done) struct buf path = { 0 };
	struct str plain = str_of(f->path), debug = STR_LIT(".debug");
	int err;

	buf_printf(&path, "%s.dwp", f->path);
	err = buf_failed(&path) ? -ENOMEM : elf_open(&f->package, path.bytes);
	if (err == 0 || err == -ENOMEM || !str_ends(plain, debug.s))
		return err;
	buf_clear(&path);
	buf_printf(&path, "%.*s.dwp", (int)(plain.n - debug.n), plain.s);
	return buf_failed(&path) ? -ENOMEM : elf_open(&f->package, path.bytes);
}

static int open_package(struct split_files *f)
{
	const struct elf_section *index;
	int err;

	f->package_tried = true;
	if (!f->path)
		return 0;
	err = open_beside(f);
	index = err == 0 ? elf_find_debug(&f->package, ".debug_cu_index") : NULL;
	if (index)
		err = elf_read_section_data(&f->package, index, &f->index);
	if (index && err == 0)
		err = unpack(f);
	f->has_package = index && err == 0;
	return err == -ENOMEM ? err : 0;
}

struct package_index {
	bool swap;
	uint32_t version, columns, units, slots;
	const uint8_t *ids, *rows, *kinds, *offsets, *sizes;
};

static bool index_parse(struct package_index *x, const struct buf *bytes, bool swap)
{
	struct dwarf_cursor c = { .at = (const uint8_t *)bytes->bytes, .end = (const uint8_t *)bytes->bytes + bytes->n,
				  .swap = swap };
	uint64_t table;

	*x = (struct package_index){ .swap = swap, .version = (uint32_t)dwarf_uint(&c, 4) };
	if (x->version != 2)		/* version 5 has two bytes for it, and two unused ones */
		x->version = bytes->n >= 2 ? (uint32_t)elf_uint(swap, (const uint8_t *)bytes->bytes, 2) : 0;
	x->columns = (uint32_t)dwarf_uint(&c, 4);
	x->units = (uint32_t)dwarf_uint(&c, 4);
	x->slots = (uint32_t)dwarf_uint(&c, 4);
	if (c.bad || (x->version != 2 && x->version != 5) || !x->columns || x->columns > COLUMNS_MAX || !x->slots ||
	    (x->slots & (x->slots - 1)))
		return false;
	table = 4ull * x->columns * x->units;
	x->ids = dwarf_bytes(&c, 8ull * x->slots);
	x->rows = dwarf_bytes(&c, 4ull * x->slots);
	x->kinds = dwarf_bytes(&c, 4ull * x->columns);
	x->offsets = dwarf_bytes(&c, table);
	x->sizes = dwarf_bytes(&c, table);
	return !c.bad;
}

static bool index_find(const struct package_index *x, uint64_t id, uint32_t *row)
{
	uint32_t mask = x->slots - 1, at = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < x->slots; i++, at = (at + step) & mask) {
		uint64_t found = elf_uint(x->swap, x->rows + 4ull * at, 4);

		if (found && found <= x->units && elf_uint(x->swap, x->ids + 8ull * at, 8) == id) {
			*row = (uint32_t)found - 1;
			return true;
		}
		if (!found)
			return false;
	}
	return false;
}

/* The kinds of sections; both versions agree on the first. SPLIT_STR: another. */
static enum split_section section_of(uint32_t version, uint64_t kind)
{
	switch (kind) {
	case 1:
		return SPLIT_INFO;
	case 3:
		return SPLIT_ABBREV;
	case 4:
		return SPLIT_LINE;
	case 6:
		return SPLIT_STR_OFFSETS;
	case 8:
		return version == 5 ? SPLIT_RNGLISTS : SPLIT_STR;
	default:
		return SPLIT_STR;
	}
}

static int read_slice(const struct split_files *f, enum split_section which, uint64_t offset, uint64_t size, struct buf *out)
{
	const struct elf_section *s = elf_find_debug(&f->package, section_names[which]);
	const struct buf *whole = &f->unpacked[which];
	uint64_t n = whole->n ? whole->n : s ? s->size : 0;

	if (!s || offset > n || size > n - offset)
		return -EBADMSG;
	if (!whole->n)
		return elf_read(&f->package, s->offset + offset, size, out);
	buf_put(out, whole->bytes + offset, size);
	return buf_failed(out) ? -ENOMEM : 0;
}

static int read_packed(struct split_files *f, const struct split_ref *ref, struct split_sections *out)
{
	struct package_index x;
	uint32_t row;
	int err = f->package_tried ? 0 : open_package(f);

	if (err < 0 || !f->has_package)
		return err < 0 ? err : -ENOENT;
	if (!index_parse(&x, &f->index, f->package.swap) || !index_find(&x, ref->id, &row))
		return -ENOENT;
	for (uint32_t i = 0; i < x.columns && err == 0; i++) {
		enum split_section which = section_of(x.version, elf_uint(x.swap, x.kinds + 4ull * i, 4));
		size_t at = 4 * ((size_t)row * x.columns + i);

		if (which != SPLIT_STR && !out->v[which].n)
			err = read_slice(f, which, elf_uint(x.swap, x.offsets + at, 4), elf_uint(x.swap, x.sizes + at, 4),
					 &out->v[which]);
	}
	return err < 0 ? err : take_strings(out, &f->unpacked[SPLIT_STR], ref->version, f->package.swap);
}

int split_files_read(struct split_files *f, const struct split_ref *ref, struct split_sections *out)
{
	int err = read_packed(f, ref, out);

	if (err < 0 && err != -ENOMEM) {
		split_sections_done(out);
		err = read_dwo(f, ref, out);
	}
	return err;
}
