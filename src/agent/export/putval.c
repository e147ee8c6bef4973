/*
 * Writes PUTVAL lines. Names come from configuration files and processes; a slash, a control
 * character or an overlong name must not produce another identifier.
 */
#include "agent/export/putval.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>

#include "base/io.h"

enum putval_type {
	PUTVAL_COUNTER,		/* one value, standard type */
	PUTVAL_PMU_COUNTER,	/* four values, type from tacho's types.db */
	PUTVAL_GAUGE,
	PUTVAL_DERIVE,
	PUTVAL_TIME,		/* seconds, converted to milliseconds */
};
static const char *const type_names[] = {
	[PUTVAL_COUNTER] = "counter", [PUTVAL_PMU_COUNTER] = "pmu_counter", [PUTVAL_GAUGE] = "gauge",
	[PUTVAL_DERIVE] = "derive", [PUTVAL_TIME] = "total_time_in_ms",
};

static bool has_collectd_names(const struct series *s)
{
	return s->metric->naming == NAMING_COLLECTD1 || s->metric->naming == NAMING_COLLECTD2 || s->metric->naming == NAMING_COLLECTD_TYPES;
}

/* Instances of a PMU are told apart by their type number in the event's name, not by the PMU in the plugin's instance. */
static bool has_type_names(const struct series *s)
{
	return s->metric->naming == NAMING_COLLECTD1 || s->metric->naming == NAMING_COLLECTD_TYPES;
}

static enum putval_type putval_type_of(const struct series *s)
{
	const struct metric *m = s->metric;

	if (m->kind != METRIC_COUNTER)
		return PUTVAL_GAUGE;
	if (!strncmp(m->name, "tacho_", 6))
		return !strcmp(m->unit, "seconds") ? PUTVAL_TIME : PUTVAL_DERIVE;
	return m->naming == NAMING_COLLECTD1 ? PUTVAL_COUNTER : PUTVAL_PMU_COUNTER;
}

static uint32_t hash_of(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.s[i]) * 16777619u;
	return h;
}

/* One part of the identifier: special characters become '_'; a part that is too long is cut and ends
 * in a hash. */
static void put_part(struct buf *out, struct str text)
{
	size_t n = text.n > PUTVAL_PART_MAX ? PUTVAL_PART_MAX - 9 : text.n;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text.s[i];

		buf_putc(out, c < 0x20 || c == 0x7f || c == '/' ? '_' : (char)c);
	}
	if (n < text.n)
		buf_printf(out, "~%08x", hash_of(text));
}

void putval_place(struct buf *out, const struct series *s)
{
	static const struct { const char *label, *before; } order[] = {
		{ "group", "" }, { "socket", "socket" }, { "die", "die" }, { "core", "core" },
		{ "cpu", "cpu" }, { "node", "node" }, { "pid", "pid" }, { "comm", "" }, { "cgroup", "" },
		{ "trigger", "" }, { "exporter", "" },
	};
	const char *cpu = has_collectd_names(s) ? series_label(s, "cpu") : NULL;
	size_t start = out->n;

	if (cpu) {			/* as with Cores "": the number is the group */
		buf_puts(out, cpu);
		return;
	}
	for (size_t i = 0; i < countof(order); i++) {
		const char *value = series_label(s, order[i].label);

		if (value)
			buf_printf(out, "%s%s%s", out->n > start ? "-" : "", order[i].before, value);
	}
}

static void put_plugin(struct buf *out, const struct series *s)
{
	scoped(buf_done) struct buf instance = { 0 };
	const char *pmu = series_label(s, "pmu");

	if (!has_collectd_names(s)) {
		size_t start;

		buf_puts(&instance, s->source);
		start = instance.n;
		buf_putc(&instance, '-');
		putval_place(&instance, s);
		if (instance.n == start + 1)
			instance.n = start;
	} else {
		putval_place(&instance, s);
	}
	if (pmu && !has_type_names(s))
		buf_printf(&instance, ":%s", pmu);
	buf_puts(out, has_collectd_names(s) ? "intel_pmu" : "tacho");
	if (instance.n) {
		buf_putc(out, '-');
		put_part(out, buf_view(&instance));
	}
	out->bad = out->bad || instance.bad;
}

/* The PMU's type number in sysfs, by which generation 1 distinguishes instances; -1: unknown. */
static int read_pmu_type(const char *pmu)
{
	char path[300], text[32];
	int n = snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu), type;

	if (strchr(pmu, '/') || n < 0 || (size_t)n >= sizeof(path) ||
	    io_read_small(AT_FDCWD, path, text, sizeof(text)) <= 0 || sscanf(text, "%d", &type) != 1)
		return -1;
	return type;
}

static bool is_pmu_instance(const char *pmu)
{
	const char *end = strrchr(pmu, '_');

	return end && end[1] && end[strspn(end + 1, "0123456789") + 1] == '\0';
}

static void put_event(struct buf *out, const struct series *s)
{
	scoped(buf_done) struct buf name = { 0 };
	const char *pmu = series_label(s, "pmu");
	int type;

	buf_puts(&name, s->metric->event);
	if (has_type_names(s) && pmu && is_pmu_instance(pmu)) {
		type = read_pmu_type(pmu);
		if (type >= 0)
			buf_printf(&name, ":type=%d", type);
		else
			buf_printf(&name, ":pmu=%s", pmu);
	}
	put_part(out, buf_view(&name));
	out->bad = out->bad || name.bad;
}

void putval_identifier(struct buf *out, const char *host, const struct series *s)
{
	put_part(out, str_of(host));
	buf_putc(out, '/');
	put_plugin(out, s);
	buf_putc(out, '/');
	buf_printf(out, "%s-", type_names[putval_type_of(s)]);
	put_event(out, s);
}

static void put_quoted(struct buf *out, struct str text)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.s[i] == '"' || text.s[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, text.s[i]);
	}
	buf_putc(out, '"');
}

static void put_values(struct buf *out, const struct series *s, const struct point *p)
{
	switch (putval_type_of(s)) {
	case PUTVAL_PMU_COUNTER:
		buf_printf(out, ":%llu:%llu:%llu:%llu", (unsigned long long)p->count,
			   (unsigned long long)p->raw, (unsigned long long)p->enabled_ns,
			   (unsigned long long)p->running_ns);
		return;
	case PUTVAL_COUNTER:
	case PUTVAL_DERIVE:
		buf_printf(out, ":%llu", (unsigned long long)p->count);
		return;
	case PUTVAL_TIME:
		buf_printf(out, ":%.0f", p->value * 1000);
		return;
	case PUTVAL_GAUGE:
		buf_printf(out, isfinite(p->value) ? ":%.15g" : ":U", p->value);
	}
}

void putval_line(struct buf *out, const char *host, const struct series *s, const struct point *p,
		 int64_t time_ns, uint64_t interval_ns)
{
	scoped(buf_done) struct buf id = { 0 };

	putval_identifier(&id, host, s);
	buf_puts(out, "PUTVAL ");
	put_quoted(out, buf_view(&id));
	buf_printf(out, " interval=%.3f %lld.%03lld", (double)interval_ns * 1e-9,
		   (long long)(time_ns / 1000000000), (long long)(time_ns / 1000000 % 1000));
	put_values(out, s, p);
	buf_putc(out, '\n');
	out->bad = out->bad || id.bad;
}
