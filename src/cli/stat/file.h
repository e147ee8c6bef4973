/*
 * perf.data files with counts: `stat record` writes them, `stat report` reads them. Their records are:
 *
 *	EVENT_UPDATE ...	units, scales and CPUs of the events
 *	THREAD_MAP CPU_MAP	the threads and CPUs that STAT records refer to
 *	STAT_CONFIG		how to aggregate the counters
 *	STAT STAT ... STAT_ROUND	the totals of all counters; once per interval, or once at the end
 */
#ifndef CLI_STAT_FILE_H
#define CLI_STAT_FILE_H

#include "cli/record/output_file.h"
#include "cli/stat/stat.h"

enum stat_config_tag { STAT_CONFIG_AGGR, STAT_CONFIG_INTERVAL, STAT_CONFIG_SCALE };
enum stat_round_kind { STAT_ROUND_INTERVAL, STAT_ROUND_FINAL };
enum event_update_kind { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };
enum cpu_map_kind { CPU_MAP_LIST, CPU_MAP_MASK, CPU_MAP_RANGE };

/* Convert between aggregation modes and their numbers in STAT_CONFIG, which perf changed in 6.5 and 6.9.
 * tacho writes the oldest numbers; when reading, the file's VERSION determines the numbering. -1: the mode
 * has no number. */
int stat_aggr_number(enum tacho_per per);
enum tacho_per stat_aggr_per(uint64_t number, const char *version);

/* ---- writing ---- */
struct stat_file {
	const struct stat_opts *opts;
	const char *path;		/* "-": stdout */
	struct output_file out;		/* none if it is written to a pipe */
	bool named;			/* the file has its final name and is not deleted after an error */
	int fd;				/* out.fd, or a duplicate of stdout */
	struct tacho_perfdata_writer *writer;
	struct { int32_t *v; size_t n, cap; } tids;	/* threads in the order of THREAD_MAP */
	size_t next_thread;
	int32_t any_cpu;		/* the CPU number for counters without a CPU */
	uint64_t *ids;			/* IDs of the counters, in the order of readings, then of events */
	struct buf records;
};

/* Must be called after the counters were opened. The functions below print errors and return 0 or a
 * negative errno. */
int stat_file_begin(struct stat_file *f, struct tacho_evset *set, enum tacho_per per);
int stat_file_take_name(struct stat_file *f);	/* call once the command runs; does nothing without a file */
/* Writes the counters as of the last read. */
int stat_file_round(struct stat_file *f, struct tacho_evset *set, enum stat_round_kind kind,
		    double time_s);
int stat_file_finish(struct stat_file *f);
/* Removes the file if the command never ran. An incomplete file of a command that ran is not removed. */
void stat_file_done(struct stat_file *f);

/* ---- reading ---- */
struct stat_counter {		/* one event ID of the file */
	uint64_t id;
	uint32_t event;
	int32_t cpu;
	uint32_t thread;
	bool seen;
	uint64_t raw, enabled_ns, running_ns;		/* values of the last STAT */
	uint64_t before[3];				/* raw, enabled and running of the previous round */
	uint64_t scaled;				/* sum of all rounds, each scaled separately */
	struct { uint64_t raw, scaled, enabled_ns, running_ns; } round;	/* increments of the last round */
};

struct stat_cpu_place {
	int32_t core, socket, die, node;
};

struct stat_input {
	struct tacho_perfdata *pd;
	struct { struct stat_counter *v; size_t n, cap; } counters;	/* sorted by id */
	struct tacho_event *events;	/* the events of the file */
	char (*comms)[17];
	int32_t *tids;
	size_t n_threads;
	struct { struct stat_cpu_place *v; size_t n, cap; } cpus;
	uint64_t interval_ms;
	bool scale, has_stats;
	enum tacho_per per;		/* the recorded aggregation mode */
	char *title;
};

int stat_input_open(struct stat_input *in, const char *path, bool force, struct tacho_error *e);
/* For callers that read the records of `pd` themselves: init, record, record ... done. The recording remains
 * owned by the caller. stat_input_record() returns 1 with the round's kind and time if the record ends a round,
 * 0 for other records, or a negative errno. */
void stat_input_init(struct stat_input *in, struct tacho_perfdata *pd);
int stat_input_record(struct stat_input *in, const struct tacho_record *rec, enum stat_round_kind *kind,
		      uint64_t *time_ns, struct tacho_error *e);
void stat_input_done(struct stat_input *in);
/* Reads up to the end of the next round. Returns 1 and the round's kind and time, 0 at end of file, or a
 * negative errno. */
int stat_input_round(struct stat_input *in, enum stat_round_kind *kind, uint64_t *time_ns,
		     struct tacho_error *e);
/* Aggregates the counters to rows: the counts since the start if `all`, else those of the last round. */
int stat_input_rows(struct stat_input *in, struct stat_rows *rows, enum tacho_per per,
		    bool no_scale, bool all);
void stat_input_close(struct stat_input *in);

/* `stat report`; its options are in a struct stat_opts. */
extern const struct command cmd_stat_report;

#endif
