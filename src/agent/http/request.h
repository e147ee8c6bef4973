/*
 * Inside the HTTP side: a request as the pages see it, and the table of pages. http.c listens,
 * checks and answers; each page is a function that fills in the answer.
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
	const char *path;		/* after the route's own */
	struct str body;		/* of a POST */
	bool closes;			/* the connection, after the answer */
	bool is_local_owner;		/* came by the unix socket, from its owner or root */
	/* the answer */
	unsigned status;		/* 200 unless set */
	struct buf out;
	const char *type;		/* "application/json" unless set */
	const char *filename;		/* for Content-Disposition, or NULL */
	struct MHD_Response *response;	/* instead of `out`: SSE, the page */
};

/* The value of ?name=, or NULL. */
const char *request_arg(const struct request *q, const char *name);
/* Time in milliseconds, or relative to now: "-1h", "now". Fallback where it is absent. Returns
 * false and answers 400 when it is no time. */
bool request_time(struct request *q, const char *name, int64_t fallback_ns, int64_t *out);
bool request_duration(struct request *q, const char *name, int64_t fallback_ns, int64_t *out);
bool request_u64(struct request *q, const char *name, uint64_t fallback, uint64_t *out);
/* {"error": ..., "hint": ...} with this status. */
void request_fail(struct request *q, unsigned status, const char *fmt, ...) printf_like(3, 4);
void request_error(struct request *q, const struct tacho_error *e);

/* A number of ours: whole ones as such, which is also much faster. */
void put_value(struct json *j, double v);

typedef void page_fn(struct request *q);

struct route {
	const char *method, *path;	/* a path that ends in / serves all below it */
	page_fn *page;
	bool action;			/* needs the token or the socket's owner */
	const char *help;
	bool slow;			/* made by a thread that may take its time */
};
extern const struct route http_routes[];	/* ends with a NULL path; routes.c */

/* live.c: Server-Sent Events. */
struct live;
int live_new(struct live **out, struct agent *a);
void live_end(struct live *l);			/* all streams end; no new ones */
void live_free(struct live *l);			/* after the daemons have stopped */
page_fn page_live;
struct live *http_live(struct http *h);

/* api_text.c: the same for people, where the request asks for ?format=text. */
bool request_wants_text(struct request *q);
page_fn text_status, text_events, text_series, text_exporters;

/* Pages. */
page_fn page_index, page_metrics, page_health, page_status, page_series, page_query, page_events,
	page_exporters, page_triggers, page_doctor, page_profiles, page_flame, page_heatmap, page_ctl,
	page_config;

#endif
