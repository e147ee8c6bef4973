#include "auxtrace/libipt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "base/defs.h"

static struct {
	pthread_once_t once;
	bool loaded;
	struct libipt calls;
} lib = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
	struct libipt *c = &lib.calls;
	const struct { void *at; const char *name; } names[] = {
		{ &c->errstr, "pt_errstr" }, { &c->cpu_errata, "pt_cpu_errata" },
		{ &c->image_alloc, "pt_image_alloc" }, { &c->image_free, "pt_image_free" },
		{ &c->image_set_callback, "pt_image_set_callback" }, { &c->insn_alloc, "pt_insn_alloc_decoder" },
		{ &c->insn_free, "pt_insn_free_decoder" }, { &c->sync_forward, "pt_insn_sync_forward" },
		{ &c->offset, "pt_insn_get_offset" }, { &c->sync_offset, "pt_insn_get_sync_offset" },
		{ &c->set_image, "pt_insn_set_image" }, { &c->time, "pt_insn_time" }, { &c->cbr, "pt_insn_core_bus_ratio" },
		{ &c->next, "pt_insn_next" }, { &c->event, "pt_insn_event" }, { &c->pkt_alloc, "pt_pkt_alloc_decoder" },
		{ &c->pkt_free, "pt_pkt_free_decoder" }, { &c->pkt_sync_set, "pt_pkt_sync_set" }, { &c->pkt_next, "pt_pkt_next" },
	};
	void *library = dlopen("libipt.so.2", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	for (size_t i = 0; i < countof(names); i++) {
		*(void **)names[i].at = dlsym(library, names[i].name);
		if (!*(void **)names[i].at) {
			dlclose(library);
			return;
		}
	}
	lib.loaded = true;
}

const struct libipt *libipt_load(void)
{
	pthread_once(&lib.once, load);
	return lib.loaded ? &lib.calls : NULL;
}
