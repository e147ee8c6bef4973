/*
 * The cells of the two SNMP tables.
 */
#include "agent/export/snmp_table.h"

#include <stdio.h>

#include "agent/export/putval.h"
#include "base/num.h"
#include "base/vec.h"

/* ---- INTEL-PMU-MIB ---- */

/* By column; the event names are those of generation 1 of collectd's intel_pmu plugin. */
static const char *const pmu_events[PMU_COLUMNS + 1] = {
	[3] = "L1-dcache-loads", "L1-dcache-load-misses", "L1-dcache-stores", "L1-dcache-store-misses",
	"L1-dcache-prefetches", "L1-dcache-prefetch-misses", "L1-icache-loads", "L1-icache-load-misses",
	"L1-icache-prefetches", "L1-icache-prefetch-misses", "LLC-loads", "LLC-load-misses", "LLC-stores",
	"LLC-store-misses", "LLC-prefetches", "LLC-prefetch-misses", "dTLB-loads", "dTLB-load-misses",
	"dTLB-stores", "dTLB-store-misses", "dTLB-prefetches", "dTLB-prefetch-misses", "iTLB-loads",
	"iTLB-load-misses", "branch-loads", "branch-load-misses", "cpu-cycles", "instructions",
	"cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "cpu-clock",
	"task-clock", "context-switches", "cpu-migrations", "page-faults", "minor-faults",
	"major-faults", "alignment-faults", "emulation-faults",
};
static const struct { const char *alias, *name; } aliases[] = {
	{ "cycles", "cpu-cycles" }, { "branch-instructions", "branches" }, { "cs", "context-switches" },
	{ "migrations", "cpu-migrations" }, { "faults", "page-faults" },
};

static uint32_t find_column(const char *event)
{
	for (size_t i = 0; i < countof(aliases); i++)
		if (!strcmp(event, aliases[i].alias))
			event = aliases[i].name;
	for (uint32_t c = 3; c <= PMU_COLUMNS; c++)
		if (!strcmp(event, pmu_events[c]))
			return c;
	return 0;
}

static struct pmu_row *find_label(struct pmu_rows *rows, const char *label)
{
	for (size_t i = 0; rows->v && i < rows->n; i++)
		if (!strncmp(rows->v[i].label, label, sizeof(rows->v[i].label) - 1))
			return &rows->v[i];
	return NULL;
}

static struct pmu_row *add_row(struct pmu_rows *rows, const char *label, uint32_t index)
{
	struct pmu_row *row = vec_add(rows);

	if (row) {
		row->index = index;
		snprintf(row->label, sizeof(row->label), "%s", label);
	}
	return row;
}

/* Groups of the same name in two sources share a row, as they share a plugin instance in collectd. */
static void add_groups(struct pmu_rows *rows, const struct agent_config *cfg)
{
	for (size_t i = 0; i < cfg->n_sources; i++)
		for (size_t k = 0; k < cfg->sources[i].n_groups; k++)
			if (!find_label(rows, cfg->sources[i].groups[k].label))
				add_row(rows, cfg->sources[i].groups[k].label, (uint32_t)rows->n + 1);
}

/* The row of a series; a CPU that is in no group has a row after the groups, ordered by its number. */
static struct pmu_row *find_or_add_row(struct pmu_rows *rows, const struct series *s, uint32_t n_groups)
{
	const char *group = series_label(s, "group"), *cpu = series_label(s, "cpu");
	struct pmu_row *row;
	uint32_t number;

	if (group)
		return find_label(rows, group);
	if (!cpu || series_label(s, "pid") || series_label(s, "cgroup") || num_u32(str_of(cpu), &number) < 0)
		return NULL;
	row = find_label(rows, cpu);
	return row ? row : add_row(rows, cpu, n_groups + number + 1);
}

static int by_index(const void *a, const void *b)
{
	const struct pmu_row *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static void update_rows(struct snmp_view *v)
{
	struct pmu_rows *rows = &v->rows;
	const struct registry *r = v->registry;
	uint32_t n_groups;

	if (rows->known && rows->generation == r->generation && rows->config_serial == v->config->serial)
		return;
	rows->n = 0;
	add_groups(rows, v->config);
	n_groups = (uint32_t)rows->n;
	for (size_t i = 0; i < r->n; i++) {
		const struct series *s = r->series[i];
		uint32_t column =
			s && s->metric->kind == METRIC_COUNTER ? find_column(s->metric->event) : 0;
		struct pmu_row *row = column ? find_or_add_row(rows, s, n_groups) : NULL;

		if (row && !row->series[column])
			row->series[column] = s->id;
	}
	if (rows->n)
		qsort(rows->v, rows->n, sizeof(*rows->v), by_index);
	rows->generation = r->generation;
	rows->config_serial = v->config->serial;
	rows->known = true;
}

static bool has_value(const struct series *s)
{
	return s && s->time_ns && s->last.state <= TACHO_SCALED;
}

static bool fill_pmu(const struct snmp_view *v, const struct pmu_row *row, uint32_t column,
		     struct cell *cell)
{
	const struct series *s;

	cell->column = column;
	cell->row = row->index;
	cell->text[0] = '\0';
	if (column == 1) {
		cell->kind = CELL_INTEGER;
		cell->number = row->index;
		return true;
	}
	if (column == 2) {
		cell->kind = CELL_TEXT;
		memcpy(cell->text, row->label, sizeof(cell->text));
		return true;
	}
	s = registry_get(v->registry, row->series[column]);
	if (!has_value(s))
		return false;
	cell->kind = CELL_COUNTER;
	cell->number = s->last.count;
	return true;
}

bool pmu_cell_get(struct snmp_view *v, struct cell *cell)
{
	update_rows(v);
	for (size_t i = 0; i < v->rows.n; i++)
		if (v->rows.v[i].index == cell->row && cell->column >= 1 && cell->column <= PMU_COLUMNS)
			return fill_pmu(v, &v->rows.v[i], cell->column, cell);
	return false;
}

bool pmu_cell_next(struct snmp_view *v, struct cell *cell)
{
	const uint32_t from = cell->column, after = cell->row;

	update_rows(v);
	for (uint32_t c = max_of(from, 1u); c <= PMU_COLUMNS; c++)
		for (size_t i = 0; i < v->rows.n; i++)
			if ((c > from || v->rows.v[i].index > after) && fill_pmu(v, &v->rows.v[i], c, cell))
				return true;
	return false;
}

void snmp_view_done(struct snmp_view *v)
{
	vec_done(&v->rows);
}

/* ---- TACHO-MIB ---- */

enum event_column { EVENT_NAME = 2, EVENT_UNIT, EVENT_SCALE, EVENT_SOURCE, EVENT_GROUP, EVENT_STATE,
		    EVENT_SCALED, EVENT_RAW, EVENT_ENABLED, EVENT_RUNNING };

static bool is_event(const struct series *s)
{
	return s && !s->ended && s->metric->kind == METRIC_COUNTER && strncmp(s->metric->name, "tacho_", 6) != 0;
}

static void put_text(struct cell *cell, const char *text)
{
	cell->kind = CELL_TEXT;
	snprintf(cell->text, sizeof(cell->text), "%s", text);
}

static void put_group(struct cell *cell, const struct series *s)
{
	scoped(buf_done) struct buf place = { 0 };

	putval_place(&place, s);
	put_text(cell, place.bytes ? place.bytes : "");
}

static bool fill_event(const struct series *s, uint32_t column, struct cell *cell)
{
	const struct point *p = &s->last;

	cell->column = column;
	cell->row = s->id;
	cell->text[0] = '\0';
	cell->number = 0;
	if (column >= EVENT_SCALED && (column > EVENT_RUNNING || !has_value(s)))
		return false;
	cell->kind = column == EVENT_STATE ? CELL_INTEGER : CELL_COUNTER;
	switch (column) {
	case EVENT_NAME: put_text(cell, s->metric->event); break;
	case EVENT_UNIT: put_text(cell, s->metric->unit[0] ? s->metric->unit : "1"); break;
	case EVENT_SCALE:
		cell->kind = CELL_TEXT;
		snprintf(cell->text, sizeof(cell->text), "%.17g", s->metric->scale);
		break;
	case EVENT_SOURCE: put_text(cell, s->source); break;
	case EVENT_GROUP: put_group(cell, s); break;
	case EVENT_STATE: cell->number = (uint64_t)p->state + 1; break;
	case EVENT_SCALED: cell->number = p->count; break;
	case EVENT_RAW: cell->number = p->raw; break;
	case EVENT_ENABLED: cell->number = p->enabled_ns; break;
	case EVENT_RUNNING: cell->number = p->running_ns; break;
	default: return false;
	}
	return true;
}

bool event_cell_get(struct snmp_view *v, struct cell *cell)
{
	const struct series *s = registry_get(v->registry, cell->row);

	return is_event(s) && fill_event(s, cell->column, cell);
}

bool event_cell_next(struct snmp_view *v, struct cell *cell)
{
	const uint32_t from = cell->column, after = cell->row;

	for (uint32_t c = max_of(from, (uint32_t)EVENT_NAME); c <= EVENT_RUNNING; c++)
		for (size_t i = c == from && after ? registry_lower_bound(v->registry, after) : 0;
		     i < v->registry->n; i++)
			if ((c > from || v->registry->series[i]->id > after) &&
			    is_event(v->registry->series[i]) && fill_event(v->registry->series[i], c, cell))
				return true;
	return false;
}
