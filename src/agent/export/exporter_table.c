/*
 * The table of exporter types. A new exporter is a new file and a new line here.
 */
#include "agent/export/exporter.h"

extern const struct exporter_type export_collectd, export_csv, export_graphite, export_influxdb,
	export_jsonl, export_otlp, export_otlp_profiles, export_pyroscope, export_remote_write, export_snmp, export_statsd,
	export_textfile;

const struct exporter_type *const exporter_types[] = {
	&export_remote_write,
	&export_otlp,
	&export_influxdb,
	&export_graphite,
	&export_statsd,
	&export_collectd,
	&export_snmp,
	&export_csv,
	&export_jsonl,
	&export_textfile,
	&export_pyroscope,
	&export_otlp_profiles,
	NULL,
};

const struct exporter_type *exporter_find(struct str name)
{
	for (size_t i = 0; exporter_types[i]; i++)
		if (str_is(name, exporter_types[i]->name))
			return exporter_types[i];
	return NULL;
}
