/*
 * File format: a header, then the rules, pages and rows of struct unwind_table.
 */
#include "unwind/table_cache.h"

#include "base/disk_cache.h"
#include "base/map.h"

#include <sys/mman.h>

#define MAGIC 0x32646e6977797473ull	/* "stywind2"; change it with the layout or meaning of the table */
#define FILE_MAX_BYTES ((size_t)1 << 30)
#define ID_BYTES 20u

struct unwind_cache_header {
	uint64_t magic, version;	/* version: hash of tacho's version */
	uint8_t id[ID_BYTES];		/* build ID, padded with zeroes */
	uint32_t machine;
	uint64_t base, n_rules, n_pages, n_rows;
};

static bool cache_path(const uint8_t *build_id, size_t n, char out[PATH_MAX])
{
	return n && n <= ID_BYTES && disk_cache_path("unwind", str_hash(str_n((const char *)build_id, n)), out);
}

static struct unwind_cache_header header_of(const struct unwind_table *t, const uint8_t *build_id, size_t n)
{
	struct unwind_cache_header h = { .magic = MAGIC, .version = str_hash(str_of(TACHO_VERSION)), .machine = t->machine,
					 .base = t->base, .n_rules = t->rules.n, .n_pages = t->pages.n, .n_rows = t->rows.n };

	memcpy(h.id, build_id, n);
	return h;
}

static bool header_is_valid(const struct unwind_cache_header *h, const uint8_t *build_id, size_t n, size_t bytes)
{
	struct unwind_cache_header same = header_of(&(struct unwind_table){ 0 }, build_id, n);

	return h->magic == same.magic && h->version == same.version && memcmp(h->id, same.id, sizeof(h->id)) == 0 &&
	       h->machine <= UINT16_MAX && h->n_rules && h->n_rules <= UNWIND_MAX_RULES && h->n_pages &&
	       h->n_pages <= UNWIND_MAX_PAGES && h->n_rows <= UNWIND_MAX_ROWS &&
	       bytes == sizeof(*h) + h->n_rules * sizeof(struct unwind_rule) + h->n_pages * sizeof(uint32_t) +
				h->n_rows * sizeof(struct unwind_row);
}

/* Whether all indexes and register numbers are in range. */
static bool table_is_valid(const struct unwind_table *t)
{
	bool valid = t->pages.v[t->pages.n - 1] == t->rows.n;

	for (size_t i = 1; i < t->pages.n; i++)
		valid &= t->pages.v[i] >= t->pages.v[i - 1];
	for (size_t i = 0; i < t->rows.n; i++)
		valid &= t->rows.v[i].rule < t->rules.n;
	for (size_t i = 0; i < t->rules.n; i++) {
		const struct unwind_rule *r = &t->rules.v[i];

		valid &= r->cfa_reg < UNWIND_MAX_REGS && r->fp_reg < UNWIND_MAX_REGS && r->ra_reg < UNWIND_MAX_REGS;
	}
	return valid;
}

bool unwind_cache_read(struct unwind_table *t, const uint8_t *build_id, size_t n_id)
{
	char path[PATH_MAX];
	size_t bytes = 0;
	scoped(closep) int fd = cache_path(build_id, n_id, path) ? disk_cache_open(path, FILE_MAX_BYTES, &bytes) : -1;
	const struct unwind_cache_header *h;
	char *at;

	memset(t, 0, sizeof(*t));
	if (fd < 0 || bytes < sizeof(*h))
		return false;
	at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	t->mapped = at;
	t->mapped_bytes = bytes;
	h = (const struct unwind_cache_header *)(void *)at;
	if (header_is_valid(h, build_id, n_id, bytes)) {
		t->machine = (uint16_t)h->machine;
		t->base = h->base;
		t->rules.v = (struct unwind_rule *)(void *)(at + sizeof(*h));
		t->rules.n = h->n_rules;
		t->pages.v = (uint32_t *)(t->rules.v + t->rules.n);
		t->pages.n = h->n_pages;
		t->rows.v = (struct unwind_row *)(t->pages.v + t->pages.n);
		t->rows.n = h->n_rows;
		if (table_is_valid(t))
			return true;
	}
	unwind_table_done(t);
	return false;
}

bool unwind_cache_write(const struct unwind_table *t, const uint8_t *build_id, size_t n)
{
	struct disk_cache_writer file = { .fd = -1 };
	struct unwind_cache_header h;
	struct iovec parts[4];
	char path[PATH_MAX];

	if (t->mapped || t->rows.n < UNWIND_CACHE_MIN_ROWS || !cache_path(build_id, n, path) ||
	    !disk_cache_write_begin(&file, path))
		return false;
	h = header_of(t, build_id, n);
	parts[0] = (struct iovec){ &h, sizeof(h) };
	parts[1] = (struct iovec){ t->rules.v, t->rules.n * sizeof(*t->rules.v) };
	parts[2] = (struct iovec){ t->pages.v, t->pages.n * sizeof(*t->pages.v) };
	parts[3] = (struct iovec){ t->rows.v, t->rows.n * sizeof(*t->rows.v) };
	disk_cache_write_end(&file, parts, countof(parts));
	return true;
}
