/*
 * The table of pages. The API's manual page lists the same rows.
 */
#include "agent/http/access.h"

#define API "/api/v1/"

const struct route http_routes[] = {
	{ "GET", "/", page_index, ACCESS_OPEN, "the page" },
	{ "GET", "/healthz", page_health, ACCESS_METRICS, "\"ok\", or status 503 with what does not work" },
	{ "GET", "/metrics", page_metrics, ACCESS_METRICS, "Prometheus text, or OpenMetrics by Accept" },
	{ "GET", API "status", page_status, ACCESS_READ, "version, store, profiler" },
	{ "GET", API "series", page_series, ACCESS_READ, "every series with its newest value" },
	{ "GET", API "query", page_query, ACCESS_READ, "ranges of the history, in steps", true },
	{ "GET", API "events", page_events, ACCESS_READ, "configured events with state and reason" },
	{ "GET", API "processes", page_processes, ACCESS_READ, "the processes that use most CPU time" },
	{ "GET", API "exporters", page_exporters, ACCESS_READ, "what was sent, queued and dropped" },
	{ "GET", API "triggers", page_triggers, ACCESS_READ, "triggers and what they did" },
	{ "GET", API "recording", page_recording, ACCESS_READ, "the file that a trigger recorded" },
	{ "GET", API "doctor", page_doctor, ACCESS_READ, "what this machine can do", true },
	{ "GET", API "profiles", page_profiles, ACCESS_READ, "the stored profiles of a range", true },
	{ "GET", API "flame", page_flame, ACCESS_READ, "the stacks of a range", true },
	{ "GET", API "heatmap", page_heatmap, ACCESS_READ, "samples of a range by second and 20 ms", true },
	{ "GET", API "live", page_live, ACCESS_READ, "batches as they come (Server-Sent Events)" },
	{ "GET", API "config", page_config, ACCESS_ACTION, "the configuration with origins" },
	{ "POST", API "login", page_login, ACCESS_OPEN, "sets the cookie for reading; the body is the token" },
	{ "POST", API "logout", page_logout, ACCESS_OPEN, "removes the cookie" },
	{ "POST", API "ctl/", page_ctl, ACCESS_ACTION, "actions: pause resume reload read-now interval profile", true },
	{ .path = NULL },
};
