/* agent/config/collectd_syntax.c, agent/config/collectd.c: <Plugin intel_pmu> of both generations. */
#include "agent/export/exporter.h"
#include "agent/config/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "agent/config/collectd_syntax.h"
#include "agent_support.h"

static void the_syntax(void **state)
{
	static const char text[] = "# first\n\nKey \"a \\\"b\\\" \\\\\" word 0x10 1.5 yes \\\n  more # end\n"
				   "<Block \"x\" 2>\n  Inner\n  <Deep>\n  </deep>\n</BLOCK>\r\nLast on";
	struct arena arena = { 0 };
	const struct conf_node *n;
	struct conf_node *root;
	const struct conf_value *v;
	struct toml_at at;

	assert_int_equal(conf_parse(&arena, STR_LIT(text), &root, &at, NULL), 0);
	n = root->first;
	assert_int_equal(n->n_values, 6);
	v = n->values;
	assert_string_equal(v->text.s, "a \"b\" \\");
	assert_int_equal(v->kind, CONF_TEXT);
	v = v->next->next;
	assert_int_equal(v->kind, CONF_NUMBER);
	assert_true(v->number == 16);
	assert_true(v->next->number == 1.5);
	assert_true(v->next->next->kind == CONF_BOOL && v->next->next->boolean);
	assert_int_equal(v->next->next->next->at.line, 4);
	assert_int_equal(v->next->next->next->at.column, 3);
	n = n->next;
	assert_true(n->is_block);
	assert_int_equal(n->at.line, 5);
	assert_string_equal(n->first->key.s, "Inner");
	assert_string_equal(n->first->next->key.s, "Deep");
	assert_string_equal(n->next->key.s, "Last");
	arena_done(&arena);
}

static void everyone_is_a_group(const struct source_config *s)
{
	assert_int_equal(s->n_groups, sysconf(_SC_NPROCESSORS_CONF));
	assert_string_equal(s->groups[0].label, "0");
	assert_int_equal(s->groups[0].n_cpus, 1);
}

static void first_generation(void **state)
{
	static const char text[] =
		"Interval 5\nLoadPlugin cpu\n<LoadPlugin intel_pmu>\n Interval 0.5\n</LoadPlugin>\n"
		"<Plugin intel_pmu>\n ReportHardwareCacheEvents true\n ReportKernelPMUEvents true\n"
		" ReportSoftwareEvents true\n HardwareEvents \"page-faults,cpu-clock\"\n Cores \"0\"\n</Plugin>\n";
	const struct source_config *s;
	struct agent_config *c;
	struct tacho_error e;

	if (load(&c, text, &e))
		fail_msg("%s", e.message);
	assert_string_equal(c->kind, "collectd");
	assert_int_equal(c->n_sources, 1);
	s = &c->sources[0];
	assert_int_equal(s->naming, NAMING_COLLECTD1);
	assert_int_equal(s->interval_ns, 500000000);
	assert_int_equal(s->n_events, 26 + 7 + 1 + 9);
	assert_string_equal(s->events[0].spec, "L1-dcache-loads");
	assert_string_equal(s->events[25].spec, "branch-load-misses");
	assert_string_equal(s->events[26].spec, "cpu-cycles");
	assert_string_equal(s->events[32].spec, "bus-cycles");
	assert_string_equal(s->events[33].spec, "{page-faults,cpu-clock}");
	assert_null(s->events[33].name);
	assert_string_equal(s->events[34].spec, "cpu-clock");
	assert_string_equal(s->events[42].name, "emulation-faults");
	for (size_t i = 0; i < s->n_events; i++)
		assert_null(s->events[i].refused);
	assert_int_equal(s->n_groups, 1);
	assert_int_equal(s->per, PER_GROUPS);
	assert_false(s->no_merge);
	assert_int_equal(c->notes.n, 2);	/* and that the values are not delivered */
	assert_non_null(strstr(c->notes.v[0], "the plugins cpu"));
	config_free(c);
}

static void second_generation(void **state)
{
	static const char text[] =
		"LoadPlugin intel_pmu\n<Plugin \"intel_pmu\">\n EventList \"/x/core.json\"\n"
		" HardwareEvents \"L2_RQSTS.CODE_RD_HIT,page-faults,cpu-clock\" \"L2_RQSTS.ALL_CODE_RD\"\n"
		" Cores \"\"\n HardwareEvents \"task-clock\"\n Cores \"0\"\n HardwareEvents \"X\" \"all\"\n"
		" AggregateUncorePMUs false\n</Plugin>\n";
	const struct source_config *s;
	struct agent_config *c;
	struct tacho_error e;

	if (load(&c, text, &e))
		fail_msg("%s", e.message);
	assert_int_equal(c->n_sources, 3);
	s = c->sources;
	assert_int_equal(s->naming, NAMING_COLLECTD2);
	assert_int_equal(s->interval_ns, 10000000000);
	assert_true(s->no_merge);
	assert_string_equal(s->event_lists.v[0], "/x/core.json");
	everyone_is_a_group(s);
	/* The known members remain a group. */
	assert_int_equal(s->n_events, 3);
	assert_string_equal(s->events[0].spec, "{page-faults,cpu-clock}");
	assert_null(s->events[0].refused);
	assert_string_equal(s->events[1].spec, "L2_RQSTS.CODE_RD_HIT");
	assert_non_null(strstr(s->events[1].refused, "this name; event list '/x/core.json': No such file"));
	assert_string_equal(s->events[2].name, "L2_RQSTS.ALL_CODE_RD");
	assert_non_null(s->events[2].refused);
	assert_string_equal(s[1].name, "intel_pmu-2");
	assert_null(s[1].events[0].refused);
	assert_int_equal(s[1].n_groups, 1);
	/* "All" selects the whole list; other arguments are ignored. */
	assert_int_equal(s[2].n_events, 1);
	assert_non_null(strstr(s[2].events[0].refused, "every event of a list"));
	everyone_is_a_group(&s[2]);
	config_free(c);
}

static void cpus_of_another_machine(void **state)
{
	struct agent_config *c;

	assert_int_equal(load(&c, "<Plugin intel_pmu>\nReportSoftwareEvents on\nCores \"0\" \"60000\"\n"
				  "DispatchMultiPmu true\n</Plugin>\n", NULL), 0);
	assert_int_equal(c->sources[0].n_groups, 2);
	assert_true(c->sources[0].no_merge);
	assert_non_null(strstr(c->notes.v[0], "there is no CPU 60000"));
	config_free(c);
}

/* DispatchMultiPmu true names events by the type of their PMU, in files of both generations. */
static void dispatch_multi_pmu(void **state)
{
	struct agent_config *c;

	assert_int_equal(load(&c, "<Plugin intel_pmu>\nReportSoftwareEvents on\nDispatchMultiPmu true\n</Plugin>\n", NULL), 0);
	assert_int_equal(c->sources[0].naming, NAMING_COLLECTD_TYPES);
	config_free(c);
	assert_int_equal(load(&c, "<Plugin intel_pmu>\nHardwareEvents \"cycles\"\nCores \"0\"\nHardwareEvents \"instructions\"\n"
				  "DispatchMultiPmu true\n</Plugin>\n", NULL), 0);
	assert_int_equal(c->n_sources, 2);
	assert_int_equal(c->sources[1].naming, NAMING_COLLECTD_TYPES);
	assert_true(c->sources[1].no_merge);
	config_free(c);
}

/* The values go to the collectd that the file belongs to. */
static void delivery(void **state)
{
	struct agent_config *c;

	unsetenv("COLLECTD_HOSTNAME");
	unsetenv("COLLECTD_INTERVAL");
	assert_int_equal(load(&c, "LoadPlugin unixsock\n<Plugin unixsock>\nSocketFile \"/run/other\"\n</Plugin>\n"
				  "<Plugin intel_pmu>\nReportSoftwareEvents on\n</Plugin>\n", NULL), 0);
	assert_int_equal(c->n_exports, 1);
	assert_string_equal(c->exports[0].type->name, "collectd");
	assert_non_null(strstr(c->notes.v[c->notes.n - 1], "/run/other"));
	config_free(c);
	assert_int_equal(load(&c, "<Plugin intel_pmu>\nReportSoftwareEvents on\n</Plugin>\n", NULL), 0);
	assert_int_equal(c->n_exports, 0);
	assert_non_null(strstr(c->notes.v[c->notes.n - 1], "not delivered"));
	config_free(c);
	setenv("COLLECTD_HOSTNAME", "h", 1);
	setenv("COLLECTD_INTERVAL", "10", 1);
	assert_int_equal(load(&c, "<Plugin intel_pmu>\nReportSoftwareEvents on\n</Plugin>\n", NULL), 0);
	assert_int_equal(c->n_exports, 1);
	assert_non_null(strstr(c->notes.v[c->notes.n - 1], "stdout"));
	config_free(c);
	unsetenv("COLLECTD_HOSTNAME");
	unsetenv("COLLECTD_INTERVAL");
}

static void includes(void **state)
{
	struct agent_config *c;
	struct tacho_error e;

	mkdir(in_dir("collectd.d"), 0700);
	put_file("collectd.d/pmu.conf", "<Plugin intel_pmu>\nReportSoftwareEvents true\n</Plugin>\n");
	put_file("collectd.d/other.txt", "this is > wrong\n");
	if (load(&c, "LoadPlugin intel_pmu\n<Include \"collectd.d\">\n Filter \"*.conf\"\n</Include>\n"
		     "Include \"none/*.conf\"\nInclude \"none\"\n", &e))
		fail_msg("%s", e.message);
	assert_int_equal(c->n_sources, 1);
	assert_int_equal(c->sources[0].n_events, 9);
	assert_int_equal(c->notes.n, 2);	/* and that the values are not delivered */
	config_free(c);
	assert_true(load(&c, "LoadPlugin x\nInclude \"collectd.d/*.txt\"\n", &e) < 0);
	assert_string_equal(message_of(&e), "collectd.d/other.txt:1:9: unexpected character");
	assert_int_equal(load(&c, "LoadPlugin x\nInclude \"test.conf\"\n", &e), -ELOOP);
	/* Without the plugin there is nothing to count, which is not an error. */
	assert_int_equal(load(&c, "LoadPlugin cpu\n", &e), 0);
	assert_int_equal(c->n_sources, 0);
	config_free(c);
}

#define PLUGIN(inner) "LoadPlugin intel_pmu\n<Plugin intel_pmu>\n" inner "\n</Plugin>\n"

static const struct refusal refused[] = {
	{ PLUGIN("ReportSoftwarEvents true"), "test.conf:3:1: intel_pmu has no option 'ReportSoftwarEvents'",
	  "did you mean 'ReportSoftwareEvents'?" },
	{ PLUGIN("ReportSoftwareEvents maybe"), "test.conf:3:1: ReportSoftwareEvents needs one value, true or "
						"false", "" },
	{ PLUGIN("HardwareEvents \"a\"\nCores 1"), "test.conf:4:7: Cores needs strings; write numbers in quotes", "" },
	{ PLUGIN("HardwareEvents \"a\"\nCores \"5g\""), "test.conf:4:1: Cores: '5g' is not a list of CPUs: expected a digit, ',' or '-'", "" },
	{ PLUGIN("HardwareEvents \"a\"\nCores \"0\"\nCores \"1\""), "test.conf:5:1: a second Cores for one "
								    "HardwareEvents", "" },
	{ PLUGIN("Cores \"0\"\nHardwareEvents \"a\"\nHardwareEvents \"b\""), "test.conf:3:1: Cores must follow "
									      "its HardwareEvents", "" },
	{ PLUGIN("Cores \"0\"\nHardwareEvents \"a\"\nCores \"0\""), "test.conf:5:1: a second Cores", "" },
	{ PLUGIN("ReportSoftwareEvents true\nHardwareEvents \"all\""),
	  "test.conf:2:1: Report*Events belongs to the first generation of intel_pmu; several HardwareEvents, All and AggregateUncorePMUs belong to the second", "" },
	{ PLUGIN(""), "test.conf:2:1: intel_pmu has nothing to count: none of Report*Events is true, and there is "
		      "no HardwareEvents", "" },
	{ PLUGIN("AggregateUncorePMUs true"), "test.conf:2:1: intel_pmu has no HardwareEvents", "" },
	{ PLUGIN("HardwareEvents 12"), "test.conf:3:1: HardwareEvents needs strings", "" },
	{ PLUGIN("EventList"), "test.conf:3:1: EventList needs one string, the path of a list", "" },
	{ "Interval 0\nLoadPlugin x\n", "test.conf:1:1: Interval needs a number of seconds between 0.001 and "
					"86400", "" },
	{ "LoadPlugin x\n<Plugin y>\n", "test.conf:2:1: the block <Plugin> is not closed", "" },
	{ "LoadPlugin x\n<Plugin y>\n</Plugn>\n", "test.conf:3:1: </Plugn> does not match the open block <Plugin> of line 2", "" },
	{ "LoadPlugin x\n</Plugin>\n", "test.conf:2:1: </Plugin> without an open block", "" },
	{ "LoadPlugin \"x\n", "test.conf:1:12: the string is not closed on its line", "" },
};

static void refusals_say_where_and_why(void **state)
{
	check_refusals(refused, countof(refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_syntax),
		cmocka_unit_test(first_generation),
		cmocka_unit_test(second_generation),
		cmocka_unit_test(cpus_of_another_machine), cmocka_unit_test(dispatch_multi_pmu), cmocka_unit_test(delivery),
		cmocka_unit_test(includes),
		cmocka_unit_test(refusals_say_where_and_why),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
