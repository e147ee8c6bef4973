/* agent/export/runner.c and spool.c: receivers that fail, are slow or unreachable, or send Retry-After. */
#include "agent/export/exporter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "agent/export/spool.h"
#include "agent_support.h"
#include "base/clock.h"

#define MS 1000000ull
#define WAIT_S 60

/* ---- a fake receiver ---- */

struct fake_settings {
	struct push_settings push;
	struct fake *fake;
};

struct fake {
	pthread_mutex_t lock;
	struct buf got;			/* accepted counts, "7 8 9 " */
	unsigned n_ships, n_opens;
	unsigned fail_ships, fail_opens, drop_ships;	/* number of next calls that fail */
	uint64_t reject;		/* points rejected of each body */
	bool hold;			/* send_body() does not return until this is false */
	bool away;			/* every attempt fails */
	bool hangs;			/* blocks until it has to stop */
	double retry_after_s;
};

struct fake_open {
	struct fake *fake;
	const struct exporter_env *env;
};

static int fake_open(void **x, const void *settings, const struct exporter_env *env, struct tacho_error *e)
{
	struct fake *f = ((const struct fake_settings *)settings)->fake;
	struct fake_open *o;
	bool fails;

	pthread_mutex_lock(&f->lock);
	f->n_opens++;
	fails = f->fail_opens > 0;
	f->fail_opens -= fails;
	pthread_mutex_unlock(&f->lock);
	if (fails) {
		snprintf(e->message, sizeof(e->message), "not yet");
		return -ECONNREFUSED;
	}
	o = calloc(1, sizeof(*o));
	o->fake = f;
	o->env = env;
	*x = o;
	return 0;
}

static int64_t fake_encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	int64_t points = 0;

	(void)x;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < batches[i].n_points; k++, points++)
			buf_printf(body, "%llu ", (unsigned long long)batches[i].points[k].count);
	return points;
}

static void hold(struct fake *f, const struct exporter_env *env)
{
	for (;;) {
		bool on;

		pthread_mutex_lock(&f->lock);
		on = f->hold || f->hangs;
		pthread_mutex_unlock(&f->lock);
		if (!on || (*env->stop_by_ns && clock_mono_ns() > *env->stop_by_ns))
			return;
		usleep(2000);
	}
}

static enum send_result fake_ship(void *x, const struct export_body *s, struct send_reply *reply)
{
	struct fake_open *o = x;
	struct fake *f = o->fake;
	enum send_result result = SEND_DONE;

	hold(f, o->env);
	pthread_mutex_lock(&f->lock);
	f->n_ships++;
	if (f->away || f->hangs || f->fail_ships) {
		result = SEND_RETRY;
		f->fail_ships -= f->fail_ships > 0;
		reply->retry_after_s = f->retry_after_s;
		strcpy(reply->text, "try later");
	} else if (f->drop_ships) {
		result = SEND_DROP;
		f->drop_ships--;
		strcpy(reply->text, "bad request");
	} else {
		buf_str(&f->got, s->body);
		reply->rejected = f->reject;
		if (f->reject)
			strcpy(reply->text, "not all");
	}
	pthread_mutex_unlock(&f->lock);
	return result;
}

static const struct config_key no_keys[] = { { .kind = KEY_END } };
static const struct exporter_type fake_type = {
	.name = "fake", .help = "for tests", .keys = no_keys, .settings_size = sizeof(struct fake_settings),
	.open = fake_open, .encode = fake_encode, .send_body = fake_ship, .close = free,
};
static const struct exporter_type fake_profiles = {
	.name = "profiles", .help = "for tests", .keys = no_keys, .settings_size = sizeof(struct fake_settings),
	.open = fake_open, .send_profile = fake_ship, .close = free,
};

/* ---- an agent around it ---- */

struct bench {
	struct fake fakes[2];
	struct fake_settings settings[2];
	struct export_config exports[2];
	struct agent_config config;
	struct registry registry;
	struct exporters *x;
	char log[600];
	unsigned n_logs;
};

static void note(void *arg, enum tacho_log_level level, const char *text)
{
	struct bench *b = arg;

	(void)level;
	b->n_logs++;
	snprintf(b->log, sizeof(b->log), "%s", text);
}

static void prepare(struct bench *b, size_t n)
{
	static char names[2][8] = { "one", "two" };

	*b = (struct bench){ 0 };
	assert_int_equal(registry_init(&b->registry), 0);
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_init(&b->fakes[i].lock, NULL);
		b->fakes[i].retry_after_s = 0.05;
		b->settings[i] = (struct fake_settings){
			.push = { .flush_ns = 20 * MS, .timeout_ns = 1000 * MS, .queue_bytes = 1 << 20,
				  .max_points = 100 },
			.fake = &b->fakes[i],
		};
		b->exports[i] = (struct export_config){ names[i], &fake_type, &b->settings[i] };
	}
	b->config = (struct agent_config){ .exports = b->exports, .n_exports = n };
}

static void start(struct bench *b, const char *state_dir)
{
	struct exporter_env env = { .registry = &b->registry, .config = &b->config, .state_dir = state_dir,
				    .host = "here", .log = note, .log_arg = b };
	struct tacho_error e = { .column = -1 };

	if (state_dir)
		mkdir(state_dir, 0700);
	if (exporters_start(&b->x, &b->config, &env, &e) < 0)
		fail_msg("%s", e.message);
}

static void stop(struct bench *b, unsigned grace_ms)
{
	exporters_stop(b->x, grace_ms);
	b->x = NULL;
}

static void done(struct bench *b)
{
	for (size_t i = 0; i < 2; i++)
		buf_done(&b->fakes[i].got);
	registry_done(&b->registry);
}

/* Batches of one point each, with the counts from..to. */
static void feed(struct bench *b, uint64_t from, uint64_t to)
{
	for (; from <= to; from++) {
		struct point p = { .series = 1, .count = from, .value = (double)from };
		struct point_batch batch = { .source = "sys",
					     .time_ns = (int64_t)(from * 1000 + 1),
					     .points = &p,
					     .n_points = 1 };

		exporters_take(b->x, &batch);
	}
}

static struct exporter_status status(struct bench *b, size_t i)
{
	struct exporter_status all[2];

	assert_true(exporters_status(b->x, all, 2) > i);
	return all[i];
}

static void wait_sent(struct bench *b, size_t i, uint64_t points)
{
	for (int k = 0; k < WAIT_S * 100; k++) {
		if (status(b, i).sent_points >= points)
			return;
		usleep(10000);
	}
	fail_msg("only %llu of %llu points were sent", (unsigned long long)status(b, i).sent_points,
		 (unsigned long long)points);
}

/* Waits until one of the counts of `f` is at least n. */
static void wait_count(struct fake *f, const unsigned *count, unsigned n)
{
	for (int k = 0; k < WAIT_S * 100; k++) {
		unsigned now;

		pthread_mutex_lock(&f->lock);
		now = *count;
		pthread_mutex_unlock(&f->lock);
		if (now >= n)
			return;
		usleep(10000);
	}
	fail_msg("nothing was tried");
}

static void wait_ships(struct fake *f, unsigned n)
{
	wait_count(f, &f->n_ships, n);
}

static void let_go(struct fake *f)
{
	pthread_mutex_lock(&f->lock);
	f->hold = f->away = f->hangs = false;
	pthread_mutex_unlock(&f->lock);
}

static void assert_got(struct fake *f, uint64_t from, uint64_t to)
{
	struct buf want = { 0 };

	for (; from <= to; from++)
		buf_printf(&want, "%llu ", (unsigned long long)from);
	assert_string_equal(f->got.bytes ? f->got.bytes : "", want.bytes ? want.bytes : "");
	buf_done(&want);
}

/* ---- tests ---- */

static void failures_are_repeated_in_order(void **state)
{
	struct bench b;

	prepare(&b, 1);
	b.fakes[0].fail_ships = 5;
	start(&b, NULL);
	feed(&b, 1, 1000);
	wait_sent(&b, 0, 1000);
	assert_got(&b.fakes[0], 1, 1000);
	assert_int_equal(status(&b, 0).retries, 5);
	assert_int_equal(status(&b, 0).dropped_points, 0);
	assert_int_equal(status(&b, 0).queued_points, 0);
	assert_true(status(&b, 0).connected);
	assert_string_equal(status(&b, 0).last_error, "");
	assert_string_equal(b.log, "export 'one': works again");
	assert_int_equal(b.n_logs, 2);		/* the failure was logged once, not five times, and its end */
	stop(&b, 0);
	done(&b);
}

static void refusals_are_dropped_and_counted(void **state)
{
	struct exporter_status st;
	struct bench b;

	prepare(&b, 1);
	b.fakes[0].drop_ships = 1;
	start(&b, NULL);
	feed(&b, 1, 3);
	wait_ships(&b.fakes[0], 1);
	do
		st = status(&b, 0);
	while (!st.dropped_points);
	feed(&b, 4, 6);
	wait_sent(&b, 0, 6 - st.dropped_points);
	assert_int_equal(status(&b, 0).dropped_points, st.dropped_points);
	assert_int_equal(status(&b, 0).sent_points, 6 - st.dropped_points);
	stop(&b, 0);
	done(&b);
}

/* A rejected part is counted and logged once; a receiver that claims to reject more than was sent is not trusted. */
static void rejected_points_are_counted(void **state)
{
	struct bench b;

	prepare(&b, 1);
	b.settings[0].push.max_points = 10;	/* two bodies of ten: none is sent earlier */
	b.settings[0].push.flush_ns = 3600 * 1000 * MS;
	b.fakes[0].reject = 3;
	start(&b, NULL);
	feed(&b, 1, 10);
	wait_sent(&b, 0, 7);			/* all queued points are sent, more than ten in two bodies */
	feed(&b, 11, 20);
	wait_sent(&b, 0, 14);
	assert_int_equal(status(&b, 0).sent_points, 14);
	assert_int_equal(status(&b, 0).dropped_points, 6);
	assert_string_equal(status(&b, 0).last_error, "not all");
	assert_true(status(&b, 0).connected);
	assert_int_equal(b.n_logs, 1);
	b.fakes[0].reject = UINT64_MAX;
	feed(&b, 21, 30);
	stop(&b, 10000);
	assert_got(&b.fakes[0], 1, 30);
	done(&b);
}

static void a_held_receiver_holds_nobody(void **state)
{
	struct bench b;

	prepare(&b, 2);
	b.fakes[0].hold = true;
	start(&b, NULL);
	feed(&b, 1, 2000);	/* returns although one receiver does not answer */
	wait_sent(&b, 1, 2000);
	assert_got(&b.fakes[1], 1, 2000);
	assert_int_equal(status(&b, 0).sent_points, 0);
	let_go(&b.fakes[0]);
	wait_sent(&b, 0, 2000);
	assert_got(&b.fakes[0], 1, 2000);
	stop(&b, 0);
	done(&b);
}

static void only_chosen_sources_are_sent(void **state)
{
	struct bench b;

	prepare(&b, 1);
	strlist_add(&b.settings[0].push.sources, STR_LIT("other"));
	start(&b, NULL);
	feed(&b, 1, 10);
	stop(&b, 1000);
	assert_got(&b.fakes[0], 1, 0);
	strlist_done(&b.settings[0].push.sources);
	done(&b);
}

static void large_batches_are_cut(void **state)
{
	struct point points[250];
	struct bench b;

	prepare(&b, 1);
	start(&b, NULL);
	for (size_t i = 0; i < countof(points); i++)
		points[i] = (struct point){ .series = 1, .count = i + 1 };
	exporters_take(b.x,
		       &(struct point_batch){
			       .source = "sys", .time_ns = 5, .points = points, .n_points = 250 });
	wait_sent(&b, 0, 250);
	assert_got(&b.fakes[0], 1, 250);
	assert_int_equal(b.fakes[0].n_ships, 3);
	stop(&b, 0);
	done(&b);
}

static void queue_survives_a_restart(void **state)
{
	struct bench b;

	prepare(&b, 1);
	b.fakes[0].away = true;
	start(&b, in_dir("."));
	feed(&b, 1, 150);
	wait_ships(&b.fakes[0], 1);
	feed(&b, 151, 500);
	stop(&b, 0);
	assert_got(&b.fakes[0], 1, 0);

	let_go(&b.fakes[0]);
	start(&b, in_dir("."));
	feed(&b, 501, 600);
	wait_sent(&b, 0, 600);
	assert_got(&b.fakes[0], 1, 600);
	stop(&b, 0);

	start(&b, in_dir("."));		/* nothing is sent twice */
	stop(&b, 1000);
	assert_got(&b.fakes[0], 1, 600);
	done(&b);
}

static void a_full_queue_drops_the_oldest(void **state)
{
	struct exporter_status st;
	struct bench b;
	uint64_t sent;

	prepare(&b, 1);
	b.settings[0].push.queue_bytes = 4096;
	b.settings[0].push.max_points = 10;
	b.fakes[0].away = true;
	start(&b, in_dir("bound"));
	feed(&b, 1, 3000);
	do {
		usleep(10000);
		st = status(&b, 0);
	} while (st.queued_points + st.dropped_points < 3000 || st.queued_bytes > 4096);
	assert_true(st.dropped_points > 0);
	assert_true(st.lag_s > 0);
	let_go(&b.fakes[0]);
	wait_sent(&b, 0, 3000 - st.dropped_points);
	sent = status(&b, 0).sent_points;
	assert_int_equal(sent + status(&b, 0).dropped_points, 3000);
	assert_got(&b.fakes[0], 3000 - sent + 1, 3000);
	stop(&b, 0);
	done(&b);
}

/* Waiting for a receiver ends with the grace period; unsent bodies remain queued. */
static void stopping_ends_a_hanging_send(void **state)
{
	struct bench b;

	prepare(&b, 1);
	b.fakes[0].hangs = true;
	start(&b, in_dir("hang"));
	feed(&b, 1, 10);
	stop(&b, 50);
	let_go(&b.fakes[0]);
	start(&b, in_dir("hang"));
	wait_sent(&b, 0, 10);
	assert_got(&b.fakes[0], 1, 10);
	stop(&b, 0);
	done(&b);
}

static void stopping_sends_the_queue(void **state)
{
	struct bench b;

	prepare(&b, 1);
	b.settings[0].push.flush_ns = 3600 * 1000 * MS;
	start(&b, NULL);
	feed(&b, 1, 50);
	stop(&b, 10000);
	assert_got(&b.fakes[0], 1, 50);
	done(&b);
}

/* The thread does not spin when a retry delay is over. */
static void thread_does_not_spin_after_a_failure(void **state)
{
	struct rusage before, after;
	struct bench b;
	double took;

	prepare(&b, 1);
	b.fakes[0].fail_opens = 1;
	b.settings[0].push.flush_ns = 100 * MS;
	getrusage(RUSAGE_SELF, &before);
	start(&b, NULL);
	wait_count(&b.fakes[0], &b.fakes[0].n_opens, 2);
	usleep(1500000);
	getrusage(RUSAGE_SELF, &after);
	stop(&b, 0);
	took = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6 +
	       (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec);
	assert_true(took < 0.5);
	assert_int_equal(b.fakes[0].n_opens, 2);
	done(&b);
}

static void profiles_wait_like_points(void **state)
{
	struct bench b;

	prepare(&b, 1);
	b.exports[0].type = &fake_profiles;
	b.fakes[0].away = true;
	start(&b, in_dir("profiles"));
	exporters_take_profile(b.x, "pprof", STR_LIT("first "), 10, 1, 2);
	wait_ships(&b.fakes[0], 1);
	exporters_take_profile(b.x, "pprof", STR_LIT("second "), 20, 2, 3);
	stop(&b, 0);
	let_go(&b.fakes[0]);
	start(&b, in_dir("profiles"));
	exporters_take_profile(b.x, "pprof", STR_LIT("third "), 30, 3, 4);
	wait_sent(&b, 0, 60);
	assert_string_equal(b.fakes[0].got.bytes, "first second third ");
	stop(&b, 0);
	done(&b);
}

/* ---- the spool alone ---- */

static uint64_t put(struct spool *s, const char *body, uint64_t points)
{
	return spool_put(s, &(struct export_body){ str_of(body), points, (int64_t)points, (int64_t)points + 1 });
}

static void assert_first(struct spool *s, const char *body, uint64_t points)
{
	struct export_body item;

	assert_true(spool_first(s, &item));
	assert_true(str_is(item.body, body));
	assert_int_equal(item.n_points, points);
	assert_int_equal(item.from_ns, points);
	assert_int_equal(item.to_ns, points + 1);
}

static void the_spool_leaves_strangers_alone(void **state)
{
	struct export_body item;
	struct spool *s;

	mkdir(in_dir("strange"), 0700);
	put_file("strange/README", "mine\n");
	put_file("strange/00000000000000aa", "no head\n");
	put_file("strange/00000000000000ab", "tacho 2 fake five 0 0\nbody");
	put_file("strange/0000000000000007.new", "tacho 2 fake 5 5 6\nhalf");
	put_file("strange/0000000000000009", "tacho 2 fake 5 5 6\nwhole");
	assert_int_equal(spool_open(&s, in_dir("strange"), "fake", 1 << 20, NULL), 0);
	assert_int_equal(spool_points(s), 5);
	assert_first(s, "whole", 5);
	assert_int_equal(put(s, "next", 2), 0);
	spool_drop_first(s);
	assert_first(s, "next", 2);
	spool_drop_first(s);
	assert_false(spool_first(s, &item));
	spool_drop_first(s);		/* empty: no effect */
	assert_int_equal(spool_bytes(s), 0);
	assert_int_equal(spool_points(s), 0);
	assert_int_equal(spool_oldest_ns(s), 0);
	spool_close(s);
	assert_int_equal(access(in_dir("strange/README"), F_OK), 0);
	assert_int_equal(access(in_dir("strange/00000000000000aa"), F_OK), 0);
	assert_int_not_equal(access(in_dir("strange/0000000000000007.new"), F_OK), 0);
}

/* Items of another type under this name, or of a version without a format, are deleted. */
static void the_spool_keeps_to_its_format(void **state)
{
	struct spool *s;
	uint64_t foreign;

	mkdir(in_dir("formats"), 0700);
	put_file("formats/0000000000000001", "tacho 2 other 5 5 6\nbody");
	put_file("formats/0000000000000002", "tacho 1 7 7 8\nbody");
	put_file("formats/0000000000000003", "tacho 2 fake 2 2 3\nmine");
	put_file("formats/0000000000000004", "tacho 2 fake+gzip 11 2 3\nbody");
	assert_int_equal(spool_open(&s, in_dir("formats"), "fake", 1 << 20, &foreign), 0);
	assert_int_equal(foreign, 5 + 7 + 11);
	assert_int_equal(spool_points(s), 2);
	assert_first(s, "mine", 2);
	spool_close(s);
	assert_int_not_equal(access(in_dir("formats/0000000000000001"), F_OK), 0);
	assert_int_equal(spool_open(&s, in_dir("formats"), "fake", 1 << 20, &foreign), 0);
	assert_int_equal(foreign, 0);
	assert_first(s, "mine", 2);
	spool_close(s);
}

/* The export 'one' becomes another type's while its receiver is away: nothing of the old leaves as new,
 * and what does not is counted. */
static void another_type_does_not_send_the_old_queue(void **state)
{
	struct exporter_type second = fake_type;
	struct bench b;

	second.name = "second";
	prepare(&b, 1);
	b.fakes[0].away = true;
	start(&b, in_dir("."));
	feed(&b, 1, 150);
	wait_ships(&b.fakes[0], 1);
	stop(&b, 0);
	let_go(&b.fakes[0]);
	b.n_logs = 0;
	b.exports[0].type = &second;
	start(&b, in_dir("."));
	assert_int_equal(status(&b, 0).dropped_points, 150);
	assert_string_equal(b.log, "export 'one': dropped 150 queued points that are not in the format second");
	assert_int_equal(b.n_logs, 1);
	feed(&b, 501, 600);
	wait_sent(&b, 0, 100);
	assert_got(&b.fakes[0], 501, 600);
	stop(&b, 0);
	done(&b);
}

/* A steady stream of items: the list is compacted and the order kept. */
static void the_spool_runs_on(void **state)
{
	struct spool *s;
	char body[32];

	assert_int_equal(spool_open(&s, NULL, "fake", 1 << 20, NULL), 0);
	for (uint64_t i = 1; i <= 5000; i++) {
		snprintf(body, sizeof(body), "body %llu", (unsigned long long)i);
		assert_int_equal(put(s, body, i), 0);
		if (i > 100) {
			snprintf(body, sizeof(body), "body %llu", (unsigned long long)i - 100);
			assert_first(s, body, i - 100);
			spool_drop_first(s);
		}
	}
	spool_close(s);
}

static void full_disk_is_survived(void **state)
{
	char path[PATH_MAX];
	struct spool *s;

	snprintf(path, sizeof(path), "%s", in_dir("gone"));
	assert_int_equal(spool_open(&s, path, "fake", 1 << 20, NULL), 0);
	assert_int_equal(put(s, "on disk", 1), 0);
	assert_int_equal(rmdir(path), -1);
	assert_int_equal(unlink(in_dir("gone/0000000000000000")), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(put(s, "in memory", 2), 0);
	assert_first(s, "in memory", 2);	/* the first file was removed */
	spool_close(s);
}

static void a_queue_belongs_to_one(void **state)
{
	struct spool *s, *other;
	struct export_body item;

	assert_int_equal(spool_open(&s, in_dir("shared"), "fake", 1 << 20, NULL), 0);
	assert_int_equal(put(s, "mine", 1), 0);
	assert_int_equal(spool_open(&other, in_dir("shared"), "fake", 1 << 20, NULL), 0);
	assert_false(spool_first(other, &item));
	assert_int_equal(put(other, "in memory", 2), 0);
	assert_first(other, "in memory", 2);
	spool_close(other);
	assert_first(s, "mine", 1);
	spool_close(s);
	assert_int_equal(spool_open(&s, in_dir("shared"), "fake", 1 << 20, NULL), 0);
	assert_first(s, "mine", 1);
	spool_close(s);
}

static void a_body_beyond_the_bound_is_refused(void **state)
{
	struct spool *s;
	char body[200] = { 0 };

	memset(body, 'x', sizeof(body) - 1);
	assert_int_equal(spool_open(&s, NULL, "fake", 128, NULL), 0);
	assert_int_equal(put(s, body, 7), 7);
	assert_int_equal(put(s, "small", 3), 0);
	assert_int_equal(put(s, "smaller", 4), 3);	/* 64 bytes are counted for the header */
	assert_first(s, "smaller", 4);
	spool_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_are_repeated_in_order),
		cmocka_unit_test(refusals_are_dropped_and_counted),
		cmocka_unit_test(rejected_points_are_counted),
		cmocka_unit_test(a_held_receiver_holds_nobody),
		cmocka_unit_test(only_chosen_sources_are_sent),
		cmocka_unit_test(large_batches_are_cut),
		cmocka_unit_test_setup_teardown(queue_survives_a_restart, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(a_full_queue_drops_the_oldest, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(stopping_ends_a_hanging_send, dir_setup, dir_teardown),
		cmocka_unit_test(stopping_sends_the_queue),
		cmocka_unit_test(thread_does_not_spin_after_a_failure),
		cmocka_unit_test_setup_teardown(profiles_wait_like_points, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(the_spool_leaves_strangers_alone, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(the_spool_keeps_to_its_format, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(another_type_does_not_send_the_old_queue, dir_setup, dir_teardown),
		cmocka_unit_test(the_spool_runs_on),
		cmocka_unit_test_setup_teardown(full_disk_is_survived, dir_setup, dir_teardown),
		cmocka_unit_test_setup_teardown(a_queue_belongs_to_one, dir_setup, dir_teardown),
		cmocka_unit_test(a_body_beyond_the_bound_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
