/*
 * Any bytes as a recording of the scheduler: delays with percentiles, and every event with its text and call chain.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "base/defs.h"
#include "base/io.h"

#include <tacho/sched.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tacho_perfdata *open_ordered(const char *path)
{
	struct tacho_perfdata *pd = NULL;

	return tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true), NULL) < 0 ? NULL : pd;
}

static void read_latency(const char *path, bool per_thread)
{
	struct tacho_sched_latency *l = NULL;
	struct tacho_perfdata *pd = open_ordered(path);

	if (!pd)
		return;
	tacho_sched_latency_new(&l, pd, TACHO_OPTS(tacho_sched_latency_opts, .per_thread = per_thread, .keep_delays = true), NULL);
	for (size_t i = 0; l && tacho_sched_latency_row(l, i); i++)
		tacho_sched_latency_percentile(l, i, 99);
	tacho_sched_latency_free(l);
	tacho_perfdata_close(pd);
}

static int on_event(void *arg, const struct tacho_sched_event *ev)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts), .swapped = ev->raw_swapped };
	volatile uint64_t *sum = arg;
	char text[256];

	*sum += ev->run_ns + ev->delay_ns + (uint64_t)ev->task->comm[0] + (uint64_t)ev->other->comm[0];
	for (size_t i = 0; i < ev->chain.n; i++)
		*sum += ev->chain.v[i];
	if (ev->format)
		tacho_trace_print(ev->format, ev->raw, ev->n_raw, &opts, text, sizeof(text));
	return 0;
}

static void read_events(const char *path, bool everything, bool idle_only)
{
	struct tacho_sched *s = NULL;
	struct tacho_perfdata *pd = open_ordered(path);
	volatile uint64_t sum = 0;

	if (!pd)
		return;
	if (tacho_sched_new(&s, pd, TACHO_OPTS(tacho_sched_opts, .everything = everything, .idle_only = idle_only,
					       .statistics = true, .event = on_event, .arg = (void *)&sum), NULL) == 0)
		tacho_sched_run(s, NULL);
	for (size_t i = 0; s && tacho_sched_task(s, i); i++)
		sum += tacho_sched_task(s, i)->run_ns;
	tacho_sched_free(s);
	tacho_perfdata_close(pd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	scoped(closep) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || io_write_all(fd, data, size) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_latency(path, true);
	read_latency(path, false);
	read_events(path, true, false);
	read_events(path, false, true);
	return 0;
}
