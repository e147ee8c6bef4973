/*
 * HTTP by libcurl. A connection error, a timeout, a redirect, 408, 429 and 5xx mean later; other refusals
 * mean never. The receiver's own words are kept, as far as they fit.
 */
#include "agent/export/http_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"

#define SAID_MAX 4096		/* of an answer: it may be a message that must be read */
#define SHOWN_MAX 160
#define LOOK_UP_MS 100

struct ship_http {
	CURL *curl;
	CURLM *multi;			/* has the connection; lets us look up while it waits */
	struct curl_slist *headers;
	const struct exporter_env *env;
	char said[SAID_MAX];		/* the beginning of the answer */
	size_t n_said;
	long status;			/* 0: there was none */
	char why[CURL_ERROR_SIZE];
};

static size_t hear(char *bytes, size_t size, size_t n, void *arg)
{
	struct ship_http *h = arg;
	size_t room = SAID_MAX - h->n_said, some = min_of(size * n, room);

	memcpy(h->said + h->n_said, bytes, some);
	h->n_said += some;
	return size * n;
}

/* The agent is asked to end: nothing is waited for beyond its grace. */
static bool out_of_time(const struct ship_http *h)
{
	uint64_t by = h->env->stop_by_ns ? *h->env->stop_by_ns : 0;

	return by && clock_mono_ns() > by;
}

static int add_header(struct ship_http *h, const char *text)
{
	struct curl_slist *more = curl_slist_append(h->headers, text);

	if (!more)
		return -ENOMEM;
	h->headers = more;
	return 0;
}

static int add_headers(struct ship_http *h, const struct http_settings *s, const char *const *fixed)
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
		/* A header without a value is written with a semicolon, or curl would remove it. */
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

static void set_up(struct ship_http *h, const struct http_settings *s, const struct push_settings *push)
{
	CURL *c = h->curl;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_USERAGENT, "tacho/" TACHO_VERSION);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)(push->timeout_ns / 1000000));
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, h->why);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, hear);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);	/* does not wait for a name server */
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

int ship_http_open(struct ship_http **out, const struct http_settings *s, const struct push_settings *push,
		   const struct exporter_env *env, const char *const *headers, struct tacho_error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct ship_http *h = calloc(1, sizeof(*h));

	pthread_once(&once, start_curl);
	if (!h)
		return error_nomem(e);
	h->env = env;
	h->curl = curl_easy_init();
	h->multi = curl_multi_init();
	if (!h->curl || !h->multi || add_headers(h, s, headers) < 0) {
		ship_http_close(h);
		return error_nomem(e);
	}
	set_up(h, s, push);
	*out = h;
	return 0;
}

/* As much of the URL as may be shown: no query, which may have names in it. */
static int shown(const char *url)
{
	return (int)min_of(strcspn(url, "?"), (size_t)80);
}

/* A redirect is not followed: a token must not go where nobody said it may. */
static void hear_redirect(struct ship_http *h)
{
	char *to = NULL;
	int n;

	if (curl_easy_getinfo(h->curl, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to)
		return;
	n = snprintf(h->said, sizeof(h->said), "the receiver is at %.*s: put that into url", shown(to), to);
	h->n_said = n > 0 ? min_of((size_t)n, (size_t)SAID_MAX) : 0;
}

static enum ship_result judge(struct ship_http *h, const char *url, struct ship_reply *reply)
{
	char words[SHOWN_MAX + 1];
	curl_off_t after = 0;

	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &h->status);
	curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after);
	if (after > 0)
		reply->retry_after_s = (double)after;
	if (h->status >= 300 && h->status < 400)
		hear_redirect(h);
	ship_http_words(words, sizeof(words), ship_http_answer(h));
	if (ship_http_result(h->status) != SHIP_DONE)
		snprintf(reply->text, sizeof(reply->text), "%.*s answered %ld%s%s", shown(url), url, h->status,
			 words[0] ? ": " : "", words);
	return ship_http_result(h->status);
}

static CURLcode perform(struct ship_http *h)
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
			curl_multi_poll(h->multi, NULL, 0, LOOK_UP_MS, NULL);
	}
	while ((msg = curl_multi_info_read(h->multi, &left)))
		if (msg->msg == CURLMSG_DONE)
			code = msg->data.result;
	curl_multi_remove_handle(h->multi, h->curl);
	return code;
}

enum ship_result ship_http_post(struct ship_http *h, const char *url, struct str body,
				struct ship_reply *reply)
{
	CURLcode code;

	h->n_said = 0;
	h->status = 0;
	h->why[0] = '\0';
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, body.s);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
	code = perform(h);
	if (code == CURLE_OK)
		return judge(h, url, reply);
	snprintf(reply->text, sizeof(reply->text), "%.*s: %.150s", shown(url), url,
		 h->why[0] ? h->why : curl_easy_strerror(code));
	return SHIP_RETRY;
}

long ship_http_status(const struct ship_http *h)
{
	return h->status;
}

struct str ship_http_answer(const struct ship_http *h)
{
	return str_n(h->said, h->n_said);
}

void ship_http_close(struct ship_http *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->curl);
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	free(h);
}
