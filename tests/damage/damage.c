/*
 * Reads damaged copies of recordings with all readers of the library:
 *
 *	damage [-n MUTATIONS] [-s SEED] [-k DIR] FILE|DIRECTORY...
 *
 * Each file is truncated at every 4096th byte (small ones at every 64th) and changed at random, MUTATIONS times
 * over all files. A child process reads it; if it crashes or hangs, the seed and the case are reported and the
 * damaged file is stored in DIR. Each case has a limit of CPU time and of memory. Checked are:
 *
 *	records before the damage are the same as those of the intact file;
 *	reading a truncated file fails (or warns, if its recorder was killed) with an offset;
 *	every error has an offset, unless the file is not recognized as perf.data;
 *	no descriptor stays open (and under LeakSanitizer, no memory is leaked).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutate.h"
#include "read_all.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif

enum { SMALL = 8192, CPU_S = SANITIZED ? 30 : 10, WALL_S = 120, MOST_FILE = 8 << 20 };
#define MOST_MEMORY (1ul << 30)

struct target {			/* a recording to damage, and where the damaged copy is */
	struct bytes whole, copy;
	char path[PATH_MAX];	/* to open: the damaged file, or its directory */
	char file[PATH_MAX];	/* the damaged file */
	bool alone;		/* not a directory, so that offsets can be compared */
	struct seen seen;	/* the result for the intact file */
	uint64_t *headers;
	size_t n_headers;
};

static struct {
	char words[400];
	bool failed;
} *shared;			/* the current case of the child, for the parent to report */

static unsigned long n_cases;
static const char *keep_dir, *empty_dir;

static void stop(const char *what)
{
	fprintf(stderr, "damage: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void write_file(const char *path, const struct bytes *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, b->v, b->n) != (ssize_t)b->n)
		stop(path);
	close(fd);
}

static void load_file(const char *path, struct bytes *b)
{
	FILE *f = fopen(path, "rb");

	b->cap = MOST_FILE + MUTATE_ROOM;
	b->v = malloc(b->cap);
	if (!f || !b->v)
		stop(path);
	b->n = fread(b->v, 1, MOST_FILE, f);
	fclose(f);
}

static void fail(const struct target *t, const char *what)
{
	static unsigned n_kept;
	char path[PATH_MAX];

	shared->failed = true;
	fprintf(stderr, "FAILED %s\n       %s\n", shared->words, what);
	if (!keep_dir || n_kept >= 5)
		return;
	snprintf(path, sizeof(path), "%s/damaged-%d-%u.data", keep_dir, (int)getpid(), n_kept++);
	write_file(path, &t->copy);
	fprintf(stderr, "       kept as %s\n", path);
}

/* The end of record `i` of the intact file, which is the start of the next one. Records that were compressed
 * together have the same offset. */
static uint64_t end_of(const struct seen *s, size_t i)
{
	uint64_t at = s->v[i].offset;

	while (++i < s->n)
		if (s->v[i].offset > at)
			return s->v[i].offset;
	return s->data_end;
}

static void check_kept(const struct target *t, const struct seen *got, size_t lowest)
{
	const struct seen *s = &t->seen;
	char words[200];

	for (size_t i = 0; i < s->n && end_of(s, i) <= lowest; i++) {
		if (i < got->n && got->v[i].hash == s->v[i].hash)
			continue;
		snprintf(words, sizeof(words), "record %zu at %llu was lost, the damage is at %zu: %.100s", i,
			 (unsigned long long)s->v[i].offset, lowest, got->error);
		fail(t, words);
		return;
	}
}

static bool tells_offset(const char *text)
{
	const char *at = strstr(text, "byte ");

	return at && at[5] >= '0' && at[5] <= '9';
}

static void check_words(const struct target *t, const struct seen *got, size_t lowest)
{
	char words[400];

	if (got->err < 0 && lowest >= 16 && !tells_offset(got->error)) {
		snprintf(words, sizeof(words), "no offset in '%.300s'", got->error);
		fail(t, words);
	}
	if (got->err == -ENOMEM)
		fail(t, "it asked for too much memory");
}

static bool ends_a_record(const struct seen *s, size_t at)
{
	for (size_t i = 0; i < s->n; i++)
		if (end_of(s, i) == at)
			return true;
	return false;
}

static void check_cut(const struct target *t, const struct seen *got, size_t at)
{
	const struct seen *s = &t->seen;

	if (s->pipe ? at < 16 || ends_a_record(s, at) : s->warning[0] && at >= s->data_end)
		return;
	if (got->err >= 0 && (!s->warning[0] || !tells_offset(got->warning)))
		fail(t, "nothing tells that the file was cut");
}

static void limit_cpu(long seconds)
{
	struct itimerval when = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &when, NULL);	/* SIGPROF ends the child */
	alarm(seconds ? WALL_S : 0);
}

/* Reads t->copy; `cut` is the offset where it was truncated, or SIZE_MAX. */
static void try_copy(const struct target *t, size_t lowest, size_t cut)
{
	struct seen got;

	n_cases++;
	write_file(t->file, &t->copy);
	limit_cpu(CPU_S);
	read_as_written(t->path, &got);
	read_as_profile(t->path, empty_dir);
	limit_cpu(0);
	check_words(t, &got, lowest);
	/* A change of the header or the attrs may change everything. */
	if (t->alone && (cut != SIZE_MAX || lowest >= t->seen.data_at))
		check_kept(t, &got, lowest);
	if (t->alone && cut != SIZE_MAX)
		check_cut(t, &got, cut);
	seen_done(&got);
}

static void try_cuts(struct target *t, const char *name)
{
	size_t step = t->whole.n <= SMALL ? 64 : 4096;

	for (size_t at = 0; at < t->whole.n; at += step) {
		memcpy(t->copy.v, t->whole.v, at);
		t->copy.n = at;
		snprintf(shared->words, sizeof(shared->words), "%s cut at byte %zu", name, at);
		try_copy(t, at, at);
	}
}

static void try_mutations(struct target *t, const char *name, unsigned long seed, unsigned long n)
{
	struct spots spots = { t->headers, t->n_headers };

	for (unsigned long i = 0; i < n; i++) {
		const char *what = "";
		size_t lowest;

		memcpy(t->copy.v, t->whole.v, t->whole.n);
		t->copy.n = t->whole.n;
		lowest = mutate(&t->copy, &spots, seed + i, &what);
		snprintf(shared->words, sizeof(shared->words), "%s seed %lu: %s from byte %zu on", name,
			 seed + i, what, lowest);
		try_copy(t, lowest, SIZE_MAX);
	}
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static void learn_whole(struct target *t)
{
	t->copy.n = t->whole.n;
	memcpy(t->copy.v, t->whole.v, t->whole.n);
	write_file(t->file, &t->whole);
	read_as_written(t->path, &t->seen);
	if (!t->seen.opened || (t->seen.err < 0 && !tells_offset(t->seen.error)))
		fail(t, "the whole file cannot be read");
	if (t->seen.data_end > t->whole.n || t->seen.data_end <= t->seen.data_at)
		t->seen.data_end = t->whole.n;	/* its recorder was killed */
	t->headers = calloc(t->seen.n + 1, sizeof(*t->headers));
	for (size_t i = 0; t->headers && i < t->seen.n; i++)
		t->headers[t->n_headers++] = t->seen.v[i].offset;
}

static void try_all(struct target *t, const char *name, unsigned long seed, unsigned long n)
{
	int before;

	snprintf(shared->words, sizeof(shared->words), "%s as it is", name);
	learn_whole(t);
	before = count_descriptors();
	try_cuts(t, name);
	try_mutations(t, name, seed, n);
	snprintf(shared->words, sizeof(shared->words), "%s at the end", name);
	if (count_descriptors() != before)
		fail(t, "descriptors were left open");
	printf("%-32s %8zu bytes %6zu records %6lu cases\n", name, t->whole.n, t->seen.n, n_cases);
}

static void limit_memory(void)
{
	struct rlimit most = { MOST_MEMORY, MOST_MEMORY }, none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &most);
}

/* Runs in a child process, so that the parent notices crashes. */
static void try_apart(struct target *t, const char *name, unsigned long seed, unsigned long n)
{
	char words[100];
	int status;
	pid_t pid;

	fflush(NULL);
	t->copy.cap = t->whole.cap;
	t->copy.v = malloc(t->copy.cap);
	pid = t->copy.v ? fork() : -1;
	if (pid < 0)
		stop("fork");
	if (pid == 0) {
		limit_memory();
		try_all(t, name, seed, n);
		seen_done(&t->seen);
		free(t->headers);
		free(t->whole.v);
		free(t->copy.v);
		exit(shared->failed ? 1 : 0);		/* LeakSanitizer checks at exit */
	}
	if (waitpid(pid, &status, 0) != pid)
		stop("waitpid");
	if (WIFSIGNALED(status)) {
		snprintf(words, sizeof(words), "ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
		fail(t, words);
	} else if (WEXITSTATUS(status) && !shared->failed) {
		snprintf(words, sizeof(words), "exit status %d", WEXITSTATUS(status));
		fail(t, words);
	}
	free(t->copy.v);
}

/* Of a directory, a copy is made and its largest file is damaged. */
static void place_directory(struct target *t, const char *from, const char *work)
{
	DIR *dir = opendir(from);
	const struct dirent *d;
	char path[PATH_MAX], best[NAME_MAX + 1] = "";
	struct stat st;
	off_t most = -1;

	snprintf(t->path, sizeof(t->path), "%s/directory", work);
	if (!dir || (mkdir(t->path, 0700) < 0 && errno != EEXIST))
		stop(from);
	while ((d = readdir(dir))) {
		struct bytes one;

		snprintf(path, sizeof(path), "%s/%s", from, d->d_name);
		if (d->d_name[0] == '.' || stat(path, &st) < 0)
			continue;
		load_file(path, &one);
		snprintf(path, sizeof(path), "%.3000s/%s", t->path, d->d_name);
		write_file(path, &one);
		free(one.v);
		if (st.st_size > most) {
			most = st.st_size;
			snprintf(best, sizeof(best), "%s", d->d_name);
		}
	}
	closedir(dir);
	snprintf(path, sizeof(path), "%.3000s/%s", from, best);
	load_file(path, &t->whole);
	snprintf(t->file, sizeof(t->file), "%.3000s/%s", t->path, best);
}

static bool try_recording(const char *name, const char *work, unsigned long seed, unsigned long n)
{
	struct target t = { 0 };
	const char *slash = strrchr(name, '/');
	struct stat st;

	if (stat(name, &st) < 0)
		stop(name);
	shared->failed = false;
	if (S_ISDIR(st.st_mode)) {
		place_directory(&t, name, work);
	} else {
		t.alone = true;
		load_file(name, &t.whole);
		snprintf(t.path, sizeof(t.path), "%s/damaged.data", work);
		strcpy(t.file, t.path);
	}
	try_apart(&t, slash ? slash + 1 : name, seed, n);
	free(t.whole.v);
	return !shared->failed;
}

int main(int argc, char **argv)
{
	unsigned long n = 10000, seed = 1;
	char work[] = "/tmp/tacho-damage-XXXXXX", empty[64], path[PATH_MAX];
	int c, n_files;
	bool good = true;

	while ((c = getopt(argc, argv, "n:s:k:")) != -1) {
		if (c == 'n')
			n = strtoul(optarg, NULL, 0);
		else if (c == 's')
			seed = strtoul(optarg, NULL, 0);
		else if (c == 'k')
			keep_dir = optarg;
		else
			return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || !mkdtemp(work))
		stop(work);
	snprintf(empty, sizeof(empty), "%s/empty", work);
	if (mkdir(empty, 0700) < 0)
		stop(empty);
	empty_dir = empty;
	n_files = argc - optind;
	for (int i = 0; i < n_files; i++) {
		unsigned long share = (n + (unsigned long)n_files - 1) / (unsigned long)n_files;

		good &= try_recording(argv[optind + i], work, seed + (unsigned long)i * 1000000, share);
	}
	snprintf(path, sizeof(path), "exec rm -rf '%s'", work);
	return system(path) == 0 && good && n_files ? 0 : 1;
}
