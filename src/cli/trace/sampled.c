/*
 * Events from perf's ring buffers: tracepoints of -e, page faults (-F), and system calls where BPF programs cannot be
 * loaded or a recording is read. The rings of different CPUs are put in the order of time by a queue: what is older than
 * the previous round of reading is complete.
 */
#include "cli/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/num.h"
#include "cli/core/target_args.h"
#include "record/perf_abi.h"

#define SIDEBAND (-2)
#define OF_TRACER (-1)
#define RAW_ID 8			/* raw_syscalls: a long after the common fields, then arguments or the result */
#define RAW_VALUES 16

static int add_event(struct trace *t, const char *spec, const char *filter, struct tacho_error *e)
{
	size_t first = tacho_sampler_size(t->sampler);
	int n = tacho_sampler_add(t->sampler, spec, e);

	if (n < 0 || !filter)
		return min_of(n, 0);
	return tacho_sampler_set_filter(t->sampler, first, (size_t)n, filter, e);
}

/* "id==1||id==2" for a few calls; more than fit into a filter are selected when they are read. */
static void call_filter(const struct trace *t, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < countof(t->want.calls); i++)
		n += (size_t)__builtin_popcountll(t->want.calls[i]);
	if (n > 60)
		return;
	for (uint32_t nr = 0; nr < TACHO_SYSCALL_MAX; nr++)
		if (t->want.calls[nr / 64] >> (nr & 63) & 1)
			buf_printf(out, "%sid==%u", out->n ? "||" : "", nr);
}

static int add_calls(struct trace *t, struct tacho_error *e)
{
	scoped(buf_done) struct buf filter = { 0 };
	int err;

	call_filter(t, &filter);
	err = add_event(t, "raw_syscalls:sys_enter", filter.n ? filter.bytes : NULL, e);
	return err < 0 || t->tracer ? err : add_event(t, "raw_syscalls:sys_exit", filter.n ? filter.bytes : NULL, e);
}

static int add_events(struct trace *t, bool with_calls, struct tacho_error *e)
{
	const char *faults = t->o->pagefaults;
	int err = with_calls ? add_calls(t, e) : 0;

	for (size_t i = 0; err == 0 && i < t->want.tracepoints.n; i++)
		err = add_event(t, t->want.tracepoints.v[i], i < t->o->filters.n ? t->o->filters.v[i] : NULL, e);
	if (err == 0 && faults && strcmp(faults, "min") != 0)
		err = add_event(t, "major-faults", NULL, e);
	if (err == 0 && faults && strcmp(faults, "maj") != 0)
		err = add_event(t, "minor-faults", NULL, e);
	return err;
}

static void classify(struct trace_sampled_event *ev, uint32_t type, bool has_tracer)
{
	static const struct { const char *name; int kind; } kinds[] = {
		{ "raw_syscalls:sys_enter", TRACE_ENTRY }, { "raw_syscalls:sys_exit", TRACE_EXIT },
		{ "minor-faults", TRACE_FAULT_MIN }, { "major-faults", TRACE_FAULT_MAJ },
	};

	ev->kind = type == PERF_TYPE_TRACEPOINT ? TRACE_TRACEPOINT : TRACE_OTHER;
	for (size_t i = 0; i < countof(kinds); i++)
		if (!strncmp(ev->name, kinds[i].name, strlen(kinds[i].name)))
			ev->kind = kinds[i].kind;
	if (ev->kind == TRACE_ENTRY && has_tracer)
		ev->kind = TRACE_CHAIN;
}

static int find_formats(struct trace *t, struct tacho_error *e)
{
	const char **names = calloc(t->n_events + 1, sizeof(*names));
	size_t n = 0;
	int err = names ? 0 : -ENOMEM;

	for (size_t i = 0; names && i < t->n_events; i++)
		if (t->events[i].kind == TRACE_TRACEPOINT)
			names[n++] = t->events[i].name;
	if (err == 0 && n)
		err = tacho_trace_new_here(&t->formats, NULL, names, n, e);
	free(names);
	return err;
}

static int learn_events(struct trace *t, struct tacho_error *e)
{
	int err;

	t->n_events = tacho_sampler_size(t->sampler);
	t->events = calloc(t->n_events, sizeof(*t->events));
	t->scratch = calloc(1, sizeof(*t->scratch));
	if (!t->events || !t->scratch)
		return error_nomem(e);
	for (size_t i = 0; i < t->n_events; i++) {
		struct trace_sampled_event *ev = &t->events[i];
		uint32_t attr[64] = { 0 };
		const char *why = NULL;

		ev->name = tacho_sampler_event(t->sampler, i)->name;
		err = tacho_sampler_attr(t->sampler, i, attr, sizeof(attr), &why);
		if (err < 0)
			return error_set(e, err, "%s: %s", ev->name, why ? why : "cannot be sampled");
		classify(ev, attr[0], t->tracer);
		tacho_layout_init(&ev->layout, attr, sizeof(attr));
	}
	err = find_formats(t, e);
	for (size_t i = 0; err == 0 && t->formats && i < t->n_events; i++) {
		uint64_t attr[32] = { 0 };

		tacho_sampler_attr(t->sampler, i, attr, sizeof(attr), NULL);
		if (t->events[i].kind == TRACE_TRACEPOINT)
			t->events[i].format = tacho_trace_find(t->formats, attr[1]);
	}
	return err;
}

int trace_sampler_open(struct trace *t, bool with_calls, struct tacho_error *e)
{
	const struct trace_opts *o = t->o;
	struct tacho_evset_opts target = { .size = sizeof(target), .no_inherit = o->no_inherit };
	struct tacho_sampler_opts opts = { .size = sizeof(opts), .target = &target, .period = 1, .fields = TACHO_FIELD_RAW | TACHO_FIELD_CPU,
		.use_clockid = true, .clockid = CLOCK_MONOTONIC, .no_bpf = true, .no_build_ids = true };
	int err = tacho_open(&t->lib, NULL, e), *ids = NULL;
	size_t n_ids = 0;

	if (err == 0)
		err = tacho_sampler_new(&t->sampler, t->lib);
	if (err == 0)
		err = add_events(t, with_calls, e);
	if (err < 0)
		return err;
	if (o->pagefaults)
		opts.fields |= TACHO_FIELD_ADDR;
	opts.ring_pages = o->ring_pages;
	if (o->call_graph) {
		err = trace_chains_plan(t, &opts);
		if (err == 0)
			err = trace_chains_open(t, e);
		if (err < 0)
			return err;
	}
	target.all_cpus = o->all_cpus || (!o->pid && !o->tid && !t->command_pid && !o->user);
	if (o->cpus)
		target.cpus = o->cpus;
	if (o->pid || o->tid) {
		err = target_ids("trace", o->pid ? "-p" : "-t", o->pid ? o->pid : o->tid, &ids, &n_ids);
		if (o->pid) {
			target.pids = ids;
			target.n_pids = n_ids;
		} else {
			target.tids = ids;
			target.n_tids = n_ids;
		}
	}
	if (err == 0 && o->user) {
		err = target_user("trace", o->user, &target.uid);
		target.by_uid = true;
	}
	if (err < 0) {
		free(ids);
		return err;
	}
	if (!target.all_cpus && t->command_pid) {
		target.pids = &t->command_pid;
		target.n_pids = 1;
		target.enable_on_exec = true;
	}
	err = tacho_sampler_open(t->sampler, &opts, e);
	free(ids);
	return err < 0 ? err : learn_events(t, e);
}

void trace_sampler_close(struct trace *t)
{
	vec_done(&t->queue);
	buf_done(&t->queue.bytes);
	free(t->events);
	free(t->scratch);
	trace_chains_close(t);
	tacho_trace_free(t->formats);
	tacho_sampler_free(t->sampler);
	tacho_close(t->lib);
	t->events = NULL;
	t->sampler = NULL;
}

/* `head` and `body` are stored one after the other. */
static int enqueue(struct trace *t, uint64_t time_ns, int event, struct str head, struct str body)
{
	struct trace_queued *q = vec_next(&t->queue);

	if (!q)
		return -ENOMEM;
	buf_pad(&t->queue.bytes, '\0', -t->queue.bytes.n & 7);
	*q = (struct trace_queued){ time_ns, t->queue.bytes.n, head.n + body.n, event, (uint32_t)t->queue.n };
	buf_str(&t->queue.bytes, head);
	buf_str(&t->queue.bytes, body);
	return buf_failed(&t->queue.bytes) ? -ENOMEM : 0;
}

int trace_queue_event(void *trace, const struct tacho_syscall_event *ev)
{
	return enqueue(trace, ev->time_ns, OF_TRACER, str_n((const char *)ev, sizeof(*ev)), str_n(ev->parts, ev->n_parts));
}

static int event_of(struct trace *t, uint64_t id)
{
	for (size_t i = 0; i < t->n_events; i++) {
		const uint64_t *ids;
		size_t n;

		if (tacho_sampler_ids(t->sampler, i, &ids, &n) < 0)
			continue;
		for (size_t k = 0; k < n; k++)
			if (ids[k] == id)
				return (int)i;
	}
	return -1;
}

static int on_bytes(void *arg, const void *bytes, size_t n)
{
	struct trace *t = arg;
	struct tacho_record_iter it = { .at = bytes, .end = (const uint8_t *)bytes + n };
	struct tacho_record rec;
	int err = 0;

	while (err == 0 && tacho_record_next(&it, &rec) > 0) {
		const struct tacho_layout *lay = &t->events[0].layout;
		int event = rec.type == TACHO_RECORD_SAMPLE ? event_of(t, tacho_record_id(&rec, lay)) : SIDEBAND;

		if (event == -1)
			continue;
		err = enqueue(t, tacho_record_time(&rec, event >= 0 ? &t->events[event].layout : lay), event,
			      str_n((const char *)rec.bytes, rec.size), (struct str){ 0 });
	}
	return err;
}

int trace_sampler_drain(struct trace *t)
{
	int64_t n = tacho_sampler_drain(t->sampler, on_bytes, t);

	return (int)min_of(n, (int64_t)0);
}

static int compare_queued(const void *a, const void *b)
{
	const struct trace_queued *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int handle_queued(struct trace *t, const struct trace_queued *q)
{
	const char *bytes = t->queue.bytes.bytes + q->at;
	struct tacho_record_iter it = { .at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + q->n };
	struct tacho_syscall_event ev;
	struct tacho_record rec;

	if (q->event == OF_TRACER) {
		memcpy(&ev, bytes, sizeof(ev));
		ev.parts = bytes + sizeof(ev);
		return trace_on_event(t, &ev);
	}
	if (tacho_record_next(&it, &rec) <= 0)
		return 0;
	if (q->event == SIDEBAND)
		return trace_handle_sideband(t, &t->events[0].layout, &rec);
	return trace_handle_sample(t, &t->events[q->event], &rec);
}

int trace_queue_flush(struct trace *t, uint64_t before_ns)
{
	struct trace_queue *q = &t->queue;
	struct buf rest = { 0 };
	size_t done = 0, kept;
	int err = 0;

	if (q->n)
		qsort(q->v, q->n, sizeof(*q->v), compare_queued);
	for (; err == 0 && done < q->n && q->v[done].time_ns < before_ns; done++)
		err = handle_queued(t, &q->v[done]);
	kept = q->n - done;
	for (size_t i = 0; i < kept; i++) {
		q->v[i] = q->v[done + i];
		buf_pad(&rest, '\0', -rest.n & 7);
		buf_put(&rest, q->bytes.bytes + q->v[i].at, q->v[i].n);
		q->v[i].at = rest.n - q->v[i].n;
		q->v[i].order = (uint32_t)i;
	}
	q->n = kept;
	buf_done(&q->bytes);
	q->bytes = rest;
	return err ? err : buf_failed(&rest) ? -ENOMEM : 0;
}

static int handle_call(struct trace *t, const struct tacho_sample *s, bool entry)
{
	struct tacho_syscall_event ev = { .size = sizeof(ev), .type = entry ? TACHO_SYSCALL_ENTRY : TACHO_SYSCALL_EXIT,
		.cpu = s->cpu, .pid = s->pid, .tid = s->tid, .time_ns = s->time };
	size_t n = entry ? sizeof(ev.v) : sizeof(ev.v[0]);
	int64_t nr;

	if (!s->raw || s->n_raw < RAW_VALUES + n)
		return 0;
	memcpy(&nr, s->raw + RAW_ID, sizeof(nr));
	memcpy(ev.v, s->raw + RAW_VALUES, n);
	ev.nr = (uint32_t)nr;
	return trace_on_event(t, &ev);
}

/* "(name: value, ...)" without the common fields; fields that are zero are left out, as in perf. */
static void put_fields(struct trace *t, const struct trace_sampled_event *ev, const struct tacho_sample *s, struct buf *out)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts) };
	bool first = true, live = !t->o->input;	/* a recording may be of another kernel */

	buf_putc(out, '(');
	for (size_t i = 0; ev->format && i < tacho_trace_n_fields(ev->format); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev->format, i);
		const char *name;
		char text[512];
		int64_t value;

		if (!strncmp(f->name, "common_", 7) || !strcmp(f->name, "__syscall_nr") ||
		    tacho_trace_print_field(ev->format, i, s->raw, s->n_raw, &opts, text, sizeof(text)) < 0)
			continue;
		if (!t->o->show_zeros && (!strcmp(text, "0") || !strcmp(text, "0x0")) && strncmp(f->type, "enum", 4) != 0)
			continue;
		buf_printf(out, "%s%s: ", first ? "" : ", ", f->name);
		name = live && !strncmp(f->type, "enum ", 5) && num_i64(str_of(text), &value) == 0 ?
			tacho_kernel_enum_name(f->type + 5, value) : NULL;
		buf_text(out, str_of(name ? name : text));
		first = false;
	}
	buf_putc(out, ')');
}

static void handle_fault(struct trace *t, struct trace_thread *th, const struct trace_sampled_event *ev,
			 const struct tacho_sample *s)
{
	char text[100];

	snprintf(text, sizeof(text), " [%#llx] => %#llx", (unsigned long long)s->ip, (unsigned long long)s->addr);
	t->writer->event(t, th, s->time, ev->kind == TRACE_FAULT_MAJ ? "majfault" : "minfault", text);
}

int trace_handle_sample(struct trace *t, const struct trace_sampled_event *ev, const struct tacho_record *rec)
{
	scoped(buf_done) struct buf text = { 0 };
	struct trace_thread *th;
	struct tacho_sample s;

	t->scratch->used = 0;
	if (t->stop || tacho_sample_decode(&s, rec, &ev->layout, t->scratch) < 0)
		return 0;
	if (t->unwinder && ev->kind != TRACE_EXIT) {
		th = trace_thread_get(t, (int)s.pid, (int)s.tid);
		if (!th || trace_chain_store(t, th, &s) < 0)
			return -ENOMEM;
	}
	if (ev->kind == TRACE_CHAIN)
		return 0;
	if (ev->kind == TRACE_ENTRY || ev->kind == TRACE_EXIT)
		return handle_call(t, &s, ev->kind == TRACE_ENTRY);
	th = trace_thread_get(t, (int)s.pid, (int)s.tid);
	if (!th)
		return -ENOMEM;
	if (!t->base_ns)	/* the first call, if the event is within it */
		t->base_ns = th->in_call ? th->entry_ns : s.time;
	if (!t->writer->event || t->o->summary)
		return 0;
	if (ev->kind == TRACE_FAULT_MIN || ev->kind == TRACE_FAULT_MAJ) {
		handle_fault(t, th, ev, &s);
	} else {
		put_fields(t, ev, &s, &text);
		t->writer->event(t, th, s.time, ev->name, buf_failed(&text) ? "" : text.bytes);
	}
	if (t->out.n > 60000)
		trace_flush(t);
	return buf_failed(&text) ? -ENOMEM : 0;
}

int trace_handle_sideband(struct trace *t, const struct tacho_layout *lay, const struct tacho_record *rec)
{
	struct tacho_syscall_event ev = { .size = sizeof(ev) };
	struct trace_thread *th;
	struct tacho_sideband s;

	t->scratch->used = 0;
	if (tacho_sideband_decode(&s, rec, lay, t->scratch) < 0)
		return 0;
	trace_chain_feed(t, &s);
	if (t->tracer && rec->type != TACHO_RECORD_LOST)
		return 0;		/* the tracer has these events too */
	ev.time_ns = s.id.time;
	switch (rec->type) {
	case TACHO_RECORD_COMM:
		th = trace_thread_get(t, (int)s.comm.pid, (int)s.comm.tid);
		if (th)
			snprintf(th->comm, sizeof(th->comm), "%s", s.comm.name);
		return th ? 0 : -ENOMEM;
	case TACHO_RECORD_FORK:
		ev.type = TACHO_SYSCALL_FORK;
		ev.pid = s.task.ppid;
		ev.tid = s.task.ptid;
		ev.v[0] = s.task.pid;
		ev.v[1] = s.task.tid;
		return trace_on_event(t, &ev);
	case TACHO_RECORD_EXIT:
		ev.type = TACHO_SYSCALL_TASK_EXIT;
		ev.pid = s.task.pid;
		ev.tid = s.task.tid;
		return trace_on_event(t, &ev);
	case TACHO_RECORD_LOST:
		t->sampler_lost += s.lost.lost;
		return 0;
	}
	return 0;
}
