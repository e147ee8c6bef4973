/*
 * Creates and frees profiles, and gives access to their tables.
 */
#include "profile/intern.h"
#include "profile/trie.h"

#include <errno.h>

#include "base/sized_opts.h"

static void freep_profile(struct tacho_profile **p)
{
	tacho_profile_free(*p);
}

/* Node 0 is the empty stack, object 0 the unknown one. */
static int add_first_entries(struct tacho_profile *p)
{
	struct tacho_profile_object unknown = { .path = "[unknown]", .name = "[unknown]" };

	if (!vec_add(&p->nodes) || !vec_add(&p->links) || (p->filter.by_parent && !vec_add(&p->node_has_parent_match)))
		return -ENOMEM;
	p->nodes.v[0] = (struct tacho_profile_node){ 0, KEYMAP_NONE };
	if (profile_intern_name(p, "[unknown]") != 0 || profile_intern_object(p, &unknown) != 0)
		return -ENOMEM;
	return 0;
}

int tacho_profile_new(struct tacho_profile **out, const struct tacho_profile_opts *opts,
		      struct tacho_error *e)
{
	scoped(freep_profile) struct tacho_profile *p = NULL;
	int err;

	p = calloc(1, sizeof(*p));
	if (!p)
		return error_nomem(e);
	err = opts_copy(&p->opts, sizeof(p->opts), opts, e);
	if (err == 0)
		err = profile_filter_init(&p->filter, &p->opts, e);
	if (err < 0)
		return err;
	if (add_first_entries(p) < 0)
		return error_nomem(e);
	*out = take(p);
	return 0;
}

void profile_close(struct tacho_profile *p)
{
	vec_done(&p->links);
	vec_done(&p->outermost);
	vec_done(&p->frame_flags);
	keymap_done(&p->outermost_ids);
	keymap_done(&p->child_ids);
	keymap_done(&p->row_ids);
	keymap_done(&p->symbol_frame_ids);
	keymap_done(&p->unknown_frame_ids);
	p->closed = true;
}

void tacho_profile_free(struct tacho_profile *p)
{
	if (!p)
		return;
	profile_close(p);
	profile_filter_done(&p->filter);
	map_done(&p->names);
	map_done(&p->object_ids);
	vec_done(&p->name_text);
	vec_done(&p->objects);
	vec_done(&p->events);
	vec_done(&p->threads);
	keymap_done(&p->thread_ids);
	keymap_done(&p->comm_threads);
	keymap_done(&p->code_ids);
	vec_done(&p->codes);
	vec_done(&p->frames);
	vec_done(&p->nodes);
	vec_done(&p->node_has_parent_match);
	vec_done(&p->rows);
	vec_done(&p->cgroups);
	vec_done(&p->details);
	keymap_done(&p->detail_ids);
	vec_done(&p->values);
	map_done(&p->value_ids);
	arena_done(&p->arena);
	free(p);
}

size_t tacho_profile_n_events(const struct tacho_profile *p)
{
	return p->events.n;
}

size_t tacho_profile_n_threads(const struct tacho_profile *p)
{
	return p->threads.n;
}

size_t tacho_profile_n_frames(const struct tacho_profile *p)
{
	return p->frames.n;
}

size_t tacho_profile_n_objects(const struct tacho_profile *p)
{
	return p->objects.n;
}

size_t tacho_profile_n_nodes(const struct tacho_profile *p)
{
	return p->nodes.n;
}

size_t tacho_profile_n_rows(const struct tacho_profile *p)
{
	return p->rows.n;
}

const struct tacho_profile_event *tacho_profile_event(const struct tacho_profile *p, size_t i)
{
	return i < p->events.n ? &p->events.v[i] : NULL;
}

const struct tacho_profile_thread *tacho_profile_thread(const struct tacho_profile *p, size_t i)
{
	return i < p->threads.n ? &p->threads.v[i].pub : NULL;
}

const struct tacho_profile_frame *tacho_profile_frame(const struct tacho_profile *p, size_t i)
{
	return i < p->frames.n ? &p->frames.v[i] : NULL;
}

const struct tacho_profile_object *tacho_profile_object(const struct tacho_profile *p, size_t i)
{
	return i < p->objects.n ? &p->objects.v[i] : NULL;
}

const struct tacho_profile_node *tacho_profile_nodes(const struct tacho_profile *p)
{
	return p->nodes.v;
}

const struct tacho_profile_row *tacho_profile_rows(const struct tacho_profile *p)
{
	return p->rows.v;
}

const char *tacho_profile_cgroup(const struct tacho_profile *p, uint64_t id)
{
	for (size_t i = 0; i < p->cgroups.n; i++)
		if (p->cgroups.v[i].id == id)
			return p->cgroups.v[i].path;
	return NULL;
}

void tacho_profile_quality(const struct tacho_profile *p, struct tacho_profile_quality *out)
{
	size_t size = out->size && out->size < sizeof(*out) ? out->size : sizeof(*out);

	memcpy(out, &p->quality, size);
	out->size = size;
}
