#include "auxtrace/libipt.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/defs.h"
#include "base/shared_library.h"

static struct {
	pthread_once_t once;
	void *library;
	bool loaded;
	struct libipt calls;
} lib = { .once = PTHREAD_ONCE_INIT };

#define LOAD(field, name) (*(void **)&lib.calls.field = shared_library_find(lib.library, name))

static bool load_all(void)
{
	return LOAD(errstr, "pt_errstr") && LOAD(cpu_errata, "pt_cpu_errata") && LOAD(image_alloc, "pt_image_alloc") &&
	       LOAD(image_free, "pt_image_free") && LOAD(image_set_callback, "pt_image_set_callback") &&
	       LOAD(insn_alloc, "pt_insn_alloc_decoder") && LOAD(insn_free, "pt_insn_free_decoder") &&
	       LOAD(sync_forward, "pt_insn_sync_forward") && LOAD(offset, "pt_insn_get_offset") &&
	       LOAD(sync_offset, "pt_insn_get_sync_offset") && LOAD(set_image, "pt_insn_set_image") &&
	       LOAD(time, "pt_insn_time") && LOAD(next, "pt_insn_next") && LOAD(event, "pt_insn_event") &&
	       LOAD(pkt_alloc, "pt_pkt_alloc_decoder") && LOAD(pkt_free, "pt_pkt_free_decoder") &&
	       LOAD(pkt_sync_set, "pt_pkt_sync_set") && LOAD(pkt_next, "pt_pkt_next");
}

static void load(void)
{
	lib.library = shared_library_open("libipt.so.2");
	lib.loaded = lib.library && load_all();
	if (lib.library && !lib.loaded)
		shared_library_close(take(lib.library));
}

const struct libipt *libipt_load(void)
{
	pthread_once(&lib.once, load);
	return lib.loaded ? &lib.calls : NULL;
}
