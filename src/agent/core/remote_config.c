/*
 * Each round holds the configuration that is current when it starts, so that a reload can change [remote] itself.
 */
#include "agent/core/remote_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/core/signature.h"
#include "agent/export/http_client.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"

#define FILE_BYTES_MAX ((size_t)4 << 20)
#define SIGNATURE_BYTES_MAX ((size_t)4 << 10)
#define WITHOUT_REMOTE_NS 5000000000ull		/* how often to look whether a reload has added [remote] */
#define FILE_NAME "remote.toml"

struct remote_reader {
	struct remote_reader_opts opts;
	pthread_t thread;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	bool stopping;
	struct remote_status status;
	_Atomic uint64_t stop_by_ns;	/* ends a request */
	struct buf etag_of;		/* URL and key that status.etag was got with; of the thread */
	bool is_pending;		/* the stored file could not be put into use; of the thread */
};

/* A file and its version. */
struct remote_file {
	struct buf text, signature;	/* the signature is empty without a public key */
	char etag[HTTP_ETAG_MAX];
};

int remote_config_path(char *out, size_t size, const char *state_dir)
{
	int n = snprintf(out, size, "%s/" FILE_NAME, state_dir);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* ---- getting the file ---- */

static int get_signature(struct http_client *http, const struct remote_config *cfg, struct buf *out, struct tacho_error *e)
{
	scoped(buf_done) struct buf url = { 0 };
	struct http_get get = { .known = "", .body = out, .max_body = SIGNATURE_BYTES_MAX };

	buf_printf(&url, "%s.sig", cfg->http.url);
	if (buf_failed(&url))
		return error_nomem(e);
	get.url = url.bytes;
	return http_client_get(http, &get, e);
}

static int check_signature(struct http_client *http, const struct remote_config *cfg, struct remote_file *f, struct tacho_error *e)
{
	scoped(buf_done) struct buf key = { 0 };
	int err = io_read(cfg->public_key, SIGNATURE_BYTES_MAX, &key);

	if (err < 0)
		return error_set(e, err, "cannot read %s: %s", cfg->public_key, strerror(-err));
	err = get_signature(http, cfg, &f->signature, e);
	return err < 0 ? err : signature_check(buf_view(&key), buf_view(&f->text), buf_view(&f->signature), e);
}

static int get_file(struct http_client *http, const struct remote_config *cfg, const char *known, struct remote_file *out,
		    struct tacho_error *e)
{
	struct http_get get = { .url = cfg->http.url, .known = known, .body = &out->text, .max_body = FILE_BYTES_MAX };
	int err = http_client_get(http, &get, e);

	if (err == 0 && cfg->public_key)
		err = check_signature(http, cfg, out, e);
	memcpy(out->etag, get.etag, sizeof(out->etag));
	return err;
}

/* Returns 1 if the file has not changed. */
static int ask(struct remote_reader *r, const struct remote_config *cfg, const char *known, struct remote_file *out,
	       struct tacho_error *e)
{
	const char *const headers[] = { "Accept: application/toml, text/plain", NULL };
	const struct push_settings push = { .timeout_ns = cfg->timeout_ns };
	const struct exporter_env env = { .stop_by_ns = &r->stop_by_ns };
	struct http_client *http = NULL;
	int err = http_client_open(&http, &cfg->http, &push, &env, headers, e);

	if (err < 0)
		return err;
	err = get_file(http, cfg, known, out, e);
	http_client_close(http);
	return err;
}

/* ---- putting it into use ---- */

static bool is_stored(const struct remote_reader *r, const struct buf *text)
{
	scoped(buf_done) struct buf old = { 0 };

	return io_read(r->opts.config.remote, FILE_BYTES_MAX, &old) == 0 && old.n == text->n &&
	       (!old.n || memcmp(old.bytes, text->bytes, old.n) == 0);
}

static int write_file(const char *path, const struct buf *text, struct tacho_error *e)
{
	scoped(closep) int fd = -1;
	int err = unlink(path) < 0 && errno != ENOENT ? -errno : 0;

	if (err == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (err == 0)
		err = fd < 0 ? -errno : io_write_all(fd, text->bytes, text->n);
	if (err == 0 && fsync(fd) < 0)
		err = -errno;
	return err < 0 ? error_set(e, err, "cannot write %s: %s", path, strerror(-err)) : 0;
}

/* Whether the configuration with the new file is valid. */
static int try_file(const struct remote_reader *r, const char *path, struct tacho_error *e)
{
	struct config_opts opts = r->opts.config;
	struct agent_config *cfg = NULL;
	int err;

	opts.remote = path;
	opts.errors = NULL;
	err = config_load(&cfg, &opts, e);
	config_free(cfg);
	return err;
}

static int rename_file(const char *from, const char *to, struct tacho_error *e)
{
	return rename(from, to) < 0 ? error_set(e, -errno, "cannot rename %s: %s", from, strerror(errno)) : 0;
}

/* The signature is stored as well, so that the file is verified whenever it is read. A crash between the two renames leaves a
 * file without a valid signature, which is not used. */
static int use_file(struct remote_reader *r, const struct remote_file *f, struct tacho_error *e)
{
	const char *stored = r->opts.config.remote;
	char path[PATH_MAX], sig[PATH_MAX], stored_sig[PATH_MAX];
	int err;

	if ((size_t)snprintf(path, sizeof(path), "%s.refused", stored) >= sizeof(path) ||
	    (size_t)snprintf(sig, sizeof(sig), "%s.sig", path) >= sizeof(sig) ||
	    (size_t)snprintf(stored_sig, sizeof(stored_sig), "%s.sig", stored) >= sizeof(stored_sig))
		return error_set(e, -ENAMETOOLONG, "the name of the state directory is too long");
	err = write_file(path, &f->text, e);
	if (err == 0)
		err = write_file(sig, &f->signature, e);
	if (err == 0)
		err = try_file(r, path, e);
	if (err == 0)
		err = rename_file(sig, stored_sig, e);
	if (err == 0)
		err = rename_file(path, stored, e);
	if (err < 0)
		return err;
	err = r->opts.reload(r->opts.reload_arg, e);
	r->is_pending = err < 0;
	return err;
}

/* ---- the thread ---- */

static void set_status(struct remote_reader *r, const struct remote_config *cfg, const struct tacho_error *e)
{
	snprintf(r->status.url, sizeof(r->status.url), "%.*s", (int)min_of(strcspn(cfg->http.url, "?"), (size_t)255), cfg->http.url);
	snprintf(r->status.error, sizeof(r->status.error), "%.590s", e ? e->message : "");
	if (!e)
		r->status.asked_ns = clock_wall_ns();
}

/* An error is logged when it is new, and its end. */
static void report(struct remote_reader *r, const struct remote_config *cfg, int err, const struct tacho_error *e)
{
	bool was_failing, is_new;

	pthread_mutex_lock(&r->lock);
	was_failing = r->status.error[0] != '\0';
	is_new = err < 0 && strncmp(r->status.error, e->message, 590) != 0;
	set_status(r, cfg, err < 0 ? e : NULL);
	pthread_mutex_unlock(&r->lock);
	if (is_new)
		agent_log(r->opts.agent, TACHO_LOG_WARN, "remote configuration: %s%s%s; the previous configuration stays in use", e->message,
			 e->hint[0] ? "; " : "", e->hint);
	else if (err >= 0 && was_failing)
		agent_log(r->opts.agent, TACHO_LOG_INFO, "remote configuration: the server answers again");
}

static void note_version(struct remote_reader *r, const struct remote_file *f, bool changed)
{
	pthread_mutex_lock(&r->lock);
	memcpy(r->status.etag, f->etag, sizeof(r->status.etag));
	if (changed)
		r->status.changed_ns = clock_wall_ns();
	pthread_mutex_unlock(&r->lock);
}

static void done_file(struct remote_file *f)
{
	buf_done(&f->text);
	buf_done(&f->signature);
}

/* A version is known only of the same URL and key, and if the stored file is in use. */
static void find_known(struct remote_reader *r, const struct remote_config *cfg, char known[HTTP_ETAG_MAX])
{
	struct buf now = { 0 };
	bool same;

	buf_printf(&now, "%s\n%s", cfg->http.url, cfg->public_key ? cfg->public_key : "");
	same = cfg->in_use && !buf_failed(&now) && str_eq(buf_view(&now), buf_view(&r->etag_of));
	buf_done(&r->etag_of);
	r->etag_of = now;
	pthread_mutex_lock(&r->lock);
	if (!same)
		r->status.etag[0] = '\0';
	memcpy(known, r->status.etag, HTTP_ETAG_MAX);
	pthread_mutex_unlock(&r->lock);
}

static void run_round(struct remote_reader *r, const struct remote_config *cfg)
{
	scoped(done_file) struct remote_file f = { 0 };
	struct tacho_error e = { .column = -1 };
	char known[HTTP_ETAG_MAX];
	int err;

	find_known(r, cfg, known);
	err = ask(r, cfg, known, &f, &e);
	if (err == 0) {
		bool stored = cfg->in_use && is_stored(r, &f.text);

		if (!stored || r->is_pending)
			err = use_file(r, &f, &e);
		if (err == 0)
			note_version(r, &f, !stored);
	}
	if (!r->stop_by_ns)
		report(r, cfg, err, &e);
}

static uint64_t run_once(struct remote_reader *r)
{
	const struct agent_config *cfg;
	uint64_t wait_ns = WITHOUT_REMOTE_NS;

	pthread_rwlock_rdlock(&r->opts.agent->config_lock);
	cfg = config_hold(r->opts.agent->config);
	pthread_rwlock_unlock(&r->opts.agent->config_lock);
	if (cfg->remote.http.url) {
		run_round(r, &cfg->remote);
		wait_ns = cfg->remote.interval_ns;
	}
	config_free(cfg);
	return wait_ns;
}

static void wait_for(struct remote_reader *r, uint64_t ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ns / 1000000000u);
	until.tv_nsec += (long)(ns % 1000000000u);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&r->lock);
	while (!r->stopping && pthread_cond_timedwait(&r->wake, &r->lock, &until) == 0)
		;
	pthread_mutex_unlock(&r->lock);
}

static void *remote_thread(void *arg)
{
	struct remote_reader *r = arg;

	while (!r->stop_by_ns)
		wait_for(r, run_once(r));
	return NULL;
}

int remote_reader_start(struct remote_reader **out, const struct remote_reader_opts *opts)
{
	struct remote_reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;
	int err;

	if (!r)
		return -ENOMEM;
	r->opts = *opts;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->wake, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&r->thread, NULL, remote_thread, r);
	if (err) {
		free(r);
		return -err;
	}
	pthread_setname_np(r->thread, "remote-config");
	*out = r;
	return 0;
}

void remote_reader_status(struct remote_reader *r, struct remote_status *out)
{
	pthread_mutex_lock(&r->lock);
	*out = r->status;
	pthread_mutex_unlock(&r->lock);
}

void remote_reader_stop(struct remote_reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	r->stop_by_ns = clock_mono_ns();
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	buf_done(&r->etag_of);
	free(r);
}
