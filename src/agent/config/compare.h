/*
 * Compares two configurations, so that a reload changes only what differs.
 */
#ifndef AGENT_CONFIG_COMPARE_H
#define AGENT_CONFIG_COMPARE_H

#include "agent/config/config.h"

bool same_text(const char *a, const char *b);		/* either may be NULL */
bool same_list(const struct strlist *a, const struct strlist *b);
/* Name of a setting that differs and needs a restart, "listen", "store" ...; NULL: none. */
const char *config_needs_restart(const struct agent_config *a, const struct agent_config *b);
bool config_same_profile(const struct profile_config *a, const struct profile_config *b);

#endif
