/* cli/core/options.c, help.c, scd.c: command lines in, fields or messages out. */
#include "cli/core/options.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/core/app.h"

const char *program_name = "tacho";

struct opts {
	bool all, merge, big;
	unsigned verbose;
	struct strlist events;
	const char *output, *level, *per;
	uint32_t repeat, interval_ms;
	int32_t delay;
	uint64_t bytes;
	double ratio;
	char called[32];
};

static int on_call(void *opts, const char *arg, struct tacho_error *e)
{
	struct opts *o = opts;

	if (arg && !strcmp(arg, "a,bad")) {
		error_set(e, -EINVAL, "'bad' is not a thing");
		error_at(e, 2, 3);
		return -EINVAL;
	}
	snprintf(o->called, sizeof(o->called), "%s", arg ? arg : "(none)");
	return 0;
}

#define AT(field) offsetof(struct opts, field)
static const struct option_row rows[] = {
	{ OPT_GROUP, .help = "What to count" },
	{ OPT_LIST, 'e', "event", AT(events), "EVENT", "count EVENT; may be repeated" },
	{ OPT_FLAG, 'a', "all-cpus", AT(all), NULL, "count on every CPU" },
	{ OPT_FLAG, 'M', "no-merge", AT(merge), NULL, "keep PMUs apart", OPTF_NEGATED },
	{ OPT_UINT, 'r', "repeat", AT(repeat), "N", "run N times", .min = 1, .max = 100 },
	{ OPT_U64, 0, "bytes", AT(bytes), "N", "a large number" },
	{ OPT_DOUBLE, 0, "ratio", AT(ratio), "X", "a ratio", .min = 0, .max = 1 },
	{ OPT_INT, 'D', "delay", AT(delay), "MSEC", "wait", .min = -1 },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_MSEC, 'I', "interval-print", AT(interval_ms), "MSEC", "print every MSEC", .min = 1 },
	{ OPT_FLAG, 0, "interval-clear", AT(big), NULL,
	  "clear the screen between the intervals, which is a text long enough to be wrapped" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	{ OPT_STR, 0, "per-cache", AT(level), "LEVEL", "sum per cache", OPTF_OPTIONAL, .value = "L3" },
	{ OPT_FLAG, 0, "per-socket", AT(per), NULL, "sum per socket", .value = "socket" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "say more" },
	{ OPT_CALL, 'x', "call", 0, "WORD", "call back", .call = on_call },
	{ OPT_FLAG, 0, "hidden", AT(all), NULL, "not shown", OPTF_HIDDEN },
	{ .kind = OPT_END },
};
static const struct command plain = {
	.name = "stat", .summary = "count events", .args = "[COMMAND]", .rows = rows,
	.opts_size = sizeof(struct opts),
};
static const struct command stopping = {
	.name = "stat", .rows = rows, .opts_size = sizeof(struct opts), .stops_at_non_option = true,
};

#define MAX_ARGS 12

struct run {
	char *argv[MAX_ARGS];
	char **left;
	int argc, err;
	struct opts o;
	struct option_use use;
	struct tacho_error e;
};

/* Parses the words of `line`, which are separated by blanks. */
static void parse(struct run *r, const struct command *cmd, const char *line)
{
	static char text[256];

	memset(r, 0, sizeof(*r));
	snprintf(text, sizeof(text), "%s", line);
	r->argv[r->argc++] = "stat";
	for (char *w = strtok(text, " "); w && r->argc < MAX_ARGS - 1; w = strtok(NULL, " "))
		r->argv[r->argc++] = w;
	r->left = r->argv;
	r->err = options_parse_at(cmd, &r->o, &r->argc, &r->left, &r->use, &r->e);
}

static void errors(void **state)
{
	static const struct { const char *line, *message, *hint; } cases[] = {
		{ "--evnt cycles", "unknown option '--evnt'", "did you mean '--event'?" },
		{ "--no-al-cpus", "unknown option '--no-al-cpus'", "did you mean '--no-all-cpus'?" },
		{ "--zzzzzz", "unknown option '--zzzzzz'", "'tacho stat -h' shows the options" },
		{ "-Z", "unknown option '-Z'", "'tacho stat -h' shows the options" },
		{ "-aZ", "unknown option '-Z' in '-aZ'", "'tacho stat -h' shows the options" },
		{ "-verbose", "unknown option '-verbose'", "did you mean '--verbose', with two dashes?" },
		{ "-event", "unknown option '-event'", "did you mean '--event', with two dashes?" },
		{ "-o", "option '-o' needs its argument FILE", "" },
		{ "--output", "option '--output' needs its argument FILE", "" },
		{ "--outp", "option '--output' needs its argument FILE", "" },
		{ "--all-cpus=1", "option '--all-cpus' takes no argument, but has '1'", "" },
		{ "--no-all-cpus=1", "option '--no-all-cpus' takes no argument, but has '1'", "" },
		{ "--interval", "option '--interval' is ambiguous",
		  "it could be --interval-print, --interval-clear" },
		{ "-r x", "option '-r' takes a number, not 'x'", "" },
		{ "-r 0", "option '-r' takes a number from 1 to 100, not '0'", "" },
		{ "-r101", "option '-r' takes a number from 1 to 100, not '101'", "" },
		{ "-r 99999999999999999999", "option '-r' takes a number from 1 to 100, not "
					     "'99999999999999999999'", "" },
		{ "-r -1", "option '-r' takes a number, not '-1'", "" },
		{ "--repeat=5000000000", "option '--repeat' takes a number from 1 to 100, not '5000000000'", "" },
		{ "-D -2", "option '-D' takes a number of at least -1, not '-2'", "" },
		{ "--bytes 18446744073709551616",
		  "option '--bytes': the number '18446744073709551616' is out of range", "" },
		{ "--ratio 1.5", "option '--ratio' takes a number from 0 to 1, not '1.5'", "" },
		{ "--ratio nan", "option '--ratio' takes a number, not 'nan'", "" },
		{ "-I abc", "option '-I' takes a time, not 'abc'",
		  "write milliseconds, or a unit: 100, 100ms, 1.5s" },
		{ "-I 0", "option '-I' takes a number of at least 1, not '0'", "" },
		{ "-I 0.5ms", "option '-I' takes whole milliseconds, not '0.5ms'", "" },
		{ "-x a,bad", "'bad' is not a thing", "" },
	};
	struct run r;

	for (size_t i = 0; i < countof(cases); i++) {
		parse(&r, &plain, cases[i].line);
		assert_int_equal(r.err, -EINVAL);
		assert_string_equal(r.e.message, cases[i].message);
		if (cases[i].hint[0])
			assert_string_equal(r.e.hint, cases[i].hint);
		options_done(&plain, &r.o);
	}
}

static void blame(void **state)
{
	struct run r;

	parse(&r, &plain, "-a --call a,bad");
	assert_string_equal(r.use.option, "--call");
	assert_string_equal(r.use.arg, "a,bad");
	assert_int_equal(r.e.column, 2);
	parse(&r, &plain, "-vxa,bad");
	assert_string_equal(r.use.option, "-x");
	assert_string_equal(r.use.arg, "a,bad");
}

static void flags_and_counts(void **state)
{
	struct run r;

	parse(&r, &plain, "-avv --verbose");
	assert_int_equal(r.err, 0);
	assert_true(r.o.all);
	assert_int_equal(r.o.verbose, 3);
	parse(&r, &plain, "-avv --no-verbose --no-all-cpus --no-merge");
	assert_false(r.o.all);
	assert_int_equal(r.o.verbose, 0);
	assert_true(r.o.merge);
	parse(&r, &plain, "-M --merge");
	assert_false(r.o.merge);
	parse(&r, &plain, "--per-socket");
	assert_string_equal(r.o.per, "socket");
	parse(&r, &plain, "--per-socket --no-per-socket");
	assert_null(r.o.per);
	parse(&r, &plain, "--hidden");
	assert_true(r.o.all);
	parse(&r, &plain, "--hidde");
	assert_int_equal(r.err, -EINVAL);
}

static void arguments(void **state)
{
	struct run r;

	parse(&r, &plain, "-oA -r 7 --delay=-1 --bytes 0x10 --ratio .25 -x w");
	assert_int_equal(r.err, 0);
	assert_string_equal(r.o.output, "A");
	assert_int_equal(r.o.repeat, 7);
	assert_int_equal(r.o.delay, -1);
	assert_int_equal(r.o.bytes, 16);
	assert_true(fabs(r.o.ratio - 0.25) < 1e-9);
	assert_string_equal(r.o.called, "w");
	parse(&r, &plain, "-ao B --rep=3");
	assert_true(r.o.all);
	assert_string_equal(r.o.output, "B");
	assert_int_equal(r.o.repeat, 3);
	parse(&r, &plain, "-o --all-cpus");	/* an argument may look like an option */
	assert_string_equal(r.o.output, "--all-cpus");
	parse(&r, &plain, "--output=");
	assert_string_equal(r.o.output, "");
}

static void milliseconds(void **state)
{
	static const struct { const char *line; uint32_t ms; } cases[] = {
		{ "-I 100", 100 }, { "-I100ms", 100 }, { "-I 1.5s", 1500 }, { "-I 2m", 120000 },
		{ "-I 1000us", 1 }, { "--interval-print=4294967295", UINT32_MAX },
	};
	struct run r;

	for (size_t i = 0; i < countof(cases); i++) {
		parse(&r, &plain, cases[i].line);
		assert_int_equal(r.err, 0);
		assert_int_equal(r.o.interval_ms, cases[i].ms);
	}
}

static void optional_arguments(void **state)
{
	struct run r;

	parse(&r, &plain, "--per-cache L2");
	assert_string_equal(r.o.level, "L3");
	assert_int_equal(r.argc, 1);
	assert_string_equal(r.left[0], "L2");
	parse(&r, &plain, "--per-cache=L2");
	assert_string_equal(r.o.level, "L2");
	assert_int_equal(r.argc, 0);
}

static void lists(void **state)
{
	struct run r;

	parse(&r, &plain, "-e cycles -ecs --event=a,b");
	assert_int_equal(r.err, 0);
	assert_int_equal(r.o.events.n, 3);
	assert_string_equal(r.o.events.v[0], "cycles");
	assert_string_equal(r.o.events.v[1], "cs");
	assert_string_equal(r.o.events.v[2], "a,b");
	options_done(&plain, &r.o);
	assert_null(r.o.events.v);
}

static void words(void **state)
{
	struct run r;

	parse(&r, &plain, "one -a two -- -v three");
	assert_int_equal(r.err, 0);
	assert_int_equal(r.argc, 4);
	assert_string_equal(r.left[0], "one");
	assert_string_equal(r.left[1], "two");
	assert_string_equal(r.left[2], "-v");
	assert_string_equal(r.left[3], "three");
	assert_null(r.left[4]);
	assert_int_equal(r.o.verbose, 0);
	parse(&r, &plain, "- -a");
	assert_int_equal(r.argc, 1);
	assert_string_equal(r.left[0], "-");
	assert_true(r.o.all);
}

static void command_to_run(void **state)
{
	struct run r;

	parse(&r, &stopping, "-a sleep -v 1");
	assert_int_equal(r.argc, 3);
	assert_string_equal(r.left[0], "sleep");
	assert_string_equal(r.left[1], "-v");
	assert_null(r.left[3]);
	assert_int_equal(r.o.verbose, 0);
	parse(&r, &stopping, "-a -- -v");
	assert_int_equal(r.argc, 1);
	assert_string_equal(r.left[0], "-v");
	parse(&r, &stopping, "");
	assert_int_equal(r.argc, 0);
	assert_null(r.left[0]);
}

static void help_asked(void **state)
{
	static const char *const lines[] = { "-h", "--help", "--hel", "-ah", "-a one -h" };
	struct run r;

	for (size_t i = 0; i < countof(lines); i++) {
		parse(&r, &plain, lines[i]);
		assert_int_equal(r.err, 1);
	}
}

static void help_text(void **state)
{
	struct buf b = { 0 };

	options_help(&plain, &b);
	assert_non_null(strstr(b.bytes, "usage: tacho stat [OPTIONS] [COMMAND]\n"));
	assert_non_null(strstr(b.bytes, "\nWhat to count\n"
					"  -e, --event EVENT       count EVENT; may be repeated\n"));
	assert_non_null(strstr(b.bytes, "      --per-cache[=LEVEL]\n"
					"                          sum per cache\n"));
	assert_non_null(strstr(b.bytes, "clear the screen between the intervals, which is a\n"
					"                          text long enough"));
	assert_null(strstr(b.bytes, "hidden"));
	for (char *line = strtok(b.bytes, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
	buf_done(&b);
}

static void man_text(void **state)
{
	struct buf b = { 0 };

	options_scd(&plain, &b);
	assert_non_null(strstr(b.bytes, "## What to count\n\n"
					"*-e*, *--event* _EVENT_\n\tCount EVENT; may be repeated.\n\n"));
	assert_non_null(strstr(b.bytes, "*--per-cache*\\[=_LEVEL_\\]\n"));
	assert_null(strstr(b.bytes, "hidden"));
	buf_clear(&b);
	options_names(&plain, &b);
	assert_non_null(strstr(b.bytes, "-a --all-cpus --no-all-cpus\n-M --no-merge --merge\n"));
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors),
		cmocka_unit_test(blame),
		cmocka_unit_test(flags_and_counts),
		cmocka_unit_test(arguments),
		cmocka_unit_test(milliseconds),
		cmocka_unit_test(optional_arguments),
		cmocka_unit_test(lists),
		cmocka_unit_test(words),
		cmocka_unit_test(command_to_run),
		cmocka_unit_test(help_asked),
		cmocka_unit_test(help_text),
		cmocka_unit_test(man_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
