/*
 * Remembers which lines of a table are open, by the texts of their entries and the names along their call chains, so that
 * a table of another profile can be opened at the same places. Lines are compared by hashes: a collision would open one
 * line too many.
 */
#include "cli/browser/rows.h"

#include <errno.h>

#include "base/map.h"

enum { OPEN_ENTRY = 1, OPEN_ITEM, OPEN_AFTER_FIRST, OPEN_AFTER_LAST };

static uint64_t hash_with(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_with(hash, str_hash(str_of(text)));
}

/* Of the texts of the first n keys. */
static uint64_t hash_keys(const struct rows *r, const struct tacho_report_entry *e,
			  const struct tacho_report_column *const *keys, size_t n)
{
	scoped(buf_done) struct buf text = { 0 };
	uint64_t hash = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_value(keys[i]))
			continue;
		buf_clear(&text);
		table_key_text(r->report, e, keys[i], &text);
		hash = hash_text(hash, text.n && !buf_failed(&text) ? text.bytes : "");
	}
	return hash;
}

static uint64_t hash_entry(const struct rows *r, uint32_t entry)
{
	return hash_with(hash_keys(r, &r->report->entries[entry], r->report->opts->keys, r->report->opts->n_keys), OPEN_ENTRY);
}

static uint64_t hash_item(const struct rows *r, const struct rows_item *it)
{
	return hash_with(hash_keys(r, &r->report->entries[r->tree->order[it->from]], r->tree->levels, it->level + 1), OPEN_ITEM);
}

static uint64_t hash_frame(uint64_t hash, const struct rows *r, const struct fold *f, uint32_t at)
{
	const struct tacho_profile_frame *frame = tacho_profile_frame(r->report->profile, f->frames.v[at]);

	return frame ? hash_text(hash_text(hash, frame->code->name), frame->code->object_name) : hash;
}

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool has(const struct open_lines *o, uint64_t key)
{
	return o->keys.n && bsearch(&key, o->keys.v, o->keys.n, sizeof(key), compare_hashes);
}

static int add(struct open_lines *o, uint64_t key)
{
	uint64_t *slot = vec_next(&o->keys);

	if (!slot)
		return -ENOMEM;
	*slot = key;
	return 0;
}

/* Visits a level of nodes; `o` gets the keys of those that are open. */
static int save_nodes(struct open_lines *o, const struct rows *r, const struct fold *f, uint32_t node, uint64_t above)
{
	int err = 0;

	for (; node != UINT32_MAX && err == 0; node = f->nodes.v[node].next) {
		const struct fold_node *n = &f->nodes.v[node];
		uint64_t hash = hash_frame(above, r, f, n->first);

		if (n->first_open)
			err = add(o, hash_with(hash, OPEN_AFTER_FIRST));
		for (uint32_t i = 1; i < n->n; i++)
			hash = hash_frame(hash, r, f, n->first + i);
		if (n->last_open && err == 0)
			err = add(o, hash_with(hash, OPEN_AFTER_LAST));
		if (err == 0)
			err = save_nodes(o, r, f, n->child, hash);
	}
	return err;
}

int open_lines_save(struct open_lines *o, const struct rows *r)
{
	int err = 0;

	for (size_t i = 0; i < r->report->n_entries && err == 0; i++) {
		const struct fold *f = r->folds[i];

		if (!f || !f->open)
			continue;
		err = add(o, hash_entry(r, (uint32_t)i));
		if (err == 0)
			err = save_nodes(o, r, f, f->top, hash_entry(r, (uint32_t)i));
	}
	for (size_t i = 0; r->tree && i < r->tree->items.n && err == 0; i++)
		if (r->tree->items.v[i].open)
			err = add(o, hash_item(r, &r->tree->items.v[i]));
	if (o->keys.n)
		qsort(o->keys.v, o->keys.n, sizeof(*o->keys.v), compare_hashes);
	return err;
}

static void restore_nodes(const struct open_lines *o, const struct rows *r, struct fold *f, uint32_t node, uint64_t above)
{
	for (; node != UINT32_MAX; node = f->nodes.v[node].next) {
		struct fold_node *n = &f->nodes.v[node];
		uint64_t hash = hash_frame(above, r, f, n->first);
		bool first = has(o, hash_with(hash, OPEN_AFTER_FIRST));

		for (uint32_t i = 1; i < n->n; i++)
			hash = hash_frame(hash, r, f, n->first + i);
		n->first_open = first;
		/* A chain that was open may have a branch now. */
		n->last_open = has(o, hash_with(hash, OPEN_AFTER_LAST)) || (first && n->n == 1);
		restore_nodes(o, r, f, n->child, hash);
	}
}

static int restore_entry(const struct open_lines *o, struct rows *r, uint32_t entry)
{
	struct fold *f = NULL;
	int err;

	if (!has(o, hash_entry(r, entry)))
		return 0;
	err = rows_fold(r, entry, &f);
	if (err < 0 || !f)
		return err;
	f->open = true;
	restore_nodes(o, r, f, f->top, hash_entry(r, entry));
	return fold_lines(f);
}

int open_lines_restore(const struct open_lines *o, struct rows *r)
{
	int err = 0;

	if (!o->keys.n)
		return 0;
	for (size_t k = 0; k < r->n_shown && err == 0; k++)
		err = restore_entry(o, r, r->shown[k]);
	for (size_t i = 0; r->tree && i < r->tree->items.n; i++)
		r->tree->items.v[i].open = has(o, hash_item(r, &r->tree->items.v[i]));
	return err < 0 ? err : rows_lines(r);
}

void open_lines_done(struct open_lines *o)
{
	vec_done(&o->keys);
}
