/*
 * decode FILE: what does decoding cost? Lays the records of a perf.data file into memory again and
 * again until there are 128 MB of them, then prints nanoseconds per record of two loops over them:
 * one that decodes each record and reads every word of its views, and one that does nothing but
 * read every word.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tacho/record.h>

enum { ROUNDS = 7, MOST_BYTES = 128 << 20 };

struct input {
	struct tacho_layout lay;	/* of the first event */
	uint8_t *bytes;
	size_t n, n_records;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t sum_words(struct tacho_words w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < w.n; i++)
		sum += w.v[i];
	return sum;
}

static uint64_t loop_decode(const struct input *in)
{
	static struct tacho_scratch scratch;
	struct tacho_record_iter it = { in->bytes, in->bytes + in->n, 0, false };
	struct tacho_record rec;
	uint64_t sum = 0;

	while (tacho_record_next(&it, &rec) > 0) {
		struct tacho_sample s;
		struct tacho_sideband o;

		if (rec.type == TACHO_RECORD_SAMPLE) {
			if (tacho_sample_decode(&s, &rec, &in->lay, &scratch) < 0)
				abort();
			sum += s.ip + s.time + s.tid + s.cpu + s.period + sum_words(s.chain);
		} else if (tacho_sideband_decode(&o, &rec, &in->lay, &scratch) == 0) {
			sum += o.id.time;
		}
	}
	return sum;
}

static uint64_t loop_bare(const struct input *in)
{
	uint64_t sum = 0;

	for (const uint8_t *at = in->bytes; at < in->bytes + in->n;) {
		uint16_t size;

		memcpy(&size, at + 6, sizeof(size));
		for (size_t i = 0; i + 8 <= size; i += 8)
			sum += word_at(at + i);
		at += size;
	}
	return sum;
}

/* Header: magic, size, attr size, then offset and size of attrs and of data. */
static int input_load(struct input *in, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t attr_size, attrs, data, n;
	struct tacho_record_iter it;
	struct tacho_record rec;
	struct stat st;
	uint8_t *file;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < 104)
		return -1;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || memcmp(file, "PERFILE2", 8) != 0)
		return -1;
	attr_size = word_at(file + 16), attrs = word_at(file + 24);
	data = word_at(file + 40), n = word_at(file + 48);
	if (attr_size < 80 || attrs + attr_size > (uint64_t)st.st_size || !n ||
	    data + n > (uint64_t)st.st_size || n > MOST_BYTES)
		return -1;
	if (tacho_layout_init(&in->lay, file + attrs, attr_size - 16) < 0)
		return -1;
	in->bytes = malloc(MOST_BYTES);
	if (!in->bytes)
		return -1;
	for (; in->n + n <= MOST_BYTES; in->n += n)
		memcpy(in->bytes + in->n, file + data, n);
	it = (struct tacho_record_iter){ in->bytes, in->bytes + in->n, 0, false };
	while (tacho_record_next(&it, &rec) > 0)
		in->n_records++;
	return 0;
}

static double best(uint64_t (*loop)(const struct input *), const struct input *in)
{
	static volatile uint64_t sink;
	double least = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double start = now_ns(), took;

		sink = loop(in);
		took = now_ns() - start;
		if (i == 0 || took < least)
			least = took;
	}
	(void)sink;
	return least / in->n_records;
}

int main(int argc, char **argv)
{
	struct input in = { 0 };

	if (argc != 2 || input_load(&in, argv[1]) < 0) {
		fprintf(stderr, "usage: decode FILE (a seekable perf.data with at most 128 MB)\n");
		return 1;
	}
	printf("%.2f %.2f\n", best(loop_decode, &in), best(loop_bare, &in));
	free(in.bytes);
	return 0;
}
