/*
 * Parsing of events without PMUs: names, modifiers, terms, groups, tracepoints and breakpoints, each with the
 * expected attr.
 */
#include "event_support.h"

static const struct parse_row names[] = {
	{ "cycles", "cycles 0:0x0" },
	{ "cpu-cycles", "cpu-cycles 0:0x0" },
	{ "CYCLES", "CYCLES 0:0x0" },
	{ "instructions", "instructions 0:0x1" },
	{ "cache-references", "cache-references 0:0x2" },
	{ "cache-misses", "cache-misses 0:0x3" },
	{ "branches", "branches 0:0x4" },
	{ "branch-instructions", "branch-instructions 0:0x4" },
	{ "branch-misses", "branch-misses 0:0x5" },
	{ "bus-cycles", "bus-cycles 0:0x6" },
	{ "idle-cycles-frontend", "idle-cycles-frontend 0:0x7" },
	{ "stalled-cycles-frontend", "stalled-cycles-frontend 0:0x7" },
	{ "idle-cycles-backend", "idle-cycles-backend 0:0x8" },
	{ "stalled-cycles-backend", "stalled-cycles-backend 0:0x8" },
	{ "ref-cycles", "ref-cycles 0:0x9" },
	{ "cpu-clock", "cpu-clock 1:0x0 msec*1e-06" },
	{ "task-clock", "task-clock 1:0x1 msec*1e-06" },
	{ "page-faults", "page-faults 1:0x2" },
	{ "faults", "faults 1:0x2" },
	{ "context-switches", "context-switches 1:0x3" },
	{ "cs", "cs 1:0x3" },
	{ "cpu-migrations", "cpu-migrations 1:0x4" },
	{ "migrations", "migrations 1:0x4" },
	{ "minor-faults", "minor-faults 1:0x5" },
	{ "major-faults", "major-faults 1:0x6" },
	{ "alignment-faults", "alignment-faults 1:0x7" },
	{ "emulation-faults", "emulation-faults 1:0x8" },
	{ "dummy", "dummy 1:0x9" },
	{ "bpf-output", "bpf-output 1:0xa" },
	{ "cgroup-switches", "cgroup-switches 1:0xb" },
	{ "duration_time", "duration_time 4294967294:0x1 ns*1" },
	{ "user_time,system_time", "user_time 4294967294:0x2 ns*1 | system_time 4294967294:0x3 ns*1" },
	{ "num_cpus", "num_cpus 4294967294:0x4" },
	{ "tool/duration_time/", "tool/duration_time/ 4294967294:0x1 ns*1" },
	{ "tool/num_cores,name=n/", "n 4294967294:0x6" },
	{ "slots", "slots 4294967294:0xe" },
	/* caches: every alias of each part */
	{ "L1-dcache-load-misses", "L1-dcache-load-misses 3:0x10000" },
	{ "l1-d", "l1-d 3:0x0" },
	{ "l1d-read-miss", "l1d-read-miss 3:0x10000" },
	{ "L1-data-stores", "L1-data-stores 3:0x100" },
	{ "L1-icache-prefetches", "L1-icache-prefetches 3:0x201" },
	{ "l1-i-misses", "l1-i-misses 3:0x10001" },
	{ "l1i-loads", "l1i-loads 3:0x1" },
	{ "L1-instruction-refs", "L1-instruction-refs 3:0x1" },
	{ "LLC-load-misses", "LLC-load-misses 3:0x10002" },
	{ "L2-write-ops", "L2-write-ops 3:0x102" },
	{ "dTLB-store-misses", "dTLB-store-misses 3:0x10103" },
	{ "d-tlb-access", "d-tlb-access 3:0x3" },
	{ "Data-TLB-speculative-read", "Data-TLB-speculative-read 3:0x203" },
	{ "iTLB-load-misses", "iTLB-load-misses 3:0x10004" },
	{ "i-tlb", "i-tlb 3:0x4" },
	{ "Instruction-TLB-Reference", "Instruction-TLB-Reference 3:0x4" },
	{ "branch-loads", "branch-loads 3:0x5" },
	{ "bpu-read-miss", "bpu-read-miss 3:0x10005" },
	{ "btb", "btb 3:0x5" },
	{ "bpc-misses", "bpc-misses 3:0x10005" },
	{ "node-prefetch-misses", "node-prefetch-misses 3:0x10206" },
	{ "L1-data-speculative-load-access", "L1-data-speculative-load-access 3:0x200" },
	/* Alumet's spellings */
	{ "CPU_CYCLES", "CPU_CYCLES 0:0x0" },
	{ "REF_CPU_CYCLES", "REF_CPU_CYCLES 0:0x9" },
	{ "Stalled_Cycles_Backend", "Stalled_Cycles_Backend 0:0x8" },
	{ "PAGE_FAULTS_MIN", "PAGE_FAULTS_MIN 1:0x5" },
	{ "page_faults_maj", "page_faults_maj 1:0x6" },
	{ "CGROUP_SWITCHES", "CGROUP_SWITCHES 1:0xb" },
	{ "LL_READ_MISS", "LL_READ_MISS 3:0x10002" },
	{ "L1I_WRITE_ACCESS", "L1I_WRITE_ACCESS 3:0x101" },
	{ "node_prefetch_miss", "node_prefetch_miss 3:0x10206" },
	/* raw and numeric */
	{ "r1a", "r1a 4:0x1a" },
	{ "r1A8:u", "r1A8:u 4:0x1a8 !k !h" },
	{ "rffffffffffffffff", "rffffffffffffffff 4:0xffffffffffffffff" },
	{ "r1a/name=raw,config1=3/", "raw 4:0x1a config1=0x3" },
	{ "1:1", "1:1 1:0x1 msec*1e-06" },
	{ "1:0x3", "1:0x3 1:0x3" },
	{ "1:3:u", "1:3:u 1:0x3 !k !h" },
	{ "6:0xfff/name=numpmu,period=7/k", "numpmu 6:0xfff period=7 !u !h" },
	/* cpu/.../ parses without a core PMU, to be refused by the kernel */
	{ "cpu/cycles/u", "cpu/cycles/u 0:0x0 !k !h" },
	{ "cpu/r1a/", "cpu/r1a/ 4:0x1a" },
	{ "cpu/config=10,config1,config2=3,period=1000/u",
	  "cpu/config=10,config1,config2=3,period=1000/u 4:0xa config1=0x1 config2=0x3 period=1000 !k !h" },
	{ "cpu/config=1,name=x/,cpu/config=2/k", "x 4:0x1 | cpu/config=2/k 4:0x2 !u !h" },
};

static const struct parse_row modifiers[] = {
	{ "cs:u", "cs:u 1:0x3 !k !h" },
	{ "cs:k", "cs:k 1:0x3 !u !h" },
	{ "cs:h", "cs:h 1:0x3 !u !k" },
	{ "cs:uk", "cs:uk 1:0x3 !h" },
	{ "cs:ukh", "cs:ukh 1:0x3" },
	{ "cs:I", "cs:I 1:0x3 !idle" },
	{ "cs:G", "cs:G 1:0x3 !host" },
	{ "cs:H", "cs:H 1:0x3 !guest" },
	{ "cs:GH", "cs:GH 1:0x3" },
	{ "cs:uG", "cs:uG 1:0x3 !k !h !host" },
	{ "cs:kIG", "cs:kIG 1:0x3 !u !h !idle !host" },
	{ "cs:p", "cs:p 1:0x3 precise=1" },
	{ "cs:ppu", "cs:ppu 1:0x3 !k !h precise=2" },
	{ "cs:ppp", "cs:ppp 1:0x3 precise=3" },
	{ "cs:P", "cs:P 1:0x3 precise-max" },
	{ "cs:S", "cs:S 1:0x3 leader-sampling" },
	{ "cs:Su", "cs:Su 1:0x3 !k !h leader-sampling" },
	{ "cs:D", "cs:D 1:0x3 pinned" },
	{ "cs:e", "cs:e 1:0x3 exclusive" },
	{ "cs:uDp", "cs:uDp 1:0x3 pinned !k !h precise=1" },
	{ "cs:b", "cs:b 1:0x3 bpf" },
	{ "cs:R", "cs:R 1:0x3 retire-latency" },
	{ "cs:X", "cs:X 1:0x3 no-regroup" },
	{ "cs:", "cs: 1:0x3" },
	{ "cs//", "cs// 1:0x3" },
	{ "cs//u", "cs//u 1:0x3 !k !h" },
	{ "cs//:u", "cs//:u 1:0x3 !k !h" },
	{ " cs : u , faults ", "cs : u 1:0x3 !k !h | faults 1:0x2" },
	{ "instructions:ukhIGHpppPSDebRX",
	  "instructions:ukhIGHpppPSDebRX 0:0x1 pinned exclusive !idle precise=3 precise-max "
	  "leader-sampling bpf retire-latency no-regroup" },
};

static const struct parse_row terms[] = {
	{ "software/cs,name=foo/", "foo 1:0x3" },
	{ "software/r1a/", "software/r1a/ 1:0x1a" },
	{ "software/r0x1a/", "software/r0x1a/ 1:0x1a" },
	{ "software/config=3,name=x/u", "x 1:0x3 !k !h" },
	{ "soft*/cs/u", "soft*/cs/u 1:0x3 !k !h" },
	{ "software/task-clock/", "software/task-clock/ 1:0x1 msec*1e-06" },
	{ "cs/config=4/", "cs/config=4/ 1:0x3" },
	{ "cs/config1=4,config3=5,config4=6/", "cs/config1=4,config3=5,config4=6/ 1:0x3 config1=0x4 "
	  "config3=0x5 config4=0x6" },
	{ "cycles/period=1000/u", "cycles/period=1000/u 0:0x0 period=1000 !k !h" },
	{ "cycles/period/", "cycles/period/ 0:0x0 period=1" },
	{ "cycles/freq=4000/", "cycles/freq=4000/ 0:0x0 period=4000 freq" },
	{ "cycles/name='COMPLEX_CYCLES_NAME:orig=cycles,desc=chip-clock-ticks'/Duk",
	  "COMPLEX_CYCLES_NAME:orig=cycles,desc=chip-clock-ticks 0:0x0 pinned !h" },
	{ "cs/name=\"a/b c\"/", "a/b c 1:0x3" },
	{ "cs/name=a:b/", "a:b 1:0x3" },
	{ "cs/ period=3 , name=foo / u", "foo 1:0x3 period=3 !k !h" },
	{ "cs/percore/", "cs/percore/ 1:0x3 percore" },
	{ "cs/percore=0/", "cs/percore=0/ 1:0x3" },
	{ "cs/cpu=0,cpu=2-3/", "cs/cpu=0,cpu=2-3/ 1:0x3 @0,2-3" },
	{ "cs/metric-id=abc/", "cs/metric-id=abc/ 1:0x3" },
	{ "cs/@sink,@a=b/", "cs/@sink,@a=b/ 1:0x3" },
	{ "LLC-loads/name=l/,LLC_READ_MISS//", "l 3:0x2 | LLC_READ_MISS// 3:0x10002" },
};

static const struct parse_row groups[] = {
	{ "{cs,page-faults}:u", "cs 1:0x3 !k !h {0/2} | page-faults 1:0x2 !k !h {0/2}" },
	{ "grp{cs,faults}", "cs 1:0x3 grp{0/2} | faults 1:0x2 grp{0/2}" },
	{ " { cs , faults } , dummy", "cs 1:0x3 {0/2} | faults 1:0x2 {0/2} | dummy 1:0x9" },
	{ "{cs:k,faults}:u", "cs:k 1:0x3 !h {0/2} | faults 1:0x2 !k !h {0/2}" },
	{ "{cs:u,faults:kp}:h", "cs:u 1:0x3 !k {0/2} | faults:kp 1:0x2 !u precise=1 {0/2}" },
	{ "{cs,faults:G}:H", "cs 1:0x3 !guest {0/2} | faults:G 1:0x2 {0/2}" },
	{ "{cs,faults:H}:G", "cs 1:0x3 !host {0/2} | faults:H 1:0x2 {0/2}" },
	{ "{cs:G,faults:H}:u", "cs:G 1:0x3 !k !h !host {0/2} | faults:H 1:0x2 !k !h !guest {0/2}" },
	{ "{cs:G,faults:H}:uG", "cs:G 1:0x3 !k !h !host {0/2} | faults:H 1:0x2 !k !h {0/2}" },
	{ "{cs:kG,faults}:uH", "cs:kG 1:0x3 !h {0/2} | faults 1:0x2 !k !h !guest {0/2}" },
	{ "{cs:p,faults}:pp", "cs:p 1:0x3 precise=3 {0/2} | faults 1:0x2 precise=2 {0/2}" },
	{ "{cs,faults}:D", "cs 1:0x3 pinned {0/2} | faults 1:0x2 {0/2}" },
	{ "{cs:D,faults}:e", "cs:D 1:0x3 pinned exclusive {0/2} | faults 1:0x2 {0/2}" },
	{ "{cs,faults}:S", "cs 1:0x3 leader-sampling {0/2} | faults 1:0x2 leader-sampling {0/2}" },
	{ "{cs,faults}:W", "cs 1:0x3 weak {0/2} | faults 1:0x2 weak {0/2}" },
	{ "{cycles,cs},{cs:u}", "cycles 0:0x0 {0/2} | cs 1:0x3 {0/2} | cs:u 1:0x3 !k !h" },
	{ "{duration_time,cs,faults}",
	  "duration_time 4294967294:0x1 ns*1 | cs 1:0x3 {1/2} | faults 1:0x2 {1/2}" },
	{ "{sched:sched_switch,cycles,mem:0:w}",
	  "sched:sched_switch 2:0x13c {0/3} | cycles 0:0x0 {0/3} | mem:0:w 5:0x0 config2=0x4 bp=2 {0/3}" },
	{ "{syscalls:sys_*_write,cs}:k",
	  "syscalls:sys_enter_write 2:0x2bd !u !h {0/3} | syscalls:sys_exit_write 2:0x2be !u !h {0/3} | "
	  "cs 1:0x3 !u !h {0/3}" },
};

static const struct parse_row tracepoints[] = {
	{ "sched:sched_switch", "sched:sched_switch 2:0x13c" },
	{ "sched:sched_switch:u", "sched:sched_switch 2:0x13c !k !h" },
	{ "sched:sched_switch/name=sw,period=2/k", "sw 2:0x13c period=2 !u !h" },
	{ "9p:9p_client_req", "9p:9p_client_req 2:0x37" },
	{ "foo-bar:baz", "foo-bar:baz 2:0x4d" },
	{ "syscalls:*", "syscalls:sys_enter_read 2:0x2bc | syscalls:sys_enter_write 2:0x2bd | "
	  "syscalls:sys_exit_write 2:0x2be" },
	{ "syscalls:sys_enter_*:k", "syscalls:sys_enter_read 2:0x2bc !u !h | "
	  "syscalls:sys_enter_write 2:0x2bd !u !h" },
	{ "s*:*w[ra]*ing", "sched:sched_waking 2:0x13e" },
	{ "*:*", "9p:9p_client_req 2:0x37 | foo-bar:baz 2:0x4d | sched:sched_switch 2:0x13c | "
	  "sched:sched_wakeup 2:0x13f | sched:sched_waking 2:0x13e | syscalls:sys_enter_read 2:0x2bc | "
	  "syscalls:sys_enter_write 2:0x2bd | syscalls:sys_exit_write 2:0x2be" },
};

static const struct parse_row breakpoints[] = {
	{ "mem:0", "mem:0 5:0x0 config2=0x4 bp=3" },
	{ "mem:0:r", "mem:0:r 5:0x0 config2=0x4 bp=1" },
	{ "mem:0:w", "mem:0:w 5:0x0 config2=0x4 bp=2" },
	{ "mem:0:rw", "mem:0:rw 5:0x0 config2=0x4 bp=3" },
	{ "mem:0:rw:kp", "mem:0:rw:kp 5:0x0 config2=0x4 bp=3 !u !h precise=1" },
	{ "mem:0:u", "mem:0:u 5:0x0 config2=0x4 bp=3 !k !h" },
	{ "mem:0x10/1", "mem:0x10/1 5:0x0 config1=0x10 config2=0x1 bp=3" },
	{ "mem:0/2:w", "mem:0/2:w 5:0x0 config2=0x2 bp=2" },
	{ "mem:0/8:rwx:k", "mem:0/8:rwx:k 5:0x0 config2=0x8 bp=7 !u !h" },
	{ "mem:0/4:rw:u", "mem:0/4:rw:u 5:0x0 config2=0x4 bp=3 !k !h" },
	{ "mem:0:rw/name=breakpoint/,mem:0:w/name=other,period=5/u",
	  "breakpoint 5:0x0 config2=0x4 bp=3 | other 5:0x0 config2=0x4 period=5 bp=2 !k !h" },
	{ "mem:0/8/name=b/k", "b 5:0x0 config2=0x8 bp=3 !u !h" },
	{ "mem:0//u", "mem:0//u 5:0x0 config2=0x4 bp=3 !k !h" },
};

#define ROWS_TEST(rows)                                                                            \
	static void parses_##rows(void **state)                                                    \
	{                                                                                          \
		struct tacho *t = open_tree("none");                                               \
		check_rows(t, 0, rows, countof(rows));                                             \
		tacho_close(t);                                                                    \
	}
ROWS_TEST(names)
ROWS_TEST(modifiers)
ROWS_TEST(terms)
ROWS_TEST(groups)
ROWS_TEST(tracepoints)
ROWS_TEST(breakpoints)

static void executes_watch_a_word(void **state)
{
	struct tacho *t = open_tree("none");
	struct event_list list = { 0 };

	assert_int_equal(event_parse(t, "mem:0x1000:x", 0, &list, NULL), 1);
	assert_int_equal(list.v[0].attr.bp_len, sizeof(long));
	assert_int_equal(list.v[0].attr.bp_type, HW_BREAKPOINT_X);
	event_list_done(&list);
	tacho_close(t);
}

/* Sampling terms are stored when sampling and refused when counting. */
static void keeps_sampling_terms(void **state)
{
	static const char spec[] = "cycles/call-graph=dwarf,stack-size=4096,max-stack=3,time=0,nr=2,"
				   "no-inherit,overwrite,branch_type='any_call,u',aux-output,"
				   "aux-action=start-paused,aux-sample-size=64,@x/";
	static const char *const alone[] = { "call-graph=fp", "time", "stack-size=8", "freq=1", "nr=1",
					     "inherit", "no-inherit", "overwrite", "no-overwrite",
					     "max-stack=3", "branch_type=any", "aux-output",
					     "aux-action=pause", "aux-sample-size=1" };
	struct tacho *t = open_tree("none");
	struct event_list list = { 0 };
	struct event_terms *x;
	char one[64];

	assert_int_equal(event_parse(t, spec, 0, &list, NULL), 1);
	x = &list.v[0].terms;
	assert_string_equal(x->call_graph, "dwarf");
	assert_int_equal(x->stack_size, 4096);
	assert_int_equal(x->max_stack, 3);
	assert_int_equal(x->time, -1);
	assert_int_equal(x->nr, 2);
	assert_int_equal(x->inherit, -1);
	assert_int_equal(x->overwrite, 1);
	assert_int_equal(x->branch_type, 0x11);
	assert_int_equal(x->aux_output, 1);
	assert_string_equal(x->aux_action, "start-paused");
	assert_int_equal(x->aux_sample_size, 64);
	assert_string_equal(x->driver_config, "x");
	event_list_done(&list);
	for (size_t i = 0; i < countof(alone); i++) {
		snprintf(one, sizeof(one), "cycles/%s/", alone[i]);
		assert_int_equal(event_parse(t, one, 0, &list, NULL), 1);
		assert_int_equal(event_parse(t, one, EVENT_FOR_STAT, &list, NULL), -22);
	}
	event_list_done(&list);
	tacho_close(t);
}

/* When counting, a period must not cause interrupts. */
static void counting_ignores_the_period(void **state)
{
	static const struct parse_row rows[] = {
		{ "cs/period=1000,config1=2,percore,cpu=1,metric-id=m,name=n/u",
		  "n 1:0x3 config1=0x2 !k !h percore @1" },
	};
	struct tacho *t = open_tree("none");

	check_rows(t, EVENT_FOR_STAT, rows, countof(rows));
	tacho_close(t);
}

/* Several -e options append to one list; indexes continue. */
static void appends(void **state)
{
	struct tacho *t = open_tree("none");
	struct event_list list = { 0 };
	struct tacho_error e;

	assert_int_equal(event_parse(t, "cs", 0, &list, NULL), 1);
	assert_int_equal(event_parse(t, "{faults,dummy}", 0, &list, NULL), 2);
	assert_int_equal(event_parse(t, "cs,nonsense", 0, &list, &e), -2);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.v[2].leader, 1);
	assert_int_equal(list.v[2].column, 8);
	assert_int_equal(list.v[2].length, 5);
	event_list_done(&list);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_names), cmocka_unit_test(parses_modifiers),
		cmocka_unit_test(parses_terms), cmocka_unit_test(parses_groups),
		cmocka_unit_test(parses_tracepoints), cmocka_unit_test(parses_breakpoints),
		cmocka_unit_test(executes_watch_a_word), cmocka_unit_test(keeps_sampling_terms),
		cmocka_unit_test(counting_ignores_the_period), cmocka_unit_test(appends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
