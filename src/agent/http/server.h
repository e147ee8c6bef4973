/*
 * The web page, the API, live data and /metrics, served by libmicrohttpd, with a small pool of
 * threads for slow pages (range queries, flame graphs).
 *
 *	/			the page (one gzip'ed file, ETag, strict CSP)
 *	/metrics		Prometheus text or OpenMetrics, by Accept
 *	/api/v1/...		JSON, documented in man/tacho-agent-api.7.scd:
 *	    status series query events profiles flame heatmap triggers doctor exporters live (SSE)
 *	POST /api/v1/ctl/...	actions: token, or the unix socket's owner
 *	POST /api/v1/login	token -> cookie
 *	/healthz
 *
 * The Host header must name this machine (DNS rebinding); bodies and headers are limited.
 */
#ifndef AGENT_HTTP_SERVER_H
#define AGENT_HTTP_SERVER_H

#include "agent/core/agent.h"

int http_start(struct http **out, struct agent *a, struct tacho_error *e);
void http_stop(struct http *h);
/* URL of the first listener, "http://127.0.0.1:9273/"; valid while the server runs. */
const char *http_url(const struct http *h);
/* The URL with the token for reading; valid until the next call. "": there is no TCP listener. */
void http_link(struct http *h, struct buf *out);
/* Closes connections that are too slow; called every second. */
void http_check_connections(struct http *h);
uint64_t http_closed_connections(struct http *h);

/* Writes /metrics. Takes the registry's lock. */
/* `processes`: with the series of processes, which show what users run. */
void prometheus_text(struct agent *a, bool openmetrics, bool processes, struct buf *out);
/* Writes only the series, also for node_exporter's textfile collector; the caller holds the lock. */
void prometheus_series(const struct registry *r, const struct agent_config *cfg, bool om, bool processes, struct buf *out);

#endif
