/* cli/core/message.c and terminal.c: diagnostics on stderr, and wrapping of text. */
#include "cli/core/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/error.h"
#include "cli/core/features.h"
#include "cli/core/terminal.h"

const char *program_name = "tacho";

static char captured[4096];
static int saved_stderr = -1, file = -1;

static void capture_stderr(void)
{
	saved_stderr = dup(STDERR_FILENO);
	file = memfd_create("stderr", 0);
	assert_true(saved_stderr >= 0 && file >= 0);
	dup2(file, STDERR_FILENO);
}

static const char *captured_stderr(void)
{
	ssize_t n = pread(file, captured, sizeof(captured) - 1, 0);

	dup2(saved_stderr, STDERR_FILENO);
	close(saved_stderr);
	close(file);
	captured[n > 0 ? n : 0] = '\0';
	return captured;
}

static const char *message_of(const char *command, const char *option, const char *text, int column,
		       const char *hint)
{
	struct tacho_error e;

	error_set(&e, -1, "no event is called 'cylces'");
	if (column >= 0)
		error_at(&e, (size_t)column, 6);
	if (hint)
		error_hint(&e, "%s", hint);
	capture_stderr();
	message_error(command, option, text, &e);
	return captured_stderr();
}

static void carets(void **state)
{
	assert_string_equal(message_of("stat", "-e", "cylces,instructions", 0, "did you mean 'cycles'?"),
			    "tacho stat: no event is called 'cylces'\n"
			    "  -e cylces,instructions\n"
			    "     ^ did you mean 'cycles'?\n");
	assert_string_equal(message_of("stat", NULL, "a,cylces", 2, NULL),
			    "tacho stat: no event is called 'cylces'\n"
			    "  a,cylces\n"
			    "    ^\n");
	/* Two bytes, one column; a column after the end; a newline in the text. */
	assert_non_null(strstr(message_of("stat", "-e", "\xc3\xa4,b", 3, NULL), "\n       ^\n"));
	assert_non_null(strstr(message_of("stat", NULL, "ab", 99, NULL), "\n    ^\n"));
	assert_non_null(strstr(message_of("stat", NULL, "a\nb\033c", 4, NULL), "\n  a b c\n      ^\n"));
}

static void without_caret(void **state)
{
	assert_string_equal(message_of("stat", "-e", "cylces", -1, "try again"),
			    "tacho stat: no event is called 'cylces'\n  try again\n");
	assert_string_equal(message_of(NULL, NULL, NULL, 3, NULL), "tacho: no event is called 'cylces'\n");
	/* A name cannot forge a message. */
	capture_stderr();
	message_text("list", "no '%s'", "a\ntacho list: b\n  c\033[2J\xc2\x9b");
	assert_string_equal(captured_stderr(), "tacho list: no 'a\n  tacho list: b\n  c?[2J?" "?'\n");
	capture_stderr();
	message_text("list", "%d of %s", 3, "them");
	assert_string_equal(captured_stderr(), "tacho list: 3 of them\n");
}

/* A text longer than the line is reduced to the part around the caret. */
static void long_text(void **state)
{
	char text[400], *line;
	const char *caret;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	text[200] = 'X';
	line = strchr(message_of("stat", "-e", text, 200, NULL), '\n') + 1;
	caret = strchr(line, '\n') + 1;
	assert_true(caret - line <= 81);
	assert_int_equal(line[strchr(caret, '^') - caret], 'X');
	line = strchr(message_of("stat", "-e", text, 398, NULL), '\n') + 1;
	assert_true(strchr(line, '\n') - line <= 80);
}

static void wrapping(void **state)
{
	struct buf b = { 0 };

	term_wrap(&b, STR_LIT("aa bb  cc dddddddddddd e"), 2, 3, 8);
	assert_string_equal(b.bytes, "aa bb\n   cc\n   dddddddddddd\n   e");
	buf_done(&b);
}

/* Without a terminal the width is 80 and there are no colours. */
static void no_terminal(void **state)
{
	capture_stderr();
	assert_int_equal(term_width(STDERR_FILENO), 80);
	assert_false(term_has_colors(STDERR_FILENO));
	captured_stderr();
}

static void features_of_the_build(void **state)
{
	struct buf b = { 0 };

	assert_non_null(feature_find(STR_LIT("zstd")));
	assert_ptr_equal(feature_find(STR_LIT("ZSTD")), feature_find(STR_LIT("have_zstd_support")));
	assert_null(feature_find(STR_LIT("")));
	feature_line(&(struct build_feature){ "zlib", "HAVE_ZLIB_SUPPORT", true, "not said" }, &b);
	feature_line(&(struct build_feature){ "zstd", "HAVE_ZSTD_SUPPORT", false, "install it" }, &b);
	assert_string_equal(b.bytes, "                  zlib: [ on  ]  # HAVE_ZLIB_SUPPORT\n"
				     "                  zstd: [ OFF ]  # HAVE_ZSTD_SUPPORT ( tip: install it )\n");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carets),
		cmocka_unit_test(without_caret),
		cmocka_unit_test(long_text),
		cmocka_unit_test(wrapping),
		cmocka_unit_test(no_terminal),
		cmocka_unit_test(features_of_the_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
