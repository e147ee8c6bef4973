/*
 * Runs a fuzz target over files and directories of files, so that corpora are replayed with
 * any compiler and under the sanitizers. Linked with one target.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int replay_file(const char *path)
{
	struct buf b = { 0 };
	int err = io_read(path, IO_FILE_MAX, &b);

	if (err == 0)
		LLVMFuzzerTestOneInput((const uint8_t *)b.bytes, b.n);
	else
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	buf_done(&b);
	return err ? -1 : 1;
}

static int replay(const char *path)
{
	char file[4096];
	struct dirent *entry;
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return replay_file(path);
	while (n >= 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		n = replay_file(file) < 0 ? -1 : n + 1;
	}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	int n = 0;

	for (int i = 1; i < argc; i++) {
		int more = replay(argv[i]);

		if (more < 0)
			return 1;
		n += more;
	}
	printf("%d inputs replayed\n", n);
	return n ? 0 : 1;
}
