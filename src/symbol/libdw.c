/*
 * Loads libdw and opens debug data in it. libelf, which libdw depends on, is found through the same handle.
 */
#include "symbol/libdw.h"

#include "symbol/dwarf_image.h"
#include "symbol/libdw_functions.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

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
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	for (size_t i = 0; i < countof(rows); i++) {
		void *function = dlsym(library, rows[i].name);

		if (!function) {
			dlclose(library);
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

int libdw_debug_open(struct libdw_debug *d, const struct elf *file)
{
	struct buf image = { 0 };
	size_t n;
	int err;

	*d = (struct libdw_debug){ .lib = libdw_get() };
	if (!d->lib)
		return -EOPNOTSUPP;
	err = dwarf_image_make(file, &image);
	n = image.n;
	d->image = err < 0 ? NULL : buf_take(&image);
	buf_done(&image);
	if (!d->image)
		return err < 0 ? err : -ENOMEM;
	d->n_image = n;
	d->image_elf = d->lib->elf_memory(d->image, n);
	d->dwarf = d->image_elf ? d->lib->dwarf_begin_elf(d->image_elf, DWARF_C_READ, NULL) : NULL;
	if (d->dwarf)
		return 0;
	libdw_debug_close(d);
	return -EBADMSG;
}

void libdw_debug_close(struct libdw_debug *d)
{
	if (d->dwarf)
		d->lib->dwarf_end(d->dwarf);
	if (d->image_elf)
		d->lib->elf_end(d->image_elf);
	free(d->image);
	*d = (struct libdw_debug){ 0 };
}
