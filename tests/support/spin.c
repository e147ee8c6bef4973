/*
 * spin [-t SECONDS] [-c SECONDS] [-r FILE]: a process to look at from outside. It burns CPU time
 * for -c seconds (default 0), then sleeps until -t seconds after its start (default 60) or until
 * it is killed. With -r it writes its pid to FILE (by rename, so that a reader never sees half of
 * it) before anything else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int announce(const char *path)
{
	char tmp[4096];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	f = fopen(tmp, "w");
	if (!f)
		return -1;
	fprintf(f, "%d\n", (int)getpid());
	if (fclose(f) != 0)
		return -1;
	return rename(tmp, path);
}

int main(int argc, char **argv)
{
	double start = now_s(CLOCK_MONOTONIC), total_s = 60, cpu_s = 0, left;
	int letter;

	while ((letter = getopt(argc, argv, "t:c:r:")) != -1) {
		if (letter == 't') {
			total_s = strtod(optarg, NULL);
		} else if (letter == 'c') {
			cpu_s = strtod(optarg, NULL);
		} else if (letter != 'r' || announce(optarg) < 0) {
			fprintf(stderr, "usage: spin [-t SECONDS] [-c SECONDS] [-r FILE]\n");
			return 2;
		}
	}
	while (now_s(CLOCK_PROCESS_CPUTIME_ID) < cpu_s)
		;
	left = start + total_s - now_s(CLOCK_MONOTONIC);
	if (left > 0)
		usleep((useconds_t)(left * 1e6));
	return 0;
}
