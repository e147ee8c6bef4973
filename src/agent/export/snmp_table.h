/*
 * The two SNMP tables, independent of the protocol: the cell at a column and row, and the next cell.
 * Row numbers do not change while the configuration is unchanged.
 *
 *	pmuTable	INTEL-PMU-MIB: a row per CPU group in the file's order, a column per generic event
 *	eventTable	TACHO-MIB: a row per counter series
 */
#ifndef AGENT_EXPORT_SNMP_TABLE_H
#define AGENT_EXPORT_SNMP_TABLE_H

#include "agent/core/series.h"

enum cell_kind { CELL_INTEGER, CELL_TEXT, CELL_COUNTER };

struct cell {
	uint32_t column, row;
	enum cell_kind kind;
	uint64_t number;
	char text[256];
};

/* The rows of pmuTable; updated when series or the configuration have changed. */
#define PMU_COLUMNS 44
struct pmu_row {
	uint32_t index;
	char label[256];
	uint32_t series[PMU_COLUMNS + 1];	/* indexed by column; 0: none */
};
struct pmu_rows {
	struct pmu_row *v;
	size_t n, cap;
	uint64_t generation;
	uint64_t config_serial;
	bool known;
};

struct snmp_view {
	const struct registry *registry;	/* the caller holds its lock and the configuration's */
	const struct agent_config *config;
	struct pmu_rows rows;
};

typedef bool cell_fn(struct snmp_view *v, struct cell *cell);	/* in: column, row */
cell_fn pmu_cell_get, pmu_cell_next;		/* next: the first cell after it; false: no more */
cell_fn event_cell_get, event_cell_next;
void snmp_view_done(struct snmp_view *v);

#endif
