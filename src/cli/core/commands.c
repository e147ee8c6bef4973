/*
 * The commands of `tacho`. The program tacho-agent has its own table, cli/agent/commands.c.
 */
#include "cli/core/command.h"

extern const struct command cmd_agent;
extern const struct command cmd_annotate;
extern const struct command cmd_archive;
extern const struct command cmd_buildid_cache;
extern const struct command cmd_buildid_list;
extern const struct command cmd_c2c;
extern const struct command cmd_check;
extern const struct command cmd_config;
extern const struct command cmd_data;
extern const struct command cmd_diff;
extern const struct command cmd_doctor;
extern const struct command cmd_events;
extern const struct command cmd_evlist;
extern const struct command cmd_export;
extern const struct command cmd_flame;
extern const struct command cmd_ftrace;
extern const struct command cmd_heatmap;
extern const struct command cmd_help;
extern const struct command cmd_inject;
extern const struct command cmd_iostat;
extern const struct command cmd_kallsyms;
extern const struct command cmd_kmem;
extern const struct command cmd_kvm;
extern const struct command cmd_kwork;
extern const struct command cmd_list;
extern const struct command cmd_lock;
extern const struct command cmd_mem;
extern const struct command cmd_offcpu;
extern const struct command cmd_probe;
extern const struct command cmd_profile;
extern const struct command cmd_record;
extern const struct command cmd_report;
extern const struct command cmd_sched;
extern const struct command cmd_script;
extern const struct command cmd_snoop;
extern const struct command cmd_stat;
extern const struct command cmd_stat_report;
extern const struct command cmd_timechart;
extern const struct command cmd_top;
extern const struct command cmd_topdown;
extern const struct command cmd_trace;
extern const struct command cmd_version;

const struct command *const commands[] = {
	&cmd_agent,
	&cmd_annotate,
	&cmd_archive,
	&cmd_buildid_cache,
	&cmd_buildid_list,
	&cmd_c2c,
	&cmd_check,
	&cmd_config,
	&cmd_data,
	&cmd_diff,
	&cmd_doctor,
	&cmd_events,
	&cmd_evlist,
	&cmd_export,
	&cmd_flame,
	&cmd_ftrace,
	&cmd_heatmap,
	&cmd_help,
	&cmd_inject,
	&cmd_iostat,
	&cmd_kallsyms,
	&cmd_kmem,
	&cmd_kvm,
	&cmd_kwork,
	&cmd_list,
	&cmd_lock,
	&cmd_mem,
	&cmd_offcpu,
	&cmd_probe,
	&cmd_profile,
	&cmd_record,
	&cmd_report,
	&cmd_sched,
	&cmd_script,
	&cmd_snoop,
	&cmd_stat,
	&cmd_stat_report,
	&cmd_timechart,
	&cmd_top,
	&cmd_topdown,
	&cmd_trace,
	&cmd_version,
	NULL,
};
