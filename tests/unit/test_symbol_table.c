/*
 * Which symbol is shown: aliases, guessed sizes, nesting, JIT maps, kallsyms.
 */
#include "symbol_support.h"

#include "symbol/demangle.h"
#include "symbol/kallsyms.h"
#include "symbol/jit/perfmap.h"

#include <errno.h>
#include <stdio.h>

struct fixture {
	struct interned_names names;
	struct symbol_table t;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	f->t.names = &f->names;
	buf_putc(&f->t.strings, '\0');
}

static void end(struct fixture *f)
{
	symbol_table_done(&f->t);
	names_done(&f->names);
}

static void add(struct fixture *f, const char *name, uint64_t start, uint64_t size, uint32_t flags)
{
	uint32_t at = (uint32_t)f->t.strings.n;

	buf_put(&f->t.strings, name, strlen(name) + 1);
	assert_int_equal(symbol_table_add(&f->t, start, size, at, flags), 0);
}

static const char *name_at(struct fixture *f, uint64_t address)
{
	const struct symbol *s = symbol_table_find(&f->t, address);

	return s ? names_get(&f->names, s->id) : "";
}

static const struct {
	const char *a, *b;
	uint32_t a_flags, b_flags;
	const char *wins;
} pairs[] = {
	{ "weak", "strong", SYMBOL_WEAK, 0, "strong" },
	{ "local", "global", SYMBOL_LOCAL, 0, "global" },
	{ "weak", "local", SYMBOL_WEAK, SYMBOL_LOCAL, "local" },
	{ "__x", "x", 0, 0, "x" },
	{ "x", "_xx", 0, 0, "x" },
	{ "short", "longer", 0, 0, "longer" },
	{ "first", "other", 0, 0, "first" },
	{ "_ZN1a1bEv", "a_long_one", 0, 0, "a_long_one" },	/* a::b() is shorter */
	{ "_Z6longerv", "xy", 0, 0, "longer()" },
};

static void table_aliases(void **state)
{
	for (size_t i = 0; i < countof(pairs); i++) {
		struct fixture f;

		begin(&f);
		add(&f, pairs[i].a, 0x1000, 16, pairs[i].a_flags);
		add(&f, pairs[i].b, 0x1000, 16, pairs[i].b_flags);
		assert_int_equal(symbol_table_finish(&f.t), 0);
		assert_string_equal(name_at(&f, 0x1008), pairs[i].wins);
		end(&f);
	}
}

static void table_sizes(void **state)
{
	struct fixture f;

	begin(&f);
	add(&f, "sized", 0x1000, 0x10, 0);
	add(&f, "open", 0x1010, 0, 0);
	add(&f, "next", 0x2000, 4, 0);
	add(&f, "last", 0x3008, 0, 0);
	assert_int_equal(symbol_table_finish(&f.t), 0);
	assert_string_equal(name_at(&f, 0xfff), "");
	assert_string_equal(name_at(&f, 0x1fff), "open");
	assert_string_equal(name_at(&f, 0x2004), "");
	assert_string_equal(name_at(&f, 0x4fff), "last");
	assert_string_equal(name_at(&f, 0x5000), "");
	assert_string_equal(name_at(&f, UINT64_MAX), "");
	end(&f);
}

static void table_nesting(void **state)
{
	struct fixture f;

	begin(&f);
	add(&f, "inner", 0x1010, 0x10, 0);
	add(&f, "outer", 0x1000, 0x100, 0);
	add(&f, "label", 0x1040, 0, 0);
	add(&f, "behind", 0x1200, 0x10, 0);
	assert_int_equal(symbol_table_finish(&f.t), 0);
	assert_string_equal(name_at(&f, 0x100f), "outer");
	assert_string_equal(name_at(&f, 0x1010), "inner");
	assert_string_equal(name_at(&f, 0x1020), "outer");
	assert_string_equal(name_at(&f, 0x1050), "outer");	/* not the label in it */
	assert_string_equal(name_at(&f, 0x1150), "label");	/* after the end of outer */
	end(&f);
}

/* Compared with a linear search. */
static void table_many(void **state)
{
	enum { N = 3000 };
	static struct { uint64_t start, size; } all[N];
	struct fixture f;
	uint64_t seed = 1;

	begin(&f);
	for (size_t i = 0; i < N; i++) {
		char name[16];

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		all[i].start = (seed >> 20) % 100000;
		all[i].size = 1 + (seed >> 50) % 40;
		snprintf(name, sizeof(name), "f%04zu", i);
		add(&f, name, all[i].start, all[i].size, 0);
	}
	f.t.newest = true;
	assert_int_equal(symbol_table_finish(&f.t), 0);
	for (uint64_t a = 0; a < 100050; a++) {
		char want[16] = "";

		for (size_t i = 0; i < N; i++)
			if (a >= all[i].start && a - all[i].start < all[i].size)
				snprintf(want, sizeof(want), "f%04zu", i);
		assert_string_equal(name_at(&f, a), want);
	}
	end(&f);
}

/* The index has steps of equal length, but symbols may be clustered, and unsorted. */
static void table_uneven(void **state)
{
	static const uint64_t clusters[] = { 0, 0x1000, 0x400000, 0x8000000000000000, UINT64_MAX - 0x20000 };
	struct fixture f;

	for (size_t n = 1; n <= countof(clusters); n++) {
		begin(&f);
		for (size_t c = n; c-- > 0;)
			for (uint64_t i = 0; i < 100; i++)
				add(&f, "f", clusters[c] + i * 8, 4, 0);
		assert_int_equal(symbol_table_finish(&f.t), 0);
		for (size_t c = 0; c < n; c++)
			for (uint64_t i = 0; i < 100 * 8; i++) {
				const struct symbol *s = symbol_table_find(&f.t, clusters[c] + i);

				assert_int_equal(s != NULL, i % 8 < 4);
				assert_true(!s || s->start == clusters[c] + i / 8 * 8);
			}
		assert_null(symbol_table_find(&f.t, clusters[n - 1] + 0x1ffff));
		end(&f);
	}
}

static void text_of(struct buf *b, const char *s)
{
	*b = (struct buf){ 0 };
	buf_puts(b, s);
}

static void perfmap_lines(void **state)
{
	struct fixture f;
	struct buf text;
	size_t bad = 0;

	text_of(&text, "1000 10 first\n"
		       "0x2000 0x20 with a blank, and (more)\n"
		       "not a line\n"
		       "1000 8 newer\n"
		       "3000 10\n"
		       "3000 0 empty\n"
		       "\n"
		       "4000 10 dos\r\n"
		       "  5000\t10 \t tabs\n"
		       "11112222333344445 10 too wide\n"
		       "_ZN1a1bEv 10 x\n"
		       "7000 10 _ZN1a1bEv\n"
		       "6000 10 half wri");
	begin(&f);
	assert_int_equal(perfmap_parse(&f.t, &text, &bad), 0);
	assert_int_equal(bad, 6);
	assert_string_equal(name_at(&f, 0x1007), "newer");
	assert_string_equal(name_at(&f, 0x1008), "first");
	assert_string_equal(name_at(&f, 0x1010), "");
	assert_string_equal(name_at(&f, 0x201f), "with a blank, and (more)");
	assert_string_equal(name_at(&f, 0x4000), "dos");
	assert_string_equal(name_at(&f, 0x5000), "tabs");
	assert_string_equal(name_at(&f, 0x6000), "half wri");
	assert_string_equal(name_at(&f, 0x7000), "_ZN1a1bEv");	/* as perf: not demangled */
	end(&f);
	begin(&f);
	text_of(&text, "");
	assert_int_equal(perfmap_parse(&f.t, &text, NULL), 0);
	assert_string_equal(name_at(&f, 0), "");
	end(&f);
	assert_int_equal(perfmap_read(&f.t, "/dev/zero", 0, false), -EINVAL);
}

static void kallsyms_lines(void **state)
{
	struct fixture f;
	struct buf text;

	text_of(&text, "0000000000000000 A __per_cpu_start\n"
		       "ffffffff81000000 T _stext\n"
		       "ffffffff81000000 T _text\n"
		       "ffffffff81000100 t helper\n"
		       "ffffffff81000200 T last_of_kernel\n"
		       "ffffffff81000300 r read_only\n"
		       "ffffffffc0000000 t init\t[ext4]\n"
		       "ffffffffc0000010 T $x\t[ext4]\n"
		       "ffffffffc0000020 T ext4_read\t[ext4]\n"
		       "broken\n"
		       "ffffffffc0001000 t bpf_prog_1\t[bpf]");
	begin(&f);
	assert_int_equal(kallsyms_parse(&f.t, &text), 0);
	assert_string_equal(name_at(&f, 0xffffffff81000000), "_text");
	assert_string_equal(name_at(&f, 0xffffffff810001ff), "helper");
	assert_string_equal(name_at(&f, 0xffffffff81000300), "last_of_kernel");
	assert_string_equal(name_at(&f, 0xffffffff81002000), "");
	assert_string_equal(name_at(&f, 0xffffffffc0000015), "init");
	assert_string_equal(name_at(&f, 0xffffffffc0000fff), "ext4_read");
	assert_string_equal(kallsyms_module(&f.t, symbol_table_find(&f.t, 0xffffffffc0000020)), "[ext4]");
	assert_string_equal(kallsyms_module(&f.t, symbol_table_find(&f.t, 0xffffffffc0001000)), "[bpf]");
	assert_null(kallsyms_module(&f.t, symbol_table_find(&f.t, 0xffffffff81000100)));
	end(&f);
}

static void kallsyms_hidden(void **state)
{
	struct fixture f;
	struct buf text;

	begin(&f);
	text_of(&text, "0000000000000000 T _text\n0000000000000000 t x\n");
	assert_int_equal(kallsyms_parse(&f.t, &text), -EACCES);
	buf_done(&text);
	end(&f);
	begin(&f);
	text_of(&text, "nonsense\n");
	assert_int_equal(kallsyms_parse(&f.t, &text), -ENODATA);
	buf_done(&text);
	end(&f);
}

static const struct { const char *mangled, *plain, *params; } languages[] = {
	{ "_ZN2ns3FooIdE4workEdi", "ns::Foo<double>::work", "ns::Foo<double>::work(double, int)" },
	{ "_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "core::fmt::write" },
	{ "_RNvC6_123foo3bar", "123foo::bar", "123foo::bar" },
	{ "_D3std5stdio7writelnFZv", "std.stdio.writeln()", "std.stdio.writeln()" },
	{ "_ZN1a1bEv@@VERS_1", "a::b@@VERS_1", "a::b()@@VERS_1" },
	{ "main", NULL, NULL },
	{ "_Z_no", NULL, NULL },
	{ "_start", NULL, NULL },
	{ "", NULL, NULL },
};

static void demangle_languages(void **state)
{
	for (size_t i = 0; i < countof(languages); i++) {
		struct buf out = { 0 };
		bool done = demangle(languages[i].mangled, false, &out);

		assert_int_equal(done, languages[i].plain != NULL);
		if (done)
			assert_string_equal(out.bytes, languages[i].plain);
		buf_clear(&out);
		if (demangle(languages[i].mangled, true, &out))
			assert_string_equal(out.bytes, languages[i].params);
		buf_done(&out);
	}
}

static void append_to(const char *path, const char *text)
{
	FILE *f = fopen(path, "a");

	assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* The map of a running JIT: only new complete lines are read, and the last line for an address wins. */
static void perfmap_grows(void **state)
{
	char path[] = "/tmp/tacho-perfmap-XXXXXX", moved[64];
	struct perfmap_position at = { 0 };
	struct fixture f;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && close(fd) == 0);
	begin(&f);
	assert_int_equal(perfmap_read_more(&f.t, path, 0, false, &at), 0);
	append_to(path, "1000 10 one\n2000 10 tw");
	assert_int_equal(perfmap_read_more(&f.t, path, 0, false, &at), 1);
	assert_string_equal(name_at(&f, 0x1004), "one");
	assert_null(symbol_table_find(&f.t, 0x2004));
	assert_int_equal(at.bytes, strlen("1000 10 one\n"));
	symbol_table_compact(&f.t);
	append_to(path, "o\n1000 10 new\n");
	assert_int_equal(perfmap_read_more(&f.t, path, 0, false, &at), 1);
	assert_string_equal(name_at(&f, 0x1004), "new");
	assert_string_equal(name_at(&f, 0x2004), "two");
	assert_int_equal(perfmap_read_more(&f.t, path, 0, false, &at), 0);
	/* Another process with the same pid. */
	snprintf(moved, sizeof(moved), "%s.old", path);
	assert_int_equal(rename(path, moved), 0);
	append_to(path, "3000 10 three\n");
	assert_int_equal(perfmap_read_more(&f.t, path, 0, false, &at), 1);
	assert_null(symbol_table_find(&f.t, 0x1004));
	assert_string_equal(name_at(&f, 0x3004), "three");
	assert_true(unlink(path) == 0 && unlink(moved) == 0);
	end(&f);
}

/* C++: each template argument is a pair of the one before; D: each type is a function of the one before, twice. */
static void demangle_bounded(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct buf name = { 0 }, out = { 0 };

	buf_puts(&name, "_Z1fI4pairIiiE");
	for (unsigned i = 1; i <= 34; i++)
		buf_printf(&name, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buf_puts(&name, "Evv");
	buf_puts(&out, "before ");
	assert_false(demangle(name.bytes, true, &out));
	assert_string_equal(out.bytes, "before ");
	buf_clear(&name);
	buf_puts(&name, "_D4testFHii");
	for (unsigned i = 0; i < 60; i++)
		buf_puts(&name, "HQdQf");
	buf_puts(&name, "Zv");
	assert_false(demangle(name.bytes, true, &out));
	/* Deep, but not wide. */
	buf_clear(&name);
	buf_puts(&name, "_Z1fI4pairIiiE");
	for (unsigned i = 1; i <= 8; i++)
		buf_printf(&name, "S0_IS%c_S%c_E", digits[i], digits[i]);
	buf_puts(&name, "Evv");
	assert_true(demangle(name.bytes, true, &out));
	assert_in_range(out.n, 2000, 65536);
	buf_done(&name);
	buf_done(&out);
}

/* Duplicates do not change any result. */
static void table_twins(void **state)
{
	struct fixture f;

	begin(&f);
	add(&f, "sized", 0x1000, 0x10, 0);
	add(&f, "alias", 0x1000, 0x10, 0);
	add(&f, "sized", 0x1000, 0x10, 0);
	add(&f, "open", 0x1010, 0, 0);
	add(&f, "label", 0x1010, 0, 0);		/* extends to the next symbol */
	add(&f, "open", 0x1010, 0, 0);
	for (unsigned i = 0; i < 300; i++) {	/* more than are searched, without duplicates */
		add(&f, i ? "many" : "the_one", 0x2000, 0x10, 0);
		add(&f, i ? "many" : "the_one", 0x2000, 0x10, 0);
	}
	assert_int_equal(symbol_table_finish(&f.t), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(name_at(&f, 0x1008), "sized");
		assert_int_equal(symbol_table_find(&f.t, 0x1008)->order, 0);
		assert_string_equal(name_at(&f, 0x1018), "label");
		assert_string_equal(name_at(&f, 0x2008), "the_one");
		symbol_table_compact(&f.t);
	}
	assert_int_equal(f.t.n, 6);
	end(&f);

	begin(&f);
	f.t.newest = true;
	add(&f, "old", 0x1000, 0x20, 0);
	add(&f, "new", 0x1010, 0x20, 0);
	add(&f, "old", 0x1000, 0x20, 0);	/* added again */
	assert_int_equal(symbol_table_finish(&f.t), 0);
	assert_string_equal(name_at(&f, 0x1018), "new");
	end(&f);
}

/* Compacting drops unused strings and changes no result, for modules and ids assigned before too. */
static void table_compacts(void **state)
{
	static const char *const lines = "ffffffff81000000 T _text\n"
		"ffffffff81000010 T start_kernel\nffffffff81000020 a absolute\nffffffffc0000000 t mod_one\t[ext4]\n"
		"ffffffffc0000100 t mod_two\t[ext4]\nffffffffc0001000 T other\t[btrfs]\n";
	struct buf text = { 0 };
	struct fixture f;
	size_t before;

	begin(&f);
	buf_puts(&f.t.strings, "never used, neither here");
	buf_putc(&f.t.strings, '\0');
	for (unsigned i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		add(&f, name, 0x1000 + i * 16, 16, 0);
		add(&f, name, 0x1000 + i * 16, 16, 0);		/* its duplicate */
	}
	assert_int_equal(symbol_table_finish(&f.t), 0);
	assert_string_equal(name_at(&f, 0x1014), "f1");
	before = f.t.strings.n;
	symbol_table_compact(&f.t);
	assert_true(f.t.strings.n < before / 2 + 100 && f.t.cap == 100);
	before = f.t.strings.n;
	symbol_table_compact(&f.t);
	assert_int_equal(f.t.strings.n, before);
	for (unsigned i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		assert_string_equal(name_at(&f, 0x1008 + i * 16), name);
	}
	end(&f);

	begin(&f);
	buf_puts(&text, lines);
	assert_int_equal(kallsyms_parse(&f.t, &text), 0);
	symbol_table_compact(&f.t);
	assert_true(f.t.strings.n < strlen(lines) / 2);
	assert_string_equal(name_at(&f, 0xffffffff81000018), "start_kernel");
	assert_string_equal(name_at(&f, 0xffffffffc0000104), "mod_two");
	assert_string_equal(kallsyms_module(&f.t, symbol_table_find(&f.t, 0xffffffffc0000104)), "[ext4]");
	assert_string_equal(kallsyms_module(&f.t, symbol_table_find(&f.t, 0xffffffffc0001000)), "[btrfs]");
	end(&f);
	begin(&f);
	symbol_table_compact(&f.t);		/* an empty table */
	end(&f);
}

/* In tables of random nested symbols, aliases and gaps, all addresses of a span have the symbol of the address it is around. */
static void table_spans(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct fixture f;

		begin(&f);
		f.t.newest = round % 4 == 3;
		for (unsigned i = 0; i < 1 + round % 12; i++) {
			char name[16];

			snprintf(name, sizeof(name), "f%u", i);
			add(&f, name, 100 + (unsigned)rand_r(&seed) % 100, (unsigned)rand_r(&seed) % 40,
			    rand_r(&seed) % 2 ? SYMBOL_WEAK : 0);
		}
		assert_int_equal(symbol_table_finish(&f.t), 0);
		for (uint64_t at = 80; at < 260; at++) {
			struct span span = { at, 300 - at };
			char wanted[16];

			snprintf(wanted, sizeof(wanted), "%s", name_at(&f, at));
			symbol_table_span(&f.t, at, &span);
			for (uint64_t other = at - span.before; other <= at + span.after; other++)
				assert_string_equal(name_at(&f, other), wanted);
		}
		end(&f);
	}
}

/* The span of a symbol without others in it is all of it. */
static void table_span_of_one(void **state)
{
	struct span span = { 1000, 1000 }, gap = { 1000, 1000 };
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, "a", 1000, 50, 0);
	add(&f, "b", 1100, 50, 0);
	assert_int_equal(symbol_table_finish(&f.t), 0);
	symbol_table_span(&f.t, 1010, &span);
	assert_int_equal(span.before, 10);
	assert_int_equal(span.after, 39);
	symbol_table_span(&f.t, 1060, &gap);
	assert_int_equal(gap.before, 10);
	assert_int_equal(gap.after, 39);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_spans),    cmocka_unit_test(table_span_of_one),
		cmocka_unit_test(table_aliases),  cmocka_unit_test(table_sizes),
		cmocka_unit_test(table_nesting),  cmocka_unit_test(table_many),
		cmocka_unit_test(table_uneven),   cmocka_unit_test(table_compacts),
		cmocka_unit_test(table_twins),    cmocka_unit_test(perfmap_lines),
		cmocka_unit_test(kallsyms_lines),
		cmocka_unit_test(kallsyms_hidden), cmocka_unit_test(demangle_languages),
		cmocka_unit_test(demangle_bounded), cmocka_unit_test(perfmap_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
