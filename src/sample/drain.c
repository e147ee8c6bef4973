/*
 * Drains the rings. Records are passed to the caller's function without being copied, in one or two
 * pieces per ring. Before that, each record's header and four words of each sample are read: enough to
 * count samples and losses, to know the first and last time, and to find the object the ip is in.
 * A ring with invalid records fails with -EBADMSG; none of its records are output.
 */
#include "sample/sampler.h"

#include <errno.h>

#include <tacho/record.h>

#define MISC_CPUMODE 7
#define MISC_KERNEL 1
#define MISC_USER 2
#define MISC_MMAP_DATA (1 << 13)
#define MISC_COMM_EXEC (1 << 13)
#define MISC_MMAP_BUILD_ID (1 << 14)

static struct sampler_count *find_count(const struct drainer *d, uint64_t id)
{
	const struct int_map_slot *event = int_map_find(&d->s->ids, id);

	return event && event->value < d->s->n_counts ? &d->counts[event->value] : NULL;
}

struct drainer sampler_drainer(struct tacho_sampler *s)
{
	return (struct drainer){ s, s->counts, &s->hitmap, &s->bounce };
}

/* A small cache from event id to counts: a ring contains samples of few events, which alternate. */
#define RECENT 8
struct recent_count {
	uint64_t id;
	struct sampler_count *count;
};

static inline void inspect_sample(const struct drainer *d, const struct ring_span *span,
				  uint64_t at, unsigned misc, struct recent_count *recent)
{
	uint64_t id = ring_word(span, at + 8), time = ring_word(span, at + 32);
	union {
		uint64_t word;
		uint32_t half[2];	/* pid, tid */
	} task = { .word = ring_word(span, at + 24) };
	struct recent_count *mine = &recent[id % RECENT];
	struct tacho_sampler_stats *stats;

	if (mine->id != id)
		*mine = (struct recent_count){ id, find_count(d, id) };
	if (!mine->count)
		return;
	stats = &mine->count->stats;
	stats->samples++;
	if (!stats->first_ns || time < stats->first_ns)
		stats->first_ns = time;
	if (time > stats->last_ns)
		stats->last_ns = time;
	if (!d->hitmap)
		return;
	if ((misc & MISC_CPUMODE) == MISC_USER) {
		hitmap_hit(d->hitmap, (int32_t)task.half[0], ring_word(span, at + 16));
	} else if ((misc & MISC_CPUMODE) == MISC_KERNEL) {
		d->hitmap->kernel_hit = true;
		if (d->s->has_modules)
			hitmap_hit(d->hitmap, HITMAP_KERNEL_PID, ring_word(span, at + 16));
	}
}

/* Returns the record as contiguous bytes, copied to the bounce buffer if it wraps around. NULL: no memory. */
static const uint8_t *whole_record(const struct drainer *d, const struct ring_span *span,
				   uint64_t at, uint64_t size)
{
	struct ring_span one = { span->ring, span->at + at, size };
	struct ring_piece pieces[2];
	int n = ring_pieces(&one, pieces);

	if (n == 1)
		return pieces[0].bytes;
	buf_clear(d->bounce);
	for (int i = 0; i < n; i++)
		buf_put(d->bounce, pieces[i].bytes, pieces[i].n);
	return buf_failed(d->bounce) ? NULL : (const uint8_t *)d->bounce->bytes;
}

static uint32_t u32_at(const uint8_t *bytes, size_t offset)
{
	uint32_t v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
	uint64_t v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

/* header | pid tid | addr len pgoff | maj min ino gen, or build ID size, 3 unused, 20 bytes of build ID |
 * prot flags | path */
static int track_mmap2(struct hitmap *map, const uint8_t *r, unsigned misc, size_t size)
{
	enum { PID = 8, ADDR = 16, LEN = 24, ID = 40, ID_BYTES = 44, PATH = 72 };
	struct hitmap_new_mapping m;

	if (size <= PATH || misc & MISC_MMAP_DATA)
		return 0;
	m = (struct hitmap_new_mapping){
		.pid = (int32_t)u32_at(r, PID), .start = u64_at(r, ADDR), .len = u64_at(r, LEN),
		.path = str_n((const char *)r + PATH, strnlen((const char *)r + PATH, size - PATH)),
	};
	if (misc & MISC_MMAP_BUILD_ID) {
		m.build_id = r + ID_BYTES;
		m.n_build_id = min_of(r[ID], 20);
	}
	return hitmap_mmap(map, &m);
}

/* header | pid ppid | tid ptid | time */
static int track_task(struct hitmap *map, const uint8_t *r, uint32_t type, size_t size)
{
	int32_t pid, ppid, tid;

	if (size < 32)
		return 0;
	pid = (int32_t)u32_at(r, 8);
	ppid = (int32_t)u32_at(r, 12);
	tid = (int32_t)u32_at(r, 16);
	if (type == TACHO_RECORD_FORK)
		return pid == ppid ? 0 : hitmap_fork(map, pid, ppid);
	if (pid == tid)
		hitmap_exit(map, pid);
	return 0;
}

/* Records of the tracker: keeps the hitmap's processes and mappings up to date. These records are rare
 * compared with samples. */
static int track_record(const struct drainer *d, const struct ring_span *span, uint64_t at,
			struct ring_header h)
{
	const uint8_t *r;

	if (!d->hitmap)
		return 0;
	r = whole_record(d, span, at, h.size);
	if (!r)
		return -ENOMEM;
	switch (h.type) {
	case TACHO_RECORD_MMAP2:
		return track_mmap2(d->hitmap, r, h.misc, h.size);
	case TACHO_RECORD_COMM:
		if (h.misc & MISC_COMM_EXEC && h.size >= 16)
			hitmap_exec(d->hitmap, (int32_t)u32_at(r, 8));
		return 0;
	default:
		return track_task(d->hitmap, r, h.type, h.size);
	}
}

static void count_lost(const struct drainer *d, const struct ring_span *span, uint64_t at,
		       struct ring_header h)
{
	/* LOST: id, count. LOST_SAMPLES: count, and the id is the last word of the sample_id trailer. */
	bool samples = h.type == TACHO_RECORD_LOST_SAMPLES;
	uint64_t id_at = samples ? h.size - 8u : 8, n_at = samples ? 8 : 16;
	struct sampler_count *c;

	if (h.size < 24)
		return;
	c = find_count(d, ring_word(span, at + id_at));
	if (c)
		c->lost_in_records += ring_word(span, at + n_at);
}

static int inspect_sideband(const struct drainer *d, const struct ring_span *span, uint64_t at,
			    struct ring_header h)
{
	struct sampler_count *c;

	switch (h.type) {
	case TACHO_RECORD_LOST:
	case TACHO_RECORD_LOST_SAMPLES:
		count_lost(d, span, at, h);
		return 0;
	case TACHO_RECORD_THROTTLE:
		c = h.size >= 32 ? find_count(d, ring_word(span, at + 16)) : NULL;
		if (c)
			c->stats.throttled++;
		return 0;
	case TACHO_RECORD_MMAP2:
	case TACHO_RECORD_COMM:
	case TACHO_RECORD_FORK:
	case TACHO_RECORD_EXIT:
		return track_record(d, span, at, h);
	default:
		return 0;
	}
}

int sampler_inspect(const struct drainer *d, const struct ring_span *span, uint64_t *cut)
{
	const uint64_t wrap = span->ring->size - (span->at & (span->ring->size - 1));
	struct recent_count recent[RECENT] = { 0 };
	uint64_t at = 0;

	*cut = UINT64_MAX;
	while (at < span->n) {
		struct ring_header h = ring_header(span, at);
		int err;

		if (h.size < 8 || h.size % 8 || h.size > span->n - at)
			return -EBADMSG;
		if (h.type == TACHO_RECORD_SAMPLE && h.size >= 40) {
			inspect_sample(d, span, at, h.misc, recent);
		} else {
			err = inspect_sideband(d, span, at, h);
			if (err < 0)
				return err;
		}
		if (at < wrap && at + h.size > wrap)
			*cut = at;
		at += h.size;
	}
	return 0;
}

static int output_pieces(const struct ring_span *span, tacho_bytes_fn *fn, void *arg)
{
	struct ring_piece pieces[2];
	int n = ring_pieces(span, pieces), err = 0;

	for (int i = 0; err >= 0 && i < n; i++)
		err = fn(arg, pieces[i].bytes, pieces[i].n);
	return err;
}

/* Outputs the span in one or two pieces. A record that wraps around (at `cut`) is output separately as
 * contiguous bytes, so that each call passes whole records and a writer can stop between them. */
static int64_t output_span(const struct drainer *d, const struct ring_span *span, uint64_t cut,
			   tacho_bytes_fn *fn, void *arg)
{
	struct ring_span part = { span->ring, span->at, cut };
	const uint8_t *record;
	uint64_t size;
	int err;

	if (cut == UINT64_MAX) {
		err = output_pieces(span, fn, arg);
		return err < 0 ? err : (int64_t)span->n;
	}
	size = ring_header(span, cut).size;
	record = whole_record(d, span, cut, size);
	err = record ? output_pieces(&part, fn, arg) : -ENOMEM;
	if (err >= 0)
		err = fn(arg, record, size);
	part = (struct ring_span){ span->ring, span->at + cut + size, span->n - cut - size };
	if (err >= 0)
		err = output_pieces(&part, fn, arg);
	return err < 0 ? err : (int64_t)span->n;
}

static int64_t drain_ring(const struct drainer *d, struct ring *r, tacho_bytes_fn *fn, void *arg)
{
	struct ring_span span = ring_unread(r);
	uint64_t cut;
	int64_t got;
	int err;

	if (!span.n)
		return 0;
	err = sampler_inspect(d, &span, &cut);
	if (err < 0)
		return err;
	got = output_span(d, &span, cut, fn, arg);
	if (got >= 0)
		ring_release(r, &span);
	return got;
}

static struct aux_output aux_output(const struct tacho_sampler *s, size_t i, struct buf *scratch,
				    tacho_bytes_fn *fn, void *arg)
{
	const struct sampler_ring *r = &s->rings.v[i];

	return (struct aux_output){ (uint32_t)i, r->cpu, r->tid, scratch, fn, arg };
}

/* The ring is drained before its AUX area, so that AUX records precede the data they describe. */
int64_t sampler_drain_ring(const struct drainer *d, size_t i, tacho_bytes_fn *fn, void *arg)
{
	struct sampler_ring *r = &d->s->rings.v[i];
	struct aux_output out = aux_output(d->s, i, d->bounce, fn, arg);
	int64_t got = drain_ring(d, &r->ring, fn, arg), more;

	if (got < 0 || !r->aux.page)
		return got;
	more = aux_drain(&r->aux, &out);
	return more < 0 ? more : got + more;
}

/* Drains either the tracker's rings or the rings of samples. The tracker's come first, so that the mapping
 * a sample falls into is known. */
static int64_t drain_kind(struct tacho_sampler *s, bool tracker, tacho_bytes_fn *fn, void *arg)
{
	struct drainer d = sampler_drainer(s);
	int64_t sum = 0;

	for (size_t i = 0; i < s->rings.n; i++) {
		struct sampler_ring *r = &s->rings.v[i];
		int64_t got;

		if (r->tracker != tracker || r->overwrite || r->reader)
			continue;
		got = sampler_drain_ring(&d, i, fn, arg);
		if (got < 0)
			return got;
		sum += got;
	}
	return sum;
}

int64_t sampler_drain_tracker(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg)
{
	int err = sampler_check_open(s);

	return err < 0 ? err : drain_kind(s, true, fn, arg);
}

int64_t tacho_sampler_drain(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg)
{
	int64_t maps = sampler_check_open(s), samples;

	if (maps < 0)
		return maps;
	maps = drain_kind(s, true, fn, arg);
	if (maps < 0)
		return maps;
	samples = drain_kind(s, false, fn, arg);
	hitmap_round(&s->hitmap);
	return samples < 0 ? samples : maps + samples;
}

static int64_t snapshot_ring(struct tacho_sampler *s, struct sampler_ring *r, tacho_bytes_fn *fn,
			     void *arg)
{
	struct drainer d = sampler_drainer(s);
	struct ring_span span;
	uint64_t cut;
	int64_t got;
	int err;

	/* Pause the ring: otherwise the oldest records are overwritten while they are read. */
	err = sys_perf_ioctl(&s->t->sys, r->fds.v[0], PERF_IOC_PAUSE_OUTPUT, 1);
	if (err < 0)
		return err;
	span = ring_newest(&r->ring);
	if (r->seen_head && span.at < r->seen_head)	/* head counts down; skip old records */
		span.n = min_of(span.n, r->seen_head - span.at);
	else if (r->seen_head == span.at)
		span.n = 0;
	r->seen_head = span.at;
	err = sampler_inspect(&d, &span, &cut);
	got = err < 0 ? err : output_span(&d, &span, cut, fn, arg);
	sys_perf_ioctl(&s->t->sys, r->fds.v[0], PERF_IOC_PAUSE_OUTPUT, 0);
	return got;
}

/* The tracing unit is stopped during the copy: otherwise it overwrites the data being read. */
static int64_t snapshot_aux(struct tacho_sampler *s, size_t i, tacho_bytes_fn *fn, void *arg)
{
	struct sampler_ring *r = &s->rings.v[i];
	struct aux_output out = aux_output(s, i, &s->bounce, fn, arg);
	int64_t got;

	if (r->aux_fd >= 0)
		sys_perf_ioctl(&s->t->sys, r->aux_fd, PERF_IOC_DISABLE, 0);
	got = aux_snapshot(&r->aux, &out, s->opts.aux_snapshot_bytes);
	if (r->aux_fd >= 0 && !s->stopped)
		sys_perf_ioctl(&s->t->sys, r->aux_fd, PERF_IOC_ENABLE, 0);
	return got;
}

int64_t tacho_sampler_snapshot(struct tacho_sampler *s, tacho_bytes_fn *fn, void *arg)
{
	int64_t sum = tacho_sampler_drain(s, fn, arg);

	for (size_t i = 0; sum >= 0 && i < s->rings.n; i++) {
		int64_t got = 0;

		if (s->rings.v[i].overwrite)
			got = snapshot_ring(s, &s->rings.v[i], fn, arg);
		if (got >= 0 && s->rings.v[i].aux.page && s->opts.aux_snapshot)
			got = snapshot_aux(s, i, fn, arg);
		sum = got < 0 ? got : sum + got;
	}
	return sum;
}
