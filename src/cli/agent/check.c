/*
 * `tacho agent --check`: resolves each event of the configuration, opens it as the agent would, and closes it
 * again. Prints the attr passed to the kernel, the number of counters, why an event cannot be counted, the
 * number of file descriptors and its limit, and whether the hardware has enough counters for all events at
 * once. The last is found by a short measurement.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/core/agent.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/core/app.h"

#include <tacho/eventlist.h>
#include <tacho/metric.h>

enum { SPARE_FDS = 64 };	/* file descriptors for the agent's store, sockets and timers */

struct config_check {
	const struct agent_config *cfg;
	struct tacho *t;
	struct buf *out;
	struct json json;
	bool as_json, quiet;
	struct buf same;		/* names of events that cannot be counted for the reason `same_why` */
	char *same_why;
	struct tacho_evset *hardware;	/* all hardware events, to measure multiplexing */
	unsigned n_hardware, n_counting, n_missing, n_wrong;
	bool no_memory;
	uint64_t n_fds;
	struct rlimit limit;
};

/* The result for one event. An entry of `events` may expand to several. */
struct event_result {
	const struct event_config *config;
	const char *name, *why;
	enum tacho_state state;
	bool wrong;			/* the name or its terms are invalid */
	uint32_t n_counters;
	char *attr;			/* lines "field: value" */
};

static const char *nth_word(const char *words, int i, char *out, size_t size)
{
	struct str rest = str_of(words), word = STR_LIT("");

	while (i-- >= 0)
		str_cut(&rest, ' ', &word);
	snprintf(out, size, "%.*s", STR(word));
	return out;
}

static void put_source(struct config_check *c, const struct source_config *s)
{
	char target[16], per[16];
	struct buf times = { 0 };

	nth_word("system cpus command pids process cgroups", (int)s->target, target, sizeof(target));
	nth_word("cpu groups core die socket node machine process cgroup", (int)s->per, per, sizeof(per));
	if (c->as_json) {
		json_begin(&c->json, '{');
		json_member(&c->json, "name", str, s->name);
		json_member(&c->json, "target", str, target);
		json_member(&c->json, "per", str, per);
		json_member(&c->json, "interval_ns", u64, s->interval_ns);
		json_member(&c->json, "flush_ns", u64, s->flush_ns);
		json_key(&c->json, "events");
		json_begin(&c->json, '[');
		return;
	}
	key_show(&(struct config_key){ KEY_DURATION }, &s->interval_ns, &times);
	buf_printf(c->out, "source %s: %s, per %s, every %.*s\n", s->name, target, per,
		   times.n > 2 ? (int)times.n - 2 : 0, times.n ? times.bytes + 1 : "");
	buf_done(&times);
}

static void put_attr_json(struct config_check *c, const char *attr)
{
	struct str rest = str_of(attr), line;

	json_key(&c->json, "attr");
	if (!attr) {
		json_null(&c->json);
		return;
	}
	json_begin(&c->json, '{');
	while (str_cut(&rest, '\n', &line)) {
		struct str key;
		char name[64];

		if (!str_cut(&line, ':', &key) || !line.s)
			continue;
		snprintf(name, sizeof(name), "%.*s", STR(key));
		json_key(&c->json, name);
		json_strn(&c->json, str_trim(line));
	}
	json_end(&c->json);
}

static void put_result_json(struct config_check *c, const struct event_result *o)
{
	struct json *j = &c->json;

	json_begin(j, '{');
	json_member(j, "event", str, o->name);
	json_member(j, "original", str, o->config->original);
	json_member(j, "metric", str, o->config->name);
	json_member(j, "line", i64, o->config->line);
	json_member(j, "understood", bool, !o->wrong);
	json_member(j, "state", str, o->wrong ? "refused" : tacho_state_name(o->state));
	json_member(j, "why", str, o->why);
	json_member(j, "counters", u64, o->n_counters);
	put_attr_json(c, o->attr);
	json_end(j);
}

/* Prints the events that cannot be counted for one reason. */
static void flush_same(struct config_check *c)
{
	if (c->same.n && !buf_failed(&c->same))
		buf_printf(c->out, "  %s: cannot be counted, %s\n", c->same.bytes, c->same_why ? c->same_why : "");
	buf_clear(&c->same);
	free(take(c->same_why));
}

static void add_same(struct config_check *c, const struct event_result *o)
{
	scoped(buf_done) struct buf why = { 0 };

	buf_printf(&why, "%s: %s", tacho_state_name(o->state), o->why ? o->why : "no reason is known");
	if (buf_failed(&why))
		return;
	if (!c->same_why || strcmp(c->same_why, why.bytes) != 0)
		flush_same(c);
	if (!c->same_why)
		c->same_why = strdup(why.bytes);
	buf_printf(&c->same, "%s%s", c->same.n ? ", " : "", o->name);
	if (o->config->original && strcmp(o->config->original, o->name))
		buf_printf(&c->same, " (%s)", o->config->original);
}

static void put_result_text(struct config_check *c, const struct event_result *o)
{
	struct str rest = str_of(o->attr), line;

	if (!o->wrong && o->state >= TACHO_UNSUPPORTED) {
		add_same(c, o);
		return;
	}
	flush_same(c);
	buf_printf(c->out, "  %s", o->name);
	if (o->config->original && strcmp(o->config->original, o->name))
		buf_printf(c->out, " (%s)", o->config->original);
	if (o->wrong)
		buf_printf(c->out, ": error: %s\n", o->why);
	else
		buf_printf(c->out, ": %u counter%s\n", o->n_counters, o->n_counters == 1 ? "" : "s");
	if (!o->attr)
		return;
	buf_puts(c->out, "    ");
	for (bool first = true; str_cut(&rest, '\n', &line); first = false)
		if (line.n)
			buf_printf(c->out, "%s%.*s", first ? "" : ", ", STR(line));
	buf_putc(c->out, '\n');
}

static void put_result(struct config_check *c, const struct event_result *o)
{
	if (o->wrong)
		c->n_wrong++;
	else if (o->state >= TACHO_UNSUPPORTED)
		c->n_missing++;
	else
		c->n_counting++;
	if (c->as_json)
		put_result_json(c, o);
	else if (!c->quiet || o->wrong)
		put_result_text(c, o);
}

static char *attr_of(const struct tacho_evset *set, size_t i)
{
	uint64_t attr[64] = { 0 };

	if (tacho_evset_attr(set, i, attr, sizeof(attr)) < 0)
		return NULL;
	return tacho_attr_text(attr, sizeof(attr));
}

/* Appends the CPUs of all groups, without those that this machine does not have. */
static void cpus_of_groups(const struct source_config *s, struct buf *out)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (size_t g = 0; g < s->n_groups; g++)
		for (size_t i = 0; i < s->groups[g].n_cpus; i++)
			if (s->groups[g].cpus[i] < n_cpus)
				buf_printf(out, out->n ? ",%d" : "%d", s->groups[g].cpus[i]);
}

/* Opens the events on the source's target. Commands, process names and cgroups may not exist yet; the
 * events are opened on this process instead. */
static int open_on_target(struct tacho_evset *set, const struct source_config *s, struct tacho_error *e)
{
	struct tacho_evset_opts opts = { .size = sizeof(opts), .no_inherit = true };
	struct buf cpus = { 0 };
	int n_opened;

	if (s->n_groups) {
		cpus_of_groups(s, &cpus);
		opts.cpus = cpus.bytes;
		if (!cpus.n && !buf_failed(&cpus))
			return error_set(e, -ENODEV, "this machine has none of the CPUs in the source's groups");
	} else if (s->target == TARGET_SYSTEM) {
		opts.all_cpus = true;
	} else if (s->target == TARGET_CPUS) {
		opts.cpus = s->cpus;
	} else if (s->target == TARGET_PIDS) {
		opts.pids = s->pids;
		opts.n_pids = s->n_pids;
	}
	n_opened = buf_failed(&cpus) ? error_nomem(e) : tacho_evset_open(set, &opts, e);
	buf_done(&cpus);
	return n_opened;
}

static bool is_hardware(const struct tacho_event *ev)
{
	return ev->kind == TACHO_EVENT_HARDWARE || ev->kind == TACHO_EVENT_CACHE ||
	       ev->kind == TACHO_EVENT_RAW || (ev->kind == TACHO_EVENT_PMU && !ev->system_wide);
}

static void put_set_results(struct config_check *c, const struct event_config *config, struct tacho_evset *set,
		     int err, const struct tacho_error *e)
{
	const struct tacho_sum *sums = NULL;
	int n_sums = 0;

	if (err >= 0 && tacho_evset_read(set, NULL) >= 0)
		n_sums = tacho_evset_sums(set, TACHO_OPTS(tacho_sums_opts, .no_merge = true), &sums);
	for (size_t i = 0; i < tacho_evset_size(set); i++) {
		const struct tacho_event *ev = tacho_evset_event(set, i);
		struct event_result o = { .config = config, .name = ev->name, .state = TACHO_FAILED,
				     .why = err < 0 ? e->message : NULL };

		for (int k = 0; k < n_sums; k++)
			if (sums[k].event == i) {
				o.state = sums[k].state;
				o.why = sums[k].why;
				o.n_counters = sums[k].n_counters;
			}
		if (o.state < TACHO_UNSUPPORTED) {
			c->n_fds += o.n_counters;
			o.attr = attr_of(set, i);
			if (is_hardware(ev))
				c->n_hardware++;
		}
		put_result(c, &o);
		free(o.attr);
	}
}

static void check_event(struct config_check *c, const struct source_config *s, const struct event_config *ev)
{
	struct tacho_error e = { .column = -1 };
	struct event_result o = { .config = ev, .name = ev->spec, .why = ev->refused, .wrong = true };
	struct tacho_evset *set = NULL;
	unsigned before = c->n_hardware;
	char why[1024];
	int err;

	if (ev->refused) {
		put_result(c, &o);
		return;
	}
	err = tacho_evset_new(&set, c->t);
	if (err >= 0)
		err = tacho_evset_add(set, ev->spec, &e);
	if (err < 0) {
		snprintf(why, sizeof(why), "%s%s%s", e.message, e.hint[0] ? "; " : "", e.hint);
		c->no_memory = c->no_memory || err == -ENOMEM;
		o.why = why;
		o.wrong = err != -EOPNOTSUPP;		/* known, but not available on this machine */
		o.state = TACHO_UNSUPPORTED;
		put_result(c, &o);
	} else {
		err = open_on_target(set, s, &e);
		put_set_results(c, ev, set, err, &e);
	}
	tacho_evset_free(set);
	if (c->n_hardware > before && c->hardware)
		tacho_evset_add(c->hardware, ev->spec, NULL);
}

/* Checks the events that a metric needs. */
static void check_metric(struct config_check *c, struct tacho *t, const struct source_config *s, char *name)
{
	const struct event_config ev = { .spec = name };
	struct event_result o = { .config = &ev, .name = name, .state = TACHO_UNSUPPORTED };
	struct tacho_error e = { .column = -1 };
	struct tacho_metric_set *ms = NULL;
	struct tacho_evset *set = NULL;
	int err = tacho_metric_set_new(&ms, t, TACHO_OPTS(tacho_metric_set_opts, .target_cpu = true,
							  .core_wide = true, .no_threshold = true));

	if (err == 0)
		err = tacho_evset_new(&set, t);
	if (err == 0)
		err = tacho_metric_set_add(ms, name, &e);
	if (err >= 0)
		err = tacho_metric_set_plan(ms, set, &e);
	if (err < 0) {
		o.why = e.message;
		o.wrong = err != -EOPNOTSUPP;
		put_result(c, &o);
	} else {
		err = open_on_target(set, s, &e);
		put_set_results(c, &ev, set, err, &e);
	}
	tacho_metric_set_free(ms);
	tacho_evset_free(set);
}

static void check_metrics(struct config_check *c, const struct source_config *s)
{
	struct tacho_error e = { .column = -1 };
	struct tacho *own = NULL;

	if (s->event_lists.n && config_open_lists(&own, s, NULL, NULL, &e) < 0)
		return;			/* the error has already been reported */
	for (size_t i = 0; i < s->metrics.n; i++)
		check_metric(c, own ? own : c->t, s, s->metrics.v[i]);
	tacho_close(own);
}

static void check_source(struct config_check *c, const struct source_config *s)
{
	put_source(c, s);
	for (size_t i = 0; i < s->n_events; i++)
		check_event(c, s, &s->events[i]);
	if (s->metrics.n)
		check_metrics(c, s);
	if (c->as_json) {
		json_end(&c->json);
		json_end(&c->json);
	}
}

/* Counts all hardware events on one CPU for 80 ms. Returns the smallest share of time for which one of
 * them was counted, or -1. */
static double measure_share(struct config_check *c)
{
	struct timespec duration = { .tv_nsec = 80000000 };
	const struct tacho_sum *sums;
	double least = -1;
	int n;

	if (!c->n_hardware || !c->hardware ||
	    tacho_evset_open(c->hardware, TACHO_OPTS(tacho_evset_opts, .cpus = "0"), NULL) < 0 ||
	    tacho_evset_start(c->hardware) < 0)
		return -1;
	nanosleep(&duration, NULL);
	if (tacho_evset_read(c->hardware, NULL) < 0)
		return -1;
	n = tacho_evset_sums(c->hardware, TACHO_OPTS(tacho_sums_opts, .no_merge = true), &sums);
	for (int i = 0; i < n; i++)
		if (sums[i].state <= TACHO_NOT_COUNTED && (least < 0 || sums[i].share < least))
			least = sums[i].state == TACHO_NOT_COUNTED ? 0 : sums[i].share;
	return least;
}

static void put_multiplexing(struct config_check *c)
{
	double share = measure_share(c);

	if (c->as_json) {
		json_key(&c->json, "multiplexing");
		json_begin(&c->json, '{');
		json_member(&c->json, "hardware_events", u64, c->n_hardware);
		json_key(&c->json, "least_share");
		if (share < 0)
			json_null(&c->json);
		else
			json_double(&c->json, share);
		json_end(&c->json);
	} else if (!c->n_hardware) {
		buf_puts(c->out, "multiplexing: none, there are no hardware events\n");
	} else if (share < 0) {
		buf_puts(c->out, "multiplexing: could not be measured\n");
	} else if (share > 0.99) {
		buf_printf(c->out, "multiplexing: none, the %u hardware events fit\n", c->n_hardware);
	} else {
		buf_printf(c->out, "multiplexing: %u hardware events are too many: some are counted "
			   "%.0f %% of the time\n", c->n_hardware, share * 100);
	}
}

static uint64_t fds_needed(const struct config_check *c)
{
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return c->n_fds + SPARE_FDS + (c->cfg->profile.off ? 0 : 2 * (uint64_t)max_of(n_cpus, 1L));
}

static void put_limits(struct config_check *c)
{
	uint64_t needed = fds_needed(c), most = c->cfg->max_fds ? c->cfg->max_fds : c->limit.rlim_max;

	if (c->as_json) {
		json_key(&c->json, "descriptors");
		json_begin(&c->json, '{');
		json_member(&c->json, "counters", u64, c->n_fds);
		json_member(&c->json, "needed", u64, needed);
		json_member(&c->json, "soft_limit", u64, c->limit.rlim_cur);
		json_member(&c->json, "hard_limit", u64, c->limit.rlim_max);
		json_member(&c->json, "enough", bool, needed <= most);
		json_end(&c->json);
		return;
	}
	buf_printf(c->out, "descriptors: %llu for counters, %llu in total; the limit is %llu and can be raised "
		   "to %llu\n", (unsigned long long)c->n_fds, (unsigned long long)needed,
		   (unsigned long long)c->limit.rlim_cur, (unsigned long long)c->limit.rlim_max);
	if (needed > most)
		buf_printf(c->out, "  error: %s is too low; raise it, or count fewer events\n",
			   c->cfg->max_fds ? "max_fds" : "RLIMIT_NOFILE");
}

/* Checks only that the profile's event exists, not that it can be sampled. */
static void put_profile(struct config_check *c)
{
	const struct profile_config *p = &c->cfg->profile;
	struct tacho_error e = { .column = -1 };
	struct tacho_evset *set = NULL;
	bool wrong = !p->off && p->event &&
		     (tacho_evset_new(&set, c->t) < 0 || tacho_evset_add(set, p->event, &e) < 0);

	tacho_evset_free(set);
	c->n_wrong += wrong;
	if (c->as_json) {
		json_key(&c->json, "profile");
		json_begin(&c->json, '{');
		json_member(&c->json, "enabled", bool, !p->off);
		json_member(&c->json, "event", str, p->event);
		json_member(&c->json, "frequency", u64, p->frequency);
		json_member(&c->json, "why", str, wrong ? e.message : NULL);
		json_end(&c->json);
	} else if (p->off) {
		buf_puts(c->out, "profile: none\n");
	} else if (wrong) {
		buf_printf(c->out, "profile: error: %s\n", e.message);
	} else {
		buf_printf(c->out, "profile: %s, %llu samples per second and CPU\n",
			   p->event ? p->event : "cycles or cpu-clock", (unsigned long long)p->frequency);
	}
}

static void put_exports_and_triggers(struct config_check *c)
{
	if (!c->as_json) {
		for (size_t i = 0; i < c->cfg->n_exports; i++)
			buf_printf(c->out, "export %s: %s\n", c->cfg->exports[i].name,
				   c->cfg->exports[i].type->name);
		for (size_t i = 0; i < c->cfg->n_triggers; i++)
			buf_printf(c->out, "trigger %s: when %s\n", c->cfg->triggers[i].name,
				   c->cfg->triggers[i].when);
		return;
	}
	json_key(&c->json, "exports");
	json_begin(&c->json, '[');
	for (size_t i = 0; i < c->cfg->n_exports; i++)
		json_str(&c->json, c->cfg->exports[i].name);
	json_end(&c->json);
	json_key(&c->json, "triggers");
	json_begin(&c->json, '[');
	for (size_t i = 0; i < c->cfg->n_triggers; i++)
		json_str(&c->json, c->cfg->triggers[i].name);
	json_end(&c->json);
}

static void begin_output(struct config_check *c)
{
	const struct agent_config *cfg = c->cfg;

	if (!c->as_json) {
		if (cfg->path)
			buf_printf(c->out, "%s: a file of kind %s\n", cfg->path, cfg->kind);
		else
			buf_puts(c->out, "no file: the built-in configuration\n");
		for (size_t i = 0; i < cfg->notes.n; i++)
			buf_printf(c->out, "note: %s\n", cfg->notes.v[i]);
		return;
	}
	json_begin(&c->json, '{');
	json_member(&c->json, "schema", str, "tacho-agent-check-1");
	json_member(&c->json, "path", str, cfg->path);
	json_member(&c->json, "kind", str, cfg->kind);
	json_key(&c->json, "notes");
	json_begin(&c->json, '[');
	for (size_t i = 0; i < cfg->notes.n; i++)
		json_str(&c->json, cfg->notes.v[i]);
	json_end(&c->json);
	json_key(&c->json, "sources");
	json_begin(&c->json, '[');
}

static void end_output(struct config_check *c)
{
	if (c->as_json)
		json_end(&c->json);
	put_profile(c);
	put_exports_and_triggers(c);
	put_limits(c);
	put_multiplexing(c);
	if (c->as_json) {
		json_member(&c->json, "counting", u64, c->n_counting);
		json_member(&c->json, "cannot_be_counted", u64, c->n_missing);
		json_member(&c->json, "errors", u64, c->n_wrong);
		json_end(&c->json);
		buf_putc(c->out, '\n');
	} else {
		buf_printf(c->out, "%u events can be counted, %u cannot on this machine, %u are invalid\n",
			   c->n_counting, c->n_missing, c->n_wrong);
	}
}

/* Adds the event lists. Errors are ignored here, because they are reported with the events of the lists. */
static void add_lists(struct config_check *c)
{
	for (size_t i = 0; i < c->cfg->n_sources; i++)
		for (size_t k = 0; k < c->cfg->sources[i].event_lists.n; k++)
			tacho_eventlist_add(c->t, c->cfg->sources[i].event_lists.v[k], NULL);
}

int agent_check(const struct agent_config *cfg, const struct agent_opts *o)
{
	struct buf out = { 0 };
	struct config_check c = { .cfg = cfg, .out = &out, .as_json = o->json, .quiet = o->quiet,
			   .json = { .out = &out, .indent = 2 } };
	struct tacho_error e = { .column = -1 };
	unsigned n_live = 0;
	bool failed;
	int status;

	if (o->live && o->json) {
		message_text("agent", "--live and --json cannot be used together");
		return EXIT_USAGE;
	}
	getrlimit(RLIMIT_NOFILE, &c.limit);
	if (tacho_open(&c.t, NULL, &e) < 0 || tacho_evset_new(&c.hardware, c.t) < 0) {
		message_text("agent", "%s", e.message[0] ? e.message : "out of memory");
		tacho_close(c.t);
		return EXIT_FAILED;
	}
	add_lists(&c);
	begin_output(&c);
	for (size_t i = 0; i < cfg->n_sources; i++) {
		check_source(&c, &cfg->sources[i]);
		flush_same(&c);
	}
	end_output(&c);
	buf_done(&c.same);
	if (o->live && !o->json)
		n_live = agent_check_live(cfg, c.t, &out);
	failed = c.n_wrong || n_live ||
		 fds_needed(&c) > (cfg->max_fds ? cfg->max_fds : (uint64_t)c.limit.rlim_max);
	tacho_evset_free(c.hardware);
	tacho_close(c.t);
	status = print_out("agent", &out);
	if (c.no_memory)
		message_text("agent", "out of memory: not everything could be checked");
	return status ? status : failed ? EXIT_FAILED : 0;
}
