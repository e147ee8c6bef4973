/*
 * The keys of tacho.toml: one row each, with default, help text and limits.
 */
#include "agent/config/build.h"

#include <errno.h>

#include "agent/config/cpu_groups.h"
#include "base/error.h"

#define MS 1000000ull
#define SECOND 1000000000ull
#define DAY (86400 * SECOND)

#define AT(field) offsetof(struct agent_config, field)
const struct config_key agent_keys[] = {
	{ KEY_STRINGS, "listen", AT(listen), "[\"127.0.0.1:9273\"]",
	  "addresses to serve the page, the API and /metrics on: ADDR:PORT or unix:PATH" },
	{ KEY_STRINGS, "hosts", AT(hosts), NULL,
	  "host names accepted in requests, in addition to addresses, localhost and "
	  "the machine's own name: [\"web1.example.com\"]" },
	{ KEY_PATH, "state", AT(state), NULL,
	  "the directory for the agent's files: history, queues, recordings, token, control socket; not set: /var/lib/tacho for root, that of "
	  "systemd, or ~/.local/state/tacho" },
	{ KEY_PATH, "store", AT(store), NULL,
	  "the database file of the history; empty: no history; not set: "
	  "tacho/agent.db in the state directory" },
	{ KEY_PATH, "socket", AT(socket), NULL,
	  "the control socket, for tacho agent ctl; not set: tacho/ctl in the runtime directory" },
	{ KEY_SECRET, "token", AT(token), NULL,
	  "the secret that authorizes actions over HTTP; not set: actions only over the control socket" },
	{ KEY_SECRET, "read_token", AT(read_token), NULL,
	  "the secret for reading over TCP: the page, profiles, processes; not set: the agent makes one, stores it in the "
	  "file token of its state directory and prints a link with it" },
	{ KEY_SECRET, "scrape_token", AT(scrape_token), NULL,
	  "a secret for /metrics and /healthz alone; if it is set, they are closed without a token" },
	{ KEY_CHOICE, "metrics", AT(metrics_access), "loopback",
	  "from where /metrics and /healthz can be read without a token; series of processes are left out then",
	  .choices = "loopback all token" },
	{ KEY_BOOL, "insecure", AT(insecure), "false",
	  "permit listening without TLS on addresses that other machines can reach" },
	{ KEY_PATH, "tls_cert", AT(tls_cert), NULL, "a certificate in PEM format; enables TLS" },
	{ KEY_PATH, "tls_key", AT(tls_key), NULL, "the certificate's private key in PEM format" },
	{ KEY_PATH, "tls_client_ca", AT(tls_client_ca), NULL,
	  "certificates of authorities in PEM format; clients with a certificate signed by one may read without a token, and "
	  "/metrics is closed to others" },
	{ KEY_PAIRS, "labels", AT(labels), NULL, "labels added to every exported series" },
	{ KEY_PERCENT, "cpu_budget", AT(cpu_budget), NULL,
	  "percent of one CPU that the agent may use before it lowers its rates; 0: no limit",
	  .max = 6553600 },
	{ KEY_U64, "max_fds", AT(max_fds), NULL,
	  "how many counters may be open at once; 0: as many as RLIMIT_NOFILE allows" },
	{ KEY_BOOL, "keep_privileges", AT(keep_privileges), "false",
	  "keep all capabilities; otherwise those not needed for counting are dropped at the start" },
	{ KEY_BOOL, "default_sources", AT(default_sources), "true",
	  "count the built-in sources if no [[source]] is given" },
	{ .kind = KEY_END },
};
#undef AT

#define AT(field) offsetof(struct retention_config, field)
const struct config_key retention_keys[] = {
	{ KEY_DURATION, "full", AT(full_ns), "1h", "how long every point is kept; 0: forever",
	  .max = 36500 * DAY },
	{ KEY_DURATION, "seconds10", AT(seconds10_ns), "1d",
	  "how long 10-second points are kept; 0: forever", .max = 36500 * DAY },
	{ KEY_DURATION, "minute", AT(minute_ns), "30d",
	  "how long 1-minute points are kept; 0: forever", .max = 36500 * DAY },
	{ KEY_DURATION, "profiles", AT(profiles_ns), "7d", "how long profiles are kept; 0: forever",
	  .max = 36500 * DAY },
	{ KEY_BYTES, "max_bytes", AT(max_bytes), "1G",
	  "the maximum size of the store; 0: no limit" },
	{ KEY_BYTES, "pending", AT(pending_bytes), "16M",
	  "how much may wait in memory while the disk is full; then the oldest points are dropped "
	  "and counted",
	  .min = 65536, .max = 1u << 30 },
	{ .kind = KEY_END },
};
#undef AT

#define AT(field) offsetof(struct profile_config, field)
/* The file has "enabled", the struct "off", so that zero is the default. */
static int set_off(const char *name, bool *off, const struct toml_value *v,
		   const struct value_origin *from, struct tacho_error *e)
{
	const struct config_key row = { KEY_BOOL, name, 0 };
	bool on = false;
	int err = key_set(&row, &on, v, from, e);

	if (!err)
		*off = !on;
	return err;
}

static int set_enabled(void *into, const struct toml_value *v, const struct value_origin *from,
		       struct tacho_error *e)
{
	return set_off("enabled", &((struct profile_config *)into)->off, v, from, e);
}

static int set_kernel(void *into, const struct toml_value *v, const struct value_origin *from,
		      struct tacho_error *e)
{
	return set_off("kernel", &((struct profile_config *)into)->kernel_off, v, from, e);
}

static void show_enabled(const void *of, struct buf *out)
{
	buf_puts(out, ((const struct profile_config *)of)->off ? "false" : "true");
}

static void show_kernel(const void *of, struct buf *out)
{
	buf_puts(out, ((const struct profile_config *)of)->kernel_off ? "false" : "true");
}

const struct config_key profile_keys[] = {
	{ KEY_OTHER, "enabled", AT(off), "true", "profile the whole machine continuously",
	  .set = set_enabled, .show = show_enabled, .value = "BOOLEAN" },
	{ KEY_U64, "frequency", AT(frequency), "19", "samples a second and CPU", .min = 1, .max = 10000 },
	{ KEY_STRING, "event", AT(event), NULL,
	  "the event to sample; not set: cycles, or cpu-clock without a PMU" },
	{ KEY_DURATION, "window", AT(window_ns), "10s", "the time that one stored profile covers",
	  .min = SECOND, .max = 3600 * SECOND },
	{ KEY_OTHER, "kernel", AT(kernel_off), "true", "also sample the kernel", .set = set_kernel,
	  .show = show_kernel, .value = "BOOLEAN" },
	{ KEY_U64, "recordings", AT(recordings), "20",
	  "how many files of *tacho agent ctl profile* are kept; the oldest are deleted",
	  .min = 1, .max = 100000 },
	{ KEY_BYTES, "recordings_bytes", AT(recordings_bytes), "256M",
	  "the maximum size of these files together; a perf.data recording stops there", .min = 65536 },
	{ .kind = KEY_END },
};
#undef AT

#define AT(field) offsetof(struct usage_config, field)
static int set_usage_enabled(void *into, const struct toml_value *v, const struct value_origin *from,
			     struct tacho_error *e)
{
	return set_off("enabled", &((struct usage_config *)into)->off, v, from, e);
}

static void show_usage_enabled(const void *of, struct buf *out)
{
	buf_puts(out, ((const struct usage_config *)of)->off ? "false" : "true");
}

const struct config_key usage_keys[] = {
	{ KEY_OTHER, "enabled", AT(off), "true",
	  "report how busy the CPUs are, and which processes and control groups use them; in configurations of Alumet and "
	  "collectd it is off", .set = set_usage_enabled, .show = show_usage_enabled, .value = "BOOLEAN" },
	{ KEY_DURATION, "interval", AT(interval_ns), "1s",
	  "the time between two reads; with thousands of processes these are read less often, so that this takes at most "
	  "one percent of a CPU", .min = SECOND, .max = 3600 * SECOND },
	{ KEY_U64, "processes", AT(processes), "20",
	  "how many processes have series of their CPU time, the busiest; the others are summed; 0: none", .max = 1000 },
	{ KEY_U64, "cgroups", AT(cgroups), "20",
	  "how many control groups have series of their CPU time, the busiest; 0: none", .max = 1000 },
	{ KEY_STRINGS, "views", AT(views), NULL,
	  "views of *tacho snoop* that are exported: runqlat and biolat (histograms), syscount; a change needs a restart",
	  .value = "[VIEW, ...]" },
	{ .kind = KEY_END },
};
#undef AT

#define AT(field) offsetof(struct remote_config, field)
const struct config_key remote_keys[] = {
	HTTP_KEYS(struct remote_config, http, "where the rest of the configuration is: a tacho.toml, read after the local files"),
	{ KEY_DURATION, "interval", AT(interval_ns), "1m", "the time between two requests", .min = SECOND, .max = DAY },
	{ KEY_DURATION, "timeout", AT(timeout_ns), "10s", "give up a request after this time", .min = 100 * MS,
	  .max = 300 * SECOND },
	{ KEY_PATH, "public_key", AT(public_key), NULL,
	  "a public key (Ed25519, ECDSA or RSA) in PEM format: only files that it verifies are used; the signature is at the URL with "
	  ".sig appended" },
	{ .kind = KEY_END },
};
#undef AT

/* Cuts at commas between events, but not at those in {} or //. */
static bool cut_event(struct str *rest, struct str *word)
{
	int depth = 0;
	bool terms = false;

	if (!rest->s)
		return false;
	for (size_t i = 0; i < rest->n; i++) {
		char c = rest->s[i];

		terms ^= c == '/';
		depth += !terms && c == '{' ? 1 : !terms && c == '}' ? -1 : 0;
		if (c == ',' && !terms && depth <= 0) {
			*word = str_trim(str_n(rest->s, i));
			*rest = str_n(rest->s + i + 1, rest->n - i - 1);
			return true;
		}
	}
	*word = str_trim(*rest);
	*rest = (struct str){ NULL, 0 };
	return true;
}

static int add_words(struct source_config *s, struct str text, const struct toml_value *v,
		     const struct value_origin *from, struct tacho_error *e)
{
	struct str word;

	while (cut_event(&text, &word)) {
		if (!word.n)
			return key_fail(e, from, v->at, "events: an event name is empty");
		if (!config_add_event(s, word, (struct str){ 0 }, (struct str){ 0 }, v->at))
			return error_nomem(e);
	}
	return 0;
}

static const struct config_key event_text = { KEY_STRING, "events" };

/* { event = "...", name = "...", original = "..." } */
static int add_event_table(struct source_config *s, const struct toml_value *table,
			   const struct value_origin *from, struct tacho_error *e)
{
	static const char *const known[] = { "event", "name", "original" };
	struct str words[countof(known)] = { 0 };

	for (const struct toml_value *m = table->first; m; m = m->next) {
		size_t k = 0;
		int err;

		while (k < countof(known) && !str_is(m->key, known[k]))
			k++;
		if (k == countof(known))
			return key_fail(
				e, from, m->key_at,
				"an event has no key '%.*s'; the keys are event, name and original",
				(int)min_of(m->key.n, (size_t)60), m->key.s);
		err = key_text(&event_text, m, from, &words[k], e);
		if (err)
			return err;
	}
	if (!words[0].n)
		return key_fail(e, from, table->at, "an event needs the key 'event'");
	if (!config_add_event(s, words[0], words[1], words[2], table->at))
		return error_nomem(e);
	return 0;
}

static void free_events(void *of)
{
	struct source_config *s = of;

	for (size_t i = 0; i < s->n_events; i++) {
		free(s->events[i].spec);
		free(s->events[i].name);
		free(s->events[i].original);
		free(s->events[i].refused);
	}
	free(take(s->events));
	s->n_events = 0;
}

static int set_events(void *into, const struct toml_value *v, const struct value_origin *from,
		      struct tacho_error *e)
{
	const struct toml_value *m = v->kind == TOML_ARRAY ? v->first : v;
	struct str text;
	int err = 0;

	free_events(into);
	while (m && !err) {
		if (m->kind == TOML_TABLE) {
			err = add_event_table(into, m, from, e);
		} else {
			err = key_text(&event_text, m, from, &text, e);
			if (!err)
				err = add_words(into, text, m, from, e);
		}
		m = v->kind == TOML_ARRAY ? m->next : NULL;
	}
	return err;
}

static void show_event(const struct event_config *ev, struct buf *out)
{
	if (!ev->name && !ev->original) {
		toml_quote(out, str_of(ev->spec));
		return;
	}
	buf_puts(out, "{ event = ");
	toml_quote(out, str_of(ev->spec));
	if (ev->name) {
		buf_puts(out, ", name = ");
		toml_quote(out, str_of(ev->name));
	}
	if (ev->original) {
		buf_puts(out, ", original = ");
		toml_quote(out, str_of(ev->original));
	}
	buf_puts(out, " }");
}

static void show_events(const void *of, struct buf *out)
{
	const struct source_config *s = of;

	buf_puts(out, "[\n");
	for (size_t i = 0; i < s->n_events; i++) {
		buf_putc(out, '\t');
		show_event(&s->events[i], out);
		buf_puts(out, ",\n");
	}
	buf_putc(out, ']');
}

static void free_pids(void *of)
{
	struct source_config *s = of;

	free(take(s->pids));
	s->n_pids = 0;
}

static int set_pids(void *into, const struct toml_value *v, const struct value_origin *from,
		    struct tacho_error *e)
{
	static const struct config_key pid = { KEY_INT, "pids", .min = 1, .max = INT32_MAX };
	const struct toml_value *m = v->kind == TOML_ARRAY ? v->first : v;
	struct source_config *s = into;
	int err = 0;

	free_pids(s);
	s->pids = calloc(v->kind == TOML_ARRAY && v->n ? v->n : 1, sizeof(*s->pids));
	if (!s->pids)
		return error_nomem(e);
	while (m && !err) {
		err = key_set(&pid, &s->pids[s->n_pids], m, from, e);
		s->n_pids += !err;
		m = v->kind == TOML_ARRAY ? m->next : NULL;
	}
	return err;
}

static void show_pids(const void *of, struct buf *out)
{
	const struct source_config *s = of;

	for (size_t i = 0; i < s->n_pids; i++)
		buf_printf(out, i ? ", %d" : "[%d", s->pids[i]);
	buf_puts(out, s->n_pids ? "]" : "");
}

static void free_groups(void *of)
{
	struct source_config *s = of;

	cpu_group_array_free(take(s->groups), s->n_groups);
	s->n_groups = 0;
}

static int add_group(struct cpu_groups *to, struct cpu_group *group)
{
	struct cpu_group *bigger = reallocarray(to->v, to->n + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	to->v = bigger;
	to->v[to->n++] = *group;
	*group = (struct cpu_group){ 0 };
	return 0;
}

/* "0-3" or "[4-7]" as in collectd's Cores, or { label = "fast", cpus = "0-3" }. */
static int read_group(struct cpu_groups *to, const struct toml_value *v,
		      const struct value_origin *from, struct tacho_error *e)
{
	static const struct config_key row = { KEY_STRING, "groups" };
	const struct toml_value *label = NULL, *cpus = v;
	struct tacho_error why = { 0 };
	struct cpu_groups got;
	struct str text, name;
	int err = 0;

	if (v->kind == TOML_TABLE) {
		label = toml_get(v, STR_LIT("label"));
		cpus = toml_get(v, STR_LIT("cpus"));
		if (!label || !cpus || v->n != 2)
			return key_fail(e, from, v->at,
					"a group must be a string such as \"0-3\", or a table with "
					"the keys label and cpus");
		err = key_text(&row, label, from, &name, e);
	}
	if (!err)
		err = key_text(&row, cpus, from, &text, e);
	if (err)
		return err;
	err = cpu_groups_parse(&got, &text, 1, 0, &why);
	if (!err && !got.n)
		err = error_set(&why, -EINVAL, "the list of CPUs is empty");
	if (err)
		return err == -ENOMEM ? error_nomem(e) : key_fail(e, from, cpus->at, "groups: %s", why.message);
	if (label && text.s[0] == '[') {
		cpu_groups_done(&got);
		return key_fail(e, from, cpus->at,
				"groups: the CPUs of a group with a label must not be in brackets");
	}
	if (label) {
		free(got.v[0].label);
		got.v[0].label = str_dup(name);
		err = got.v[0].label ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < got.n && !err; i++)
		err = add_group(to, &got.v[i]);
	cpu_groups_done(&got);
	return err ? error_nomem(e) : 0;
}

static int set_groups(void *into, const struct toml_value *v, const struct value_origin *from,
		      struct tacho_error *e)
{
	const struct toml_value *m = v->kind == TOML_ARRAY ? v->first : v;
	struct source_config *s = into;
	struct cpu_groups all = { 0 };
	int err = 0;

	while (m && !err) {
		err = read_group(&all, m, from, e);
		m = v->kind == TOML_ARRAY ? m->next : NULL;
	}
	if (err) {
		cpu_groups_done(&all);
		return err;
	}
	free_groups(s);
	s->groups = all.v;
	s->n_groups = all.n;
	return 0;
}

static void show_groups(const void *of, struct buf *out)
{
	const struct source_config *s = of;

	for (size_t i = 0; i < s->n_groups; i++) {
		const struct cpu_group *g = &s->groups[i];

		buf_puts(out, i ? ",\n\t{ label = " : "[\n\t{ label = ");
		toml_quote(out, str_of(g->label));
		buf_puts(out, ", cpus = \"");
		for (size_t c = 0; c < g->n_cpus; c++)
			buf_printf(out, c ? ",%d" : "%d", g->cpus[c]);
		buf_puts(out, "\" }");
	}
	buf_puts(out, s->n_groups ? ",\n]" : "");
}

#define AT(field) offsetof(struct source_config, field)
const struct config_key source_keys[] = {
	{ KEY_STRING, "name", AT(name), NULL,
	  "the name of the source; its series have it as the label source" },
	{ KEY_OTHER, "events", AT(events), NULL,
	  "the events to count, in the syntax of tacho-stat; {a,b} is a group", .required = true,
	  .set = set_events, .show = show_events, .done = free_events, .value = "[EVENT, ...]" },
	{ KEY_CHOICE, "target", AT(target), "system",
	  "what to count; derived from whichever of the keys below is given",
	  .choices = "system cpus command pids process cgroups" },
	{ KEY_STRING, "cpus", AT(cpus), NULL, "the CPUs to count: \"0-3,8\"" },
	{ KEY_STRINGS, "command", AT(command), NULL,
	  "a command that the agent starts, as a list of arguments" },
	{ KEY_OTHER, "pids", AT(pids), NULL, "the processes to count", .set = set_pids,
	  .show = show_pids, .done = free_pids, .value = "[NUMBER, ...]" },
	{ KEY_STRING, "process", AT(process), NULL,
	  "processes whose name matches, such as \"nginx*\"" },
	{ KEY_STRING, "user", AT(user), NULL, "processes whose user matches" },
	{ KEY_BOOL, "children", AT(children), "false",
	  "count processes together with the processes that they start" },
	{ KEY_STRINGS, "cgroups", AT(cgroups), NULL,
	  "cgroups whose path matches, such as \"/system.slice/ssh*\"" },
	{ KEY_CHOICE, "per", AT(per), "cpu",
	  "what one series covers; by default cpu, process or cgroup, depending on the target",
	  .choices = "cpu groups core die socket node machine process cgroup" },
	{ KEY_OTHER, "groups", AT(groups), NULL,
	  "groups of CPUs: \"0-3\" is one group, \"[4-7]\" is four groups, { label, cpus } sets "
	  "the label",
	  .set = set_groups, .show = show_groups, .done = free_groups, .value = "[GROUP, ...]" },
	{ KEY_DURATION, "interval", AT(interval_ns), "1s", "the time between two reads", .min = MS,
	  .max = DAY },
	{ KEY_DURATION, "flush", AT(flush_ns), NULL,
	  "how long points are collected before they are stored and exported; by default the "
	  "interval",
	  .min = MS, .max = DAY },
	{ KEY_U64, "top", AT(top), "100",
	  "how many processes have series of their own; the others are summed", .min = 1,
	  .max = 100000 },
	{ KEY_INT, "priority", AT(priority), "0",
	  "sources with a higher priority get file descriptors first if they run short",
	  .min = (uint64_t)-1000, .max = 1000 },
	{ KEY_BOOL, "no_merge", AT(no_merge), "false",
	  "report each instance of a PMU type separately" },
	{ KEY_CHOICE, "naming", AT(naming), "tacho",
	  "naming scheme of the metrics: tacho's, Alumet's, that of either generation of collectd's intel_pmu, or that of its "
	  "DispatchMultiPmu, EVENT:type=N",
	  .choices = "tacho alumet collectd-1 collectd-2 collectd-types" },
	{ KEY_STRINGS, "event_lists", AT(event_lists), NULL,
	  "vendor event lists to look up names in" },
	{ KEY_STRINGS, "metrics", AT(metrics), NULL,
	  "metrics and metric groups to compute in addition to the events, each from its own event "
	  "group" },
	{ .kind = KEY_END },
};
#undef AT

#define AT(field) offsetof(struct export_head, field)
const struct config_key export_keys[] = {
	{ KEY_STRING, "type", AT(type), NULL, "the type of exporter", .required = true },
	{ KEY_STRING, "name", AT(name), NULL, "the name of the exporter; by default its type" },
	{ .kind = KEY_END },
};
#undef AT

#define AT(field) offsetof(struct trigger_config, field)
const struct config_key trigger_keys[] = {
	{ KEY_STRING, "name", AT(name), NULL, "the name of the trigger" },
	{ KEY_STRING, "when", AT(when), NULL,
	  "the condition, such as \"rate(context-switches) > 50000 for 5s\"", .required = true },
	{ KEY_CHOICE, "action", AT(action), "flame", "what to record",
	  .choices = "flame perf.data both" },
	{ KEY_DURATION, "length", AT(length_ns), "10s", "how long to record", .min = 100 * MS,
	  .max = 3600 * SECOND },
	{ KEY_DURATION, "cooldown", AT(cooldown_ns), "5m",
	  "the minimum time between two recordings", .max = 365 * DAY },
	{ KEY_BYTES, "max_bytes", AT(max_bytes), "256M",
	  "the maximum size of its recordings together; the oldest are deleted, and a perf.data "
	  "recording stops there" },
	{ KEY_PATH, "dir", AT(dir), NULL,
	  "the directory for recordings; not set: tacho/triggers in the state directory" },
	{ .kind = KEY_END },
};
