/*
 * The table of exporter types. A new member is a new file and a new line here.
 */
#include "agent/exporter.h"

extern const struct exporter_type export_collectd;
extern const struct exporter_type export_snmp;

const struct exporter_type *const exporter_types[] = {
	&export_collectd,
	&export_snmp,
	NULL,
};

const struct exporter_type *exporter_find(struct str name)
{
	for (size_t i = 0; exporter_types[i]; i++)
		if (str_is(name, exporter_types[i]->name))
			return exporter_types[i];
	return NULL;
}
