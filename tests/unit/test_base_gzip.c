/*
 * gzip and protocol buffers: the output is decompressed and decoded again, gzip by another program.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/io.h"
#include "base/protobuf.h"

static void unpack(const struct buf *packed, struct buf *out)
{
	char path[] = "/tmp/test-gzip-XXXXXX", command[64];
	int fd = mkstemp(path);
	FILE *p;
	char piece[4096];
	size_t n;

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, packed->bytes, packed->n), 0);
	close(fd);
	snprintf(command, sizeof(command), "gzip -dc <%s", path);
	p = popen(command, "r");
	assert_non_null(p);
	while ((n = fread(piece, 1, sizeof(piece), p)) > 0)
		buf_put(out, piece, n);
	assert_int_equal(pclose(p), 0);
	unlink(path);
}

static void round_trip(const char *bytes, size_t n, size_t step)
{
	struct buf packed = { 0 }, back = { 0 };
	struct gzip z = { .out = &packed };

	for (size_t i = 0; i < n; i += step)
		gzip_put(&z, bytes + i, min_of(step, n - i));
	gzip_finish(&z);
	assert_false(buf_failed(&packed));
	unpack(&packed, &back);
	assert_int_equal(back.n, n);
	if (n)
		assert_memory_equal(back.bytes, bytes, n);
	buf_done(&packed);
	buf_done(&back);
}

static void all_kinds_of_bytes_come_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 3, 4, 5, 258, 259, 32767, 32768, 32769, 100000 };
	char *bytes = calloc(1, 100000);
	uint32_t seed = 1;

	assert_non_null(bytes);
	for (int kind = 0; kind < 4; kind++) {
		for (size_t i = 0; i < 100000; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = kind == 0 ? 0 : kind == 1 ? (char)(seed >> 24) :
				   kind == 2 ? (char)(i % 700) : "abcdefgh"[seed >> 29];
		}
		for (size_t i = 0; i < countof(sizes); i++)
			round_trip(bytes, sizes[i], kind == 1 ? 1000 : 50000);
	}
	free(bytes);
}

static void fields_are_as_the_wire_has_them(void **state)
{
	static const uint8_t wanted[] = { 0x08, 0x96, 0x01, 0x12, 0x02, 'h', 'i', 0x1a, 0x00, 0x20,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 };
	struct buf b = { 0 };

	pb_u64(&b, 1, 150);
	pb_u64(&b, 9, 0);
	pb_bytes(&b, 2, STR_LIT("hi"));
	pb_bytes(&b, 7, STR_LIT(""));
	pb_element(&b, 3, STR_LIT(""));
	pb_u64(&b, 4, UINT64_MAX);
	assert_int_equal(b.n, sizeof(wanted));
	assert_memory_equal(b.bytes, wanted, sizeof(wanted));
	buf_done(&b);
}

static void fields_are_read_back(void **state)
{
	struct pb_field f;
	struct buf b = { 0 };
	struct str rest;

	pb_u64(&b, 1, 150);
	pb_bytes(&b, 2, STR_LIT("hi"));
	pb_fixed64(&b, 3, 0x0102030405060708ull);
	buf_put(&b, "\x25\x01\x00\x00\x80", 5);		/* field 4, four bytes */
	pb_u64(&b, 1000, UINT64_MAX);
	rest = buf_view(&b);
	assert_true(pb_next(&rest, &f) == 1 && f.number == 1 && f.value == 150);
	assert_true(pb_next(&rest, &f) == 1 && f.number == 2 && str_is(f.bytes, "hi"));
	assert_true(pb_next(&rest, &f) == 1 && f.number == 3 && f.value == 0x0102030405060708ull);
	assert_true(pb_next(&rest, &f) == 1 && f.number == 4 && f.value == 0x80000001);
	assert_true(pb_next(&rest, &f) == 1 && f.number == 1000 && f.value == UINT64_MAX);
	assert_int_equal(pb_next(&rest, &f), 0);
	buf_done(&b);
}

/* Truncated messages and invalid keys. */
static void damaged_fields_are_refused(void **state)
{
	static const struct { const char *bytes; size_t n; } rows[] = {
		{ "\x08", 1 }, { "\x80", 1 }, { "\x08\x80", 2 }, { "\x12\x02h", 3 }, { "\x19\0\0\0\0\0\0\0", 8 },
		{ "\x25\0\0\0", 4 }, { "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
		{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 }, { "\x00\x01", 2 },
		{ "\x0b", 1 }, { "\x0c", 1 }, { "\x0e\x01", 2 },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		struct str rest = str_n(rows[i].bytes, rows[i].n);
		struct pb_field f;

		assert_int_equal(pb_next(&rest, &f), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_of_bytes_come_back),
		cmocka_unit_test(fields_are_as_the_wire_has_them),
		cmocka_unit_test(fields_are_read_back),
		cmocka_unit_test(damaged_fields_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
