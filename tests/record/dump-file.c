/*
 * dump-file FILE: prints every record of a seekable perf.data file in this machine's byte order as a line of
 * JSON. It finds the event of each record by its id, and does nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/record.h>

enum { MOST_BYTES = 64 << 20, MOST_IDS = 4096 };

static struct {
	uint64_t id;
	struct tacho_layout lay;
} by_id[MOST_IDS];
static size_t n_ids;
static struct tacho_layout first;

static uint64_t word_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* An entry of the attr section: an attr, then offset and size of its ids. */
static int load_layouts(const uint8_t *file, size_t n)
{
	uint64_t each = word_at(file + 16), at = word_at(file + 24), end = at + word_at(file + 32);

	if (each < 80 || end > n || end < at + each)
		return -1;
	for (const bool only_one = each == end - at; at + each <= end; at += each) {
		struct tacho_layout lay;
		uint64_t ids = word_at(file + at + each - 16), size = word_at(file + at + each - 8);

		if (tacho_layout_init(&lay, file + at, each - 16) < 0 || ids + size > n)
			return -1;
		lay.machine = 62;
		if (only_one || at == word_at(file + 24))
			first = lay;
		for (uint64_t i = 0; i + 8 <= size && n_ids < MOST_IDS; i += 8, n_ids++) {
			by_id[n_ids].id = word_at(file + ids + i);
			by_id[n_ids].lay = lay;
		}
	}
	return 0;
}

static const struct tacho_layout *layout_of(const struct tacho_record *rec)
{
	uint64_t id = tacho_record_id(rec, &first);

	for (size_t i = 0; i < n_ids; i++)
		if (by_id[i].id == id)
			return &by_id[i].lay;
	return &first;
}

static int dump_data(const uint8_t *file, size_t n)
{
	uint64_t at = word_at(file + 40), size = word_at(file + 48);
	struct tacho_record_iter it;
	struct tacho_record rec;
	int more;

	if (at > n || size > n - at)
		return -1;
	it = (struct tacho_record_iter){ file + at, file + at + size, at, false };
	while ((more = tacho_record_next(&it, &rec)) > 0) {
		char *text = tacho_record_json(&rec, layout_of(&rec));

		if (!text)
			return -1;
		puts(text);
		free(text);
	}
	return more;
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	uint8_t *file = malloc(MOST_BYTES);
	size_t n = f && file ? fread(file, 1, MOST_BYTES, f) : 0;
	int err = -1;

	if (n > 104 && memcmp(file, "PERFILE2", 8) == 0 && load_layouts(file, n) == 0)
		err = dump_data(file, n);
	if (f)
		fclose(f);
	free(file);
	if (err)
		fprintf(stderr, "dump-file: cannot read %s\n", argc == 2 ? argv[1] : "FILE");
	return err ? 1 : 0;
}
