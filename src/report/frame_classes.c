/*
 * Classes: frames that no key of a frame tells apart are one, in the table and in call graphs. A class is called by
 * its first frame.
 */
#include <errno.h>

#include "report/columns.h"

struct classifier {
	struct map first;		/* identity -> first frame */
	struct arena keys;
};

static void classifier_done(struct classifier *c)
{
	map_done(&c->first);
	arena_done(&c->keys);
}

/* The first frame with this identity. 0 or -ENOMEM. */
static int classify(struct classifier *c, const void *identity, size_t n, uint32_t frame, uint32_t *out)
{
	const uint64_t *known = map_get(&c->first, str_n(identity, n));
	char *copy;

	*out = known ? (uint32_t)*known : frame;
	if (known)
		return 0;
	copy = arena_str(&c->keys, str_n(identity, n));
	return copy ? map_put(&c->first, str_n(copy, n), frame) : -ENOMEM;
}

static int find_first_objects(struct report *r)
{
	scoped(classifier_done) struct classifier c = { 0 };
	size_t n = tacho_profile_n_objects(r->profile);
	int err = 0;

	r->first_object = calloc(n + 1, sizeof(*r->first_object));
	if (!r->first_object)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		const char *name = tacho_profile_object(r->profile, i)->name;

		err = classify(&c, name, strlen(name), i, &r->first_object[i]);
	}
	return err;
}

/* In call graphs, frames of one function are one unless lines or addresses are shown. */
static int find_callgraph_frames(struct report *r)
{
	scoped(classifier_done) struct classifier c = { 0 };
	uint32_t n = (uint32_t)tacho_profile_n_frames(r->profile);
	int err = 0;

	if (!r->opts.fine_frames || r->opts.callgraph_key != TACHO_CALLGRAPH_FUNCTION)
		return 0;
	r->callgraph_frame = reallocarray(NULL, (size_t)n + 1, sizeof(*r->callgraph_frame));
	if (!r->callgraph_frame)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, i);
		struct { uint64_t offset; uint32_t object, symbol; } identity = {
			f->known ? f->inlined : f->offset, f->code->object, f->code->symbol,
		};

		err = classify(&c, &identity, sizeof(identity), i, &r->callgraph_frame[i]);
	}
	return err;
}

/* The general way: by what the keys say. */
static int classes_by_identity(struct report *r)
{
	scoped(classifier_done) struct classifier c = { 0 };
	scoped(buf_done) struct buf identity = { 0 };
	uint32_t n = (uint32_t)tacho_profile_n_frames(r->profile);
	int err = 0;

	for (uint32_t i = 0; i < n && err == 0; i++) {
		buf_clear(&identity);
		buf_putc(&identity, '\0');		/* never empty */
		for (size_t k = 0; k < r->opts.n_keys; k++)
			if (is_frame_key(key_at(r, k)))
				key_at(r, k)->identity(r, tacho_profile_frame(r->profile, i), &identity);
		err = buf_failed(&identity) ? -ENOMEM :
					      classify(&c, identity.bytes, identity.n, i, &r->class_of[i]);
	}
	r->n_classes = (size_t)n + 1;
	return err;
}

/* Frames of such a profile are symbols already, but for those of a second object of the same name. */
static int classes_by_symbol(struct report *r)
{
	scoped(classifier_done) struct classifier c = { 0 };
	uint32_t n = (uint32_t)tacho_profile_n_frames(r->profile);
	bool same_names = false;
	int err = 0;

	for (size_t i = 0; i < tacho_profile_n_objects(r->profile); i++)
		same_names = same_names || r->first_object[i] != i;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, i);
		struct { uint64_t address, offset; uint32_t object, symbol; } identity = {
			f->address, f->offset + f->inlined, r->first_object[f->code->object], f->code->symbol,
		};

		r->class_of[i] = i;
		if (same_names && f->known)
			err = classify(&c, &identity, sizeof(identity), i, &r->class_of[i]);
	}
	r->n_classes = (size_t)n + 1;
	return err;
}

static void classes_by_object(struct report *r, bool objects)
{
	size_t n = tacho_profile_n_frames(r->profile);

	for (size_t i = 0; i < n; i++)
		r->class_of[i] = objects ? r->first_object[tacho_profile_frame(r->profile, i)->code->object] : 0;
	r->n_classes = tacho_profile_n_objects(r->profile) + 1;
}

static bool has_other_frame_keys(const struct report *r)
{
	for (size_t i = 0; i < r->opts.n_keys; i++) {
		const struct tacho_report_column *c = r->opts.keys[i];

		if (c->kind == TACHO_REPORT_FRAME_KEY && c->id != TACHO_COLUMN_DSO && c->id != TACHO_COLUMN_SYMBOL)
			return true;
	}
	return false;
}

int find_frame_classes(struct report *r)
{
	int err = find_first_objects(r);

	if (err == 0)
		err = find_callgraph_frames(r);
	if (err < 0)
		return err;
	for (size_t i = tacho_profile_n_frames(r->profile); i-- > 0 && !r->has_inlines;)
		r->has_inlines = tacho_profile_frame(r->profile, i)->inlined;
	r->class_of = reallocarray(NULL, tacho_profile_n_frames(r->profile) + 1, sizeof(*r->class_of));
	if (!r->class_of)
		return -ENOMEM;
	if (r->opts.fine_frames || has_other_frame_keys(r))
		return classes_by_identity(r);
	if (has_key(r, TACHO_COLUMN_SYMBOL))
		return classes_by_symbol(r);
	classes_by_object(r, has_key(r, TACHO_COLUMN_DSO));
	return 0;
}
