/*
 * Serves the web page: a single file, compressed at build time, and sent uncompressed to clients
 * that do not accept gzip. Clients with a current copy get 304. Its content security policy allows
 * exactly the page's own script and style, and no external resources.
 */
#include "agent/http/page.h"

#include <stdio.h>

#include "agent/http/access.h"

static const char *request_header(const struct request *q, const char *name)
{
	const char *value = MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, name);

	return value ? value : "";
}

/* Whether a quality value such as "q=0" or "q=0.000" means "not acceptable". */
static bool is_refused(struct str weight)
{
	for (size_t i = 0; i < weight.n; i++)
		if (weight.s[i] >= '1' && weight.s[i] <= '9')
			return false;
	return str_starts(weight, "q=0");
}

/* Whether the encodings include "gzip" or "*" with a nonzero weight. */
static bool accepts_gzip(const char *accept)
{
	struct str rest = str_of(accept), word;

	while (str_cut(&rest, ',', &word)) {
		struct str name = { 0 }, weight = word;

		str_cut(&weight, ';', &name);
		name = str_trim(name);
		if (!str_ieq(name, STR_LIT("gzip")) && !str_ieq(name, STR_LIT("*")))
			continue;
		return !is_refused(str_trim(weight));
	}
	return false;
}

static bool is_cached(const struct request *q)
{
	return strstr(request_header(q, "If-None-Match"), page_data.etag) != NULL;
}

static void add_page_headers(struct MHD_Response *r, bool gzipped)
{
	char text[600];

	/* The two encodings are different representations and need different ETags. */
	snprintf(text, sizeof(text), "\"%s%s\"", page_data.etag, gzipped ? "-gzip" : "");
	MHD_add_response_header(r, "ETag", text);
	snprintf(text, sizeof(text), "default-src 'none'; script-src '%s'; style-src '%s'; "
		 "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
		 "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'", page_data.script_hash, page_data.style_hash);
	MHD_add_response_header(r, "Content-Security-Policy", text);
	MHD_add_response_header(r, "Content-Type", "text/html; charset=utf-8");
	MHD_add_response_header(r, "Cache-Control", "no-cache");
	MHD_add_response_header(r, "Vary", "Accept-Encoding");
	if (gzipped)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
}

/* The link that the agent prints: the token becomes a cookie, and disappears from the address and the history. */
static bool answer_link(struct request *q, const char *token)
{
	scoped(buf_done) struct buf cookie = { 0 };

	if (access_check_text(http_access(q->http), q, token).right < RIGHT_READ)
		return false;			/* the page asks for the token */
	access_put_cookie(q, &cookie);
	q->response = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	if (!q->response || buf_failed(&cookie)) {
		request_fail(q, 500, "out of memory");
		return true;
	}
	MHD_add_response_header(q->response, "Set-Cookie", cookie.bytes);
	MHD_add_response_header(q->response, "Location", "./");
	q->status = 303;
	return true;
}

void page_index(struct request *q)
{
	const char *token = request_arg(q, "token");
	bool gzipped = accepts_gzip(request_header(q, "Accept-Encoding"));
	const unsigned char *bytes = gzipped ? page_data.packed : page_data.plain;
	size_t n = gzipped ? page_data.n_packed : page_data.n_plain;

	if (token && answer_link(q, token))
		return;
	if (is_cached(q)) {
		q->status = MHD_HTTP_NOT_MODIFIED;
		n = 0;
	}
	q->response = MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes,
						      MHD_RESPMEM_PERSISTENT);
	if (!q->response)
		request_fail(q, 500, "out of memory");
	else
		add_page_headers(q->response, gzipped);
}
