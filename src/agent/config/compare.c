/* Comparison of configurations, for reloads. */
#include "agent/config/compare.h"

bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool same_list(const struct strlist *a, const struct strlist *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return true;
}

bool config_same_profile(const struct profile_config *a, const struct profile_config *b)
{
	return a->off == b->off && a->frequency == b->frequency && same_text(a->event, b->event) &&
	       a->window_ns == b->window_ns && a->kernel_off == b->kernel_off;
}

static bool same_retention(const struct retention_config *a, const struct retention_config *b)
{
	return a->full_ns == b->full_ns && a->seconds10_ns == b->seconds10_ns &&
	       a->minute_ns == b->minute_ns && a->profiles_ns == b->profiles_ns &&
	       a->max_bytes == b->max_bytes && a->pending_bytes == b->pending_bytes;
}

const char *config_needs_restart(const struct agent_config *a, const struct agent_config *b)
{
	if (!same_list(&a->listen, &b->listen))
		return "listen";
	/* NULL: the default path, filled in at the start */
	if (b->store && !same_text(a->store, b->store))
		return "store";
	if (!same_text(a->state, b->state))
		return "state";
	if (b->socket && !same_text(a->socket, b->socket))
		return "socket";
	if (!same_text(a->tls_cert, b->tls_cert) || !same_text(a->tls_key, b->tls_key) ||
	    !same_text(a->tls_client_ca, b->tls_client_ca) || a->insecure != b->insecure)
		return "tls";
	if (!same_retention(&a->retention, &b->retention))
		return "retention";
	if (a->max_fds != b->max_fds)
		return "max_fds";
	return a->keep_privileges != b->keep_privileges ? "keep_privileges" : NULL;
}
