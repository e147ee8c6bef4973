/*
 * Fetches files with libcurl, which is loaded at run time, so that other commands start without it.
 *
 *	request   Range: bytes=N-, If-Range: TAG	resumes after N bytes of the version TAG
 *	          If-None-Match: TAG			if the complete file already exists
 *	answer    206: the rest    200: the whole file    304: not changed
 *
 * Only the bodies of 200 and 206 are written to the file. Proxies are taken from the environment;
 * certificates are checked against those of the system or of SSL_CERT_FILE.
 */
#include "cli/events/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "base/num.h"
#include "base/shared_library.h"

static struct {
	void *library;
	__typeof__(&curl_global_init) global_init;
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_setopt) set;
	__typeof__(&curl_easy_getinfo) get;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_reset) reset;
	__typeof__(&curl_easy_cleanup) cleanup;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_slist_append) append;
	__typeof__(&curl_slist_free_all) free_all;
} lib;

struct fetch {
	CURL *curl;
	uint32_t timeout_s;
	char why[CURL_ERROR_SIZE];
	/* state of the response that is being read */
	struct fetch_job *job;
	uint64_t done, total, from;	/* bytes in the file; its full size; offset of a 206 body */
	bool begun;			/* the first byte of the body has arrived */
	bool stale, too_large;
	int write_err;
};

#define LOAD(field, name) (*(void **)&lib.field = shared_library_find(lib.library, name))

static bool load_libcurl(void)
{
	if (lib.library)
		return true;
	lib.library = shared_library_open("libcurl.so.4");
	if (!lib.library)
		return false;
	if (LOAD(global_init, "curl_global_init") && LOAD(init, "curl_easy_init") &&
	    LOAD(set, "curl_easy_setopt") && LOAD(get, "curl_easy_getinfo") &&
	    LOAD(perform, "curl_easy_perform") && LOAD(reset, "curl_easy_reset") &&
	    LOAD(cleanup, "curl_easy_cleanup") && LOAD(strerror, "curl_easy_strerror") &&
	    LOAD(append, "curl_slist_append") && LOAD(free_all, "curl_slist_free_all") &&
	    lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return true;
	shared_library_close(lib.library);
	lib.library = NULL;
	return false;
}

int fetch_open(struct fetch **out, uint32_t timeout_s, struct tacho_error *e)
{
	struct fetch *f;

	if (!load_libcurl()) {
		error_set(e, -EOPNOTSUPP, "cannot load libcurl.so.4, which is needed to fetch files");
		error_hint(e, "install libcurl4, or name a directory with --from DIR");
		return -EOPNOTSUPP;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return error_nomem(e);
	f->timeout_s = timeout_s;
	f->curl = lib.init();
	if (!f->curl) {
		free(f);
		return error_nomem(e);
	}
	*out = f;
	return 0;
}

void fetch_close(struct fetch *f)
{
	if (!f)
		return;
	lib.cleanup(f->curl);
	free(f);
}

/* ---- reading the response ---- */

static bool header_value(struct str line, const char *name, struct str *out)
{
	struct str key;

	if (!str_cut(&line, ':', &key) || !str_ieq(str_trim(key), str_of(name)))
		return false;
	*out = str_trim(line);
	return true;
}

/* Parses the value of Content-Range: "bytes 100-199/200". */
static void parse_range(struct fetch *f, struct str value)
{
	struct str part;
	uint64_t n;

	if (!str_starts(value, "bytes "))
		return;
	value = str_n(value.s + 6, value.n - 6);
	str_cut(&value, '-', &part);
	if (num_u64(str_trim(part), &n) == 0)
		f->from = n;
	str_cut(&value, '/', &part);
	if (value.s && num_u64(str_trim(value), &n) == 0)
		f->total = n;
}

static size_t on_header(char *bytes, size_t size, size_t n, void *arg)
{
	struct fetch *f = arg;
	struct str line = str_trim(str_n(bytes, size * n)), value;

	if (str_starts(line, "HTTP/")) {	/* a new response, e.g. after a redirection */
		f->job->new_tag[0] = '\0';
		f->total = 0;
		f->from = UINT64_MAX;
	} else if (header_value(line, "etag", &value)) {
		if (value.n < FETCH_TAG_MAX && str_is_printable(value))
			snprintf(f->job->new_tag, FETCH_TAG_MAX, "%.*s", STR(value));
	} else if (header_value(line, "content-length", &value)) {
		if (!f->total)
			num_u64(value, &f->total);
	} else if (header_value(line, "content-range", &value)) {
		parse_range(f, value);
	}
	return size * n;
}

static long status_of(struct fetch *f)
{
	long status = 0;

	lib.get(f->curl, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* Called at the first byte of a body: seeks to its position in the file. Returns false if the body cannot
 * be used. */
static bool begin_body(struct fetch *f, long status)
{
	struct fetch_job *job = f->job;

	f->begun = true;
	if (status == 200) {
		f->done = 0;
		f->write_err = ftruncate(job->fd, 0) < 0 ? -errno : 0;
	} else {
		/* The body must continue the bytes in the file: same offset and same ETag. */
		f->stale = f->from != job->have || (job->new_tag[0] && strcmp(job->tag, job->new_tag) != 0);
		f->done = job->have;
	}
	if (!f->write_err && lseek(job->fd, (off_t)f->done, SEEK_SET) < 0)
		f->write_err = -errno;
	return !f->stale && !f->write_err;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
	struct fetch *f = arg;
	long status = status_of(f);

	n *= size;
	if (status != 200 && status != 206)
		return n;
	if (!f->begun && !begin_body(f, status))
		return 0;
	if (f->done + n > f->job->limit || f->total > f->job->limit) {
		f->too_large = true;
		return 0;
	}
	f->write_err = io_write_all(f->job->fd, bytes, n);
	if (f->write_err < 0)
		return 0;
	f->done += n;
	if (f->job->progress)
		f->job->progress(f->job->arg, f->done, f->total);
	return n;
}

/* ---- the request ---- */

static int add_header(struct curl_slist **l, const char *name, const char *value)
{
	char line[FETCH_TAG_MAX + 40];
	struct curl_slist *more;

	snprintf(line, sizeof(line), "%s: %s", name, value);
	more = lib.append(*l, line);
	if (!more)
		return -ENOMEM;
	*l = more;
	return 0;
}

static void set_curl_options(struct fetch *f, struct curl_slist *headers)
{
	const char *trusted = secure_getenv("SSL_CERT_FILE");	/* libcurl does not read this variable */
	bool tls = !strncasecmp(f->job->url, "https:", 6);

	lib.reset(f->curl);	/* does not close the connection */
	lib.set(f->curl, CURLOPT_URL, f->job->url);
	lib.set(f->curl, CURLOPT_NOSIGNAL, 1L);
	lib.set(f->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	lib.set(f->curl, CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https");
	lib.set(f->curl, CURLOPT_FOLLOWLOCATION, 1L);
	lib.set(f->curl, CURLOPT_MAXREDIRS, 5L);
	lib.set(f->curl, CURLOPT_USERAGENT, "tacho/" TACHO_VERSION);
	lib.set(f->curl, CURLOPT_CONNECTTIMEOUT, (long)f->timeout_s);
	lib.set(f->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	lib.set(f->curl, CURLOPT_LOW_SPEED_TIME, (long)f->timeout_s);
	lib.set(f->curl, CURLOPT_ERRORBUFFER, f->why);
	lib.set(f->curl, CURLOPT_HEADERFUNCTION, on_header);
	lib.set(f->curl, CURLOPT_HEADERDATA, f);
	lib.set(f->curl, CURLOPT_WRITEFUNCTION, on_body);
	lib.set(f->curl, CURLOPT_WRITEDATA, f);
	lib.set(f->curl, CURLOPT_HTTPHEADER, headers);
	if (trusted && *trusted)
		lib.set(f->curl, CURLOPT_CAINFO, trusted);
}

static int make_headers(const struct fetch_job *job, struct curl_slist **out)
{
	char range[40];
	int err = 0;

	if (job->have) {
		snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long)job->have);
		err = add_header(out, "Range", range);
		if (!err)
			err = add_header(out, "If-Range", job->tag);
	} else if (*job->unless) {
		err = add_header(out, "If-None-Match", job->unless);
	}
	return err;
}

/* ---- the result ---- */

/* Returns the URL without password and query, for messages. */
static const char *url_without_secrets(const char *url, char *out, size_t size)
{
	const char *host = strstr(url, "://"), *at;
	size_t n;

	host = host ? host + 3 : url;
	n = strcspn(host, "/?#");
	at = memrchr(host, '@', n);
	snprintf(out, size, "%.*s%.*s", (int)(at ? host - url : 0), url,
		 (int)strcspn(at ? at + 1 : url, "?#"), at ? at + 1 : url);
	return out;
}

static int report_http_status(struct fetch *f, long status, struct tacho_error *e)
{
	char url[200];

	url_without_secrets(f->job->url, url, sizeof(url));
	if (status == 416)
		return error_set(e, -ESTALE, "%s has changed", url);
	if (status == 404 || status == 410)
		return error_set(e, -ENOENT, "%s does not exist (the server answered %ld)", url, status);
	if (status == 408 || status == 429 || status >= 500)
		return error_set(e, -EAGAIN, "%s: the server answered %ld", url, status);
	return error_set(e, -EIO, "%s: the server answered %ld", url, status);
}

static int curl_error_errno(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST: case CURLE_COULDNT_RESOLVE_PROXY: case CURLE_COULDNT_CONNECT:
	case CURLE_PEER_FAILED_VERIFICATION: case CURLE_SSL_CACERT_BADFILE: case CURLE_SSL_CONNECT_ERROR:
	case CURLE_UNSUPPORTED_PROTOCOL: case CURLE_URL_MALFORMAT:
		return -EHOSTUNREACH;
	case CURLE_PARTIAL_FILE: case CURLE_RECV_ERROR: case CURLE_SEND_ERROR: case CURLE_GOT_NOTHING:
	case CURLE_OPERATION_TIMEDOUT: case CURLE_HTTP2: case CURLE_HTTP2_STREAM:
		return -EAGAIN;
	default:
		return code == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EIO;
	}
}

static void hint_for_curl_error(CURLcode code, struct tacho_error *e)
{
	if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
		error_hint(e, "the server's certificate is not trusted; SSL_CERT_FILE can name "
			   "a file of trusted certificates");
	else if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT)
		error_hint(e, "--from takes http://..., https://... or a directory");
	else if (curl_error_errno(code) == -EHOSTUNREACH)
		error_hint(e, "without network access, fetch the files elsewhere and name their "
			   "directory with --from DIR");
}

static int report_curl_error(struct fetch *f, CURLcode code, struct tacho_error *e)
{
	char url[200];
	int err;

	url_without_secrets(f->job->url, url, sizeof(url));
	if (f->stale)
		return error_set(e, -ESTALE, "%s has changed", url);
	if (f->too_large)
		return error_set(e, -EFBIG, "%s is larger than %llu MB", url,
				 (unsigned long long)f->job->limit >> 20);
	if (f->write_err)
		return error_set(e, f->write_err, "cannot write the file: %s", strerror(-f->write_err));
	err = error_set(e, curl_error_errno(code), "%s: %.200s", url, f->why[0] ? f->why : lib.strerror(code));
	hint_for_curl_error(code, e);
	return err;
}

static int transfer_result(struct fetch *f, CURLcode code, struct tacho_error *e)
{
	long status = status_of(f);

	if (code != CURLE_OK)
		return report_curl_error(f, code, e);
	if (status == 304 && *f->job->unless) {
		f->job->unchanged = true;
		return 0;
	}
	if (status != 200 && status != 206)
		return report_http_status(f, status, e);
	/* For an empty body, begin_body() has not been called yet. */
	return f->begun || begin_body(f, status) ? 0 : report_curl_error(f, code, e);
}

int fetch_get(struct fetch *f, struct fetch_job *job, struct tacho_error *e)
{
	struct curl_slist *headers = NULL;
	int err = make_headers(job, &headers);

	job->unchanged = false;
	f->job = job;
	f->done = f->total = 0;
	f->from = UINT64_MAX;
	f->begun = f->stale = f->too_large = false;
	f->write_err = 0;
	f->why[0] = '\0';
	if (err < 0) {
		error_nomem(e);
	} else {
		set_curl_options(f, headers);
		err = transfer_result(f, lib.perform(f->curl), e);
	}
	lib.free_all(headers);
	f->job = NULL;
	return err;
}
