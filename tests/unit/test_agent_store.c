/* agent/store/: flushed data is there after a restart, kill -9 and a full disk. */
#include "agent/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "base/clock.h"

#define SECOND 1000000000ll

static char dir[] = "/tmp/tacho-store.XXXXXX";
static char path[128];

static const struct metric switches = {
	.event = "context-switches", .name = "perf_context_switches", .unit = "", .help = "switches",
	.kind = METRIC_COUNTER, .scale = 1,
};

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct store *open_at(const char *name, struct registry *r)
{
	struct store_opts opts = { .retention = { .full_ns = 3600 * SECOND,
						  .seconds10_ns = 86400 * SECOND,
						  .minute_ns = 2592000 * SECOND },
				   .flush_ns = 3600 * SECOND };
	struct tacho_error e = { .column = -1 };
	struct store *s = NULL;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (store_open(&s, path, r, &opts, &e) < 0)
		fail_msg("%s", e.message);
	return s;
}

static uint32_t add(struct registry *r, const char *cpu, int64_t start_ns)
{
	struct label labels[] = { { "source", "system" }, { "cpu", (char *)cpu } };
	int64_t id = registry_add(r, &(struct series_desc){ registry_metric(r, &switches), "system", labels, 2, 0, start_ns });

	assert_true(id > 0);
	return (uint32_t)id;
}

static void put(struct store *s, uint32_t id, int64_t time_ns, uint64_t count)
{
	struct point p = { .series = id, .count = count, .value = (double)count, .raw = count,
			   .enabled_ns = 1, .running_ns = 1 };

	store_take(s, &(struct point_batch){ .source = "system", .time_ns = time_ns, .points = &p,
				       .n_points = 1 });
}

struct seen {
	uint64_t keys[8];
	size_t n_keys, n;
	double first, last, sum;
	int64_t first_ns, last_ns;
};

static int see_series(void *arg, const struct store_series *row)
{
	struct seen *s = arg;

	assert_true(s->n_keys < countof(s->keys));
	s->keys[s->n_keys++] = row->key;
	return 0;
}

static int see_point(void *arg, const struct store_point *p)
{
	struct seen *s = arg;

	if (s->n++ == 0) {
		s->first = p->value;
		s->first_ns = p->time_ns;
	}
	s->last = p->value;
	s->last_ns = p->time_ns;
	s->sum += p->value;
	return 0;
}

static struct seen ask(struct store *s, int64_t from, int64_t to, int64_t step, enum store_func func)
{
	struct seen seen = { 0 };
	struct tacho_error e = { .column = -1 };
	struct store_query q = { .from_ns = from, .to_ns = to, .step_ns = step, .func = func };
	struct store_series_filter filter = { .event_glob = "context-*", .labels = "cpu=0" };

	assert_int_equal(store_series(s, &filter, see_series, &seen), 0);
	q.keys = seen.keys;
	q.n_keys = seen.n_keys;
	if (store_query(s, &q, see_point, &seen, &e) < 0)
		fail_msg("%s", e.message);
	return seen;
}

static void store_keeps(void **state)
{
	struct registry r;
	int64_t now = clock_wall_ns(), start = now - 1000 * SECOND;
	struct store *s;
	struct seen seen;

	(void)state;
	registry_init(&r);
	s = open_at("keeps", &r);
	add(&r, "1", start);
	uint32_t id = add(&r, "0", start);
	for (int i = 1; i <= 900; i++)
		put(s, id, start + i * SECOND, (uint64_t)i * 50);
	assert_int_equal(store_flush(s), 0);
	seen = ask(s, start, now, 0, STORE_RATE);
	assert_int_equal(seen.n_keys, 1);
	assert_int_equal(seen.n, 900);
	assert_true(fabs(seen.first - 50) < 1e-6 && fabs(seen.last - 50) < 1e-6);
	seen = ask(s, start, now, 60 * SECOND, STORE_INCREASE);
	assert_true(fabs(seen.sum - 45000) < 60 * 50 + 1);	/* the open minute is not stored yet */
	store_close(s);

	s = open_at("keeps", &r);				/* again, by another agent */
	seen = ask(s, start, now, 0, STORE_INCREASE);
	assert_true(fabs(seen.sum - 45000) < 1e-6);
	store_close(s);
	registry_done(&r);
}

/* The clock is set back: no time is stored twice, no counter falls, skipped points are counted. */
static void store_clock_back(void **state)
{
	struct registry r;
	int64_t now = clock_wall_ns(), start = now - 1000 * SECOND;
	struct store_status st;
	struct store *s;
	struct seen seen;
	uint64_t count = 0;

	(void)state;
	registry_init(&r);
	s = open_at("back", &r);
	uint32_t id = add(&r, "0", start);
	for (int i = 1; i <= 100; i++)
		put(s, id, start + i * SECOND, ++count);
	for (int i = 50; i <= 150; i++)		/* 51 seconds that are stored already */
		put(s, id, start + i * SECOND, ++count);
	assert_int_equal(store_flush(s), 0);
	store_status(s, &st);
	assert_int_equal(st.n_points_dropped, 51);
	assert_int_equal(st.n_points_written, 150);
	seen = ask(s, start, now, 0, STORE_VALUE);
	assert_int_equal(seen.n, 150);
	assert_int_equal(seen.last_ns / SECOND, (start + 150 * SECOND) / SECOND);
	assert_true(seen.last == 201);
	store_close(s);
	registry_done(&r);
}

/* A machine that booted in the wrong year, until its clock was set. */
static void store_clock_far_back(void **state)
{
	struct registry r;
	int64_t now = clock_wall_ns(), start = now - 1000 * SECOND, wrong = 20000 * 86400 * SECOND;
	struct store_status st;
	struct store *s;
	struct seen seen;
	uint64_t count = 0;

	(void)state;
	registry_init(&r);
	s = open_at("far-back", &r);
	uint32_t id = add(&r, "0", start);
	for (int i = 1; i <= 20; i++)
		put(s, id, start + wrong + i * SECOND, ++count);
	for (int i = 1; i <= 200; i++)
		put(s, id, start + i * SECOND, ++count);
	assert_int_equal(store_flush(s), 0);
	store_status(s, &st);
	assert_int_equal(st.n_points_dropped, 0);
	seen = ask(s, start, now, 0, STORE_VALUE);
	assert_int_equal(seen.n, 200);
	assert_true(seen.first == 21 && seen.last == 220);
	seen = ask(s, start, now, 10 * SECOND, STORE_RATE);
	assert_true(seen.n >= 15 && fabs(seen.last - 1) < 1e-6);
	store_close(s);
	registry_done(&r);
}

/* A counter restarts at 0: its increase spans both runs. */
static void store_restart(void **state)
{
	int64_t now = clock_wall_ns(), start = now - 100 * SECOND;
	struct registry r;
	struct store *s;
	struct seen seen;
	uint32_t id;

	(void)state;
	registry_init(&r);
	s = open_at("restart", &r);
	id = add(&r, "0", start);
	for (int i = 1; i <= 10; i++)
		put(s, id, start + i * SECOND, (uint64_t)i * 10);
	store_close(s);
	registry_done(&r);

	registry_init(&r);
	s = open_at("restart", &r);
	id = add(&r, "0", start + 20 * SECOND);
	for (int i = 21; i <= 30; i++)
		put(s, id, start + i * SECOND, (uint64_t)(i - 20) * 10);
	assert_int_equal(store_flush(s), 0);
	seen = ask(s, start, now, 0, STORE_INCREASE);
	assert_int_equal(seen.n_keys, 1);
	assert_int_equal(seen.n, 20);
	assert_true(fabs(seen.sum - 200) < 1e-6);
	store_close(s);
	registry_done(&r);
}

/* Twenty runs that end by kill -9: everything flushed is there, once. */
static void store_killed(void **state)
{
	int64_t start = clock_wall_ns() - 1000 * SECOND;
	struct registry r;
	struct store *s;
	struct seen seen;

	(void)state;
	for (int life = 0; life < 20; life++) {
		int fds[2], pid, status;
		char byte;

		assert_int_equal(pipe(fds), 0);
		pid = fork();
		if (pid == 0) {
			uint32_t id;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			registry_init(&r);
			s = open_at("killed", &r);
			id = add(&r, "0", start + life * 10 * SECOND);
			for (int i = 1; i <= 5; i++)
				put(s, id, start + (life * 10 + i) * SECOND, (uint64_t)i);
			(void)!write(fds[1], store_flush(s) == 0 ? "y" : "n", 1);
			for (int i = 6;; i++)		/* writes until it is killed */
				put(s, id, start + (life * 10) * SECOND + 5 * SECOND + i, (uint64_t)i),
					store_flush(s);
		}
		assert_int_equal(read(fds[0], &byte, 1), 1);
		assert_int_equal(byte, 'y');
		usleep((unsigned)(life * 700));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		close(fds[0]);
		close(fds[1]);
	}
	registry_init(&r);
	s = open_at("killed", &r);
	for (int life = 0; life < 20; life++) {
		seen = ask(s, start + life * 10 * SECOND + 1, start + (life * 10 + 5) * SECOND + 1, 0,
			   STORE_INCREASE);
		assert_int_equal(seen.n, 5);
		assert_true(fabs(seen.sum - 5) < 1e-6);
	}
	store_close(s);
	registry_done(&r);
}

static void store_damaged(void **state)
{
	struct registry r;
	struct store *s;
	char aside[160];
	struct stat st;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/damaged", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 5000; i++)
		fputs("this is no database ", f);
	fclose(f);
	registry_init(&r);
	s = open_at("damaged", &r);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	assert_int_equal(stat(aside, &st), 0);
	assert_int_equal(store_flush(s), 0);
	store_close(s);
	registry_done(&r);
}

/* Overwrites every step-th page of the store from `first` on. The first pages are the roots of the tables. */
static void overwrite_pages(unsigned first, unsigned step)
{
	static char noise[4096];
	struct stat st;
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	memset(noise, 0xa5, sizeof(noise));
	for (off_t page = first; (page + 1) * 4096 <= st.st_size; page += step)
		assert_int_equal(pwrite(fd, noise, sizeof(noise), page * 4096), sizeof(noise));
	close(fd);
}

#define N_MANY 40

/* Fills a store with many series; returns the time of the first point. */
static void fill(struct store *s, struct registry *r, int64_t start)
{
	char cpu[8];
	uint32_t ids[N_MANY];

	for (int k = 0; k < N_MANY; k++) {
		snprintf(cpu, sizeof(cpu), "%d", k);
		ids[k] = add(r, cpu, start);
	}
	for (int i = 1; i <= 900; i++)
		for (int k = 0; k < N_MANY; k++)
			put(s, ids[k], start + i * SECOND + k * (i * 7919 % 1000) * 1000, (uint64_t)i * 50 + (uint64_t)(i * k % 977));
	for (int i = 0; i < 50; i++)
		assert_int_equal(store_profile_put(s, start + i * 10 * SECOND, start + (i * 10 + 10) * SECOND, 7,
						   str_of("a profile")), 0);
	assert_int_equal(store_flush(s), 0);
}

static int count_point(void *arg, const struct store_point *p)
{
	(void)p;
	++*(size_t *)arg;
	return 0;
}

static int count_profile(void *arg, int64_t from_ns, int64_t to_ns, uint64_t n_samples, struct str blob)
{
	(void)from_ns, (void)to_ns, (void)blob;
	assert_int_equal(n_samples, 7);
	++*(size_t *)arg;
	return 0;
}

struct all_keys {
	uint64_t v[N_MANY];
	size_t n;
};

static int add_key(void *arg, const struct store_series *row)
{
	struct all_keys *keys = arg;

	assert_true(keys->n < N_MANY);
	keys->v[keys->n++] = row->key;
	return 0;
}

/* How many points can be read; 0 if the store answers with an error. */
static size_t count_points(struct store *s, int64_t from, int64_t to, size_t *n_series)
{
	struct all_keys keys = { .n = 0 };
	struct tacho_error e = { .column = -1 };
	struct store_query q = { .from_ns = from, .to_ns = to, .func = STORE_VALUE, .keys = keys.v };
	size_t n = 0;

	*n_series = 0;
	if (store_series(s, &(struct store_series_filter){ 0 }, add_key, &keys) < 0)
		return 0;
	*n_series = q.n_keys = keys.n;
	return store_query(s, &q, count_point, &n, &e) < 0 ? 0 : n;
}

static int find_damaged(void *arg, const struct store_event *ev)
{
	*(bool *)arg = *(bool *)arg || (!strcmp(ev->kind, "store") && !strcmp(ev->name, "damaged"));
	return 0;
}

static void check_salvaged(struct store *s, int64_t start, size_t least)
{
	struct store_status st;
	char aside[160];
	size_t n_series, profiles = 0, n = count_points(s, start, start + 1000 * SECOND, &n_series);
	struct stat file;
	bool told = false;

	store_status(s, &st);
	assert_int_equal(st.n_salvages, 1);
	assert_true(st.salvaged_ns > start);
	assert_non_null(strstr(st.salvaged, ".damaged"));
	assert_string_equal(st.last_error, "");
	assert_int_equal(n_series, N_MANY);
	assert_in_range(n, least, N_MANY * 900 - 1);	/* some, but not all, could be read */
	assert_int_equal(store_profiles(s, start, start + 1000 * SECOND, count_profile, &profiles), 0);
	assert_int_equal(store_flush(s), 0);
	assert_int_equal(store_events(s, 0, INT64_MAX, 100, find_damaged, &told), 0);
	assert_true(told);
	snprintf(aside, sizeof(aside), "%s.damaged", path);
	assert_int_equal(stat(aside, &file), 0);
}

/* Pages inside the file were overwritten while no agent ran: found at the start. */
static void store_overwritten(void **state)
{
	int64_t start = clock_wall_ns() - 1000 * SECOND;
	struct store_status st;
	struct registry r;
	struct store *s;

	(void)state;
	registry_init(&r);
	s = open_at("overwritten", &r);
	fill(s, &r, start);
	store_close(s);
	overwrite_pages(5, 16);

	s = open_at("overwritten", &r);
	assert_int_equal(store_flush(s), 0);
	check_salvaged(s, start, N_MANY * 900 * 3 / 4);
	store_close(s);
	s = open_at("overwritten", &r);			/* the new file is intact */
	assert_int_equal(store_flush(s), 0);
	store_status(s, &st);
	assert_int_equal(st.n_salvages, 0);
	store_close(s);
	registry_done(&r);
}

/* The file is damaged below a running agent: found by the query that meets it. */
static void store_damaged_later(void **state)
{
	int64_t start = clock_wall_ns() - 1000 * SECOND;
	struct registry r;
	struct store_status st;
	struct store *s;
	size_t n_series;
	uint32_t id;

	(void)state;
	registry_init(&r);
	s = open_at("later", &r);
	fill(s, &r, start);
	store_close(s);
	s = open_at("later", &r);
	id = add(&r, "0", start);
	put(s, id, start + 2000 * SECOND, 100000);
	assert_int_equal(store_flush(s), 0);
	store_status(s, &st);
	assert_int_equal(st.n_salvages, 0);
	overwrite_pages(4, 16);	/* 4 is the root of the chunks */
	count_points(s, start, start + 1000 * SECOND, &n_series);
	put(s, id, start + 2001 * SECOND, 100001);
	assert_int_equal(store_flush(s), 0);
	check_salvaged(s, start, N_MANY * 900 * 3 / 4);
	assert_true(count_points(s, start + 2000 * SECOND, start + 3000 * SECOND, &n_series) >= 1);
	store_close(s);
	registry_done(&r);
}

/* A small disk becomes full: the store continues, counts dropped points, and recovers. */
static void store_full_disk(void **state)
{
	int64_t start = clock_wall_ns() - 3000 * SECOND;
	char mount_at[160], ballast[200];
	struct store_status status;
	struct registry r;
	struct store *s;
	struct seen seen;
	uint32_t id;
	int fd;
	static char zeros[1 << 16];

	(void)state;
	snprintf(mount_at, sizeof(mount_at), "%s/small", dir);
	mkdir(mount_at, 0700);
	if (mount("none", mount_at, "tmpfs", 0, "size=2m") < 0)
		skip();				/* needs root */
	registry_init(&r);
	s = open_at("small/store", &r);
	id = add(&r, "0", start);
	put(s, id, start + SECOND, 1);
	assert_int_equal(store_flush(s), 0);
	snprintf(ballast, sizeof(ballast), "%s/ballast", mount_at);
	fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	for (int i = 2; i <= 2000; i++)
		put(s, id, start + i * SECOND, (uint64_t)i * 1000003);
	assert_true(store_flush(s) < 0);
	store_status(s, &status);
	assert_true(status.last_error[0]);
	close(fd);
	unlink(ballast);
	assert_int_equal(store_flush(s), 0);
	store_status(s, &status);
	assert_false(status.last_error[0]);
	seen = ask(s, start, start + 3000 * SECOND, 0, STORE_VALUE);
	assert_int_equal(seen.n, 2000);
	assert_true(seen.last == 2000.0 * 1000003);
	store_close(s);
	registry_done(&r);
	umount(mount_at);
}

static int see_blob(void *arg, int64_t from_ns, int64_t to_ns, uint64_t n, struct str blob)
{
	(void)from_ns, (void)to_ns, (void)n;
	assert_true(str_is(blob, "profile"));
	++*(int *)arg;
	return 0;
}

static int see_event(void *arg, const struct store_event *ev)
{
	assert_string_equal(ev->kind, "trigger");
	assert_null(ev->path);
	++*(int *)arg;
	return 0;
}

static void store_blobs(void **state)
{
	struct registry r;
	struct store *s;
	int n = 0;

	(void)state;
	registry_init(&r);
	s = open_at("blobs", &r);
	assert_int_equal(store_profile_put(s, 10, 20, 5, STR_LIT("profile")), 0);
	assert_int_equal(store_profile_put(s, 20, 30, 5, STR_LIT("profile")), 0);
	assert_int_equal(store_event_put(s, &(struct store_event){ .time_ns = 5, .kind = "trigger",
				.name = "busy", .text = "rate > 5" }), 0);
	assert_int_equal(store_flush(s), 0);
	assert_int_equal(store_profiles(s, 15, 16, see_blob, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(store_events(s, 0, 100, 10, see_event, &n), 0);
	assert_int_equal(n, 2);
	store_close(s);
	registry_done(&r);
}

static int count_blob(void *arg, int64_t from_ns, int64_t to_ns, uint64_t n, struct str blob)
{
	(void)from_ns, (void)to_ns, (void)n, (void)blob;
	++*(int *)arg;
	return 0;
}

/* Unlimited retention with a size limit: the oldest data is deleted, not everything. */
static void store_bound_of_profiles(void **state)
{
	static char bytes[20000];
	struct store_opts opts = { .retention = { .max_bytes = 300000 }, .flush_ns = 3600 * SECOND };
	struct tacho_error e = { .column = -1 };
	int64_t now = clock_wall_ns();
	struct registry r;
	struct store *s;
	int n = 0;

	(void)state;
	registry_init(&r);
	snprintf(path, sizeof(path), "%s/bound", dir);
	assert_int_equal(store_open(&s, path, &r, &opts, &e), 0);
	for (int64_t hour = 40; hour > 0; hour--)
		assert_int_equal(store_profile_put(s, now - hour * 3600 * SECOND, now - (hour - 1) * 3600 * SECOND, 5,
						   str_n(bytes, sizeof(bytes))), 0);
	assert_int_equal(store_flush(s), 0);
	assert_int_equal(sql_apply_retention(s, now), 0);		/* the thread waits for its hour */
	assert_true(sql_bytes(s) <= 300000);
	assert_int_equal(store_profiles(s, now - 1800 * SECOND, now, count_blob, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(store_profiles(s, 0, now, count_blob, &n), 0);
	assert_in_range(n, 5, 15);
	store_close(s);
	registry_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(store_keeps),
		cmocka_unit_test(store_clock_back),
		cmocka_unit_test(store_clock_far_back),
		cmocka_unit_test(store_restart),
		cmocka_unit_test(store_killed),
		cmocka_unit_test(store_damaged),
		cmocka_unit_test(store_overwritten),
		cmocka_unit_test(store_damaged_later),
		cmocka_unit_test(store_full_disk),
		cmocka_unit_test(store_blobs),
		cmocka_unit_test(store_bound_of_profiles),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
