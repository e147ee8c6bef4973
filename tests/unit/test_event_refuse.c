/*
 * Malformed and unknown specs: each is refused with the expected errno, position and message. The list stays
 * empty.
 */
#include "event_support.h"

#include <errno.h>
#include <sys/stat.h>

struct refusal {
	const char *spec;
	int code, column;
	const char *message, *hint;	/* parts of them */
};

static const struct refusal syntax[] = {
	{ "", -EINVAL, 0, "no event is given", "" },
	{ "  ", -EINVAL, 2, "no event is given", "" },
	{ ",", -EINVAL, 0, "expected before ','", "" },
	{ ",cs", -EINVAL, 0, "expected before ','", "" },
	{ "cs,", -EINVAL, 3, "expected at the end", "" },
	{ "cs,,faults", -EINVAL, 3, "expected before ','", "" },
	{ "cs faults", -EINVAL, 3, "unexpected 'f'", "separated by ','" },
	{ "cs;faults", -EINVAL, 2, "unexpected ';'", "separated by ','" },
	{ "cs}", -EINVAL, 2, "unexpected '}'", "no group was opened" },
	{ "cs\001", -EINVAL, 2, "byte 0x01", "" },
	{ "cs,\303\274", -EINVAL, 3, "byte 0xc3", "" },
	{ "=cs", -EINVAL, 0, "expected before '='", "" },
	{ ":u", -EINVAL, 0, "expected before ':'", "" },
	{ "/cs/", -EINVAL, 0, "expected before '/'", "" },
	/* groups */
	{ "{cs", -EINVAL, 0, "group is never closed", "'}'" },
	{ "dummy,{cs,faults", -EINVAL, 6, "group is never closed", "'}'" },
	{ "{", -EINVAL, 0, "group is never closed", "'}'" },
	{ "{}", -EINVAL, 1, "expected before '}'", "" },
	{ "{cs,}", -EINVAL, 4, "expected before '}'", "" },
	{ "{cs faults}", -EINVAL, 4, "',' or '}' was expected", "" },
	{ "{cs,{faults}}", -EINVAL, 4, "cannot be nested", "" },
	{ "{cs,a{faults}}", -ENOENT, 4, "no event is called 'a'", "" },
	{ "{cs,faults}u", -EINVAL, 11, "unexpected 'u'", "" },
	{ "{cs,faults}:z", -EINVAL, 12, "'z' is not a modifier", "u k h" },
	{ "{cs,faults}:uu", -EINVAL, 13, "given twice", "" },
	{ "{cs:pp,faults}:pp", -EINVAL, 15, "highest precise level is 3", "" },
	{ "{cs,faults:D}", -EINVAL, 4, "'D' and 'e' are for a group's first", "" },
	{ "{cs,faults:W}", -EINVAL, 11, "'W' is for groups", "" },
	/* modifiers */
	{ "cs:uu", -EINVAL, 4, "'u' (user space) is given twice", "" },
	{ "cs:GuG", -EINVAL, 5, "'G' (guest) is given twice", "" },
	{ "cs:pppp", -EINVAL, 6, "highest precise level is 3", "" },
	{ "cs:W", -EINVAL, 3, "'W' is for groups", "" },
	{ "cs//x", -EINVAL, 4, "'x' is not a modifier", "u k h" },
	{ "cs:u:k", -EINVAL, 4, "unexpected ':'", "" },
	{ "cs:uz", -EINVAL, 4, "'z' is not a modifier", "u k h" },
	{ "cs:ukhIGHpppPSDebRXu", -EINVAL, 19, "'u' (user space) is given twice", "" },
	/* slashes and terms */
	{ "cs/", -EINVAL, 2, "the '/' after 'cs' is never closed", "cs/term=value" },
	{ "cs/u", -EINVAL, 2, "never closed", "" },
	{ "cs/name=foo", -EINVAL, 2, "never closed", "" },
	{ "cs/name=foo,", -EINVAL, 2, "never closed", "" },
	{ "cs/,/", -EINVAL, 3, "a term was expected", "" },
	{ "cs/name=foo,,/", -EINVAL, 12, "a term was expected", "" },
	{ "cs/=3/", -EINVAL, 3, "a term was expected", "" },
	{ "cs/name=/", -EINVAL, 8, "no value after '='", "" },
	{ "cs/name='foo/", -EINVAL, 8, "quote ' is never closed", "" },
	{ "cs/name=\"foo/", -EINVAL, 8, "quote \" is never closed", "" },
	{ "cs/name=a b/", -EINVAL, 10, "',' or '/' was expected", "quote" },
	{ "cs/name=a=b/", -EINVAL, 9, "',' or '/' was expected", "quote" },
	{ "cs/name/", -EINVAL, 3, "'name' needs a value", "" },
	{ "cs/period=a/", -EINVAL, 10, "needs a number", "" },
	{ "cs/period=-1/", -EINVAL, 10, "needs a number", "" },
	{ "cs/period=18446744073709551616/", -EINVAL, 10, "does not fit into 64 bits", "" },
	{ "cs/period=9223372036854775808/", -EINVAL, 10, "may be at most 9223372036854775807", "" },
	{ "cs/period=1,freq=2/", -EINVAL, 12, "either a period or a freq", "" },
	{ "cs/percore=2/", -EINVAL, 11, "percore is 0 or 1", "" },
	{ "cs/cpu=foo/", -EINVAL, 7, "neither a CPU, a range of CPUs nor a PMU", "" },
	{ "cs/cpu=99999999/", -EINVAL, 7, "neither a CPU", "" },
	{ "cs/call-graph=up/", -EINVAL, 14, "call-graph cannot be 'up'", "fp, dwarf" },
	{ "cs/branch_type=anny/", -EINVAL, 15, "not a kind of branch", "any_call" },
	{ "cs/aux-action=stop/", -EINVAL, 14, "aux-action cannot be 'stop'", "pause" },
	{ "cs/stack-size=70000/", -EINVAL, 14, "may be at most 65528", "" },
	{ "cs/ratio-to-prev=no/", -EINVAL, 17, "positive number", "" },
	{ "cs/ratio-to-prev=0/", -EINVAL, 17, "positive number", "" },
	{ "cs/ratio-to-prev=1e999/", -EINVAL, 17, "positive number", "" },
	{ "cs,cs/ratio-to-prev=2/", -EINVAL, 3, "without preceding element in group", "{EVENT,EVENT" },
	{ "{cs/ratio-to-prev=2/}", -EINVAL, 1, "without preceding element in group", "{EVENT,EVENT" },
	{ "{cs,cs/ratio-to-prev=2/}", -EINVAL, 4, "does not have acr_mask", "Linux 6.16" },
	{ "{cycles,cs,cycles/ratio-to-prev=2/}", -EINVAL, 11, "must have same PMU", "" },
	{ "cs/perod=3/", -EINVAL, 3, "a software event has no term 'perod'; it has config",
	  "'period'" },
	{ "cs/umask=3/", -EINVAL, 3, "a software event has no term 'umask'", "" },
	{ "duration_time/config=3/", -EINVAL, 14, "config cannot be set for a tool event", "" },
	{ "tool//", -EINVAL, 0, "needs the name of a tool event", "duration_time" },
	{ "software/cz/", -EINVAL, 9, "PMU software has no event 'cz'", "'cs'" },
	/* numbers, raw, breakpoints */
	{ "1", -EINVAL, 0, "a number alone is not an event", "" },
	{ "1:", -EINVAL, 2, "needs two 64-bit numbers", "" },
	{ "1:foo", -EINVAL, 2, "needs two 64-bit numbers", "" },
	{ "5000000000:1", -EINVAL, 0, "32-bit number", "" },
	{ "1:99999999999999999999", -EINVAL, 2, "needs two 64-bit numbers", "" },
	{ "r", -ENOENT, 0, "no event is called 'r'", "" },
	{ "rxyz", -ENOENT, 0, "no event is called 'rxyz'", "" },
	{ "r12345678901234567", -ENOENT, 0, "no event is called", "" },
	{ "r1a/umask=3/", -EINVAL, 4, "a raw event has no term 'umask'", "" },
	{ "mem:", -EINVAL, 4, "mem: needs an address", "mem:0x1000/8:rw" },
	{ "mem:main", -EINVAL, 4, "mem: needs an address", "" },
	{ "mem:0/9", -EINVAL, 6, "1 to 8 bytes, not 9", "" },
	{ "mem:0/0", -EINVAL, 6, "1 to 8 bytes, not 0", "" },
	{ "mem:0:rr", -EINVAL, 7, "access 'r' is given twice", "" },
	{ "mem:0:rz", -EINVAL, 6, "neither an access nor modifiers", "r, w and x" },
	{ "mem:0/config1=3/", -EINVAL, 6, "config1 cannot be set for a breakpoint", "" },
	{ "mem:0:rw:rw", -EINVAL, 9, "'r' is not a modifier", "" },
};

static const struct refusal unknown[] = {
	{ "cylces", -ENOENT, 0, "no event is called 'cylces'", "did you mean 'cycles'?" },
	{ "instructions,contxt-switches", -ENOENT, 13, "'contxt-switches'", "'context-switches'" },
	{ "LLC-load-mises", -ENOENT, 0, "'LLC-load-mises'", "'LLC-load-misses'" },
	{ "duraton_time", -ENOENT, 0, "'duraton_time'", "'duration_time'" },
	{ "L1-icache-stores", -ENOENT, 0, "no event is called", "" },
	{ "LLC-misses-load", -ENOENT, 0, "no event is called", "" },
	{ "LLC-", -ENOENT, 0, "no event is called 'LLC-'", "" },
	{ "aperff", -ENOENT, 0, "no event is called", "'aperf'" },
	{ "sched_swich", -ENOENT, 0, "no event is called", "'sched:sched_switch'" },
	{ "sched", -ENOENT, 0, "no event is called 'sched'", "sched:NAME" },
	{ "msr", -ENOENT, 0, "no event is called 'msr'", "'msr' is a PMU; write msr/event/" },
	{ "m*", -ENOENT, 0, "no event is called 'm*'", "" },
	{ "sched:sched_swich", -ENOENT, 6, "sched has no tracepoint 'sched_swich'",
	  "'sched:sched_switch'" },
	{ "shed:sched_switch", -ENOENT, 0, "no group of tracepoints is called 'shed'",
	  "'sched:sched_switch'" },
	{ "sched:enable", -ENOENT, 6, "no tracepoint 'enable'", "" },
	{ "sched:zz*", -ENOENT, 0, "no tracepoint matches 'sched:zz*'", "tacho list" },
	{ "zz*:*", -ENOENT, 0, "no tracepoint matches 'zz*:*'", "" },
	{ "sched:sched_switch/config=3/", -EINVAL, 19, "config cannot be set for a tracepoint", "" },
	{ "sched:*/foo/", -EINVAL, 8, "a tracepoint has no term 'foo'", "" },
	{ "nopmu/event=1/", -ENOENT, 0, "no PMU and no event is called 'nopmu'", "" },
	{ "uncore_imx/event=1/", -ENOENT, 0, "no PMU and no event is called 'uncore_imx'",
	  "uncore_imc_" },
	{ "zz*/event=1/", -ENOENT, 0, "no PMU matches 'zz*'", "" },
	{ "cpu/umaks=1/", -EINVAL, 4, "PMU cpu has no term 'umaks'; it has any, cmask", "'umask'" },
	{ "imc/umaks=1/", -EINVAL, 4, "PMU uncore_imc_0 has no term 'umaks'; it has edge, event, inv, "
	  "threshold, umask", "'umask'" },
	{ "cpu/event=0x100/", -EINVAL, 4, "0x100 is too large: the term 'event' of PMU cpu has 8 bits",
	  "0xff" },
	{ "cpu/umask=0x10000/", -EINVAL, 4, "has 16 bits", "0xffff" },
	{ "cpu/edge=2/", -EINVAL, 4, "has 1 bit", "0x1" },
	{ "cpu/event/", -EINVAL, 4, "needs a value: event=", "" },
	{ "cpu/event=x/", -EINVAL, 10, "needs a number", "" },
	{ "cpu/cpu-cycles,instructions/", -EINVAL, 15, "are two events", "cpu/instructions/" },
	{ "cpu/instuctions/", -EINVAL, 4, "PMU cpu has no event or term 'instuctions'",
	  "'instructions'" },
	{ "msr/cycles/", -EINVAL, 4, "PMU msr has no event or term 'cycles'", "" },
	{ "cycles/umask=1/", -EINVAL, 7, "a hardware event has no term 'umask'", "" },
};

static void check(const char *tree, unsigned flags, const struct refusal *rows, size_t n)
{
	struct tacho *t = open_tree(tree);
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		struct event_list list = { 0 };
		struct tacho_error e = { .column = -7 };
		int code = event_parse(t, rows[i].spec, flags, &list, &e);

		if (code != rows[i].code || e.code != code || e.column != rows[i].column ||
		    !strstr(e.message, rows[i].message) || !strstr(e.hint, rows[i].hint) || list.n) {
			print_error("'%s'\n  expected %d at %d: %s (%s)\n  got      %d at %d: %s (%s)\n",
				    rows[i].spec, rows[i].code, rows[i].column, rows[i].message,
				    rows[i].hint, code, e.column, e.message, e.hint);
			wrong++;
		}
		event_list_done(&list);
		/* the same without anyone to tell */
		assert_int_equal(event_parse(t, rows[i].spec, flags, &list, NULL), code);
		event_list_done(&list);
	}
	tacho_close(t);
	assert_int_equal(wrong, 0);
}

static void refuses_syntax(void **state)
{
	check("none", 0, syntax, countof(syntax));
}

static void refuses_unknown_words(void **state)
{
	check("spr", 0, unknown, countof(unknown));
}

static void refuses_on_other_machines(void **state)
{
	static const struct refusal power[] = {
		{ "hv_24x7/PM_PB_CYC/", -EINVAL, 8, "needs a value for 'chip'", "chip=..." },
		{ "wide/broken=1/", -EINVAL, 5, "cannot read the format of 'broken'", "" },
		{ "wide/odd/", -EINVAL, 5, "as 'event=?', which cannot be parsed", "" },
		{ "wide/sel4=16/", -EINVAL, 5, "has 4 bits", "0xf" },
	};
	static const struct refusal none[] = {
		{ "cpu/event=1/", -EINVAL, 4, "PMU cpu has no term 'event'; it has config", "" },
	};
	static const struct refusal counting[] = {
		{ "cs/freq=100/", -EINVAL, 3, "'freq' is for sampling", "" },
		{ "cs/name=x,call-graph=fp/", -EINVAL, 10, "'call-graph' is for sampling", "" },
	};

	check("power", 0, power, countof(power));
	check("none", 0, none, countof(none));
	check("none", EVENT_FOR_STAT, counting, countof(counting));
}

/* Without tracefs the hint is the command that mounts it. */
static void says_how_to_get_tracefs(void **state)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	struct tacho *t;

	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = TEST_DATA "/sysfs/none"), NULL),
			 0);
	assert_int_equal(event_parse(t, "cs,sched:sched_switch", 0, &list, &e), -ENOENT);
	assert_int_equal(e.column, 3);
	assert_non_null(strstr(e.message, "not mounted"));
	assert_non_null(strstr(e.hint, "mount -t tracefs nodev /sys/kernel/tracing"));
	event_list_done(&list);
	tacho_close(t);
}

/* An unreadable tracefs has another message than a missing one. */
static void unreadable_tracefs(void **state)
{
	char dir[] = "/tmp/tacho-test-XXXXXX", events[64];
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	bool root = geteuid() == 0;
	struct tacho *t;
	int n;

	assert_non_null(mkdtemp(dir));
	snprintf(events, sizeof(events), "%s/events", dir);
	assert_int_equal(mkdir(events, 0), 0);
	assert_int_equal(chmod(dir, 0711), 0);
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .sysfs = TEST_DATA "/sysfs/none",
						   .tracefs = dir), NULL), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	n = event_parse(t, "sched:sched_switch", 0, &list, &e);
	if (root)
		assert_int_equal(seteuid(0), 0);
	rmdir(events);
	rmdir(dir);
	assert_int_equal(n, -EACCES);
	assert_non_null(strstr(e.message, "not readable"));
	assert_non_null(strstr(e.hint, "root"));
	event_list_done(&list);
	tacho_close(t);
}

/* Very long input is refused quickly. */
static void bounds_everything(void **state)
{
	struct tacho *t = open_tree("none");
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	size_t n = 2u << 20;
	char *text = malloc(n + 1);

	memset(text, 'a', n);
	text[n] = '\0';
	assert_int_equal(event_parse(t, text, 0, &list, &e), -E2BIG);
	text[1u << 19] = '\0';
	assert_int_equal(event_parse(t, text, 0, &list, &e), -ENOENT);
	text[1] = '/';
	assert_int_equal(event_parse(t, text, 0, &list, &e), -EINVAL);
	for (size_t i = 0; i + 3 < 1u << 20; i += 3)
		memcpy(text + i, "cs,", 4);
	assert_int_equal(event_parse(t, text, 0, &list, &e), -E2BIG);
	text[0] = '{';
	text[1] = 'r';
	text[2] = '1';
	text[3] = ',';
	text[30001] = '}';
	text[30002] = '\0';
	assert_true(event_parse(t, text, 0, &list, &e) < 0);
	memset(text, '{', n);
	text[1u << 19] = '\0';
	assert_int_equal(event_parse(t, text, 0, &list, &e), -EINVAL);
	memset(text, '[', n);
	text[1u << 16] = '\0';
	memcpy(text + 1000, ":", 1);
	assert_int_equal(event_parse(t, text, 0, &list, &e), -ENOENT);
	assert_int_equal(list.n, 0);
	event_list_done(&list);
	free(text);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_syntax), cmocka_unit_test(refuses_unknown_words),
		cmocka_unit_test(refuses_on_other_machines), cmocka_unit_test(says_how_to_get_tracefs),
		cmocka_unit_test(unreadable_tracefs), cmocka_unit_test(bounds_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
