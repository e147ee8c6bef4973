/*
 * The parser of probe requests: what it accepts, and where it points when it refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "probe/filter.h"
#include "probe/function_match.h"
#include "probe/request.h"
#include "probe/site.h"
#include "probe/tracefs.h"

/* The parts of a request in one line, as far as they are given. */
static void describe(const struct probe_request *r, struct buf *out)
{
	const struct probe_point *p = &r->point;

	if (r->event)
		buf_printf(out, "%s:%s=", r->group ? r->group : "", r->event);
	if (p->sdt_name)
		buf_printf(out, "sdt(%s,%s)", p->provider, p->sdt_name);
	if (p->has_address)
		buf_printf(out, "at(%llx)", (unsigned long long)p->address);
	if (p->function)
		buf_printf(out, "f(%s)", p->function);
	if (p->file)
		buf_printf(out, "file(%s)", p->file);
	if (p->offset)
		buf_printf(out, "+%llu", (unsigned long long)p->offset);
	if (p->has_line)
		buf_printf(out, ":%u", p->line);
	if (p->pattern)
		buf_printf(out, ";%s", p->pattern);
	if (p->is_return)
		buf_puts(out, "%return");
	for (size_t i = 0; i < r->args.n; i++) {
		const struct probe_argument *a = &r->args.v[i];

		buf_printf(out, " %s=%s:%s%s", a->name ? a->name : "", a->text, a->type ? a->type : "", a->user ? "@user" : "");
	}
	buf_putc(out, '\0');
}

static const struct { const char *text, *want; int column; } requests[] = {
	{ "malloc", "f(malloc)", -1 },
	{ "  malloc\tsize=%di ", "f(malloc) size=%di:", -1 },
	{ "ev=malloc", ":ev=f(malloc)", -1 },
	{ "grp:ev=malloc %di:u8 +8(%si):string", "grp:ev=f(malloc) =%di:u8 =+8(%si):string", -1 },
	{ "f+0x10", "f(f)+16", -1 },
	{ "f%return $retval:string", "f(f)%return =$retval:string", -1 },
	{ "f:12 x->y.z[3] name=a->b:string@user", "f(f):12 =x->y.z[3]: name=a->b:string@user", -1 },
	{ "f@dir/a.c:3", "f(f)file(dir/a.c):3", -1 },
	{ "a.c:30", "file(a.c):30", -1 },
	{ "a.c;x=*+y", "file(a.c);x=*+y", -1 },
	{ "f;n=n->next*", "f(f);n=n->next*", -1 },
	{ "0x13c0 %ax", "at(13c0) =%ax:", -1 },
	{ "%libc:setjmp", "sdt(libc,setjmp)", -1 },
	{ "%sdt_libc:setjmp", "sdt(libc,setjmp)", -1 },
	{ "sdt_libc:setjmp", "sdt(libc,setjmp)", -1 },
	{ "%setjmp", "sdt(*,setjmp)", -1 },
	{ "a::b::c%return", "f(a::b::c)%return", -1 },
	{ "Shape::area(int, const char *):3 w=this->w", "f(Shape::area(int, const char *)):3 w=this->w:", -1 },
	{ "std::vector<int, std::allocator<int> >::size+4", "f(std::vector<int, std::allocator<int> >::size)+4", -1 },
	{ "A::operator()(int)", "f(A::operator()(int))", -1 },
	{ "A::operator<(int) x", "f(A::operator<(int)) =x:", -1 },
	{ "a\\:\\:b", "f(a::b)", -1 },
	{ "'a:b':3", "f(a:b):3", -1 },
	{ "malloc@GLIBC", "f(malloc)file(GLIBC)", -1 },
	{ "f $vars", "f(f) =$vars:", -1 },
	{ "", NULL, -1 },
	{ "   ", NULL, -1 },
	{ "f:x", NULL, 2 },
	{ "f+x", NULL, 2 },
	{ "f%foo", NULL, 1 },
	{ "f%return:3", NULL, 0 },
	{ "f+4%return", NULL, 0 },
	{ "1x=f", NULL, 0 },
	{ "a:b:c=f", NULL, 2 },
	{ "a.c:0", NULL, 0 },
	{ "f@", NULL, 1 },
	{ "f a=", NULL, 2 },
	{ "f a:", NULL, 2 },
	{ "f 1a=b", NULL, 2 },
	{ "%", NULL, 1 },
	{ "0xzz", NULL, 0 },
};

static void parse_requests(void **state)
{
	for (size_t i = 0; i < countof(requests); i++) {
		struct tacho_error e = { .column = -1 };
		struct probe_request r;
		struct buf text = { 0 };
		int err = probe_request_parse(&r, str_of(requests[i].text), &e);

		if (err == 0)
			describe(&r, &text);
		if (requests[i].want && err == 0)
			assert_string_equal(text.bytes, requests[i].want);
		if ((err == 0) != (requests[i].want != NULL) || (err < 0 && e.column != requests[i].column))
			fail_msg("'%s': %d at %d: %s", requests[i].text, err, e.column, err < 0 ? e.message : "");
		assert_true(err == 0 || (err == -EINVAL && e.message[0]));
		buf_done(&text);
		probe_request_done(&r);
	}
}

static void kinds_of_arguments(void **state)
{
	struct probe_request r;

	assert_int_equal(probe_request_parse(&r, STR_LIT("f %ax $retval @+4 \\1 $params x"), NULL), 0);
	assert_int_equal(r.args.n, 6);
	for (size_t i = 0; i < 4; i++)
		assert_true(probe_argument_is_raw(&r.args.v[i]));
	assert_true(probe_argument_is_set(&r.args.v[4]) && !probe_argument_is_raw(&r.args.v[4]));
	assert_false(probe_argument_is_raw(&r.args.v[5]));
	assert_true(probe_request_has_variables(&r));
	probe_request_done(&r);
}

static void limits(void **state)
{
	struct buf text = { 0 };
	struct probe_request r;

	buf_puts(&text, "f");
	for (unsigned i = 0; i <= REQUEST_ARGS_MAX; i++)
		buf_puts(&text, " a");
	assert_int_equal(probe_request_parse(&r, buf_view(&text), NULL), -EINVAL);
	probe_request_done(&r);
	buf_pad(&text, 'x', REQUEST_BYTES_MAX);
	assert_int_equal(probe_request_parse(&r, buf_view(&text), NULL), -EINVAL);
	probe_request_done(&r);
	assert_int_equal(probe_request_parse(&r, STR_LIT("a\nb"), NULL), -EINVAL);
	probe_request_done(&r);
	buf_done(&text);
}

static const struct { uint16_t machine; const char *args, *want; } static_args[] = {
	{ ELF_EM_X86_64, "8@%rdx 8@-80(%rbx)", "arg1=%dx:u64 arg2=-80(%bx):u64" },
	{ ELF_EM_X86_64, "-4@%eax 1@%al -2@%r8w 4@$5 -4@$-3", "arg1=%ax:s32 arg2=%ax:u8 arg3=%r8:s16 arg4=\\5:u32 arg5=\\-3:s32" },
	{ ELF_EM_X86_64, "8@(%rdi) 4@8(%rdi,%rsi,4) 4@x(%rip) 8f@%xmm0 -1@%sil", "arg1=+0(%di):u64 arg5=%si:s8" },
	{ ELF_EM_X86_64, "%rdi 8@%ah", "arg1=%di" },
	{ ELF_EM_X86_64, "", "" },
	{ ELF_EM_AARCH64, "8@x0 -4@[sp, 20] 4@w3 8@[x1] 8@x30 4@7 8@[x1, #-8]",
	  "arg1=%x0:u64 arg2=+20(%sp):s32 arg3=%x3:u32 arg4=+0(%x1):u64 arg5=%lr:u64 arg6=\\7:u32 arg7=-8(%x1):u64" },
	{ 8, "4@$2", "" },
};

static void convert_static_arguments(void **state)
{
	for (size_t i = 0; i < countof(static_args); i++) {
		struct buf out = { 0 };

		assert_int_equal(probe_static_arguments(static_args[i].machine, static_args[i].args, &out), 0);
		buf_putc(&out, '\0');
		if (static_args[i].machine != 8)
			assert_string_equal(out.bytes, static_args[i].want);
		buf_done(&out);
	}
}

static const struct { const char *wanted, *symbol; bool fits; } names[] = {
	{ "malloc", "malloc", true },
	{ "mal*", "malloc", true },
	{ "malloc", "mallocx", false },
	{ "Shape::area", "_ZN3geo5Shape4areaEi", true },
	{ "geo::Shape::area", "_ZN3geo5Shape4areaEi", true },
	{ "geo::Shape::area(int)", "_ZN3geo5Shape4areaEi", true },
	{ "Shape::area( int )", "_ZN3geo5Shape4areaEi", true },
	{ "Shape::area(double)", "_ZN3geo5Shape4areaEi", false },
	{ "Shape::area(*)", "_ZN3geo5Shape4areaEd", true },
	{ "hape::area", "_ZN3geo5Shape4areaEi", false },
	{ "geo::Shape", "_ZN3geo5Shape4areaEi", false },
	{ "area", "_ZN3geo5Shape4areaEi", false },
	{ "_ZN3geo5Shape4areaEi", "_ZN3geo5Shape4areaEi", true },
	{ "Shape::len() const", "_ZNK3geo5Shape3lenEv", true },
	{ "Shape::len()", "_ZNK3geo5Shape3lenEv", true },
	{ "A::operator()", "_ZN1AclEi", true },
	{ "r::twice", "_RINvCs6GmmlP4bgsG_1r5twicelEB2_", true },
	{ "twice<i32>", "_RINvCs6GmmlP4bgsG_1r5twicelEB2_", true },
	{ "r::twice<f64>", "_RINvCs6GmmlP4bgsG_1r5twicelEB2_", false },
	{ "r::twice::<i32>", "_RINvCs6GmmlP4bgsG_1r5twicelEB2_", true },
	{ "geo::Shape::area", "_RNvMNtCs6GmmlP4bgsG_1r3geoNtB2_5Shape4area", true },
	{ "r::geo::Shape::area", "_RNvMNtCs6GmmlP4bgsG_1r3geoNtB2_5Shape4area", true },
	{ "Shape::perimeter", "_RNvMNtCs6GmmlP4bgsG_1r3geoNtB2_5Shape4area", false },
	{ "A::operator()(int)", "_ZN1AclEi", true },
};

static void match_names(void **state)
{
	for (size_t i = 0; i < countof(names); i++) {
		struct function_match m;

		assert_int_equal(function_match_init(&m, names[i].wanted), 0);
		if (function_match_symbol(&m, names[i].symbol) != names[i].fits)
			fail_msg("'%s' and %s", names[i].wanted, names[i].symbol);
		function_match_done(&m);
	}
}

static void parse_definitions(void **state)
{
	struct probe_definition d;

	assert_int_equal(probe_definition_parse(&d, STR_LIT("p:g/e /a b:c/x.so:0x00000000000013c0(0x20) n=%di:x64 k=%si"), false),
			 -EINVAL);	/* a blank ends the path */
	assert_int_equal(probe_definition_parse(&d, STR_LIT("p:g/e /a:c/x.so:0x00000000000013c0(0x20) n=%di:x64 k=%si"), false), 0);
	assert_true(str_is(d.group, "g") && str_is(d.event, "e") && str_is(d.target, "/a:c/x.so"));
	assert_true(d.offset == 0x13c0 && d.semaphore == 0x20 && !d.is_return && str_is(d.args, "n=%di:x64 k=%si"));
	assert_int_equal(probe_definition_parse(&d, STR_LIT("r8:g/e ext4:ext4_read+4"), true), 0);
	assert_true(d.is_return && d.is_kernel && d.offset == 4 && str_is(d.target, "ext4:ext4_read"));
	assert_int_equal(probe_definition_parse(&d, STR_LIT("p:g/e vfs_read"), true), 0);
	assert_true(str_is(d.target, "vfs_read"));
	for (size_t i = 0; i < 8; i++) {
		static const char *const bad[] = { "", "p", "p:", "p:/e /x:0x1", "p:g/ /x:0x1", "x:g/e /x:0x1", "p:g/e", "p:g/e /x:1g" };

		assert_int_equal(probe_definition_parse(&d, str_of(bad[i]), false), -EINVAL);
	}
}

static void filters(void **state)
{
	struct name_filter f;
	struct tacho_error e = { .column = -1 };

	assert_int_equal(name_filter_parse(&f, STR_LIT("str* & !(*_l | __*)"), &e), 0);
	assert_true(name_filter_matches(&f, STR_LIT("strlen")));
	assert_false(name_filter_matches(&f, STR_LIT("strtol_l")));
	assert_false(name_filter_matches(&f, STR_LIT("memcpy")));
	assert_int_equal(name_filter_parse(&f, STR_LIT("a & "), &e), -EINVAL);
	assert_int_equal(e.column, 4);
	assert_int_equal(name_filter_parse(&f, STR_LIT("(a"), &e), -EINVAL);
	assert_int_equal(name_filter_parse(&f, STR_LIT("a b"), &e), -EINVAL);
	for (int i = 0; i < 2; i++) {
		struct buf deep = { 0 };

		buf_pad(&deep, i ? '!' : '(', 100000);
		assert_int_equal(name_filter_parse(&f, buf_view(&deep), &e), -EINVAL);
		buf_done(&deep);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_requests), cmocka_unit_test(kinds_of_arguments), cmocka_unit_test(limits),
		cmocka_unit_test(convert_static_arguments), cmocka_unit_test(match_names), cmocka_unit_test(parse_definitions),
		cmocka_unit_test(filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
