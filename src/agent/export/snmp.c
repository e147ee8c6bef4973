/*
 * SNMP: an AgentX subagent that serves the tables of snmp_table.c through an SNMP daemon (snmpd with
 * `master agentx`). net-snmp keeps its state in globals and is not thread-safe, so one thread makes
 * all its calls, and a process can have only one such export.
 *
 * An unreachable daemon is logged once and retried; the agent never waits for it.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/agent/net-snmp-agent-includes.h>
#include <net-snmp/agent/agent_callbacks.h>
#include <net-snmp/library/large_fd_set.h>

#include "agent/core/agent.h"
#include "agent/export/snmp_table.h"
#include "base/error.h"

#define PING_S 2
#define JOIN_TIMEOUT_S 3

static const oid pmu_oid[] = { 1, 3, 6, 1, 4, 1, 343, 2, 10, 3, 5, 1, 5, 1 };
static const oid event_oid[] = { 1, 3, 6, 1, 4, 1, 8072, 9999, 9999, 9273, 1, 1 };

struct snmp_settings {
	char *agentx;
};

#define AT(field) offsetof(struct snmp_settings, field)
static const struct config_key keys[] = {
	{ KEY_STRING, "agentx", AT(agentx), "\"/var/agentx/master\"",
	  "the AgentX socket of the SNMP daemon: the path of a socket, or HOST:PORT" },
	{ .kind = KEY_END },
};
#undef AT

struct snmp_export {
	const struct snmp_settings *settings;
	struct exporter_env env;
	struct snmp_view view;
	pthread_t thread;
	int wake_fd;
	atomic_bool stopping, connected;
	bool missing_logged;			/* the missing master has been logged */
};

static atomic_bool in_use;

static int check(const void *settings, struct tacho_error *e)
{
	const struct snmp_settings *s = settings;
	const char *colon = strrchr(s->agentx, ':');

	if (s->agentx[0] == '/' ? strlen(s->agentx) < 108 : colon && colon > s->agentx && colon[1])
		return 0;
	error_set(e, -EINVAL, "agentx: '%.100s' is neither the path of a socket nor HOST:PORT", s->agentx);
	return -EINVAL;
}

static void log_text(struct snmp_export *x, enum tacho_log_level level, const char *what)
{
	char text[500];

	if (!x->env.log)
		return;
	snprintf(text, sizeof(text), "snmp: %s %.200s", what, x->settings->agentx);
	x->env.log(x->env.log_arg, level, text);
}

/* ---- answering ---- */

struct snmp_mib_table {
	const char *name;
	const oid *root;
	size_t n_root;
	cell_fn *get, *next;
};
static const struct snmp_mib_table tables[] = {
	{ "pmuTable", pmu_oid, countof(pmu_oid), pmu_cell_get, pmu_cell_next },
	{ "tachoEventTable", event_oid, countof(event_oid), event_cell_get, event_cell_next },
};

static struct snmp_export *active_export;

static uint32_t oid_part(const oid *name, size_t n, size_t at)
{
	return at < n ? (uint32_t)min_of(name[at], (oid)UINT32_MAX) : 0;
}

/* Parses the part after the table's OID: 1 (the entry), column, row. False: no such cell. */
static bool parse_cell(const struct snmp_mib_table *t, const netsnmp_variable_list *var, bool next,
		       struct cell *cell)
{
	const oid *rest = var->name + t->n_root;
	size_t n = var->name_length > t->n_root ? var->name_length - t->n_root : 0;

	if (snmp_oid_compare(var->name, min_of(var->name_length, t->n_root), t->root, t->n_root) < 0)
		n = 0;
	if (!next && (n != 3 || rest[0] != 1))
		return false;
	if (n && rest[0] > 1)
		return false;
	if (n && rest[0] < 1)
		n = 0;
	cell->column = oid_part(rest, n, 1);
	cell->row = oid_part(rest, n, 2);
	return true;
}

static void put_cell(const struct snmp_mib_table *t, netsnmp_variable_list *var,
		     const struct cell *cell)
{
	struct counter64 wide = { .high = (u_long)(cell->number >> 32),
				  .low = (u_long)(cell->number & 0xffffffff) };
	long number = (long)cell->number;
	oid name[32];

	memcpy(name, t->root, t->n_root * sizeof(*name));
	name[t->n_root] = 1;
	name[t->n_root + 1] = cell->column;
	name[t->n_root + 2] = cell->row;
	snmp_set_var_objid(var, name, t->n_root + 3);
	if (cell->kind == CELL_COUNTER)
		snmp_set_var_typed_value(var, ASN_COUNTER64, &wide, sizeof(wide));
	else if (cell->kind == CELL_INTEGER)
		snmp_set_var_typed_value(var, ASN_INTEGER, &number, sizeof(number));
	else
		snmp_set_var_typed_value(var, ASN_OCTET_STR, cell->text, strlen(cell->text));
}

static void answer_request(const struct snmp_mib_table *t, int mode, netsnmp_agent_request_info *info,
			   netsnmp_request_info *request)
{
	struct snmp_view *v = &active_export->view;
	bool next = mode == MODE_GETNEXT;
	struct cell cell = { 0 };

	if (parse_cell(t, request->requestvb, next, &cell) && (next ? t->next : t->get)(v, &cell))
		put_cell(t, request->requestvb, &cell);
	else if (!next)
		netsnmp_set_request_error(info, request, SNMP_NOSUCHINSTANCE);
}

static int handle_requests(netsnmp_mib_handler *handler, netsnmp_handler_registration *reg,
			   netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	struct snmp_export *x = active_export;
	struct agent *a = x->env.agent;

	(void)handler;
	if (info->mode != MODE_GET && info->mode != MODE_GETNEXT)
		return SNMP_ERR_GENERR;
	if (a)
		pthread_rwlock_rdlock(&a->config_lock);
	pthread_rwlock_rdlock(&x->env.registry->lock);
	x->view.config = a ? a->config : x->env.config;
	x->view.registry = x->env.registry;
	for (netsnmp_request_info *r = requests; r; r = r->next)
		if (!r->processed)
			answer_request(reg->my_reg_void, info->mode, info, r);
	pthread_rwlock_unlock(&x->env.registry->lock);
	if (a)
		pthread_rwlock_unlock(&a->config_lock);
	return SNMP_ERR_NOERROR;
}

/* ---- the thread ---- */

/* net-snmp logs repeatedly while it tries to reach the master; the first message is enough. */
static int on_log(int major, int minor, void *message, void *arg)
{
	struct snmp_export *x = active_export;
	const struct snmp_log_message *entry = message;

	(void)major, (void)minor, (void)arg;
	if (!x->connected && !x->missing_logged && entry && entry->msg &&
	    strcasestr(entry->msg, "agentx")) {
		x->missing_logged = true;
		/* The socket exists, but its mode or that of its directory keeps this user out. */
		if (x->settings->agentx[0] == '/' && access(x->settings->agentx, R_OK | W_OK) < 0 && errno == EACCES)
			log_text(x, TACHO_LOG_WARN, "permission denied for this user (snmpd's agentXPerms; below systemd the unit needs "
				 "the drop-in agentx.conf, see tacho-agent(1)); retrying at");
		else
			log_text(x, TACHO_LOG_WARN, "no SNMP daemon answers (it needs 'master agentx'); retrying at");
	}
	return 0;
}

static int on_connect(int major, int minor, void *server, void *arg)
{
	struct snmp_export *x = active_export;

	(void)major, (void)minor, (void)server, (void)arg;
	x->connected = true;
	x->missing_logged = false;
	log_text(x, TACHO_LOG_INFO, "registered the tables with the SNMP daemon at");
	return 0;
}

static int on_disconnect(int major, int minor, void *server, void *arg)
{
	struct snmp_export *x = active_export;

	(void)major, (void)minor, (void)server, (void)arg;
	if (x->connected && !x->stopping)
		log_text(x, TACHO_LOG_WARN, "lost the connection to the SNMP daemon at");
	x->connected = false;
	x->missing_logged = true;
	return 0;
}

static void register_table(const struct snmp_mib_table *t)
{
	netsnmp_handler_registration *reg = netsnmp_create_handler_registration(
		t->name, handle_requests, t->root, t->n_root, HANDLER_CAN_RONLY);

	if (!reg)
		return;
	reg->my_reg_void = (void *)t;
	netsnmp_register_handler(reg);
}

/* Callbacks get no argument: net-snmp would take ownership of it and free it. */
static void set_up_subagent(struct snmp_export *x)
{
	char address[300];

	snprintf(address, sizeof(address), "%s:%s", x->settings->agentx[0] == '/' ? "unix" : "tcp",
		 x->settings->agentx);
	snmp_disable_log();
	snmp_enable_calllog();
	snmp_register_callback(SNMP_CALLBACK_LIBRARY, SNMP_CALLBACK_LOGGING, on_log, NULL);
	snmp_register_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_START, on_connect, NULL);
	snmp_register_callback(SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_STOP, on_disconnect, NULL);
	netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_ROLE, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_ALARM_DONT_USE_SIG, 1);
	netsnmp_set_mib_directory("");		/* MIB files are not needed */
	/* net-snmp creates a certificate index, used or not: keep it out of the SNMP daemon's
	 * directory. */
	set_persistent_directory(x->env.state_dir ? x->env.state_dir : "/dev/null");
	netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET, address);
	netsnmp_enable_subagent();
	init_agent("tacho");
	/* init_agent() has set another interval. */
	netsnmp_ds_set_int(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL, PING_S);
	for (size_t i = 0; i < countof(tables); i++)
		register_table(&tables[i]);
	init_snmp("tacho");
}

/* The agent may have thousands of open counters, so our descriptors may not fit into an fd_set. */
static void wait_and_answer(struct snmp_export *x)
{
	struct timeval timeout = { .tv_sec = 60 };
	netsnmp_large_fd_set fds;
	int n_fds = x->wake_fd + 1, block = 0, n;

	netsnmp_large_fd_set_init(&fds, FD_SETSIZE);
	snmp_select_info2(&n_fds, &fds, &timeout, &block);
	netsnmp_large_fd_setfd(x->wake_fd, &fds);
	n = netsnmp_large_fd_set_select(max_of(n_fds, x->wake_fd + 1), &fds, NULL, NULL,
					block ? NULL : &timeout);
	if (n > 0)
		snmp_read2(&fds);
	else if (n == 0)
		snmp_timeout();
	netsnmp_large_fd_set_cleanup(&fds);
	run_alarms();
	netsnmp_check_outstanding_agent_requests();
}

static void *serve(void *arg)
{
	struct snmp_export *x = arg;

	set_up_subagent(x);
	while (!x->stopping)
		wait_and_answer(x);
	snmp_shutdown("tacho");
	shutdown_agent();
	return NULL;
}

/* ---- life ---- */

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	struct snmp_export *x = calloc(1, sizeof(*x));
	int err;

	if (!x)
		return error_nomem(e);
	if (atomic_exchange(&in_use, true)) {
		free(x);
		return error_set(e, -EBUSY, "there can be only one export of the type snmp");
	}
	x->settings = settings;
	x->env = *env;
	x->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	active_export = x;
	err = x->wake_fd < 0 ? errno : pthread_create(&x->thread, NULL, serve, x);
	if (err) {
		if (x->wake_fd >= 0)
			close(x->wake_fd);
		free(x);
		atomic_store(&in_use, false);
		return error_set(e, -err, "cannot start the SNMP subagent: %s", strerror(err));
	}
	*out = x;
	return 0;
}

/* A thread that hangs in connect() is abandoned: the process is about to end. */
static void close_exporter(void *arg)
{
	struct snmp_export *x = arg;
	struct timespec until;

	x->stopping = true;
	(void)!write(x->wake_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_TIMEOUT_S;
	if (pthread_timedjoin_np(x->thread, NULL, &until) != 0)
		return;
	close(x->wake_fd);
	snmp_view_done(&x->view);
	free(x);
	atomic_store(&in_use, false);
}

static bool is_connected(void *arg)
{
	struct snmp_export *x = arg;

	return x->connected;
}

const struct exporter_type export_snmp = {
	.name = "snmp",
	.help = "serves INTEL-PMU-MIB and TACHO-MIB through an SNMP daemon, as its AgentX subagent",
	.keys = keys,
	.settings_size = sizeof(struct snmp_settings),
	.check = check,
	.open = open_exporter,
	.connected = is_connected,
	.close = close_exporter,
};
