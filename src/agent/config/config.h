/*
 * The agent's configuration as plain data, read from a tacho.toml, an Alumet file or a
 * collectd.conf. Its users do not depend on the file format.
 *
 *	config_load(&cfg, opts, &e) -> use it -> config_free(cfg)
 *
 * The configuration owns all strings. Empty lists have n == 0. A reload replaces the configuration;
 * users that still need the old one (an exporter that keeps running) hold a reference.
 */
#ifndef AGENT_CONFIG_CONFIG_H
#define AGENT_CONFIG_CONFIG_H

#include "agent/config/keys.h"
#include "agent/export/http_settings.h"

struct exporter_type;
struct config_origins;

enum source_target {
	TARGET_SYSTEM,		/* all CPUs */
	TARGET_CPUS,		/* `cpus` */
	TARGET_COMMAND,		/* a command that the agent starts (agent exec) */
	TARGET_PIDS,		/* `pids` */
	TARGET_PROCESS,		/* processes whose comm matches `process` and whose user is `user` */
	TARGET_CGROUPS,		/* cgroups whose path matches one of `cgroups` */
};

enum per_kind {			/* scope of one series */
	PER_CPU, PER_GROUPS, PER_CORE, PER_DIE, PER_SOCKET, PER_NODE, PER_MACHINE, PER_PROCESS,
	PER_CGROUP,
};

/* Naming scheme of metrics: ours, or that of the tool whose file was read. */
enum naming { NAMING_TACHO, NAMING_ALUMET, NAMING_COLLECTD1, NAMING_COLLECTD2,
	NAMING_COLLECTD_TYPES };	/* DispatchMultiPmu: NAME:type=N with four values */

struct cpu_group {
	char *label;
	int *cpus;
	size_t n_cpus;
};

/* One entry of `events`: an event or a {group}. An invalid entry does not affect the others. */
struct event_config {
	char *spec;		/* in the event language: "{cycles,instructions}:u" */
	char *name; /* shown instead of the event's name; NULL: none; not used with groups */
	char *original;		/* as written in the file ("REF_CPU_CYCLES"); NULL: same as spec */
	char *refused;		/* reason why it cannot be counted; else NULL */
	int line, column;	/* position in the file; 0: not from a file */
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
	struct cpu_group *groups;	/* CPU groups of PER_GROUPS, in the file's order */
	size_t n_groups;
	uint64_t interval_ns, flush_ns;
	uint64_t top; /* number of processes with their own series; the others are summed as "other"
		       */
	int priority;	/* if file descriptors run short, sources with higher priority get them */
	bool children;			/* processes are counted with those that they start */
	bool broken;			/* an error in it was reported already */
	bool no_merge;			/* report each instance of a PMU type separately */
	enum naming naming;
	struct strlist event_lists;	/* vendor event lists to look up names in */
	struct strlist metrics;		/* names of metrics and of metric groups */
};

struct tacho;
struct tacho_opts;
/* Opens a context with the source's event lists, to be closed by the caller. Unreadable lists are
 * skipped; the error of the first is stored in `unread` unless that is NULL. Returns 0 or a negative
 * errno. */
int config_open_lists(struct tacho **out, const struct source_config *s, const struct tacho_opts *opts,
		      struct tacho_error *unread, struct tacho_error *e);

struct retention_config {
	uint64_t full_ns, seconds10_ns, minute_ns, profiles_ns;	/* retention of each resolution */
	uint64_t max_bytes;
	uint64_t pending_bytes;		/* limit of points in memory while the disk is full */
};

struct profile_config {
	bool off;
	uint64_t frequency;		/* samples per second and CPU: 19 */
	char *event;			/* NULL: cycles, or cpu-clock without a PMU */
	uint64_t window_ns;		/* one stored profile: 10 s */
	bool kernel_off;		/* user space only */
	uint64_t recordings, recordings_bytes;	/* limits of `ctl profile` files: number, bytes */
};

struct usage_config {
	bool off;
	uint64_t interval_ns;
	uint64_t processes, cgroups;	/* how many have series */
	struct strlist views;		/* views of `tacho snoop` that are exported */
};

/* A tacho.toml on a server, read after the local files; see core/remote_config.h. */
struct remote_config {
	uint64_t interval_ns, timeout_ns;
	char *public_key;		/* PEM file; NULL: the file is not signed */
	struct http_settings http;	/* http.url is NULL without [remote] */
	bool in_use;			/* the stored file was read */
};

struct export_config {
	char *name;			/* unique: the type's name, with -2 ... appended where needed */
	const struct exporter_type *type;
	void *settings;			/* the type's settings struct, filled by its keys */
	bool broken;			/* an error in it was reported already */
};

struct trigger_config {
	char *name, *when;		/* "rate(context-switches) > 50000 for 5s" */
	int action;			/* 0 flame, 1 perf.data, 2 both */
	uint64_t length_ns, cooldown_ns, max_bytes;
	char *dir;
	bool broken;			/* an error in it was reported already */
};

/* From where /metrics and /healthz can be read without a token. */
enum metrics_access { METRICS_LOOPBACK, METRICS_ALL, METRICS_TOKEN };

struct agent_config {
	_Atomic unsigned n_holders;	/* references in addition to the owner's */
	uint64_t serial; /* number of this configuration, from 1; each load gets a new one */
	char *path;			/* NULL: no file */
	const char *kind;		/* "tacho.toml", "Alumet", "collectd" */
	struct strlist hosts; /* host names accepted in requests, in addition to the machine's */
	struct strlist listen;		/* "127.0.0.1:9273", "[::1]:9273", "unix:/run/tacho/http" */
	char *state;			/* the state directory; NULL: that of the user or of systemd */
	char *store;			/* NULL: in the state directory; "": none */
	char *socket;			/* path of the ctl socket; NULL: in the runtime directory */
	char *token;			/* secret for actions over HTTP; NULL: actions by socket only */
	char *read_token;		/* secret for reading over TCP; NULL: the agent makes one */
	char *scrape_token;		/* secret for /metrics and /healthz; NULL: none */
	int metrics_access;		/* enum metrics_access */
	bool insecure;			/* listen on other than loopback addresses without TLS */
	char *tls_cert, *tls_key;
	char *tls_client_ca;		/* certificates signed by it give the right to read */
	struct key_pairs labels;	/* added to every exported series */
	double cpu_budget;		/* percent of one CPU; 0: none */
	uint64_t max_fds;		/* 0: as many as RLIMIT_NOFILE allows */
	bool keep_privileges;		/* keep all capabilities; else only those needed for counting */
	struct retention_config retention;
	struct profile_config profile;
	struct usage_config usage;
	struct remote_config remote;
	struct source_config *sources;
	size_t n_sources;
	struct export_config *exports;
	size_t n_exports;
	struct trigger_config *triggers;
	size_t n_triggers;
	bool default_sources;		/* use the built-in sources if the file has none */
	struct strlist errors;		/* while it is read: all errors, with their hints on a second line */
	struct strlist notes;		/* settings that may not mean what the user expects */
	struct config_origins *origins;	/* origin of each value, for config_show() */
};

struct config_opts {
	const char *path; /* NULL: the standard paths; if none exists, the default sources */
	const char *const *sets;	/* "agent.listen=..."; override files */
	size_t n_sets;
	const char *remote;		/* where a file downloaded for [remote] is, read after the others; NULL: nowhere */
	struct strlist *errors;		/* gets all errors, the first as well; NULL: not wanted */
};

/* Returns 0, or a negative errno with the message "FILE:LINE:COLUMN: ...". */
int config_load(struct agent_config **out, const struct config_opts *opts, struct tacho_error *e);
/* Drops a reference; the last one frees the configuration. */
void config_free(const struct agent_config *cfg);
/* Adds a reference, which config_free() drops. */
const struct agent_config *config_hold(const struct agent_config *cfg);

/* Prints the configuration as tacho.toml; with `origins`, each value has a comment with its origin
 * (default, FILE:LINE, --set, environment). */
int config_show(const struct agent_config *cfg, bool origins, struct buf *out);

/* The tables of the file and their keys, for the man page: [agent], [agent.retention], [profile],
 * [[source]], [[trigger]] and the types of [[export]]. */
struct config_table {
	const char *name;		/* "agent", "agent.retention" ... "export.push"; a type's name */
	const struct config_key *rows;
};
bool config_table_at(size_t i, struct config_table *out);	/* false: no more */

#endif
