/*
 * The inlined functions of an object, from its own file or its debug file: first from the cache, and from the debug data, which
 * are opened when an address is not in it. The file stays open meanwhile, so that it is the one whose build ID was checked.
 */
#include "symbol/dwarf_image.h"
#include "symbol/dwarf_line.h"
#include "symbol/elf_section_data.h"
#include "symbol/embed/embedded.h"
#include "symbol/inline_cache.h"
#include "symbol/inlines.h"
#include "symbol/object_files.h"
#include "symbol/objects.h"

#include <errno.h>

/* A live session keeps debug data in memory. This limits an object's, decompressed; objects_evict() limits their sum. */
#define LIVE_DEBUG_MAX ((uint64_t)8 << 20)
#define CACHED_DEBUG_MIN ((uint64_t)32 << 10)	/* smaller debug data are read as fast as the cache */
#define KEPT_FD_MAX 512				/* leaves file descriptors for others */

struct object_inlines {
	struct elf file;			/* until the debug data are opened */
	bool opened;
	struct inlines *debug;			/* NULL: not opened, or not readable */
	struct inline_cache cache;
	uint32_t *names;			/* per record of the cache: its interned name; 0: not yet */
	struct inlines_opts opts;
};

void object_drop_inlines(struct object *obj)
{
	struct object_inlines *o = obj->inlines;

	obj->inlines = NULL;
	obj->inlines_read = false;
	if (!o)
		return;
	if (o->debug && o->cache.usable && inlines_has_more(o->debug))
		inline_cache_update(&o->cache, o->debug);
	inlines_free(o->debug);
	inline_cache_done(&o->cache);
	elf_close(&o->file);
	free(o->names);
	free(o);
}

size_t object_inlines_bytes(const struct object *obj)
{
	return obj->inlines && obj->inlines->debug ? inlines_bytes(obj->inlines->debug) : 0;
}

static int open_debug(struct object_inlines *o)
{
	int err = inlines_open(&o->debug, &o->file, &o->opts, o->file.fd > KEPT_FD_MAX);

	o->opened = true;
	return err == -ENOMEM ? err : 0;
}

static void open_cache(struct object_inlines *o, uint64_t n_debug)
{
	if (n_debug >= CACHED_DEBUG_MIN)
		inline_cache_open(&o->cache, &o->file);
}

/* Takes the file from the caller. */
static int take_file(struct object *obj, struct elf *file, const struct symbol_search *search, struct interned_names *names)
{
	const struct elf_section *s = elf_find_debug(file, ".debug_info");
	struct object_inlines *o;

	if (!s || (search->live && dwarf_image_size(file, DWARF_IMAGE_FUNCTIONS) > LIVE_DEBUG_MAX))
		return -ENODATA;
	o = obj->inlines = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->opts = (struct inlines_opts){ .names = names, .no_demangle = search->no_demangle,
					 .short_names = search->short_names, .symfs = search->symfs };
	o->file = *file;
	*file = (struct elf){ .fd = -1 };
	if (!search->live)
		open_cache(o, s->size);
	return o->file.fd > KEPT_FD_MAX ? open_debug(o) : 0;
}

static int inlines_of_file(struct object *obj, const struct symbol_search *search, struct interned_names *names)
{
	scoped(elf_close) struct elf own = { .fd = -1 }, debug = { .fd = -1 };
	int have_own = files_open_object(&own, obj, search), err;

	if (have_own == -ENOMEM)
		return have_own;
	if (have_own == 0 && elf_find_debug(&own, ".debug_info"))
		return take_file(obj, &own, search, names);
	err = files_open_debug(&debug, obj, have_own == 0 ? &own : NULL, search);
	return err < 0 ? err : take_file(obj, &debug, search, names);
}

static int inlines_of_kernel(struct object *obj, const char *vmlinux, const struct symbol_search *search,
			     struct interned_names *names)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = vmlinux ? elf_open(&e, vmlinux) : -ENOENT;

	return err < 0 ? err : take_file(obj, &e, search, names);
}

static int read_inlines(struct object *obj, const struct inlines_search *in)
{
	int err = 0;

	if (obj->kind == OBJECT_FILE)	/* module files have unrelocated addresses */
		err = inlines_of_file(obj, in->search, in->names);
	else if (obj->kind == OBJECT_KERNEL)
		err = inlines_of_kernel(obj, in->vmlinux, in->search, in->names);
	obj->inlines_read = err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

/* ---- lookups ---- */

static int name_of_record(struct object_inlines *o, uint32_t at, uint32_t *out)
{
	const struct inline_cache *c = &o->cache;

	*out = 0;
	if (!c->records.v[at].name)
		return 0;
	if (!o->names)
		o->names = calloc(c->records.n, sizeof(*o->names));
	if (o->names && !o->names[at])
		o->names[at] = inlines_intern(&o->opts, c->strings.bytes + c->records.v[at].name);
	*out = o->names ? o->names[at] : 0;
	return *out ? 0 : -ENOMEM;
}

/* Like inlines_find(). -EAGAIN: the positions of calls are not cached. */
static int find_cached(struct object_inlines *o, uint32_t at, bool with_calls, struct inlined_function *out)
{
	const struct inline_cache *c = &o->cache;
	int n = 0;

	for (; at < c->records.n && n < (int)INLINE_DEPTH_MAX; at = c->records.v[at].outer, n++) {
		const struct inline_record *r = &c->records.v[at];

		if (with_calls && r->line == INLINE_LINE_NOT_READ)
			return -EAGAIN;
		out[n] = (struct inlined_function){ 0 };
		if (name_of_record(o, at, &out[n].name) < 0)
			return -ENOMEM;
		if (with_calls && r->file) {
			out[n].call_file = c->strings.bytes + r->file;
			out[n].call_line = r->line;
		}
	}
	return n;
}

static int find_embedded(const struct object *obj, const struct inlines_search *in, uint64_t address,
			 struct inlined_function *out)
{
	const struct inlines_opts opts = { .names = in->names, .no_demangle = in->search->no_demangle,
					   .short_names = in->search->short_names };

	return obj->embedded ? embedded_find_inlines(in->search->embedded, obj->embedded, address, &opts, out) : 0;
}

int object_find_inlines(struct object *obj, const struct inlines_search *in, uint64_t address, bool with_calls,
			struct inlined_function *out)
{
	struct object_inlines *o;
	uint32_t at;
	int n;

	if (!obj->inlines_read && read_inlines(obj, in) < 0)
		return -ENOMEM;
	o = obj->inlines;
	if (!o)
		return find_embedded(obj, in, address, out);
	at = inline_cache_find(&o->cache, address);
	n = at == PAINTED_NONE ? -EAGAIN : find_cached(o, at, with_calls, out);
	if (n != -EAGAIN)
		return n;
	if (!o->opened && open_debug(o) < 0)
		return -ENOMEM;
	return o->debug ? inlines_find(o->debug, address, with_calls, out) : 0;
}

/* ---- source lines ---- */

/* Like object_find_line(). -EAGAIN: the debug data do not know, so the line tables of the whole object are searched. */
static int find_line(struct object_inlines *o, uint64_t address, const char **file, uint32_t *line)
{
	uint32_t at = inline_cache_find_line(&o->cache, address);
	struct line_found found;
	int err;

	if (at < o->cache.records.n) {
		*file = o->cache.strings.bytes + o->cache.records.v[at].file;
		*line = o->cache.records.v[at].line;
	}
	if (at != PAINTED_NONE)
		return at < o->cache.records.n;
	if (!o->opened && open_debug(o) < 0)
		return -ENOMEM;
	if (!o->debug)
		return -EAGAIN;
	err = inlines_find_line(o->debug, address, &found);
	if (err < 0)
		return err;
	*file = found.file;
	*line = found.line;
	return found.file != NULL;
}

int object_find_line(struct object *obj, const struct inlines_search *in, uint64_t address, const char **file, uint32_t *line)
{
	int got = -EAGAIN;

	if (!obj->inlines_read && read_inlines(obj, in) < 0)
		return -ENOMEM;
	if (obj->inlines)
		got = find_line(obj->inlines, address, file, line);
	if (got != -EAGAIN)
		return got;
	if (!obj->lines_read && object_read_lines(obj, in->search, in->vmlinux) < 0)
		return -ENOMEM;
	return obj->lines && dwarf_lines_find(obj->lines, address, file, line);
}
