/*
 * The API's process list: who uses the CPUs now, with users, services and command lines.
 */
#include "agent/http/request.h"

#include "agent/source/usage.h"

static int put_process(void *arg, const struct usage_process_row *p)
{
	struct json *j = arg;

	json_begin(j, '{');
	json_member(j, "pid", i64, p->pid);
	json_member(j, "comm", str, p->comm);
	json_member(j, "user", str, p->user);
	json_member(j, "cgroup", str, p->cgroup);
	json_member(j, "service", str, p->names->service);
	json_member(j, "container", str, p->names->container);
	json_member(j, "pod", str, p->names->pod);
	json_member(j, "command_line", str, p->command_line);
	json_member(j, "cpu", double, p->cpu);
	json_member(j, "user_cpu", double, p->user_cpu);
	json_member(j, "recent_cpu", double, p->recent_cpu);
	json_member(j, "cpu_seconds", double, (double)p->cpu_ns * 1e-9);
	json_member(j, "resident_bytes", u64, p->resident_bytes);
	json_member(j, "threads", u64, p->n_threads);
	json_member(j, "started", i64, p->start_ns / 1000000);
	json_key(j, "series");
	if (p->series)
		json_u64(j, p->series);
	else
		json_null(j);
	json_end(j);
	return 0;
}

void page_processes(struct request *q)
{
	scoped(buf_done) struct buf rows = { 0 };
	struct json j = { .out = &q->out }, list = { .out = &rows };
	struct usage_totals totals = { 0 };
	bool on;

	pthread_rwlock_rdlock(&q->agent->config_lock);
	on = q->agent->usage && !q->agent->config->usage.off && q->agent->config->usage.processes;
	pthread_rwlock_unlock(&q->agent->config_lock);
	json_begin(&list, '[');
	if (on)
		usage_processes(q->agent->usage, &totals, put_process, &list);
	json_end(&list);
	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.processes.v1");
	json_member(&j, "reason", str, on ? NULL : "[usage] is not enabled in the configuration");
	json_member(&j, "time", i64, totals.time_ns / 1000000);
	json_member(&j, "every_ms", double, (double)totals.every_ns * 1e-6);
	json_member(&j, "total", u64, totals.n_processes);
	json_key(&j, "processes");
	json_raw(&j, buf_failed(&rows) ? "[]" : rows.bytes);
	json_end(&j);
	buf_putc(&q->out, '\n');
}
