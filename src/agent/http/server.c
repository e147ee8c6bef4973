/*
 * The HTTP server: sockets, checks, routes. There is one libmicrohttpd daemon per listening socket,
 * each with two threads; slow pages are handled by the worker pool (agent/http/worker_pool.c) so
 * that they do not block others. The threads use poll(): with epoll, libmicrohttpd 0.9.75 misses that
 * a client has closed the connection if this arrives together with its last bytes, and keeps the
 * connection until it times out.
 *
 * Each request is checked: method and path must be known; the Host header must name this machine
 * (protection against DNS rebinding); reading and actions need a token or the unix socket, see
 * agent/http/access.h. Connections, header size, body size and time are limited, see agent/http/connections.h.
 */
#include "agent/http/access.h"
#include "agent/http/connections.h"
#include "agent/http/worker_pool.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/num.h"

#define MAX_LISTENERS 8
#define CONNECTION_BYTES 32768
#define IDLE_S 30

struct http_listener {
	struct http *http;
	struct MHD_Daemon *daemon;
	char *unix_path;		/* removed at the end; NULL: not a unix socket */
	bool is_unix, is_tls;
};

struct http {
	struct agent *agent;
	struct live *live;
	struct worker_pool *worker_pool;
	struct http_listener listeners[MAX_LISTENERS];
	size_t n_listeners;
	char *tls_cert, *tls_key, *tls_client_ca;	/* contents of the files */
	struct access *access;
	struct connections *connections;
	char url[300];
	unsigned port;
};

struct access *http_access(struct http *h)
{
	return h->access;
}

unsigned http_port(const struct http *h)
{
	return h->port;
}

void http_mark_stream(struct request *q)
{
	connections_set_stage(q->http->connections, q->connection, CONNECTION_STREAM);
}

void http_check_connections(struct http *h)
{
	connections_check(h->connections);
}

uint64_t http_closed_connections(struct http *h)
{
	return connections_n_closed(h->connections);
}

struct live *http_live(struct http *h)
{
	return h->live;
}

const char *http_url(const struct http *h)
{
	return h->url;
}

void http_link(struct http *h, struct buf *out)
{
	const struct agent *a = h->agent;
	const char *token;

	if (!h->url[0])
		return;
	pthread_rwlock_rdlock((pthread_rwlock_t *)&a->config_lock);
	token = a->config->read_token ? a->config->read_token : a->read_token;
	buf_printf(out, "%s?token=", h->url);
	for (; *token; token++)
		buf_printf(out, strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~", *token) ? "%c" : "%%%02X",
			   (unsigned char)*token);
	pthread_rwlock_unlock((pthread_rwlock_t *)&a->config_lock);
}

/* ---- arguments and errors of requests ---- */

const char *request_arg(const struct request *q, const char *name)
{
	return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

void request_fail(struct request *q, unsigned status, const char *fmt, ...)
{
	struct json j = { .out = &q->out };
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_clear(&q->out);
	json_begin(&j, '{');
	json_member(&j, "error", str, text);
	json_end(&j);
	buf_putc(&q->out, '\n');
	q->status = status;
	q->type = "application/json";
}

void request_error(struct request *q, const struct tacho_error *e)
{
	unsigned status = e->code == -ENOENT ? 404 : e->code == -ENODATA ? 404
			  : e->code == -EINVAL || e->code == -E2BIG || e->code == -ERANGE ? 400
			  : e->code == -EBUSY ? 409
			  : e->code == -EACCES || e->code == -EPERM ? 403 : 500;

	request_fail(q, status, "%s%s%s", e->message, e->hint[0] ? "; " : "", e->hint);
}

bool request_time(struct request *q, const char *name, int64_t fallback_ns, int64_t *out)
{
	const char *text = request_arg(q, name);
	uint64_t ns;
	double ms;

	*out = fallback_ns;
	if (!text || !*text)
		return true;
	*out = clock_wall_ns();
	if (!strcmp(text, "now"))
		return true;
	if (*text == '-' && num_duration_ns(str_of(text + 1), &ns) == 0 && ns < (uint64_t)*out) {
		*out -= (int64_t)ns;
		return true;
	}
	if (num_double(str_of(text), &ms) == 0 && ms >= 0 && ms < 9e12) {
		*out = (int64_t)(ms * 1e6);
		return true;
	}
	request_fail(q, 400, "'%s' is not a time; use milliseconds since 1970, 'now', or '-1h'", name);
	return false;
}

bool request_duration(struct request *q, const char *name, int64_t fallback_ns, int64_t *out)
{
	const char *text = request_arg(q, name);
	uint64_t ns;

	*out = fallback_ns;
	if (!text || !*text)
		return true;
	if (num_duration_ns(str_of(text), &ns) < 0 || ns > INT64_MAX) {
		request_fail(q, 400, "'%s' is not a duration such as '10s' or '500ms'", name);
		return false;
	}
	*out = (int64_t)ns;
	return true;
}

bool request_u64(struct request *q, const char *name, uint64_t fallback, uint64_t *out)
{
	const char *text = request_arg(q, name);

	*out = fallback;
	if (!text || !*text || num_u64(str_of(text), out) == 0)
		return true;
	request_fail(q, 400, "'%s' is not a number", name);
	return false;
}

void put_value(struct json *j, double v)
{
	if (v >= 0 && v < 9e15 && v == (double)(uint64_t)v)
		json_u64(j, (uint64_t)v);
	else
		json_double(j, v);
}

/* ---- checks ---- */

/* Host names from the configuration: `hosts` and `listen`. */
static bool is_configured_host(struct agent *a, struct str host)
{
	const struct agent_config *cfg;
	bool named = false;

	pthread_rwlock_rdlock(&a->config_lock);
	cfg = a->config;
	for (size_t i = 0; i < cfg->hosts.n && !named; i++)
		named = str_ieq(host, str_of(cfg->hosts.v[i]));
	for (size_t i = 0; i < cfg->listen.n && !named; i++) {
		struct str at = str_of(cfg->listen.v[i]);
		const char *colon = memrchr(at.s, ':', at.n);

		named = colon && !str_starts(at, "unix:") &&
			str_ieq(host, str_n(at.s, (size_t)(colon - at.s)));
	}
	pthread_rwlock_unlock(&a->config_lock);
	return named;
}

static bool is_own_host(struct agent *a, struct str host)
{
	static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
	struct in_addr v4;
	struct in6_addr v6;
	char text[128];

	for (size_t i = 0; i < countof(local); i++)
		if (str_ieq(host, str_of(local[i])))
			return true;
	if (str_ieq(host, str_of(a->host)) || is_configured_host(a, host))
		return true;
	if (host.n >= sizeof(text))
		return false;
	/* Addresses are safe: DNS rebinding needs a name. */
	memcpy(text, host.s, host.n);
	text[host.n] = '\0';
	if (inet_pton(AF_INET, text, &v4) == 1)
		return true;
	if (host.n > 2 && text[0] == '[' && text[host.n - 1] == ']') {
		text[host.n - 1] = '\0';
		return inet_pton(AF_INET6, text + 1, &v6) == 1;
	}
	return false;
}

static bool check_host(const struct request *q)
{
	const char *text = MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, "Host");
	struct str host = str_of(text ? text : "");
	const char *colon = host.n ? memrchr(host.s, ':', host.n) : NULL;

	if (colon && !memchr(colon, ']', host.n - (size_t)(colon - host.s)))
		host.n = (size_t)(colon - host.s);
	return is_own_host(q->agent, host);
}

static enum MHD_Result count_header_fields(void *arg, enum MHD_ValueKind kind, const char *name,
					   const char *value)
{
	static const char *const names[] = { "Host", "Content-Length", "Transfer-Encoding" };
	unsigned *n = arg;

	(void)kind, (void)value;
	for (size_t i = 0; i < countof(names); i++)
		n[i] += str_ieq(str_of(name), str_of(names[i]));
	return MHD_YES;
}

/* Two Host headers or two lengths: a proxy in front of us may have interpreted the request
 * differently (request smuggling). */
static bool has_ambiguous_headers(struct MHD_Connection *connection)
{
	unsigned n[3] = { 0 };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header_fields, n);
	return n[0] > 1 || n[1] + n[2] > 1;
}

/* Whether the peer of the unix socket is our user or root. */
static bool peer_is_owner(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return info && getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static const struct route *find_route(const char *method, const char *path, bool *known)
{
	for (const struct route *r = http_routes; r->path; r++) {
		size_t n = strlen(r->path);
		bool below = n > 1 && r->path[n - 1] == '/';

		if (below ? strncmp(path, r->path, n) != 0 : strcmp(path, r->path) != 0)
			continue;
		*known = true;
		if (!strcmp(method, r->method) || (!strcmp(method, "HEAD") && !strcmp(r->method, "GET")))
			return r;
	}
	return NULL;
}

/* Whether a page of ACCESS_METRICS is open for a client without a token. */
static bool metrics_are_open(const struct request *q)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct agent_config *cfg;
	bool open;

	pthread_rwlock_rdlock(&q->agent->config_lock);
	cfg = q->agent->config;
	open = !cfg->scrape_token && !cfg->tls_client_ca && cfg->metrics_access != METRICS_TOKEN &&
	       (cfg->metrics_access == METRICS_ALL || (info && access_is_loopback(info->client_addr)));
	pthread_rwlock_unlock(&q->agent->config_lock);
	return open;
}

/* Whether the client may see the page; if not, answers the request. */
static bool check_access(struct request *q, const struct route *r)
{
	static const enum access_right needs[] = { [ACCESS_OPEN] = RIGHT_NONE, [ACCESS_METRICS] = RIGHT_SCRAPE,
						   [ACCESS_READ] = RIGHT_READ, [ACCESS_ACTION] = RIGHT_ACT };
	struct access_result got = { .right = RIGHT_NONE };

	if (r->access == ACCESS_OPEN)
		return true;
	got = access_check(q->http->access, q);
	q->right = got.right;
	if (q->right >= needs[r->access] || (r->access == ACCESS_METRICS && metrics_are_open(q)))
		return true;
	if (got.limited && got.wrong)
		request_fail(q, 429, "too many wrong tokens; wait a minute");
	else if (r->access == ACCESS_ACTION)
		request_fail(q, 401, "this action needs the token, 'Authorization: Bearer ...' with "
			     "[agent] token, or the unix socket");
	else
		request_fail(q, 401, "this needs the token for %s: open the link that the agent printed at its start, "
			     "which 'tacho agent ctl link' prints again, or send 'Authorization: Bearer TOKEN'",
			     r->access == ACCESS_METRICS ? "scraping" : "reading");
	return false;
}

/* Returns NULL if the request was answered, else a job for worker_pool_take(). */
static struct http_job *route_request(struct request *q, const char *method, const char *path)
{
	struct http_job *http_job = NULL;
	bool known = false;
	const struct route *r = find_route(method, path, &known);

	if (!q->is_unix && !MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, "Host"))
		request_fail(q, 400, "the request has no Host header");
	else if (!q->is_unix && !check_host(q))
		request_fail(q, 421,
			     "the Host header does not name this machine: use its address, its "
			     "name or localhost, or add the name to [agent] hosts");
	else if (!r)
		request_fail(q, known ? 405 : 404, known ? "the method %s is not allowed here"
							  : "there is no such page: %s",
			     known ? method : path);
	else if (check_access(q, r)) {
		q->path = path + strlen(r->path);
		http_job = r->slow ? worker_pool_submit(q->http->worker_pool, q, r->page) : NULL;
		if (!http_job)
			r->page(q);
	}
	return http_job;
}

/* ---- answering ---- */

static const char csp[] = "default-src 'none'; script-src 'self' 'unsafe-inline'; "
			  "style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'; "
			  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void add_headers(struct request *q, struct MHD_Response *r)
{
	scoped(buf_done) struct buf disposition = { 0 };

	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "X-Frame-Options", "DENY");
	if (q->status == 401)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer realm=\"tacho\"");
	if (!MHD_get_response_header(r, "Content-Security-Policy"))
		MHD_add_response_header(r, "Content-Security-Policy", csp);
	if (!MHD_get_response_header(r, "Content-Type"))
		MHD_add_response_header(r, "Content-Type", q->type);
	if (!MHD_get_response_header(r, "Cache-Control"))
		MHD_add_response_header(r, "Cache-Control", "no-store");
	if (!q->filename)
		return;
	buf_printf(&disposition, "attachment; filename=\"%s\"", q->filename);
	if (!buf_failed(&disposition))
		MHD_add_response_header(r, "Content-Disposition", disposition.bytes);
}

static enum MHD_Result send_answer(struct request *q)
{
	struct MHD_Response *r = q->response;
	enum MHD_Result result;

	if (!r) {
		if (buf_failed(&q->out)) {
			buf_done(&q->out);
			q->status = 500;
		}
		r = MHD_create_response_from_buffer(q->out.n, q->out.bytes ? q->out.bytes : (void *)"",
						    q->out.bytes ? MHD_RESPMEM_MUST_FREE
								 : MHD_RESPMEM_PERSISTENT);
		if (!r)
			return MHD_NO;
		q->out = (struct buf){ 0 };
	}
	add_headers(q, r);
	if (q->closes)			/* the rest of the connection cannot be trusted */
		MHD_add_response_header(r, "Connection", "close");
	if (r != NULL && q->right == RIGHT_NONE && (q->status == 401 || q->status == 429))
		MHD_add_response_header(r, "Connection", "close");	/* its place is for others */
	result = MHD_queue_response(q->connection, q->status, r);
	MHD_destroy_response(r);
	return result;
}

/* State of a request while its body is received. */
struct incoming_request {
	struct buf body;
	bool too_large, ambiguous;
	struct http_job *http_job;		/* its page is being generated or is ready */
};

static enum MHD_Result take_body(struct incoming_request *in, const char *data, size_t *n)
{
	if (in->body.n + *n > HTTP_BODY_MAX)
		in->too_large = true;
	else
		buf_put(&in->body, data, *n);
	*n = 0;
	return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n, void **state)
{
	const struct http_listener *l = cls;
	struct incoming_request *in = *state;
	struct request q = { .agent = l->http->agent, .http = l->http, .connection = connection,
			     .status = 200, .type = "application/json", .closes = in && in->ambiguous,
			     .is_unix = l->is_unix, .is_tls = l->is_tls, .checks_certificates = l->http->tls_client_ca != NULL };
	enum MHD_Result result;

	(void)version;
	if (!in) {			/* only the header has been received */
		*state = in = calloc(1, sizeof(*in));
		connections_set_stage(l->http->connections, connection, CONNECTION_BODY);
		if (in)
			in->ambiguous = has_ambiguous_headers(connection);
		return in ? MHD_YES : MHD_NO;
	}
	if (*n)
		return take_body(in, data, n);
	if (!in->http_job)
		connections_set_stage(l->http->connections, connection, CONNECTION_ANSWER);
	q.body = buf_view(&in->body);
	q.is_local_owner = l->is_unix && peer_is_owner(connection);
	if (in->http_job)
		worker_pool_take(l->http->worker_pool, take(in->http_job), &q);
	else if (in->ambiguous)
		request_fail(&q, 400,
			     "ambiguous request: more than one Host, Content-Length or "
			     "Transfer-Encoding header");
	else if (in->too_large || buf_failed(&in->body))
		request_fail(&q, 413, "the request body is larger than %d bytes", HTTP_BODY_MAX);
	else
		in->http_job = route_request(&q, method, url);
	if (in->http_job)			/* suspended until its page is ready */
		return MHD_YES;
	q.agent->stats.http_requests++;
	q.agent->stats.http_refused += q.status >= 400;
	result = send_answer(&q);
	buf_done(&q.out);
	return result;
}

static void on_end(void *cls, struct MHD_Connection *connection, void **state,
		   enum MHD_RequestTerminationCode code)
{
	const struct http_listener *l = cls;
	struct incoming_request *in = *state;

	(void)code;
	connections_set_stage(l->http->connections, connection, CONNECTION_IDLE);
	if (in) {
		buf_done(&in->body);
		worker_pool_drop(in->http_job);
	}
	free(in);
	*state = NULL;
}

/* ---- listening ---- */

static int listen_unix(const char *path, struct tacho_error *e)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stat st;
	int fd, err = 0;

	if (strlen(path) >= sizeof(at.sun_path))
		return error_set(e, -ENAMETOOLONG, "the socket's path is too long: %s", path);
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(e, -errno, "cannot create a socket: %s", strerror(errno));
	/* If connect() succeeds, another agent is listening; otherwise an existing socket file is
	 * stale and may be replaced. */
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0) {
		close(fd);
		error_set(e, -EADDRINUSE, "another agent is listening on %s", path);
		error_hint(e, "stop it, or set [agent] socket to another path");
		return -EADDRINUSE;
	}
	close(fd);
	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		error_set(e, -EEXIST, "cannot listen on %s: the file exists and is not a socket", path);
		error_hint(e, "remove it, or use another path");
		return -EEXIST;
	}
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || chmod(path, 0600) < 0 ||
	    listen(fd, 128) < 0) {
		err = error_set(e, -errno, "cannot listen on %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return err < 0 ? err : fd;
}

/* Tokens and profiles must not cross a network in the clear. */
static int check_plain(const struct http *h, const struct sockaddr *at, const char *text, struct tacho_error *e)
{
	if (h->tls_cert || h->agent->config->insecure || access_is_loopback(at))
		return 0;
	error_set(e, -EPERM, "listening on %s without TLS would send tokens and data unencrypted over the network", text);
	error_hint(e, "set [agent] tls_cert and tls_key, listen on 127.0.0.1 behind a proxy, or set insecure = true");
	return -EPERM;
}

static int bind_and_listen(const struct addrinfo *at, const char *text, struct tacho_error *e)
{
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd >= 0 && at->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 511) == 0)
		return fd;
	error_set(e, -errno, "cannot listen on %s: %s", text, strerror(errno));
	if (errno == EADDRINUSE)
		error_hint(
			e,
			"another program uses this port; --listen 127.0.0.1:0 chooses a free one");
	if (fd >= 0)
		close(fd);
	return e ? e->code : -EADDRINUSE;
}

/* "127.0.0.1:9273", "[::1]:9273", "localhost:9273"; a port alone means 127.0.0.1. */
static int listen_tcp(const struct http *h, const char *text, struct tacho_error *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *at = NULL;
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	char host[256] = "127.0.0.1";
	int fd;

	if (colon && colon > text) {
		bool brackets = text[0] == '[' && colon[-1] == ']';

		snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - 2 * brackets, text + brackets);
	}
	if (getaddrinfo(host, port, &hints, &at) != 0 || !at) {
		error_set(e, -EINVAL, "'%s' is not an address to listen on", text);
		error_hint(e, "write 127.0.0.1:9273, [::1]:9273 or unix:/path");
		return -EINVAL;
	}
	fd = check_plain(h, at->ai_addr, text, e);
	if (fd == 0)
		fd = bind_and_listen(at, text, e);
	freeaddrinfo(at);
	return fd;
}

static int start_daemon(struct http *h, int fd, const char *unix_path, struct tacho_error *e)
{
	struct http_listener *l = &h->listeners[h->n_listeners];
	unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
			 (h->tls_cert && !unix_path ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, h->tls_cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, h->tls_key },
		{ h->tls_client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, h->tls_client_ca },
		{ MHD_OPTION_END, 0, NULL },
	};

	*l = (struct http_listener){ .http = h, .is_unix = unix_path != NULL,
					.is_tls = flags & MHD_USE_TLS };
	l->unix_path = unix_path ? strdup(unix_path) : NULL;
	l->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, l, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, l, MHD_OPTION_NOTIFY_CONNECTION, connections_notify, h->connections,
		MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX * 2,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_ARRAY,
		flags & MHD_USE_TLS ? tls : &tls[3], MHD_OPTION_END);
	if (!l->daemon) {
		free(take(l->unix_path));
		close(fd);
		return error_set(e, -EIO, "cannot start the HTTP server");
	}
	h->n_listeners++;
	return 0;
}

/* Stores the page's URL with the actual port. */
static void remember_url(struct http *h, const char *text, int fd)
{
	struct sockaddr_storage at = { 0 };
	socklen_t n = sizeof(at);
	const char *colon = strrchr(text, ':');
	unsigned port = 0;

	if (h->url[0] || getsockname(fd, (struct sockaddr *)&at, &n) < 0)
		return;
	if (at.ss_family == AF_INET)
		port = ntohs(((struct sockaddr_in *)&at)->sin_port);
	else if (at.ss_family == AF_INET6)
		port = ntohs(((struct sockaddr_in6 *)&at)->sin6_port);
	h->port = port;
	if (colon && colon > text)
		snprintf(h->url, sizeof(h->url), "%s://%.*s:%u/", h->tls_cert ? "https" : "http",
			 (int)(colon - text), text, port);
	else
		snprintf(h->url, sizeof(h->url), "%s://127.0.0.1:%u/", h->tls_cert ? "https" : "http",
			 port);
}

static int open_listener(struct http *h, const char *text, struct tacho_error *e)
{
	bool is_unix = !strncmp(text, "unix:", 5);
	int fd;

	if (h->n_listeners == MAX_LISTENERS)
		return error_set(e, -EUSERS, "more than %d addresses to listen on", MAX_LISTENERS);
	fd = is_unix ? listen_unix(text + 5, e) : listen_tcp(h, text, e);
	if (fd < 0)
		return fd;
	if (!is_unix)
		remember_url(h, text, fd);
	return start_daemon(h, fd, is_unix ? text + 5 : NULL, e);
}

static int read_tls(struct http *h, const struct agent_config *cfg, struct tacho_error *e)
{
	static const char *const what[] = { "certificate", "key", "client CA" };
	const char *paths[] = { cfg->tls_cert, cfg->tls_key, cfg->tls_client_ca };
	char **texts[] = { &h->tls_cert, &h->tls_key, &h->tls_client_ca };

	for (size_t i = 0; cfg->tls_cert && i < countof(paths); i++) {
		struct buf text = { 0 };

		if (i == 2 && !paths[i])
			break;
		int err = paths[i] ? io_read(paths[i], 1u << 20, &text) : -ENOENT;

		*texts[i] = err ? NULL : buf_take(&text);
		if (*texts[i])
			continue;
		buf_done(&text);
		return error_set(e, err ? err : -ENOMEM, "cannot read the TLS %s %s: %s",
				 what[i], paths[i] ? paths[i] : "(not set)",
				 strerror(err ? -err : ENOMEM));
	}
	return 0;
}

/* Sockets passed by systemd (socket activation). */
static int use_systemd_sockets(struct http *h, struct tacho_error *e)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	unsigned n = 0;
	int err = 0;

	if (!pid || !fds || atoi(pid) != getpid() || num_u32(str_of(fds), &n) < 0)
		return 0;
	for (unsigned i = 0; err == 0 && i < n && i < MAX_LISTENERS - 1; i++) {
		struct sockaddr_storage at = { 0 };
		socklen_t size = sizeof(at);
		int fd = 3 + (int)i;
		bool is_unix = getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
			       at.ss_family == AF_UNIX;

		if (!is_unix)
			err = check_plain(h, (struct sockaddr *)&at, "the socket passed by systemd", e);
		if (err < 0)
			break;
		if (!is_unix)
			remember_url(h, "127.0.0.1:0", fd);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		err = start_daemon(h, fd, is_unix ? "" : NULL,
				   e); /* the socket file belongs to systemd */
	}
	return err < 0 ? err : (int)n;
}

int http_start(struct http **out, struct agent *a, struct tacho_error *e)
{
	struct http *h = calloc(1, sizeof(*h));
	const struct agent_config *cfg = a->config;
	int err;

	if (!h)
		return error_nomem(e);
	h->agent = a;
	err = live_new(&h->live, a);
	if (err == 0)
		err = worker_pool_new(&h->worker_pool);
	if (err == 0)
		err = access_new(&h->access, a);
	if (err == 0)
		err = connections_new(&h->connections);
	if (err < 0)
		error_nomem(e);
	if (err == 0)
		err = access_make_token(a, cfg, e);
	if (err == 0)
		err = read_tls(h, cfg, e);
	if (err == 0)
		err = use_systemd_sockets(h, e);
	for (size_t i = 0; err == 0 && i < cfg->listen.n; i++)
		err = open_listener(h, cfg->listen.v[i], e);
	if (err >= 0 && cfg->socket) {
		scoped(buf_done) struct buf text = { 0 };

		buf_printf(&text, "unix:%s", cfg->socket);
		err = buf_failed(&text) ? error_nomem(e) : open_listener(h, text.bytes, e);
	}
	if (err < 0) {
		http_stop(h);
		return err;
	}
	*out = h;
	return 0;
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	live_end(h->live);		/* waiting streams would block the daemons' shutdown */
	worker_pool_end(h->worker_pool);
	for (size_t i = 0; i < h->n_listeners; i++) {
		MHD_stop_daemon(h->listeners[i].daemon);
		if (h->listeners[i].unix_path && h->listeners[i].unix_path[0])
			unlink(h->listeners[i].unix_path);
		free(h->listeners[i].unix_path);
	}
	live_free(h->live);
	worker_pool_free(h->worker_pool);
	free(h->tls_cert);
	free(h->tls_key);
	free(h->tls_client_ca);
	access_free(h->access);
	connections_free(h->connections);
	free(h);
}
