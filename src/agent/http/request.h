/*
 * The request that is passed to a page function, and the table of pages. server.c listens, checks and answers
 * requests; each page is a function that fills in the answer.
 */
#ifndef AGENT_HTTP_REQUEST_H
#define AGENT_HTTP_REQUEST_H

#include <microhttpd.h>

#include "agent/http/server.h"
#include "base/json.h"

#define HTTP_BODY_MAX 65536

struct request {
	struct agent *agent;
	struct http *http;
	struct MHD_Connection *connection;
	const char *path;		/* rest of the path after that of the route */
	struct str body;		/* body of a POST request */
	bool closes;			/* close the connection after the answer */
	bool is_local_owner;		/* came over the unix socket from its owner or root */
	bool is_unix, is_tls, checks_certificates;	/* of the listener */
	enum access_right { RIGHT_NONE, RIGHT_SCRAPE, RIGHT_READ, RIGHT_ACT } right;	/* of the client, see access.h */
	/* the answer */
	unsigned status;		/* initialized to 200 */
	struct buf out;
	const char *type;		/* initialized to "application/json" */
	const char *filename;		/* file name in Content-Disposition; NULL: none */
	struct MHD_Response *response;	/* instead of `out`: live streams, the web page */
};

/* The value of the argument ?name=, or NULL. */
const char *request_arg(const struct request *q, const char *name);
/* Parses a time in milliseconds, or relative to now: "-1h", "now". If the argument is absent, *out
 * is the fallback. On error answers 400 and returns false. */
bool request_time(struct request *q, const char *name, int64_t fallback_ns, int64_t *out);
bool request_duration(struct request *q, const char *name, int64_t fallback_ns, int64_t *out);
bool request_u64(struct request *q, const char *name, uint64_t fallback, uint64_t *out);
/* Answers {"error": ...} with this status. */
void request_fail(struct request *q, unsigned status, const char *fmt, ...) printf_like(3, 4);
void request_error(struct request *q, const struct tacho_error *e);

/* Writes a number; whole numbers as integers, which is much faster. */
void put_value(struct json *j, double v);

typedef void page_fn(struct request *q);

/* Which right a page needs over TCP. */
enum route_access {
	ACCESS_OPEN,		/* none */
	ACCESS_METRICS,		/* none on the loopback interface, unless configured otherwise; else that to scrape */
	ACCESS_READ, ACCESS_ACTION,
};

struct route {
	const char *method, *path;	/* a path that ends in / also serves all paths below it */
	page_fn *page;
	enum route_access access;
	const char *help;
	bool slow;			/* handled by the worker pool */
};
extern const struct route http_routes[];	/* ends with a NULL path; routes.c */

/* live_stream.c: Server-Sent Events. */
struct live;
int live_new(struct live **out, struct agent *a);
void live_end(struct live *l);			/* ends all streams and refuses new ones */
void live_free(struct live *l);			/* call after the daemons have stopped */
page_fn page_live;
struct live *http_live(struct http *h);

struct access;
struct access *http_access(struct http *h);
unsigned http_port(const struct http *h);	/* of the first TCP listener; 0: none */
/* The request is answered by a stream that has no time limit. */
void http_mark_stream(struct request *q);

/* api_text.c: plain text versions, used if the request has ?format=text. */
bool request_wants_text(struct request *q);
page_fn text_status, text_events, text_series, text_exporters;

/* Pages. */
page_fn page_index, page_metrics, page_health, page_status, page_series, page_query, page_events,
	page_exporters, page_triggers, page_recording, page_doctor, page_processes, page_profiles, page_flame, page_heatmap, page_ctl,
	page_config;

#endif
