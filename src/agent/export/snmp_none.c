/*
 * Replaces SNMP in builds without net-snmp: configurations with this type can be checked and shown,
 * but not started.
 */
#include "agent/export/exporter.h"

#include <errno.h>

#include "base/error.h"

struct snmp_none_settings {
	char *agentx;
};

static const struct config_key keys[] = {
	{ KEY_STRING, "agentx", offsetof(struct snmp_none_settings, agentx), "\"/var/agentx/master\"",
	  "the AgentX socket of the SNMP daemon: the path of a socket, or HOST:PORT" },
	{ .kind = KEY_END },
};

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	(void)out, (void)settings, (void)env;
	error_set(e, -EOPNOTSUPP, "this build has no SNMP support");
	error_hint(e, "build it with net-snmp's library (libsnmp-dev)");
	return -EOPNOTSUPP;
}

static void close_exporter(void *x)
{
	(void)x;
}

const struct exporter_type export_snmp = {
	.name = "snmp",
	.help = "serves INTEL-PMU-MIB and TACHO-MIB through an SNMP daemon; not in this build",
	.keys = keys,
	.settings_size = sizeof(struct snmp_none_settings),
	.open = open_exporter,
	.close = close_exporter,
};
