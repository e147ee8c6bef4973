/*
 * URLs, headers and answers of HTTP exporters, independent of the HTTP library.
 */
#include "agent/export/http_client.h"

#include <ctype.h>
#include <errno.h>

#include "base/error.h"

/* Whether name and value form a single valid header line. */
static bool is_valid_header(const struct key_pair *h)
{
	for (const char *c = h->name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	return *h->name && !strpbrk(h->value, "\r\n");
}

int http_settings_check(const struct http_settings *s, struct tacho_error *e)
{
	if (!s->user != !s->password)
		return error_set(e, -EINVAL, "user and password must be given together");
	if (s->user && s->token)
		return error_set(e, -EINVAL, "either token or user and password can be given, not both");
	if (!s->cert != !s->key)
		return error_set(e, -EINVAL, "cert and key must be given together");
	if (s->token && strpbrk(s->token, "\r\n"))
		return error_set(e, -EINVAL, "token: it contains a line break");
	for (size_t i = 0; i < s->headers.n; i++)
		if (!is_valid_header(&s->headers.v[i]))
			return error_set(e, -EINVAL, "headers: '%.60s' is not the name and value of a header",
					 s->headers.v[i].name);
	return 0;
}

enum send_result http_status_result(long status)
{
	if (status >= 200 && status < 300)
		return SEND_DONE;
	/* A redirect says nothing about the body, which waits until the address is corrected. */
	return status == 408 || status == 429 || status >= 500 || (status >= 300 && status < 400)
		       ? SEND_RETRY : SEND_DROP;
}

void http_answer_line(char *out, size_t size, struct str answer)
{
	size_t n = 0;

	while (answer.n && strchr("\r\n ", answer.s[0] ? answer.s[0] : 1))
		answer = str_n(answer.s + 1, answer.n - 1);
	for (size_t i = 0; i < answer.n && n + 1 < size && answer.s[i] != '\r' && answer.s[i] != '\n'; i++)
		out[n++] = answer.s[i];
	out[n] = '\0';
	str_make_printable(out, n);
}

void url_escape(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.s[i];

		if ((c < 128 && isalnum(c)) || strchr("-._~", c ? c : 1))
			buf_putc(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

void url_with_path(struct buf *out, const char *url, const char *path)
{
	const char *host = strstr(url, "://"), *slash = strchr(host ? host + 3 : url, '/');

	buf_puts(out, url);
	if (slash && slash[1])
		return;
	buf_puts(out, slash ? path + 1 : path);
}
