/*
 * Who may read what. Profiles, processes and recordings show what every user of the machine runs, so over TCP they
 * need a token; actions need the action token; /metrics without series of processes is open on the loopback
 * interface unless the configuration says otherwise.
 *
 *	unix socket's owner, [agent] token		everything
 *	[agent] read_token, its cookie, client certificate	reading
 *	[agent] scrape_token				/metrics and /healthz
 *
 * Wrong tokens are counted per address. An address with too many is answered with 429; a long token is still accepted from it,
 * since it cannot be guessed, so that one guessing user of a machine does not lock out the others.
 */
#ifndef AGENT_HTTP_ACCESS_H
#define AGENT_HTTP_ACCESS_H

#include "agent/http/request.h"

struct access;
int access_new(struct access **out, struct agent *a);
void access_free(struct access *x);

/* The right that the request's credentials give. *wrong: it had some, and they are wrong. *limited: too many wrong ones
 * came from its address. */
struct access_result {
	enum access_right right;
	bool wrong, limited;
};
struct access_result access_check(struct access *x, const struct request *q);
/* Whether `text` is a token that permits reading; counts wrong ones. */
struct access_result access_check_text(struct access *x, const struct request *q, const char *text);
/* "tacho-9273=TOKEN; HttpOnly; ..." for a Set-Cookie header. */
void access_put_cookie(const struct request *q, struct buf *out);
bool access_is_loopback(const struct sockaddr *at);
/* What counts as one address: IPv6 hosts usually have a network of 64 bits of their own. */
void access_address_key(const struct sockaddr *at, unsigned char out[16]);

/* Unless `cfg` has a read token or it was done before: reads the agent's own from the state directory, or makes one and stores
 * it there (mode 0600). Called at the start, and before a reload applies `cfg`. 0, or a negative errno with a message. */
int access_make_token(struct agent *a, const struct agent_config *cfg, struct tacho_error *e);

page_fn page_login, page_logout;

#endif
