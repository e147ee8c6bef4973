/*
 * File format: a header with the identity of the source files, then the arrays of struct symbol_table.
 * A damaged or foreign file is ignored and the table is built again.
 */
#include "symbol/symbol_cache.h"

#include "base/disk_cache.h"
#include "base/map.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define MAGIC 0x31736c6f626d7974ull	/* "tymbols1"; change it with the layout or selection of symbols */
#define FILE_MAX ((size_t)1 << 30)
#define SETTLED_S 2			/* file times have the resolution of a tick, and clocks differ */

struct symbol_cache_header {
	uint64_t magic, version;	/* version: hash of tacho's version */
	struct cached_file_id own, debug;
	uint64_t n, n_index, n_strings;
	uint32_t index_shift, symbol_bytes;
};

/* ---- identity of the source files ---- */

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct cached_file_id source_of(const struct stat *st)
{
	return (struct cached_file_id){ st->st_dev, st->st_ino, (uint64_t)st->st_size, ns_of(st->st_mtim),
				      ns_of(st->st_ctim) };
}

static bool is_fresh(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return st->st_ctim.tv_sec > now.tv_sec - SETTLED_S;
}

bool symbol_cache_identify(const struct elf *file, struct cached_file_id *out)
{
	struct stat st;

	if (file->fd < 0 || fstat(file->fd, &st) < 0)
		return false;
	*out = source_of(&st);
	return !is_fresh(&st);
}

/* Returns false for a decompressed image, whose file is unknown. */
static bool identify_elf(struct symbol_cache_entry *s, const struct elf *e, struct cached_file_id *out)
{
	struct stat st;

	if (!e)
		return true;
	if (e->fd < 0 || fstat(e->fd, &st) < 0)
		return false;
	*out = source_of(&st);
	s->fresh |= is_fresh(&st);
	return true;
}

/* Mini debug info can only change together with the file that contains it. */
static bool identify_embedded(const struct elf *e, struct cached_file_id *out)
{
	*out = (struct cached_file_id){ .size = e->size };
	return true;
}

static uint64_t symbols_in(const struct elf *e, uint32_t type)
{
	const struct elf_section *s = e ? elf_find_type(e, type) : NULL;

	return s ? s->size / (e->wide ? 24 : 16) : 0;
}

static uint64_t all_symbols_in(const struct elf *e)
{
	return symbols_in(e, ELF_SHT_SYMTAB) + symbols_in(e, ELF_SHT_DYNSYM);
}

void symbol_cache_for_elf(struct symbol_cache_entry *s, uint64_t number, const struct elf *own,
			  const struct elf *debug, bool embedded)
{
	memset(s, 0, sizeof(*s));
	s->usable = all_symbols_in(own) + all_symbols_in(debug) >= SYMBOL_CACHE_MIN_SYMBOLS &&
		    identify_elf(s, own, &s->own) &&
		    (embedded ? identify_embedded(debug, &s->debug)
			      : identify_elf(s, debug, &s->debug)) &&
		    disk_cache_path("symbols", number, s->path);
}

void symbol_cache_for_file(struct symbol_cache_entry *s, const char *path)
{
	struct stat st;

	memset(s, 0, sizeof(*s));
	if (stat(path, &st) < 0)
		return;
	s->own = source_of(&st);
	s->fresh = is_fresh(&st);
	s->usable = disk_cache_path("symbols", str_hash(str_of(path)), s->path);
}

/* ---- the file ---- */

static struct symbol_cache_header header_of(const struct symbol_cache_entry *s, const struct symbol_table *t)
{
	return (struct symbol_cache_header){
		.magic = MAGIC, .version = str_hash(str_of(TACHO_VERSION)), .own = s->own, .debug = s->debug, .n = t->n,
		.n_index = t->index ? t->n_index : 0, .n_strings = t->strings.n, .index_shift = t->index_shift,
		.symbol_bytes = sizeof(struct symbol),
	};
}

static size_t index_entries(const struct symbol_cache_header *h)
{
	return h->n_index ? (size_t)h->n_index + 1 : 0;
}

/* Whether the entry is from the same source files, and its size agrees with its header. */
static bool header_is_valid(const struct symbol_cache_header *h, const struct symbol_cache_entry *s,
			    size_t bytes)
{
	struct symbol_table counts = { .n = (size_t)h->n,
				       .n_index = (size_t)h->n_index,
				       .index_shift = h->index_shift };
	struct symbol_cache_header same;

	counts.strings.n = (size_t)h->n_strings;
	same = header_of(s, &counts);
	same.n_index = h->n_index;
	return memcmp(h, &same, sizeof(same)) == 0 && h->n >= SYMBOL_CACHE_MIN_SYMBOLS &&
	       h->n <= bytes / sizeof(struct symbol) && h->n_index <= h->n && h->index_shift < 64 &&
	       h->n_strings && h->n_strings <= bytes &&
	       bytes == sizeof(*h) + h->n * sizeof(struct symbol) +
				index_entries(h) * sizeof(uint32_t) + h->n_strings;
}

/* Whether the table can be written: interned ids must be 0, and module symbols, whose names are stored differently, must
 * not occur. */
static bool table_is_valid(const struct symbol_table *t)
{
	uint64_t before = 0;
	bool valid = t->strings.bytes[t->strings.n - 1] == '\0';

	for (size_t i = 0; i < t->n; i++) {
		const struct symbol *s = &t->v[i];

		valid &= (s->start >= before) & (s->name < t->strings.n) & (s->up == SYMBOL_NONE || s->up < i) &
			 !s->id & !(s->flags & SYMBOL_MODULE);
		before = s->start;
	}
	return valid;
}

/* The arrays are used where they are mapped: most symbols of a large table are never looked at. */
static bool use_mapped(struct symbol_table *t, char *at, size_t bytes, const struct symbol_cache_entry *s)
{
	const struct symbol_cache_header *h = (const void *)at;

	if (!header_is_valid(h, s, bytes) || at[bytes - 1])
		return false;
	t->v = (struct symbol *)(void *)(at + sizeof(*h));
	t->n = (size_t)h->n;
	t->index = h->n_index ? (uint32_t *)(void *)(t->v + t->n) : NULL;
	t->n_index = (size_t)h->n_index;
	t->index_shift = h->index_shift;
	t->strings.bytes = (char *)(void *)(t->v + t->n) + index_entries(h) * sizeof(*t->index);
	t->strings.n = (size_t)h->n_strings;
	t->mapped = at;
	t->mapped_bytes = bytes;
	t->compact = true;
	return true;
}

bool symbol_cache_read(struct symbol_cache_entry *s, struct symbol_table *t)
{
	size_t n = 0;
	scoped(closep) int fd = s->usable ? disk_cache_open(s->path, FILE_MAX, &n) : -1;
	void *at;

	if (fd < 0 || n < sizeof(struct symbol_cache_header))
		return false;
	at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);		/* IDs of names are written to symbols */
	if (at == MAP_FAILED)
		return false;
	s->found = use_mapped(t, at, n, s);
	if (!s->found)
		munmap(at, n);
	return s->found;
}

static int parts_of(const struct symbol_cache_header *h, const struct symbol_table *t, struct iovec *parts)
{
	size_t sizes[] = { sizeof(*h), t->n * sizeof(*t->v), index_entries(h) * sizeof(*t->index), t->strings.n };
	void *from[] = { (void *)h, t->v, t->index, t->strings.bytes };
	size_t bytes = 0;

	for (size_t i = 0; i < countof(sizes); i++) {
		parts[i] = (struct iovec){ from[i], sizes[i] };
		bytes += sizes[i];
	}
	return bytes <= FILE_MAX ? (int)countof(sizes) : 0;
}

/* Replaces the arrays of a table by those of its entry, which need less memory. */
static void use_written(const struct symbol_cache_entry *s, struct symbol_table *t)
{
	struct symbol_cache_entry again = *s;
	struct symbol_table mapped = *t;

	if (!symbol_cache_read(&again, &mapped))
		return;
	symbol_table_done(t);
	*t = mapped;
}

void symbol_cache_write(const struct symbol_cache_entry *s, struct symbol_table *t)
{
	struct disk_cache_writer file = { .fd = -1 };
	struct iovec parts[4];
	struct symbol_cache_header h;
	int n = 0;

	if (!s->usable || s->found || s->fresh || t->n < SYMBOL_CACHE_MIN_SYMBOLS || !disk_cache_write_begin(&file, s->path))
		return;
	symbol_table_compact(t);
	h = header_of(s, t);
	if (t->n >= SYMBOL_CACHE_MIN_SYMBOLS && t->strings.n && table_is_valid(t))
		n = parts_of(&h, t, parts);
	disk_cache_write_end(&file, parts, n);
	if (n)
		use_written(s, t);
}
