/*
 * perfdata FILE: what does reading a perf.data cost? Prints gigabytes of records per second of CPU
 * time, in the order of the file and of time, with the event of each record looked up, and of a
 * bare loop from header to header over the mapped data.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tacho/perfdata.h>

enum { ROUNDS = 3 };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t read_all(const char *path, bool ordered, long *events)
{
	struct tacho_perfdata *pd;
	struct tacho_record rec;
	struct tacho_error e = { 0 };
	uint64_t bytes = 0;

	if (tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = ordered), &e) < 0) {
		fprintf(stderr, "perfdata: %s\n", e.message);
		return 0;
	}
	while (tacho_perfdata_next(pd, &rec, &e) > 0) {
		bytes += rec.size;
		*events += tacho_perfdata_event_of(pd, &rec);
	}
	tacho_perfdata_close(pd);
	return bytes;
}

static uint64_t read_bare(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t head[13], bytes = 0;
	struct stat st;
	uint8_t *map;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof(head))
		return 0;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return 0;
	memcpy(head, map, sizeof(head));
	while (bytes + 8 <= head[6] && head[5] + bytes + 8 <= (uint64_t)st.st_size) {
		uint16_t size;

		memcpy(&size, map + head[5] + bytes + 6, sizeof(size));
		if (size < 8)
			break;
		bytes += size;
	}
	munmap(map, (size_t)st.st_size);
	return bytes;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "bare", "file order", "time order" };
	long events = 0;

	if (argc != 2)
		return fprintf(stderr, "usage: perfdata FILE\n"), 2;
	for (int kind = 0; kind < 3; kind++) {
		double best = 0;

		for (int round = 0; round < ROUNDS; round++) {
			double start = now_s();
			uint64_t bytes = kind ? read_all(argv[1], kind == 2, &events) :
						read_bare(argv[1]);
			double rate = (double)bytes / 1e9 / (now_s() - start);

			best = rate > best ? rate : best;
		}
		printf("%-12s %6.2f GB/s\n", names[kind], best);
	}
	return events == -1;
}
