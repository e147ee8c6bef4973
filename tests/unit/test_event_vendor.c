/*
 * Names of vendors' lists with recorded sysfs trees; a list's memory block; files that are not lists; selection
 * of lists by CPU.
 */
#include "event_support.h"

#include <errno.h>
#include <ftw.h>
#include <unistd.h>

#include "event/vendor.h"

#define LISTS TEST_DATA "/../lists/data/"

static struct tacho *open_with(const char *tree, const char *list)
{
	struct tacho *t = open_tree(tree);
	struct tacho_error e = { 0 };

	if (tacho_eventlist_add(t, list, &e) < 0)
		fail_msg("%s", e.message);
	return t;
}

static void expect_events(struct tacho *t, const char *spec, unsigned flags, const char *want)
{
	check_rows(t, flags, &(struct parse_row){ spec, want }, 1);
}

static void names_become_events(void **state)
{
	struct tacho *t = open_with("spr", LISTS "skx_core.json");

	assert_int_equal(tacho_eventlist_add(t, LISTS "icx_uncore.json", NULL), 2);
	assert_int_equal(tacho_eventlist_add(t, LISTS "icx_uncore.json", NULL), 0);
	expect_events(t, "Inst_Retired.Any:u", 0, "Inst_Retired.Any:u 4:0xc0 !k !h");
	expect_events(t, "FRONTEND_RETIRED.DSB_MISS", 0, "FRONTEND_RETIRED.DSB_MISS 4:0x1c6 config1=0x11");
	expect_events(t, "L2_RQSTS.PF_MISS:config1=0x10:config2=0x2:k", 0,
		      "L2_RQSTS.PF_MISS:config1=0x10:config2=0x2:k 4:0x3824 config1=0x10 config2=0x2 !u !h");
	expect_events(t, "L2_RQSTS.PF_MISS/cmask=2,name=x/", 0, "x 4:0x2003824");
	expect_events(t, "perf_metrics.retiring", 0, "perf_metrics.retiring 4:0x8000");
	/* Made for precise samples: told to the kernel when it samples, which refuses it for counts. */
	expect_events(t, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", 0,
		      "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4 4:0x1cd config1=0x4 precise=1");
	expect_events(t, "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4", EVENT_FOR_STAT,
		      "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4 4:0x1cd config1=0x4");
	tacho_close(t);
}

static void refused(struct tacho *t, const char *spec, int code, const char *part)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };

	assert_int_equal(event_parse(t, spec, 0, &list, &e), code);
	if (!strstr(e.message, part))
		fail_msg("%s: %s", spec, e.message);
	event_list_done(&list);
}

/* cpu/NAME/ as in perf: the PMU is given, and other terms may follow the name. */
static void names_stand_between_slashes(void **state)
{
	struct tacho *t = open_with("spr", LISTS "skx_core.json");

	assert_int_equal(tacho_eventlist_add(t, LISTS "icx_uncore.json", NULL), 2);
	expect_events(t, "cpu/INST_RETIRED.ANY/", 0, "cpu/INST_RETIRED.ANY/ 4:0xc0");
	expect_events(t, "cpu/inst_retired.any,cmask=1/u", 0, "cpu/inst_retired.any,cmask=1/u 4:0x10000c0 !k !h");
	expect_events(t, "cpu/FRONTEND_RETIRED.DSB_MISS,name=x/", 0, "x 4:0x1c6 config1=0x11");
	expect_events(t, "uncore_cha/UNC_CHA_TOR_INSERTS.IA_MISS_DRD,name=x/", 0,
		      "x 40:0xc817fe00000135 uncore @0,56 | x 41:0xc817fe00000135 uncore @0,56 +0 | "
		      "x 50:0xc817fe00000135 uncore @0,56 +0");
	expect_events(t, "cha/UNC_CHA_TOR_INSERTS.IA_MISS_DRD,threshold=1,name=x/", 0,
		      "x 40:0xc817fe01000135 uncore @0,56 | x 41:0xc817fe01000135 uncore @0,56 +0 | "
		      "x 50:0xc817fe01000135 uncore @0,56 +0");
	expect_events(t, "uncore_cha_1/UNC_CHA_TOR_INSERTS.IA_MISS_DRD,name=x/", 0,
		      "x 41:0xc817fe00000135 uncore @0,56");
	/* A name counts on its own unit's PMU alone, and is one event. */
	refused(t, "uncore_imc/UNC_CHA_TOR_INSERTS.IA_MISS_DRD/", -EINVAL, "has no event or term");
	refused(t, "cpu/UNC_CHA_TOR_INSERTS.IA_MISS_DRD/", -EINVAL, "has no event or term");
	refused(t, "cpu/TEST.UNKNOWN_MSR/", -EOPNOTSUPP, "the register 0x3e0");
	refused(t, "cpu/INST_RETIRED.ANY,L2_RQSTS.PF_MISS/", -EINVAL, "are two events");
	tacho_close(t);
	t = open_with("none", LISTS "skx_core.json");
	refused(t, "cpu/INST_RETIRED.ANY/", -EOPNOTSUPP, "sysfs shows no core PMU");
	tacho_close(t);
}

/* AMD's L3 (a PMU whose cpumask has a CPU per L3), data fabric and memory controllers (a PMU each), Arm's
 * mesh: counts of instances are added up, groups are per instance, scale and unit. */
static void other_uncores(void **state)
{
	struct tacho *t = open_with("amd", LISTS "kernel_uncore.json");

	assert_true(tacho_eventlist_add(t, LISTS "kernel_amd.json", NULL) > 0);
	expect_events(t, "l3_lookup_state.l3_miss", 0,
		      "l3_lookup_state.l3_miss 12:0x300c00000000104 per-pkg uncore Bytes*64 @0,8");
	expect_events(t, "local_processor_read_data_beats_cs0/name=x/", 0, "x 13:0x700fe1f per-pkg uncore @0");
	expect_events(t, "{umc_cas_cmd.rd,umc_cas_cmd.wr}", 0,
		      "umc_cas_cmd.rd 14:0x10a per-pkg uncore Bytes*64 @0 {0/2} | "
		      "umc_cas_cmd.wr 14:0x20a per-pkg uncore Bytes*64 @0 {0/2} | "
		      "umc_cas_cmd.rd 15:0x10a per-pkg uncore Bytes*64 @0 {2/2} +0 | "
		      "umc_cas_cmd.wr 15:0x20a per-pkg uncore Bytes*64 @0 {2/2} +1");
	tacho_close(t);
	t = open_with("arm64", LISTS "kernel_uncore.json");
	expect_events(t, "hnf_cache_fill", 0, "hnf_cache_fill 11:0x30005 uncore @0");
	expect_events(t, "arm_cmn/hnf_cache_fill,nodeid=0x10,bynodeid/", 0,
		      "arm_cmn/hnf_cache_fill,nodeid=0x10,bynodeid/ 11:0x1080030005 uncore @0");
	tacho_close(t);
}

static void impossible_values_are_refused(void **state)
{
	struct tacho *t = open_with("spr", LISTS "skx_core.json");

	refused(t, "TEST.UNKNOWN_MSR", -EOPNOTSUPP, "the register 0x3e0");
	refused(t, "page-faults,TEST.EQUAL", -EOPNOTSUPP, "has no such term");
	/* A part of a name does not match. */
	refused(t, "BR_MISP_RETIRED.ALL_BRANCH", -ENOENT, "no event is called");
	refused(t, "L2_RQSTS.PF_MISS:config1=zz", -EINVAL, "number");
	tacho_close(t);
}

static void hybrid_names_say_their_core(void **state)
{
	struct tacho *t = open_with("hybrid", LISTS "hybrid/big_core.json");

	assert_int_equal(tacho_eventlist_add(t, LISTS "hybrid/little_core.json", NULL), 2);
	expect_events(t, "BIG.ONLY", 0, "cpu_core/BIG.ONLY/ 4:0x110 @0-15");
	refused(t, "LITTLE.ONLY", -EOPNOTSUPP, "PMU cpu_atom has no such term");
	expect_events(t, "cpu_core/BIG.ONLY/", 0, "cpu_core/BIG.ONLY/ 4:0x110 @0-15");
	expect_events(t, "cpu/BIG.ONLY/", 0, "cpu/BIG.ONLY/ 4:0x110 @0-15");
	tacho_close(t);
}

static void patterns_of_cpus(void **state)
{
	assert_true(vendor_cpu_matches(STR_LIT("GenuineIntel-6-55-[01234]"), "GenuineIntel-6-55-4"));
	assert_false(vendor_cpu_matches(STR_LIT("GenuineIntel-6-55-[01234]"), "GenuineIntel-6-55-5"));
	assert_true(vendor_cpu_matches(STR_LIT("GenuineIntel-6-55-[56789ABCDEF]"), "GenuineIntel-6-55-B"));
	assert_true(vendor_cpu_matches(STR_LIT("GenuineIntel-6-97"), "GenuineIntel-6-97-2"));
	assert_false(vendor_cpu_matches(STR_LIT("GenuineIntel-6-9"), "GenuineIntel-6-97-2"));
	assert_true(vendor_cpu_matches(STR_LIT("GenuineIntel-6-(37|4A|4C)"), "GenuineIntel-6-4C-1"));
	assert_false(vendor_cpu_matches(STR_LIT("("), "GenuineIntel-6-97-2"));
	assert_false(vendor_cpu_matches(STR_LIT("((a{1,255}){1,255}){1,255}"), "a"));
}

static int count(void *arg, const struct tacho_listed *ev)
{
	(void)ev;
	++*(int *)arg;
	return 0;
}

/* The mapfile selects lists by the CPU in the given /proc. */
static void mapfile_chooses(void **state)
{
	char dir[] = "/tmp/tacho-vendor-XXXXXX", path[64];
	struct tacho_error e = { 0 };
	struct tacho *t;
	FILE *f;
	int n = 0;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cpuinfo", dir);
	f = fopen(path, "w");
	fputs("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n"
	      "model name\t: X\nstepping\t: 2\n\n", f);
	fclose(f);
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = TEST_DATA "/sysfs/hybrid",
						   .procfs = dir), NULL), 0);
	if (tacho_eventlist_add(t, LISTS "hybrid", &e) != 6)
		fail_msg("%s", e.message);
	assert_int_equal(tacho_eventlist_walk(t, "inst_retired.any", count, &n, NULL), 2);
	assert_int_equal(n, 2);
	expect_events(t, "INST_RETIRED.ANY", 0, "cpu_atom/INST_RETIRED.ANY/ 10:0xc0 @16-23 | "
		      "cpu_core/INST_RETIRED.ANY/ 4:0xc0 @0-15");
	tacho_close(t);
	unlink(path);
	rmdir(dir);
}

static void file_refused(const char *text, int code, const char *part)
{
	char path[] = "/tmp/tacho-vendor-XXXXXX";
	int fd = mkstemp(path);
	struct tacho *t = open_tree("none");
	struct tacho_error e = { 0 };

	assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(tacho_eventlist_add(t, path, &e), code);
	if (!strstr(e.message, part))
		fail_msg("%s", e.message);
	tacho_close(t);
	unlink(path);
}

static void files_that_are_not_lists(void **state)
{
	file_refused("{\"Events\": [{\"EventName\": \"A\" \"x\"}]}", -EINVAL, "line 1, column 31");
	file_refused("{\"a\": 1}", -EINVAL, "without a list of events");
	file_refused("", -EINVAL, "no event found");
	file_refused("hello", -EINVAL, "no event found");
	file_refused("cpu/event=,name='x'/", -EINVAL, "line 1");
	file_refused("[", -EINVAL, "ends too early");
}

/* A block from the cache is used unchanged, so invalid offsets must be detected. */
static void blocks_are_checked(void **state)
{
	struct vendor_builder b = { 0 };
	struct vendor_list l = { 0 };
	struct vendor_event *ev;
	size_t n, found;
	char *copy;

	ev = vendor_add(&b, STR_LIT("B.B"));
	ev->terms = vendor_put(&b, STR_LIT("event=0x1"));
	assert_non_null(vendor_add(&b, STR_LIT("a.a")));
	assert_non_null(vendor_add(&b, STR_LIT("A.A")));
	assert_int_equal(vendor_build(&b, &l), 0);
	assert_int_equal(l.head->n, 2);		/* a repetition is dropped */
	assert_non_null(vendor_find(&l, STR_LIT("A.a"), &found));
	assert_null(vendor_find(&l, STR_LIT("A."), &found));
	assert_null(vendor_find(&l, STR_LIT("A.AA"), &found));
	n = sizeof(*l.head) + l.head->n * sizeof(*l.v) + l.head->pool_n;
	copy = malloc(n);
	for (size_t size = 0; size <= n; size++) {
		memcpy(copy, l.block, n);
		assert_int_equal(vendor_block_ok(copy, size), size == n);
	}
	((struct vendor_event *)(copy + sizeof(*l.head)))->terms = l.head->pool_n;
	assert_false(vendor_block_ok(copy, n));
	free(copy);
	free(l.block);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_events),
		cmocka_unit_test(names_stand_between_slashes),
		cmocka_unit_test(other_uncores),
		cmocka_unit_test(impossible_values_are_refused),
		cmocka_unit_test(hybrid_names_say_their_core), cmocka_unit_test(patterns_of_cpus),
		cmocka_unit_test(mapfile_chooses), cmocka_unit_test(files_that_are_not_lists),
		cmocka_unit_test(blocks_are_checked),
	};
	char cache[] = "/tmp/tacho-cache-XXXXXX";
	int status;

	if (!mkdtemp(cache))
		return 1;
	setenv("XDG_CACHE_HOME", cache, 1);
	setenv("XDG_DATA_HOME", cache, 1);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	nftw(cache, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return status;
}
