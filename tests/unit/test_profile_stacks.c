/*
 * Call chains become nodes: markers switch the space, equal chains have one node, limits cut at either end, and addresses
 * in an object are the same wherever it is mapped.
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

#define KERNEL ((uint64_t)-128)
#define USER ((uint64_t)-512)
#define DEFERRED ((uint64_t)-640)

struct world {
	struct tacho_profile *profile;
	struct tacho_symbols *symbols;
	struct stack_resolver stacks;
};

static void world_open_as(struct world *w, struct tacho_profile_opts opts)
{
	struct tacho_symbols_opts symbols = { .size = sizeof(symbols), .procfs = "/nonexistent",
					      .kallsyms = "/dev/null" };

	opts.size = sizeof(opts);
	assert_int_equal(tacho_profile_new(&w->profile, &opts, NULL), 0);
	assert_int_equal(tacho_symbols_new(&w->symbols, &symbols, NULL), 0);
	assert_int_equal(stacks_init(&w->stacks, w->profile, w->symbols, false), 0);
}

static void world_open(struct world *w, struct tacho_profile_opts opts)
{
	opts.split_unknown = true;
	world_open_as(w, opts);
}

static void world_close(struct world *w)
{
	stacks_done(&w->stacks);
	tacho_symbols_free(w->symbols);
	tacho_profile_free(w->profile);
}

static uint32_t node_in(struct world *w, uint32_t pid, uint64_t ip, const uint64_t *words, size_t n)
{
	struct tacho_sample s = { .type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .ip = ip, .pid = pid };
	uint32_t node;

	s.chain.v = words;
	s.chain.n = n;
	stacks_clear(&w->stacks);
	assert_int_equal(stacks_add(&w->stacks, 0, &s, TACHO_SPACE_USER), 0);
	assert_int_equal(stacks_resolve(&w->stacks), 0);
	node = w->stacks.batch[0].node;
	assert_int_not_equal(node, KEYMAP_NONE);
	return node;
}

static uint32_t node_of(struct world *w, uint64_t ip, const uint64_t *words, size_t n)
{
	return node_in(w, 7, ip, words, n);
}

/* The addresses of a node's path, from the leaf on. */
static size_t path_of(const struct world *w, uint32_t node, uint64_t *out)
{
	const struct tacho_profile_node *nodes = tacho_profile_nodes(w->profile);
	size_t n = 0;

	for (; node; node = nodes[node].parent)
		out[n++] = tacho_profile_frame(w->profile, nodes[node].frame)->offset;
	return n;
}

static void markers_are_no_frames(void **state)
{
	static const uint64_t words[] = { USER, 0x10, 0x20, 0x30 };
	struct world w;
	uint64_t path[8];
	uint32_t node;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	node = node_of(&w, 0x10, words, 4);
	assert_int_equal(path_of(&w, node, path), 3);
	assert_int_equal(path[0], 0x10);
	assert_int_equal(path[2], 0x30);
	assert_int_equal(node_of(&w, 0x10, words, 4), node);
	/* The same addresses of others are the same places as long as nothing is mapped. */
	assert_int_equal(node_in(&w, 8, 0x10, words, 4), node);
	world_close(&w);
}

static void markers_switch_the_space(void **state)
{
	static const uint64_t words[] = { KERNEL, 0xffffffff81000010, USER, 0x20 };
	struct world w;
	const struct tacho_profile_node *nodes;
	uint32_t node;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	node = node_of(&w, 0xffffffff81000010, words, 4);
	nodes = tacho_profile_nodes(w.profile);
	assert_int_equal(tacho_profile_frame(w.profile, nodes[node].frame)->space, TACHO_SPACE_KERNEL);
	node = nodes[node].parent;
	assert_int_equal(tacho_profile_frame(w.profile, nodes[node].frame)->space, TACHO_SPACE_USER);
	assert_int_equal(nodes[node].parent, 0);
	world_close(&w);
}

/* As node_in(), for a chain that begins with a marker and the sampled address. */
static uint32_t raw_in(struct world *w, uint32_t pid, const uint64_t *words, size_t n)
{
	struct task_context task;

	stacks_clear(&w->stacks);
	assert_int_equal(stacks_task_context(&w->stacks, pid, 0, &task), 1);
	assert_int_equal(stacks_add_raw(&w->stacks, &task, (struct tacho_words){ .v = words, .n = n }), 0);
	assert_int_equal(stacks_resolve(&w->stacks), 0);
	return w->stacks.batch[0].node;
}

/* Chains that are looked for as they came, the first time and when they are remembered. The small numbers are
 * what a weak hash would mix up. */
static void raw_chains_are_as_their_words(void **state)
{
	static const struct { uint64_t words[9]; size_t n; } chains[] = {
		{ { USER, 0x10, 0x20, 0x30 }, 4 }, { { KERNEL, 0x10, 0x20 }, 3 }, { { USER, 0x10 }, 2 },
		{ { USER, 0x10, 0x20, KERNEL }, 4 }, { { KERNEL, 0x10, USER, 0x20, 0x30 }, 5 },
		{ { KERNEL, 0x10, DEFERRED, 0x10, 0x20 }, 5 }, { { USER, 0x10, 0x20, 0x30, 0x30, 0x30 }, 6 },
		{ { USER, 0x10, 0x20, 0x30, 0x30 }, 5 }, { { USER, 0x10, 0x20, 0x30, 0x30, 0x30, 0x30 }, 7 },
		{ { USER, 0x10, 1, 2, 3, 4, 5, 6 }, 8 }, { { USER, 0x10, 1, 2, 3, 4, 5, 6, 6 }, 9 },
		{ { USER, 0x10, 3 }, 3 }, { { USER, 0x10, 0, 3 }, 4 }, { { USER, 0x10, 3, 3 }, 4 }, { { USER, 0x10, 0 }, 3 },
		{ { USER, 0x11, 3 }, 3 }, { { KERNEL, 0x10, 3 }, 3 }, { { USER, 0x10, USER, 3 }, 4 },
	};
	struct world w;

	for (unsigned first = 0; first < 2; first++) {
		world_open(&w, (struct tacho_profile_opts){ 0 });
		for (size_t round = 0; round < 4; round++)
			for (size_t i = 0; i < countof(chains); i++) {
				const uint64_t *words = chains[i].words;
				uint32_t a = first ? raw_in(&w, 7, words, chains[i].n) :
						     node_of(&w, words[1], words, chains[i].n);

				assert_int_equal(raw_in(&w, 7, words, chains[i].n), a);
				assert_int_equal(node_of(&w, words[1], words, chains[i].n), a);
			}
		world_close(&w);
	}
}

/* Chains of each length that differ in one address have different nodes, also when all of them are in recent_nodes. */
static void each_word_of_a_raw_chain_counts(void **state)
{
	uint64_t words[20] = { USER };
	struct world w;

	for (size_t i = 1; i < countof(words); i++)
		words[i] = 0x1000 + i;
	world_open(&w, (struct tacho_profile_opts){ 0 });
	for (size_t round = 0; round < 3; round++)
		for (size_t n = 2; n <= countof(words); n++)
			for (size_t i = 1; i < n; i++) {
				uint32_t node = raw_in(&w, 7, words, n), other;

				assert_int_equal(node_of(&w, words[1], words, n), node);
				words[i] ^= 0x8000;
				other = raw_in(&w, 7, words, n);
				assert_int_not_equal(other, node);
				assert_int_equal(node_of(&w, words[1], words, n), other);
				words[i] ^= 0x8000;
			}
	world_close(&w);
}

static void the_sampled_address_is_the_leaf(void **state)
{
	static const uint64_t words[] = { USER, 0x20, 0x30 };
	struct world w;
	uint64_t path[8];

	world_open(&w, (struct tacho_profile_opts){ 0 });
	assert_int_equal(path_of(&w, node_of(&w, 0x99, words, 3), path), 3);
	assert_int_equal(path[0], 0x99);
	assert_int_equal(path_of(&w, node_of(&w, 0x99, NULL, 0), path), 1);
	world_close(&w);
}

static void a_cookie_is_no_frame(void **state)
{
	static const uint64_t words[] = { KERNEL, 0xffffffff81000010, DEFERRED, 0x1234 };
	struct world w;
	uint64_t path[8];

	world_open(&w, (struct tacho_profile_opts){ 0 });
	assert_int_equal(path_of(&w, node_of(&w, 0xffffffff81000010, words, 4), path), 1);
	world_close(&w);
}

static void limits_cut_at_either_end(void **state)
{
	static const uint64_t words[] = { USER, 0x10, 0x20, 0x30, 0x40 };
	struct world w;
	uint64_t path[8];

	world_open(&w, (struct tacho_profile_opts){ .max_stack = 2 });
	assert_int_equal(path_of(&w, node_of(&w, 0x10, words, 5), path), 2);
	assert_int_equal(path[1], 0x20);
	world_close(&w);
	world_open(&w, (struct tacho_profile_opts){ .max_stack = 2, .caller_first = true });
	assert_int_equal(path_of(&w, node_of(&w, 0x10, words, 5), path), 3);
	assert_int_equal(path[0], 0x10);
	assert_int_equal(path[1], 0x30);
	world_close(&w);
	world_open(&w, (struct tacho_profile_opts){ .no_chains = true });
	assert_int_equal(path_of(&w, node_of(&w, 0x10, words, 5), path), 1);
	world_close(&w);
}

static void prefixes_are_shared(void **state)
{
	struct world w;
	uint64_t words[64] = { USER };
	size_t before;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	for (size_t i = 1; i < 64; i++)
		words[i] = 0x1000 + i;
	node_of(&w, words[1], words, 64);
	before = tacho_profile_n_nodes(w.profile);
	words[1] = 0x9999;
	node_of(&w, words[1], words, 64);
	assert_int_equal(tacho_profile_n_nodes(w.profile), before + 1);
	/* A part of what is known already. */
	node_of(&w, words[40], words + 40, 24);
	assert_int_equal(tacho_profile_n_nodes(w.profile), before + 1);
	world_close(&w);
}

static void feed_map(struct world *w, uint32_t pid, uint64_t addr, const char *path)
{
	struct tacho_sideband rec = { .type = TACHO_RECORD_MMAP2, .misc = TACHO_SPACE_USER };

	rec.mmap = (struct tacho_mmap){ .pid = pid, .tid = pid, .addr = addr, .len = 0x1000, .prot = 5,
					.path = path };
	assert_int_equal(tacho_symbols_feed(w->symbols, &rec), 0);
}

static void objects_are_met_again_elsewhere(void **state)
{
	static const uint64_t here[] = { USER, 0x1010, 0x1020, 0x99 }, there[] = { USER, 0x5010, 0x5020, 0x99 };
	struct world w;
	uint32_t node;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	feed_map(&w, 7, 0x1000, "/nonexistent/a");
	feed_map(&w, 8, 0x5000, "/nonexistent/a");
	feed_map(&w, 9, 0x5000, "/nonexistent/b");
	node = node_in(&w, 7, 0x1010, here, 4);
	assert_int_equal(node_in(&w, 8, 0x5010, there, 4), node);
	assert_int_not_equal(node_in(&w, 9, 0x5010, there, 4), node);
	/* Under new maps the same addresses are other places. */
	assert_int_equal(raw_in(&w, 8, there, 4), node);
	assert_int_equal(raw_in(&w, 8, there, 4), node);
	assert_int_equal(raw_in(&w, 7, here, 4), node);
	assert_int_not_equal(raw_in(&w, 9, there, 4), node);
	feed_map(&w, 8, 0x5000, "/nonexistent/b");
	assert_int_equal(raw_in(&w, 8, there, 4), raw_in(&w, 9, there, 4));
	assert_int_equal(node_in(&w, 8, 0x5010, there, 4), node_in(&w, 9, 0x5010, there, 4));
	world_close(&w);
}

/* Without split_unknown all unmapped addresses are one frame. */
static void nowhere_is_one_place(void **state)
{
	static const uint64_t words[] = { USER, 0x10, 0x20 }, others[] = { USER, 0x30, 0x40 };
	struct world w;
	uint32_t node;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	node = node_of(&w, 0x10, words, 3);
	assert_int_not_equal(node_of(&w, 0x30, others, 3), node);
	world_close(&w);
	world_open_as(&w, (struct tacho_profile_opts){ 0 });
	node = node_of(&w, 0x10, words, 3);
	assert_int_equal(node_of(&w, 0x30, others, 3), node);
	assert_int_equal(raw_in(&w, 7, words, 3), node);
	assert_int_equal(raw_in(&w, 7, others, 3), node);
	assert_int_equal(tacho_profile_n_frames(w.profile), 1);
	world_close(&w);
}

/* Equal, longer and new chains in one batch get the same nodes as one by one. */
static uint32_t node_of_thread(struct world *w, uint32_t thread, const uint64_t *words, size_t n)
{
	struct tacho_sample s = { .type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .ip = words[1], .pid = 7 };

	s.chain = (struct tacho_words){ .v = words, .n = n };
	stacks_clear(&w->stacks);
	assert_int_equal(stacks_add(&w->stacks, thread, &s, TACHO_SPACE_USER), 0);
	assert_int_equal(stacks_resolve(&w->stacks), 0);
	return w->stacks.batch[0].node;
}

static void commands_have_nodes_of_their_own(void **state)
{
	static const uint64_t words[] = { USER, 0x10, 0x20, 0x30 };
	const struct tacho_profile_node *nodes;
	struct tacho_profile *other = NULL;
	uint32_t thread[4], node[4];
	struct world w;

	world_open(&w, (struct tacho_profile_opts){ .split_comms = true });
	for (uint32_t i = 0; i < 4; i++)
		thread[i] = profile_intern_thread(w.profile, i, i, i % 2 ? "odd" : "even");
	for (uint32_t i = 0; i < 4; i++)
		node[i] = node_of_thread(&w, thread[i], words, 4);
	assert_int_equal(node[0], node[2]);
	assert_int_equal(node[1], node[3]);
	nodes = tacho_profile_nodes(w.profile);
	for (uint32_t a = node[0], b = node[1], depth = 3; depth; depth--) {
		assert_int_not_equal(a, b);
		assert_int_equal(nodes[a].frame, nodes[b].frame);
		a = nodes[a].parent;
		b = nodes[b].parent;
		assert_int_equal(a == 0, depth == 1);
		assert_int_equal(b == 0, depth == 1);
	}
	assert_int_equal(tacho_profile_new(&other, NULL, NULL), 0);
	assert_int_equal(tacho_profile_merge(w.profile, other), -EINVAL);
	tacho_profile_free(other);
	world_close(&w);
}

/* A chain without markers, in a sample with an unknown CPU mode. */
static void space_by_address(void **state)
{
	static const uint64_t words[] = { 0xffffffff81000010, 0xffffffff81000020, 0x30, 0x40 };
	struct tacho_sample s = { .type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .ip = words[0], .pid = 7 };
	const struct tacho_profile_node *nodes;
	struct world w;
	uint32_t at;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	s.chain = (struct tacho_words){ .v = words, .n = 4 };
	assert_int_equal(stacks_add(&w.stacks, 0, &s, TACHO_SPACE_UNKNOWN), 0);
	assert_int_equal(stacks_resolve(&w.stacks), 0);
	nodes = tacho_profile_nodes(w.profile);
	at = w.stacks.batch[0].node;
	for (size_t i = 0; i < 4; i++, at = nodes[at].parent)
		assert_int_equal(tacho_profile_frame(w.profile, nodes[at].frame)->space,
				 i < 2 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER);
	assert_int_equal(at, 0);
	world_close(&w);
}

/* Also if the space changes with every address. */
static void space_of_each_address(void **state)
{
	uint64_t words[64];
	struct tacho_sample s = { .type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .pid = 7 };
	const struct tacho_profile_node *nodes;
	struct world w;
	uint32_t at;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	for (size_t i = 0; i < countof(words); i++)
		words[i] = (i % 2 ? 0xffffffff81000000 : 0x1000) + i;
	s.ip = words[0];
	s.chain = (struct tacho_words){ .v = words, .n = countof(words) };
	assert_int_equal(stacks_add(&w.stacks, 0, &s, TACHO_SPACE_UNKNOWN), 0);
	assert_int_equal(stacks_resolve(&w.stacks), 0);
	nodes = tacho_profile_nodes(w.profile);
	at = w.stacks.batch[0].node;
	for (size_t i = 0; i < countof(words); i++, at = nodes[at].parent)
		assert_int_equal(tacho_profile_frame(w.profile, nodes[at].frame)->space,
				 i % 2 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER);
	assert_int_equal(at, 0);
	world_close(&w);
}

static void a_batch_is_as_one_by_one(void **state)
{
	uint64_t words[MAX_BATCH][8];
	uint32_t alone[MAX_BATCH];
	struct tacho_sample s = { .type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN, .pid = 7 };
	struct world w;

	world_open(&w, (struct tacho_profile_opts){ 0 });
	for (size_t i = 0; i < MAX_BATCH; i++) {
		words[i][0] = USER;
		for (size_t k = 1; k < 8; k++)
			words[i][k] = 0x100 * k + (k < 4 ? i % 5 : 0);
		s.ip = words[i][1];
		s.chain = (struct tacho_words){ .v = words[i], .n = 8 };
		assert_int_equal(stacks_add(&w.stacks, 0, &s, TACHO_SPACE_USER), 0);
	}
	assert_true(stacks_full(&w.stacks));
	assert_int_equal(stacks_resolve(&w.stacks), 0);
	for (size_t i = 0; i < MAX_BATCH; i++)
		alone[i] = w.stacks.batch[i].node;
	assert_int_equal(tacho_profile_n_nodes(w.profile), 1 + 4 + 5 * 3);
	for (size_t i = 0; i < MAX_BATCH; i++)
		assert_int_equal(node_of(&w, words[i][1], words[i], 8), alone[i]);
	assert_int_equal(tacho_profile_n_nodes(w.profile), 1 + 4 + 5 * 3);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markers_are_no_frames),
		cmocka_unit_test(markers_switch_the_space),
		cmocka_unit_test(raw_chains_are_as_their_words),
		cmocka_unit_test(each_word_of_a_raw_chain_counts),
		cmocka_unit_test(the_sampled_address_is_the_leaf),
		cmocka_unit_test(a_cookie_is_no_frame),
		cmocka_unit_test(limits_cut_at_either_end),
		cmocka_unit_test(prefixes_are_shared),
		cmocka_unit_test(objects_are_met_again_elsewhere),
		cmocka_unit_test(nowhere_is_one_place),
		cmocka_unit_test(a_batch_is_as_one_by_one),
		cmocka_unit_test(commands_have_nodes_of_their_own),
		cmocka_unit_test(space_by_address),
		cmocka_unit_test(space_of_each_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
