/*
 * Records as text and JSON, names of types and registers. For every record, both formats must
 * have the same fields in the same order.
 */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/buf.h"
#include "record/perf_abi.h"
#include "wire.h"

static struct wire wire;

static struct tacho_layout trailer_layout(void)
{
	return (struct tacho_layout){ .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				      PERF_SAMPLE_IDENTIFIER, .sample_id_all = true, .read_format = 7 };
}

static void put_trailer(void)
{
	put4(&wire, 5), put4(&wire, 6), put8(&wire, 777), put8(&wire, 42);
}

/* Formats the record in `wire` with `show` and compares. */
static void shows(char *(*show)(const struct tacho_record *, const struct tacho_layout *),
		  const struct tacho_layout *lay, const char *want)
{
	struct copy c = wire_copy(&wire, wire.n, 0);
	char *text = show(&c.rec, lay);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
	free(c.block);
}

static void comm_both_ways(void **state)
{
	struct tacho_layout lay = trailer_layout();

	wire_begin(&wire, true, TACHO_RECORD_COMM, 0x2000);
	put4(&wire, 1), put4(&wire, 2), put_name(&wire, "a\n\"b\"");
	put_trailer();
	shows(tacho_record_text, &lay,
	      "record: PERF_RECORD_COMM\ntype: 3\noffset: 0x1000\nsize: 48\nmisc: 0x2000\n"
	      "cpumode: unknown\nflags: exec\npid: 1\ntid: 2\ncomm: a\\x0a\"b\"\n"
	      "trailer:\n  pid: 5\n  tid: 6\n  time: 777\n  id: 42\n");
	shows(tacho_record_json, &lay,
	      "{\"schema\": \"tacho.record/1\", \"record\": \"PERF_RECORD_COMM\", \"type\": 3, "
	      "\"offset\": \"0x1000\", \"size\": 48, \"misc\": \"0x2000\", \"cpumode\": \"unknown\", "
	      "\"flags\": [\"exec\"], \"pid\": 1, \"tid\": 2, \"comm\": \"a\\n\\\"b\\\"\", "
	      "\"trailer\": {\"pid\": 5, \"tid\": 6, \"time\": 777, \"id\": 42}}");
}

static void packed_words(void **state)
{
	struct tacho_layout lay = {
		.sample_type = PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER,
		.regs_user = 1ULL << 46 | 3, .machine = 183, .period = 9,
	};

	wire_begin(&wire, false, TACHO_RECORD_SAMPLE, 0x4002);
	put8(&wire, 6), put8(&wire, (uint64_t)-128), put8(&wire, 0xffff), put8(&wire, (uint64_t)-640);
	put8(&wire, 0x99), put8(&wire, (uint64_t)-4095), put8(&wire, (uint64_t)-4096);
	put8(&wire, 2);
	put8(&wire, 0x10), put8(&wire, 0x20);		/* mispredicted, 7 cycles, call, from user */
	put8(&wire, 1 | 7 << 4 | 4 << 20 | 3 << 24 | 1ULL << 30);
	put8(&wire, 0x30), put8(&wire, 0x40), put8(&wire, 15 << 20 | 1 << 26);
	put8(&wire, 2), put8(&wire, 1), put8(&wire, 2), put8(&wire, 3);
	/* load, hit L1; no snoop; locked; tlb hit; L1 by number; remote; peer; address; node; mem1 */
	put8(&wire, 2 | (2 | 8) << 5 | 2 << 19 | 2 << 24 | 2ULL << 26 | 1ULL << 33 | 1ULL << 37 |
	     2ULL << 38 | 4ULL << 40 | 2ULL << 43 | 9ULL << 46);
	put8(&wire, 0x12 | 5ULL << 32);
	shows(tacho_record_text, &lay,
	      "record: PERF_RECORD_SAMPLE\ntype: 9\noffset: 0x1000\nsize: 168\nmisc: 0x4002\n"
	      "cpumode: user\nflags: exact_ip\nperiod: 9\n"
	      "callchain:\n"
	      "  - context: kernel, marker: 0xffffffffffffff80\n"
	      "  - 0xffff\n"
	      "  - context: user_deferred, marker: 0xfffffffffffffd80, cookie: 0x99\n"
	      "  - context: unknown, marker: 0xfffffffffffff001\n"
	      "  - 0xfffffffffffff000\n"
	      "branches:\n"
	      "  - from: 0x10, to: 0x20, flags: mispred, cycles: 7, type: call, spec: correct_path, "
	      "priv: user\n"
	      "  - from: 0x30, to: 0x40, flags: -, cycles: 0, type: fault_data\n"
	      "regs_user:\n  abi: 64\n  mask: 0x400000000003\n  values:\n"
	      "    - bit: 0, name: x0, value: 0x1\n    - bit: 1, name: x1, value: 0x2\n"
	      "    - bit: 46, name: vg, value: 0x3\n"
	      "data_src:\n  value: 0x254a20a100142\n  op: load\n  lvl: hit|L1\n  snoop: none\n"
	      "  lock: locked\n  tlb: hit\n  lvl_num: L1\n  remote: remote\n  snoopx: peer\n"
	      "  blk: address\n  hops: node\n  region: mem1\n"
	      "transaction:\n  value: 0x500000012\n  flags: transaction|retry\n  abort_code: 0x5\n");
}

static void undecodable_records(void **state)
{
	struct tacho_layout lay = { .sample_type = PERF_SAMPLE_CALLCHAIN };

	wire_begin(&wire, false, TACHO_RECORD_SAMPLE, 1);
	put8(&wire, 2), put8(&wire, 3);
	shows(tacho_record_text, &lay,
	      "record: PERF_RECORD_SAMPLE\ntype: 9\noffset: 0x1000\nsize: 24\nmisc: 0x1\n"
	      "cpumode: kernel\nflags: -\n"
	      "error: the record is too short for the fields of its layout\n"
	      "bytes: 02000000000000000300000000000000\n");
	shows(tacho_record_text, NULL,
	      "record: PERF_RECORD_SAMPLE\ntype: 9\noffset: 0x1000\nsize: 24\nmisc: 0x1\n"
	      "cpumode: kernel\nflags: -\nbytes: 02000000000000000300000000000000\n");
	wire_begin(&wire, false, 68, 0);
	shows(tacho_record_json, &lay,
	      "{\"schema\": \"tacho.record/1\", \"record\": \"unknown\", \"type\": 68, "
	      "\"offset\": \"0x1000\", \"size\": 8, \"misc\": \"0x0\"}");
}

/* All the keys of a dump, each followed by a blank. */
static void keys_of_json(struct buf *out, const char *s)
{
	while ((s = strstr(s, "\": "))) {
		const char *start = s;

		while (start[-1] != '"')
			start--;
		buf_put(out, start, (size_t)(s - start));
		buf_putc(out, ' ');
		s += 3;
	}
}

static void keys_of_text(struct buf *out, const char *text)
{
	for (const char *s = text; (s = strchr(s, ':')); s++) {
		const char *start = s;

		while (start > text && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
			start--;
		buf_put(out, start, (size_t)(s - start));
		buf_putc(out, ' ');
	}
}

/* Random bytes as a record of any type: both formats have the same fields. */
static void text_and_json_agree(void **state)
{
	uint64_t r = 88172645463325252ULL;
	unsigned n_decoded = 0;

	for (unsigned i = 0; i < 4000; i++) {
		struct tacho_layout lay = trailer_layout();
		uint32_t type = i % 24;
		struct buf text = { 0 }, json = { 0 };
		char *as_text, *as_json;
		struct copy c;

		lay.sample_type |= next_random(&r) & ((1ULL << 25) - 1);
		lay.regs_user = lay.regs_intr = 5;
		lay.branch_type = 1ULL << 19;
		wire_begin(&wire, false, type, (uint16_t)next_random(&r));
		for (unsigned n = 0; n < 80; n++)		/* small numbers, so that counts fit */
			put8(&wire, next_random(&r) % 3);
		c = wire_copy(&wire, wire.n, 0);
		as_text = tacho_record_text(&c.rec, &lay);
		as_json = tacho_record_json(&c.rec, &lay);
		buf_puts(&text, "schema ");
		keys_of_text(&text, as_text);
		keys_of_json(&json, as_json);
		assert_string_equal(text.bytes, json.bytes);
		n_decoded += !strstr(as_text, "bytes:");
		free(as_text), free(as_json), free(c.block);
		buf_done(&text), buf_done(&json);
	}
	assert_true(n_decoded > 2000);
}

static void type_names(void **state)
{
	for (uint32_t type = 1; type <= 22; type++)
		assert_memory_equal(tacho_record_name(type), "PERF_RECORD_", 12);
	assert_string_equal(tacho_record_name(1), "PERF_RECORD_MMAP");
	assert_string_equal(tacho_record_name(10), "PERF_RECORD_MMAP2");
	assert_string_equal(tacho_record_name(22), "PERF_RECORD_CALLCHAIN_DEFERRED");
	assert_null(tacho_record_name(0));
	assert_null(tacho_record_name(23));
	assert_null(tacho_record_name(UINT32_MAX));
}

static void register_names(void **state)
{
	static const struct {
		unsigned machine, bit;
		const char *name;
	} names[] = {
		{ 62, 0, "AX" }, { 62, 8, "IP" }, { 62, 23, "R15" }, { 62, 24, NULL }, { 62, 31, NULL },
		{ 62, 32, "XMM0" }, { 62, 63, "XMM15" }, { 3, 7, "SP" },
		{ 183, 29, "x29" }, { 183, 30, "lr" }, { 183, 32, "pc" }, { 183, 33, NULL },
		{ 183, 46, "vg" }, { 183, 47, NULL },
		{ 40, 11, "fp" }, { 40, 15, "pc" }, { 40, 16, NULL },
		{ 243, 0, "pc" }, { 243, 10, "a0" }, { 243, 31, "t6" }, { 243, 32, NULL },
		{ 21, 32, "nip" }, { 21, 44, "mmcra" }, { 20, 58, "siar" }, { 21, 59, NULL },
		{ 22, 15, "R15" }, { 22, 31, "FP15" }, { 22, 33, "PC" }, { 22, 34, NULL },
		{ 8, 0, "PC" }, { 8, 29, "$29" }, { 258, 3, "%r3" }, { 252, 2, "pc" }, { 252, 37, "dcsr" },
		{ 0, 0, NULL }, { 9999, 3, NULL }, { 62, 64, NULL }, { 62, UINT32_MAX, NULL },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name = tacho_reg_name(names[i].machine, names[i].bit);

		if (names[i].name)
			assert_string_equal(name, names[i].name);
		else
			assert_null(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comm_both_ways),
		cmocka_unit_test(packed_words),
		cmocka_unit_test(undecodable_records),
		cmocka_unit_test(text_and_json_agree),
		cmocka_unit_test(type_names),
		cmocka_unit_test(register_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
