/*
 * Loads libdw and opens debug data in it. libelf, which libdw depends on, is found through the same handle.
 */
#include "symbol/libdw.h"

#include "symbol/debug_alt.h"
#include "symbol/dwarf_image.h"
#include "symbol/libdw_functions.h"

#include <errno.h>
#include <pthread.h>

#include "base/shared_library.h"

static pthread_once_t loaded_once = PTHREAD_ONCE_INIT;
static struct libdw functions;
static bool is_loaded;

static void load(void)
{
	static const struct { const char *name; size_t offset; } rows[] = {
#define ROW(name) { #name, offsetof(struct libdw, name) },
		LIBDW_FUNCTIONS(ROW)
#undef ROW
	};
	void *library = shared_library_open("libdw.so.1");

	if (!library)
		return;
	for (size_t i = 0; i < countof(rows); i++) {
		void *function = shared_library_find(library, rows[i].name);

		if (!function) {
			shared_library_close(library);
			return;
		}
		memcpy((char *)&functions + rows[i].offset, &function, sizeof(function));
	}
	is_loaded = functions.elf_version(EV_CURRENT) != EV_NONE;
}

const struct libdw *libdw_get(void)
{
	pthread_once(&loaded_once, load);
	return is_loaded ? &functions : NULL;
}

void libdw_image_close(const struct libdw *lib, struct libdw_image *m)
{
	if (m->dwarf)
		lib->dwarf_end(m->dwarf);
	if (m->elf)
		lib->elf_end(m->elf);
	free(m->bytes);
	*m = (struct libdw_image){ 0 };
}

int libdw_image_open(const struct libdw *lib, struct libdw_image *m, struct buf *bytes)
{
	m->n = bytes->n;
	m->bytes = buf_take(bytes);
	if (!m->bytes)
		return -ENOMEM;
	m->elf = lib->elf_memory(m->bytes, m->n);
	m->dwarf = m->elf ? lib->dwarf_begin_elf(m->elf, DWARF_C_READ, NULL) : NULL;
	return m->dwarf ? 0 : -EBADMSG;
}

static int image_of_file(const struct libdw *lib, struct libdw_image *m, const struct elf *file, enum dwarf_image_use use)
{
	scoped(buf_done) struct buf bytes = { 0 };
	int err = dwarf_image_make(file, use, &bytes);

	return err < 0 ? err : libdw_image_open(lib, m, &bytes);
}

/* Without the shared data, names in it are unknown. The image has no link to it, so that libdw does not search it. */
static int open_alt(struct libdw_debug *d, const struct elf *file, enum dwarf_image_use use)
{
	scoped(elf_close) struct elf alt = { .fd = -1 };
	int err = debug_alt_open(&alt, file);

	if (err == 0)
		err = image_of_file(d->lib, &d->alt, &alt, use);
	if (err == 0)
		d->lib->dwarf_setalt(d->dwarf, d->alt.dwarf);
	else
		libdw_image_close(d->lib, &d->alt);
	d->lacks_alt = err < 0 && err != -ENODATA;
	return err == -ENOMEM ? err : 0;
}

int libdw_debug_open(struct libdw_debug *d, const struct elf *file, enum dwarf_image_use use)
{
	int err;

	*d = (struct libdw_debug){ .lib = libdw_get() };
	if (!d->lib)
		return -EOPNOTSUPP;
	err = image_of_file(d->lib, &d->own, file, use);
	d->dwarf = d->own.dwarf;
	if (err == 0)
		err = open_alt(d, file, use);
	d->n_image = d->own.n + d->alt.n;
	if (err < 0)
		libdw_debug_close(d);
	return err;
}

void libdw_debug_close(struct libdw_debug *d)
{
	libdw_image_close(d->lib, &d->own);
	libdw_image_close(d->lib, &d->alt);
	*d = (struct libdw_debug){ 0 };
}
