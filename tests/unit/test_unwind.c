/*
 * Unwind tables and the walk over a stack: rules from call frame information that is written here byte by byte, a
 * stack of known words, and the cache on disk.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/perf_abi.h"
#include "record/replace_chain.h"
#include "symbol/elf.h"
#include "unwind/cfi.h"
#include "unwind/table.h"
#include "unwind/table_cache.h"
#include "unwind/walk.h"

#define SP 0x7000u

/* ---- tables ---- */

static struct unwind_rule rule_with_offset(int offset)
{
	return (struct unwind_rule){ .cfa = UNWIND_CFA_REGISTER, .cfa_reg = 7, .cfa_offset = offset, .fp = UNWIND_SAME,
				     .ra = UNWIND_AT_CFA, .ra_offset = -8 };
}

static int offset_at(const struct unwind_table *t, uint64_t address)
{
	const struct unwind_rule *r = unwind_table_find(t, address);

	return r ? r->cfa_offset : -1;
}

static void fill_table(struct unwind_table *t, unsigned n)
{
	struct unwind_builder b;

	memset(t, 0, sizeof(*t));
	assert_int_equal(unwind_builder_init(&b, t, 0x401230), 0);
	for (unsigned i = 0; i < n; i++) {
		struct unwind_rule r = rule_with_offset(8 + 8 * (int)(i % 5));

		assert_int_equal(unwind_builder_add(&b, 0x401230 + 0x30ull * i, &r), 0);
	}
	assert_int_equal(unwind_builder_add(&b, 0x401230 + 0x30ull * n, NULL), 0);
	assert_int_equal(unwind_builder_finish(&b), 0);
	unwind_builder_done(&b);
}

static void rows_are_found(void **state)
{
	const unsigned n = 20000;	/* 15 pages */
	struct unwind_table t;

	fill_table(&t, n);
	assert_int_equal(t.rules.n, 6);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(offset_at(&t, 0x401230 + 0x30ull * i), 8 + 8 * (i % 5));
		assert_int_equal(offset_at(&t, 0x401230 + 0x30ull * i + 0x2f), 8 + 8 * (i % 5));
	}
	assert_int_equal(offset_at(&t, 0x40122f), -1);
	assert_int_equal(offset_at(&t, 0x401230 + 0x30ull * n), -1);
	assert_int_equal(offset_at(&t, UINT64_MAX), -1);
	unwind_table_done(&t);
}

static void a_row_is_valid_over_empty_pages(void **state)
{
	struct unwind_rule r = rule_with_offset(16);
	struct unwind_builder b;
	struct unwind_table t = { 0 };

	assert_int_equal(unwind_builder_init(&b, &t, 0x1000), 0);
	assert_int_equal(unwind_builder_add(&b, 0x1000, &r), 0);
	assert_int_equal(unwind_builder_add(&b, 0x51000, NULL), 0);
	assert_int_equal(unwind_builder_finish(&b), 0);
	assert_int_equal(offset_at(&t, 0x50fff), 16);
	assert_int_equal(offset_at(&t, 0x31000), 16);
	assert_int_equal(offset_at(&t, 0x51000), -1);
	unwind_builder_done(&b);
	unwind_table_done(&t);
}

static void cached_tables_are_checked(void **state)
{
	static const uint8_t id[20] = { 1, 2, 3 }, other[20] = { 3, 2, 1 };
	char dir[] = "/tmp/tacho-unwind-XXXXXX", command[200];
	struct unwind_table t, back;
	FILE *f;

	assert_non_null(mkdtemp(dir));
	setenv("XDG_CACHE_HOME", dir, 1);
	fill_table(&t, 20000);
	unwind_cache_write(&t, id, sizeof(id));
	assert_false(unwind_cache_read(&back, other, sizeof(other)));
	assert_true(unwind_cache_read(&back, id, sizeof(id)));
	assert_int_equal(back.rows.n, t.rows.n);
	for (uint64_t at = 0x401000; at < 0x500000; at += 7)
		assert_int_equal(offset_at(&back, at), offset_at(&t, at));
	unwind_table_done(&back);
	/* A row of a rule that does not exist: the entry is ignored. */
	snprintf(command, sizeof(command), "f=$(echo %s/tacho/unwind/*) && printf '\\377\\377' | "
		 "dd of=$f bs=1 seek=$(($(stat -c %%s $f) - 2)) conv=notrunc 2>/dev/null", dir);
	f = popen(command, "r");	/* NOLINT(cert-env33-c): a fixed command */
	assert_non_null(f);
	assert_int_equal(pclose(f), 0);
	assert_false(unwind_cache_read(&back, id, sizeof(id)));
	unwind_table_done(&t);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);	/* NOLINT(cert-env33-c): a fixed command */
	unsetenv("XDG_CACHE_HOME");
}

/* ---- walks ---- */

struct code_range {
	uint64_t start, end;
	struct unwind_rule rule;	/* cfa UNWIND_CFA_GAP: code without a rule */
};

struct code {
	struct code_range v[6];
};

static struct unwind_code look_up(void *arg, uint64_t address)
{
	const struct code *c = arg;

	for (size_t i = 0; i < 6 && c->v[i].end; i++)
		if (address >= c->v[i].start && address < c->v[i].end)
			return (struct unwind_code){ c->v[i].rule.cfa ? &c->v[i].rule : NULL, true };
	return (struct unwind_code){ NULL, false };
}

static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_REGISTER, .cfa_reg = 7, .cfa_offset = 8, .fp = UNWIND_SAME,
					      .ra = UNWIND_UNDEFINED };

static void assert_walk(const struct code *code, uint64_t ip, uint64_t fp, const uint64_t *words, size_t n_words,
			enum unwind_end end, const uint64_t *expected, size_t n_expected)
{
	struct unwind_stack s = { .arch = unwind_arch_of(ELF_EM_X86_64), .known = 0x1ffff, .ip = ip, .start = SP,
				  .bytes = (const uint8_t *)words, .n = n_words * 8 };
	uint64_t out[16];
	size_t n = 0;

	s.regs[7] = SP;
	s.regs[6] = fp;
	assert_int_equal(unwind_walk(&s, look_up, (void *)code, out, 16, &n), end);
	assert_int_equal(n, n_expected);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(out[i], expected[i]);
}

static void return_addresses_lie_in_the_call(void **state)
{
	/* 0x2000 is the end of the first function: its last instruction is a call that does not return. */
	const struct code code = { { { 0x1000, 0x2000, rule_with_offset(16) }, { 0x2000, 0x3000, outermost } } };
	const uint64_t words[] = { 7, 0x2000, 9, 0x2500 }, expected[] = { 0x1004, 0x1fff, 0x24ff };

	assert_walk(&code, 0x1004, 0, words, 4, UNWIND_END_OUTERMOST, expected, 3);
}

static void a_short_copy_is_truncated(void **state)
{
	const struct code code = { { { 0x1000, 0x2000, rule_with_offset(16) } } };
	const uint64_t words[] = { 7, 0x1800, 9 }, expected[] = { 0x1004, 0x17ff };

	assert_walk(&code, 0x1004, 0, words, 3, UNWIND_END_TRUNCATED, expected, 2);
}

static void a_signal_frame_is_above_an_interrupted_instruction(void **state)
{
	struct code code = { { { 0x1000, 0x2000, rule_with_offset(8) }, { 0x3000, 0x3010, { 0 } }, { 0x4000, 0x5000, outermost } } };
	const uint64_t words[] = { 0x3001, 1, 2, SP + 5 * 8, 0x4000, 0x99 };
	const uint64_t expected[] = { 0x1004, 0x3001, 0x4000 };	/* 0x4000: the first instruction, not the byte before */

	code.v[1].rule = (struct unwind_rule){ .cfa = UNWIND_CFA_DEREF, .cfa_reg = 7, .cfa_offset = 16,
					       .fp = UNWIND_SAME, .ra = UNWIND_AT_REGISTER, .ra_reg = 7, .ra_offset = 24,
					       .flags = UNWIND_SIGNAL_FRAME };
	assert_walk(&code, 0x1004, 0, words, 6, UNWIND_END_OUTERMOST, expected, 3);
}

static void code_without_rules_is_stepped_over_by_its_frame_pointer(void **state)
{
	const struct code code = { { { 0x1000, 0x2000, { 0 } }, { 0x2000, 0x3000, outermost } } };
	const uint64_t words[] = { 1, SP + 32, 0x1800, 5, 0, 0x2100 }, expected[] = { 0x1004, 0x17ff, 0x20ff };

	assert_walk(&code, 0x1004, SP + 8, words, 6, UNWIND_END_OUTERMOST, expected, 3);
	/* A frame pointer that leads to no return address ends the stack. */
	assert_walk(&code, 0x1004, SP + 3, words, 6, UNWIND_END_NO_RULE, expected, 1);
	assert_walk(&code, 0x1004, SP + 24, words, 6, UNWIND_END_NO_RULE, expected, 1);
}

static void a_stack_that_does_not_grow_ends(void **state)
{
	struct code code = { { { 0x1000, 0x2000, rule_with_offset(0) } } };
	const uint64_t words[] = { 0x1500, 0x1500, 0x1500 }, expected[] = { 0x1004, 0x14ff };

	code.v[0].rule.ra_offset = 0;
	assert_walk(&code, 0x1004, 0, words, 3, UNWIND_END_INVALID, expected, 2);
}

static void an_address_outside_of_code_ends_the_stack(void **state)
{
	const struct code code = { { { 0x1000, 0x2000, rule_with_offset(8) } } };
	const uint64_t words[] = { 0x9000, 0x1500 }, expected[] = { 0x1004, 0x8fff };

	assert_walk(&code, 0x1004, 0, words, 2, UNWIND_END_INVALID, expected, 2);
}

static void a_plt_entry_pushes_in_its_middle(void **state)
{
	struct code code = { { { 0x1000, 0x1010, { 0 } }, { 0x4000, 0x5000, outermost } } };
	const uint64_t words[] = { 0x4100, 0x4200 }, early[] = { 0x1004, 0x40ff }, late[] = { 0x100b, 0x41ff };

	code.v[0].rule = (struct unwind_rule){ .cfa = UNWIND_CFA_PLT, .cfa_reg = 7, .cfa_offset = 8, .cfa_add = 11,
					       .fp = UNWIND_SAME, .ra = UNWIND_AT_CFA, .ra_offset = -8 };
	assert_walk(&code, 0x1004, 0, words, 2, UNWIND_END_OUTERMOST, early, 2);
	assert_walk(&code, 0x100b, 0, words, 2, UNWIND_END_OUTERMOST, late, 2);
}

/* ---- rewriting samples ---- */

static void a_sample_gets_another_chain(void **state)
{
	const struct tacho_layout lay = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							 PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |
							 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT,
					  .regs_user = 3 };
	const uint64_t words[] = { 0, 11, 0x1234, 5ull << 32 | 4, 2, (uint64_t)-128, 0xffffffff81000000,
				   4 | 0xabcdull << 32, 2, 21, 22, 16, 31, 32, 8, 99 };
	const uint64_t chain[] = { (uint64_t)-512, 0x1234, 0x5678 };
	struct tacho_record rec = { .type = TACHO_RECORD_SAMPLE, .size = sizeof(words), .bytes = (const uint8_t *)words };
	struct tacho_layout plain = lay;
	struct tacho_sample s;
	struct tacho_scratch *scratch = malloc(sizeof(*scratch));
	struct buf out = { 0 };
	uint16_t size;

	assert_non_null(scratch);
	for (int keep = 0; keep < 2; keep++) {
		buf_clear(&out);
		rec.bytes = (const uint8_t *)words;
		rec.size = sizeof(words);
		assert_int_equal(tacho_sample_decode(&s, &rec, &lay, scratch), 0);
		assert_int_equal(s.n_stack, 16);
		assert_int_equal(record_replace_chain(&rec, &s, &lay, (struct tacho_words){ chain, 3 }, keep, &out), 0);
		memcpy(&size, out.bytes + 6, sizeof(size));
		assert_int_equal(size, out.n);
		rec.bytes = (const uint8_t *)out.bytes;
		rec.size = size;
		plain.sample_type = lay.sample_type & ~(uint64_t)(PERF_SAMPLE_STACK_USER | (keep ? 0 : PERF_SAMPLE_REGS_USER));
		assert_int_equal(tacho_sample_decode(&s, &rec, &plain, scratch), 0);
		assert_int_equal(s.chain.n, 3);
		assert_int_equal(s.chain.v[2], 0x5678);
		assert_int_equal(s.n_raw, 4);
		assert_int_equal(s.weight, 99);
		assert_int_equal(s.regs_user.values.n, keep ? 2 : 0);
		assert_int_equal(s.tid, 5);
	}
	rec.bytes = (const uint8_t *)words;
	rec.size = sizeof(words) - 8 * 4;	/* cut inside the stack */
	assert_int_equal(record_replace_chain(&rec, &s, &lay, (struct tacho_words){ chain, 3 }, false, &out), -EBADMSG);
	buf_done(&out);
	free(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_found),
		cmocka_unit_test(a_row_is_valid_over_empty_pages),
		cmocka_unit_test(cached_tables_are_checked),
		cmocka_unit_test(return_addresses_lie_in_the_call),
		cmocka_unit_test(a_short_copy_is_truncated),
		cmocka_unit_test(a_signal_frame_is_above_an_interrupted_instruction),
		cmocka_unit_test(code_without_rules_is_stepped_over_by_its_frame_pointer),
		cmocka_unit_test(a_stack_that_does_not_grow_ends),
		cmocka_unit_test(an_address_outside_of_code_ends_the_stack),
		cmocka_unit_test(a_plt_entry_pushes_in_its_middle),
		cmocka_unit_test(a_sample_gets_another_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
