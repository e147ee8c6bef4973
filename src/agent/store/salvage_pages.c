/*
 * Finds the chunks of a damaged store on its pages, without their tree. A chunk table's inner pages have rows too and
 * only a few branches, so each damaged page may cut off many intact ones.
 *
 *	page	type (10 leaf, 2 inner), ..., number of cells, their offsets
 *	cell	left child (inner pages), payload length, the beginning of the payload, first overflow page
 *	payload	header length, type of each column, columns: level, series, from_ns, to_ns, n, bytes
 *
 * See "Database File Format" in SQLite's documentation. Pages of other tables, free pages and damaged ones have no
 * cells with six such columns whose last is a chunk.
 */
#include "agent/store/salvage_pages.h"

#include <errno.h>
#include <fcntl.h>

#define FILE_HEADER 100
#define INNER_INDEX 2
#define LEAF_INDEX 10
#define MAX_PAYLOAD (1u << 20)

struct page_reader {
	int fd;
	uint32_t page_bytes, usable;
	uint8_t *page, *overflow;	/* the current page, and one that continues a payload */
	uint8_t *payload;
};

static uint32_t big_endian(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

/* SQLite's varints have the high bits first, and eight bits in the ninth byte. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
	uint64_t v = 0;

	for (int i = 0; i < 9 && *at < end; i++) {
		uint8_t byte = *(*at)++;

		if (i == 8) {
			*out = v << 8 | byte;
			return true;
		}
		v = v << 7 | (byte & 0x7f);
		if (!(byte & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

static bool read_page(const struct page_reader *r, uint64_t number, uint8_t *into)
{
	return number && pread(r->fd, into, r->page_bytes, (off_t)((number - 1) * r->page_bytes)) == (ssize_t)r->page_bytes;
}

/* How many bytes of a payload are in its cell; the others are on overflow pages. */
static uint64_t local_bytes(const struct page_reader *r, uint64_t n)
{
	uint64_t most = (r->usable - 12) * 64 / 255 - 23, least = (r->usable - 12) * 32 / 255 - 23;
	uint64_t rest = n > least ? least + (n - least) % (r->usable - 4) : n;

	return n <= most ? n : rest <= most ? rest : least;
}

/* Copies the payload of a cell. Returns its length, or 0 if it is damaged. */
static uint64_t read_payload(const struct page_reader *r, const uint8_t *at)
{
	const uint8_t *end = r->page + r->usable;
	uint64_t n, have;
	uint32_t next;

	if (!read_varint(&at, end, &n) || n > MAX_PAYLOAD)
		return 0;
	have = local_bytes(r, n);
	if (have > (uint64_t)(end - at) || (have < n && have + 4 > (uint64_t)(end - at)))
		return 0;
	memcpy(r->payload, at, have);
	next = have < n ? big_endian(at + have, 4) : 0;
	while (have < n) {
		uint64_t more = min_of(n - have, (uint64_t)r->usable - 4);

		if (!read_page(r, next, r->overflow))
			return 0;
		memcpy(r->payload + have, r->overflow + 4, more);
		next = big_endian(r->overflow, 4);
		have += more;
	}
	return n;
}

/* The value of an integer column; the types 8 and 9 are 0 and 1. */
static bool read_integer(uint64_t type, const uint8_t **at, const uint8_t *end, int64_t *out)
{
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4, 6, 8 };
	uint64_t v;

	if (type == 8 || type == 9) {
		*out = type == 9;
		return true;
	}
	if (type < 1 || type > 6 || sizes[type] > end - *at)
		return false;
	v = **at & 0x80 ? UINT64_MAX : 0;
	for (unsigned i = 0; i < sizes[type]; i++)
		v = v << 8 | *(*at)++;
	*out = (int64_t)v;
	return true;
}

static bool decode_row(const uint8_t *payload, uint64_t n, struct closed_chunk *out)
{
	const uint8_t *at = payload, *end = payload + n, *body;
	uint64_t head, types[6];
	int64_t values[5];

	if (!read_varint(&at, end, &head) || head > n)
		return false;
	body = payload + head;
	for (int i = 0; i < 6; i++)
		if (!read_varint(&at, body, &types[i]))
			return false;
	if (at != body)
		return false;
	for (int i = 0; i < 5; i++)
		if (!read_integer(types[i], &body, end, &values[i]))
			return false;
	if (types[5] < 12 || types[5] % 2 || (types[5] - 12) / 2 != (uint64_t)(end - body) ||
	    values[0] < 0 || values[0] >= CHUNK_LEVELS || values[1] <= 0 || values[2] < 0 || values[3] < values[2] ||
	    values[4] <= 0 || values[4] > UINT32_MAX)
		return false;
	*out = (struct closed_chunk){ .key = (uint64_t)values[1], .level = (enum chunk_level)values[0],
				      .from_ns = values[2], .to_ns = values[3], .n = (uint32_t)values[4],
				      .bytes = (char *)(uintptr_t)body, .n_bytes = (size_t)(end - body) };
	return true;
}

static int visit_cells(const struct page_reader *r, int (*fn)(void *arg, const struct closed_chunk *c), void *arg)
{
	bool inner = r->page[0] == INNER_INDEX;
	uint32_t n = big_endian(r->page + 3, 2), first = inner ? 12 : 8;
	int err = 0;

	if (!inner && r->page[0] != LEAF_INDEX)
		return 0;
	for (uint32_t i = 0; err == 0 && i < n && first + i * 2 + 2 <= r->usable; i++) {
		uint32_t at = big_endian(r->page + first + i * 2, 2) + (inner ? 4u : 0u);
		struct closed_chunk chunk;
		uint64_t bytes = at < r->usable ? read_payload(r, r->page + at) : 0;

		if (bytes && decode_row(r->payload, bytes, &chunk))
			err = fn(arg, &chunk);
	}
	return err;
}

/* The file's first page may be the damaged one: then the default page size is assumed. */
static int read_header(struct page_reader *r)
{
	uint8_t head[FILE_HEADER];

	if (pread(r->fd, head, sizeof(head), 0) != sizeof(head))
		return -EBADMSG;
	r->page_bytes = big_endian(head + 16, 2);
	r->page_bytes = r->page_bytes == 1 ? 65536 : r->page_bytes;
	if (memcmp(head, "SQLite format 3", 16) != 0 || r->page_bytes < 512 || r->page_bytes & (r->page_bytes - 1)) {
		r->page_bytes = 4096;
		head[20] = 0;
	}
	r->usable = r->page_bytes - head[20];
	return r->usable < 480 ? -EBADMSG : 0;
}

int salvage_pages(const char *path, int (*fn)(void *arg, const struct closed_chunk *c), void *arg)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	scoped(freep) uint8_t *memory = NULL;
	struct page_reader r = { .fd = fd };
	int err = fd < 0 ? -errno : read_header(&r);

	if (err < 0)
		return err;
	memory = malloc(2 * (size_t)r.page_bytes + MAX_PAYLOAD);
	if (!memory)
		return -ENOMEM;
	r.page = memory;
	r.overflow = memory + r.page_bytes;
	r.payload = memory + 2 * (size_t)r.page_bytes;
	for (uint64_t number = 2; err == 0 && read_page(&r, number, r.page); number++)
		err = visit_cells(&r, fn, arg);
	return err;
}
