/*
 * `tacho agent ctl ...`: sends a command to the running agent through its unix socket and prints the reply.
 * The protocol is HTTP, as for the web page. Only the socket's owner and root may use it.
 */
#include "cli/agent/agent_options.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>

#include "agent/config/config.h"
#include "base/buf.h"
#include "base/io.h"
#include "cli/core/app.h"

#define REPLY_MAX (64u << 20)

struct ctl_command {
	const char *name, *args, *help;
	bool post;
	int min_args, max_args;
};

static const struct ctl_command ctl_commands[] = {
	{ "status", "", "the state of the agent", false, 0, 0 },
	{ "events", "", "events with state and reason", false, 0, 0 },
	{ "series", "", "every series with its newest value", false, 0, 0 },
	{ "exporters", "", "sent, queued and dropped points", false, 0, 0 },
	{ "config", "", "the configuration with origins", false, 0, 0 },
	{ "pause", "[SOURCE]", "stop counting", true, 0, 1 },
	{ "resume", "[SOURCE]", "continue counting", true, 0, 1 },
	{ "read-now", "[SOURCE]", "read now, and flush the store", true, 0, 1 },
	{ "interval", "DURATION [SOURCE]", "change the reading interval", true, 1, 2 },
	{ "link", "", "the page's address with the token for reading", true, 0, 0 },
	{ "reload", "", "reload the configuration", true, 0, 0 },
	{ "profile", "[DURATION [flame|perf.data|both]]", "record for that long, print the file names", true, 0, 2 },
};

static size_t append_reply(char *bytes, size_t size, size_t n, void *arg)
{
	struct buf *out = arg;

	if (out->n + size * n > REPLY_MAX)
		return 0;
	buf_put(out, bytes, size * n);
	return size * n;
}

static void add_query(CURL *curl, struct buf *url, const char *name, const char *value)
{
	char *escaped = value ? curl_easy_escape(curl, value, 0) : NULL;

	if (escaped)
		buf_printf(url, "%c%s=%s", strchr(url->bytes, '?') ? '&' : '?', name, escaped);
	curl_free(escaped);
}

/* A command as typed. */
struct ctl_request {
	const struct ctl_command *command;
	int argc;
	char **argv;			/* "ctl", the command, its arguments */
	bool json;
};

/* Builds the URL of the command, with its arguments as query parameters. */
static void make_url(CURL *curl, const struct ctl_request *r, struct buf *url)
{
	const char *name = r->command->name;
	char **argv = r->argv;
	int argc = r->argc;

	buf_printf(url, "http://localhost/api/v1/%s%s", r->command->post ? "ctl/" : "", name);
	if (!strcmp(name, "profile")) {
		add_query(curl, url, "value", argc > 2 ? argv[2] : NULL);
		add_query(curl, url, "format", argc > 3 ? argv[3] : NULL);
	} else if (!strcmp(name, "interval")) {
		add_query(curl, url, "value", argc > 2 ? argv[2] : NULL);
		add_query(curl, url, "source", argc > 3 ? argv[3] : NULL);
	} else if (r->command->post) {
		add_query(curl, url, "source", argc > 2 ? argv[2] : NULL);
	} else {
		add_query(curl, url, "format", r->json ? NULL : "text");
	}
}

static int send_request(const char *socket, const struct ctl_request *r, struct buf *reply, long *status)
{
	CURL *curl = curl_easy_init();
	struct buf url = { 0 };
	CURLcode rc = CURLE_OUT_OF_MEMORY;

	if (curl) {
		make_url(curl, r, &url);
		curl_easy_setopt(curl, CURLOPT_URL, url.bytes);
		curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket);
		curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append_reply);
		curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
		curl_easy_setopt(curl, CURLOPT_TIMEOUT, 660L);
		curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
		if (r->command->post) {
			curl_easy_setopt(curl, CURLOPT_POST, 1L);
			curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, 0L);
		}
		rc = buf_failed(&url) ? CURLE_OUT_OF_MEMORY : curl_easy_perform(curl);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
		curl_easy_cleanup(curl);
	}
	buf_done(&url);
	if (rc == CURLE_COULDNT_CONNECT && !io_is_accessible(socket, W_OK) && errno == EACCES)
		message_text("agent", "only root and the owner of the agent's socket %s may use it", socket);
	else if (rc == CURLE_COULDNT_CONNECT)
		message_text("agent", "no agent is running at %s; start it with 'tacho agent'", socket);
	else if (rc != CURLE_OK)
		message_text("agent", "cannot ask the agent at %s: %s", socket, curl_easy_strerror(rc));
	return rc == CURLE_OK ? 0 : -EIO;
}

/* Extracts TEXT from {"done": "TEXT"} or {"error": "TEXT"}. Returns false for any other reply. */
static bool plain_text(struct str reply, const char *key, struct buf *out)
{
	struct buf head = { 0 };
	bool fits;

	buf_printf(&head, "{\"%s\": \"", key);
	fits = !buf_failed(&head) && str_starts(reply, head.bytes);
	for (size_t i = head.n; fits && i < reply.n && reply.s[i] != '"'; i++) {
		bool escaped = reply.s[i] == '\\' && i + 1 < reply.n;

		i += escaped;
		buf_putc(out, escaped && (reply.s[i] == 'n' || reply.s[i] == 't') ? ' ' : reply.s[i]);
	}
	buf_done(&head);
	return fits;
}

static int show_reply(struct buf *reply, long status, bool json)
{
	struct buf text = { 0 };
	int result = status == 200 ? 0 : EXIT_FAILED;

	if (status != 200 && plain_text(buf_view(reply), "error", &text)) {
		message_text("agent", "%s", text.bytes);
		buf_done(&text);
		return result;
	}
	if (!json && plain_text(buf_view(reply), "done", &text))
		buf_putc(&text, '\n');
	else
		buf_str(&text, buf_view(reply));
	return print_out("agent", &text) || result;
}

static int usage(const char *wrong)
{
	struct buf out = { 0 };

	if (wrong)
		buf_printf(&out, "tacho agent: ctl has no command '%s'; the commands are\n", wrong);
	else
		buf_puts(&out, "tacho agent: ctl needs a command:\n");
	for (size_t i = 0; i < countof(ctl_commands); i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s %s", ctl_commands[i].name, ctl_commands[i].args);
		buf_printf(&out, "  %-44s %s\n", left, ctl_commands[i].help);
	}
	print_fd("agent", STDERR_FILENO, "stderr", &out);
	return EXIT_USAGE;
}

int agent_ctl(const struct agent_config *cfg, const struct agent_opts *o, int argc, char **argv)
{
	scoped(buf_done) struct buf reply = { 0 };
	scoped(freep) char *socket = NULL;
	struct ctl_request r = { .argc = argc, .argv = argv, .json = o->json };
	struct agent_dirs dirs;
	long status = 0;
	size_t i = 0;

	while (argc > 1 && i < countof(ctl_commands) && strcmp(argv[1], ctl_commands[i].name) != 0)
		i++;
	if (argc < 2 || i == countof(ctl_commands))
		return usage(argc < 2 ? NULL : argv[1]);
	r.command = &ctl_commands[i];
	if (argc - 2 < ctl_commands[i].min_args || argc - 2 > ctl_commands[i].max_args) {
		message_text("agent", "wrong number of arguments; use 'ctl %s%s%s'", ctl_commands[i].name,
			     *ctl_commands[i].args ? " " : "", ctl_commands[i].args);
		return EXIT_USAGE;
	}
	if (agent_dirs(cfg, &dirs) < 0)
		memset(&dirs, 0, sizeof(dirs));
	socket = agent_socket(cfg, &dirs);
	if (!socket) {
		message_text("agent", "out of memory");
		return EXIT_FAILED;
	}
	if (send_request(socket, &r, &reply, &status) < 0)
		return EXIT_FAILED;
	return show_reply(&reply, status, o->json);
}
