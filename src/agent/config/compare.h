/*
 * What differs between two configurations: a reload touches only that.
 */
#ifndef AGENT_CONFIG_COMPARE_H
#define AGENT_CONFIG_COMPARE_H

#include "agent/config/config.h"

bool same_text(const char *a, const char *b);		/* either may be NULL */
bool same_list(const struct strlist *a, const struct strlist *b);
/* What differs and only a restart can change: "listen", "store" ...; NULL: nothing. */
const char *config_needs_restart(const struct agent_config *a, const struct agent_config *b);
bool config_same_profile(const struct profile_config *a, const struct profile_config *b);

#endif
