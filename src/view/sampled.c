/*
 * sampled_view: opens the events of a plan in a sampler, puts the samples in order, and executes the steps of each. Values
 * that the kernel's program reads from memory (paths, arguments of programs, exit status) come from the process while it
 * exists, or from other events.
 */
#include "view/sampled.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "record/callchain_markers.h"
#include "view/fields.h"
#include "view/process_memory.h"
#include "view/start_table.h"
#include "view/tasks.h"

#include <tacho/sampler.h>

#define MAX_STARTS 65536

struct sampled_event {			/* by index in the sampler */
	uint32_t event, function;
};

struct sampled_view {
	struct view_plan *plan;
	struct tacho_sampler *sampler;
	struct view_tasks tasks;
	struct start_table starts;
	struct sum_table sums;
	struct stack_table stacks;
	struct { struct sampled_event *v; size_t n, cap; } events;
	struct view_start copy;		/* of the start that the current step took */
	struct tacho_scratch scratch;
	uint64_t lost[VIEW_LOST];
	size_t n_starts, max_sums;
	bool is_stopped;
	struct {
		struct view_record head;
		char texts[(VIEW_TEXTS + 1) * VIEW_TEXT];
	} record;
};

struct sampled_input {			/* what a step works on */
	struct sampled_view *v;
	const struct tacho_sample *sample;
	const uint8_t *data;
	size_t n_data;
	const struct view_start *start;
	struct view_task task;		/* the step's subject; a copy, because looking up another one may move it */
	uint32_t function;
	const struct sampled_calls *calls;
	int err;
};

static uint64_t read_field(const struct sampled_input *in, const struct view_operand *o)
{
	uint64_t v = 0;

	if (!o->size || o->size > 8 || (size_t)o->offset + o->size > in->n_data)
		return 0;
	memcpy(&v, in->data + o->offset, o->size);
	if (o->is_signed && o->size < 8)
		v = (uint64_t)((int64_t)(v << (64 - 8 * o->size)) >> (64 - 8 * o->size));
	return (o->constant ? v & o->constant : v) + (uint64_t)(int64_t)o->addend;
}

static uint64_t slot_of(const struct sampled_input *in, const struct view_operand *o)
{
	return in->start ? in->start->slots[o->slot % VIEW_SLOTS] : 0;
}

static struct view_task *known_task(const struct sampled_input *in)
{
	return view_tasks_get(&in->v->tasks, in->task.tid, in->task.pid);
}

/* As wait() has it: what the process or the thread passed to exit(), or the signal that ended it. The kernel delivers every
 * fatal signal as SIGKILL; which one it was is known from its sender. */
static uint64_t exit_code(const struct sampled_input *in)
{
	const struct view_start *s = start_table_find(&in->v->starts, (uint64_t[]){ in->task.pid, VIEW_EXIT_OF_PROCESS });
	const struct view_start *sent = start_table_find(&in->v->starts, (uint64_t[]){ in->task.pid, VIEW_SIGNAL_SENT });

	if (!s)
		s = start_table_find(&in->v->starts, (uint64_t[]){ in->task.tid, VIEW_EXIT_OF_THREAD });
	if (!s)
		return 0;
	return (s->slots[0] & 0xff) << 8 | (s->slots[1] == SIGKILL && sent ? sent->slots[1] : s->slots[1]);
}

static uint64_t task_value(const struct sampled_input *in, const struct view_operand *o)
{
	struct view_task *task = known_task(in);
	uint64_t start;

	if (!task)
		return 0;
	switch (o->source) {
	case VIEW_UID:
		return view_task_uid(&in->v->tasks, task);
	case VIEW_PPID:
		return view_task_parent(&in->v->tasks, task);
	case VIEW_AGE:
		start = view_task_start(&in->v->tasks, task);
		return start && start < in->sample->time ? in->sample->time - start : 0;
	default:
		return exit_code(in);
	}
}

/* The addresses of one space in the call chain. */
static int64_t stack_id(const struct sampled_input *in, enum tacho_space wanted)
{
	uint64_t ips[VIEW_STACK];
	enum tacho_space space = TACHO_SPACE_UNKNOWN;
	size_t n = 0;
	int id;

	for (size_t i = 0; i < in->sample->chain.n && n < VIEW_STACK; i++) {
		uint64_t ip = in->sample->chain.v[i];

		if (ip >= CONTEXT_FIRST)
			context_space(ip, &space);
		else if (space == wanted)
			ips[n++] = ip;
	}
	id = stack_table_put(&in->v->stacks, ips, n);
	in->v->lost[VIEW_LOST_STACKS] += id == -ENOMEM;
	return id;
}

static uint32_t file_mode(const struct sampled_input *in, int fd)
{
	uint32_t mode = process_file_mode(in->task.tid, fd);

	if (!mode && kill((pid_t)in->task.pid, 0) < 0 && errno == ESRCH)
		in->v->lost[VIEW_LOST_ENDED]++;
	return mode;
}

static uint64_t operand_value(const struct sampled_input *in, const struct view_operand *o)
{
	switch (o->source) {
	case VIEW_CONSTANT:
		return o->constant;
	case VIEW_FIELD:
		return read_field(in, o);
	case VIEW_TIME:
		return in->sample->time;
	case VIEW_DELTA:
		return in->start ? in->sample->time - in->start->time : 0;
	case VIEW_PID:
		return in->task.pid;
	case VIEW_TID:
		return in->task.tid;
	case VIEW_CPU:
		return in->sample->cpu;
	case VIEW_PERIOD:
		return in->sample->period;
	case VIEW_SLOT:
	case VIEW_SENT:
	case VIEW_RECEIVED:
		return slot_of(in, o);
	case VIEW_HAS_SLOTS:
		return in->start && in->start->comm[0];
	case VIEW_SLOT_PID:
		return in->start && in->start->comm[0] ? in->start->slots[0] : in->sample->pid;
	case VIEW_FUNCTION:
		return in->function;
	case VIEW_KERNEL_STACK:
		return (uint64_t)stack_id(in, TACHO_SPACE_KERNEL);
	case VIEW_USER_STACK:
		return (uint64_t)stack_id(in, TACHO_SPACE_USER);
	case VIEW_FILE_MODE:
		return file_mode(in, (int)slot_of(in, o)) & o->constant;
	case VIEW_UID:
	case VIEW_PPID:
	case VIEW_AGE:
	case VIEW_EXIT_CODE:
		return task_value(in, o);
	}
	return 0;
}

static size_t copy_text(const char *from, size_t n, char *to, size_t max)
{
	size_t length = strnlen(from, min_of(n, max - 1));

	memcpy(to, from, length);
	to[length] = '\0';
	return length + 1;
}

static size_t copy_field(const struct sampled_input *in, const struct view_operand *o, char *to, size_t max)
{
	uint32_t loc = 0;
	size_t from = o->offset, n = o->size;

	if (o->source == VIEW_FIELD_LOC) {
		if (from + sizeof(loc) > in->n_data)
			return 0;
		memcpy(&loc, in->data + from, sizeof(loc));
		from = loc & 0xffff;
		n = loc >> 16;
	}
	if (from > in->n_data || n > in->n_data - from)
		return 0;
	if (o->source != VIEW_FIELD_BYTES)
		return copy_text((const char *)in->data + from, n, to, max);
	n = min_of(n, max);
	memcpy(to, in->data + from, n);
	return n;
}

static const char *current_comm(const struct sampled_input *in)
{
	const struct view_task *task = view_tasks_get(&in->v->tasks, in->sample->tid, in->sample->pid);

	return task ? task->comm : "";
}

/* Of a program that has ended already, only the file is known. */
static size_t copy_argv(const struct sampled_input *in, char *to, size_t max)
{
	size_t n = process_argv(in->task.pid, to, max);
	struct view_field f;
	uint32_t event = 0;

	while (!n && event < in->v->plan->n_events && !in->v->plan->format[event])
		event++;
	if (!n && event < in->v->plan->n_events && view_field_find(in->v->plan, event, "filename", &f, NULL) == 0)
		n = copy_field(in, &(struct view_operand){ .source = VIEW_FIELD_LOC, .offset = f.offset }, to, max);
	return n;
}

static size_t copy_operand(const struct sampled_input *in, const struct view_operand *o, char *to, size_t max)
{
	switch (o->source) {
	case VIEW_COMM:
		return copy_text(in->task.comm, sizeof(in->task.comm), to, max);
	case VIEW_SLOT_COMM:
		if (in->start && in->start->comm[0])
			return copy_text(in->start->comm, sizeof(in->start->comm), to, max);
		return copy_text(current_comm(in), 16, to, max);
	case VIEW_CURRENT_COMM:
		return copy_text(current_comm(in), 16, to, max);
	case VIEW_USER_TEXT:
		return process_text(in->task.tid, slot_of(in, o), to, max);
	case VIEW_ARGV:
		return copy_argv(in, to, max);
	case VIEW_FILE_NAME:
		return process_file_name(in->task.tid, (int)slot_of(in, o), to, max);
	default:
		return copy_field(in, o, to, max);
	}
}

static void emit_record(struct sampled_input *in)
{
	const struct view_program *p = &in->v->plan->program;
	struct view_record *r = &in->v->record.head;
	size_t off = 0;

	for (size_t i = 0; i < p->n_row; i++) {
		const struct view_operand *o = &p->row[i];
		size_t n;

		if (!view_is_text(o->source)) {
			r->values[i] = operand_value(in, o);
			continue;
		}
		n = off <= VIEW_TEXTS * VIEW_TEXT ? copy_operand(in, o, in->v->record.texts + off, VIEW_TEXT) : 0;
		r->values[i] = n | off << 32;
		off += n;
	}
	r->cpu = in->sample->cpu;
	r->time = in->sample->time;
	r->size = (uint32_t)(sizeof(*r) + off);
	in->err = in->calls->record(in->calls->arg, r);
}

static void fill_key(const struct sampled_input *in, struct view_key *key)
{
	const struct view_program *p = &in->v->plan->program;
	size_t numbers = 0, texts = 0;

	memset(key, 0, sizeof(*key));
	key->stacks[0] = key->stacks[1] = key->stacks[2] = -1;
	for (size_t i = 0; i < p->n_row; i++) {
		const struct view_operand *o = &p->row[i];

		if (o->source == VIEW_KERNEL_STACK || o->source == VIEW_USER_STACK)
			key->stacks[o->source == VIEW_USER_STACK] = (int64_t)operand_value(in, o);
		else if (o->source >= VIEW_SLOT_KERNEL_STACK && o->source <= VIEW_SLOT_WAKER_STACK)
			key->stacks[o->source - VIEW_SLOT_KERNEL_STACK] = (int64_t)slot_of(in, o);
		else if (view_is_text(o->source) && texts < VIEW_KEY_TEXTS)
			copy_operand(in, o, key->texts[texts++], VIEW_KEY_TEXT);
		else if (!view_is_text(o->source) && numbers < VIEW_KEY_NUMBERS)
			key->numbers[numbers++] = operand_value(in, o);
	}
}

static uint32_t level_of(uint64_t v)
{
	return v < 2 ? 0 : 63 - (uint32_t)__builtin_clzll(v);
}

static void emit_sum(struct sampled_input *in)
{
	const struct view_program *p = &in->v->plan->program;
	struct view_key key;
	struct view_sum *sum;
	uint64_t weight;

	fill_key(in, &key);
	sum = sum_table_get(&in->v->sums, &key, in->v->max_sums);
	if (!sum) {
		in->v->lost[VIEW_LOST_SUMS]++;
		return;
	}
	if (!sum->count) {
		sum->first_ns = in->sample->time;
		sum->first_tid = in->task.tid;
	}
	weight = operand_value(in, &p->weight);
	sum->count++;
	sum->sum += weight;
	if (p->has_levels)
		sum->levels[level_of(p->unit > 1 ? weight / p->unit : weight)]++;
}

static bool passes(const struct sampled_input *in, const struct view_test *t)
{
	uint64_t left;

	if (!t->relation)
		return true;
	left = operand_value(in, &t->left);
	switch (t->relation) {
	case VIEW_EQ:
		return left == t->right;
	case VIEW_NE:
		return left != t->right;
	case VIEW_LT:
		return t->is_signed ? (int64_t)left < (int64_t)t->right : left < t->right;
	case VIEW_GE:
		return t->is_signed ? (int64_t)left >= (int64_t)t->right : left >= t->right;
	case VIEW_ONE_OF:
		return left < 64 && (t->right >> left & 1);
	}
	return false;
}

static bool passes_all(const struct sampled_input *in, const struct view_step *step, bool late)
{
	for (size_t i = 0; i < VIEW_TESTS; i++)
		if (step->tests[i].is_late == late && !passes(in, &step->tests[i]))
			return false;
	return true;
}

static bool is_wanted(const struct sampled_input *in)
{
	const struct view_program *p = &in->v->plan->program;
	struct view_tasks *tasks = &in->v->tasks;
	uint32_t followed = 0;

	if (in->task.pid == p->self)
		return false;
	if (p->has_processes && (!int_map_get(&tasks->followed, in->task.pid, &followed) || !followed))
		return false;
	if (p->has_user && view_task_uid(tasks, known_task(in)) != p->user)
		return false;
	return !p->has_cgroup || view_task_is_in_cgroup(tasks, known_task(in), in->sample->time);
}

static void fill_slots(const struct sampled_input *in, const struct view_step *step, struct view_start *start, bool add)
{
	for (size_t i = 0; i < VIEW_SLOTS; i++)
		if (step->slots[i].source)
			start->slots[i] = operand_value(in, &step->slots[i]) + (add ? start->slots[i] : 0);
	if (!add)
		snprintf(start->comm, sizeof(start->comm), "%.15s", step->writes & VIEW_SET_WAKER ? current_comm(in) : in->task.comm);
}

static void save(const struct sampled_input *in, const struct view_step *step, const uint64_t key[2])
{
	struct sampled_view *v = in->v;
	struct view_start *start = start_table_find(&v->starts, key);
	bool is_new = !start;

	if (is_new && (!(step->writes & VIEW_CREATE) || v->n_starts >= MAX_STARTS)) {
		v->lost[VIEW_LOST_STARTS] += v->n_starts >= MAX_STARTS;
		return;
	}
	if (is_new)
		start = start_table_add(&v->starts, key);
	if (!start) {
		v->lost[VIEW_LOST_STARTS]++;
		return;
	}
	v->n_starts += is_new;
	if (is_new || (step->writes & VIEW_SET_TIME))
		start->time = in->sample->time;
	if ((step->writes & (VIEW_SET_SLOTS | VIEW_ADD_SLOTS)) || (is_new && (step->writes & VIEW_NEW_SLOTS)))
		fill_slots(in, step, start, step->writes & VIEW_ADD_SLOTS);
}

static void emit(struct sampled_input *in)
{
	if (in->v->plan->program.is_summary)
		emit_sum(in);
	else
		emit_record(in);
}

static void take_start(struct sampled_input *in, const struct view_step *step, const uint64_t key[2])
{
	struct view_start *start = start_table_find(&in->v->starts, key);

	if (!start)
		return;
	in->v->copy = *start;
	in->start = &in->v->copy;
	start_table_remove(&in->v->starts, key);
	in->v->n_starts--;
	if (step->emits && in->sample->time - in->start->time >= in->v->plan->program.min_ns && passes_all(in, step, true))
		emit(in);
	in->start = NULL;
}

static void run_step(struct sampled_input *in, const struct view_step *step)
{
	uint64_t key[2];

	if (!passes_all(in, step, false) || (step->is_filtered && !is_wanted(in)))
		return;
	if (step->action == VIEW_HIT) {
		emit(in);
		return;
	}
	key[0] = operand_value(in, &step->key[0]);
	key[1] = operand_value(in, &step->key[1]);
	if (step->action == VIEW_SAVE)
		save(in, step, key);
	else
		take_start(in, step, key);
}

static bool is_called(const struct sampled_input *in, const struct view_step *step)
{
	uint64_t nr = 0;

	if (in->n_data < 16)
		return false;
	memcpy(&nr, in->data + 8, sizeof(nr));
	return nr < VIEW_CALLS && (step->calls[nr / 64] >> (nr & 63) & 1);
}

/* The subject of a step. */
static int find_task(struct sampled_input *in, const struct view_operand *tid)
{
	bool is_current = tid->source == VIEW_TID;
	uint32_t id = is_current ? in->sample->tid : (uint32_t)read_field(in, tid);
	const struct view_task *task = view_tasks_get(&in->v->tasks, id, is_current ? in->sample->pid : 0);

	if (!task)
		return -ENOMEM;
	in->task = *task;
	return 0;
}

static int run_event(struct sampled_input *in, uint32_t event)
{
	const struct view_event *ev = &in->v->plan->program.events[event];

	for (uint32_t i = 0; in->err == 0 && i < ev->n_steps; i++) {
		const struct view_step *step = &ev->steps[i];

		if (step->has_calls && !is_called(in, step))
			continue;
		in->err = find_task(in, &in->v->plan->tids[event][i]);
		if (in->err == 0)
			run_step(in, step);
	}
	return in->err;
}

static int on_sample(struct sampled_view *v, const struct tacho_live_record *rec, const struct sampled_calls *calls)
{
	uint8_t registers[VIEW_REGISTER_BYTES];
	struct sampled_input in = { .v = v, .sample = rec->sample, .data = rec->sample->raw, .n_data = rec->sample->n_raw,
				    .calls = calls };
	const struct sampled_event *ev;

	if (rec->event >= v->events.n)
		return 0;
	ev = &v->events.v[rec->event];
	in.function = ev->function;
	if (view_event_is_function(v->plan->events[ev->event]) && !v->plan->format[ev->event]) {
		view_registers_fill(registers, rec->sample->regs_user.mask, rec->sample->regs_user.values.v,
				    rec->sample->regs_user.values.n);
		in.data = registers;
		in.n_data = sizeof(registers);
	}
	return run_event(&in, ev->event);
}

static int on_sideband(struct sampled_view *v, const struct tacho_live_record *rec, const struct sampled_calls *calls)
{
	struct tacho_sideband s;
	int err;

	v->scratch.used = 0;
	if (tacho_sideband_decode(&s, rec->record, rec->layout, &v->scratch) < 0)
		return 0;
	if (s.type == TACHO_RECORD_LOST)
		v->lost[VIEW_LOST_RECORDS] += s.lost.lost;
	err = view_tasks_feed(&v->tasks, &s);
	return err == 0 && calls->sideband ? calls->sideband(calls->arg, rec->record, &s) : err;
}

int sampled_view_drain(struct sampled_view *v, bool last, const struct sampled_calls *calls)
{
	const struct tacho_live_record *rec;
	uint64_t start = clock_mono_ns();
	int err = 0, got;

	if (last && !v->is_stopped) {
		v->is_stopped = true;
		err = tacho_sampler_stop(v->sampler);
	}
	while (err == 0 && (got = tacho_sampler_next(v->sampler, &rec, 0)) != 0) {
		if (got < 0)
			return got == -ESRCH ? 0 : got;
		err = rec->sample ? on_sample(v, rec, calls) : on_sideband(v, rec, calls);
		/* What happens meanwhile may be as much as can be read. */
		if (!last && rec->sample && rec->sample->time > start)
			break;
	}
	return err;
}

static int map_event(struct sampled_view *v, uint32_t event, uint32_t function)
{
	struct sampled_event *one = vec_next(&v->events);

	if (!one)
		return -ENOMEM;
	*one = (struct sampled_event){ event, function };
	return 0;
}

/* "id==0||id==1" if the steps of an event want few calls; more than fit into a filter are selected when they are read. */
static void put_calls(const struct view_event *ev, struct buf *out)
{
	uint64_t calls[VIEW_CALLS / 64] = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < ev->n_steps; i++) {
		if (!ev->steps[i].has_calls)
			return;
		for (size_t k = 0; k < countof(calls); k++)
			calls[k] |= ev->steps[i].calls[k];
	}
	for (size_t k = 0; k < countof(calls); k++)
		n += (size_t)__builtin_popcountll(calls[k]);
	for (unsigned nr = 0; n <= 60 && nr < VIEW_CALLS; nr++)
		if (calls[nr / 64] >> (nr & 63) & 1)
			buf_printf(out, "%sid==%u", out->n ? "||" : "(", nr);
	if (out->n)
		buf_putc(out, ')');
}

/* System calls of this process would make it busy with itself. */
static void put_filter(const struct sampled_view *v, uint32_t event, struct buf *out)
{
	if (strncmp(v->plan->events[event], "raw_syscalls:", 13) != 0)
		return;
	put_calls(&v->plan->program.events[event], out);
	buf_printf(out, "%scommon_pid!=%d", out->n ? "&&" : "", (int)getpid());
}

static int add_tracepoint(struct sampled_view *v, uint32_t event, struct tacho_error *e)
{
	scoped(buf_done) struct buf filter = { 0 };
	size_t first = tacho_sampler_size(v->sampler);
	int err = tacho_sampler_add(v->sampler, v->plan->events[event], e);

	put_filter(v, event, &filter);
	if (err >= 0 && buf_failed(&filter))
		err = error_nomem(e);
	if (err >= 0 && filter.n)
		err = tacho_sampler_set_filter(v->sampler, first, 1, filter.bytes, e);
	return err < 0 ? err : map_event(v, event, 0);
}

static int add_functions(struct sampled_view *v, uint32_t event, const struct view_functions *f, struct tacho_error *e)
{
	const struct strlist *specs = !strcmp(v->plan->events[event], VIEW_RETURN) ? &f->return_specs : &f->call_specs;
	size_t first = tacho_sampler_size(v->sampler);
	int err = 0;

	for (size_t i = 0; err >= 0 && i < specs->n; i++)
		err = tacho_sampler_add(v->sampler, specs->v[i], e);
	for (size_t i = first; err >= 0 && i < tacho_sampler_size(v->sampler); i++)
		err = map_event(v, event, i - first < f->places.n ? f->places.v[i - first].function : 0);
	return min_of(err, 0);
}

/* The rate of a view of samples; others take each event. */
static void set_rate(const struct sampled_view *v, struct tacho_sampler_opts *o)
{
	o->period = 0;
	o->freq = v->plan->opts.freq;
	o->fields |= TACHO_FIELD_PERIOD;
}

static int add_event(struct sampled_view *v, uint32_t event, const struct view_functions *f, struct tacho_error *e)
{
	const char *name = v->plan->events[event];
	int err;

	if (view_event_is_function(name))
		return add_functions(v, event, f, e);
	if (strcmp(name, VIEW_SAMPLE) != 0)
		return add_tracepoint(v, event, e);
	err = tacho_sampler_add(v->sampler, v->plan->opts.event, e);
	for (int i = 0; err > 0 && i < err; i++)
		if (map_event(v, event, 0) < 0)
			return error_nomem(e);
	return err;
}

static int open_sampler(struct sampled_view *v, const struct view_functions *f, struct tacho_error *e)
{
	const struct view_def *def = v->plan->def;
	struct tacho_sampler_opts o = { .size = sizeof(o), .period = 1, .fields = TACHO_FIELD_RAW | TACHO_FIELD_CPU,
		.use_clockid = true, .clockid = CLOCK_MONOTONIC, .no_bpf = true, .no_build_ids = true,
		.target = TACHO_OPTS(tacho_evset_opts, .all_cpus = true), .no_buffering = def->wakes_for_each };
	int err = 0;

	for (uint32_t i = 0; err >= 0 && i < v->plan->n_events; i++)
		if (v->plan->program.events[i].n_steps)
			err = add_event(v, i, f, e);
	if (err < 0)
		return err;
	if (def->info.has_stacks)
		o.chain = TACHO_CHAIN_FP;
	if (!strcmp(v->plan->events[0], VIEW_SAMPLE))
		set_rate(v, &o);
	if (f && f->has_probes)
		o.regs_user = view_sampled_registers();
	err = tacho_sampler_open(v->sampler, &o, e);
	return err < 0 ? err : tacho_sampler_start(v->sampler);
}

int sampled_view_open(struct sampled_view **out, struct tacho *t, struct view_plan *plan, const struct view_functions *functions,
		      struct tacho_error *e)
{
	struct sampled_view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return error_nomem(e);
	v->plan = plan;
	v->max_sums = plan->opts.max_rows;
	err = view_tasks_init(&v->tasks) < 0 || tacho_sampler_new(&v->sampler, t) < 0 ? error_nomem(e) : 0;
	v->tasks.follows = plan->program.follows;
	if (err == 0 && plan->opts.cgroup) {
		v->tasks.cgroup = str_dup(str_of(plan->opts.cgroup));
		err = v->tasks.cgroup ? 0 : error_nomem(e);
	}
	if (err == 0)
		err = open_sampler(v, functions, e);
	if (err < 0) {
		sampled_view_close(v);
		return err;
	}
	*out = v;
	return 0;
}

void sampled_view_close(struct sampled_view *v)
{
	if (!v)
		return;
	tacho_sampler_free(v->sampler);
	view_tasks_done(&v->tasks);
	start_table_done(&v->starts);
	sum_table_done(&v->sums);
	stack_table_done(&v->stacks);
	vec_done(&v->events);
	free(v);
}

int sampled_view_add_process(struct sampled_view *v, uint32_t pid)
{
	return int_map_put(&v->tasks.followed, pid, 1);
}

int sampled_view_fd(const struct sampled_view *v)
{
	return tacho_sampler_fd(v->sampler);
}

const struct sum_table *sampled_view_sums(const struct sampled_view *v)
{
	return &v->sums;
}

const struct stack_table *sampled_view_stacks(const struct sampled_view *v)
{
	return &v->stacks;
}

struct tacho_sampler *sampled_view_sampler(const struct sampled_view *v)
{
	return v->sampler;
}

void sampled_view_lost(const struct sampled_view *v, uint64_t lost[VIEW_LOST])
{
	memcpy(lost, v->lost, sizeof(v->lost));
}
