/*
 * The browser without a terminal: given keys, the lines on the screen.
 */
#include "browser_support.h"

#include <stdio.h>

#define PRESS(s, ...)                                                                              \
	press(s, (const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

/* Opens a browser, presses these keys, and returns the screen. */
static const char *press(struct stage *s, const int *keys, size_t n)
{
	assert_int_equal(stage_press(s, keys, n), 0);
	return s->grid.shown;
}

static void has(const char *screen, const char *text)
{
	if (strstr(screen, text))
		return;
	fputs(screen, stderr);
	fail_msg("'%s' is not on the screen", text);
}

static void lacks(const char *screen, const char *text)
{
	if (strstr(screen, text))
		fail_msg("'%s' is on the screen:\n%s", text, screen);
}

#define TITLE "Samples: 4  of event 'cycles', Event count (approx.): 1000"
#define HEADS "  Children      Self  Command  Shared Object      Symbol\n"

static void opens_on_the_table(void **state)
{
	struct stage s;

	stage_small(&s);
	assert_string_equal(PRESS(&s, 'x'),
		TITLE "\n" HEADS
		"+   90.00%     0.00%  app      app                [.] main\n"
		"+   70.00%     0.00%  app      app                [.] parse\n"
		"+   50.00%    50.00%  app      libc.so            [.] memcpy\n"
		"+   20.00%    20.00%  app      [kernel.kallsyms]  [k] do_fault\n"
		"+   20.00%    20.00%  app      libc.so            [.] strlen\n"
		"+   20.00%     0.00%  app      app                [.] eval\n"
		"+   10.00%    10.00%  tool     tool               [.] run\n"
		"\n\n"
		"Unknown key; '?' shows the help\n");
	stage_end(&s);
}

static void levels_open_one_by_one(void **state)
{
	struct stage s;

	stage_small(&s);
	/* The stem's last frame is open only after its own '+'. */
	has(PRESS(&s, '+'), "   + main\n+   70.00%");
	has(PRESS(&s, '+', KEY_IS_DOWN, '+'),
	    "   - main\n"
	    "      + 70.00% parse\n"
	    "      + 20.00% eval\n"
	    "+   70.00%");
	has(PRESS(&s, '+', KEY_IS_DOWN, '+', KEY_IS_DOWN, '+'),
	    "      - 70.00% parse\n"
	    "           50.00% memcpy\n"
	    "           20.00% strlen\n"
	    "      + 20.00% eval\n");
	has(PRESS(&s, 'e'),
	    "   - main\n"
	    "      - 70.00% parse\n"
	    "           50.00% memcpy\n"
	    "           20.00% strlen\n"
	    "      - 20.00% eval\n"
	    "           do_fault\n"
	    "+   70.00%");
	has(PRESS(&s, 'e', 'e'), "main\n+   70.00%");
	has(PRESS(&s, 'e', KEY_IS_DOWN, KEY_IS_DOWN, 'c'), "main\n+   70.00%");
	has(PRESS(&s, 'E', KEY_IS_END), "-   10.00%    10.00%  tool     tool               [.] run\n     run\n");
	has(PRESS(&s, 'E', 'C'), "main\n+   70.00%");
	stage_end(&s);
}

static void zooms_stack_up(void **state)
{
	struct stage s;

	stage_small(&s);
	has(PRESS(&s, KEY_IS_END, 't'), TITLE ", Thread: tool\n");
	lacks(PRESS(&s, KEY_IS_END, 't'), "[.] main");
	has(PRESS(&s, 't', 'd'), ", Thread: app, DSO: app\n  Children      Self  Command  Symbol\n"
				 "+   90.00%     0.00%  app      [.] main\n");
	lacks(PRESS(&s, 't', 'd'), "memcpy");
	has(PRESS(&s, 't', 'd', KEY_IS_ESC), ", Thread: app\n");
	has(PRESS(&s, 't', 'd', KEY_IS_LEFT, KEY_IS_LEFT), TITLE "\n");
	has(PRESS(&s, 't', 't'), TITLE "\n");
	has(PRESS(&s, 't', 'd', 't'), "1000, DSO: app\n");
	has(PRESS(&s, 'k'), ", DSO: [kernel.kallsyms]\n");
	has(PRESS(&s, 'k'), "20.00%    20.00%  app      [k] do_fault\n");
	/* The menu does the same: below annotating are the function, the thread and the object. */
	has(PRESS(&s, KEY_IS_ENTER, KEY_IS_DOWN, KEY_IS_ENTER), ", Symbol: main\n");
	has(PRESS(&s, KEY_IS_ENTER, KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_ENTER), ", Thread: app\n");
	has(PRESS(&s, 'm', KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_ENTER), ", DSO: app\n");
	stage_end(&s);
}

static void names_filter(void **state)
{
	struct stage s;
	const char *screen;

	stage_small(&s);
	screen = PRESS(&s, '/', 'm', 'e', 'x', KEY_IS_RUBOUT, 'm', KEY_IS_ENTER);
	has(screen, ", Symbol: mem\n");
	has(screen, "[.] memcpy\n");
	lacks(screen, "[.] main");
	has(PRESS(&s, '/', 'm', 'e', 'm', KEY_IS_ENTER, '/', KEY_IS_ENTER), TITLE "\n");
	has(PRESS(&s, '/', 'm', 'e', 'm', KEY_IS_ESC), TITLE "\n");
	has(PRESS(&s, '/', 'n', 'o', 'n', 'e', KEY_IS_ENTER, KEY_IS_DOWN, '+', 'a', 't', 'd', 'e', 'E'),
	    ", Symbol: none\n");
	stage_end(&s);
}

static void relative_percentages(void **state)
{
	struct stage s;
	const char *screen;

	stage_small(&s);
	screen = PRESS(&s, 'k', 'F');
	has(screen, "Samples: 1  of event 'cycles', Event count (approx.): 200, DSO");
	has(screen, "100.00%   100.00%  app      [k] do_fault\n");
	has(PRESS(&s, 'k', 'F', 'F'), "20.00%    20.00%  app      [k] do_fault\n");
	screen = PRESS(&s, 'L', '3', '0', KEY_IS_ENTER);
	has(screen, "50.00%    50.00%");
	lacks(screen, "20.00%    20.00%");
	has(PRESS(&s, 'L', 'x', KEY_IS_ENTER), "'x' is not a percentage from 0 to 100\n");
	/* 0 is less than the least share of a branch: chains are made anew, and folded. */
	has(PRESS(&s, 'E'), "\n-   ");
	lacks(PRESS(&s, 'E', 'L', '0', KEY_IS_ENTER), "\n-   ");
	stage_end(&s);
}

static void sorts_by_other_keys(void **state)
{
	struct stage s;
	const char *screen;

	stage_small(&s);
	screen = PRESS(&s, 'o', KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_ENTER);
	has(screen, "  Children      Self  Command\n+   90.00%    90.00%  app\n+   10.00%    10.00%  tool\n");
	has(screen, "Sorted by comm\n");
	has(PRESS(&s, 'o', KEY_IS_END, KEY_IS_ENTER, 'x', 'x', KEY_IS_ENTER), "there is no key");
	has(PRESS(&s, 'o', KEY_IS_END, KEY_IS_ENTER, ',', 'c', 'p', 'u', KEY_IS_ENTER),
	    "to sort by cpu, start with -s cpu\n");
	/* What the keys do not tell apart cannot be zoomed into. */
	has(PRESS(&s, 'o', KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_ENTER, 'd'), "not sorted by dso\n");
	stage_end(&s);
}

static void levels_of_a_hierarchy(void **state)
{
	struct stage s;
	const char *screen;

	stage_small(&s);
	s.opts.hierarchy = true;
	stage_opts(&s);
	assert_string_equal(PRESS(&s, 'x'),
		TITLE "\n"
		"  Children  Overhead        Command / Shared Object / Symbol\n"
		"+   90.00%    90.00%        app\n"
		"+   10.00%    10.00%        tool\n"
		"\n\n\n\n\n\n\n"
		"Unknown key; '?' shows the help\n");
	has(PRESS(&s, '+'),			/* a level counts a sample once */
	    "-   90.00%    90.00%        app\n"
	    "   +   90.00%     0.00%        app\n"
	    "   +   70.00%    70.00%        libc.so\n"
	    "   +   20.00%    20.00%        [kernel.kallsyms]\n");
	s.opts.no_children = s.opts.inverted = true;
	stage_opts(&s);
	has(PRESS(&s, '+', KEY_IS_DOWN, '+'),
	    "-   90.00%        app\n"
	    "   -   70.00%        libc.so\n"
	    "      +   50.00%        [.] memcpy\n"
	    "      +   20.00%        [.] strlen\n"
	    "   +   20.00%        [kernel.kallsyms]\n"
	    "+   10.00%        tool\n");
	has(PRESS(&s, '+', KEY_IS_DOWN, '+', KEY_IS_DOWN, '+'),
	    "      -   50.00%        [.] memcpy\n"
	    "           main\n"
	    "           parse\n"
	    "           memcpy\n"
	    "      +   20.00%        [.] strlen\n");
	has(PRESS(&s, 'E', 'C'), "+   90.00%        app\n+   10.00%        tool\n\n");
	has(PRESS(&s, 'e', KEY_IS_DOWN, KEY_IS_DOWN, KEY_IS_DOWN, 'e'), "      +   50.00%        [.] memcpy\n");
	has(PRESS(&s, 'd'), "stands for several");
	has(PRESS(&s, 'a'), "This line is not a function: expand it");
	has(PRESS(&s, 't'), ", Thread: app\n");
	s.opts.show_samples = true;
	stage_opts(&s);
	has(PRESS(&s, '+'), "  Overhead       Samples        Command / Shared Object / Symbol\n"
			    "-   90.00%             3        app\n"
			    "   +   70.00%             2        libc.so\n");
	s.opts.show_samples = false;
	s.opts.sort = "comm,pid";
	stage_opts(&s);
	has(PRESS(&s, 't'), ", Thread: app\n");
	has(PRESS(&s, '+', KEY_IS_DOWN, 't'), ", Thread: app(97)\n");
	s.opts.sort = NULL;
	stage_opts(&s);
	screen = PRESS(&s, '+', KEY_IS_DOWN, 'd');
	has(screen, ", DSO: libc.so\n  Overhead     Command / Symbol\n");
	has(screen, "70.00%     app\n");
	/* Other branches: levels and chains are folded again. */
	has(PRESS(&s, 'E', 'L', '3', '0', KEY_IS_ENTER, 'V'), "Symbol\n+   90.00%        app\n\n");
	has(PRESS(&s, 'E', 'L', '3', '0', KEY_IS_ENTER, KEY_IS_HOME, '+', KEY_IS_DOWN),
	    "-   90.00%        app\n   +   70.00%        libc.so\n");
	has(PRESS(&s, 'E', 'L', '3', '0', KEY_IS_ENTER, KEY_IS_HOME, '+', KEY_IS_DOWN, '+'),
	    "   -   70.00%        libc.so\n      +   50.00%        [.] memcpy\n");
	stage_end(&s);
}

static void several_events(void **state)
{
	struct stage s;

	stage_small(&s);
	stage_stack(&s, "faults", "app", "/bin/app:main", 3);
	has(PRESS(&s, 'x'), "Events of the recording\n4 cycles\n1 faults\n");
	has(PRESS(&s, KEY_IS_ENTER), TITLE);
	has(PRESS(&s, KEY_IS_ENTER, KEY_IS_TAB), "Samples: 1  of event 'faults'");
	has(PRESS(&s, KEY_IS_ENTER, KEY_IS_UNTAB), "Samples: 1  of event 'faults'");
	has(PRESS(&s, KEY_IS_DOWN, KEY_IS_ENTER, KEY_IS_TAB), TITLE);
	has(PRESS(&s, KEY_IS_ENTER, KEY_IS_LEFT), "Events of the recording\n");
	has(PRESS(&s, KEY_IS_ENTER, 't', KEY_IS_ESC, KEY_IS_ESC), "Events of the recording\n");
	stage_end(&s);
}

static void asks_before_it_leaves(void **state)
{
	struct stage s;

	stage_small(&s);
	has(PRESS(&s, KEY_IS_ESC), "Leave the browser?");
	has(PRESS(&s, KEY_IS_ESC, 'n', 'V'), "With addresses");
	PRESS(&s, KEY_IS_ESC, 'y', 'V');
	assert_int_equal(s.grid.at, 2);
	PRESS(&s, 'q', 'V');
	assert_int_equal(s.grid.at, 1);
	stage_end(&s);
}

static void columns_titles_and_colours(void **state)
{
	struct stage s;

	stage_small(&s);
	has(PRESS(&s, 'H'), "1000\n+   90.00%");
	has(PRESS(&s, KEY_IS_RIGHT, KEY_IS_RIGHT), "\n  Command  Shared Object      Symbol\n+ app      app ");
	has(PRESS(&s, KEY_IS_RIGHT, KEY_IS_LEFT), "\n" HEADS);
	has(PRESS(&s, 'V'), "/bin/app           0x1000             [.] main\n");
	assert_int_equal(s.grid.styles[3][6], STYLE_HOT);
	assert_int_equal(s.grid.styles[3][16], STYLE_PLAIN);
	assert_int_equal(s.grid.styles[2][6], STYLE_SELECTED);
	has(PRESS(&s, 'i'), "testhost");
	has(PRESS(&s, 'a'), "main: ");
	has(PRESS(&s, 'h'), "|h ? F1             show this help");
	stage_end(&s);
}

/* On a narrow screen the symbol is visible, and title, status and help are wrapped. */
static void narrow_screens(void **state)
{
	struct stage s;
	const char *screen;

	stage_begin(&s);
	stage_stack(&s, "cycles", "a-long-command", "/usr/lib/libsomething-with-a-long-name.so:the_function", 10);
	stage_opts(&s);
	screen = PRESS(&s, RESIZE(15, 60), KEY_IS_HOME);
	has(screen, "  Children      Self  Command   Shared ~  Symbol\n"
		    "+  100.00%   100.00%  a-long-~  libsome~  [.] the_function\n");
	has(screen, "Event count (approx.): 10\n");
	has(PRESS(&s, RESIZE(15, 60), 'V'), "a-long-~  ~name.so  0x1000 [.] the_fun\n");
	has(PRESS(&s, RESIZE(15, 60), 't'), "10,\nThread: a-long-command\n");
	has(PRESS(&s, RESIZE(15, 60), 'r'), "\nr runs scripts in perf: tacho has no interpreter; 'script\n--json' passes");
	has(PRESS(&s, RESIZE(8, 60), 'r'), "\nr runs scripts in perf: tacho has no interpreter; 'script --\n");
	has(PRESS(&s, RESIZE(15, 60), 'h'), "|UP DOWN PGUP PGDN  move the cursor, also with SPACE, HOME |\n"
					    "|                   and END ");
	has(PRESS(&s, RESIZE(15, 30), 'h'), "|UP DOWN PGUP PGDN           |\n|    move the cursor, also   |\n");
	lacks(PRESS(&s, RESIZE(15, 180), KEY_IS_HOME), "~");
	stage_end(&s);
}

/* perf's keys without a function here give the reason. */
static void keys_of_perf(void **state)
{
	struct stage s;

	stage_small(&s);
	has(PRESS(&s, 'f'), "f is a key of perf top, which enables and disables events: a recording does not change");
	has(PRESS(&s, 'z'), "z is a key of perf top, which resets the counts");
	has(PRESS(&s, 'S'), "The table is not sorted by socket: start with -s socket,comm,dso,symbol");
	s.opts.sort = "socket,symbol";
	stage_opts(&s);
	has(PRESS(&s, 'S'), ", Socket: -1\n  Children      Self  Symbol\n");
	has(PRESS(&s, 'S', 'S'), "1000\n  Children      Self  Socket  Symbol\n");
	stage_end(&s);
}

/* With a hundred thousand entries, a key formats only the lines of one screen. */
static void large_tables_scroll_at_once(void **state)
{
	struct stage s;
	char stack[64];

	stage_begin(&s);
	for (int i = 0; i < 100000; i++) {
		snprintf(stack, sizeof(stack), "/bin/app:main;/bin/app:f%05d", i);
		stage_stack(&s, "cycles", "app", stack, 1);
	}
	stage_opts(&s);
	has(PRESS(&s, KEY_IS_END, KEY_IS_PAGE_UP, KEY_IS_END), "[.] f99999\n");
	has(PRESS(&s, 'E', KEY_IS_END, KEY_IS_PAGE_UP, KEY_IS_PAGE_UP, KEY_IS_HOME), "[.] main\n");
	has(PRESS(&s, KEY_IS_DOWN, KEY_IS_DOWN, '/', 'f', '9', '9', '9', '9', KEY_IS_ENTER), "[.] f99990\n");
	assert_true(s.grid.most_puts < 300);
	stage_end(&s);
}

static void names_of_strangers(void **state)
{
	struct stage s;
	const char *screen;

	stage_begin(&s);
	stage_stack(&s, "cycles", "a\033[2Jb", "/bin/x\n\x9b:\001evil\xff\033c", 10);
	stage_opts(&s);
	screen = PRESS(&s, 'E', 'V', 'm');
	lacks(screen, "\033");
	has(PRESS(&s, 'x'), "a?[2Jb");
	stage_end(&s);
}

/* Random keys on screens of any size: nothing is drawn outside the screen, nothing leaks. */
static void any_keys_any_size(void **state)
{
	static const int pool[] = { KEY_IS_UP, KEY_IS_DOWN, KEY_IS_LEFT, KEY_IS_RIGHT, KEY_IS_PAGE_UP,
		KEY_IS_PAGE_DOWN, KEY_IS_HOME, KEY_IS_END, KEY_IS_TAB, KEY_IS_UNTAB, KEY_IS_ESC,
		KEY_IS_ENTER, KEY_IS_RUBOUT, KEY_IS_F1, KEY_IS_OTHER, ' ', '+', '-', 'e', 'E', 'c', 'C',
		'a', 'd', 't', 'k', '/', 'L', 'F', 'H', 'V', 'o', '0', '1', 'i', 'm', 'n', 'h', '?', 'f' };
	uint32_t seed = 12345;
	struct stage s;
	int keys[400];

	stage_small(&s);
	stage_stack(&s, "faults", "app", "/bin/app:main;/bin/app:parse", 3);
	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < countof(keys); i++) {
			seed = seed * 1664525u + 1013904223u;
			keys[i] = pool[(seed >> 16) % countof(pool)];
			if (seed >> 28 == 0)
				keys[i] = RESIZE(1 + (int)(seed >> 8) % 30, 1 + (int)(seed >> 13) % 90);
		}
		s.opts.hierarchy = round % 3 == 0;
		assert_true(stage_press(&s, keys, countof(keys)) >= 0);
	}
	stage_end(&s);
}

static void nothing_to_show(void **state)
{
	struct stage s;

	stage_begin(&s);
	profile_intern_event(s.p, "cycles");
	stage_opts(&s);
	has(PRESS(&s, 'x'), "No samples\n");
	stage_end(&s);
}

static void widths_and_clipping(void **state)
{
	struct buf out = { 0 };

	assert_int_equal(screen_width("abc"), 3);
	assert_int_equal(screen_clip(&out, "a\tb\x01", 10), 4);
	assert_string_equal(out.bytes, "a b?");
	buf_clear(&out);
	assert_true(screen_clip(&out, "a\xe2\x80\xae" "b\xc2\x9b" "c", 10) >= 5);
	assert_null(strchr(out.bytes, '\x80'));
	assert_null(strchr(out.bytes, '\xe2'));
	assert_null(strchr(out.bytes, '\xc2'));
	buf_clear(&out);
	assert_int_equal(screen_clip(&out, "abcdef", 3), 3);
	assert_string_equal(out.bytes, "abc");
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_on_the_table),
		cmocka_unit_test(levels_open_one_by_one),
		cmocka_unit_test(zooms_stack_up),
		cmocka_unit_test(names_filter),
		cmocka_unit_test(relative_percentages),
		cmocka_unit_test(sorts_by_other_keys),
		cmocka_unit_test(levels_of_a_hierarchy),
		cmocka_unit_test(several_events),
		cmocka_unit_test(asks_before_it_leaves),
		cmocka_unit_test(columns_titles_and_colours),
		cmocka_unit_test(large_tables_scroll_at_once),
		cmocka_unit_test(names_of_strangers), cmocka_unit_test(narrow_screens),
		cmocka_unit_test(keys_of_perf),
		cmocka_unit_test(any_keys_any_size),
		cmocka_unit_test(nothing_to_show),
		cmocka_unit_test(widths_and_clipping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
