/*
 * What the agent is to do: the plain data that tacho.toml, an Alumet file or a collectd.conf is
 * read into. Who reads it asks nothing about files any more.
 *
 *	config_load(&cfg, opts, &e) -> use it -> config_free(cfg)
 *
 * All strings belong to the configuration. Lists that are empty have n == 0. A reload replaces it; who
 * still needs the old one (an exporter that goes on) holds it.
 */
#ifndef AGENT_CONFIG_CONFIG_H
#define AGENT_CONFIG_CONFIG_H

#include "agent/config/keys.h"

struct exporter_type;
struct config_origins;

enum source_target {
	TARGET_SYSTEM,		/* all CPUs */
	TARGET_CPUS,		/* `cpus` */
	TARGET_COMMAND,		/* `command` is started (agent exec) */
	TARGET_PIDS,		/* `pids` */
	TARGET_PROCESS,		/* processes whose comm matches `process` and whose user is `user` */
	TARGET_CGROUPS,		/* cgroups whose path matches one of `cgroups` */
};

enum per_kind {			/* what one series is about */
	PER_CPU, PER_GROUPS, PER_CORE, PER_DIE, PER_SOCKET, PER_NODE, PER_MACHINE, PER_PROCESS,
	PER_CGROUP,
};

/* Under which names values leave: ours, or those of the tool whose file this is. */
enum naming { NAMING_TACHO, NAMING_ALUMET, NAMING_COLLECTD1, NAMING_COLLECTD2 };

struct core_group {
	char *label;
	int *cpus;
	size_t n_cpus;
};

/* One entry of `events`: one event or one {group}. A bad one never stops another. */
struct event_config {
	char *spec;		/* in the event language: "{cycles,instructions}:u" */
	char *name;		/* shown instead; NULL: the event's own. With a group: none */
	char *original;		/* as the user's file spells it ("REF_CPU_CYCLES"); NULL: spec */
	char *refused;		/* why this word cannot become an event of ours; else NULL */
	int line, column;	/* where it stands in the file; 0: nowhere */
};

struct source_config {
	char *name;			/* unique */
	struct event_config *events;
	size_t n_events;
	enum source_target target;
	char *cpus;			/* "0-3,8" */
	struct strlist command;
	int *pids;
	size_t n_pids;
	char *process, *user;		/* globs; NULL: any */
	struct strlist cgroups;		/* globs over paths, "/system.slice/ssh*" */
	enum per_kind per;
	struct core_group *groups;	/* with PER_GROUPS, in the file's order */
	size_t n_groups;
	uint64_t interval_ns, flush_ns;
	uint64_t top;			/* of processes: so many series at most, the rest is "other" */
	int priority;			/* short of descriptors, the lower goes first */
	bool no_merge;			/* keep instances of one PMU type apart */
	enum naming naming;
	struct strlist event_lists;	/* vendors' lists to look names up in */
	struct strlist metrics;		/* names of metrics and of their groups */
};

struct tacho;
struct tacho_opts;
/* A context that knows the source's lists, the caller's to close. Lists that cannot be read are left
 * out, `unread` (or NULL) tells of the first. 0 or a negative errno. */
int config_open_lists(struct tacho **out, const struct source_config *s, const struct tacho_opts *opts,
		      struct tacho_error *unread, struct tacho_error *e);

struct retention_config {
	uint64_t full_ns, seconds10_ns, minute_ns, profiles_ns;	/* how long each is kept */
	uint64_t max_bytes;
	uint64_t pending_bytes;		/* that may wait in memory while nothing can be written */
};

struct profile_config {
	bool off;
	uint64_t frequency;		/* samples a second and CPU: 19 */
	char *event;			/* NULL: cycles, or without a PMU cpu-clock */
	uint64_t window_ns;		/* one stored profile: 10 s */
	bool kernel_off;		/* user space only */
	uint64_t recordings, recordings_bytes;	/* of `ctl profile`: so many files and bytes stay */
};

struct export_config {
	char *name;			/* unique: the type's, with -2 ... where needed */
	const struct exporter_type *type;
	void *settings;			/* the type's own struct, filled by its rows */
};

struct trigger_config {
	char *name, *when;		/* "rate(context-switches) > 50000 for 5s" */
	int action;			/* 0 flame, 1 perf.data, 2 both */
	uint64_t length_ns, cooldown_ns, max_bytes;
	char *dir;
};

struct agent_config {
	_Atomic unsigned n_holders;	/* beside the owner */
	uint64_t serial;		/* of each that was loaded another, from 1 */
	char *path;			/* the file, or NULL: none */
	const char *kind;		/* "tacho.toml", "Alumet", "collectd" */
	struct strlist hosts;		/* names by which it may be asked, besides the machine's own */
	struct strlist listen;		/* "127.0.0.1:9273", "[::1]:9273", "unix:/run/tacho/http" */
	char *store;			/* NULL: the state directory; "": none */
	char *socket;			/* ctl's; NULL: the runtime directory's */
	char *token;			/* for actions over HTTP; NULL: actions by socket only */
	char *tls_cert, *tls_key;
	struct key_pairs labels;	/* on every series that leaves */
	double cpu_budget;		/* percent of one CPU; 0: none */
	uint64_t max_fds;		/* 0: what the limits allow */
	bool keep_privileges;		/* of the user who starts it; else only what counting needs */
	struct retention_config retention;
	struct profile_config profile;
	struct source_config *sources;
	size_t n_sources;
	struct export_config *exports;
	size_t n_exports;
	struct trigger_config *triggers;
	size_t n_triggers;
	bool default_sources;		/* none is in the file: take the built-in ones */
	struct strlist notes;		/* what was read differently from how it may have been meant */
	struct config_origins *origins;	/* for config_show(); config_origins.h */
};

struct config_opts {
	const char *path;		/* NULL: the usual places; none there: the default sources */
	const char *const *sets;	/* "agent.listen=..." , win over files */
	size_t n_sets;
};

/* Returns 0, or a negative errno with "FILE:LINE:COLUMN: what" in the message. */
int config_load(struct agent_config **out, const struct config_opts *opts, struct tacho_error *e);
/* The last who lets go of it frees it. */
void config_free(const struct agent_config *cfg);
const struct agent_config *config_hold(const struct agent_config *cfg);	/* until config_free() */

/* As tacho.toml; with `origins` each value followed by a comment that says where it came from
 * (default, FILE:LINE, --set, environment). */
int config_show(const struct agent_config *cfg, bool origins, struct buf *out);

/* The tables of the file and their rows, for the man page: [agent], [agent.retention], [profile],
 * [[source]], [[trigger]] and the types of [[export]]. */
struct config_table {
	const char *name;		/* "agent", "agent.retention" ... "export.push"; a type's name */
	const struct config_key *rows;
};
bool config_table_at(size_t i, struct config_table *out);	/* false: no more */

#endif
