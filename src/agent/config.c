/*
 * The configuration.
 */
#include "agent/config.h"

#include <errno.h>

#include "base/error.h"

int config_load(struct agent_config **out, const struct config_opts *opts, struct tacho_error *e)
{
	*out = NULL;
	return error_set(e, -EOPNOTSUPP, "%s: configurations are not read by this build",
			 opts->path ? opts->path : "the default");
}

void config_free(struct agent_config *cfg)
{
	free(cfg);
}

int config_show(const struct agent_config *cfg, bool origins, struct buf *out)
{
	(void)origins;
	buf_printf(out, "# %s\n", cfg->kind);
	return 0;
}
