/*
 * Checks tokens, cookies and client certificates, and counts wrong ones.
 */
#include "agent/http/access.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"

#define ADDRESSES 1024		/* of which wrong tokens are counted; a full table is shared */
#define WRONG_BURST 20.0	/* wrong tokens that an address may send at once */
#define WRONG_PER_S (1.0 / 3)
#define LONG_TOKEN 16		/* characters; such a token cannot be guessed at any rate that this server can answer */
#define COOKIE_DAYS 30

struct guesser {
	unsigned char address[16];
	double wrong;
	uint64_t at_ns;
};

struct access {
	struct agent *agent;
	pthread_mutex_t lock;
	struct guesser guessers[ADDRESSES];
	uint64_t logged_ns;
};

int access_new(struct access **out, struct agent *a)
{
	struct access *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->agent = a;
	pthread_mutex_init(&x->lock, NULL);
	*out = x;
	return 0;
}

void access_free(struct access *x)
{
	if (!x)
		return;
	pthread_mutex_destroy(&x->lock);
	free(x);
}

/* ---- addresses ---- */

static const struct sockaddr *peer_of(const struct request *q)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

bool access_is_loopback(const struct sockaddr *at)
{
	if (at && at->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == 127;
	if (at && at->sa_family == AF_INET6) {
		const struct in6_addr *a = &((const struct sockaddr_in6 *)at)->sin6_addr;

		return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
	}
	return false;
}

void access_address_key(const struct sockaddr *at, unsigned char out[16])
{
	const struct in6_addr *v6 = at && at->sa_family == AF_INET6 ? &((const struct sockaddr_in6 *)at)->sin6_addr : NULL;

	memset(out, 0, 16);
	if (at && at->sa_family == AF_INET)
		memcpy(out, &((const struct sockaddr_in *)at)->sin_addr, 4);
	else if (v6 && IN6_IS_ADDR_V4MAPPED(v6))	/* a socket passed by systemd may serve both */
		memcpy(out, &v6->s6_addr[12], 4);
	else if (v6)
		memcpy(out, v6, 8);
}

/* ---- wrong tokens ---- */

static struct guesser *find_guesser(struct access *x, const struct request *q, uint64_t now)
{
	unsigned char key[16];
	uint32_t hash = 2166136261u;
	struct guesser *free_one = NULL;

	access_address_key(peer_of(q), key);
	for (size_t i = 0; i < sizeof(key); i++)
		hash = (hash ^ key[i]) * 16777619u;
	for (size_t i = 0; i < 8; i++) {
		struct guesser *g = &x->guessers[(hash + i) % ADDRESSES];
		double left = g->wrong - (double)(now - g->at_ns) * 1e-9 * WRONG_PER_S;

		if (g->wrong > 0 && left > 0 && memcmp(g->address, key, sizeof(key)) == 0) {
			g->wrong = left;
			g->at_ns = now;
			return g;
		}
		if (!free_one && (g->wrong <= 0 || left <= 0))
			free_one = g;
	}
	if (!free_one)				/* the neighbours share one */
		return &x->guessers[hash % ADDRESSES];
	*free_one = (struct guesser){ .at_ns = now };
	memcpy(free_one->address, key, sizeof(key));
	return free_one;
}

static bool is_limited(struct access *x, const struct request *q)
{
	bool limited;

	pthread_mutex_lock(&x->lock);
	limited = find_guesser(x, q, clock_mono_ns())->wrong >= WRONG_BURST;
	pthread_mutex_unlock(&x->lock);
	return limited;
}

static void count_wrong(struct access *x, const struct request *q)
{
	uint64_t now = clock_mono_ns();
	struct guesser *g;
	bool log;

	pthread_mutex_lock(&x->lock);
	g = find_guesser(x, q, now);
	g->wrong = min_of(g->wrong + 1, 2 * WRONG_BURST);
	log = g->wrong >= WRONG_BURST && (!x->logged_ns || now - x->logged_ns > 600000000000u);
	if (log)
		x->logged_ns = now;
	pthread_mutex_unlock(&x->lock);
	if (log && x->agent->log)
		x->agent->log(x->agent->log_arg, TACHO_LOG_WARN, "somebody tries many wrong tokens; they are answered with status 429");
}

/* ---- tokens ---- */

/* Compares in constant time, independent of how many characters match. */
static bool same_secret(const char *want, const char *have)
{
	size_t n, m = strlen(have);
	unsigned differ = 0;

	if (!want || !*want)
		return false;
	n = strlen(want);
	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)want[i] ^ (unsigned char)(i < m ? have[i] : 0);
	return differ == 0 && n == m;
}

static enum access_right right_of_text(const struct request *q, const char *text, bool limited)
{
	const struct agent_config *cfg;
	enum access_right right = RIGHT_NONE;

	if (limited && strlen(text) < LONG_TOKEN)
		return RIGHT_NONE;
	pthread_rwlock_rdlock(&q->agent->config_lock);
	cfg = q->agent->config;
	if (same_secret(cfg->scrape_token, text))
		right = RIGHT_SCRAPE;
	if (same_secret(cfg->read_token ? cfg->read_token : q->agent->read_token, text))
		right = RIGHT_READ;
	if (same_secret(cfg->token, text))
		right = RIGHT_ACT;
	pthread_rwlock_unlock(&q->agent->config_lock);
	return right;
}

struct access_result access_check_text(struct access *x, const struct request *q, const char *text)
{
	struct access_result r = { .limited = is_limited(x, q) };

	r.right = right_of_text(q, text, r.limited);
	r.wrong = r.right == RIGHT_NONE;
	if (r.wrong)
		count_wrong(x, q);
	return r;
}

/* ---- cookies ---- */

/* Cookies are shared by all ports of a host, so the name has the port. */
static void cookie_name(const struct request *q, char out[32])
{
	snprintf(out, 32, "tacho-%u", http_port(q->http));
}

void access_put_cookie(const struct request *q, struct buf *out)
{
	char name[32];

	cookie_name(q, name);
	pthread_rwlock_rdlock(&q->agent->config_lock);
	buf_printf(out, "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s", name,
		   q->agent->config->read_token ? q->agent->config->read_token : q->agent->read_token, COOKIE_DAYS * 86400,
		   q->is_tls ? "; Secure" : "");
	pthread_rwlock_unlock(&q->agent->config_lock);
}

/* ---- client certificates ---- */

/* libmicrohttpd checks nothing by itself. Its TLS library is loaded already, but its headers are not needed for anything else. */
static bool has_valid_certificate(const struct request *q)
{
	static int (*verify)(void *session, unsigned *status);
	const union MHD_ConnectionInfo *info;
	unsigned status = 1;

	if (!q->is_tls || !q->checks_certificates)
		return false;
	if (!verify)
		*(void **)&verify = dlsym(RTLD_DEFAULT, "gnutls_certificate_verify_peers2");
	info = MHD_get_connection_info(q->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return verify && info && info->tls_session && verify(info->tls_session, &status) == 0 && status == 0;
}

/* ---- requests ---- */

/* Basic credentials are accepted with any user name, for programs that know nothing else: "Basic BASE64(user:token)". */
static bool decode_basic(const char *base64, char *out, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, n_bits = 0;
	char *colon;
	size_t n = 0;

	for (; *base64 && *base64 != '='; base64++) {
		const char *at = strchr(digits, *base64);

		if (!at || n + 1 >= size)
			return false;
		bits = bits << 6 | (unsigned)(at - digits);
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			out[n++] = (char)(bits >> n_bits);
		}
	}
	out[n] = '\0';
	colon = strchr(out, ':');
	if (!colon)
		return false;
	memmove(out, colon + 1, strlen(colon + 1) + 1);
	return true;
}

struct access_result access_check(struct access *x, const struct request *q)
{
	const char *given = MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, "Authorization");
	char name[32], basic[600];
	const char *cookie;

	if (q->is_local_owner)
		return (struct access_result){ .right = RIGHT_ACT };
	if (q->is_unix)				/* its mode says which users may connect */
		return (struct access_result){ .right = RIGHT_READ };
	if (given && !strncmp(given, "Bearer ", 7))
		return access_check_text(x, q, given + 7);
	if (given && !strncmp(given, "Basic ", 6) && decode_basic(given + 6, basic, sizeof(basic)))
		return access_check_text(x, q, basic);
	if (given)
		return access_check_text(x, q, "");
	cookie_name(q, name);
	cookie = MHD_lookup_connection_value(q->connection, MHD_COOKIE_KIND, name);
	if (cookie) {
		struct access_result r = access_check_text(x, q, cookie);

		r.right = min_of(r.right, RIGHT_READ);	/* an action is never the result of a click on a foreign page */
		return r;
	}
	return (struct access_result){ .right = has_valid_certificate(q) ? RIGHT_READ : RIGHT_NONE };
}

/* ---- pages ---- */

/* POST with the token as body. */
void page_login(struct request *q)
{
	scoped(buf_done) struct buf text = { 0 }, cookie = { 0 };
	struct access_result r;

	buf_str(&text, str_trim(q->body));
	if (buf_failed(&text) || !text.n) {
		request_fail(q, 400, "the body of the request must be the token");
		return;
	}
	r = access_check_text(http_access(q->http), q, text.bytes);
	if (r.right < RIGHT_READ) {
		request_fail(q, r.limited ? 429 : 401, r.limited ? "too many wrong tokens; wait a minute" : "this is not the token for reading");
		return;
	}
	access_put_cookie(q, &cookie);
	q->response = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	q->status = 204;
	if (!q->response || buf_failed(&cookie))
		request_fail(q, 500, "out of memory");
	else
		MHD_add_response_header(q->response, "Set-Cookie", cookie.bytes);
}

void page_logout(struct request *q)
{
	char name[32], cookie[160];

	cookie_name(q, name);
	snprintf(cookie, sizeof(cookie), "%s=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", name);
	q->response = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	q->status = 204;
	if (!q->response)
		request_fail(q, 500, "out of memory");
	else
		MHD_add_response_header(q->response, "Set-Cookie", cookie);
}
