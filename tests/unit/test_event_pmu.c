/*
 * pmu/terms/ with recorded sysfs trees: hybrid cores, a server's uncore, AMD, arm64, and a tree with parameters
 * and config3/config4.
 */
#include "event_support.h"

#include "event/pmu.h"

static const struct parse_row hybrid[] = {
	{ "cycles", "cpu_atom/cycles/ 0:0xa00000000 @16-23 | cpu_core/cycles/ 0:0x400000000 @0-15" },
	{ "cycles:u", "cpu_atom/cycles/u 0:0xa00000000 !k !h @16-23 | "
	  "cpu_core/cycles/u 0:0x400000000 !k !h @0-15" },
	{ "cycles/name=c/", "c 0:0xa00000000 @16-23 | c 0:0x400000000 @0-15" },
	{ "cycles/period=5/k", "cpu_atom/cycles,period=5/k 0:0xa00000000 period=5 !u !h @16-23 | "
	  "cpu_core/cycles,period=5/k 0:0x400000000 period=5 !u !h @0-15" },
	{ "cpu_core/cycles/", "cpu_core/cycles/ 0:0x400000000 @0-15" },
	{ "cpu_atom/LLC-load-misses/", "cpu_atom/LLC-load-misses/ 3:0xa00010002 @16-23" },
	{ "cpu_core/cpu-cycles/", "cpu_core/cpu-cycles/ 4:0x3c @0-15" },
	{ "cpu_core/event=0x3c,umask=0x1,cmask=2/u",
	  "cpu_core/event=0x3c,umask=0x1,cmask=2/u 4:0x200013c !k !h @0-15" },
	{ "mem-loads", "mem-loads 10:0x5d0 config1=0x3 @16-23 | mem-loads 4:0x1cd config1=0x3 @0-15" },
	{ "slots", "slots 4:0x400 @0-15" },
	{ "cpu/cycles/", "cpu/cycles/ 0:0xa00000000 @16-23 | cpu/cycles/ 0:0x400000000 @0-15" },
	{ "r1a", "r1a 4:0x1a" },
	{ "cs", "cs 1:0x3" },
	{ "cs/cpu=cpu_atom/", "cs/cpu=cpu_atom/ 1:0x3 @16-23" },
	{ "{cycles,instructions,cs}:u",
	  "cpu_atom/cycles/ 0:0xa00000000 !k !h @16-23 {0/3} | "
	  "cpu_atom/instructions/ 0:0xa00000001 !k !h @16-23 {0/3} | cs 1:0x3 !k !h {0/3} | "
	  "cpu_core/cycles/ 0:0x400000000 !k !h @0-15 {3/2} | "
	  "cpu_core/instructions/ 0:0x400000001 !k !h @0-15 {3/2}" },
	{ "{cpu_core/cycles/,cpu_core/instructions/}:D",
	  "cpu_core/cycles/ 0:0x400000000 pinned @0-15 {0/2} | "
	  "cpu_core/instructions/ 4:0xc0 @0-15 {0/2}" },
	{ "power/energy-pkg/", "power/energy-pkg/ 9:0x2 uncore Joules*2.32831e-10 @0" },
};

static const struct parse_row spr[] = {
	{ "cycles", "cycles 0:0x0" },
	{ "cpu/cpu-cycles/", "cpu/cpu-cycles/ 4:0x3c" },
	{ "cpu/cycles/", "cpu/cycles/ 0:0x0" },
	{ "cpu/event=0xcd,umask=0x1ff/", "cpu/event=0xcd,umask=0x1ff/ 4:0x1000000ffcd" },
	{ "cpu/umask=0x100/", "cpu/umask=0x100/ 4:0x10000000000" },
	{ "cpu/edge/", "cpu/edge/ 4:0x40000" },
	{ "cpu/edge=0,inv,any=1/", "cpu/edge=0,inv,any=1/ 4:0xa00000" },
	{ "cpu/topdown-retiring,name=td/u", "td 4:0x8000 !k !h" },
	{ "cpu/instructions,cmask=1/", "cpu/instructions,cmask=1/ 4:0x10000c0" },
	{ "cpu/r1a,ldlat=3/", "cpu/r1a,ldlat=3/ 4:0x1a config1=0x3" },
	{ "tsc", "tsc 15:0x0" },
	{ "TSC", "TSC 15:0x0" },
	{ "tsc/name=t/", "t 15:0x0" },
	{ "msr/aperf/", "msr/aperf/ 15:0x1" },
	{ "energy-pkg", "energy-pkg 16:0x2 per-pkg snapshot uncore Joules*2.32831e-10 @0,56" },
	{ "uncore_imc_0/cas_count_read/",
	  "uncore_imc_0/cas_count_read/ 20:0xcf05 uncore MiB*6.10352e-05 @0,56" },
	{ "uncore_imc_[01]/event=1/", "uncore_imc_[01]/event=1/ 20:0x1 uncore @0,56 | "
	  "uncore_imc_[01]/event=1/ 21:0x1 uncore @0,56 +0" },
	{ "cha/umask=0x1234,event=2/", "cha/umask=0x1234,event=2/ 40:0x1200003402 uncore @0,56 | "
	  "cha/umask=0x1234,event=2/ 41:0x1200003402 uncore @0,56 +0 | "
	  "cha/umask=0x1234,event=2/ 50:0x1200003402 uncore @0,56 +0" },
	{ "imc_free_running/read/", "imc_free_running/read/ 60:0x20ff uncore MiB*6.10352e-05 @0,56" },
	{ "uncore_cha_*/clockticks/,cs", "uncore_cha_*/clockticks/ 40:0x1 uncore @0,56 | "
	  "uncore_cha_*/clockticks/ 41:0x1 uncore @0,56 +0 | "
	  "uncore_cha_*/clockticks/ 50:0x1 uncore @0,56 +0 | cs 1:0x3" },
	{ "{cha/event=1/,cha/event=2/}", "cha/event=1/ 40:0x1 uncore @0,56 {0/2} | "
	  "cha/event=2/ 40:0x2 uncore @0,56 {0/2} | cha/event=1/ 41:0x1 uncore @0,56 {2/2} +0 | "
	  "cha/event=2/ 41:0x2 uncore @0,56 {2/2} +1 | cha/event=1/ 50:0x1 uncore @0,56 {4/2} +0 | "
	  "cha/event=2/ 50:0x2 uncore @0,56 {4/2} +1" },
	{ "{cycles,msr/tsc/,power/energy-pkg/,cs}:u",
	  "cycles 0:0x0 !k !h {0/3} | msr/tsc/ 15:0x0 !k !h {0/3} | cs 1:0x3 !k !h {0/3} | "
	  "power/energy-pkg/ 16:0x2 !k !h per-pkg snapshot uncore Joules*2.32831e-10 @0,56" },
	{ "{cycles,power/energy-pkg/}:X", "cycles 0:0x0 no-regroup {0/2} | "
	  "power/energy-pkg/ 16:0x2 no-regroup per-pkg snapshot uncore Joules*2.32831e-10 @0,56 {0/2}" },
	{ "uncore_cha_0/clockticks,cpu=56/", "uncore_cha_0/clockticks,cpu=56/ 40:0x1 uncore @56" },
};

static const struct parse_row amd[] = {
	{ "cpu/event=0x1c7,umask=2/", "cpu/event=0x1c7,umask=2/ 4:0x1000002c7" },
	{ "amd_l3/event=0x04,umask=0xff,enallcores,sliceid=3/",
	  "amd_l3/event=0x04,umask=0xff,enallcores,sliceid=3/ 12:0x380000000ff04 uncore @0,8" },
	{ "amd_df/event=0x3ff,umask=0xfff/", "amd_df/event=0x3ff,umask=0xfff/ 13:0x30f00ffff uncore @0" },
	{ "amd_umc/event=0xa,rdwrmask=1/", "amd_umc/event=0xa,rdwrmask=1/ 14:0x10a uncore @0 | "
	  "amd_umc/event=0xa,rdwrmask=1/ 15:0x10a uncore @0 +0" },
};

static const struct parse_row arm64[] = {
	{ "cycles", "cycles 0:0x0" },
	{ "cpu_cycles", "cpu_cycles 8:0x11" },
	{ "CPU_CYCLES", "CPU_CYCLES 0:0x0" },
	{ "armv8_pmuv3_0/inst_retired,long/", "armv8_pmuv3_0/inst_retired,long/ 8:0x8 config1=0x1" },
	{ "armv8_pmuv3/event=0x11,threshold=0xfff/",
	  "armv8_pmuv3/event=0x11,threshold=0xfff/ 8:0x11 config1=0x1ffe0" },
	{ "arm_cmn/hnf_cache_miss,bynodeid,nodeid=0x28/",
	  "arm_cmn/hnf_cache_miss,bynodeid,nodeid=0x28/ 11:0x2880010005 uncore @0" },
	{ "arm_cmn_0/type=0x7770,wp_val=0xffffffffffffffff,wp_mask=1/",
	  "arm_cmn_0/type=0x7770,wp_val=0xffffffffffffffff,wp_mask=1/ 11:0x7770 "
	  "config1=0xffffffffffffffff config2=0x1 uncore @0" },
	{ "smmuv3_pmcg/transaction,filter_stream_id=7/",
	  "smmuv3_pmcg/transaction,filter_stream_id=7/ 93:0x1 config1=0x7 uncore @0 | "
	  "smmuv3_pmcg/transaction,filter_stream_id=7/ 85:0x1 config1=0x7 uncore @0 +0" },
};

static const struct parse_row power[] = {
	{ "hv_24x7/PM_PB_CYC,chip=3/", "hv_24x7/PM_PB_CYC,chip=3/ 9:0x6b800030001" },
	{ "hv_24x7/chip=0x2,PM_PB_CYC/", "hv_24x7/chip=0x2,PM_PB_CYC/ 9:0x6b800020001" },
	{ "wide/sel2=1,sel3=0xffffffffffffffff,sel4=0xf/",
	  "wide/sel2=1,sel3=0xffffffffffffffff,sel4=0xf/ 30:0x0 config2=0x1 config3=0xffffffffffffffff "
	  "config4=0xf0" },
	{ "wide/direct/", "wide/direct/ 30:0x10 config1=0x20" },
	{ "wide/config=1,config4=2/", "wide/config=1,config4=2/ 30:0x1 config4=0x2" },
};

#define TREE_TEST(tree)                                                                            \
	static void parses_on_##tree(void **state)                                                 \
	{                                                                                          \
		struct tacho *t = open_tree(#tree);                                                \
		check_rows(t, 0, tree, countof(tree));                                             \
		tacho_close(t);                                                                    \
	}
TREE_TEST(hybrid)
TREE_TEST(spr)
TREE_TEST(amd)
TREE_TEST(arm64)
TREE_TEST(power)

/* imc means all eight memory controllers, and only those. */
static void counts_on_every_instance(void **state)
{
	static const char *const specs[] = { "imc/cas_count_read/", "uncore_imc/cas_count_read/",
					     "cas_count_read", "uncore_imc_*/cas_count_read/" };
	struct tacho *t = open_tree("spr");

	for (size_t i = 0; i < countof(specs); i++) {
		struct event_list list = { 0 };

		assert_int_equal(event_parse(t, specs[i], 0, &list, NULL), 8);
		for (size_t k = 0; k < list.n; k++) {
			assert_int_equal(list.v[k].attr.type, 20 + k);
			assert_int_equal(list.v[k].merge, 0);
			assert_true(list.v[k].flags & EVENT_UNCORE);
		}
		event_list_done(&list);
	}
	/* clockticks is known to two kinds of PMU: each kind adds up for itself */
	struct event_list list = { 0 };

	assert_int_equal(event_parse(t, "clockticks", 0, &list, NULL), 11);
	assert_int_equal(list.v[2].merge, 0);
	assert_int_equal(list.v[10].merge, 3);
	event_list_done(&list);
	tacho_close(t);
}

static void matches_names(void **state)
{
	static const struct { const char *typed, *name; bool same; } rows[] = {
		{ "uncore_imc", "uncore_imc_0", true }, { "imc", "uncore_imc_15", true },
		{ "imc_1", "uncore_imc_1", true }, { "imc", "uncore_imc_free_running_0", false },
		{ "uncore_imc*", "uncore_imc_free_running_0", true }, { "cpum", "cpum_cf", false },
		{ "smmuv3_pmcg", "smmuv3_pmcg_ff88840", true }, { "im", "uncore_imc_0", false },
		{ "cpu", "cpu", true }, { "cpu", "cpu_core", false }, { "*", "msr", true },
		{ "uncore", "uncore_0", true }, { "", "uncore_", false },
	};

	for (size_t i = 0; i < countof(rows); i++)
		assert_int_equal(pmu_matches(str_of(rows[i].typed), str_of(rows[i].name)),
				 rows[i].same);
}

static void reads_formats(void **state)
{
	static const struct { const char *text; int word; uint64_t mask; } rows[] = {
		{ "config:0-7", 0, 0xff }, { "config:0-7,21", 0, 0x2000ff },
		{ "config1:0-63", 1, UINT64_MAX }, { "config2:5", 2, 0x20 }, { "config4:63", 4, 1ULL << 63 },
		{ "config5:0", -1, 0 }, { "config:7-0", -1, 0 }, { "config:0-64", -1, 0 },
		{ "config", -1, 0 }, { "config:", -1, 0 }, { "", -1, 0 }, { "foo:1", -1, 0 },
		{ "config:1,", -1, 0 }, { "config:a-b", -1, 0 }, { "configg:1", -1, 0 },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		struct pmu_format f = { 0 };
		int err = format_parse(str_of(rows[i].text), &f);

		assert_int_equal(err, rows[i].word < 0 ? -22 : 0);
		if (err)
			continue;
		assert_int_equal(f.word, rows[i].word);
		assert_true(f.mask == rows[i].mask);
	}
	assert_true(format_spread(&(struct pmu_format){ .mask = 0x2000ff }, 0x1ff) == 0x2000ff);
	assert_true(format_spread(&(struct pmu_format){ .mask = 0xf0f0 }, 0x1f) == 0x10f0);
}

static void finds_core_pmus(void **state)
{
	static const struct { const char *tree; bool core; } rows[] = {
		{ "hybrid", true }, { "spr", true }, { "amd", true }, { "arm64", true },
		{ "power", false }, { "none", false }, { "no-such-tree", false },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		struct tacho *t = open_tree(rows[i].tree);

		assert_int_equal(event_has_core_pmu(t), rows[i].core);
		tacho_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_on_hybrid), cmocka_unit_test(parses_on_spr),
		cmocka_unit_test(parses_on_amd), cmocka_unit_test(parses_on_arm64),
		cmocka_unit_test(parses_on_power), cmocka_unit_test(counts_on_every_instance),
		cmocka_unit_test(matches_names), cmocka_unit_test(reads_formats),
		cmocka_unit_test(finds_core_pmus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
