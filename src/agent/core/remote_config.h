/*
 * Configuration from a server ([remote]): a thread asks for the file at the given interval (If-None-Match), checks its
 * signature, and whether it is valid together with the local files. Then it is stored as remote.toml in the state directory,
 * and the configuration is reloaded. A file that is refused stays beside it as remote.toml.refused, and changes nothing.
 * If the server cannot be reached at the start, the stored file is used, if its signature (remote.toml.sig) still matches.
 */
#ifndef AGENT_CORE_REMOTE_CONFIG_H
#define AGENT_CORE_REMOTE_CONFIG_H

#include "agent/core/agent.h"

struct remote_reader;

struct remote_reader_opts {
	struct agent *agent;
	struct config_opts config;	/* how the local files are read; .remote: path of the stored file */
	int (*reload)(void *arg, struct tacho_error *e);
	void *reload_arg;
};

struct remote_status {
	char url[256];			/* "": no [remote] */
	int64_t asked_ns, changed_ns;	/* wall clock: last answer, and last file that was put into use; 0: none */
	char etag[200], error[600];	/* "": the last request succeeded */
};

/* The path of the stored file. */
int remote_config_path(char *out, size_t size, const char *state_dir);
/* Returns 0 or -ENOMEM. The thread also runs without [remote], because a reload can add it. */
int remote_reader_start(struct remote_reader **out, const struct remote_reader_opts *opts);
void remote_reader_status(struct remote_reader *r, struct remote_status *out);
void remote_reader_stop(struct remote_reader *r);	/* NULL is fine */

#endif
