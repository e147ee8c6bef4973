/*
 * Names of metrics: "context-switches" becomes perf_context_switches, "cycles:u" perf_cycles_u,
 * "sched:sched_switch" perf_sched_sched_switch. Units are converted to base units (milliseconds to
 * seconds, MiB to bytes), as Prometheus and OpenTelemetry recommend; the factor goes into the scale.
 */
#include "agent/core/metric_names.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "base/json.h"

static const struct {
	const char *unit, *base;
	double factor;
} units[] = {
	{ "msec", "seconds", 1e-3 }, { "ms", "seconds", 1e-3 },
	{ "usec", "seconds", 1e-6 }, { "us", "seconds", 1e-6 },
	{ "ns", "seconds", 1e-9 }, { "nsec", "seconds", 1e-9 },
	{ "sec", "seconds", 1 }, { "s", "seconds", 1 },
	{ "Joules", "joules", 1 },
	{ "KiB", "bytes", 1024 }, { "MiB", "bytes", 1048576 }, { "GiB", "bytes", 1073741824 },
	{ "Bytes", "bytes", 1 }, { "B", "bytes", 1 }, { "MB", "bytes", 1e6 },
	{ "C", "celsius", 1 },
};

void metric_put_clean_name(struct buf *out, struct str text)
{
	size_t start = out->n;
	bool gap = false;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.s[i];

		if (c >= 128 || !isalnum(c)) {
			gap = out->n > start;
			continue;
		}
		if (gap)
			buf_putc(out, '_');
		gap = false;
		buf_putc(out, (char)tolower(c));
	}
}

static void put_base_unit(const char *unit, struct buf *scratch, size_t *at, double *scale)
{
	for (size_t i = 0; i < countof(units); i++)
		if (!strcmp(units[i].unit, unit)) {
			*scale *= units[i].factor;
			unit = units[i].base;
			break;
		}
	*at = scratch->n;
	metric_put_clean_name(scratch, str_of(unit));
	buf_putc(scratch, '\0');
}

/* Writes the name without the unit: the other tool's name where its configuration gives one, else
 * ours. */
static void put_metric_name(struct buf *scratch, const char *event, const struct event_config *ec,
			    enum naming naming)
{
	if (naming == NAMING_ALUMET && ec->name) {
		buf_puts(scratch, ec->name);
	} else {
		buf_puts(scratch, "perf_");
		metric_put_clean_name(scratch, str_of(event));
	}
	buf_putc(scratch, '\0');
}

int metric_of_event(const struct tacho_event *ev, const struct event_config *ec,
		    enum naming naming, struct buf *scratch, struct metric *out)
{
	const char *event = ec->name && ev->group_size <= 1 ? ec->name : ev->name;
	double scale = ev->scale;
	size_t name_at, unit_at, help_at;

	buf_clear(scratch);
	name_at = scratch->n;
	put_metric_name(scratch, event, ec, naming);
	put_base_unit(ev->unit ? ev->unit : "", scratch, &unit_at, &scale);
	help_at = scratch->n;
	buf_printf(scratch, "%s of PMU %s, counted since the start time", event, ev->pmu);
	if (buf_failed(scratch))
		return -ENOMEM;
	*out = (struct metric){
		.event = event,
		.name = scratch->bytes + name_at,
		.unit = scratch->bytes + unit_at,
		.help = scratch->bytes + help_at,
		.kind = METRIC_COUNTER,
		.scale = scale,
		.naming = naming,
	};
	return 0;
}

/* Our names are valid already; names from another tool's file may contain any character. */
void metric_put_full_name(struct buf *out, const struct metric *m)
{
	for (const char *c = m->name; *c; c++) {
		bool digit = *c >= '0' && *c <= '9';

		if (digit && c == m->name)
			buf_putc(out, '_');
		buf_putc(out, digit || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ? *c : '_');
	}
	if (m->unit[0] && m->naming == NAMING_TACHO && !str_ends(str_of(m->name), m->unit)) {
		buf_putc(out, '_');
		buf_puts(out, m->unit);
	}
}

const char *metric_total_suffix(const struct metric *m)
{
	struct str name = str_of(m->name);

	if (m->kind != METRIC_COUNTER || m->naming != NAMING_TACHO)
		return m->kind == METRIC_COUNTER ? "_total" : "";
	return str_ends(name, "_seconds_bucket") || str_ends(name, "_seconds_sum") || str_ends(name, "_seconds_count") ? "" : "_total";
}

void metric_put_utf8(struct buf *out, struct str text)
{
	while (text.n) {
		size_t n = str_utf8_len(text);

		if (n)
			buf_put(out, text.s, n);
		else
			buf_puts(out, "\xef\xbf\xbd");
		n = max_of(n, (size_t)1);
		text = str_n(text.s + n, text.n - n);
	}
}

void metric_put_number(struct buf *out, double v)
{
	struct json j = { .out = out };

	if (isnan(v))
		buf_puts(out, "NaN");
	else if (isinf(v))
		buf_puts(out, v > 0 ? "+Inf" : "-Inf");
	else if (v >= 0 && v < 9e15 && v == (double)(uint64_t)v)
		buf_u64(out, (uint64_t)v);
	else
		json_double(&j, v);
}

static void add_label(struct label_view *out, size_t *n, const char *name, const char *value)
{
	size_t at = *n;

	if (!*value || *n == LABELS_MAX)
		return;
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(out[i].name, name))
			return;
	for (; at && strcmp(out[at - 1].name, name) > 0; at--)
		out[at] = out[at - 1];
	out[at] = (struct label_view){ name, value };
	++*n;
}

size_t metric_labels(const struct series *s, const struct agent_config *cfg,
		     const struct label_view *defaults, struct label_view out[LABELS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_labels; i++)
		add_label(out, &n, s->labels[i].name, s->labels[i].value);
	for (size_t i = 0; i < cfg->labels.n; i++)
		add_label(out, &n, cfg->labels.v[i].name, cfg->labels.v[i].value);
	for (; defaults && defaults->name; defaults++)
		add_label(out, &n, defaults->name, defaults->value);
	return n;
}

const struct metric *metric_of_formula(struct registry *r, const struct tacho_metric *m)
{
	scoped(buf_done) struct buf name = { 0 };
	struct metric like = { .event = m->name, .unit = "ratio", .kind = METRIC_GAUGE, .scale = 1,
			       .help = m->desc && *m->desc ? m->desc : m->name };

	buf_puts(&name, "perf_");
	metric_put_clean_name(&name, str_of(m->name));
	like.name = name.bytes;
	return buf_failed(&name) ? NULL : registry_metric(r, &like);
}
