/*
 * Decoding samples. The fields come in the order in which the kernel writes them, which differs from the
 * order of the bits and, for the last fields, from the comments in old kernel headers. This is the hot
 * path of every reader: the fields that nearly all samples have are decoded inline; the general decoder
 * is compiled twice, for this machine's byte order (where it copies nothing) and for the other one.
 *
 * One field is ambiguous: with PERF_SAMPLE_BRANCH_HW_INDEX, a branch stack of zero entries may or may not
 * be followed by the index (it is not if the PMU delivered no stack at all). Both interpretations are
 * tried, and the one that ends exactly at the end of the record is used.
 */
#include "record/record.h"

#include <errno.h>

#define inlined static inline __attribute__((always_inline))

/* The branch stack and the fields after it. */
#define LATE_FIELDS                                                                                \
	(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |               \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |                   \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR |                 \
	 PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE |            \
	 PERF_SAMPLE_AUX)

const uint64_t *scratch_copy_words(struct tacho_scratch *s, const void *p, size_t n, bool swap)
{
	uint64_t *to;

	if (n > countof(s->words) - s->used)
		return NULL;
	to = s->words + s->used;
	s->used += n;
	if (!swap)
		return n && p ? memcpy(to, p, n * sizeof(*to)) : to;
	for (size_t i = 0; i < n; i++)
		to[i] = load_u64((const uint8_t *)p + i * sizeof(*to), true);
	return to;
}

/*
 * Converts the flags of a branch from a big-endian recorder. They are C bit fields in the kernel without
 * a variant for each byte order, so a big-endian kernel fills the word from the most significant bit.
 */
static uint64_t branch_flags_from_big(uint64_t w)
{
	return (w >> 63 & 1) | (w >> 62 & 1) << 1 | (w >> 61 & 1) << 2 | (w >> 60 & 1) << 3 |
	       (w >> 44 & 0xffff) << 4 | (w >> 40 & 15) << 20 | (w >> 38 & 3) << 24 |
	       (w >> 34 & 15) << 26 | (w >> 31 & 7) << 30;
}

static const struct tacho_branch *branches_take(struct cursor *c, struct tacho_scratch *s, uint64_t n)
{
	const size_t each = sizeof(struct tacho_branch) / sizeof(uint64_t);
	bool from_big = c->swap != RECORD_HOST_BIG;
	struct tacho_words w;
	uint64_t *converted;

	_Static_assert(sizeof(struct tacho_branch) == 24, "size of perf_branch_entry");
	if (n > UINT16_MAX) {
		c->bad = true;
		return NULL;
	}
	w = words_take(c, s, n * each);
	if (c->bad || !from_big)
		return (const struct tacho_branch *)w.v;
	/* Swapped words are in the scratch buffer already; those of a big-endian host are not. */
	converted = (uint64_t *)(c->swap ? w.v : scratch_copy_words(s, w.v, w.n, false));
	for (size_t i = 0; converted && i < n; i++)
		converted[i * each + 2] = branch_flags_from_big(converted[i * each + 2]);
	if (!converted)
		c->bad = true;
	return (const struct tacho_branch *)converted;
}

static void regs_take(struct tacho_regs *out, struct cursor *c, struct tacho_scratch *s, uint64_t mask)
{
	out->abi = cursor_u64(c);
	if (!out->abi)
		return;
	out->mask = mask;
	out->values = words_take(c, s, (uint64_t)__builtin_popcountll(mask));
}

static void stack_take(struct tacho_sample *out, struct cursor *c)
{
	uint64_t n = cursor_u64(c);

	if (!n)
		return;
	out->stack = cursor_bytes(c, n);
	out->n_stack = n;
	out->n_stack_used = cursor_u64(c);
	if (out->n_stack_used > n)
		c->bad = true;
}

static void weight_take(struct tacho_sample *out, struct cursor *c, uint64_t type)
{
	uint64_t w = cursor_u64(c);

	if (!(type & PERF_SAMPLE_WEIGHT_STRUCT)) {
		out->weight = w;
		return;
	}
	out->weight = (uint32_t)w;
	out->weight2 = (uint16_t)(w >> 32);
	out->weight3 = (uint16_t)(w >> 48);
}

/* The fields after the branch stack. */
static void after_branches_take(struct tacho_sample *out, struct cursor *c, struct tacho_scratch *s,
		      const struct tacho_layout *lay)
{
	uint64_t type = lay->sample_type;

	if (type & PERF_SAMPLE_REGS_USER)
		regs_take(&out->regs_user, c, s, lay->regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		stack_take(out, c);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		weight_take(out, c, type);
	if (type & PERF_SAMPLE_DATA_SRC)
		out->data_src = cursor_u64(c);
	if (type & PERF_SAMPLE_TRANSACTION)
		out->transaction = cursor_u64(c);
	if (type & PERF_SAMPLE_REGS_INTR)
		regs_take(&out->regs_intr, c, s, lay->regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		out->phys_addr = cursor_u64(c);
	if (type & PERF_SAMPLE_CGROUP)
		out->cgroup = cursor_u64(c);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		out->data_page_size = cursor_u64(c);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		out->code_page_size = cursor_u64(c);
	if (type & PERF_SAMPLE_AUX) {
		out->n_aux = cursor_u64(c);
		out->aux = cursor_bytes(c, out->n_aux);
	}
}

/* Decodes the rest with or without a hw_index; true if it ends exactly at the end of the record. */
static bool try_with_index(struct tacho_sample *out, struct cursor *c, struct tacho_scratch *s,
			const struct tacho_layout *lay, bool index)
{
	if (index)
		out->branch_hw_index = cursor_u64(c);
	after_branches_take(out, c, s, lay);
	return !c->bad && c->at == c->end;
}

/* After an empty branch stack: decodes the rest with a hw_index or without, whichever fits. */
static void optional_index_take(struct tacho_sample *out, struct cursor *c, struct tacho_scratch *s,
			     const struct tacho_layout *lay)
{
	const struct tacho_sample before = *out;
	const struct cursor start = *c;
	const size_t used = s->used;
	bool index_fits;

	if (try_with_index(out, c, s, lay, true))
		return;
	index_fits = !c->bad;
	*out = before;
	*c = start;
	s->used = used;
	if (try_with_index(out, c, s, lay, false) || !index_fits)
		return;
	/* Neither fits exactly: unknown fields follow. A hw_index is more likely. */
	*out = before;
	*c = start;
	s->used = used;
	try_with_index(out, c, s, lay, true);
}

static void late_take(struct tacho_sample *out, struct cursor *c, struct tacho_scratch *s,
		      const struct tacho_layout *lay)
{
	if (lay->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		uint64_t n = cursor_u64(c);
		bool index = lay->branch_type & PERF_BRANCH_HW_INDEX;

		if (n == 0 && index && !c->bad) {
			optional_index_take(out, c, s, lay);
			return;
		}
		if (index)
			out->branch_hw_index = cursor_u64(c);
		out->branches = branches_take(c, s, n);
		out->n_branches = (size_t)n;
		if (lay->branch_type & PERF_BRANCH_COUNTERS)
			out->branch_counters = words_take(c, s, n);
	}
	after_branches_take(out, c, s, lay);
}

/* The fields before READ are up to nine 64-bit words, so one comparison checks that all of them are
 * within the record. */
#define LEADING_MAX_BYTES (9 * sizeof(uint64_t))

inlined size_t leading_bytes(uint64_t type)
{
	static const uint8_t bits_set[] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };
	size_t words = (size_t)bits_set[type & 15] + bits_set[type >> 6 & 15] + (type >> 16 & 1);

	_Static_assert(PERF_SAMPLE_IDENTIFIER == 1 << 16, "bits of sample_type");
	_Static_assert((PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_ADDR) == 15, "bits of sample_type");
	_Static_assert((PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			PERF_SAMPLE_STREAM_ID) == 15 << 6, "bits of sample_type");
	return words * sizeof(uint64_t);
}

inlined uint64_t leading_u64(struct cursor *c, bool checked)
{
	uint64_t v;

	if (!checked)
		return cursor_u64(c);
	v = load_u64(c->at, c->swap);
	c->at += sizeof(v);
	return v;
}

inlined uint32_t leading_u32(struct cursor *c, bool checked)
{
	uint32_t v;

	if (!checked)
		return cursor_u32(c);
	memcpy(&v, c->at, sizeof(v));
	c->at += sizeof(v);
	return c->swap ? __builtin_bswap32(v) : v;
}

inlined void leading_take(struct tacho_sample *out, struct cursor *c, uint64_t type, bool checked)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		out->id = leading_u64(c, checked);
	if (type & PERF_SAMPLE_IP)
		out->ip = leading_u64(c, checked);
	if (type & PERF_SAMPLE_TID) {
		out->pid = leading_u32(c, checked);
		out->tid = leading_u32(c, checked);
	}
	if (type & PERF_SAMPLE_TIME)
		out->time = leading_u64(c, checked);
	if (type & PERF_SAMPLE_ADDR)
		out->addr = leading_u64(c, checked);
	if (type & PERF_SAMPLE_ID)
		out->id = leading_u64(c, checked);
	if (type & PERF_SAMPLE_STREAM_ID)
		out->stream_id = leading_u64(c, checked);
	if (type & PERF_SAMPLE_CPU) {
		out->cpu = leading_u32(c, checked);
		leading_u32(c, checked);		/* reserved */
	}
	if (type & PERF_SAMPLE_PERIOD)
		out->period = leading_u64(c, checked);
}

inlined int decode(struct tacho_sample *out, const struct tacho_record *rec,
		   const struct tacho_layout *lay, struct tacho_scratch *s, bool swap)
{
	struct cursor c = record_body(rec, swap);
	uint64_t type = lay->sample_type;

	if (!swap && (size_t)(c.end - c.at) >= leading_bytes(type))
		leading_take(out, &c, type, true);
	else
		leading_take(out, &c, type, false);
	if (type & PERF_SAMPLE_READ) {
		struct cursor values = c;	/* a copy, so that `c` can live in registers */

		read_take(&out->read, &values, s, lay->read_format);
		c = values;
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		out->chain = words_take(&c, s, cursor_u64(&c));
	if (type & PERF_SAMPLE_RAW) {
		/* The kernel's padding is counted in the length. */
		out->n_raw = cursor_u32(&c);
		out->raw = cursor_bytes(&c, out->n_raw);
	}
	if (type & LATE_FIELDS) {
		struct cursor late = c;

		late_take(out, &late, s, lay);
		c.bad = late.bad;
	}
	return c.bad ? -EBADMSG : 0;
}

/* Decodes a sample in this machine's byte order that has only leading fields, a call chain and raw data.
 * False: the sample has other fields, or is damaged. */
inlined bool simple_sample_take(struct tacho_sample *out, const struct tacho_record *rec, uint64_t type,
			struct tacho_scratch *s)
{
	const size_t head = RECORD_HEADER_BYTES;
	struct cursor c;

	if (rec->type != TACHO_RECORD_SAMPLE || rec->swapped ||
	    (type & (PERF_SAMPLE_READ | LATE_FIELDS)))
		return false;
	if (rec->size < head + LEADING_MAX_BYTES && rec->size < head + leading_bytes(type))
		return false;
	c = cursor_over(rec->bytes + head, rec->size - head, false);
	leading_take(out, &c, type, true);
	if (type & PERF_SAMPLE_CALLCHAIN)
		out->chain = words_take(&c, s, cursor_u64(&c));
	if (type & PERF_SAMPLE_RAW) {
		out->n_raw = cursor_u32(&c);
		out->raw = cursor_bytes(&c, out->n_raw);
	}
	return !c.bad;
}

/* Clears the sample with a size that is hidden from the compiler, which would otherwise emit `rep stos`;
 * starting that instruction alone takes longer than the whole memset() of the C library. */
static void sample_clear(struct tacho_sample *s)
{
	size_t n = sizeof(*s);

	__asm__("" : "+r"(n));
	memset(s, 0, n);
}

/* Decodes a sample of any layout. */
static __attribute__((noinline)) int decode_any(struct tacho_sample *out,
						const struct tacho_record *rec,
						const struct tacho_layout *lay,
						struct tacho_scratch *scratch)
{
	int err = -EBADMSG;

	if (rec->type == TACHO_RECORD_SAMPLE && rec->swapped)
		err = decode(out, rec, lay, scratch, true);
	else if (rec->type == TACHO_RECORD_SAMPLE)
		err = decode(out, rec, lay, scratch, false);
	if (err < 0)
		sample_clear(out);
	return err;
}

/* Fields of *out that are not in the layout must be zero already. */
inlined int decode_cleared(struct tacho_sample *out, const struct tacho_record *rec,
			   const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	out->type = lay->sample_type;
	out->period = lay->period;
	out->branch_hw_index = UINT64_MAX;
	scratch->used = 0;
	return simple_sample_take(out, rec, lay->sample_type, scratch) ? 0 : decode_any(out, rec, lay, scratch);
}

/* For a program that was built with fewer or more members in its struct. */
static __attribute__((noinline)) int decode_other_size(struct tacho_sample *out, size_t size, const struct tacho_record *rec,
						       const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	struct tacho_sample all = { 0 };
	int err = decode_cleared(&all, rec, lay, scratch);

	memset(out, 0, size);
	memcpy(out, &all, min_of(size, sizeof(all)));
	return err;
}

int tacho_sample_decode_sized(struct tacho_sample *out, size_t size, const struct tacho_record *rec,
			      const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	if (size != sizeof(*out))
		return decode_other_size(out, size, rec, lay, scratch);
	sample_clear(out);
	return decode_cleared(out, rec, lay, scratch);
}

int tacho_sample_decode_again_sized(struct tacho_sample *out, size_t size, const struct tacho_record *rec,
				    const struct tacho_layout *lay, struct tacho_scratch *scratch)
{
	if (size != sizeof(*out))
		return decode_other_size(out, size, rec, lay, scratch);
	/* Most of the late fields are only written if they are not empty, so they must be cleared. */
	if (out->type != lay->sample_type || (out->type & (PERF_SAMPLE_READ | LATE_FIELDS)))
		sample_clear(out);
	return decode_cleared(out, rec, lay, scratch);
}
