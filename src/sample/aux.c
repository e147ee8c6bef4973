/*
 * Mapping AUX areas and handing out what they hold. A piece goes out with its header in one run of
 * bytes, as whoever compresses or counts records has to see all of it, so pieces are kept small
 * enough to be copied.
 */
#include "sample/aux.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/defs.h"

#include <tacho/perfdata.h>

#define PIECE_BYTES (1u << 20)

bool aux_is_pmu(const char *pmu)
{
	static const char *const kinds[] = { "intel_pt", "intel_bts", "arm_spe", "cs_etm", "hisi_ptt",
					     "cpum_cf_diag" };

	for (size_t i = 0; pmu && i < countof(kinds); i++)
		if (strncmp(pmu, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

void aux_over(struct aux *a, struct perf_event_mmap_page *page, const void *data, uint64_t size,
	      bool overwrite)
{
	*a = (struct aux){ .page = page, .data = data, .size = size, .overwrite = overwrite };
	a->tail = overwrite ? 0 : page->aux_tail;
}

int aux_map(struct aux *a, int fd, struct perf_event_mmap_page *page, uint32_t pages,
	    bool overwrite)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), size = pages * page_bytes;
	/* Before 4.1 the page does not tell where its data is: behind itself. */
	uint64_t data_end = page->data_size ? page->data_offset + page->data_size : 0;
	void *at;

	if (!data_end)
		return -EOPNOTSUPP;
	/* Where the area is to lie has to be in the page before it is mapped. */
	page->aux_offset = (data_end + page_bytes - 1) / page_bytes * page_bytes;
	page->aux_size = size;
	at = mmap(NULL, size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  (off_t)page->aux_offset);
	if (at == MAP_FAILED)
		return -errno;
	aux_over(a, page, at, size, overwrite);
	a->mapped = true;
	return 0;
}

void aux_unmap(struct aux *a)
{
	if (a->mapped)
		munmap((void *)(uintptr_t)a->data, a->size);
	*a = (struct aux){ 0 };
}

/* header | size of what follows | where it was in the area | reference | number tid | cpu - */
struct auxtrace_record {
	uint32_t type;
	uint16_t misc, size;
	uint64_t bytes, offset, reference;
	uint32_t number, tid, cpu, reserved;
};

/* One piece that begins at the (unmasked) position `from`; what follows a record is padded to 8. */
static int put_piece(const struct aux *a, const struct aux_place *at, uint64_t from, uint64_t n,
		     struct buf *piece, tacho_bytes_fn *fn, void *arg)
{
	struct auxtrace_record h = {
		.type = TACHO_RECORD_AUXTRACE, .size = sizeof(h), .bytes = (n + 7) & ~7ULL,
		.offset = from, .number = at->number, .tid = (uint32_t)at->tid, .cpu = (uint32_t)at->cpu,
	};
	uint64_t begin = from & (a->size - 1), first = min_of(n, a->size - begin);

	buf_clear(piece);
	buf_put(piece, &h, sizeof(h));
	buf_put(piece, a->data + begin, first);
	buf_put(piece, a->data, n - first);
	buf_pad(piece, 0, h.bytes - n);
	return buf_failed(piece) ? -ENOMEM : fn(arg, piece->bytes, piece->n);
}

static int64_t put_range(const struct aux *a, const struct aux_place *at, uint64_t from, uint64_t to,
			 struct buf *piece, tacho_bytes_fn *fn, void *arg)
{
	int64_t sum = 0;

	while (from < to) {
		uint64_t n = min_of(to - from, (uint64_t)PIECE_BYTES);
		int err = put_piece(a, at, from, n, piece, fn, arg);

		if (err < 0)
			return err;
		sum += (int64_t)n;
		from += n;
	}
	return sum;
}

int64_t aux_drain(struct aux *a, const struct aux_place *at, struct buf *piece, tacho_bytes_fn *fn,
		  void *arg)
{
	uint64_t head;
	int64_t got;

	if (!a->page || a->overwrite)
		return 0;
	head = __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);
	if (head - a->tail > a->size)
		return -EBADMSG;
	got = put_range(a, at, a->tail, head, piece, fn, arg);
	if (got <= 0)
		return got;
	a->tail = head;
	/* Not masked: a masked tail ends the tracing after one round. */
	__atomic_store_n(&a->page->aux_tail, head, __ATOMIC_RELEASE);
	return got;
}

/* An area that was never full is zero behind its head. Some units count the head on, others start
 * again at 0: a head within the area does not tell. */
static bool was_full(const struct aux *a, uint64_t head)
{
	if (head > a->size)
		return true;
	for (uint64_t i = head & (a->size - 1); i < a->size; i++)
		if (a->data[i])
			return true;
	return false;
}

int64_t aux_snapshot(struct aux *a, const struct aux_place *at, uint64_t limit, struct buf *piece,
		     tacho_bytes_fn *fn, void *arg)
{
	uint64_t head, n, from;
	int64_t got;

	if (!a->page || !a->overwrite)
		return 0;
	head = __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);
	n = was_full(a, head) ? a->size : head;
	if (head >= a->tail && head > a->size)	/* counts on: what was in the last one is known */
		n = min_of(n, head - a->tail);
	else if (head == a->tail)
		return 0;
	if (limit)
		n = min_of(n, limit);
	/* A head that starts again cannot be gone back from; positions are taken one round later. */
	from = head >= n ? head - n : head + a->size - n;
	got = put_range(a, at, from, from + n, piece, fn, arg);
	if (got >= 0)
		a->tail = head;
	return got;
}
