/*
 * Reads what was traced: the kernel's text, or pages of binary records, which cost the kernel a fraction of the time.
 */
#include "ftrace/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/num.h"

#define PAGE_MAX (1u << 20)		/* of a sub-buffer, which may be larger than a page */
#define DRAIN_MAX_NS 50000000		/* per CPU and call */
#define ORDER_MARGIN_NS 20000000	/* an event that has begun is readable after that time */
#define COMMON_FIELDS 8			/* u16 type, flags, preempt count, int pid */

static int open_text(struct tacho_ftrace *f)
{
	char path[PATH_MAX];
	int err = setting_path(f->dir, "trace", path);

	if (err == 0)
		err = io_read(path, 1u << 20, &f->header);
	if (err == 0)
		err = setting_path(f->dir, "trace_pipe", path);
	if (err < 0)
		return err;
	f->text_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return f->text_fd < 0 ? -errno : 0;
}

ssize_t tacho_ftrace_read_text(struct tacho_ftrace *f, char *out, size_t room)
{
	int err = f->text_fd < 0 ? open_text(f) : 0;
	size_t n;
	ssize_t got;

	if (err < 0)
		return err;
	if (f->header_at < f->header.n) {
		n = min_of(room, f->header.n - f->header_at);
		memcpy(out, f->header.bytes + f->header_at, n);
		f->header_at += n;
		return (ssize_t)n;
	}
	got = read(f->text_fd, out, room);
	return got < 0 ? errno == EAGAIN || errno == EINTR ? 0 : -errno : got;
}

int tacho_ftrace_fd(const struct tacho_ftrace *f)
{
	return f->text_fd;
}

static int read_layout(struct tacho_ftrace *f)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	int err = setting_path(f->root, "events/header_page", path);

	if (err == 0)
		err = io_read(path, 1u << 16, &text);
	return err < 0 ? err : trace_page_layout_parse(&f->layout, buf_view(&text));
}

/* "cpu3" */
static int open_cpu(struct tacho_ftrace *f, const char *name)
{
	struct cpu_buffer *b = &f->buffers[f->n_buffers];
	char path[PATH_MAX], file[64];
	int err;

	if (strncmp(name, "cpu", 3) != 0 || num_u32(str_of(name + 3), &b->cpu) < 0)
		return 0;
	snprintf(file, sizeof(file), "per_cpu/%s/trace_pipe_raw", name);
	err = setting_path(f->dir, file, path);
	if (err < 0)
		return err;
	b->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (b->fd < 0)
		return -errno;
	f->n_buffers++;
	return 0;
}

static int open_cpus(struct tacho_ftrace *f, const struct strlist *cpus)
{
	int err = 0;

	f->buffers = calloc(max_of(cpus->n, (size_t)1), sizeof(*f->buffers));
	if (!f->buffers)
		return -ENOMEM;
	for (size_t i = 0; err == 0 && i < cpus->n; i++)
		err = open_cpu(f, cpus->v[i]);
	return err;
}

static int open_raw(struct tacho_ftrace *f)
{
	struct strlist cpus = { 0 };
	char path[PATH_MAX];
	int err = read_layout(f);

	if (err == 0 && f->opts.tracer && !f->call_id)
		err = events_find_calls(f, NULL);
	if (err == 0)
		err = setting_path(f->dir, "per_cpu", path);
	if (err == 0) {
		f->page = malloc(PAGE_MAX);
		err = f->page ? sys_list_dir(path, &cpus) : -ENOMEM;
	}
	if (err == 0)
		err = open_cpus(f, &cpus);
	strlist_done(&cpus);
	return err;
}

static uint64_t read_field(const struct call_field *field, const struct trace_page_event *ev)
{
	uint64_t v = 0;
	uint32_t narrow;

	if (field->size == 4) {
		memcpy(&narrow, ev->data + field->offset, sizeof(narrow));
		return narrow;
	}
	memcpy(&v, ev->data + field->offset, sizeof(v));
	return v;
}

static bool has_field(const struct call_field *field, size_t n)
{
	return (field->size == 4 || field->size == 8) && field->offset <= n && field->size <= n - field->offset;
}

static int deliver_call(const struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, uint32_t cpu, uint32_t tid,
			const struct trace_page_event *ev)
{
	struct tacho_ftrace_call call = { .tid = tid, .cpu = cpu };
	uint64_t from, to;

	if (!v->call || !has_field(&f->func, ev->n) || !has_field(&f->call_time, ev->n) || !has_field(&f->return_time, ev->n))
		return 0;
	from = read_field(&f->call_time, ev);
	to = read_field(&f->return_time, ev);
	call.address = read_field(&f->func, ev);
	call.duration_ns = to > from ? to - from : 0;
	return v->call(v->arg, &call);
}

static int take_event(struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, uint32_t cpu, const struct trace_page_event *ev)
{
	struct tacho_ftrace_event *p;
	uint16_t type;
	uint32_t tid;

	if (ev->n < COMMON_FIELDS)
		return 0;
	memcpy(&type, ev->data, sizeof(type));
	memcpy(&tid, ev->data + 4, sizeof(tid));
	if (f->call_id && type == f->call_id)
		return deliver_call(f, v, cpu, tid, ev);
	/* The same tracepoint may be given twice. */
	for (size_t i = 0; i < f->opts.events.n; i++) {
		if (f->event_ids[i] != type)
			continue;
		p = vec_next(&f->pending);
		if (!p)
			return -ENOMEM;
		*p = (struct tacho_ftrace_event){ .time_ns = ev->time, .index = (uint32_t)i, .tid = tid, .cpu = cpu };
	}
	return 0;
}

static int take_page(struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, uint32_t cpu, size_t n)
{
	struct trace_page_event ev;
	struct trace_page page;
	int err = trace_page_begin(&page, &f->layout, f->page, n), more = 0;

	if (err < 0)
		return err;
	f->lost += page.lost == UINT64_MAX ? 1 : page.lost;
	while (err == 0 && (more = trace_page_next(&page, &ev)) > 0)
		err = take_event(f, v, cpu, &ev);
	return err ? err : more;
}

/* Until `deadline`, because tasks may be traced faster than their calls can be read. */
static int drain_cpu(struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, const struct cpu_buffer *b, uint64_t deadline)
{
	int err = 0;

	while (err == 0 && clock_mono_ns() < deadline) {
		ssize_t n = read(b->fd, f->page, PAGE_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno != EAGAIN ? -errno : 0;
		err = take_page(f, v, b->cpu, (size_t)n);
	}
	return err;
}

/* If a tracepoint was given twice, an event is the end of an interval before it is the start of the next. */
static int by_time(const void *a, const void *b)
{
	const struct tacho_ftrace_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->index > y->index ? -1 : x->index < y->index;
}

static int deliver_until(struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, uint64_t end)
{
	size_t n = 0;
	int err = 0;

	if (f->pending.n)
		qsort(f->pending.v, f->pending.n, sizeof(*f->pending.v), by_time);
	for (; err == 0 && n < f->pending.n && f->pending.v[n].time_ns < end; n++)
		if (v->event)
			err = v->event(v->arg, &f->pending.v[n]);
	if (n)
		memmove(f->pending.v, f->pending.v + n, (f->pending.n - n) * sizeof(*f->pending.v));
	f->pending.n -= n;
	return err;
}

int tacho_ftrace_drain(struct tacho_ftrace *f, const struct tacho_ftrace_visitor *v, bool is_end)
{
	uint64_t now = clock_mono_ns();
	int err = f->buffers ? 0 : open_raw(f);

	for (size_t i = 0; err == 0 && i < f->n_buffers; i++)
		err = drain_cpu(f, v, &f->buffers[i], is_end ? UINT64_MAX : clock_mono_ns() + DRAIN_MAX_NS);
	if (err == 0)
		err = deliver_until(f, v, is_end ? UINT64_MAX : now - ORDER_MARGIN_NS);
	return err;
}

uint64_t tacho_ftrace_lost(const struct tacho_ftrace *f)
{
	return f->lost;
}
