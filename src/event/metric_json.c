/*
 * Reads metrics from JSON: Intel's perfmon files (Formula with aliases), the kernel's (MetricExpr) and
 * PerfSpect's (expression), and Intel's table of retire latencies. Objects that are not metrics, such as
 * events, are skipped.
 */
#include "event/metric.h"

#include <errno.h>
#include <stdio.h>

#include "base/json_read.h"
#include "base/num.h"
#include "base/vec.h"

enum metric_field {
	M_NAME, M_LEGACY, M_GROUPS, M_EXPR, M_FORMULA, M_THRESHOLD, M_SCALE_UNIT, M_UNIT, M_BRIEF, M_PUBLIC,
	M_PARENT, M_LOCATE, M_LEVEL, M_CATEGORY, M_EVENT, M_PLAIN_NAME, M_PLAIN_EXPR, M_MAX
};

static const char *const keys[M_MAX] = {
	"MetricName", "LegacyName", "MetricGroup", "MetricExpr", "Formula", "MetricThreshold", "ScaleUnit",
	"UnitOfMeasure", "BriefDescription", "PublicDescription", "ParentCategory", "LocateWith", "Level",
	"Category", "EventName", "name", "expression",
};

struct metric_reader {
	struct json_in in;
	struct metric_defs *d;
	struct str f[M_MAX];
	struct str threshold;		/* perfmon's form: a formula over metrics */
	struct metric_aliases aliases, metrics;
	struct buf text;
};

/* ---- strings ---- */

static const char *store_str(struct metric_reader *r, struct str s)
{
	char *copy;

	s = str_trim(str_n(s.s, s.n ? strnlen(s.s, s.n) : 0));
	if (!s.n)
		return "";
	r->d->bytes += s.n + 1;
	copy = arena_str(&r->d->arena, s);
	if (copy)
		str_make_printable(copy, s.n);
	return copy;
}

/* Splits "100%" into scale and unit. */
static const char *scale_unit(struct metric_reader *r, struct str s, double *scale)
{
	size_t n = s.n;

	*scale = 1;
	for (; n > 0; n--)
		if (num_double(str_n(s.s, n), scale) == 0)
			break;
	return store_str(r, str_n(s.s + n, s.n - n));
}

static const char *unit_of(struct metric_reader *r, double *scale)
{
	struct str unit = r->f[M_UNIT];

	if (r->f[M_SCALE_UNIT].n)
		return scale_unit(r, r->f[M_SCALE_UNIT], scale);
	*scale = 1;
	return str_is(unit, "percent") ? "%" : store_str(r, unit);
}

/* Finds the events to sample with. The kernel's files have them in the description:
 * "... Sample with: A_PS, B. Related metrics: ..." */
static struct str sample_of(const struct metric_reader *r)
{
	static const char mark[] = "Sample with: ";
	struct str s = r->f[M_PUBLIC];
	const char *at = s.n ? memmem(s.s, s.n, mark, sizeof(mark) - 1) : NULL;
	size_t n = 0;

	if (r->f[M_LOCATE].n)
		return str_is(r->f[M_LOCATE], "#NA") ? str_n("", 0) : r->f[M_LOCATE];
	if (!at)
		return str_n("", 0);
	s = str_n(at + sizeof(mark) - 1, s.n - (size_t)(at - s.s) - (sizeof(mark) - 1));
	while (n < s.n && !(s.s[n] == '.' && (n + 1 == s.n || s.s[n + 1] == ' ')))
		n++;
	return str_n(s.s, n);
}

/* ---- the top-down tree ---- */

/* Level in the top-down tree. In the kernel's files it is part of a group name (TopdownL2, AMD:
 * PipelineL2). In perfmon's files it is the Level field of TMA metrics that are a percentage of slots or
 * cycles. */
static uint32_t level_of(const struct metric_reader *r)
{
	struct str rest = r->f[M_GROUPS], group, name = r->f[M_NAME];
	uint32_t level = 0;

	while (str_cut(&rest, ';', &group))
		if (str_starts(group, "TopdownL") || str_starts(group, "PipelineL")) {
			struct str digits = str_n(group.s + 8 + (group.s[0] == 'P'), 0);

			digits.n = group.n - (size_t)(digits.s - group.s);
			if (num_u32(digits, &level) == 0)
				return level;
		}
	if (!r->f[M_FORMULA].n || !str_is(r->f[M_CATEGORY], "TMA") || !str_is(r->f[M_UNIT], "percent") ||
	    str_starts(name, "Info_") || str_starts(name, "Bottleneck_") ||
	    num_u32(r->f[M_LEVEL], &level) < 0)
		return 0;
	/* Metrics below the first level must have a parent. */
	return level == 1 || r->f[M_PARENT].n ? level : 0;
}

static const char *groups_of(struct metric_reader *r, uint32_t level)
{
	struct str groups = r->f[M_GROUPS];

	buf_clear(&r->text);
	buf_str(&r->text, groups);
	if (level && !(groups.n && memmem(groups.s, groups.n, "TopdownL", 8)))
		buf_printf(&r->text, "%sTopdownL%u", groups.n ? ";" : "", level);
	return buf_failed(&r->text) ? NULL : store_str(r, buf_view(&r->text));
}

/* Finds the parent by the metric's group: tma_fetch_latency is in the group tma_frontend_bound_group. */
static struct str parent_of(const struct metric_reader *r)
{
	struct str rest = r->f[M_GROUPS], group;

	if (r->f[M_PARENT].n)
		return r->f[M_PARENT];
	while (str_cut(&rest, ';', &group))
		if (str_starts(group, "tma_") && str_ends(group, "_group") && !str_starts(group, "tma_L"))
			return str_n(group.s, group.n - 6);
	return str_n("", 0);
}

/* ---- a metric ---- */

static const char *convert_formula(struct metric_reader *r, struct str text, const struct metric_aliases *aliases)
{
	buf_clear(&r->text);
	if (!metric_text_formula(&r->text, text, aliases))
		return "";		/* too long */
	return buf_failed(&r->text) ? NULL : store_str(r, buf_view(&r->text));
}

static const char *expr_of(struct metric_reader *r)
{
	const struct metric_aliases none = { 0 };

	if (r->f[M_FORMULA].n)
		return convert_formula(r, r->f[M_FORMULA], &r->aliases);
	return r->f[M_EXPR].n ? store_str(r, r->f[M_EXPR]) : convert_formula(r, r->f[M_PLAIN_EXPR], &none);
}

static struct str name_of(const struct metric_reader *r)
{
	if (!r->f[M_EXPR].n && !r->f[M_FORMULA].n)
		return r->f[M_PLAIN_EXPR].n ? r->f[M_PLAIN_NAME] : str_n("", 0);
	return r->f[M_NAME].n ? r->f[M_NAME] : r->f[M_EVENT];
}

static int add_metric(struct metric_reader *r)
{
	struct metric_def m = { .name = store_str(r, name_of(r)), .legacy = store_str(r, r->f[M_LEGACY]) };
	struct metric_def *slot;

	if (m.name && !*m.name)
		return 0;
	if (r->d->list.n >= METRIC_MAX || r->d->bytes > METRIC_BYTES_MAX)
		return -EFBIG;
	m.level = level_of(r);
	m.groups = groups_of(r, m.level);
	m.expr = expr_of(r);
	m.threshold = r->threshold.n ? convert_formula(r, r->threshold, &r->metrics)
				     : store_str(r, r->f[M_THRESHOLD]);
	m.unit = unit_of(r, &m.scale);
	m.desc = store_str(r, r->f[M_BRIEF]);
	m.parent = store_str(r, parent_of(r));
	m.sample = store_str(r, sample_of(r));
	if (!m.name || !m.legacy || !m.groups || !m.expr || !m.threshold || !m.unit || !m.desc || !m.parent ||
	    !m.sample)
		return -ENOMEM;
	if (!*m.expr)
		return 0;
	slot = vec_add(&r->d->list);
	if (!slot)
		return -ENOMEM;
	*slot = m;
	return 0;
}

/* ---- the file ---- */

/* Reads {"Name": "INST_RETIRED.ANY", "Alias": "b"}, or {"Value": ..., "Alias": ...}. */
static int read_alias(struct metric_reader *r, struct metric_aliases *to, enum metric_alias_kind kind)
{
	struct metric_alias a = { .kind = kind }, *slot;
	struct str key = { 0 }, value = { 0 };
	enum json_token token;

	while ((token = json_next(&r->in, &key)) == JSON_IN_KEY) {
		token = json_next(&r->in, &value);
		if (token < JSON_IN_STRING && !json_skip(&r->in, token))
			return -EINVAL;
		if (token < JSON_IN_STRING)
			continue;
		if (str_is(key, "Alias"))
			a.alias = value;
		else if (str_is(key, "Name") || str_is(key, "Value"))
			a.name = value;
	}
	if (token != JSON_IN_CLOSE)
		return -EINVAL;
	/* Names are written in brackets, so they cannot contain one. */
	if (!a.alias.n || !a.name.n || (kind != ALIAS_CONSTANT && str_find(a.name, ']') >= 0))
		return 0;
	slot = vec_add(to);
	if (!slot)
		return -ENOMEM;
	*slot = a;
	return 0;
}

static int read_aliases(struct metric_reader *r, struct metric_aliases *to, enum metric_alias_kind kind)
{
	enum json_token token;
	struct str ignored;
	int err = 0;

	while (!err && (token = json_next(&r->in, &ignored)) != JSON_IN_CLOSE) {
		if (token == JSON_IN_OBJECT)
			err = read_alias(r, to, kind);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
	}
	return err;
}

static int read_threshold(struct metric_reader *r)
{
	struct str key = { 0 }, value = { 0 };
	enum json_token token;
	int err = 0;

	while (!err && (token = json_next(&r->in, &key)) == JSON_IN_KEY) {
		token = json_next(&r->in, &value);
		if (token == JSON_IN_STRING && str_is(key, "Formula"))
			r->threshold = value;
		else if (token == JSON_IN_ARRAY && str_is(key, "ThresholdMetrics"))
			err = read_aliases(r, &r->metrics, ALIAS_METRIC);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
	}
	return err ? err : token == JSON_IN_CLOSE ? 0 : -EINVAL;
}

static void set_field(struct metric_reader *r, struct str key, struct str value)
{
	for (size_t i = 0; i < M_MAX; i++)
		if (str_is(key, keys[i]))
			r->f[i] = value;
}

static int read_member(struct metric_reader *r, struct str key)
{
	struct str value = { 0 };
	enum json_token token = json_next(&r->in, &value);

	if (token == JSON_IN_STRING || token == JSON_IN_NUMBER) {
		set_field(r, key, value);
		return 0;
	}
	if (token == JSON_IN_ARRAY && str_is(key, "Events"))
		return read_aliases(r, &r->aliases, ALIAS_EVENT);
	if (token == JSON_IN_ARRAY && str_is(key, "Constants"))
		return read_aliases(r, &r->aliases, ALIAS_CONSTANT);
	if (token == JSON_IN_OBJECT && str_is(key, "Threshold"))
		return read_threshold(r);
	return json_skip(&r->in, token) ? 0 : -EINVAL;
}

static int read_metric(struct metric_reader *r)
{
	enum json_token token;
	struct str key = { 0 };
	int err = 0;

	memset(r->f, 0, sizeof(r->f));
	r->threshold = str_n("", 0);
	r->aliases.n = r->metrics.n = 0;
	while (!err && (token = json_next(&r->in, &key)) == JSON_IN_KEY)
		err = read_member(r, key);
	return err ? err : token == JSON_IN_CLOSE ? add_metric(r) : -EINVAL;
}

static int read_array(struct metric_reader *r)
{
	enum json_token token;
	struct str ignored;
	int err = 0;

	while (!err && (token = json_next(&r->in, &ignored)) != JSON_IN_CLOSE) {
		if (token == JSON_IN_OBJECT)
			err = read_metric(r);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
	}
	return err;
}

/* Reads {"MIN": 0, "MAX": 888, "MEAN": 6.11}. */
static int read_latency(struct metric_reader *r, struct str event)
{
	struct metric_latency l = { .event = store_str(r, event), .mean = -1 }, *slot;
	struct str key = { 0 }, value = { 0 };
	enum json_token token;

	while ((token = json_next(&r->in, &key)) == JSON_IN_KEY) {
		token = json_next(&r->in, &value);
		if (token == JSON_IN_NUMBER && str_is(key, "MEAN"))
			num_double(value, &l.mean);
		else if (token < JSON_IN_STRING && !json_skip(&r->in, token))
			return -EINVAL;
	}
	if (token != JSON_IN_CLOSE)
		return -EINVAL;
	if (l.mean < 0 || r->d->latencies.n >= METRIC_MAX)
		return 0;
	slot = l.event ? vec_add(&r->d->latencies) : NULL;
	if (!slot)
		return -ENOMEM;
	*slot = l;
	return 0;
}

static int read_latencies(struct metric_reader *r)
{
	struct str key = { 0 }, ignored;
	enum json_token token;
	int err = 0;

	while (!err && (token = json_next(&r->in, &key)) == JSON_IN_KEY) {
		token = json_next(&r->in, &ignored);
		if (token == JSON_IN_OBJECT)
			err = read_latency(r, key);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
	}
	return err ? err : token == JSON_IN_CLOSE ? 0 : -EINVAL;
}

static int read_top(struct metric_reader *r)
{
	struct str key = { 0 }, ignored;
	enum json_token token;
	int err = 0;

	while (!err && (token = json_next(&r->in, &key)) == JSON_IN_KEY) {
		token = json_next(&r->in, &ignored);
		if (token == JSON_IN_ARRAY && (str_is(key, "Metrics") || str_is(key, "Events")))
			err = read_array(r);
		else if (token == JSON_IN_OBJECT && str_is(key, "Data"))
			err = read_latencies(r);
		else if (!json_skip(&r->in, token))
			err = -EINVAL;
	}
	return err ? err : token == JSON_IN_CLOSE ? 0 : -EINVAL;
}

int metric_defs_read(struct metric_defs *d, char *text, size_t n)
{
	struct metric_reader r = { .in = { .text = text, .n = n }, .d = d };
	struct str ignored;
	enum json_token token = json_next(&r.in, &ignored);
	int err = token == JSON_IN_OBJECT ? read_top(&r) : token == JSON_IN_ARRAY ? read_array(&r) : -EINVAL;

	vec_done(&r.aliases);
	vec_done(&r.metrics);
	buf_done(&r.text);
	return err;
}
