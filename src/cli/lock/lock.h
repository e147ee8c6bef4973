/*
 * `tacho lock`: tables of waits for locks. <tacho/lock.h> reads the recording; here rows are sorted and drawn.
 */
#ifndef CLI_LOCK_LOCK_H
#define CLI_LOCK_LOCK_H

#include "base/json.h"
#include "cli/kernel/source.h"

#include <tacho/lock.h>

struct lock_opts {
	struct kernel_source_opts source;
	const char *output, *key, *fields, *separator;
	const char *types, *locks, *functions, *pids, *tids, *cpus, *cgroups;
	uint32_t entries, max_stack, stack_skip;	/* stack_skip: TACHO_LOCK_FUNCTIONS if not given */
	uint32_t max_rows;		/* of the BPF program */
	bool use_bpf, by_owner, by_cgroup;
	bool threads, by_address, combine, map, json, quiet, all_cpus;
	unsigned verbose;
};

enum { LOCK_COLUMNS_MAX = 8, LOCK_TYPES_MAX = 64 };
struct lock_column {			/* a row of the table in columns.c */
	const char *key, *title;
	unsigned width;
	bool is_time;
	uint64_t (*value)(const struct tacho_lock_row *row);
};

struct lock_table {
	const struct lock_opts *o;
	struct tacho_lock *l;
	struct tacho_symbols *symbols;
	struct tacho_lock_watch *watch;	/* with -b */
	const struct lock_column *columns[LOCK_COLUMNS_MAX];
	size_t n_columns;
	const struct lock_column *key;
	size_t *order;			/* numbers of the rows, sorted, at most o->entries */
	size_t n;
};

/* ---- columns.c ---- */
/* Parses -F and -k. 0 or -EINVAL after a message. */
int lock_columns(struct lock_table *t, const char *command, const char *default_fields, const char *default_key);
/* Sorts the rows. 0 or -ENOMEM. */
int lock_sort(struct lock_table *t);
void lock_put_titles(const struct lock_table *t, struct buf *out);
void lock_put_values(const struct lock_table *t, const struct tacho_lock_row *row, struct buf *out);
void lock_put_json_values(const struct lock_table *t, size_t i, struct json *j);
void lock_put_task(struct buf *out, const struct tacho_lock_row *row);	/* its name, or ":TID" */
/* "function+0x1c" of the caller, or "Unknown". */
void lock_put_caller(struct buf *out, const struct lock_table *t, uint64_t address);

/* Writes to --output or, as perf does, to stderr. JSON goes to stdout. Returns the exit status. */
int lock_write(const struct lock_opts *o, const char *command, struct buf *out);

struct contention_filter {		/* the lists of -Y, -L and -S */
	uint32_t types[LOCK_TYPES_MAX];
	size_t n_types;
	struct { uint64_t *v; size_t n, cap; } addresses;
	struct strlist names, functions;
};

/* live.c: counts while a command runs, or until a signal, and fills in t->l and t->symbols. Returns the exit status. */
int lock_live(struct lock_table *t, const struct tacho_lock_opts *rows, int argc, char **argv, int *command_status);
void lock_live_done(struct lock_table *t);

int lock_contention_run(void *opts, int argc, char **argv);
int lock_report_run(void *opts, int argc, char **argv);
int lock_info_run(void *opts, int argc, char **argv);

#endif
