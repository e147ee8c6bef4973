/*
 * Replays a corpus without a fuzzer: replay DIR|FILE... calls the target's entry point with each
 * file's content and with each of its prefixes, since a cut-off input is what parsers trip over.
 * Each call gets the bytes in a block of exactly their size, so that the sanitizers see a read
 * past the end. The empty input is always tried.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_PREFIX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_inputs;

static int replay_bytes(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return -ENOMEM;
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	n_inputs++;
	return 0;
}

static int replay_file(const char *path)
{
	static uint8_t bytes[MOST_BYTES];
	FILE *f = fopen(path, "rb");
	size_t n;
	int err = 0;

	if (!f)
		return -errno;
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	for (size_t i = 1; !err && i < n && i <= MOST_PREFIX; i++)
		err = replay_bytes(bytes, i);
	return err ? err : replay_bytes(bytes, n);
}

static int replay_path(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return errno == ENOTDIR ? replay_file(path) : -errno;
	while (!err && (entry = readdir(dir))) {
		char inner[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		err = replay_file(inner);
	}
	closedir(dir);
	return err;
}

int main(int argc, char **argv)
{
	int err = replay_bytes((const uint8_t *)"", 0);

	for (int i = 1; !err && i < argc; i++) {
		err = replay_path(argv[i]);
		if (err)
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-err));
	}
	printf("%u inputs\n", n_inputs);
	return err ? 1 : 0;
}
