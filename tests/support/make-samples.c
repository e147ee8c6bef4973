/*
 * Writes a small recording whose samples have the fields that need special hardware, a BPF program
 * or another clock, so that its text can be compared everywhere.
 *
 *	make-samples KIND OUT [OBJECT]
 *
 * OBJECT, an ELF file, is mapped at 0x400000 for those kinds whose samples have addresses in it.
 *
 * The samples of the kinds "blocks" and "counters" are read from stdin, a line each, all numbers in hexadecimal:
 *
 *	IP FROM/TO/FLAGS/COUNTERS FROM/TO/FLAGS/COUNTERS ...
 *
 * with the last branch first.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include <tacho/perfdata.h>

#include "record/perf_abi.h"

enum { ID = 7, PID = 1234, N_SAMPLES = 12 };
#define START_NS 5000000000u
#define BASE 0x400000u

struct bytes {
	uint8_t at[4096];
	size_t n;
};

static void put(struct bytes *b, const void *what, size_t n)
{
	memcpy(b->at + b->n, what, n);
	b->n += n;
}

static void put8(struct bytes *b, uint64_t v) { put(b, &v, 8); }
static void put4(struct bytes *b, uint32_t v) { put(b, &v, 4); }
static void put2(struct bytes *b, uint16_t v) { put(b, &v, 2); }

static void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	b->n = 0;
	put4(b, type);
	put2(b, misc);
	put2(b, 0);
}

static void end(struct bytes *b, struct tacho_perfdata_writer *w)
{
	uint16_t size;

	while (b->n % 8)
		b->at[b->n++] = 0;
	size = (uint16_t)b->n;
	memcpy(b->at + 6, &size, 2);
	if (tacho_writer_records(w, b->at, b->n, NULL) < 0)
		exit(1);
}

/* Values of data_src that have every bit of every part once, and some that are seen in the wild. */
static uint64_t data_src(unsigned i)
{
	static const uint64_t wild[] = {
		0x68100142, 0x68100242, 0x1e05080021, 0x26668142fe, 0x5080144, 0, 0x29080184, 0xf6000a844e23141,
	};

	return i % 2 ? wild[i / 2 % (sizeof(wild) / sizeof(wild[0]))] : 1ull << (i * 5 % 46) | 1ull << (i * 7 % 46);
}

static void put_branches(struct bytes *b, unsigned i)
{
	put8(b, 3);
	for (unsigned k = 0; k < 3; k++) {
		put8(b, BASE + 0x1000 + 0x100 * i + 0x20 * k);
		put8(b, k == 2 ? 0x7f0012345678u : BASE + 0x1200 + 8 * k);
		put8(b, 1u << (k + i) % 4 | (uint64_t)(10 * k) << 4 | (uint64_t)((i + k) % 16) << 20);
	}
}

static void put_regs(struct bytes *b, uint64_t mask, unsigned i)
{
	put8(b, i == 3 ? 0 : 2);
	for (unsigned bit = 0; i != 3 && bit < 64; bit++)
		if (mask >> bit & 1)
			put8(b, (uint64_t)bit << 32 | i);
}

static void put_raw(struct bytes *b, unsigned i)
{
	static const char *const texts[] = { "Raise a BPF event!", "short", "\x01\x02 \x7f twelve345678" };
	const char *text = texts[i % 3];
	uint32_t n = (uint32_t)strlen(text) + 1, padded = (n + 4 + 7) / 8 * 8 - 4;

	put4(b, padded);
	put(b, text, n);
	for (; n < padded; n++)
		b->at[b->n++] = 0;
}

/* A sample of the kinds "blocks" and "counters". False: the line has no address. */
static bool branch_sample(struct bytes *b, const struct perf_event_attr *a, unsigned i, char *line)
{
	uint64_t ip, counters[32], branch[32][3];
	unsigned n = 0;
	int used;

	if (sscanf(line, "%" SCNx64 "%n", &ip, &used) != 1)
		return false;
	for (line += used; n < 32; line += used, n++)
		if (sscanf(line, " %" SCNx64 "/%" SCNx64 "/%" SCNx64 "/%" SCNx64 "%n", &branch[n][0], &branch[n][1],
			   &branch[n][2], &counters[n], &used) != 4)
			break;
	begin(b, TACHO_RECORD_SAMPLE, 2);
	put8(b, ID);
	put8(b, ip);
	put4(b, PID);
	put4(b, PID);
	put8(b, START_NS + 1000777u * i);
	put8(b, 0);			/* CPU */
	put8(b, 100 + i);		/* PERIOD */
	put8(b, n);
	put(b, branch, n * sizeof(branch[0]));
	if (a->branch_sample_type & PERF_BRANCH_COUNTERS)
		put(b, counters, n * sizeof(counters[0]));
	return true;
}

/* In the order of the kernel's sample. */
static void sample(struct bytes *b, const struct perf_event_attr *a, unsigned i,
		   struct tacho_perfdata_writer *w)
{
	uint64_t type = a->sample_type;

	begin(b, TACHO_RECORD_SAMPLE, 2);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put8(b, ID);
	put8(b, BASE + 0x1130 + 4 * i);		/* IP */
	put4(b, PID);
	put4(b, i % 2 && a->config == PERF_COUNT_SW_CONTEXT_SWITCHES ? UINT32_MAX : PID + i % 2);
	put8(b, START_NS + 1000777u * i);	/* TIME */
	if (type & PERF_SAMPLE_ADDR)
		put8(b, i % 3 ? BASE + 0x1140 + i : 0x7ffc00000000 + i);
	if (type & PERF_SAMPLE_CPU)
		put8(b, i % 2);
	if (type & PERF_SAMPLE_PERIOD)
		put8(b, 100 + i);
	if (type & PERF_SAMPLE_RAW)
		put_raw(b, i);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_branches(b, i);
	if (type & PERF_SAMPLE_REGS_USER)
		put_regs(b, a->sample_regs_user, i);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put8(b, (40 + i) | (uint64_t)(7 + i) << 32 | (uint64_t)i << 48);
	if (type & PERF_SAMPLE_DATA_SRC)
		put8(b, data_src(i));
	if (type & PERF_SAMPLE_REGS_INTR)
		put_regs(b, a->sample_regs_intr, i + 1);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put8(b, 0x1234000 + i);
	if (type & PERF_SAMPLE_CGROUP)
		put8(b, 21 + i % 3);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put8(b, i % 4 == 3 ? 0 : 4096u << 9 * (i % 3));
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put8(b, i % 2 ? 2u << 20 : 4096);
	end(b, w);
}

#define ALWAYS (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |       \
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define REGS 0xff0fffull	/* x86: all but the segments that 64 bit has not */

static const struct kind {
	const char *kind, *event;
	struct perf_event_attr attr;
} kinds[] = {
	{ "memory", "cpu/mem-loads,ldlat=30/P",
	  { .type = PERF_TYPE_RAW, .config = 0x1cd,
	    .sample_type = ALWAYS | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
			   PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE } },
	{ "weight", "mem-stores",
	  { .type = PERF_TYPE_RAW, .config = 0x2cd, .sample_type = ALWAYS | PERF_SAMPLE_WEIGHT } },
	{ "branches", "cycles",
	  { .type = PERF_TYPE_HARDWARE, .sample_type = ALWAYS | PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = 1u << 3 | 1u << 16 } },
	{ "blocks", "cycles",
	  { .type = PERF_TYPE_HARDWARE, .sample_type = ALWAYS | PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = 1u << 3 | 1u << 16 } },
	{ "counters", "cycles",
	  { .type = PERF_TYPE_HARDWARE, .sample_type = ALWAYS | PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = 1u << 3 | 1u << 16 | PERF_BRANCH_COUNTERS } },
	{ "registers", "cycles",
	  { .type = PERF_TYPE_HARDWARE, .sample_type = ALWAYS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR,
	    .sample_regs_user = REGS, .sample_regs_intr = 0x1ff } },
	{ "faults", "page-faults",
	  { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
	    .sample_type = ALWAYS | PERF_SAMPLE_ADDR } },
	{ "dead", "context-switches",	/* every other thread's last */
	  { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES, .sample_type = ALWAYS } },
	{ "one", "cpu-clock", { .type = PERF_TYPE_SOFTWARE, .sample_type = ALWAYS } },	/* sample */
	{ "bpf", "bpf-output",
	  { .type = PERF_TYPE_SOFTWARE, .config = 10, .sample_type = ALWAYS | PERF_SAMPLE_RAW } },
	{ "cgroups", "cpu-clock",
	  { .type = PERF_TYPE_SOFTWARE, .sample_type = ALWAYS | PERF_SAMPLE_CGROUP } },
	{ "clock", "cpu-clock",
	  { .type = PERF_TYPE_SOFTWARE, .flags = 1ull << 25, .clockid = 1, .sample_type = ALWAYS } },
};

static void trailer(struct bytes *b)
{
	put4(b, PID);
	put4(b, PID);
	put8(b, 0);			/* before all samples */
	put8(b, 0);			/* CPU */
	put8(b, ID);
}

static void put_name(struct bytes *b, const char *name)
{
	put(b, name, strlen(name) + 1);
	while (b->n % 8)
		b->at[b->n++] = 0;
}

static void side_records(struct bytes *b, const char *object, struct tacho_perfdata_writer *w)
{
	begin(b, TACHO_RECORD_COMM, 0);
	put4(b, PID);
	put4(b, PID);
	put_name(b, "made");
	trailer(b);
	end(b, w);
	begin(b, TACHO_RECORD_CGROUP, 0);
	put8(b, 21);
	put_name(b, "/made.slice");
	trailer(b);
	end(b, w);
	if (!object)
		return;
	begin(b, TACHO_RECORD_MMAP2, 2);
	put4(b, PID);
	put4(b, PID);
	put8(b, BASE);
	put8(b, 0x100000);
	put8(b, 0);
	put8(b, 0);			/* major, minor */
	put8(b, 0);			/* inode */
	put8(b, 0);
	put4(b, 5);			/* r-x */
	put4(b, 2);
	put_name(b, object);
	trailer(b);
	end(b, w);
}

/* The clock of the samples stood at 4 s when it was 2026-01-02 03:04:05.678901234 UTC. */
static void clock_data(struct tacho_perfdata_writer *w)
{
	struct bytes b = { .n = 0 };

	put4(&b, 1);
	put4(&b, 1);
	put8(&b, 1767323045678901234ull);
	put8(&b, 4000000000ull);
	if (tacho_writer_feature(w, TACHO_FEATURE_CLOCK_DATA, b.at, b.n) < 0)
		exit(1);
}

/* The second event of the group, whose counts the branches have too, and the width of these counts. */
static int counted_group(struct tacho_perfdata_writer *w, const struct perf_event_attr *leader)
{
	static const char caps[][24] = { "branch_counter_nr", "4", "branch_counter_width", "2" };
	struct perf_event_attr attr = *leader;
	struct bytes b = { .n = 0 };
	uint64_t id = ID + 1;

	attr.config = PERF_COUNT_HW_CACHE_MISSES;
	put4(&b, 2);
	for (unsigned i = 0; i < 4; i++) {
		put4(&b, sizeof(caps[i]));
		put(&b, caps[i], sizeof(caps[i]));
	}
	if (tacho_writer_event(w, "cache-misses", &attr, attr.size, &id, 1) < 0 || tacho_writer_group(w, "", 0, 2) < 0)
		return -1;
	return tacho_writer_feature(w, TACHO_FEATURE_CPU_PMU_CAPS, b.at, b.n);
}

static void read_samples(struct tacho_perfdata_writer *w, const struct perf_event_attr *attr)
{
	struct bytes b;
	char line[4096];

	for (unsigned i = 0; fgets(line, sizeof(line), stdin); i++)
		if (branch_sample(&b, attr, i, line))
			end(&b, w);
}

static int make(const struct kind *kind, const char *path, const char *object)
{
	struct perf_event_attr attr = kind->attr;
	struct tacho_perfdata_writer *w = NULL;
	struct tacho_writer_opts opts = { .size = sizeof(opts) };
	struct bytes b = { .n = 0 };
	bool counters = attr.branch_sample_type & PERF_BRANCH_COUNTERS, from_stdin = counters || !strcmp(kind->kind, "blocks");
	unsigned n = strcmp(kind->kind, "one") == 0 ? 1 : from_stdin ? 0 : N_SAMPLES;
	uint64_t id = ID;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666), err;

	attr.size = PERF_ATTR_SIZE_VER7;
	attr.sample_period = 1000;
	attr.flags |= 1ull << 18;	/* sample_id_all */
	err = fd < 0 ? -1 : tacho_writer_open(&w, fd, &opts, NULL);
	if (err == 0)
		err = tacho_writer_event(w, kind->event, &attr, attr.size, &id, 1);
	if (err == 0)
		err = tacho_writer_host(w, NULL, NULL);
	if (err == 0)			/* the registers are x86's, wherever this runs */
		err = tacho_writer_string(w, TACHO_FEATURE_ARCH, "x86_64");
	if (err == 0 && counters)
		err = counted_group(w, &attr);
	if (err == 0)
		err = tacho_writer_begin(w, NULL);
	if (err < 0)
		return 1;
	if (attr.clockid)
		clock_data(w);
	side_records(&b, object, w);
	for (unsigned i = 0; i < n; i++)
		sample(&b, &attr, i, w);
	if (from_stdin)
		read_samples(w, &attr);
	if (tacho_writer_sample_time(w, START_NS, START_NS + 1000777u * (from_stdin ? N_SAMPLES : n - 1)) < 0 ||
	    tacho_writer_finish(w, NULL) < 0)
		return 1;
	tacho_writer_free(w);
	return close(fd) < 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc >= 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].kind) == 0)
			return make(&kinds[i], argv[2], argv[3]);
	fprintf(stderr, "usage: make-samples KIND OUT [OBJECT]\n");
	return 2;
}
