/*
 * The page, the API, live data and /metrics: libmicrohttpd, one epoll thread, plus a small pool
 * for what takes longer (range queries, flame graphs).
 *
 *	/			the page (one gzip'ed file, ETag, strict CSP)
 *	/metrics		Prometheus text or OpenMetrics, by Accept
 *	/api/v1/...		JSON, documented in man/tacho-agent-api.7.scd:
 *	    status series query events profiles flame heatmap triggers doctor exporters live (SSE)
 *	POST /api/v1/ctl/...	actions: token, or the unix socket's owner
 *	/healthz
 *
 * The Host header must be one of ours (DNS rebinding); bodies and headers are bounded.
 */
#ifndef AGENT_HTTP_SERVER_H
#define AGENT_HTTP_SERVER_H

#include "agent/core/agent.h"

int http_start(struct http **out, struct agent *a, struct tacho_error *e);
void http_stop(struct http *h);
/* "http://127.0.0.1:9273/", the first listener's; valid while it runs. */
const char *http_url(const struct http *h);

/* The text of /metrics. Takes the registry's lock. */
void prometheus_text(struct agent *a, bool openmetrics, struct buf *out);
/* The series alone, for node_exporter's textfile, too; the lock is the caller's. */
void prometheus_series(const struct registry *r, const struct agent_config *cfg, bool om, struct buf *out);

#endif
