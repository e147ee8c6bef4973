/*
 * At the end: the objects that samples were taken in, with their build ids. Maps that were made
 * while recording brought theirs along; of those that were there before, the files are read now.
 */
#include "sample/sampler.h"

#include <errno.h>

#include <tacho/symbol.h>

static void read_build_id(struct object *o)
{
	int n;

	if (o->n_build_id || o->kernel || o->path[0] != '/')
		return;
	n = tacho_build_id_of_file(o->path, o->build_id);
	o->n_build_id = n > 0 ? (uint8_t)n : 0;
}

int tacho_sampler_objects(struct tacho_sampler *s, bool all,
			  int (*fn)(void *arg, const struct tacho_sampled_object *o), void *arg)
{
	if (s->n_readers)		/* they do not look at what is hit */
		all = true;
	for (size_t i = 0; i < s->hitmap.list.n; i++) {
		struct object *o = &s->hitmap.list.v[i];
		struct tacho_sampled_object shown = { .size = sizeof(shown), .path = o->path,
						      .kernel = o->kernel };
		int err;

		shown.hit = o->hit || (s->hitmap.kernel_hit && strcmp(o->path, "[kernel.kallsyms]") == 0);
		if (!all && !shown.hit)
			continue;
		read_build_id(o);
		if (!o->n_build_id)
			continue;
		shown.n_build_id = o->n_build_id;
		memcpy(shown.build_id, o->build_id, sizeof(shown.build_id));
		err = fn(arg, &shown);
		if (err)
			return err;
	}
	return 0;
}
