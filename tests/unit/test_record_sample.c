/*
 * Samples: every field alone, all together and in random combinations, in both byte orders and at unaligned
 * addresses, compared with the values of an independent encoder; and truncated at every byte.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/perf_abi.h"
#include "record/record.h"
#include "wire.h"

#define N_BITS 25
#define HW_INDEX (1ULL << 17)
#define COUNTERS (1ULL << 19)

/* The content of a sample, for the encoder and for the comparison. */
struct plan {
	struct tacho_layout lay;
	uint64_t seed;			/* of all values */
	unsigned n_chain, n_raw, n_branches, n_group, n_stack, n_aux;
	bool no_regs;			/* abi 0 */
	bool no_index;			/* the PMU delivered no branch stack at all */
};

/* The value of element `i` of a field. */
static uint64_t value(const struct plan *p, unsigned field, unsigned i)
{
	uint64_t state = p->seed * 0x9e3779b97f4a7c15ULL + field * 1000003ULL + i * 7919ULL + 1;

	for (int k = 0; k < 4; k++)
		next_random(&state);
	return state;
}

enum { IDENTIFIER = 16, PID = 100, DYN, HWI, FROM, TO, FLAGS, CNTR, ENABLED, RUNNING, RID, RLOST };


/* Bit fields start at the least significant bit on little-endian machines, at the most significant on others. */
static void put_branch_flags(struct wire *w, const struct plan *p, unsigned i)
{
	uint64_t want = value(p, FLAGS, i) & ((1ULL << 33) - 1), word = 0;
	static const unsigned widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	unsigned low = 0;

	for (size_t k = 0; k < sizeof(widths) / sizeof(widths[0]); k++) {
		uint64_t part = want >> low & ((1ULL << widths[k]) - 1);

		word |= part << (w->big ? 64 - low - widths[k] : low);
		low += widths[k];
	}
	put8(w, word);
}

static void put_read(struct wire *w, const struct plan *p)
{
	uint64_t f = p->lay.read_format;

	if (f & PERF_FORMAT_GROUP)
		put8(w, p->n_group);
	else
		put8(w, value(p, 4, 0));
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put8(w, value(p, ENABLED, 0));
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put8(w, value(p, RUNNING, 0));
	for (unsigned i = 0; i < (f & PERF_FORMAT_GROUP ? p->n_group : 1); i++) {
		if (f & PERF_FORMAT_GROUP)
			put8(w, value(p, 4, i));
		if (f & PERF_FORMAT_ID)
			put8(w, value(p, RID, i));
		if (f & PERF_FORMAT_LOST)
			put8(w, value(p, RLOST, i));
	}
}

static void put_many(struct wire *w, const struct plan *p, unsigned field, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(w, value(p, field, i) & 0xff, 1);
}

static void put_branches(struct wire *w, const struct plan *p)
{
	put8(w, p->n_branches);
	if ((p->lay.branch_type & HW_INDEX) && !p->no_index)
		put8(w, value(p, HWI, 0));
	for (unsigned i = 0; i < p->n_branches; i++) {
		put8(w, value(p, FROM, i));
		put8(w, value(p, TO, i));
		put_branch_flags(w, p, i);
	}
	for (unsigned i = 0; (p->lay.branch_type & COUNTERS) && i < p->n_branches; i++)
		put8(w, value(p, CNTR, i));
}

static void put_regs(struct wire *w, const struct plan *p, unsigned field, uint64_t mask)
{
	put8(w, p->no_regs ? 0 : 2);
	for (unsigned i = 0; !p->no_regs && i < 64; i++)
		if (mask >> i & 1)
			put8(w, value(p, field, i));
}

/* The order in which the kernel writes the fields. */
static void put_sample(struct wire *w, const struct plan *p, bool big)
{
	static const unsigned order[] = { 16, 0, 1, 2, 3, 6, 9, 7, 8, 4, 5, 10, 11, 12, 13,
					  14, 24, 15, 17, 18, 19, 21, 22, 23, 20 };

	wire_begin(w, big, TACHO_RECORD_SAMPLE, 2);
	for (unsigned k = 0; k < N_BITS; k++) {
		unsigned f = order[k];

		if (!(p->lay.sample_type >> f & 1))
			continue;
		switch (f) {
		case 1:
			put4(w, (uint32_t)value(p, PID, 0));
			put4(w, (uint32_t)value(p, 1, 0));
			break;
		case 7:
			put4(w, (uint32_t)value(p, 7, 0));
			put4(w, 0xdeadbeef);
			break;
		case 4:
			put_read(w, p);
			break;
		case 5:
			put8(w, p->n_chain);
			for (unsigned i = 0; i < p->n_chain; i++)
				put8(w, value(p, 5, i));
			break;
		case 10:
			put4(w, p->n_raw);
			put_many(w, p, 10, p->n_raw);
			break;
		case 11:
			put_branches(w, p);
			break;
		case 12:
			put_regs(w, p, 12, p->lay.regs_user);
			break;
		case 18:
			put_regs(w, p, 18, p->lay.regs_intr);
			break;
		case 13:
			put8(w, p->n_stack);
			put_many(w, p, 13, p->n_stack);
			if (p->n_stack)
				put8(w, value(p, DYN, 0) % (p->n_stack + 1));
			break;
		case 20:
			put8(w, p->n_aux);
			put_many(w, p, 20, p->n_aux);
			break;
		default:
			put8(w, value(p, f, 0));
		}
	}
	wire_size(w, w->n);
}

static void check_bytes(const struct plan *p, unsigned field, const uint8_t *at, uint64_t n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(at[i], value(p, field, i) & 0xff);
}

static void check_read(const struct plan *p, const struct tacho_read *r)
{
	uint64_t f = p->lay.read_format;

	assert_int_equal(r->n, f & PERF_FORMAT_GROUP ? p->n_group : 1);
	assert_int_equal(r->enabled_ns, f & 1 ? value(p, ENABLED, 0) : 0);
	assert_int_equal(r->running_ns, f & 2 ? value(p, RUNNING, 0) : 0);
	for (unsigned i = 0; i < r->n; i++) {
		struct tacho_read_value v = tacho_read_get(r, i);

		assert_int_equal(v.value, value(p, 4, i));
		assert_int_equal(v.id, f & PERF_FORMAT_ID ? value(p, RID, i) : 0);
		assert_int_equal(v.lost, f & PERF_FORMAT_LOST ? value(p, RLOST, i) : 0);
	}
	assert_int_equal(tacho_read_get(r, r->n).value, 0);
}

static void check_regs(const struct plan *p, unsigned field, const struct tacho_regs *r,
		       uint64_t mask)
{
	size_t at = 0;

	assert_int_equal(r->abi, p->no_regs ? 0 : 2);
	assert_int_equal(r->mask, p->no_regs ? 0 : mask);
	for (unsigned i = 0; i < 64; i++)
		if (r->mask >> i & 1)
			assert_int_equal(r->values.v[at++], value(p, field, i));
	assert_int_equal(at, r->values.n);
}

static void check_branches(const struct plan *p, const struct tacho_sample *s)
{
	bool index = (p->lay.branch_type & HW_INDEX) && !p->no_index;

	assert_int_equal(s->branch_hw_index, index ? value(p, HWI, 0) : UINT64_MAX);
	assert_int_equal(s->n_branches, p->n_branches);
	for (unsigned i = 0; i < s->n_branches; i++) {
		assert_int_equal(s->branches[i].from, value(p, FROM, i));
		assert_int_equal(s->branches[i].to, value(p, TO, i));
		assert_int_equal(s->branches[i].flags, value(p, FLAGS, i) & ((1ULL << 33) - 1));
	}
	assert_int_equal(s->branch_counters.n,
			 p->lay.branch_type & COUNTERS ? p->n_branches : 0);
	for (unsigned i = 0; i < s->branch_counters.n; i++)
		assert_int_equal(s->branch_counters.v[i], value(p, CNTR, i));
}

static void check_words(const struct plan *p, const struct tacho_sample *s)
{
	uint64_t t = p->lay.sample_type;
	const struct {
		unsigned bit;
		uint64_t got;
	} plain[] = {
		{ 0, s->ip }, { 2, s->time }, { 3, s->addr }, { 9, s->stream_id },
		{ 15, s->data_src }, { 17, s->transaction }, { 19, s->phys_addr }, { 21, s->cgroup },
		{ 22, s->data_page_size }, { 23, s->code_page_size },
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		assert_int_equal(plain[i].got, t >> plain[i].bit & 1 ? value(p, plain[i].bit, 0) : 0);
	assert_int_equal(s->type, t);
	assert_int_equal(s->period, t & PERF_SAMPLE_PERIOD ? value(p, 8, 0) : p->lay.period);
	assert_int_equal(s->pid, t & PERF_SAMPLE_TID ? (uint32_t)value(p, PID, 0) : 0);
	assert_int_equal(s->tid, t & PERF_SAMPLE_TID ? (uint32_t)value(p, 1, 0) : 0);
	assert_int_equal(s->cpu, t & PERF_SAMPLE_CPU ? (uint32_t)value(p, 7, 0) : 0);
	if (t & PERF_SAMPLE_ID)
		assert_int_equal(s->id, value(p, 6, 0));
	else
		assert_int_equal(s->id, t & PERF_SAMPLE_IDENTIFIER ? value(p, IDENTIFIER, 0) : 0);
}

static void check_sample(const struct plan *p, const struct tacho_sample *s)
{
	uint64_t t = p->lay.sample_type, w = value(p, 24, 0);

	check_words(p, s);
	if (t & PERF_SAMPLE_READ)
		check_read(p, &s->read);
	assert_int_equal(s->chain.n, t & PERF_SAMPLE_CALLCHAIN ? p->n_chain : 0);
	for (unsigned i = 0; i < s->chain.n; i++)
		assert_int_equal(s->chain.v[i], value(p, 5, i));
	assert_int_equal(s->n_raw, t & PERF_SAMPLE_RAW ? p->n_raw : 0);
	check_bytes(p, 10, s->raw, s->n_raw);
	if (t & PERF_SAMPLE_BRANCH_STACK)
		check_branches(p, s);
	if (t & PERF_SAMPLE_REGS_USER)
		check_regs(p, 12, &s->regs_user, p->lay.regs_user);
	if (t & PERF_SAMPLE_REGS_INTR)
		check_regs(p, 18, &s->regs_intr, p->lay.regs_intr);
	assert_int_equal(s->n_stack, t & PERF_SAMPLE_STACK_USER ? p->n_stack : 0);
	check_bytes(p, 13, s->stack, s->n_stack);
	assert_int_equal(s->n_stack_used, s->n_stack ? value(p, DYN, 0) % (p->n_stack + 1) : 0);
	if (t & PERF_SAMPLE_WEIGHT_STRUCT) {
		assert_int_equal(s->weight, (uint32_t)w);
		assert_int_equal(s->weight2, (uint16_t)(w >> 32));
		assert_int_equal(s->weight3, (uint16_t)(w >> 48));
	} else {
		assert_int_equal(s->weight, t & PERF_SAMPLE_WEIGHT ? value(p, 14, 0) : 0);
	}
	assert_int_equal(s->n_aux, t & PERF_SAMPLE_AUX ? p->n_aux : 0);
	check_bytes(p, 20, s->aux, s->n_aux);
}

static struct tacho_scratch scratch;
static struct wire wire;
static struct tacho_sample again;	/* decoded into again and again */

/* Encodes, decodes and compares, in both byte orders and at several alignments. */
static void run_plan(const struct plan *p)
{
	for (unsigned way = 0; way < 6; way++) {
		struct tacho_sample s;
		struct copy c;
		uint64_t t = p->lay.sample_type;

		put_sample(&wire, p, way & 1);
		c = wire_copy(&wire, wire.n, way < 2 ? 0 : way < 4 ? 4 : 1);
		assert_int_equal(c.err, 1);
		assert_int_equal(c.rec.offset, 4096);
		assert_int_equal(tacho_sample_decode(&s, &c.rec, &p->lay, &scratch), 0);
		check_sample(p, &s);
		assert_int_equal(tacho_sample_decode_again(&again, &c.rec, &p->lay, &scratch), 0);
		assert_memory_equal(&again, &s, sizeof(s));
		assert_int_equal(tacho_record_id(&c.rec, &p->lay),
				 t & PERF_SAMPLE_IDENTIFIER ? value(p, IDENTIFIER, 0) :
				 t & PERF_SAMPLE_ID ? value(p, 6, 0) : 0);
		assert_int_equal(tacho_record_time(&c.rec, &p->lay),
				 t & PERF_SAMPLE_TIME ? value(p, 2, 0) : UINT64_MAX);
		free(c.block);
	}
}

/* Every shorter record is rejected, and nothing is read past its end (checked by the sanitizers). */
static void cut_plan(const struct plan *p)
{
	for (unsigned big = 0; big < 2; big++) {
		put_sample(&wire, p, big);
		for (size_t size = 8; size < wire.n; size++) {
			struct tacho_sample s;
			struct copy c = wire_copy(&wire, size, size % 2);

			assert_int_equal(c.err, 1);
			assert_int_equal(tacho_sample_decode(&s, &c.rec, &p->lay, &scratch), -EBADMSG);
			assert_null(s.branches);
			assert_int_equal(tacho_sample_decode_again(&again, &c.rec, &p->lay, &scratch), -EBADMSG);
			assert_memory_equal(&again, &s, sizeof(s));
			free(c.block);
		}
	}
}

static struct plan base_plan(uint64_t sample_type)
{
	return (struct plan){
		.lay = { .sample_type = sample_type, .read_format = 0x1f, .regs_user = 0xff0fff,
			 .regs_intr = 0x8000400000000005ULL, .period = 4000,
			 .branch_type = HW_INDEX | COUNTERS },
		.seed = sample_type + 17, .n_chain = 3, .n_raw = 12, .n_branches = 2, .n_group = 3,
		.n_stack = 24, .n_aux = 16,
	};
}

static void each_field_alone(void **state)
{
	for (unsigned bit = 0; bit < N_BITS; bit++) {
		struct plan p = base_plan(1ULL << bit);

		run_plan(&p);
		cut_plan(&p);
	}
}

static void all_together(void **state)
{
	struct plan p = base_plan(((1ULL << N_BITS) - 1) & ~PERF_SAMPLE_WEIGHT);

	run_plan(&p);
	cut_plan(&p);
	p.lay.sample_type ^= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	run_plan(&p);
	cut_plan(&p);
}

static void read_formats(void **state)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct plan p = base_plan(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN);

		p.lay.read_format = format;
		run_plan(&p);
		cut_plan(&p);
		p.n_group = 0;
		run_plan(&p);
	}
}

static void random_subsets(void **state)
{
	static const unsigned raws[] = { 4, 12, 20, 7, 0 };
	uint64_t r = 88172645463325252ULL;

	for (unsigned i = 0; i < 3000; i++) {
		struct plan p = base_plan(next_random(&r) & ((1ULL << N_BITS) - 1));

		if (p.lay.sample_type & PERF_SAMPLE_WEIGHT)
			p.lay.sample_type &= ~PERF_SAMPLE_WEIGHT_STRUCT;
		p.lay.read_format = next_random(&r) % 32;
		p.lay.branch_type = next_random(&r) & (HW_INDEX | COUNTERS);
		p.n_chain = next_random(&r) % 5;
		p.n_raw = raws[next_random(&r) % 5];
		p.n_branches = next_random(&r) % 4;
		p.n_group = next_random(&r) % 4;
		p.n_stack = next_random(&r) % 3 * 8;
		p.n_aux = next_random(&r) % 3 * 8;
		p.no_regs = next_random(&r) & 1;
		run_plan(&p);
	}
}

/* A branch stack without entries, with and without the hw_index after it. */
static void empty_branch_stacks(void **state)
{
	const uint64_t behind[] = {
		0, PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_AUX, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX,
	};

	for (unsigned i = 0; i < sizeof(behind) / sizeof(behind[0]) * 4; i++) {
		struct plan p = base_plan(PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | behind[i / 4]);

		p.n_branches = 0;
		p.no_index = i & 1;
		p.no_regs = i & 2;
		run_plan(&p);
	}
}

/* Counts that are larger than any record must not overflow. */
static void hostile_counts(void **state)
{
	static const struct {
		uint64_t sample_type, format, branch;
	} cases[] = {
		{ PERF_SAMPLE_CALLCHAIN, 0, 0 },
		{ PERF_SAMPLE_READ, 0x1f, 0 },
		{ PERF_SAMPLE_BRANCH_STACK, 0, 0 },
		{ PERF_SAMPLE_BRANCH_STACK, 0, HW_INDEX | COUNTERS },
		{ PERF_SAMPLE_STACK_USER, 0, 0 },
		{ PERF_SAMPLE_AUX, 0, 0 },
		{ PERF_SAMPLE_RAW, 0, 0 },
	};
	static const uint64_t counts[] = { UINT64_MAX, 1ULL << 61, 1ULL << 60, 1ULL << 63,
					   0xaaaaaaaaaaaaaaabULL, UINT32_MAX, 65536, 8192 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			struct tacho_layout lay = { .sample_type = cases[i].sample_type,
						    .read_format = cases[i].format,
						    .branch_type = cases[i].branch };
			struct tacho_sample s;
			struct copy c;

			wire_begin(&wire, host_is_big(), TACHO_RECORD_SAMPLE, 0);
			/* the length of RAW is the first half of the word */
			put8(&wire, counts[k] | (lay.sample_type == PERF_SAMPLE_RAW ?
						 0x8000000080000000ULL : 0));
			for (unsigned n = 0; n < 8; n++)
				put8(&wire, 1);
			c = wire_copy(&wire, wire.n, 0);
			assert_int_equal(tacho_sample_decode(&s, &c.rec, &lay, &scratch), -EBADMSG);
			free(c.block);
		}
	}
}

/* A used size above the dumped size would make readers read past the dump. */
static void stack_used_beyond_dump(void **state)
{
	struct tacho_layout lay = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct tacho_sample s;
	struct copy c;

	wire_begin(&wire, host_is_big(), TACHO_RECORD_SAMPLE, 0);
	put8(&wire, 8);
	put8(&wire, 1);
	put8(&wire, 9);
	c = wire_copy(&wire, wire.n, 0);
	assert_int_equal(tacho_sample_decode(&s, &c.rec, &lay, &scratch), -EBADMSG);
	free(c.block);
}

/* The largest possible record in the other byte order fits into the scratch buffer. */
static void biggest_record(void **state)
{
	struct plan p = base_plan(PERF_SAMPLE_CALLCHAIN);

	p.n_chain = (65528 - 16) / 8;
	run_plan(&p);
}

/* Aligned words in this machine's byte order are not copied. */
static void views_are_in_place(void **state)
{
	struct plan p = base_plan(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ | PERF_SAMPLE_REGS_USER);
	struct tacho_sample s;
	struct copy c;

	put_sample(&wire, &p, host_is_big());
	c = wire_copy(&wire, wire.n, 0);
	assert_int_equal(tacho_sample_decode(&s, &c.rec, &p.lay, &scratch), 0);
	assert_int_equal(scratch.used, 0);
	assert_true((const uint8_t *)s.chain.v > c.block);
	assert_true((const uint8_t *)s.chain.v < c.block + wire.n);
	free(c.block);
}

static void not_a_sample(void **state)
{
	struct tacho_layout lay = { 0 };
	struct tacho_sample s;
	struct copy c;

	wire_begin(&wire, host_is_big(), TACHO_RECORD_COMM, 0);
	c = wire_copy(&wire, wire.n, 0);
	assert_int_equal(tacho_sample_decode(&s, &c.rec, &lay, &scratch), -EBADMSG);
	free(c.block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_alone),
		cmocka_unit_test(all_together),
		cmocka_unit_test(read_formats),
		cmocka_unit_test(random_subsets),
		cmocka_unit_test(empty_branch_stacks),
		cmocka_unit_test(hostile_counts),
		cmocka_unit_test(stack_used_beyond_dump),
		cmocka_unit_test(biggest_record),
		cmocka_unit_test(views_are_in_place),
		cmocka_unit_test(not_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
