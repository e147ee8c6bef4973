/*
 * Maps AUX areas and outputs their contents as AUXTRACE records. Each record and its data are passed to
 * the output function in one contiguous block, because the writer compresses and counts whole records;
 * the data is therefore split into pieces small enough to copy.
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
	/* Kernels before 4.1 have no data_offset, and no AUX areas either. */
	uint64_t data_end = page->data_size ? page->data_offset + page->data_size : 0;
	void *at;

	if (!data_end)
		return -EOPNOTSUPP;
	/* The kernel takes the position of the AUX area from the control page when it is mapped. */
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

/* perf's PERF_RECORD_AUXTRACE. `bytes` is the size of the data after the record, `offset` its position in
 * the area, `number` the index of the area. */
struct auxtrace_record {
	uint32_t type;
	uint16_t misc, size;
	uint64_t bytes, offset, reference;
	uint32_t number, tid, cpu, reserved;
};

/* Outputs `n` bytes that begin at the (unmasked) position `from` as one record, padded to 8 bytes. */
static int output_piece(const struct aux *a, const struct aux_output *out, uint64_t from, uint64_t n)
{
	struct auxtrace_record h = {
		.type = TACHO_RECORD_AUXTRACE, .size = sizeof(h), .bytes = (n + 7) & ~7ULL,
		.offset = from, .number = out->number, .tid = (uint32_t)out->tid, .cpu = (uint32_t)out->cpu,
	};
	uint64_t begin = from & (a->size - 1), first = min_of(n, a->size - begin);
	struct buf *piece = out->scratch;

	buf_clear(piece);
	buf_put(piece, &h, sizeof(h));
	buf_put(piece, a->data + begin, first);
	buf_put(piece, a->data, n - first);
	buf_pad(piece, 0, h.bytes - n);
	return buf_failed(piece) ? -ENOMEM : out->fn(out->arg, piece->bytes, piece->n);
}

static int64_t output_range(const struct aux *a, const struct aux_output *out, uint64_t from, uint64_t to)
{
	int64_t sum = 0;

	while (from < to) {
		uint64_t n = min_of(to - from, (uint64_t)PIECE_BYTES);
		int err = output_piece(a, out, from, n);

		if (err < 0)
			return err;
		sum += (int64_t)n;
		from += n;
	}
	return sum;
}

int64_t aux_drain(struct aux *a, const struct aux_output *out)
{
	uint64_t head;
	int64_t got;

	if (!a->page || a->overwrite)
		return 0;
	head = __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);
	if (head - a->tail > a->size)
		return -EBADMSG;
	got = output_range(a, out, a->tail, head);
	if (got <= 0)
		return got;
	a->tail = head;
	/* The unmasked position: with a masked one tracing stops after the first wrap. */
	__atomic_store_n(&a->page->aux_tail, head, __ATOMIC_RELEASE);
	return got;
}

/* An area that has not wrapped yet is zero after its head. The position of the head does not show whether
 * the area has wrapped: some drivers let the head grow forever, others reset it to 0 at the end. */
static bool has_wrapped(const struct aux *a, uint64_t head)
{
	if (head > a->size)
		return true;
	for (uint64_t i = head & (a->size - 1); i < a->size; i++)
		if (a->data[i])
			return true;
	return false;
}

int64_t aux_snapshot(struct aux *a, const struct aux_output *out, uint64_t limit)
{
	uint64_t head, n, from;
	int64_t got;

	if (!a->page || !a->overwrite)
		return 0;
	head = __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);
	n = has_wrapped(a, head) ? a->size : head;
	if (head >= a->tail && head > a->size)	/* ever-growing head: skip the last snapshot */
		n = min_of(n, head - a->tail);
	else if (head == a->tail)
		return 0;
	if (limit)
		n = min_of(n, limit);
	/* With a head that was reset to 0, head - n would be negative: add one size of the area. */
	from = head >= n ? head - n : head + a->size - n;
	got = output_range(a, out, from, from + n);
	if (got >= 0)
		a->tail = head;
	return got;
}
