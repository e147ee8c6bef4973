/*
 * Writes the list in three formats: text, raw names, and JSON. The text has the layout of perf 7: an event
 * with a description is listed below the heading of its topic, with the description below it; any other event
 * is one line with its kind. JSON is an array with one object per line. Its keys are perf's and two
 * additional ones: whether the event can be opened on this machine, and if not, the reason.
 */
#include "cli/events/list.h"

#include <stdio.h>

#include "cli/core/terminal.h"

enum { NAME_WIDTH = 50, DESC_AT = 7 };

/* Writes "       [TEXT. Unit: PMU]"; further lines are indented by one more column. */
static void put_note(struct list_out *o, const char *text, const char *unit)
{
	struct buf note = { 0 };
	struct str body = str_trim(str_of(text));

	while (unit && body.n && body.s[body.n - 1] == '.')
		body.n--;
	buf_printf(&note, "[%.*s", STR(body));
	if (unit)
		buf_printf(&note, ". Unit: %s", unit);
	buf_putc(&note, ']');
	buf_pad(&o->buf, ' ', DESC_AT);
	term_wrap(&o->buf, buf_view(&note), DESC_AT, DESC_AT + 1, o->width);
	buf_putc(&o->buf, '\n');
	if (buf_failed(&note))
		o->buf.bad = true;
	buf_done(&note);
}

static void put_heading(struct list_out *o, const char *topic)
{
	if (!strncmp(o->topic, topic, sizeof(o->topic) - 1))
		return;
	snprintf(o->topic, sizeof(o->topic), "%s", topic);
	buf_printf(&o->buf, "\n%s:\n", topic);
}

/* Ends the section of the last heading, before an item that has no heading. */
static void end_section(struct list_out *o)
{
	if (o->topic[0])
		buf_putc(&o->buf, '\n');
	o->topic[0] = '\0';
}

bool list_is_template(const struct tacho_listing *item)
{
	return !strcmp(item->class_, "raw") || !strcmp(item->class_, "bp");
}

static const char *why_not(const struct tacho_listing *item)
{
	return item->why ? item->why : "it cannot be opened here";
}

static void text_event(struct list_out *o, const struct tacho_listing *item)
{
	bool described = item->desc && *item->desc;
	size_t start;

	if (described)
		put_heading(o, item->topic ? item->topic : item->pmu);
	else
		end_section(o);
	buf_puts(&o->buf, "  ");
	start = o->buf.n;
	buf_puts(&o->buf, item->name);
	if (item->alias)
		buf_printf(&o->buf, " OR %s", item->alias);
	if (!described) {
		size_t used = o->buf.n - start;

		buf_pad(&o->buf, ' ', used < NAME_WIDTH ? NAME_WIDTH - used : 0);
		buf_printf(&o->buf, " [%s]", item->kind);
	}
	buf_putc(&o->buf, '\n');
	if (described && o->desc)
		put_note(o, o->long_desc && item->long_desc ? item->long_desc : item->desc, item->pmu);
	if (!item->available)
		buf_printf(&o->buf, "%*s%s%s\n", DESC_AT, "",
			   list_is_template(item) ? "" : "not available: ", why_not(item));
	if (o->details && item->encoding)
		buf_printf(&o->buf, "%*s%s\n", DESC_AT + 1, "", item->encoding);
}

static void text_metric(struct list_out *o, const char *group, const struct tacho_metric *m, const char *why_not)
{
	if (group && !o->in_groups)
		put_heading(o, "Metric Groups");
	o->in_groups = group;
	put_heading(o, group ? group : "Metrics");
	buf_printf(&o->buf, "  %s\n", m->name);
	if (o->desc && m->desc && *m->desc)
		put_note(o, m->desc, NULL);
	if (why_not)
		buf_printf(&o->buf, "%*snot available: %s\n", DESC_AT, "", why_not);
	if (o->details)
		buf_printf(&o->buf, "%*s[%s]\n", DESC_AT + 1, "", m->expr);
}

static void text_group(struct list_out *o, const char *name)
{
	put_heading(o, "Metric Groups");
	buf_printf(&o->buf, "  %s\n", name);
}

static void raw_name(struct list_out *o, const char *name)
{
	buf_puts(&o->buf, name);
	buf_putc(&o->buf, ' ');
}

static void raw_event(struct list_out *o, const struct tacho_listing *item)
{
	raw_name(o, item->name);
	if (item->alias)
		raw_name(o, item->alias);
}

static void raw_metric(struct list_out *o, const char *group, const struct tacho_metric *m, const char *why_not)
{
	(void)group;
	if (!why_not)
		raw_name(o, m->name);
}

static void json_lead(struct list_out *o, struct json *j)
{
	buf_puts(&o->buf, o->n ? ",\n" : "\n");
	*j = (struct json){ .out = &o->buf };
	json_begin(j, '{');
}

static void put_member(struct json *j, const char *key, const char *value)
{
	if (value && *value)
		json_member(j, key, str, value);
}

/* Writes perf's key ScaleUnit: the factor and the unit in one string, "1E-06msec". */
static void put_scale(struct json *j, double scale, const char *unit)
{
	char text[96];

	if (!unit || !*unit)
		return;
	snprintf(text, sizeof(text), "%G%s", scale, unit);
	json_member(j, "ScaleUnit", str, text);
}

static void json_event(struct list_out *o, const struct tacho_listing *item)
{
	struct json j;

	json_lead(o, &j);
	put_member(&j, "Unit", item->pmu);
	put_member(&j, "Topic", item->topic);
	json_member(&j, "EventName", str, item->name);
	put_member(&j, "EventAlias", item->alias);
	put_scale(&j, item->scale, item->unit);
	json_member(&j, "EventType", str, item->kind);
	if (item->deprecated)
		put_member(&j, "Deprecated", "1");
	put_member(&j, "BriefDescription", item->desc);
	put_member(&j, "PublicDescription", item->long_desc);
	put_member(&j, "Encoding", item->encoding);
	json_member(&j, "Available", bool, item->available);
	if (!item->available)
		json_member(&j, "Reason", str, why_not(item));
	json_end(&j);
}

static void json_metric(struct list_out *o, const char *group, const struct tacho_metric *m, const char *why_not)
{
	struct json j;

	json_lead(o, &j);
	put_member(&j, "MetricGroup", group ? group : m->groups);
	json_member(&j, "MetricName", str, m->name);
	json_member(&j, "MetricExpr", str, m->expr);
	put_member(&j, "MetricThreshold", m->threshold);
	put_scale(&j, m->scale, m->unit);
	put_member(&j, "BriefDescription", m->desc);
	json_member(&j, "Available", bool, !why_not);
	put_member(&j, "Reason", why_not);
	json_end(&j);
}

static void json_group(struct list_out *o, const char *name)
{
	struct json j;

	json_lead(o, &j);
	json_member(&j, "MetricGroup", str, name);
	json_end(&j);
}

static void json_open(struct list_out *o)
{
	buf_putc(&o->buf, '[');
}

static void json_close(struct list_out *o)
{
	buf_puts(&o->buf, "\n]\n");
}

static void raw_close(struct list_out *o)
{
	buf_putc(&o->buf, '\n');
}

static void nothing(struct list_out *o)
{
	(void)o;
}

const struct list_writer list_text = { nothing, text_event, text_metric, text_group, nothing, true };
const struct list_writer list_raw = { nothing, raw_event, raw_metric, raw_name, raw_close, false };
const struct list_writer list_json = { json_open, json_event, json_metric, json_group, json_close, false };
