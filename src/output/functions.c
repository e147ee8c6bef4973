/*
 * The functions of a profile: its frames without their addresses and lines, and the source files of the functions.
 */
#include "output/output.h"

#include "profile/keymap.h"

#include <errno.h>

/* The id of a pointer; new ones get the next id. KEYMAP_NONE if out of memory. */
static uint32_t id_of(struct keymap *ids, const void *pointer, size_t *n)
{
	uint32_t *id = keymap_at(ids, key_mix((uintptr_t)pointer));

	if (!id)
		return KEYMAP_NONE;
	if (!*id)
		*id = (uint32_t)++*n;
	return *id - 1;
}

static int add_source(struct functions *f, struct keymap *ids, uint32_t function, const char *path)
{
	uint32_t id;

	if (!path)
		return 0;
	id = id_of(ids, path, &f->n_sources);
	if (id == KEYMAP_NONE)
		return -ENOMEM;
	f->sources[id] = path;
	f->source[function] = id + 1;
	return 0;
}

int functions_init(struct functions *f, const struct tacho_profile *p)
{
	size_t n_frames = tacho_profile_n_frames(p);
	struct keymap codes = { 0 }, paths = { 0 };
	int err = 0;

	*f = (struct functions){ .of_frame = calloc(n_frames + 1, sizeof(*f->of_frame)),
				 .first = calloc(n_frames + 1, sizeof(*f->first)),
				 .source = calloc(n_frames + 1, sizeof(*f->source)),
				 .sources = calloc(n_frames + 1, sizeof(*f->sources)) };
	if (!f->of_frame || !f->first || !f->source || !f->sources)
		err = -ENOMEM;
	for (size_t i = 0; i < n_frames && !err; i++) {
		const struct tacho_profile_code *code = tacho_profile_frame(p, i)->code;
		size_t before = f->n;
		uint32_t id = id_of(&codes, code, &f->n);

		if (id == KEYMAP_NONE) {
			err = -ENOMEM;
			break;
		}
		f->of_frame[i] = id;
		if (f->n == before)
			continue;
		f->first[id] = (uint32_t)i;
		err = add_source(f, &paths, id, code->srcfile);
	}
	keymap_done(&codes);
	keymap_done(&paths);
	if (err)
		functions_done(f);
	return err;
}

void functions_done(struct functions *f)
{
	free(f->of_frame);
	free(f->first);
	free(f->source);
	free(f->sources);
	*f = (struct functions){ 0 };
}
