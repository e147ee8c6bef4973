/*
 * HTTP client based on libcurl. A connection error, a timeout, a redirect, 408, 429 and 5xx mean
 * retry; other errors mean drop. The beginning of the receiver's answer is stored for messages.
 */
#include "agent/export/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"

#define ANSWER_MAX 4096		/* bytes of an answer that are stored: some are parsed */
#define MESSAGE_MAX 160
#define POLL_MS 100

struct http_client {
	CURL *curl;
	CURLM *multi; /* owns the connection; allows checking for stop while waiting */
	struct curl_slist *headers;
	const struct exporter_env *env;
	char answer[ANSWER_MAX];		/* the beginning of the answer */
	size_t n_answer;
	long status;			/* 0: no answer */
	struct http_get *get;		/* while a file is got */
	char why[CURL_ERROR_SIZE];
};

static size_t append_answer(char *bytes, size_t size, size_t n, void *arg)
{
	struct http_client *h = arg;
	size_t space = ANSWER_MAX - h->n_answer, some = min_of(size * n, space);

	if (h->get && h->get->body->n + size * n > h->get->max_body)
		return 0;		/* curl fails */
	if (h->get)
		buf_put(h->get->body, bytes, size * n);
	memcpy(h->answer + h->n_answer, bytes, some);
	h->n_answer += some;
	return size * n;
}

/* Whether the agent is stopping and its time limit has passed. */
static bool out_of_time(const struct http_client *h)
{
	uint64_t by = h->env->stop_by_ns ? *h->env->stop_by_ns : 0;

	return by && clock_mono_ns() > by;
}

static int add_header(struct http_client *h, const char *text)
{
	struct curl_slist *more = curl_slist_append(h->headers, text);

	if (!more)
		return -ENOMEM;
	h->headers = more;
	return 0;
}

static int add_headers(struct http_client *h, const struct http_settings *s, const char *const *fixed)
{
	struct buf line = { 0 };
	int err = add_header(h, "Expect:");

	for (; !err && *fixed; fixed++)
		err = add_header(h, *fixed);
	if (!err && s->token) {
		buf_printf(&line, "Authorization: Bearer %s", s->token);
		err = buf_failed(&line) ? -ENOMEM : add_header(h, line.bytes);
	}
	for (size_t i = 0; !err && i < s->headers.n; i++) {
		buf_clear(&line);
		/* curl needs a semicolon after a header without a value, otherwise it removes the
		 * header. */
		buf_printf(&line, "%s%s%s", s->headers.v[i].name, *s->headers.v[i].value ? ": " : ";",
			   s->headers.v[i].value);
		err = buf_failed(&line) ? -ENOMEM : add_header(h, line.bytes);
	}
	buf_done(&line);
	return err;
}

static void set_tls(CURL *c, const struct http_settings *s)
{
	if (s->ca)
		curl_easy_setopt(c, CURLOPT_CAINFO, s->ca);
	if (s->cert) {
		curl_easy_setopt(c, CURLOPT_SSLCERT, s->cert);
		curl_easy_setopt(c, CURLOPT_SSLKEY, s->key);
	}
	if (s->insecure) {
		curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

static void set_options(struct http_client *h, const struct http_settings *s,
			const struct push_settings *push)
{
	CURL *c = h->curl;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_USERAGENT, "tacho/" TACHO_VERSION);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(push->timeout_ns / 1000000));
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->why);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, append_answer);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);	/* do not wait for name resolution at exit */
	if (s->user) {
		curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(c, CURLOPT_USERNAME, s->user);
		curl_easy_setopt(c, CURLOPT_PASSWORD, s->password);
	}
	set_tls(c, s);
}

static void start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

int http_client_open(struct http_client **out, const struct http_settings *s,
		     const struct push_settings *push, const struct exporter_env *env,
		     const char *const *headers, struct tacho_error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct http_client *h = calloc(1, sizeof(*h));

	pthread_once(&once, start_curl);
	if (!h)
		return error_nomem(e);
	h->env = env;
	h->curl = curl_easy_init();
	h->multi = curl_multi_init();
	if (!h->curl || !h->multi || add_headers(h, s, headers) < 0) {
		http_client_close(h);
		return error_nomem(e);
	}
	set_options(h, s, push);
	*out = h;
	return 0;
}

/* Length of the URL's part that may be shown: without the query, which may contain names. */
static int shown_length(const char *url)
{
	return (int)min_of(strcspn(url, "?"), (size_t)80);
}

/* Redirects are not followed: a token must not be sent to another address. */
static void report_redirect(struct http_client *h)
{
	char *to = NULL;
	int n;

	if (curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to)
		return;
	n = snprintf(h->answer, sizeof(h->answer), "redirected to %.*s: set url to that address",
		     shown_length(to), to);
	h->n_answer = n > 0 ? min_of((size_t)n, (size_t)ANSWER_MAX) : 0;
}

static enum send_result check_answer(struct http_client *h, const char *url, struct send_reply *reply)
{
	char message[MESSAGE_MAX + 1];
	curl_off_t after = 0;

	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &h->status);
	curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after);
	if (after > 0)
		reply->retry_after_s = (double)after;
	if (h->status >= 300 && h->status < 400)
		report_redirect(h);
	http_answer_line(message, sizeof(message), http_client_answer(h));
	if (http_status_result(h->status) != SEND_DONE)
		snprintf(reply->text, sizeof(reply->text), "%.*s answered %ld%s%s",
			 shown_length(url), url, h->status, message[0] ? ": " : "", message);
	return http_status_result(h->status);
}

static CURLcode perform(struct http_client *h)
{
	CURLcode code = CURLE_ABORTED_BY_CALLBACK;
	int running = 1, left;
	CURLMsg *msg;

	if (curl_multi_add_handle(h->multi, h->curl) != CURLM_OK)
		return CURLE_OUT_OF_MEMORY;
	while (running && !out_of_time(h)) {
		if (curl_multi_perform(h->multi, &running) != CURLM_OK)
			break;
		if (running)
			curl_multi_poll(h->multi, NULL, 0, POLL_MS, NULL);
	}
	while ((msg = curl_multi_info_read(h->multi, &left)))
		if (msg->msg == CURLMSG_DONE)
			code = msg->data.result;
	curl_multi_remove_handle(h->multi, h->curl);
	return code;
}

enum send_result http_client_post(struct http_client *h, const char *url, struct str body,
				  struct send_reply *reply)
{
	CURLcode code;

	h->n_answer = 0;
	h->status = 0;
	h->why[0] = '\0';
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body.s);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
	code = perform(h);
	if (code == CURLE_OK)
		return check_answer(h, url, reply);
	snprintf(reply->text, sizeof(reply->text), "%.*s: %.150s", shown_length(url), url,
		 h->why[0] ? h->why : curl_easy_strerror(code));
	return SEND_RETRY;
}

/* Stores the ETag of the answer. */
static size_t read_header(char *bytes, size_t size, size_t n, void *arg)
{
	struct http_client *h = arg;
	struct str line = str_n(bytes, size * n), name;

	if (h->get && str_cut(&line, ':', &name) && str_ieq(name, STR_LIT("etag")) && line.s) {
		line = str_trim(line);
		if (line.n < sizeof(h->get->etag))
			snprintf(h->get->etag, sizeof(h->get->etag), "%.*s", STR(line));
	}
	return size * n;
}

/* The client's headers and the condition; NULL if out of memory. */
static struct curl_slist *headers_of_get(const struct http_client *h, const struct http_get *get)
{
	char condition[HTTP_ETAG_MAX + 20];
	struct curl_slist *headers = NULL, *more;
	bool ok = true;

	for (const struct curl_slist *l = h->headers; l && ok; l = l->next) {
		more = curl_slist_append(headers, l->data);
		ok = more != NULL;
		headers = ok ? more : headers;
	}
	snprintf(condition, sizeof(condition), "If-None-Match: %s", get->known);
	more = ok && *get->known ? curl_slist_append(headers, condition) : headers;
	if (ok && more)
		return more;
	curl_slist_free_all(headers);
	return NULL;
}

static CURLcode perform_get(struct http_client *h, struct http_get *get)
{
	struct curl_slist *headers = headers_of_get(h, get);
	CURLcode code;

	if (!headers)
		return CURLE_OUT_OF_MEMORY;
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(h->curl, CURLOPT_HEADERFUNCTION, read_header);
	curl_easy_setopt(h->curl, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(h->curl, CURLOPT_HTTPGET, 1L);
	h->get = get;
	code = perform(h);
	h->get = NULL;
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers);
	curl_slist_free_all(headers);
	return code;
}

int http_client_get(struct http_client *h, struct http_get *get, struct tacho_error *e)
{
	struct send_reply reply = { 0 };
	CURLcode code;

	h->n_answer = 0;
	h->status = 0;
	h->why[0] = '\0';
	get->etag[0] = '\0';
	curl_easy_setopt(h->curl, CURLOPT_URL, get->url);
	code = perform_get(h, get);
	if (buf_failed(get->body))
		return error_nomem(e);
	if (code == CURLE_WRITE_ERROR)
		return error_set(e, -EFBIG, "%.*s has more than %zu bytes", shown_length(get->url), get->url, get->max_body);
	if (code != CURLE_OK)
		return error_set(e, -EIO, "%.*s: %.150s", shown_length(get->url), get->url,
				 h->why[0] ? h->why : curl_easy_strerror(code));
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &h->status);
	if (h->status == 304 && *get->known)
		return 1;
	return check_answer(h, get->url, &reply) == SEND_DONE ? 0 : error_set(e, -EIO, "%s", reply.text);
}

long http_client_status(const struct http_client *h)
{
	return h->status;
}

struct str http_client_answer(const struct http_client *h)
{
	return str_n(h->answer, h->n_answer);
}

void http_client_close(struct http_client *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->curl);
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	free(h);
}
