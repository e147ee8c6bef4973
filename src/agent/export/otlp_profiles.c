/*
 * Sends the continuous profile as OpenTelemetry profiles over OTLP/HTTP, a request for each window.
 */
#include "agent/export/exporter.h"

#include "agent/export/http_exporter.h"

struct otlp_profiles_settings {
	struct http_export_settings base;
};

#define AT(field) offsetof(struct otlp_profiles_settings, field)
static const struct config_key keys[] = {
	HTTP_KEYS(struct otlp_profiles_settings, base.http,
		  "the receiver's URL: \"http://host:4318\"; the default path is /v1development/profiles"),
	{ .kind = KEY_END },
};
#undef AT

static void close_exporter(void *x)
{
	http_exporter_done(x);
	free(x);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env, struct tacho_error *e)
{
	static const char *const headers[] = { "Content-Type: application/x-protobuf", NULL };
	const struct otlp_profiles_settings *s = settings;
	struct http_exporter *h = http_exporter_new(sizeof(*h), settings, env);

	if (h)
		url_with_path(&h->url, s->base.http.url, "/v1development/profiles");
	return http_exporter_open(out, h, NULL, headers, close_exporter, e);
}

static enum send_result send_profile(void *x, const struct export_body *s, struct send_reply *reply)
{
	return http_exporter_ship(x, s, reply);
}

const struct exporter_type export_otlp_profiles = {
	.name = "otlp_profiles",
	.help = "the continuous profile as OpenTelemetry profiles (v1development, protobuf over HTTP)",
	.keys = keys,
	.settings_size = sizeof(struct otlp_profiles_settings),
	.check = http_exporter_check,
	.open = open_exporter,
	.send_profile = send_profile,
	.profile_format = "otlp",
	.close = close_exporter,
};
