/*
 * `tacho agent --check --live`: what depends on the state of this machine and of others now. Patterns that match nothing, CPUs that
 * are not online, triggers whose event no source counts, addresses that cannot be listened on, a store that cannot be
 * written and receivers that do not answer. Nothing is sent to receivers: they are only connected to.
 */
#include "cli/agent/agent_options.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/core/condition.h"
#include "agent/export/exporter.h"
#include "agent/http/access.h"
#include "base/cpuset.h"
#include "base/io.h"

#include <tacho/system.h>

#define CONNECT_MS 3000

struct live_check {
	const struct agent_config *cfg;
	struct tacho *t;
	struct buf *out;
	unsigned n_problems;
};

static void printf_like(2, 3) report(struct live_check *c, const char *fmt, ...)
{
	va_list ap;

	buf_puts(c->out, "live: ");
	va_start(ap, fmt);
	buf_vprintf(c->out, fmt, ap);
	va_end(ap);
	buf_putc(c->out, '\n');
	c->n_problems++;
}

/* ---- sources ---- */

struct pattern_match {
	const struct source_config *source;
	const char *pattern;		/* of cgroups */
	size_t n;
};

static bool is_user(const char *pattern, uint32_t uid)
{
	struct passwd *user = getpwuid(uid);
	char number[16];

	snprintf(number, sizeof(number), "%u", uid);
	return !pattern || str_glob(str_of(pattern), str_of(number)) || (user && str_glob(str_of(pattern), str_of(user->pw_name)));
}

static int match_process(void *arg, const struct tacho_process *p)
{
	struct pattern_match *m = arg;
	const char *name = m->source->process;

	m->n += (!name || str_glob(str_of(name), str_of(p->comm))) && is_user(m->source->user, p->uid);
	return 0;
}

static int match_cgroup(void *arg, const char *path)
{
	struct pattern_match *m = arg;
	const char *below = path[0] == '/' ? path + 1 : path;

	m->n += str_glob(str_of(m->pattern[0] == '/' ? m->pattern + 1 : m->pattern), str_of(below));
	return 0;
}

static void check_targets(struct live_check *c, const struct source_config *s)
{
	struct pattern_match m = { .source = s };

	if (s->target == TARGET_PROCESS && tacho_processes(c->t, match_process, &m) == 0 && !m.n)
		report(c, "source '%s': no process matches %s%s%s now", s->name, s->process ? s->process : "",
		       s->user ? " of user " : "", s->user ? s->user : "");
	for (size_t i = 0; i < s->cgroups.n; i++) {
		m = (struct pattern_match){ .source = s, .pattern = s->cgroups.v[i] };
		if (tacho_cgroups(c->t, match_cgroup, &m) == 0 && !m.n)
			report(c, "source '%s': no cgroup matches '%s' now", s->name, s->cgroups.v[i]);
	}
	for (size_t i = 0; i < s->n_pids; i++)
		if (tacho_process_find(c->t, s->pids[i], match_process, &m) == -ESRCH)
			report(c, "source '%s': there is no process %d", s->name, s->pids[i]);
}

static void check_cpus(struct live_check *c, const struct source_config *s)
{
	scoped(cpuset_done) struct cpuset online = { 0 };
	scoped(cpuset_done) struct cpuset wanted = { 0 };
	char text[4096];

	if (tacho_online_cpus(c->t, text, sizeof(text)) < 0 || cpuset_parse(&online, str_of(text)) < 0 ||
	    (s->cpus && cpuset_parse(&wanted, str_of(s->cpus)) < 0))
		return;
	for (size_t g = 0; g < s->n_groups; g++)
		for (size_t i = 0; i < s->groups[g].n_cpus; i++)
			if (cpuset_add(&wanted, s->groups[g].cpus[i]) < 0)
				return;
	for (int cpu = 0; cpu < 65536; cpu++)
		if (cpuset_has(&wanted, cpu) && !cpuset_has(&online, cpu)) {
			report(c, "source '%s': CPU %d is not online; online are %s", s->name, cpu, text);
			return;
		}
}

/* ---- triggers ---- */

/* Whether the text of an event, such as "{cycles,instructions}:u", has a word that the pattern matches. */
static bool names_event(const char *pattern, const char *spec)
{
	struct str rest = str_of(spec), word;

	if (str_glob(str_of(pattern), rest))
		return true;
	while (str_cut(&rest, ',', &word)) {
		while (word.n && strchr("{ ", word.s[0]))
			word = str_n(word.s + 1, word.n - 1);
		while (word.n && strchr("} ", word.s[word.n - 1]))
			word.n--;
		if (str_glob(str_of(pattern), word))
			return true;
	}
	return false;
}

static bool is_counted(const struct agent_config *cfg, const char *pattern)
{
	static const char *const usage[] = { "cpu-busy", "cpu-user", "cpu-system", "cpu-iowait", "cpu-steal", "process-cpu", "cgroup-cpu" };
	bool found = false;

	for (size_t i = 0; i < countof(usage) && !cfg->usage.off; i++)
		found = found || str_glob(str_of(pattern), str_of(usage[i]));
	for (size_t i = 0; i < cfg->n_sources && !found; i++) {
		const struct source_config *s = &cfg->sources[i];

		for (size_t k = 0; k < s->n_events && !found; k++)
			found = names_event(pattern, s->events[k].name ? s->events[k].name : s->events[k].spec);
		found = found || s->metrics.n;		/* their names are known when they are resolved */
	}
	return found;
}

static void check_triggers(struct live_check *c)
{
	for (size_t i = 0; i < c->cfg->n_triggers; i++) {
		const struct trigger_config *t = &c->cfg->triggers[i];
		struct condition condition = { 0 };
		bool own = false;

		if (condition_parse(&condition, t->when, NULL) == 0) {
			for (size_t k = 0; k + 1 < condition.labels.n; k += 2)
				own = own || (!strcmp(condition.labels.v[k], "source") && !strcmp(condition.labels.v[k + 1], "agent"));
			if (!own && condition.func != CONDITION_VALUE && !is_counted(c->cfg, condition.event))
				report(c, "trigger '%s': no source counts an event '%s', so it never fires", t->name, condition.event);
		}
		condition_done(&condition);
	}
}

/* ---- addresses, files, receivers ---- */

static int try_connect(const struct sockaddr *at, socklen_t n)
{
	int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	socklen_t size = sizeof(err);
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (fd < 0)
		return -errno;
	if (connect(fd, at, n) < 0)
		err = errno;
	if (err == EINPROGRESS)
		err = poll(&p, 1, CONNECT_MS) <= 0 ? ETIMEDOUT : getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &size) < 0 ? errno : err;
	close(fd);
	return -err;
}

static struct addrinfo *resolve(struct str host, struct str port, bool passive)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = passive ? AI_PASSIVE : 0 }, *at = NULL;
	char name[256], service[16];

	if (host.n > 1 && host.s[0] == '[' && host.s[host.n - 1] == ']')
		host = str_n(host.s + 1, host.n - 2);
	snprintf(name, sizeof(name), "%.*s", STR(host));
	snprintf(service, sizeof(service), "%.*s", STR(port));
	return getaddrinfo(name, service, &hints, &at) == 0 ? at : NULL;
}

/* Splits at the last colon. */
static struct str cut_port(struct str *host, const char *fallback)
{
	for (size_t i = host->n; i-- > 0 && host->s[i] != ']';)
		if (host->s[i] == ':') {
			struct str port = str_n(host->s + i + 1, host->n - i - 1);

			host->n = i;
			return port;
		}
	return str_of(fallback);
}

static void check_listen(struct live_check *c, const char *text)
{
	struct str host = str_of(text), port;
	struct addrinfo *at;
	int fd, one = 1;

	if (str_starts(host, "unix:"))
		return;
	port = cut_port(&host, "9273");
	at = resolve(host, port, true);
	fd = at ? socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!at)
		report(c, "listen: %s cannot be resolved", text);
	else if (!c->cfg->tls_cert && !c->cfg->insecure && !access_is_loopback(at->ai_addr))
		report(c, "listen: other machines can reach %s, which needs tls_cert and tls_key, or insecure = true", text);
	else if (fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) < 0)
		report(c, "listen: %s: %s%s", text, strerror(errno),
		       errno == EADDRINUSE ? "; another program, or an agent that is running, uses the port" : "");
	if (fd >= 0)
		close(fd);
	if (at)
		freeaddrinfo(at);
}

static void check_file(struct live_check *c, const char *what, const char *path)
{
	scoped(buf_done) struct buf dir = { 0 };
	const char *slash = strrchr(path, '/');

	buf_put(&dir, slash ? path : ".", slash ? max_of((size_t)(slash - path), (size_t)1) : 1);
	if (buf_failed(&dir))
		return;
	if (io_is_accessible(path, F_OK) ? !io_is_accessible(path, W_OK) : !io_is_accessible(dir.bytes, W_OK))
		report(c, "%s: cannot write to %s: %s", what, path, strerror(errno));
}

/* `shown` is the URL or address in the configuration. Datagrams are not answered, so for these only the name is looked up. */
static void check_address(struct live_check *c, const char *name, const char *shown, struct str host, const char *fallback_port,
			  bool datagrams)
{
	struct str port = cut_port(&host, fallback_port);
	struct addrinfo *at = resolve(host, port, false);
	int err = at && datagrams ? 0 : -EHOSTUNREACH;

	for (const struct addrinfo *a = at; a && err < 0; a = a->ai_next)
		err = try_connect(a->ai_addr, a->ai_addrlen);
	if (err < 0)
		report(c, "export '%s': %s does not answer: %s", name, shown, at ? strerror(-err) : "the name cannot be resolved");
	if (at)
		freeaddrinfo(at);
}

static void check_url(struct live_check *c, const char *name, const char *url)
{
	bool tls = str_starts(str_of(url), "https://");
	const char *slashes = strstr(url, "://"), *start = slashes ? slashes + 3 : url;
	struct str host = str_n(start, strcspn(start, "/?#"));

	check_address(c, name, url, host, tls ? "443" : "80", false);
}

static void check_socket(struct live_check *c, const char *name, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int err;

	if (strlen(path) >= sizeof(at.sun_path))
		return;
	memcpy(at.sun_path, path, strlen(path) + 1);
	err = try_connect((struct sockaddr *)&at, sizeof(at));
	if (err < 0)
		report(c, "export '%s': %s does not answer: %s", name, path, strerror(-err));
}

static void check_receiver(struct live_check *c, const struct export_config *x)
{
	scoped(buf_done) struct buf what = { 0 };

	buf_printf(&what, "export '%s'", x->name);
	if (buf_failed(&what))
		return;
	for (const struct config_key *row = x->type->keys; row && row->kind != KEY_END; row++) {
		const char *text = row->kind == KEY_URL || row->kind == KEY_PATH || row->kind == KEY_STRING
					   ? *(char *const *)((const char *)x->settings + row->at) : NULL;

		if (!text || !*text || !strcmp(text, "-"))
			continue;
		if (row->kind == KEY_URL && str_is(str_of(row->name), "url"))
			check_url(c, x->name, text);
		else if (!strcmp(row->name, "address"))
			check_address(c, x->name, text, str_of(text), "0", !strcmp(x->type->name, "statsd"));
		else if (!strcmp(row->name, "socket") || (!strcmp(row->name, "agentx") && text[0] == '/'))
			check_socket(c, x->name, text);
		else if (!strcmp(row->name, "path"))
			check_file(c, what.bytes, text);
	}
}

unsigned agent_check_live(const struct agent_config *cfg, struct tacho *t, struct buf *out)
{
	struct live_check c = { .cfg = cfg, .t = t, .out = out };

	for (size_t i = 0; i < cfg->n_sources; i++) {
		check_targets(&c, &cfg->sources[i]);
		check_cpus(&c, &cfg->sources[i]);
	}
	check_triggers(&c);
	for (size_t i = 0; i < cfg->listen.n; i++)
		check_listen(&c, cfg->listen.v[i]);
	if (cfg->store && *cfg->store)
		check_file(&c, "store", cfg->store);
	for (size_t i = 0; i < cfg->n_exports; i++)
		check_receiver(&c, &cfg->exports[i]);
	if (!c.n_problems)
		buf_puts(out, "live: everything answers\n");
	return c.n_problems;
}
