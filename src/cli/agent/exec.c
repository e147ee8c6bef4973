/*
 * `tacho agent exec -- CMD` and `tacho agent watch PID...`: measure a command or processes until they end,
 * with the configured events and exporters, and print a summary. There is no web page, no
 * continuous profile, and no store unless one is configured.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "agent/core/collector.h"
#include "agent/core/run.h"
#include "base/json.h"
#include "base/num.h"
#include "cli/core/app.h"

/* State for the callbacks of agent_run(). */
struct measurement {
	const struct agent_opts *opts;
	int status;			/* the exit status */
};

static void log_message(void *arg, enum tacho_log_level level, const char *text)
{
	const struct measurement *m = arg;

	if (level == TACHO_LOG_WARN || m->opts->verbose)
		message_text("agent", "%s", text);
}

/* Merges all sources into the first, which gets this target and the events of all sources. -ENODATA: there
 * is no source. */
static int merge_sources(struct agent_config *cfg, enum source_target target)
{
	struct source_config *first = cfg->sources;
	struct event_config *all;
	size_t n = 0;

	if (!first)
		return -ENODATA;
	for (size_t i = 0; i < cfg->n_sources; i++)
		n += cfg->sources[i].n_events;
	all = calloc(n + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < cfg->n_sources; i++) {
		struct source_config *s = &cfg->sources[i];

		if (s->n_events)
			memcpy(all + n, s->events, s->n_events * sizeof(*all));
		n += s->n_events;
		s->n_events = i ? 0 : s->n_events;
	}
	free(first->events);
	first->events = all;
	first->n_events = n;
	first->target = target;
	first->per = PER_PROCESS;
	return 0;
}

/* ---- the summary ---- */

static void put_json(struct agent *a, struct buf *out)
{
	struct json j = { .out = out };
	struct registry *r = &a->registry;

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.exec.v1");
	json_key(&j, "events");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->n; i++) {
		const struct series *s = r->series[i];

		if (!s || !strcmp(s->source, "agent"))
			continue;
		json_begin(&j, '{');
		json_member(&j, "event", str, s->metric->event);
		json_member(&j, "unit", str, s->metric->unit);
		json_member(&j, "pid", str, series_label(s, "pid"));
		json_member(&j, "comm", str, series_label(s, "comm"));
		json_member(&j, "state", str, tacho_state_name(s->last.state));
		json_key(&j, "value");
		if (s->last.state <= TACHO_SCALED)
			json_double(&j, s->last.value);
		else
			json_null(&j);
		json_member(&j, "reason", str, s->why);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

static void put_text(struct agent *a, struct buf *out)
{
	struct registry *r = &a->registry;

	for (size_t i = 0; i < r->n; i++) {
		const struct series *s = r->series[i];
		char value[40];

		if (!s || !strcmp(s->source, "agent"))
			continue;
		if (s->last.state > TACHO_SCALED)
			snprintf(value, sizeof(value), "<%s>", tacho_state_name(s->last.state));
		else if (s->metric->scale == 1)
			snprintf(value, sizeof(value), "%llu", (unsigned long long)s->last.count);
		else
			snprintf(value, sizeof(value), "%.6f", s->last.value);
		buf_printf(out, "%20s  %-8s %-28s %s", value, s->metric->unit, s->metric->event,
			   series_label(s, "comm") ? series_label(s, "comm") : "");
		if (s->last.state == TACHO_SCALED && s->last.enabled_ns)
			buf_printf(out, " (ran %.0f %% of the time)",
				   100.0 * (double)s->last.running_ns / (double)s->last.enabled_ns);
		if (s->why)
			buf_printf(out, " (%s)", s->why);
		buf_putc(out, '\n');
	}
}

static int exit_status(const struct tacho_usage *usage)
{
	if (!usage)
		return 0;
	return WIFEXITED(usage->status) ? WEXITSTATUS(usage->status) : 128 + WTERMSIG(usage->status);
}

static void print_summary(void *arg, struct agent *a)
{
	struct measurement *m = arg;
	struct buf out = { 0 };

	pthread_rwlock_rdlock(&a->registry.lock);
	if (m->opts->json)
		put_json(a, &out);
	else if (!m->opts->quiet)
		put_text(a, &out);
	pthread_rwlock_unlock(&a->registry.lock);
	m->status = exit_status(collector_usage(a->collector));
	/* As in `stat`, the summary goes to stderr and stdout belongs to the command; JSON goes to stdout. */
	if (out.n)
		print_fd("agent", m->opts->json ? STDOUT_FILENO : STDERR_FILENO, "stderr", &out);
}

static int measure(struct agent_config *cfg, struct agent_opts *o)
{
	struct measurement m = { .opts = o };
	struct tacho_error e = { .column = -1 };
	struct agent_dirs dirs;
	struct agent_run_opts opts = {
		.state_dir = agent_dirs(cfg, &dirs) == 0 ? dirs.state : NULL, .log = log_message, .log_arg = &m,
		.ended = print_summary, .until_targets_end = true,
	};

	if (agent_run(cfg, &opts, &e) < 0) {
		message_error("agent", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	return m.status;
}

/* ---- the subcommands ---- */

static int fail(struct agent_config *cfg, int err, const char *missing)
{
	message_text("agent", "%s", err == -ENODATA ? "there are no events to count: the configuration has no "
					       "[[source]], and default_sources = false"
				    : err < 0 ? "out of memory" : missing);
	config_free(cfg);
	return err < 0 ? EXIT_FAILED : EXIT_USAGE;
}

int agent_exec(struct agent_config *cfg, struct agent_opts *o, int argc, char **argv)
{
	int at = argc > 1 && !strcmp(argv[1], "--") ? 2 : 1;
	int err = merge_sources(cfg, TARGET_COMMAND);

	for (int i = at; err == 0 && i < argc; i++)
		err = strlist_add(&cfg->sources[0].command, str_of(argv[i]));
	if (err < 0 || at >= argc)
		return fail(cfg, err, "exec needs a command to run");
	return measure(cfg, o);
}

int agent_watch(struct agent_config *cfg, struct agent_opts *o, int argc, char **argv)
{
	struct source_config *s = cfg->sources;
	int err = merge_sources(cfg, TARGET_PIDS);
	int *pids = err < 0 ? NULL : calloc((size_t)argc + 1, sizeof(*pids));

	if (!pids || argc < 2) {
		free(pids);
		return fail(cfg, argc < 2 ? 0 : err < 0 ? err : -ENOMEM, "watch needs the PID of a process");
	}
	free(s->pids);
	s->pids = pids;
	s->n_pids = 0;
	s->children = true;
	for (int i = 1; i < argc; i++) {
		bool is_pid = num_int(str_of(argv[i]), &pids[s->n_pids]) == 0 && pids[s->n_pids] > 0;

		if (is_pid && (kill(pids[s->n_pids], 0) == 0 || errno != ESRCH)) {
			s->n_pids++;
			continue;
		}
		message_text("agent", is_pid ? "process %s does not exist" : "'%s' is not a PID", argv[i]);
		config_free(cfg);
		return EXIT_USAGE;
	}
	return measure(cfg, o);
}
