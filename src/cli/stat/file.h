/*
 * Counts in a perf.data file, as `stat record` writes and `stat report` reads them.
 *
 *	EVENT_UPDATE ...	units, scales and CPUs of the events
 *	THREAD_MAP CPU_MAP	what the numbers in STAT mean
 *	STAT_CONFIG		how it was to be added up
 *	STAT STAT ... STAT_ROUND	all counters since the start; once per interval, or at the end
 */
#ifndef CLI_STAT_FILE_H
#define CLI_STAT_FILE_H

#include "cli/stat/stat.h"

enum stat_config_tag { STAT_CONFIG_AGGR, STAT_CONFIG_INTERVAL, STAT_CONFIG_SCALE };
enum stat_round_kind { STAT_ROUND_INTERVAL, STAT_ROUND_FINAL };
enum event_update_kind { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };
enum cpu_map_kind { CPU_MAP_LIST, CPU_MAP_MASK, CPU_MAP_RANGE };

/* The number of a way to add up. perf has changed them in 6.5 and 6.9; ours are those of before,
 * and the file's VERSION tells which are meant. -1: the file has no word for it. */
int stat_aggr_number(enum tacho_per per);
enum tacho_per stat_aggr_per(uint64_t number, const char *version);

/* ---- writing ---- */
struct stat_file {
	const struct stat_opts *opts;
	const char *path;		/* "-": stdout */
	char *first_name;		/* until the command runs; see cli/record/output_file.h */
	bool named;			/* the command runs: what is there is kept */
	int fd;
	struct tacho_perfdata_writer *writer;
	struct { int32_t *v; size_t n, cap; } tids;	/* the order of THREAD_MAP */
	size_t next_thread;
	int32_t any_cpu;		/* what stands for "any" */
	uint64_t *ids;			/* of the counters, in the order of readings, then of events */
	struct buf records;
};

/* After the counters are open. All of these report what is wrong; 0 or a negative errno. */
int stat_file_begin(struct stat_file *f, struct tacho_evset *set, enum tacho_per per);
int stat_file_take_name(struct stat_file *f);	/* when the command runs; fine without a file */
/* The counters as of the last read. */
int stat_file_round(struct stat_file *f, struct tacho_evset *set, enum stat_round_kind kind,
		    double time_s);
int stat_file_finish(struct stat_file *f);
/* One that never had its name is removed; of another that is not finished stays what fitted. */
void stat_file_done(struct stat_file *f);

/* ---- reading ---- */
struct stat_counter {		/* one id of the file */
	uint64_t id;
	uint32_t event;
	int32_t cpu;
	uint32_t thread;
	bool seen;
	uint64_t raw, enabled_ns, running_ns;		/* as of the last STAT */
	uint64_t before[3];				/* the same as of the round before */
	uint64_t scaled;				/* sum of all rounds, each scaled by itself */
	struct { uint64_t raw, scaled, enabled_ns, running_ns; } round;	/* what it added */
};

struct stat_cpu_place {
	int32_t core, socket, die, node;
};

struct stat_input {
	struct tacho_perfdata *pd;
	struct { struct stat_counter *v; size_t n, cap; } counters;	/* by id */
	struct tacho_event *events;	/* as the file has them */
	char (*comms)[17];
	int32_t *tids;
	size_t n_threads;
	struct { struct stat_cpu_place *v; size_t n, cap; } cpus;
	uint64_t interval_ms;
	bool scale, has_stats;
	enum tacho_per per;		/* as it was recorded */
	char *title;
};

int stat_input_open(struct stat_input *in, const char *path, bool force, struct tacho_error *e);
/* Reads up to the end of a round. 1 with its kind and time, 0 at the end, a negative errno. */
int stat_input_round(struct stat_input *in, enum stat_round_kind *kind, uint64_t *time_ns,
		     struct tacho_error *e);
/* Adds the counters up; `all` for what was counted since the start, else for this round. */
int stat_input_rows(struct stat_input *in, struct stat_rows *rows, enum tacho_per per,
		    bool no_scale, bool all);
void stat_input_close(struct stat_input *in);

/* The options of `stat report`, over a struct stat_opts, and its run. */
extern const struct command cmd_stat_report;

#endif
