/*
 * The text of the kernel's trace file, which trace viewers read: every tracepoint of the recording, as the kernel prints it.
 *
 *	          <idle>-0       [000] d..2. 12638.938198: sched_switch: prev_comm=swapper/0 prev_pid=0 ...
 */
#include "cli/sched/export.h"

#include <errno.h>
#include <inttypes.h>

#include <tacho/trace.h>

#define LINE_BYTES 4096u

enum { FLAG_IRQS_OFF = 0x01, FLAG_NEED_RESCHED_LAZY = 0x02, FLAG_NEED_RESCHED = 0x04, FLAG_HARDIRQ = 0x08, FLAG_SOFTIRQ = 0x10,
       FLAG_PREEMPT_RESCHED = 0x20, FLAG_NMI = 0x40 };

static int begin(struct sched_export *x)
{
	struct tacho_cpu_counts n = { 0 };

	tacho_perfdata_cpu_counts(x->pd, &n);
	buf_printf(&x->out.text,
		   "# tracer: nop\n"
		   "#\n"
		   "# entries-in-buffer/entries-written: 0/0   #P:%" PRIu32 "\n"
		   "#\n"
		   "#                                _-----=> irqs-off/BH-disabled\n"
		   "#                               / _----=> need-resched\n"
		   "#                              | / _---=> hardirq/softirq\n"
		   "#                              || / _--=> preempt-depth\n"
		   "#                              ||| / _-=> migrate-disable\n"
		   "#                              |||| /     delay\n"
		   "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		   "#              | |         |   |||||     |         |\n",
		   n.online);
	return 0;
}

/* The value of a field of one byte that every tracepoint has. */
static unsigned common_byte(const struct tacho_sched_event *ev, const char *name)
{
	for (size_t i = 0; i < tacho_trace_n_fields(ev->format); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev->format, i);

		if (!strcmp(f->name, name))
			return f->size == 1 && f->offset < ev->n_raw ? ((const uint8_t *)ev->raw)[f->offset] : 0;
	}
	return 0;
}

static void put_flags(struct buf *out, unsigned flags, unsigned preempt_count)
{
	bool resched = flags & FLAG_NEED_RESCHED, forced = flags & FLAG_PREEMPT_RESCHED;

	buf_putc(out, flags & FLAG_IRQS_OFF ? 'd' : '.');
	buf_putc(out, resched && forced ? 'N' : resched ? 'n' : forced ? 'p' : flags & FLAG_NEED_RESCHED_LAZY ? 'L' : '.');
	buf_putc(out, flags & FLAG_NMI ? (flags & FLAG_HARDIRQ ? 'Z' : 'z') :
		      (flags & FLAG_HARDIRQ) && (flags & FLAG_SOFTIRQ) ? 'H' :
		      flags & FLAG_HARDIRQ ? 'h' : flags & FLAG_SOFTIRQ ? 's' : '.');
	buf_putc(out, preempt_count & 15 ? "0123456789abcdef"[preempt_count & 15] : '.');
	buf_putc(out, preempt_count >> 4 ? "0123456789abcdef"[preempt_count >> 4] : '.');
}

static int on_event(struct sched_export *x, const struct tacho_sched_event *ev)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts), .swapped = ev->raw_swapped };
	struct buf *out = &x->out.text;
	const char *name;
	char text[LINE_BYTES];
	ptrdiff_t n;

	if (!ev->format)
		return 0;
	n = tacho_trace_print(ev->format, ev->raw, ev->n_raw, &opts, text, sizeof(text));
	if (n < 0)
		return (int)n;
	buf_printf(out, "%16s-%-7" PRIu32 " [%03" PRIu32 "] ", ev->task->comm, ev->task->idle ? 0 : ev->task->tid, ev->cpu);
	put_flags(out, common_byte(ev, "common_flags"), common_byte(ev, "common_preempt_count"));
	buf_putc(out, ' ');
	sched_put_time(out, ev->time, 12);
	name = strchr(tacho_trace_name(ev->format), ':');
	buf_printf(out, ": %s: ", name ? name + 1 : tacho_trace_name(ev->format));
	buf_text(out, str_n(text, min_of((size_t)n, sizeof(text) - 1)));
	buf_putc(out, '\n');
	return buf_failed(out) ? -ENOMEM : 0;
}

const struct sched_format sched_format_ftrace = { .name = "ftrace", .begin = begin, .event = on_event };
