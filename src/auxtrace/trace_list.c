/*
 * Finds the AUXTRACE records of a recording. Only their positions are stored; the bytes are read when a queue is decoded.
 *
 *	AUXTRACE  u64 size, u64 position in the AUX area, u64 reference, u32 number of the area, u32 tid, u32 cpu | size bytes
 *
 * A piece of which the end is missing is shortened. The sizes add up to less than that of the file, which limits memory.
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct aux_queue *queue_of(struct trace_list *l, uint32_t number, int32_t cpu, int32_t tid)
{
	struct aux_queue *q;

	/* There is a queue per area. Pieces of snapshots may name another thread of the same area. */
	for (size_t i = 0; i < l->queues.n; i++)
		if (l->queues.v[i].number == number && l->queues.v[i].cpu == cpu && (cpu >= 0 || l->queues.v[i].tid == tid))
			return &l->queues.v[i];
	q = vec_add(&l->queues);
	if (q)
		*q = (struct aux_queue){ .number = number, .cpu = cpu, .tid = tid };
	return q;
}

static int add_piece(struct trace_list *l, const struct tacho_record *rec)
{
	struct cursor c = cursor_over(rec->bytes + RECORD_HEADER_BYTES, rec->size - RECORD_HEADER_BYTES, rec->swapped);
	struct trace_piece piece = { .file_offset = rec->offset + rec->size }, *slot;
	const struct trace_piece *last;
	struct trace_run *run;
	struct aux_queue *q;
	uint32_t number;
	int32_t cpu, tid;

	piece.n = cursor_u64(&c);
	piece.position = cursor_u64(&c);
	piece.reference = cursor_u64(&c);
	number = cursor_u32(&c);
	tid = (int32_t)cursor_u32(&c);
	cpu = (int32_t)cursor_u32(&c);
	if (c.bad)
		return -EBADMSG;
	if (piece.file_offset >= l->file_size)
		return -EBADMSG;
	piece.n = min_of(piece.n, l->file_size - piece.file_offset);
	if (!piece.n)
		return 0;
	q = queue_of(l, number, cpu, tid);
	slot = q ? vec_next(&q->pieces) : NULL;
	if (!slot)
		return -ENOMEM;
	*slot = piece;
	last = q->pieces.n > 1 ? slot - 1 : NULL;
	run = q->runs.n ? &q->runs.v[q->runs.n - 1] : NULL;
	/* A piece is padded to 8 bytes, so its end may be a little after the position of the next one. */
	if (!run || !last || piece.position > last->position + last->n || piece.position + 8 <= last->position + last->n) {
		run = vec_add(&q->runs);
		if (!run)
			return -ENOMEM;
		run->first = q->pieces.n - 1;
	}
	run->n++;
	run->bytes += piece.n;
	l->n_bytes += piece.n;
	return 0;
}

/* TIME_CONV: u64 shift, mult, zero; since Linux 5.13 also cycles, mask and flags. */
static void take_time(struct trace_list *l, const struct tacho_record *rec)
{
	struct cursor c = cursor_over(rec->bytes + RECORD_HEADER_BYTES, rec->size - RECORD_HEADER_BYTES, rec->swapped);
	struct time_conversion t = { .known = true };

	t.shift = cursor_u64(&c);
	t.mult = cursor_u64(&c);
	t.zero = cursor_u64(&c);
	if (c.bad)
		return;
	if (c.end - c.at >= 24) {
		t.cycles = cursor_u64(&c);
		t.mask = cursor_u64(&c);
		if (!(cursor_bytes(&c, 2) && c.at[-2] && c.at[-1]))	/* cap_user_time_zero, cap_user_time_short */
			t.cycles = t.mask = 0;
	}
	l->time = t;
}

int trace_list_read(struct trace_list *l, struct tacho_perfdata *pd, struct tacho_error *e)
{
	struct tacho_record rec;
	int bad = 0;

	while (!bad && tacho_perfdata_next(pd, &rec, e) > 0) {
		if (rec.type == TACHO_RECORD_AUXTRACE_INFO)
			bad = trace_info_decode(&l->info, &rec, e);
		else if (rec.type == TACHO_RECORD_TIME_CONV)
			take_time(l, &rec);
		else if (rec.type == TACHO_RECORD_AUXTRACE && add_piece(l, &rec) == -ENOMEM)
			bad = error_nomem(e);
	}
	if (!bad && l->info.kind == TRACE_INTEL_PT)
		l->time = (struct time_conversion){ .shift = l->info.pt.time_shift, .mult = l->info.pt.time_mult,
						    .zero = l->info.pt.time_zero, .known = l->info.pt.has_time_zero };
	/* Damage is reported when the recording is read the second time. */
	return bad;
}

void trace_list_done(struct trace_list *l)
{
	for (size_t i = 0; i < l->queues.n; i++) {
		vec_done(&l->queues.v[i].pieces);
		vec_done(&l->queues.v[i].runs);
	}
	vec_done(&l->queues);
}

/* Reads n bytes; what the file lacks stays zero, which is padding in all kinds of traces. */
static int read_at(int fd, uint64_t offset, uint8_t *to, uint64_t n)
{
	while (n) {
		ssize_t got = pread(fd, to, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		to += got;
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

int trace_run_load(const struct aux_queue *q, const struct trace_run *run, int fd, uint8_t **out)
{
	uint64_t at = 0;
	struct stat st;
	uint8_t *bytes;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!run->bytes || run->bytes > (uint64_t)st.st_size)
		return -EBADMSG;
	bytes = mmap(NULL, run->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < run->n; i++) {
		const struct trace_piece *p = &q->pieces.v[run->first + i];
		int err = read_at(fd, p->file_offset, bytes + at, p->n);

		if (err < 0) {
			trace_bytes_free(bytes, run->bytes);
			return err;
		}
		at += p->n;
		/* Without the padding of this piece, if the next one begins before. */
		if (i + 1 < run->n && p[1].position < p->position + p->n)
			at -= p->position + p->n - p[1].position;
	}
	*out = bytes;
	return 0;
}

void trace_bytes_free(uint8_t *bytes, uint64_t n)
{
	if (bytes)
		munmap(bytes, n);
}
