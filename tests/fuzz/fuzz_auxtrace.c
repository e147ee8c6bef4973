/*
 * Any bytes as hardware traces. The first byte selects what the rest is: 0 the trace of Intel PT, 1 of Arm SPE, in a recording with a
 * mapped program; 2 the records of a recording with Intel PT, 3 with Arm SPE; 4 and 5 packets to list; 6 letters of --itrace. Decoding
 * must end, and what it writes must be a recording that can be read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"

#include <tacho/auxtrace.h>
#include <tacho/perfdata.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define BASE 0x400000u

/* A loop with a call, an indirect jump, a system call and PTWRITE. */
static const uint8_t code[] = {
	0xb9, 5, 0, 0, 0,		/* 1000 mov $5,%ecx */
	0xe8, 9, 0, 0, 0,		/* 1005 call 1013 */
	0xff, 0xc9,			/* 100a dec %ecx */
	0x75, 0xf7,			/* 100c jne 1005 */
	0xff, 0xe0,			/* 100e jmp *%rax */
	0x0f, 0x05, 0xf4,		/* 1010 syscall, hlt */
	0xf3, 0x0f, 0xae, 0xe0,		/* 1013 ptwrite %eax */
	0xc3,				/* 1017 ret */
	0xeb, 0xfe,			/* 1018 jmp 1018 */
};

static void put(struct buf *b, const void *bytes, size_t n)
{
	buf_put(b, bytes, n);
}

#define PUT32(b, ...) put(b, (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }))
#define PUT64(b, ...) put(b, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }))

static int memory_file(const struct buf *b)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, b->bytes, b->n) != (ssize_t)b->n)
		abort();
	return fd;
}

static int program_file(void)
{
	struct buf b = { 0 };
	int fd;

	put(&b, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\76\0\1\0\0\0", 24);
	PUT64(&b, BASE + 0x1000, 64, 0);
	put(&b, "\0\0\0\0\100\0\70\0\1\0\100\0\0\0\0\0", 16);
	PUT32(&b, 1, 5);
	PUT64(&b, 0, BASE, BASE, 0x1000 + sizeof(code), 0x1000 + sizeof(code), 0x1000);
	buf_pad(&b, 0, 0x1000 - b.n);
	put(&b, code, sizeof(code));
	fd = memory_file(&b);
	buf_done(&b);
	return fd;
}

static void record(struct buf *b, uint32_t type, uint16_t misc, const struct buf *body)
{
	uint16_t sizes[2] = { misc, (uint16_t)(8 + body->n) };

	PUT32(b, type);
	put(b, sizes, sizeof(sizes));
	put(b, body->bytes, body->n);
}

/* TID, TIME, CPU, IDENTIFIER */
static void trailer(struct buf *b, uint64_t time)
{
	PUT32(b, 1, 1);
	PUT64(b, time, 0, 7);
}

static void put_info(struct buf *data, bool spe)
{
	struct buf body = { 0 };

	PUT32(&body, spe ? 4 : 1, 0);
	if (spe)
		PUT64(&body, 8, 1);
	else
		PUT64(&body, 8, 10, 512, 1000, 1, 0x400, 0x800, 2, 0, 1, 0x200, 0x3c000, 2, 3, 2, 30, 0, 0);
	record(data, 70, 0, &body);
	buf_done(&body);
}

static void put_map(struct buf *data, int program)
{
	struct buf body = { 0 };
	char path[40] = { 0 };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	PUT32(&body, 1, 1);
	PUT64(&body, BASE, 0x2000, 0, 0, 0, 0);
	PUT32(&body, 5, 2);
	put(&body, path, sizeof(path));
	trailer(&body, 1100);
	record(data, 10, 2, &body);
	buf_clear(&body);
	trailer(&body, 1200);
	record(data, 14, 2, &body);
	buf_done(&body);
}

static void put_trace(struct buf *data, const uint8_t *bytes, size_t n)
{
	struct buf body = { 0 };

	PUT64(&body, (n + 7) & ~7ULL, 0, 1);
	PUT32(&body, 0, UINT32_MAX, 0, 0);
	record(data, 71, 0, &body);
	put(data, bytes, n);
	buf_pad(data, 0, -n & 7);
	buf_done(&body);
}

static int recording(const struct buf *data, bool spe)
{
	const uint64_t attrs = 104 + 8, at = attrs + 128 + 16;
	struct buf b = { 0 };
	int fd;

	PUT64(&b, 0x32454c4946524550ULL, 104, 128 + 16, attrs, 128 + 16, at, data->n, 0, 0, 0, 0, 0, 0);
	PUT64(&b, 7);
	PUT32(&b, 8, 128);
	PUT64(&b, spe ? 0 : 0x2400, 1, 0x10087, 4, 1ULL << 18 | 1ULL << 8 | 1ULL << 23 | 1ULL << 26);
	buf_pad(&b, 0, attrs + 128 - b.n);
	PUT64(&b, 104, 8);
	put(&b, data->bytes, data->n);
	if (buf_failed(&b))
		abort();
	fd = memory_file(&b);
	buf_done(&b);
	return fd;
}

/* Every record of the result must be readable. */
static void read_result(int fd)
{
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	struct tacho_insn_note note;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tacho_perfdata_open(&pd, path, NULL, NULL) < 0)
		return;
	while (tacho_perfdata_next(pd, &rec, NULL) > 0)
		tacho_insn_note_get(&rec, &note);
	tacho_perfdata_close(pd);
}

static void expand(const struct buf *data, bool spe)
{
	int in = recording(data, spe), out = memfd_create("result", MFD_CLOEXEC);
	struct tacho_auxtrace_opts opts = { .size = sizeof(opts), .force = true };
	struct tacho_itrace want;
	char path[40];

	if (out < 0 || tacho_itrace_parse(&want, "i2ibexwpglfmtaM", false, NULL) < 0)
		abort();
	opts.itrace = &want;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", in);
	if (tacho_auxtrace_expand(path, out, &opts, NULL, NULL) == 0)
		read_result(out);
	close(in);
	close(out);
}

static int ignore_line(void *arg, const char *line, size_t n)
{
	(void)arg;
	if (memchr(line, 0, n))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int program = -1;
	struct buf data = { 0 };

	if (n < 2 || n > 60000)
		return 0;
	if (program < 0)
		program = program_file();
	if (bytes[0] <= 1) {
		put_info(&data, bytes[0]);
		put_map(&data, program);
		put_trace(&data, bytes + 1, n - 1);
		expand(&data, bytes[0]);
	} else if (bytes[0] <= 3) {
		put_info(&data, bytes[0] == 3);
		put_map(&data, program);
		put(&data, bytes + 1, n - 1);
		expand(&data, bytes[0] == 3);
	} else if (bytes[0] <= 5) {
		tacho_auxtrace_packets(bytes[0] == 4 ? 1 : 4, bytes + 1, n - 1, ignore_line, NULL);
	} else {
		char text[128] = { 0 };
		struct tacho_itrace want;

		memcpy(text, bytes + 1, n - 1 < sizeof(text) ? n - 1 : sizeof(text) - 1);
		tacho_itrace_parse(&want, text, false, NULL);
	}
	buf_done(&data);
	return 0;
}
