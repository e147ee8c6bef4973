/*
 * Every allocation fails once while stacks are added. The call returns -ENOMEM, the profile stays consistent, and the same
 * stacks can be added afterwards: a continuous profile must survive a moment without memory.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "record/perf_abi.h"
#include "profile/intern.h"
#include "profile/stacks.h"
#include "profile/trie.h"

#include "nomem.h"

#define CHAINS 300u
#define USER ((uint64_t)-512)

/* The n-th chain: one to six addresses, of which the outermost are shared by several. */
static size_t chain_of(uint32_t n, uint64_t *words)
{
	size_t depth = 1 + n % 6;

	words[0] = USER;
	for (size_t i = 1; i <= depth; i++)
		words[i] = 0x1000 * i + n / (1u << (i - 1));
	return depth + 1;
}

static int add_raw(struct stack_resolver *s, struct tacho_words chain)
{
	struct task_context task;
	int err = stacks_task_context(s, 7, 0, &task);

	return err < 0 ? err : stacks_add_raw(s, &task, chain);
}

/* Every other one as it came. */
static int add_all(struct stack_resolver *s)
{
	int err = 0;

	for (uint32_t n = 0; n < CHAINS && err == 0; n++) {
		uint64_t words[8];
		struct tacho_sample sample = { .type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .pid = 7 };

		sample.chain.v = words;
		sample.chain.n = chain_of(n, words);
		sample.ip = words[1];
		stacks_clear(s);
		err = n % 2 ? add_raw(s, sample.chain) : stacks_add(s, 0, &sample, TACHO_SPACE_USER);
		if (err == 0)
			err = stacks_resolve(s);
		if (err == 0) {
			struct tacho_profile_row row = { .node = s->batch[0].node, .cpu = -1, .samples = 1,
							 .detail = n };

			err = profile_add_row(s->profile, &row);
		}
	}
	return err;
}

/* Each of the last rows leads to its chain's addresses. */
static void is_whole(const struct tacho_profile *p)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(p);
	bool seen[CHAINS] = { false };

	for (size_t i = 0; i < tacho_profile_n_rows(p); i++) {
		const struct tacho_profile_row *r = &tacho_profile_rows(p)[i];
		uint32_t node = r->node;
		uint64_t words[8];
		size_t n = chain_of(r->detail, words);

		seen[r->detail] = true;
		for (size_t k = 1; k < n; k++, node = nodes[node].parent) {
			assert_true(node && node < tacho_profile_n_nodes(p));
			assert_int_equal(tacho_profile_frame(p, nodes[node].frame)->address, words[k]);
		}
		assert_int_equal(node, 0);
	}
	for (uint32_t n = 0; n < CHAINS; n++)
		assert_true(seen[n]);
}

/* True when an allocation failed. */
static bool try(struct tacho_profile_opts opts, unsigned long nth)
{
	struct tacho_symbols_opts symbols_opts = { .size = sizeof(symbols_opts), .procfs = "/nonexistent",
						   .kallsyms = "/dev/null" };
	struct tacho_profile *p;
	struct tacho_symbols *symbols;
	struct stack_resolver s;
	bool failed;
	int err;

	opts.size = sizeof(opts);
	opts.split_unknown = true;
	assert_int_equal(tacho_profile_new(&p, &opts, NULL), 0);
	assert_int_equal(tacho_symbols_new(&symbols, &symbols_opts, NULL), 0);
	assert_int_equal(stacks_init(&s, p, symbols, true), 0);
	assert_int_equal(profile_intern_thread(p, 7, 7, "made"), 0);
	count = 0;
	fail_at = nth;
	err = add_all(&s);
	failed = count >= nth;
	fail_at = 0;
	assert_int_equal(err, failed ? -ENOMEM : 0);
	assert_int_equal(add_all(&s), 0);
	is_whole(p);
	stacks_done(&s);
	tacho_symbols_free(symbols);
	tacho_profile_free(p);
	return failed;
}

static void stacks_after_a_failure(void **state)
{
	static const struct tacho_profile_opts opts[] = {
		{ 0 }, { .parent = "a" }, { .unjudged = true }, { .per_address = true, .split_comms = true },
	};

	(void)state;
	for (size_t i = 0; i < countof(opts); i++) {
		unsigned long nth = 1;

		while (try(opts[i], nth))
			nth++;
		assert_true(nth > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(stacks_after_a_failure) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
