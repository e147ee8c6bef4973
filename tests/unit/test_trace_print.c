/* trace/: formats from an artificial TRACING_DATA, raw records, and the printed text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants those before it */
#include <cmocka.h>

#include "base/buf.h"

#include <tacho/trace.h>

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                      \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char format_head[] = "name: ev\nID: 7\nformat:\n" COMMON
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int i;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int u;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long p;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 v[2];\toffset:36;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * s;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:__u8 ip[4];\toffset:48;\tsize:4;\tsigned:0;\n\n"
	"print fmt: ";

static void put_number(struct buf *b, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		buf_putc(b, (char)(v >> 8 * i));
}

static void put_blob(struct buf *b, const char *print)
{
	static const char printks[] = "0x1000 : \"said\"\n";

	buf_put(b, "\x17\x08\x44tracing" "0.6\0" "\0\x08", 16);
	put_number(b, 4096, 4);
	buf_put(b, "header_page\0", 12), put_number(b, 0, 8);
	buf_put(b, "header_event\0", 13), put_number(b, 0, 8);
	put_number(b, 0, 4);
	put_number(b, 1, 4);
	buf_put(b, "sys\0", 4), put_number(b, 1, 4);
	put_number(b, strlen(format_head) + strlen(print) + 1, 8);
	buf_puts(b, format_head), buf_puts(b, print), buf_putc(b, '\n');
	put_number(b, 0, 4);
	put_number(b, strlen(printks), 4), buf_puts(b, printks);
}

static struct buf record_bytes(void)
{
	struct buf b = { 0 };

	put_number(&b, 7, 4), put_number(&b, 1, 4);
	buf_put(&b, "bash\0\0\0", 8);
	put_number(&b, (uint32_t)-5, 4), put_number(&b, 0xc0000005, 4), put_number(&b, 0xffff1234, 8);
	put_number(&b, 5 << 16 | 52, 4);
	put_number(&b, 0x0102, 2), put_number(&b, 0x0304, 2);
	put_number(&b, 0x1000, 8);
	buf_put(&b, "\x7f\0\0\x01", 4);
	buf_put(&b, "file\0", 5);
	return b;
}

static const char *function(void *arg, uint64_t address, uint64_t *offset)
{
	*offset = 4;
	return address == 0xffff1234 ? arg : NULL;
}

static void prints(const char *print, const char *wanted)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts), .function = function, .arg = "fn" };
	struct buf blob = { 0 }, raw = record_bytes();
	const struct tacho_trace_event *ev;
	struct tacho_trace *t = NULL;
	char text[256] = "";

	put_blob(&blob, print);
	assert_int_equal(tacho_trace_new(&t, blob.bytes, blob.n, NULL), 0);
	ev = tacho_trace_find(t, 7);
	assert_non_null(ev);
	assert_string_equal(tacho_trace_name(ev), "sys:ev");
	assert_int_equal(tacho_trace_print(ev, raw.bytes, raw.n, &opts, text, sizeof(text)), strlen(wanted));
	assert_string_equal(text, wanted);
	/* truncated: other text, but nothing is read beyond the end */
	for (size_t n = 0; n < raw.n; n++) {
		char *part = malloc(n + 1);

		memcpy(part, raw.bytes, n);
		part = realloc(part, n ? n : 1);
		assert_true(tacho_trace_print(ev, part, n, &opts, text, 3) >= 0);
		free(part);
	}
	tacho_trace_free(t);
	buf_done(&blob);
	buf_done(&raw);
}

static void conversions(void **state)
{
	(void)state;
	prints("\"comm=%s i=%d u=%u x=%08x\", REC->comm, REC->i, REC->u, REC->u & 0xff",
	       "comm=bash i=-5 u=3221225477 x=00000005");
	prints("\"[%6s|%-6s] 100%% %c\", REC->comm, __get_str(name), 'x'", "[  bash|file  ] 100% x");
	prints("\"%s %lx %p\", REC->s, REC->p, (void *)REC->p", "said ffff1234 0xffff1234");
	prints("\"%pS %ps %pS\", (void *)REC->p, REC->p, 0", "fn+0x4 fn 0x0");
	prints("\"%u %u\", REC->v[0], REC->v[1]", "258 772");
	prints("\"%pI4\", REC->ip", "127.0.0.1");
	prints("\"%.*s|%*d\", 2, REC->comm, 5, 42", "ba|   42");
}

static void expressions(void **state)
{
	(void)state;
	prints("\"%d\", REC->i < 0 ? 1 + 2 * 3 : (1 << 4)", "7");
	prints("\"%u,%u\", ((unsigned int) ((REC->u) >> 20)), ((unsigned int) ((REC->u) & ((1U << 20) - 1)))",
	       "3072,5");
	prints("\"%s\", REC->u ? \"yes\" : \"no\"", "yes");
	prints("\"%s\", __print_flags(REC->u & 7, \"|\", { 1UL, \"A\" }, { (1 << 1), \"B\" }, { 4, \"C\" })", "A|C");
	prints("\"%s\", __print_flags(REC->u & 0x15, \"|\", { 1, \"A\" }, { 0, ((void *)0) })", "A|0x4");
	prints("\"%s %s\", __print_symbolic(REC->i, { -5, \"E\" }), __print_symbolic(REC->u, { 1, \"x\" })",
	       "E 0xc0000005");
	/* values that only the kernel knows match nothing */
	prints("\"%s\", __print_symbolic(REC->u - REC->u, { SOME_ENUM, \"bad\" })", "0x0");
	prints("\"%s\", __print_hex(REC->ip, 4)", "7f 00 00 01");
	prints("\"%s\", __print_array(REC->v, 2, 2)", "{0x102,0x304}");
}

static void not_understood(void **state)
{
	static const char fields[] = "comm=bash i=-5 u=3221225477 p=4294906420 name=file v=ARRAY[102, 304] "
				     "s=said ip=ARRAY[7f, 00, 00, 01]";

	(void)state;
	prints("\"%s\", some_function(REC->i)", fields);
	prints("\"%d\", REC->nonesuch", fields);
	prints("\"%d %d\", REC->i", fields);
	prints("\"%d", fields);
	prints("\"%d\", ((((((REC->i", fields);
}

static void damaged(void **state)
{
	struct tacho_error e;
	struct buf blob = { 0 };

	(void)state;
	put_blob(&blob, "\"%d\", REC->i");
	for (size_t n = 0; n < blob.n; n++) {
		struct tacho_trace *t = NULL;
		char *part = malloc(n ? n : 1);

		memcpy(part, blob.bytes, n);
		if (tacho_trace_new(&t, part, n, &e) == 0)
			tacho_trace_free(t);
		free(part);
	}
	blob.bytes[0] = 'x';
	assert_int_equal(tacho_trace_new(&(struct tacho_trace *){ NULL }, blob.bytes, blob.n, &e), -EBADMSG);
	buf_done(&blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions), cmocka_unit_test(expressions),
		cmocka_unit_test(not_understood), cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
