// SPDX-License-Identifier: GPL-2.0
/*
 * A PMU with an AUX area, as those that trace instructions have. It is called arm_spe_lab, after a
 * kind that tools know to have one, and traces nothing: whenever it leaves a CPU it writes
 *
 *	AUX 0000001f9ac\n
 *
 * 64 times, numbered without a gap over all CPUs and tasks, or as often as there is room. `written`
 * is how many it has written in all, `full` how often there was no room.
 */
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#define LINE_BYTES 16
#define LINES 64

struct area {
	void **pages;
	unsigned long size;
	bool overwrite;			/* a snapshot: there is always room */
};

static struct pmu aux_pmu;
static DEFINE_PER_CPU(struct perf_output_handle, handles);
static DEFINE_RAW_SPINLOCK(numbering);
static u64 n_written, n_full;

static void *area_setup(struct perf_event *event, void **pages, int n, bool overwrite)
{
	struct area *area = kzalloc(sizeof(*area), GFP_KERNEL);

	if (area) {
		area->pages = pages;
		area->size = (unsigned long)n << PAGE_SHIFT;
		area->overwrite = overwrite;
	}
	return area;
}

static void area_free(void *area)
{
	kfree(area);
}

/* A line never crosses the end of a page: both are powers of two. */
static unsigned long area_write(struct area *area, unsigned long head, unsigned long room)
{
	unsigned long n = min_t(unsigned long, LINES, room / LINE_BYTES), i;

	raw_spin_lock(&numbering);
	for (i = 0; i < n; i++) {
		unsigned long at = (head + i * LINE_BYTES) & (area->size - 1);
		char line[LINE_BYTES + 1];

		snprintf(line, sizeof(line), "AUX %011llx\n", n_written++);
		memcpy((char *)area->pages[at >> PAGE_SHIFT] + (at & ~PAGE_MASK), line, LINE_BYTES);
	}
	if (n < LINES)
		n_full++;
	raw_spin_unlock(&numbering);
	return n * LINE_BYTES;
}

static void aux_start(struct perf_event *event, int flags)
{
	event->hw.state = perf_aux_output_begin(this_cpu_ptr(&handles), event) ? 0 : PERF_HES_STOPPED;
}

static void aux_stop(struct perf_event *event, int flags)
{
	struct perf_output_handle *handle = this_cpu_ptr(&handles);
	struct area *area;
	unsigned long n;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED;
	area = perf_get_aux(handle);
	if (!area)
		return;
	n = area_write(area, handle->head, area->overwrite ? area->size : handle->size);
	if (area->overwrite)
		handle->head += n;	/* of a snapshot the PMU says where it is */
	perf_aux_output_end(handle, n);
}

static int aux_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		aux_start(event, flags);
	return 0;
}

static void aux_del(struct perf_event *event, int flags)
{
	aux_stop(event, flags);
}

static void aux_read(struct perf_event *event)
{
}

static int aux_event_init(struct perf_event *event)
{
	return event->attr.type == aux_pmu.type ? 0 : -ENOENT;
}

static ssize_t written_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%llu\n", n_written);
}
static DEVICE_ATTR_RO(written);

static ssize_t full_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%llu\n", n_full);
}
static DEVICE_ATTR_RO(full);

static struct attribute *aux_files[] = { &dev_attr_written.attr, &dev_attr_full.attr, NULL };
static const struct attribute_group aux_group = { .attrs = aux_files };
PMU_FORMAT_ATTR(event, "config:0-7");
static struct attribute *format_files[] = { &format_attr_event.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = format_files };
static const struct attribute_group *aux_groups[] = { &aux_group, &format_group, NULL };

static struct pmu aux_pmu = {
	.module = THIS_MODULE,
	.attr_groups = aux_groups,
	.task_ctx_nr = perf_sw_context,
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE,
	.event_init = aux_event_init,
	.add = aux_add,
	.del = aux_del,
	.start = aux_start,
	.stop = aux_stop,
	.read = aux_read,
	.setup_aux = area_setup,
	.free_aux = area_free,
};

static int __init aux_lab_init(void)
{
	return perf_pmu_register(&aux_pmu, "arm_spe_lab", -1);
}

static void __exit aux_lab_exit(void)
{
	perf_pmu_unregister(&aux_pmu);
}

module_init(aux_lab_init);
module_exit(aux_lab_exit);
MODULE_DESCRIPTION("a PMU with an AUX area for tests of tacho");
MODULE_LICENSE("GPL");
