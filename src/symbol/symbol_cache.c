#include "symbol/symbol_cache.h"

#include "base/disk_cache.h"
#include "base/map.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#define MAGIC 0x31736c6f626d7974ull	/* "tymbols1": another one for another layout, or where other rules make a table */
#define FILE_MAX ((size_t)1 << 30)
#define SETTLED_S 2			/* a file's times are not finer than a tick, nor all clocks equal */

struct header {
	uint64_t magic, version;	/* the latter of tacho, as a hash */
	struct saved_source own, debug;
	uint64_t n, n_index, n_strings;
	uint32_t index_shift, symbol_bytes;
};

/* ---- what a table is made of ---- */

static uint64_t ns_of(struct timespec t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct saved_source source_of(const struct stat *st)
{
	return (struct saved_source){ st->st_dev, st->st_ino, (uint64_t)st->st_size, ns_of(st->st_mtim),
				      ns_of(st->st_ctim) };
}

static bool is_fresh(const struct stat *st)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return st->st_ctim.tv_sec > now.tv_sec - SETTLED_S;
}

/* False for what was unpacked: nobody knows any more of which file. */
static bool note_elf(struct saved *s, const struct elf *e, struct saved_source *out)
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

/* What lies within the object's own file changes with that. */
static bool note_within(const struct elf *e, struct saved_source *out)
{
	*out = (struct saved_source){ .size = e->size };
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

void saved_of_elf(struct saved *s, uint64_t number, const struct elf *own, const struct elf *debug, bool within)
{
	memset(s, 0, sizeof(*s));
	s->usable = all_symbols_in(own) + all_symbols_in(debug) >= SAVED_LEAST && note_elf(s, own, &s->own) &&
		    (within ? note_within(debug, &s->debug) : note_elf(s, debug, &s->debug)) &&
		    disk_cache_path("symbols", number, s->path);
}

void saved_of_file(struct saved *s, const char *path)
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

static struct header header_of(const struct saved *s, const struct table *t)
{
	return (struct header){
		.magic = MAGIC, .version = str_hash(str_of(TACHO_VERSION)), .own = s->own, .debug = s->debug, .n = t->n,
		.n_index = t->index ? t->n_index : 0, .n_strings = t->strings.n, .index_shift = t->index_shift,
		.symbol_bytes = sizeof(struct symbol),
	};
}

static size_t index_entries(const struct header *h)
{
	return h->n_index ? (size_t)h->n_index + 1 : 0;
}

/* Whether it is of the same sources, and as long as it says. */
static bool fits(const struct header *h, const struct saved *s, size_t bytes)
{
	struct table counts = { .n = (size_t)h->n, .n_index = (size_t)h->n_index, .index_shift = h->index_shift };
	struct header same;

	counts.strings.n = (size_t)h->n_strings;
	same = header_of(s, &counts);
	same.n_index = h->n_index;
	return memcmp(h, &same, sizeof(same)) == 0 && h->n >= SAVED_LEAST && h->n <= bytes / sizeof(struct symbol) &&
	       h->n_index <= h->n && h->index_shift < 64 && h->n_strings && h->n_strings <= bytes &&
	       bytes == sizeof(*h) + h->n * sizeof(struct symbol) + index_entries(h) * sizeof(uint32_t) + h->n_strings;
}

/* Ids are given when a symbol is asked for, and names of modules lie behind those of symbols. */
static bool is_sound(const struct table *t)
{
	uint64_t before = 0;
	bool sound = t->strings.bytes[t->strings.n - 1] == '\0';

	for (size_t i = 0; i < t->n; i++) {
		const struct symbol *s = &t->v[i];

		sound &= (s->start >= before) & (s->name < t->strings.n) & (s->up == SYMBOL_NONE || s->up < i) &
			 !s->id & !(s->flags & SYMBOL_MODULE);
		before = s->start;
	}
	for (size_t i = 0; t->index && i <= t->n_index; i++)
		sound &= t->index[i] < t->n && (!i || t->index[i] >= t->index[i - 1]);
	return sound;
}

static bool read_rest(int fd, const struct header *h, struct table *t)
{
	size_t n_index = index_entries(h);
	struct iovec parts[3];

	if (table_reserve(t, (size_t)h->n, (size_t)h->n_strings + 1) < 0)
		return false;
	t->index = n_index ? reallocarray(NULL, n_index, sizeof(*t->index)) : NULL;
	if (n_index && !t->index)
		return false;
	parts[0] = (struct iovec){ t->v, (size_t)h->n * sizeof(*t->v) };
	parts[1] = (struct iovec){ t->index, n_index * sizeof(*t->index) };
	parts[2] = (struct iovec){ t->strings.bytes, (size_t)h->n_strings };
	if (disk_cache_read(fd, parts, countof(parts)) < 0)
		return false;
	t->n = (size_t)h->n;
	t->n_index = (size_t)h->n_index;
	t->index_shift = h->index_shift;
	t->strings.n = (size_t)h->n_strings;
	t->compact = true;
	return is_sound(t);
}

bool saved_read(struct saved *s, struct table *t)
{
	size_t n = 0;
	scoped(closep) int fd = s->usable ? disk_cache_open(s->path, FILE_MAX, &n) : -1;
	struct header h;
	struct iovec part = { &h, sizeof(h) };

	if (fd < 0 || disk_cache_read(fd, &part, 1) < 0 || !fits(&h, s, n))
		return false;
	s->found = read_rest(fd, &h, t);
	if (!s->found)
		table_done(t);
	return s->found;
}

static int parts_of(const struct header *h, const struct table *t, struct iovec *parts)
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

void saved_write(const struct saved *s, struct table *t)
{
	struct disk_cache_writer file = { .fd = -1 };
	struct iovec parts[4];
	struct header h;
	int n = 0;

	if (!s->usable || s->found || s->fresh || t->n < SAVED_LEAST || !disk_cache_write_begin(&file, s->path))
		return;
	table_compact(t);
	h = header_of(s, t);
	if (t->n >= SAVED_LEAST && t->strings.n && is_sound(t))
		n = parts_of(&h, t, parts);
	disk_cache_write_end(&file, parts, n);
}
