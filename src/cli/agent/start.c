/*
 * Starts `tacho agent`: determines its directories and its log. Without a configuration file it counts
 * software events of the whole machine, stores history in the user's state directory, and serves its page on
 * the loopback interface.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/core/collector.h"
#include "agent/http/server.h"
#include "agent/core/remote_config.h"
#include "agent/core/run.h"
#include "base/error.h"
#include "base/io.h"
#include "base/vec.h"

/* ---- directories ---- */

/* Creates a directory and its missing parents. */
static int make_dirs(const char *path)
{
	int err = io_make_parent_dirs(path, 0755);

	return err < 0 ? err : mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Chooses the directory: the one set by systemd, else for root the system's, else the user's. */
static int find_dir(char *out, const char *systemd, const char *system, const char *xdg,
		    const char *below_home)
{
	const char *given = getenv(systemd), *base = getenv(xdg), *home = getenv("HOME");

	if (given && *given) {
		size_t n = strcspn(given, ":");

		snprintf(out, PATH_MAX, "%.*s", (int)n, given);
		return 0;
	}
	if (geteuid() == 0 && system)
		snprintf(out, PATH_MAX, "%s", system);
	else if (base && *base == '/')
		snprintf(out, PATH_MAX, "%s/tacho", base);
	else if (home && *home == '/' && below_home)
		snprintf(out, PATH_MAX, "%s/%s", home, below_home);
	else
		return -ENOENT;
	return 0;
}

int agent_dirs(const struct agent_config *cfg, struct agent_dirs *d)
{
	int err;

	if (cfg && cfg->state) {
		snprintf(d->state, sizeof(d->state), "%s", cfg->state);
		if (find_dir(d->runtime, "RUNTIME_DIRECTORY", "/run/tacho", "XDG_RUNTIME_DIR", NULL) < 0 || geteuid() != 0)
			memcpy(d->runtime, d->state, sizeof(d->runtime));
		return 0;
	}
	err = find_dir(d->state, "STATE_DIRECTORY", "/var/lib/tacho", "XDG_STATE_HOME",
			   ".local/state/tacho");

	if (err < 0)
		return err;
	if (find_dir(d->runtime, "RUNTIME_DIRECTORY", "/run/tacho", "XDG_RUNTIME_DIR", NULL) < 0)
		memcpy(d->runtime, d->state, sizeof(d->runtime));
	return 0;
}

static char *path_below(const char *dir, const char *name)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s/%s", dir, name);
	return buf_take(&b);
}

char *agent_socket(const struct agent_config *cfg, const struct agent_dirs *d)
{
	return cfg->socket ? strdup(cfg->socket) : path_below(d->runtime, "ctl");
}

/* Creates the directories and sets the paths that the configuration does not. */
static int set_default_paths(struct agent_config *cfg, const struct agent_dirs *d, struct tacho_error *e)
{
	int err = make_dirs(d->state);

	if (err == 0)
		err = make_dirs(d->runtime);
	if (err < 0) {
		error_set(e, err, "cannot create %s or %s: %s", d->state, d->runtime, strerror(-err));
		error_hint(e, "set [agent] state (--set agent.state=DIR) to a directory that this user may write to");
		return err;
	}
	if (!cfg->store)
		cfg->store = path_below(d->state, "agent.db");
	if (!cfg->socket)
		cfg->socket = path_below(d->runtime, "ctl");
	return cfg->store && cfg->socket ? 0 : error_nomem(e);
}

/* ---- the log ---- */

/* Whether stderr is connected to the journal. JOURNAL_STREAM is the device and inode of the journal's
 * socket. It is compared with stderr, because a process with another stderr may have inherited the
 * variable. */
static bool to_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
	       st.st_dev == dev && st.st_ino == ino;
}

static void log_message(void *arg, enum tacho_log_level level, const char *text)
{
	const struct agent_opts *o = arg;
	static const int priority[] = { [TACHO_LOG_WARN] = 4, [TACHO_LOG_INFO] = 6,
					[TACHO_LOG_DEBUG] = 7 };

	if (level > TACHO_LOG_WARN + (o->quiet ? 0 : 1) + o->verbose)
		return;
	if (to_journal())
		fprintf(stderr, "<%d>%s\n", priority[level], text);
	else
		message_text("agent", "%s", text);
}

static int count_events(void *arg, const struct event_status *st)
{
	unsigned *n = arg;

	n[0]++;
	n[1] += st->state <= TACHO_NOT_COUNTED;
	return 0;
}

/* Events of a source that cannot be counted for the same reason, for one line of the log. */
struct refused_events {
	char *source, *reason;
	struct buf names;
	unsigned n;
};

struct refused_list {
	struct refused_events *v;
	size_t n, cap;
};

#define MAX_NAMED 4		/* names per line; the others are counted */

static struct refused_events *find_reason(struct refused_list *list, const char *source, const char *reason)
{
	struct refused_events *group;

	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].source, source) && !strcmp(list->v[i].reason, reason))
			return &list->v[i];
	group = vec_add(list);
	if (!group)
		return NULL;
	*group = (struct refused_events){ .source = strdup(source), .reason = strdup(reason) };
	if (group->source && group->reason)
		return group;
	free(group->source);
	free(group->reason);
	list->n--;
	return NULL;
}

static int add_refused_event(void *arg, const struct event_status *st)
{
	struct refused_events *group;
	char reason[1200];

	if (st->state <= TACHO_NOT_COUNTED)
		return 0;
	snprintf(reason, sizeof(reason), "%s%s%s", tacho_state_name(st->state), st->why ? ": " : "",
		 st->why ? st->why : "");
	group = find_reason(arg, st->source, reason);
	if (group && group->n++ < MAX_NAMED)
		buf_printf(&group->names, "%s%s", group->n > 1 ? ", " : "", st->original);
	return group ? 0 : -ENOMEM;
}

static void log_refused_events(void *arg, struct agent *a)
{
	struct refused_list list = { 0 };

	collector_events(a->collector, add_refused_event, &list);
	for (size_t i = 0; i < list.n; i++) {
		struct refused_events *group = &list.v[i];
		char text[2000], more[40] = "";

		if (group->n > MAX_NAMED)
			snprintf(more, sizeof(more), " and %u more", group->n - MAX_NAMED);
		snprintf(text, sizeof(text), "%s: %s%s: %s", group->source,
			 group->names.bytes ? group->names.bytes : "", more, group->reason);
		log_message(arg, TACHO_LOG_INFO, text);
		free(group->source);
		free(group->reason);
		buf_done(&group->names);
	}
	vec_done(&list);
}

static void log_start(void *arg, struct agent *a)
{
	unsigned n[2] = { 0 };
	char text[600];

	log_refused_events(arg, a);
	collector_events(a->collector, count_events, n);
	snprintf(text, sizeof(text), "counting %u of %u events; history in %s", n[1], n[0],
		 a->store ? a->config->store : "(none)");
	log_message(arg, TACHO_LOG_INFO, text);
	if (*http_url(a->http))
		snprintf(text, sizeof(text), "page at %s%s", http_url(a->http),
			 to_journal() ? "; 'tacho agent ctl link' prints a link with the token for reading" : "");
	else
		snprintf(text, sizeof(text), "no page by TCP: 'listen' has no ADDR:PORT; ctl uses %s",
			 a->config->socket);
	log_message(arg, TACHO_LOG_INFO, text);
	/* Many users may read the journal. */
	if (*http_url(a->http) && !to_journal()) {
		scoped(buf_done) struct buf link = { 0 };

		buf_puts(&link, "open it with this link, which has the token for reading: ");
		http_link(a->http, &link);
		log_message(arg, TACHO_LOG_INFO, buf_failed(&link) ? "out of memory" : link.bytes);
	}
}

int agent_start(struct agent_config *cfg, struct agent_opts *o)
{
	struct tacho_error e = { .column = -1 };
	struct agent_dirs dirs;
	struct agent_run_opts opts = {
		.config = { .path = o->config, .sets = (const char *const *)o->sets.v,
			    .n_sets = o->sets.n },
		.state_dir = dirs.state, .log = log_message, .log_arg = o, .started = log_start,
	};
	char remote[PATH_MAX];
	int err = agent_dirs(cfg, &dirs);

	if (err == 0 && remote_config_path(remote, sizeof(remote), dirs.state) == 0)
		opts.config.remote = remote;
	if (err < 0)
		error_set(&e, err, "no directory for the agent's files: set [agent] state (--set agent.state=DIR), HOME or STATE_DIRECTORY");
	else
		err = set_default_paths(cfg, &dirs, &e);
	if (err < 0)
		config_free(cfg);
	else
		err = agent_run(cfg, &opts, &e);
	if (err < 0)
		message_error("agent", NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : 0;
}
