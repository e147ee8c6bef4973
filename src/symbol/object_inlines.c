/*
 * Opens the inlined functions of an object, from its own file or its debug file, when the first address is asked for.
 */
#include "symbol/inlines.h"
#include "symbol/object_files.h"
#include "symbol/objects.h"

#include "symbol/elf_section_data.h"

#include <errno.h>

/* A live session keeps debug data in memory while the object is in use; the agent has a limit of some ten MB. */
#define LIVE_DEBUG_MAX ((uint64_t)32 << 20)

static bool is_too_large(const struct elf *e, const struct symbol_search *search)
{
	const struct elf_section *s = elf_find_debug(e, ".debug_info");

	return search->live && s && s->size > LIVE_DEBUG_MAX;
}

static int open_inlines(struct object *obj, const struct elf *e, const struct symbol_search *search,
			struct interned_names *names)
{
	const struct inlines_opts opts = { .names = names, .no_demangle = search->no_demangle,
					   .short_names = search->short_names };

	return is_too_large(e, search) ? -EFBIG : inlines_open(&obj->inlines, e, &opts);
}

static int inlines_of_file(struct object *obj, const struct symbol_search *search, struct interned_names *names)
{
	scoped(elf_close) struct elf own = { .fd = -1 }, debug = { .fd = -1 };
	int have_own = files_open_object(&own, obj, search), err;

	if (have_own == -ENOMEM)
		return have_own;
	if (have_own == 0 && elf_find_debug(&own, ".debug_info"))
		return open_inlines(obj, &own, search, names);
	err = files_open_debug(&debug, obj, have_own == 0 ? &own : NULL, search);
	return err < 0 ? err : open_inlines(obj, &debug, search, names);
}

static int inlines_of_kernel(struct object *obj, const char *vmlinux, const struct symbol_search *search,
			     struct interned_names *names)
{
	scoped(elf_close) struct elf e = { .fd = -1 };
	int err = vmlinux ? elf_open(&e, vmlinux) : -ENOENT;

	return err < 0 ? err : open_inlines(obj, &e, search, names);
}

int object_read_inlines(struct object *obj, const struct symbol_search *search, const char *vmlinux,
			struct interned_names *names)
{
	int err = 0;

	if (obj->kind == OBJECT_FILE)	/* module files have unrelocated addresses */
		err = inlines_of_file(obj, search, names);
	else if (obj->kind == OBJECT_KERNEL)
		err = inlines_of_kernel(obj, vmlinux, search, names);
	obj->inlines_read = err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}
