#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "auxtrace/auxtrace.h"

static void letters_are_parsed(void **state)
{
	struct tacho_itrace t;

	(void)state;
	assert_int_equal(tacho_itrace_parse(&t, "i10usbcrg8l4s7e-ol", false, NULL), 0);
	assert_true(t.instructions && t.branches && t.calls && t.returns && t.errors && t.hide_overflows && t.hide_lost);
	assert_true(t.callchain && t.last_branches && !t.power && !t.transactions);
	assert_int_equal(t.unit, TACHO_ITRACE_NANOSECONDS);
	assert_int_equal(t.period, 10000);
	assert_int_equal(t.callchain_frames, 8);
	assert_int_equal(t.n_last_branches, 4);
	assert_int_equal(t.skip, 7);
	assert_int_equal(tacho_itrace_parse(&t, "i500i", false, NULL), 0);
	assert_int_equal(t.unit, TACHO_ITRACE_INSTRUCTIONS);
	assert_int_equal(t.period, 500);
	assert_int_equal(tacho_itrace_parse(&t, "i9t,b", false, NULL), 0);
	assert_int_equal(t.unit, TACHO_ITRACE_TICKS);
	assert_true(t.branches);
	/* A number without a unit is in nanoseconds, and one that is too large is the largest. */
	assert_int_equal(tacho_itrace_parse(&t, "i7", false, NULL), 0);
	assert_int_equal(t.period, 7);
	assert_int_equal(tacho_itrace_parse(&t, "i99999999999999999999ms", false, NULL), 0);
	assert_true(t.period == UINT64_MAX);
}

static void defaults_depend_on_the_command(void **state)
{
	struct tacho_itrace t;

	(void)state;
	assert_int_equal(tacho_itrace_parse(&t, "", true, NULL), 0);
	assert_true(t.branches && t.calls && !t.instructions && !t.callchain);
	assert_int_equal(tacho_itrace_parse(&t, NULL, false, NULL), 0);
	assert_true(t.instructions && t.callchain && !t.branches);
	assert_int_equal(t.period, 100000);
}

static void wrong_letters_have_a_position(void **state)
{
	static const struct { const char *text; int err, column; } cases[] = {
		{ "bk", -EINVAL, 1 }, { "iy", -EOPNOTSUPP, 1 }, { "q", -EOPNOTSUPP, 0 }, { "bi5x", -EINVAL, 1 },
		{ "g0", -EINVAL, 0 }, { "g5000", -EINVAL, 0 }, { "s", -EINVAL, 0 }, { "be-x", -EINVAL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		struct tacho_error e = { .column = -1 };
		struct tacho_itrace t;
		int err = tacho_itrace_parse(&t, cases[i].text, false, &e);

		assert_true(err < 0);
		assert_int_equal(err == -EOPNOTSUPP, cases[i].err == -EOPNOTSUPP);
		assert_int_equal(e.column, cases[i].column);
	}
}

static void ticks_become_times(void **state)
{
	const struct time_conversion t = { .shift = 10, .mult = 512, .zero = 1000, .known = true };
	const struct time_conversion large = { .shift = 31, .mult = UINT32_MAX, .zero = 0, .known = true };
	const struct time_conversion wrong = { .shift = 64, .mult = 1, .known = true };

	(void)state;
	assert_int_equal(time_from_ticks(&t, 2000), 2000);
	assert_int_equal(time_from_ticks(&t, 2001), 2000);
	assert_true(time_from_ticks(&large, 1ULL << 60) == (uint64_t)(((unsigned __int128)1 << 60) * UINT32_MAX >> 31));
	assert_int_equal(time_from_ticks(&wrong, 5), 0);
}

static void calls_and_returns_are_a_stack(void **state)
{
	struct call_stacks stacks = { 0 };
	struct call_stack *c = call_stack_of(&stacks, 7);
	uint64_t chain[CALL_STACK_MAX + 2];

	(void)state;
	assert_ptr_equal(call_stack_of(&stacks, 7), c);
	call_stack_branch(c, TACHO_BRANCH | TACHO_BRANCH_CALL, 0x2000, 0x1005);
	call_stack_branch(c, TACHO_BRANCH | TACHO_BRANCH_CALL, 0x3000, 0x2005);
	call_stack_branch(c, TACHO_BRANCH | TACHO_BRANCH_CALL, 0x4000, 0x3005);
	assert_int_equal(call_stack_chain(c, 0x4001, chain, 16), 5);
	assert_int_equal(chain[1], 0x4001);
	assert_int_equal(chain[4], 0x1005);
	assert_int_equal(call_stack_chain(c, 0x4001, chain, 2), 3);	/* at most two frames */
	/* A return past two calls ends both; one to an unknown place ends none. */
	call_stack_branch(c, TACHO_BRANCH | TACHO_BRANCH_RETURN, 0x9999, 0);
	assert_int_equal(c->n, 3);
	call_stack_branch(c, TACHO_BRANCH | TACHO_BRANCH_RETURN, 0x2005, 0);
	assert_int_equal(c->n, 1);
	/* The outermost calls of a deep recursion are forgotten. */
	for (unsigned i = 0; i < 3 * CALL_STACK_MAX; i++)
		call_stack_branch(c, TACHO_BRANCH | TACHO_BRANCH_CALL, 0x5000, 0x5005);
	assert_true(c->n <= CALL_STACK_MAX);
	assert_int_equal(call_stack_chain(c, 0x5000, chain, CALL_STACK_MAX), c->n + 2);
	call_stacks_done(&stacks);
}

static void flags_have_names(void **state)
{
	char text[64];

	(void)state;
	assert_string_equal(tacho_insn_flags_text(TACHO_BRANCH | TACHO_BRANCH_CALL, text), "call");
	assert_string_equal(tacho_insn_flags_text(TACHO_BRANCH | TACHO_BRANCH_CONDITIONAL | TACHO_BRANCH_IN_TX, text), "jcc (x)");
	assert_string_equal(tacho_insn_flags_text(TACHO_BRANCH | TACHO_BRANCH_ASYNC | TACHO_BRANCH_TRACE_END, text), "tr end  async");
	assert_string_equal(tacho_insn_flags_text(TACHO_BRANCH | TACHO_BRANCH_TRACE_BEGIN, text), "tr strt jmp");
	assert_string_equal(tacho_insn_flags_text(0, text), "");
}

static void raw_data_is_bounded(void **state)
{
	uint8_t raw[20] = { 0, 0, 0, 0, 1, 0, 0, 0, 0x34, 0x12 };
	char text[160];

	(void)state;
	assert_int_equal(tacho_synth_text(SYNTH_CONFIG_PTWRITE, raw, 15, text, sizeof(text)), 0);
	assert_int_equal(tacho_synth_text(99, raw, sizeof(raw), text, sizeof(text)), 0);
	assert_int_equal(tacho_synth_text(SYNTH_CONFIG_PTWRITE, raw, sizeof(raw), text, 100), 0);
	assert_true(tacho_synth_text(SYNTH_CONFIG_PTWRITE, raw, sizeof(raw), text, sizeof(text)) > 0);
	assert_int_equal(strncmp(text, " IP: 1 payload: 0x1234 ", 23), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_parsed), cmocka_unit_test(defaults_depend_on_the_command),
		cmocka_unit_test(wrong_letters_have_a_position), cmocka_unit_test(ticks_become_times),
		cmocka_unit_test(calls_and_returns_are_a_stack), cmocka_unit_test(flags_have_names),
		cmocka_unit_test(raw_data_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
