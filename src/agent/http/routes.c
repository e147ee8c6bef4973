/*
 * The table of pages. The API's manual page lists the same rows.
 */
#include "agent/http/request.h"

#define API "/api/v1/"

const struct route http_routes[] = {
	{ "GET", "/", page_index, false, "the page" },
	{ "GET", "/healthz", page_health, false, "\"ok\", or status 503 with what does not work" },
	{ "GET", "/metrics", page_metrics, false, "Prometheus text, or OpenMetrics by Accept" },
	{ "GET", API "status", page_status, false, "version, store, profiler" },
	{ "GET", API "series", page_series, false, "every series with its newest value" },
	{ "GET", API "query", page_query, false, "ranges of the history, in steps", true },
	{ "GET", API "events", page_events, false, "configured events with state and reason" },
	{ "GET", API "processes", page_processes, false, "the processes that use most CPU time" },
	{ "GET", API "exporters", page_exporters, false, "what was sent, queued and dropped" },
	{ "GET", API "triggers", page_triggers, false, "triggers and what they did" },
	{ "GET", API "doctor", page_doctor, false, "what this machine can do", true },
	{ "GET", API "profiles", page_profiles, false, "the stored profiles of a range", true },
	{ "GET", API "flame", page_flame, false, "the stacks of a range", true },
	{ "GET", API "heatmap", page_heatmap, false, "samples of a range by second and 20 ms", true },
	{ "GET", API "live", page_live, false, "batches as they come (Server-Sent Events)" },
	{ "GET", API "config", page_config, true, "the configuration with origins" },
	{ "POST", API "ctl/", page_ctl, true, "actions: pause resume reload read-now interval profile", true },
	{ .path = NULL },
};
