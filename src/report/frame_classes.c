/*
 * Classes: frames that no key of a frame tells apart are one, in the table and in call graphs.
 */
#include "report/report.h"

#include <errno.h>

#include "base/arena.h"
#include "base/map.h"

/* The class of the first frame with these bytes. */
static int class_number(struct map *seen, struct arena *a, const void *key, size_t n, uint32_t frame,
			uint32_t *out)
{
	const uint64_t *hit = map_get(seen, str_n(key, n));
	char *copy;

	*out = hit ? (uint32_t)*hit : frame;
	if (hit)
		return 0;
	copy = arena_str(a, str_n(key, n));
	return copy ? map_put(seen, str_n(copy, n), frame) : -ENOMEM;
}

/* Objects of one name count as one: per object the first of its name. */
static int objects_by_name(const struct hist *h, struct map *seen, uint32_t *first)
{
	for (size_t i = 0; i < tacho_profile_n_objects(h->profile); i++) {
		const char *name = tacho_profile_object(h->profile, i)->name;
		const uint64_t *hit = map_get(seen, str_of(name));

		first[i] = hit ? (uint32_t)*hit : (uint32_t)i;
		if (!hit && map_put(seen, str_of(name), i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Names that differ in numbers only count as one: per thread the first of them. */
static int comms_without_digits(struct hist *h)
{
	size_t n = tacho_profile_n_threads(h->profile);
	scoped(buf_done) struct buf text = { 0 };
	struct map seen = { 0 };
	struct arena a = { 0 };
	int err = 0;

	if (!h->opts->has_key[COL_COMM_NODIGIT])
		return 0;
	h->first_comm = calloc(n + 1, sizeof(*h->first_comm));
	if (!h->first_comm)
		return -ENOMEM;
	for (size_t i = 0; i < n && err == 0; i++) {
		buf_clear(&text);
		hist_nodigit_text(tacho_profile_thread(h->profile, i)->comm, &text);
		err = buf_failed(&text) ? -ENOMEM :
		      class_number(&seen, &a, text.bytes, text.n, (uint32_t)i, &h->first_comm[i]);
	}
	map_done(&seen);
	arena_done(&a);
	return err;
}

/* The bytes in which frames of different classes differ. */
static void class_key(const struct hist *h, const struct tacho_profile_frame *f, struct buf *key)
{
	const bool *has = h->opts->has_key;
	struct { uint64_t address, offset; uint32_t dso, symbol; } head = { 0 };

	if (has[COL_SYMBOL] || has[COL_SYMBOL_OFFSET]) {
		bool one = f->known && !has[COL_SYMBOL_OFFSET];

		head.address = one ? 0 : f->address;
		head.offset = one ? 0 : f->offset;
		head.symbol = f->code->symbol;
	}
	if (has[COL_SYMBOL] || has[COL_SYMBOL_OFFSET] || has[COL_DSO])
		head.dso = h->first_object[f->code->object] + 1;
	buf_put(key, &head, sizeof(head));
	if (has[COL_SRCLINE])
		hist_srcline_text(h, f, key);
	else if (has[COL_SRCFILE])
		buf_puts(key, f->code->srcfile ? f->code->srcfile : "");
}

/* Where frames are finer than symbols: by the texts of the keys. */
static int classes_by_texts(struct hist *h, struct map *seen, struct arena *a)
{
	scoped(buf_done) struct buf key = { 0 };
	uint32_t n = (uint32_t)tacho_profile_n_frames(h->profile);

	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&key);
		class_key(h, tacho_profile_frame(h->profile, i), &key);
		if (buf_failed(&key) || class_number(seen, a, key.bytes, key.n, i, &h->class_of[i]) < 0)
			return -ENOMEM;
	}
	h->n_classes = (size_t)n + 1;
	return 0;
}

/* In call graphs, too, frames of one function are one, unless their lines or addresses matter. */
static int chains_by_symbol(struct hist *h)
{
	struct map seen = { 0 };
	struct arena a = { 0 };
	uint32_t n = (uint32_t)tacho_profile_n_frames(h->profile);
	int err = 0;

	if (!h->opts->fine_frames || h->opts->chain_key != CHAIN_FUNCTION)
		return 0;
	h->chain_of = reallocarray(NULL, (size_t)n + 1, sizeof(*h->chain_of));
	if (!h->chain_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && err == 0; i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, i);
		struct { uint64_t offset; uint32_t dso, symbol; } key = {
			f->known ? 0 : f->offset, f->code->object, f->code->symbol,
		};

		err = class_number(&seen, &a, &key, sizeof(key), i, &h->chain_of[i]);
	}
	map_done(&seen);
	arena_done(&a);
	return err;
}

static int class_by_symbol(struct hist *h, const struct tacho_profile_frame *f, uint32_t frame,
			   struct map *seen, struct arena *a)
{
	struct { uint64_t address, offset; uint32_t dso, symbol; } key = {
		f->address, f->offset, h->first_object[f->code->object], f->code->symbol,
	};

	return class_number(seen, a, &key, sizeof(key), frame, &h->class_of[frame]);
}

/* Frames differ in what symbols differ in, except those of a second object of the same name. */
static int classes_by_symbol(struct hist *h, struct map *seen, struct arena *a)
{
	uint32_t n = (uint32_t)tacho_profile_n_frames(h->profile);
	bool twice = false;

	for (size_t i = 0; i < tacho_profile_n_objects(h->profile); i++)
		twice = twice || h->first_object[i] != i;
	for (uint32_t i = 0; i < n; i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, i);

		h->class_of[i] = i;
		if (twice && f->known && class_by_symbol(h, f, i, seen, a) < 0)
			return -ENOMEM;
	}
	h->n_classes = (size_t)n + 1;
	return 0;
}

static int classes_fill(struct hist *h, uint32_t *first, struct map *names, struct map *seen,
			struct arena *a)
{
	size_t n = tacho_profile_n_frames(h->profile);
	int err = objects_by_name(h, names, first);

	if (err == 0)
		err = chains_by_symbol(h);
	if (err == 0)
		err = comms_without_digits(h);
	if (err < 0)
		return err;
	if (h->opts->fine_frames)
		return classes_by_texts(h, seen, a);
	if (h->opts->has_key[COL_SYMBOL])
		return classes_by_symbol(h, seen, a);
	for (size_t i = 0; i < n; i++)
		h->class_of[i] = h->opts->has_key[COL_DSO] ?
				 first[tacho_profile_frame(h->profile, i)->code->object] : 0;
	h->n_classes = tacho_profile_n_objects(h->profile) + 1;
	return 0;
}

int hist_classes(struct hist *h)
{
	uint32_t *first = h->first_object = calloc(tacho_profile_n_objects(h->profile) + 1, sizeof(*first));
	struct map names = { 0 }, seen = { 0 };
	struct arena a = { 0 };
	int err;

	h->class_of = reallocarray(NULL, tacho_profile_n_frames(h->profile) + 1, sizeof(uint32_t));
	err = h->class_of && first ? classes_fill(h, first, &names, &seen, &a) : -ENOMEM;
	map_done(&names);
	map_done(&seen);
	arena_done(&a);
	return err;
}
