/*
 * Each level but the last has a report of its own, by the keys up to that level. Entries of different reports are
 * matched by the texts of their keys.
 */
#include "cli/report/level_children.h"

#include <errno.h>

#include "cli/report/table.h"

static void put_keys(const struct level_children *l, const struct tacho_report *r, size_t level,
		     const struct tacho_report_entry *e, struct buf *out)
{
	for (size_t i = 0; i <= level; i++) {
		table_key_text(r, e, l->levels[i], out);
		buf_putc(out, '\0');
	}
}

static int index_entries(struct level_children *l, size_t level)
{
	const struct tacho_report *r = l->of_level[level];

	for (size_t i = 0; i < r->n_entries; i++) {
		scoped(buf_done) struct buf text = { 0 };
		char *key;

		put_keys(l, r, level, &r->entries[i], &text);
		key = buf_failed(&text) ? NULL : arena_str(&l->texts, buf_view(&text));
		if (!key || map_put(&l->entries[level], str_n(key, text.n), i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_level(struct level_children *l, size_t level)
{
	struct tacho_report_opts opts = *l->report->opts;

	memcpy(opts.keys, l->levels, (level + 1) * sizeof(*opts.keys));
	opts.n_keys = level + 1;
	opts.symbol_filter = NULL;
	if (tacho_report_new(&l->of_level[level], l->report->profile, &opts, l->report->events, l->report->n_events,
			     NULL) < 0)
		return -ENOMEM;
	return index_entries(l, level);
}

int level_children_init(struct level_children *l, const struct tacho_report *r,
			const struct tacho_report_column *const *levels, size_t n)
{
	int err = 0;

	*l = (struct level_children){ .report = r, .n = n };
	memcpy(l->levels, levels, n * sizeof(*l->levels));
	for (size_t i = 0; r->opts->children && i + 1 < n && err == 0; i++)
		err = add_level(l, i);
	return err;
}

void level_children_done(struct level_children *l)
{
	for (size_t i = 0; i < l->n; i++) {
		tacho_report_free(l->of_level[i]);
		map_done(&l->entries[i]);
	}
	arena_done(&l->texts);
	*l = (struct level_children){ .report = NULL };
}

int level_children_value(const struct level_children *l, size_t level, const struct tacho_report_entry *e,
			 const struct tacho_report_column *c, size_t event, uint64_t *out)
{
	scoped(buf_done) struct buf text = { 0 };
	const struct tacho_report *r = l->of_level[level];
	const uint64_t *at;

	put_keys(l, l->report, level, e, &text);
	if (buf_failed(&text))
		return -ENOMEM;
	at = r ? map_get(&l->entries[level], buf_view(&text)) : NULL;
	*out = at ? tacho_report_value(r, &r->entries[*at], c, event) : 0;
	return 0;
}
