/*
 * File format: a header, then both tables, records and strings. A damaged or foreign file is ignored.
 */
#include "symbol/inline_cache.h"

#include "base/disk_cache.h"
#include "base/map.h"

#include <errno.h>
#include <unistd.h>

#define MAGIC 0x32656e696c6e6974ull	/* "tinline2"; change it with the layout */
#define FILE_MAX ((size_t)1 << 28)

struct inline_cache_header {
	uint64_t magic, version;	/* version: hash of tacho's version */
	struct inline_source source;
	uint64_t n_rows, n_line_rows, n_records, n_strings;
};

/* ---- reading ---- */

static struct inline_cache_header header_of(const struct inline_cache *c)
{
	return (struct inline_cache_header){
		.magic = MAGIC, .version = str_hash(str_of(TACHO_VERSION)), .source = c->source, .n_rows = c->table.n,
		.n_line_rows = c->lines.n, .n_records = c->records.n, .n_strings = c->strings.n,
	};
}

static bool table_is_valid(const struct painted_table *t, size_t n_records)
{
	bool valid = true;

	for (size_t i = 0; i < t->n; i++)
		valid &= (t->v[i].value < n_records || t->v[i].value >= INLINE_NOTHING) &&
			 (!i || t->v[i].start > t->v[i - 1].start);
	return valid;
}

static bool is_valid(const struct inline_cache *c)
{
	bool valid = c->strings.n && !c->strings.bytes[0] && !c->strings.bytes[c->strings.n - 1] &&
		     table_is_valid(&c->table, c->records.n) && table_is_valid(&c->lines, c->records.n);

	for (size_t i = 0; i < c->records.n; i++) {
		const struct inline_record *r = &c->records.v[i];

		valid &= (r->outer == PAINTED_NONE || r->outer < i) & (r->name < c->strings.n) & (r->file < c->strings.n);
	}
	return valid;
}

static bool read_arrays(struct inline_cache *c, int fd, const struct inline_cache_header *h, size_t bytes)
{
	struct iovec parts[4];

	if (h->n_rows > bytes / sizeof(*c->table.v) || h->n_line_rows > bytes / sizeof(*c->lines.v) || h->n_records > bytes / sizeof(*c->records.v) ||
	    h->n_strings > bytes || !vec_reserve(&c->table, h->n_rows + 1) || !vec_reserve(&c->lines, h->n_line_rows + 1) || !vec_reserve(&c->records, h->n_records + 1) ||
	    !buf_grow(&c->strings, (size_t)h->n_strings + 1))
		return false;
	parts[0] = (struct iovec){ c->table.v, (size_t)h->n_rows * sizeof(*c->table.v) };
	parts[1] = (struct iovec){ c->lines.v, (size_t)h->n_line_rows * sizeof(*c->lines.v) };
	parts[2] = (struct iovec){ c->records.v, (size_t)h->n_records * sizeof(*c->records.v) };
	parts[3] = (struct iovec){ c->strings.bytes, (size_t)h->n_strings };
	if (disk_cache_read(fd, parts, countof(parts)) < 0)
		return false;
	c->table.n = (size_t)h->n_rows;
	c->lines.n = (size_t)h->n_line_rows;
	c->records.n = (size_t)h->n_records;
	c->strings.n = (size_t)h->n_strings;
	return is_valid(c);
}

static void clear(struct inline_cache *c)
{
	vec_done(&c->table);
	vec_done(&c->lines);
	vec_done(&c->records);
	buf_done(&c->strings);
}

static bool find_source(struct inline_source *s, const struct elf *file)
{
	int n = elf_build_id(file, s->build_id);

	return n > 0 && symbol_cache_identify(file, &s->file);
}

void inline_cache_open(struct inline_cache *c, const struct elf *file)
{
	struct inline_cache_header h, found;
	struct iovec part = { &found, sizeof(found) };
	size_t bytes = 0;
	int fd;

	c->usable = find_source(&c->source, file) &&
		    disk_cache_path("inlines", str_hash(str_n((const char *)c->source.build_id, BUILD_ID_MAX)), c->path);
	fd = c->usable ? disk_cache_open(c->path, FILE_MAX, &bytes) : -1;
	if (fd < 0)
		return;
	h = header_of(c);
	if (disk_cache_read(fd, &part, 1) < 0 || memcmp(&found, &h, offsetof(struct inline_cache_header, n_rows)) != 0 ||
	    !read_arrays(c, fd, &found, bytes))
		clear(c);
	close(fd);
}

void inline_cache_done(struct inline_cache *c)
{
	clear(c);
	c->usable = false;
}

uint32_t inline_cache_find(const struct inline_cache *c, uint64_t address)
{
	return painted_table_find(&c->table, address);
}

uint32_t inline_cache_find_line(const struct inline_cache *c, uint64_t address)
{
	return painted_table_find(&c->lines, address);
}

/* ---- writing ---- */

struct cache_update {
	struct inline_cache *cache;
	struct painted_ranges ranges, lines;
	struct map texts;		/* text -> offset in cache->strings */
	struct arena arena;		/* its keys */
};

static void update_done(struct cache_update *u)
{
	vec_done(&u->ranges);
	vec_done(&u->lines);
	map_done(&u->texts);
	arena_done(&u->arena);
}

static int put_text(struct cache_update *u, const char *text, uint32_t *out)
{
	const uint64_t *hit = text ? map_get(&u->texts, str_of(text)) : NULL;
	struct buf *strings = &u->cache->strings;
	char *key;

	*out = hit ? (uint32_t)*hit : 0;
	if (hit || !text || !*text)
		return 0;
	key = arena_str(&u->arena, str_of(text));
	if (!key || strings->n > FILE_MAX)
		return -ENOMEM;
	*out = (uint32_t)strings->n;
	buf_put(strings, text, strlen(text) + 1);
	return buf_failed(strings) ? -ENOMEM : map_put(&u->texts, str_of(key), *out);
}

static int put_record(struct cache_update *u, const struct inline_export_call *call, uint32_t first)
{
	struct inline_record r = { .outer = call->outer == PAINTED_NONE ? PAINTED_NONE : first + call->outer,
				   .line = call->placed ? call->line : INLINE_LINE_NOT_READ };
	struct inline_record *slot;

	if (put_text(u, call->name, &r.name) < 0 || put_text(u, call->file, &r.file) < 0)
		return -ENOMEM;
	slot = vec_next(&u->cache->records);
	if (!slot || u->cache->records.n >= INLINE_NOTHING)
		return -ENOMEM;
	*slot = r;
	return 0;
}

/* Called with each function that was read, and each gap between functions. */
static int add_exported(void *arg, const struct inline_export *f)
{
	struct cache_update *u = arg;
	uint32_t first = (uint32_t)u->cache->records.n;
	int err = 0;

	for (size_t i = 0; i < f->n_calls && err == 0; i++)
		err = put_record(u, &f->calls[i], first);
	for (size_t i = 0; i < f->n_ranges && err == 0; i++) {
		uint32_t value = f->ranges[i].value;

		err = painted_ranges_add(&u->ranges, f->ranges[i].start, f->ranges[i].end,
					 value == PAINTED_NONE ? INLINE_NOTHING : first + value);
	}
	return err;
}

static int add_lines(struct cache_update *u, const struct inlines *from)
{
	int err = 0;

	for (size_t i = 0; i < inlines_n_lines(from) && err == 0; i++) {
		const struct line_found *f = inlines_line(from, i);
		uint32_t value = f->file ? (uint32_t)u->cache->records.n : INLINE_NOTHING;

		if (f->file)
			err = put_record(u, &(struct inline_export_call){ PAINTED_NONE, NULL, f->file, f->line, true }, 0);
		if (err == 0)
			err = painted_ranges_add(&u->lines, f->start, f->end, value);
	}
	return err;
}

/* The rows of the old table are painted first. */
static int add_old_rows(const struct painted_table *t, struct painted_ranges *to)
{
	int err = 0;

	for (size_t i = 0; i < t->n && err == 0; i++) {
		uint64_t end = i + 1 < t->n ? t->v[i + 1].start : UINT64_MAX;

		if (t->v[i].value != PAINTED_NONE)
			err = painted_ranges_add(to, t->v[i].start, end, t->v[i].value);
	}
	return err;
}

static int make_tables(struct cache_update *u, struct inlines *from)
{
	struct inline_cache *c = u->cache;
	int err = add_old_rows(&c->table, &u->ranges);

	if (err == 0)
		err = add_old_rows(&c->lines, &u->lines);
	if (!c->strings.n)
		buf_putc(&c->strings, '\0');
	if (err == 0)
		err = inlines_export(from, add_exported, u);
	if (err == 0)
		err = add_lines(u, from);
	vec_done(&c->table);
	vec_done(&c->lines);
	if (err == 0)
		err = painted_table_fill(&c->table, &u->ranges);
	return err < 0 ? err : painted_table_fill(&c->lines, &u->lines);
}

static void write_entry(struct inline_cache *c)
{
	struct disk_cache_writer file = { .fd = -1 };
	struct inline_cache_header h = header_of(c);
	struct iovec parts[] = {
		{ &h, sizeof(h) }, { c->table.v, c->table.n * sizeof(*c->table.v) },
		{ c->lines.v, c->lines.n * sizeof(*c->lines.v) },
		{ c->records.v, c->records.n * sizeof(*c->records.v) }, { c->strings.bytes, c->strings.n },
	};
	size_t bytes = 0;

	for (size_t i = 0; i < countof(parts); i++)
		bytes += parts[i].iov_len;
	if (bytes <= FILE_MAX && disk_cache_write_begin(&file, c->path))
		disk_cache_write_end(&file, parts, countof(parts));
}

void inline_cache_update(struct inline_cache *c, struct inlines *from)
{
	scoped(update_done) struct cache_update u = { .cache = c };

	if (c->usable && make_tables(&u, from) == 0 && is_valid(c))
		write_entry(c);
}
