/* Comparing configurations: see the header. */
#include "agent/config_same.h"

#include "agent/exporter.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Secrets are never shown, so they are compared by themselves. */
static bool same_values(const struct key_row *rows, const void *a, const void *b)
{
	scoped(buf_done) struct buf x = { 0 }, y = { 0 };

	for (const struct key_row *row = rows; row && row->kind != KEY_END; row++) {
		if (row->kind == KEY_SECRET) {
			if (!same_text(*(char *const *)((const char *)a + row->at),
				       *(char *const *)((const char *)b + row->at)))
				return false;
			continue;
		}
		key_show(row, a, &x);
		buf_putc(&x, '\n');
		key_show(row, b, &y);
		buf_putc(&y, '\n');
	}
	return !buf_failed(&x) && !buf_failed(&y) && str_eq(buf_view(&x), buf_view(&y));
}

static bool same_export(const struct export_config *a, const struct export_config *b)
{
	bool pushes = a->type->encode || a->type->ship_profile;

	return a->type == b->type && same_text(a->name, b->name) &&
	       same_values(a->type->keys, a->settings, b->settings) &&
	       (!pushes || same_values(push_keys, a->settings, b->settings));
}

static bool same_pairs(const struct key_pairs *a, const struct key_pairs *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!same_text(a->v[i].name, b->v[i].name) || !same_text(a->v[i].value, b->v[i].value))
			return false;
	return true;
}

bool config_same_exports(const struct agent_config *a, const struct agent_config *b)
{
	if (a->n_exports != b->n_exports || !same_pairs(&a->labels, &b->labels))
		return false;
	for (size_t i = 0; i < a->n_exports; i++)
		if (!same_export(&a->exports[i], &b->exports[i]))
			return false;
	return true;
}

static bool same_list(const struct strlist *a, const struct strlist *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

static bool same_profile(const struct profile_config *a, const struct profile_config *b)
{
	return a->off == b->off && a->frequency == b->frequency && same_text(a->event, b->event) &&
	       a->window_ns == b->window_ns && a->kernel_off == b->kernel_off;
}

static bool same_retention(const struct retention_config *a, const struct retention_config *b)
{
	return a->full_ns == b->full_ns && a->seconds10_ns == b->seconds10_ns &&
	       a->minute_ns == b->minute_ns && a->profiles_ns == b->profiles_ns &&
	       a->max_bytes == b->max_bytes;
}

const char *config_needs_restart(const struct agent_config *a, const struct agent_config *b)
{
	if (!same_list(&a->listen, &b->listen))
		return "listen";
	/* A place that is not set was filled in at the start. */
	if (b->store && !same_text(a->store, b->store))
		return "store";
	if (b->socket && !same_text(a->socket, b->socket))
		return "socket";
	if (!same_text(a->tls_cert, b->tls_cert) || !same_text(a->tls_key, b->tls_key))
		return "tls";
	if (!same_retention(&a->retention, &b->retention))
		return "retention";
	if (a->max_fds != b->max_fds)
		return "max_fds";
	return same_profile(&a->profile, &b->profile) ? NULL : "profile";
}
