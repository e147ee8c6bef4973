/*
 * Locations: a function together with the functions that were inlined into it at one place. In a profile an inlined function
 * is a frame of its own, below the frame of the function whose code contains it; pprof and OTLP have one location
 * for all of them, with a line per function.
 *
 * A location is a chain: its innermost frame, and the location without this frame. Equal chains have one id, so a
 * stack's locations are found by walking its nodes and skipping the outer frames of each location.
 */
#include "output/output.h"

#include "profile/keymap.h"

#include <errno.h>

static int add_location(struct locations *l, struct keymap *ids, uint32_t outer, uint32_t frame, uint32_t *out)
{
	uint32_t *id = keymap_at(ids, key_pair(outer, frame));

	if (!id)
		return -ENOMEM;
	if (!*id) {
		l->v[++l->n] = (struct location){ .outer = outer, .frame = frame };
		*id = (uint32_t)l->n;
	}
	*out = *id;
	return 0;
}

int locations_init(struct locations *l, const struct tacho_profile *p)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	size_t n = tacho_profile_n_nodes(p);
	struct keymap ids = { 0 };
	int err = 0;

	*l = (struct locations){ .of_node = calloc(n + 1, sizeof(*l->of_node)),
				 .v = calloc(n + 1, sizeof(*l->v)),
				 .outermost = calloc(n + 1, sizeof(*l->outermost)) };
	if (!l->of_node || !l->v || !l->outermost)
		err = -ENOMEM;
	for (uint32_t i = 1; i < n && !err; i++) {
		bool inlined = tacho_profile_frame(p, nodes[i].frame)->inlined && nodes[i].parent;

		l->outermost[i] = inlined ? l->outermost[nodes[i].parent] : i;
		err = add_location(l, &ids, inlined ? l->of_node[nodes[i].parent] : 0, nodes[i].frame,
				   &l->of_node[i]);
	}
	keymap_done(&ids);
	if (err)
		locations_done(l);
	return err;
}

void locations_done(struct locations *l)
{
	free(l->of_node);
	free(l->v);
	free(l->outermost);
	*l = (struct locations){ 0 };
}

uint32_t location_function_frame(const struct locations *l, uint32_t id)
{
	while (l->v[id].outer)
		id = l->v[id].outer;
	return l->v[id].frame;
}

struct address_span *object_spans(const struct tacho_profile *p)
{
	struct address_span *spans = calloc(tacho_profile_n_objects(p) + 1, sizeof(*spans));

	for (size_t i = 0; spans && i < tacho_profile_n_frames(p); i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(p, i);
		struct address_span *s = &spans[f->code->object];
		uint64_t page = f->address & ~(uint64_t)4095;

		s->from = s->to ? min_of(s->from, page) : page;
		s->to = max_of(s->to, page > UINT64_MAX - 4096 ? UINT64_MAX : page + 4096);
	}
	return spans;
}
