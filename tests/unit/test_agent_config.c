/* agent/config/: a tacho.toml gives values, or a message with the position of the error. */
#include "agent/config/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "agent/export/exporter.h"
#include "agent_support.h"
#include "base/error.h"

/* Test exporters, instead of the program's. */
struct fake {
	struct push_settings push;
	char *url, *token;
	struct key_pairs headers;
	double ratio;
	bool gzip;
	int level;
};
#define AT(field) offsetof(struct fake, field)
static const struct config_key fake_keys[] = {
	{ KEY_URL, "url", AT(url), NULL, "where to", .required = true },
	{ KEY_SECRET, "token", AT(token), NULL, "a token" },
	{ KEY_PAIRS, "headers", AT(headers), NULL, "headers" },
	{ KEY_DOUBLE, "ratio", AT(ratio), "0.5", "a ratio", .max = 1 },
	{ KEY_BOOL, "gzip", AT(gzip), "true", "compress" },
	{ KEY_CHOICE, "level", AT(level), "low", "how much", .choices = "low middle high" },
	{ .kind = KEY_END },
};

static int fake_check(const void *settings, struct tacho_error *e)
{
	const struct fake *f = settings;

	if (f->token && !strcmp(f->token, "wrong"))
		return error_set(e, -EINVAL, "this token is wrong");
	return 0;
}

static int64_t fake_encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	(void)x;
	(void)batches;
	(void)n;
	(void)body;
	return 0;
}

static const struct exporter_type fake_type = {
	.name = "fake", .help = "for the test", .keys = fake_keys, .settings_size = sizeof(struct fake),
	.check = fake_check, .encode = fake_encode,
};
const struct exporter_type *const exporter_types[] = { &fake_type, NULL };

const struct exporter_type *exporter_find(struct str name)
{
	return str_is(name, "fake") ? &fake_type : NULL;
}

#define SECOND 1000000000ull
#define SOURCE "[[source]]\nevents = [\"page-faults\"]\n"

static void everything(void **state)
{
	static const char text[] =
		"[agent]\nlisten = [\"0.0.0.0:80\", \"[::1]:81\", \"unix:/run/x\"]\nstore = \"a.db\"\n"
		"insecure = true\ntoken = \"t\"\nlabels = { dc = \"muc\" }\ncpu_budget = \"2.5%\"\nmax_fds = 500\n"
		"[agent.retention]\nfull = \"2h\"\nmax_bytes = \"2GiB\"\n"
		"[profile]\nenabled = false\nfrequency = 99\nkernel = false\n"
		"[[source]]\nname = \"web\"\nevents = [\"{cycles,instructions}:u\", { event = \"r1a8\", name = "
		"\"stalls\" }]\nprocess = \"nginx*\"\nuser = \"www*\"\ninterval = \"10ms\"\nflush = \"1s\"\n"
		"priority = -3\ntop = 7\n"
		"[[source]]\nevents = \"cpu/event=1,umask=2/,page-faults\"\ngroups = [\"0-1\", \"[2-3]\", "
		"{ label = \"big\", cpus = \"8,9\" }]\n"
		"[[export]]\ntype = \"fake\"\nurl = \"https://x/y\"\nheaders = { a = \"b\" }\nflush = \"3s\"\n"
		"level = \"high\"\nsources = [\"web\"]\n"
		"[[trigger]]\nwhen = \"rate(x) > 1\"\naction = \"both\"\n";
	struct agent_config *c;
	const struct fake *f;
	struct tacho_error e;

	if (load(&c, text, &e))
		fail_msg("%s", e.message);
	assert_int_equal(c->listen.n, 3);
	assert_string_equal(c->store, in_dir("a.db"));
	assert_string_equal(c->labels.v[0].value, "muc");
	assert_true(c->cpu_budget == 2.5);
	assert_int_equal(c->max_fds, 500);
	assert_int_equal(c->retention.full_ns, 7200 * SECOND);
	assert_int_equal(c->retention.minute_ns, 30 * 86400 * SECOND);
	assert_int_equal(c->retention.max_bytes, 2ull << 30);
	assert_true(c->profile.off && c->profile.kernel_off);
	assert_int_equal(c->profile.frequency, 99);
	assert_int_equal(c->n_sources, 2);
	assert_int_equal(c->sources[0].target, TARGET_PROCESS);
	assert_int_equal(c->sources[0].per, PER_PROCESS);
	assert_int_equal(c->sources[0].interval_ns, 10000000);
	assert_int_equal(c->sources[0].flush_ns, SECOND);
	assert_int_equal(c->sources[0].priority, -3);
	assert_string_equal(c->sources[0].events[0].spec, "{cycles,instructions}:u");
	assert_int_equal(c->sources[0].events[0].line, 18);
	assert_string_equal(c->sources[0].events[1].name, "stalls");
	assert_string_equal(c->sources[1].name, "system");
	assert_int_equal(c->sources[1].n_events, 2);
	assert_string_equal(c->sources[1].events[0].spec, "cpu/event=1,umask=2/");
	assert_int_equal(c->sources[1].per, PER_GROUPS);
	assert_int_equal(c->sources[1].n_groups, 4);
	assert_string_equal(c->sources[1].groups[3].label, "big");
	assert_int_equal(c->sources[1].flush_ns, SECOND);
	assert_int_equal(c->n_exports, 1);
	assert_string_equal(c->exports[0].name, "fake");
	f = c->exports[0].settings;
	assert_string_equal(f->url, "https://x/y");
	assert_int_equal(f->push.flush_ns, 3 * SECOND);
	assert_int_equal(f->push.timeout_ns, 10 * SECOND);
	assert_int_equal(f->level, 2);
	assert_true(f->gzip && f->ratio == 0.5);
	assert_string_equal(c->triggers[0].name, "trigger");
	assert_int_equal(c->triggers[0].action, 2);
	config_free(c);
}

static const struct refusal refused[] = {
	{ "x = 1", "test.conf:1:1: the configuration has no key 'x'", "tacho.toml(5) has the list of keys" },
	{ "[agnet]", "test.conf:1:2: the configuration has no key 'agnet'", "did you mean 'agent'?" },
	{ "[agent]\nlisten = 1", "test.conf:2:10: listen is an integer, but must be a string", "" },
	{ "[agent]\nlisten = [\"[2001:db8::1]:80\"]",
	  "listening on [2001:db8::1]:80 without TLS would send tokens and data unencrypted over the network",
	  "*listen on 127.0.0.1 behind a proxy, or set insecure = true" },
	{ "[agent]\nread_token = \"a;b\"", "read_token: it contains a blank or one of \" , ; \\ or another character that a cookie cannot "
	  "have", "" },
	{ "[agent]\nlisten = [\"x\"]", "test.conf:2: listen: 'x' is neither ADDR:PORT, [ADDR]:PORT nor "
				       "unix:/PATH", "" },
	{ "[agent]\ncpu_budget = -1", "test.conf:2:14: cpu_budget must not be negative", "" },
	{ "[agent.retention]\nfull = 1", "test.conf:2:8: full: '1' is not a duration such as \"1s\", \"10ms\" or "
					 "\"30d\"", "" },
	{ "[agent]\nlabels = { \"a-b\" = \"c\" }", "labels: 'a-b' is not a label name: use letters, digits and _, and no digit first", "" },
	{ "[agent]\ntls_cert = \"x\"", "tls_cert and tls_key must be given together", "" },
	{ "[profile]\nfrequency = 0", "test.conf:2:13: frequency must be between 1 and 10000", "" },
	{ "[[source]]\n", "test.conf:1:3: [[source]] needs the key 'events': the events to count, in the syntax of tacho-stat; {a,b} is a group", "" },
	{ "[[source]]\nevents = []", "test.conf:1:3: [[source]] '': it has no events", "" },
	{ "source = 3", "test.conf:1:1: source must be a table, [[source]]", "" },
	{ SOURCE "intervall = \"1s\"", "test.conf:3:1: [[source]] has no key 'intervall'",
	  "did you mean 'interval'?" },
	{ SOURCE "interval = \"10us\"", "test.conf:3:12: interval must be between \"1ms\" and \"1d\"", "" },
	{ SOURCE "interval = \"2s\"\nflush = \"1s\"", "test.conf:1:3: [[source]] '': flush is shorter than "
						      "interval", "" },
	{ SOURCE "per = \"sockets\"", "test.conf:3:7: per: 'sockets' is not one of: cpu groups core die socket node "
				      "machine process cgroup", "did you mean 'socket'?" },
	{ SOURCE "per = \"process\"", "test.conf:1:3: [[source]] '': per = \"process\" needs the key command, "
				      "pids or process", "" },
	{ SOURCE "per = \"groups\"", "test.conf:1:3: [[source]] '': per = \"groups\" needs the key groups", "" },
	{ SOURCE "cpus = \"0-\"", "test.conf:1:3: [[source]] '': cpus is not a list such as \"0-3,8\"", "" },
	{ SOURCE "cpus = \"0\"\npids = [1]", "test.conf:1:3: [[source]] '': only one of cpus, command, pids, "
					     "process (with user) and cgroups can be given", "" },
	{ SOURCE "target = \"pids\"", "test.conf:1:3: [[source]] '': the key for this target is missing (cpus, command, pids, process or cgroups)", "" },
	{ SOURCE "pids = [0]", "test.conf:3:9: pids must be between 1 and 2147483647", "" },
	{ SOURCE "groups = [\"0-1\", \"1\"]", "test.conf:1:3: [[source]] '': a CPU is in two groups", "" },
	{ SOURCE "groups = [\"x\"]", "test.conf:3:11: groups: 'x' is not a list of CPUs: a number is missing", "" },
	{ SOURCE "name = \"a\"\n" SOURCE "name = \"a\"", "test.conf:4:3: [[source]] 'a': this name is already used", "" },
	{ SOURCE "name = \"a.b\"", "test.conf:1:3: [[source]] 'a.b': a name must not be empty or contain a dot", "" },
	{ "[[export]]\n", "test.conf:1:3: [[export]] needs the key 'type'", "" },
	{ "[[export]]\ntype = \"fuke\"", "test.conf:2:8: no exporter is called 'fuke'", "did you mean 'fake'?" },
	{ "[[export]]\ntype = \"fake\"", "test.conf:1:3: [[export]] of the type fake needs the key 'url': where to",
	  "" },
	{ "[[export]]\ntype = \"fake\"\nurl = \"ftp://x\"", "test.conf:3:7: url must begin with http:// or "
							    "https://", "" },
	{ "[[export]]\ntype = \"fake\"\nurl = \"https://me:secret@x/y\"", "test.conf:3:7: url contains a user name*",
							    "use the keys user and password instead" },
	{ "[[export]]\ntype = \"fake\"\nurl = \"http://x\"\ntoken = \"wrong\"",
	  "test.conf:1:3: [[export]] 'fake': this token is wrong", "" },
	{ "[[export]]\ntype = \"fake\"\nurl = \"http://x\"\nsources = [\"y\"]",
	  "test.conf:1:3: [[export]] 'fake': sources: there is no source 'y'", "" },
	{ "[[trigger]]\nname = \"x\"\nwhen = \"rate(y\"",
	  "test.conf:1:3: [[trigger]] 'x': when: 'rate(y': a ')' is missing at its end", "e.g. rate*" },
	{ "[[trigger]]\nname = \"x\"\nwhen = \"rat(y) > 1\"",
	  "test.conf:1:3: [[trigger]] 'x': when: 'rat(y) > 1': a condition must begin with rate, value, max_rate or "
	  "max_value before 'rat(y) > 1'", "e.g. rate*" },
	{ "[[source]]\nname = \"agent\"\nevents = \"page-faults\"",
	  "test.conf:1:3: [[source]] 'agent': this name is reserved for the agent's own metrics", "" },
	{ "[[trigger]]\nname = \"x\"", "test.conf:1:3: [[trigger]] needs the key 'when': the condition, such as \"rate(context-switches) > 50000 for 5s\"", "" },
	{ "[agent]\nsocket = \"${TACHO_TEST_UNSET}\"", "test.conf:2:10: the environment variable "
						       "'TACHO_TEST_UNSET' is not set", "*" },
	{ "include = \"none.toml\"", "test.conf:1:11: include: *none.toml does not exist", "" },
	{ "include = \"test.conf\"", "*test.conf: too many included files, or includes are nested too deeply", "" },
	{ "a = ", "test.conf:1:5: expected a value", "" },
	{ "[agent]\ntoken = { file = \"none\" }", "*cannot read*none: No such file or directory", "" },
};

static void refusals_say_where_and_why(void **state)
{
	check_refusals(refused, countof(refused));
}

static void sets_win(void **state)
{
	static const char *const sets[] = { "agent.listen=127.0.0.1:1", "agent.labels.rack=7",
					    "source.a.interval=20ms", "source.2.interval=30ms",
					    "agent.retention.full=3h", "export.fake.flush=7s",
					    "profile.frequency=49", "agent.cpu_budget=3", NULL };
	static const char text[] = "[agent]\nlabels = { dc = \"x\" }\n" SOURCE "name = \"a\"\n" SOURCE
				   "[[export]]\ntype = \"fake\"\nurl = \"http://x\"\n[profile]\nfrequency = 3\n";
	struct agent_config *c;
	struct tacho_error e;

	if (load_with(&c, text, sets, &e))
		fail_msg("%s", e.message);
	assert_string_equal(c->listen.v[0], "127.0.0.1:1");
	assert_int_equal(c->labels.n, 2);
	assert_string_equal(c->labels.v[1].value, "7");
	assert_int_equal(c->sources[0].interval_ns, 20000000);
	assert_int_equal(c->sources[1].interval_ns, 30000000);
	assert_int_equal(c->retention.full_ns, 3 * 3600 * SECOND);
	assert_int_equal(((struct push_settings *)c->exports[0].settings)->flush_ns, 7 * SECOND);
	assert_int_equal(c->profile.frequency, 49);
	config_free(c);
}

static const struct { const char *set, *message, *hint; } bad_sets[] = {
	{ "x", "--set x: expected KEY=VALUE", "" },
	{ "agnet.listen=1", "--set: there is no table 'agnet'", "did you mean 'agent'?" },
	{ "agent.listn=1", "--set: there is no key 'listn'", "did you mean 'listen'?" },
	{ "agent=1", "--set: there is no key ''", "" },
	{ "agent.listen.x=1", "--set: there is no key 'listen.x'", "did you mean 'listen'?" },
	{ "source.aa.interval=1s", "--set: there is no source 'aa'", "did you mean 'a'?" },
	{ "source.interval=1s", "--set: expected source.NAME.KEY=VALUE", "" },
	{ "source.a.interval=1x", "--set: interval: '1x' is not a duration such as \"1s\", \"10ms\" or \"30d\"",
	  "" },
	{ "profile.frequency=-1", "--set: frequency: '-1' is not a non-negative number", "" },
};

static void bad_sets_are_refused(void **state)
{
	for (size_t i = 0; i < countof(bad_sets); i++) {
		const char *const sets[] = { bad_sets[i].set, NULL };
		struct tacho_error e = { 0 };
		struct agent_config *c;

		assert_int_equal(load_with(&c, SOURCE "name = \"a\"\n", sets, &e), -EINVAL);
		assert_string_equal(e.message, bad_sets[i].message);
		assert_string_equal(e.hint, bad_sets[i].hint);
	}
}

static void the_environment(void **state)
{
	static const char text[] = "[agent]\nsocket = \"/run/${TACHO_TEST_A}/${TACHO_TEST_B:-b}/$${x}\"\n"
				   "max_fds = \"${TACHO_TEST_N}\"\n" SOURCE;
	struct agent_config *c;
	struct buf out = { 0 };
	struct tacho_error e;

	setenv("TACHO_TEST_A", "a", 1);
	setenv("TACHO_TEST_N", "77", 1);
	if (load(&c, text, &e))
		fail_msg("%s", e.message);
	assert_string_equal(c->socket, "/run/a/b/${x}");
	assert_int_equal(c->max_fds, 77);
	assert_int_equal(config_show(c, true, &out), 0);
	assert_non_null(strstr(out.bytes, "max_fds = 77\t# "));
	assert_non_null(strstr(out.bytes, "test.conf:3, environment\n"));
	buf_done(&out);
	config_free(c);
}

static void includes_and_secrets(void **state)
{
	struct agent_config *c;
	struct tacho_error e;
	struct buf out = { 0 };

	mkdir(in_dir("conf.d"), 0700);
	put_file("conf.d/b.toml", "[profile]\nfrequency = 3\n" SOURCE "name = \"b\"\n");
	put_file("conf.d/a.toml", "[profile]\nfrequency = 2\n" SOURCE "name = \"a\"\n");
	put_file("secret", "geheim\n");
	if (load(&c, "include = [\"conf.d/*.toml\"]\n[agent]\ntoken = { file = \"secret\" }\n[profile]\n"
		     "frequency = 1\n", &e))
		fail_msg("%s", e.message);
	assert_int_equal(c->profile.frequency, 3);
	assert_int_equal(c->n_sources, 2);
	assert_string_equal(c->sources[0].name, "a");
	assert_string_equal(c->token, "geheim");
	assert_int_equal(config_show(c, false, &out), 0);
	assert_null(strstr(out.bytes, "geheim"));
	config_free(c);
	/* Of a directory only the .toml files are read, not backups of an editor. */
	put_file("conf.d/a.toml~", "not a configuration");
	put_file("conf.d/README", "not a configuration");
	assert_int_equal(load(&c, "include = \"conf.d\"", &e), 0);
	assert_int_equal(c->n_sources, 2);
	config_free(c);
	buf_done(&out);
}

static void no_source_means_the_built_in_ones(void **state)
{
	struct agent_config *c;

	assert_int_equal(load(&c, "", NULL), 0);
	assert_int_equal(c->n_sources, 2);
	assert_string_equal(c->sources[0].name, "software");
	assert_false(c->profile.off);
	assert_string_equal(c->listen.v[0], "127.0.0.1:9273");
	config_free(c);
	assert_int_equal(load(&c, "[agent]\ndefault_sources = false", NULL), 0);
	assert_int_equal(c->n_sources, 0);
	config_free(c);
	assert_int_equal(load_with(&c, "", (const char *const[]){ "agent.default_sources=false", NULL }, NULL), 0);
	assert_int_equal(c->n_sources, 0);
	config_free(c);
}

static void shown_config_parses_again(void **state)
{
	static const char text[] =
		"[agent]\nlabels = { \"a\" = \"\\\"q\\\" \\\\\" }\ncpu_budget = 0.125\n[profile]\nwindow = \"90s\"\n"
		"[[source]]\nname = \"x y\"\nevents = [{ event = \"r1\", name = \"n\" }, \"page-faults\"]\n"
		"groups = [\"0-1\"]\ninterval = \"1500us\"\n[[source]]\npids = [1, 2]\nevents = \"cycles\"\n"
		"[[source]]\ncommand = [\"sleep\", \"1\"]\nevents = \"cycles\"\n"
		"[[export]]\ntype = \"fake\"\nurl = \"http://x\"\nqueue = 5000\n[[trigger]]\nwhen = \"rate(x) > 1\"\n";
	struct buf first = { 0 }, second = { 0 };
	struct agent_config *c;
	struct tacho_error e;

	assert_int_equal(load(&c, text, &e), 0);
	config_show(c, false, &first);
	config_free(c);
	if (load(&c, first.bytes, &e))
		fail_msg("%s\n%s", e.message, first.bytes);
	config_show(c, false, &second);
	config_free(c);
	assert_string_equal(first.bytes, second.bytes);
	buf_done(&first);
	buf_done(&second);
}

static void a_missing_file(void **state)
{
	struct agent_config *c;
	struct tacho_error e;

	assert_int_equal(config_load(&c, &(struct config_opts){ .path = "/none/x" }, &e), -ENOENT);
	assert_string_equal(e.message, "cannot read /none/x: No such file or directory");
}

/* Every key accepts its own default, and has a help text. */
static void the_rows_are_right(void **state)
{
	struct config_table t;
	size_t n = 0;

	for (size_t i = 0; config_table_at(i, &t); i++)
		for (const struct config_key *row = t.rows; row && row->kind != KEY_END; row++, n++) {
			assert_non_null(row->help);
			assert_true(strlen(row->name) > 0);
			assert_ptr_equal(keys_find(t.rows, str_of(row->name)), row);
		}
	assert_true(n > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),
		cmocka_unit_test(refusals_say_where_and_why),
		cmocka_unit_test(sets_win),
		cmocka_unit_test(bad_sets_are_refused),
		cmocka_unit_test(the_environment),
		cmocka_unit_test(includes_and_secrets),
		cmocka_unit_test(no_source_means_the_built_in_ones),
		cmocka_unit_test(shown_config_parses_again),
		cmocka_unit_test(a_missing_file),
		cmocka_unit_test(the_rows_are_right),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
