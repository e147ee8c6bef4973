/* The collectd exporter with a fake collectd socket whose answers the test chooses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <cmocka.h>

#include "agent_support.h"
#include "agent/export/exporter.h"

extern const struct exporter_type export_collectd;

/* Answers of the fake collectd for each connection, in order; NULL: it disconnects. */
struct server {
	int fd;
	pthread_t thread;
	const char *const *answers;
	size_t n_answers;
	struct buf heard;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	size_t at = 0;

	while (at < s->n_answers) {
		int fd = accept(s->fd, NULL, NULL);
		char c;

		while (at < s->n_answers && read(fd, &c, 1) == 1) {
			buf_putc(&s->heard, c);
			if (c != '\n')
				continue;
			if (!s->answers[at]) {
				at++;
				break;
			}
			if (write(fd, s->answers[at], strlen(s->answers[at])) < 0)
				break;
			at++;
		}
		close(fd);
	}
	return NULL;
}

struct rig {
	struct server server;
	struct agent_config *config;
	struct registry registry;
	void *x;
};

static void say_nothing(void *arg, enum tacho_log_level level, const char *text)
{
	snprintf(arg, 600, "%s", text);
}
static char logged[600];

static void rig_up(struct rig *r, const char *const *answers, size_t n)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct tacho_error e = { .column = -1 };
	struct exporter_env env = { .registry = &r->registry, .host = "h", .log = say_nothing, .log_arg = logged };
	char text[PATH_MAX + 100];

	*r = (struct rig){ .server = { .answers = answers, .n_answers = n } };
	logged[0] = '\0';
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", in_dir("sock"));
	unlink(at.sun_path);
	r->server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(r->server.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(r->server.fd, 4), 0);
	assert_int_equal(pthread_create(&r->server.thread, NULL, serve, &r->server), 0);
	snprintf(text, sizeof(text), "[[export]]\ntype = \"collectd\"\nsocket = \"%s\"\ntimeout = \"2s\"\n", at.sun_path);
	assert_int_equal(load_with(&r->config, text, NULL, &e), 0);
	assert_int_equal(registry_init(&r->registry), 0);
	env.config = r->config;
	assert_int_equal(export_collectd.open(&r->x, r->config->exports[0].settings, &env, &e), 0);
}

static void rig_down(struct rig *r)
{
	pthread_join(r->server.thread, NULL);
	export_collectd.close(r->x);
	registry_done(&r->registry);
	config_free(r->config);
	close(r->server.fd);
	buf_done(&r->server.heard);
}

static enum send_result send_body(struct rig *r, const char *body, struct send_reply *reply)
{
	struct export_body s = { .body = str_of(body), .n_points = 1, .from_ns = 1, .to_ns = 2 };

	*reply = (struct send_reply){ 0 };
	return export_collectd.send_body(r->x, &s, reply);
}

static const char ok[] = "0 Success: 1 value has been dispatched.\n";

static void test_taken(void **state)
{
	const char *answers[] = { ok, "2 lines follow\nfirst\nsecond\n", "0\n" };
	struct send_reply reply;
	struct rig r;

	rig_up(&r, answers, 3);
	assert_int_equal(send_body(&r, "PUTVAL a\nPUTVAL b\nPUTVAL c\n", &reply), SEND_DONE);
	rig_down(&r);
}

static void test_refused(void **state)
{
	const char *answers[] = { "-1 Type `pmu_counter' isn't defined.\n", ok, "-1 Type `pmu_counter' isn't defined.\n",
				  "-1 no\n" };
	struct send_reply reply;
	struct rig r;

	rig_up(&r, answers, 4);
	assert_int_equal(send_body(&r, "PUTVAL a\nPUTVAL b\n", &reply), SEND_DONE);
	assert_non_null(strstr(logged, "TypesDB"));
	assert_int_equal(send_body(&r, "PUTVAL a\nPUTVAL bb\n", &reply), SEND_DROP);
	assert_non_null(strstr(reply.text, "refused: -1 no"));
	rig_down(&r);
}

/* After a disconnect, lines that were answered are not sent again. */
static void test_goes_on(void **state)
{
	const char *answers[] = { ok, NULL, ok, ok };
	struct send_reply reply;
	struct rig r;

	rig_up(&r, answers, 4);
	assert_int_equal(send_body(&r, "PUTVAL a\nPUTVAL b\nPUTVAL c\n", &reply), SEND_RETRY);
	assert_int_equal(send_body(&r, "PUTVAL a\nPUTVAL b\nPUTVAL c\n", &reply), SEND_DONE);
	pthread_join(r.server.thread, NULL);
	r.server.n_answers = 0;
	assert_string_equal(r.server.heard.bytes, "PUTVAL a\nPUTVAL b\nPUTVAL b\nPUTVAL c\n");
	pthread_create(&r.server.thread, NULL, serve, &r.server);
	rig_down(&r);
}

static void test_nonsense(void **state)
{
	static char endless[3000];
	const char *answers[] = { "hello\n", "\n", "4000000000 lines\n", endless, "  \n\n\n", "99999999999999999999 x\n", ok };
	struct send_reply reply;
	struct rig r;

	memset(endless, ' ', sizeof(endless) - 1);
	rig_up(&r, answers, 7);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(send_body(&r, "PUTVAL a\n", &reply), SEND_RETRY);
		assert_true(reply.text[0] != '\0');
	}
	assert_int_equal(send_body(&r, "PUTVAL a\n", &reply), SEND_DONE);
	rig_down(&r);
}

static void test_nobody(void **state)
{
	const char *answers[] = { ok };
	struct send_reply reply;
	struct rig r;

	rig_up(&r, answers, 1);
	assert_int_equal(rename(in_dir("sock"), in_dir("away")), 0);
	assert_int_equal(send_body(&r, "PUTVAL a\n", &reply), SEND_RETRY);
	assert_non_null(strstr(reply.text, "cannot reach"));
	assert_int_equal(rename(in_dir("away"), in_dir("sock")), 0);
	assert_int_equal(send_body(&r, "PUTVAL a\n", &reply), SEND_DONE);
	rig_down(&r);
}

static void test_settings(void **state)
{
	struct agent_config *cfg = NULL;
	struct tacho_error e = { .column = -1 };

	assert_true(load_with(&cfg, "[[export]]\ntype = \"collectd\"\n", NULL, &e) < 0);
	assert_non_null(strstr(e.message, "either socket or exec"));
	assert_true(load_with(&cfg, "[[export]]\ntype = \"collectd\"\nsocket = \"/x\"\nexec = true\n", NULL, &e) < 0);
	assert_true(load_with(&cfg, "[[export]]\ntype = \"snmp\"\nagentx = \"nowhere\"\n", NULL, &e) < 0);
	assert_non_null(strstr(e.message, "agentx"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken), cmocka_unit_test(test_refused), cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_nonsense), cmocka_unit_test(test_nobody), cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
