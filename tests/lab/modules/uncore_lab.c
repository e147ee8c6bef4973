// SPDX-License-Identifier: GPL-2.0
/*
 * Uncore PMUs that count what a test feeds them.
 *
 *	insmod uncore_lab.ko [instances=3] [cpus_per_socket=1] [counters=4]
 *
 * makes uncore_lab_0 ... as memory controllers are: each counts per socket, one CPU of each socket
 * (cpumask) speaks for it, and when that CPU goes offline another of the socket takes over, events
 * included. Tasks and sampling are refused.
 *
 *	events/reads, writes	by what was written to the PMU's file `feed`: "SOCKET READS WRITES"
 *	events/ticks		one per microsecond, times the instance's number plus one
 *	totals			what was fed since the start: a line "SOCKET READS WRITES" for each
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#define MAX_INSTANCES 8
#define MAX_SOCKETS 8
#define MAX_COUNTERS 16

static int instances = 3;
static int cpus_per_socket = 1;
static int counters = 4;
module_param(instances, int, 0444);
module_param(cpus_per_socket, int, 0444);
module_param(counters, int, 0444);

enum { EVENT_TICKS = 1, EVENT_READS, EVENT_WRITES };

struct box {
	struct pmu pmu;
	int number;
	atomic64_t fed[MAX_SOCKETS][2];
	int n_used[MAX_SOCKETS];	/* touched only by the socket's speaker, with interrupts off */
	char name[24];
};

static struct box *boxes[MAX_INSTANCES];
static cpumask_t speakers;
static enum cpuhp_state hotplug_state;

static struct box *box_of(struct pmu *pmu)
{
	return container_of(pmu, struct box, pmu);
}

static int socket_of(int cpu)
{
	return cpu / cpus_per_socket;
}

static int speaker_of(int socket)
{
	int cpu;

	for_each_cpu(cpu, &speakers)
		if (socket_of(cpu) == socket)
			return cpu;
	return -1;
}

/* Counting */

static u64 box_value(struct perf_event *event)
{
	struct box *box = box_of(event->pmu);
	int socket = socket_of(event->cpu);

	switch (event->attr.config & 0xff) {
	case EVENT_READS:
		return atomic64_read(&box->fed[socket][0]);
	case EVENT_WRITES:
		return atomic64_read(&box->fed[socket][1]);
	default:
		return ktime_to_us(ktime_get()) * (box->number + 1);
	}
}

static void box_read(struct perf_event *event)
{
	u64 now = box_value(event);

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static void box_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, box_value(event));
	event->hw.state = 0;
}

static void box_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	box_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int box_add(struct perf_event *event, int flags)
{
	int *used = &box_of(event->pmu)->n_used[socket_of(event->cpu)];

	if (*used == counters)
		return -EAGAIN;		/* the kernel lets them take turns */
	++*used;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		box_start(event, flags);
	return 0;
}

static void box_del(struct perf_event *event, int flags)
{
	box_stop(event, flags);
	--box_of(event->pmu)->n_used[socket_of(event->cpu)];
}

static bool group_fits(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *other;
	int n = 1 + (leader != event && leader->pmu == event->pmu);

	for_each_sibling_event(other, leader)
		n += other != event && other->pmu == event->pmu;
	return n <= counters;
}

static int box_event_init(struct perf_event *event)
{
	u64 number = event->attr.config & 0xff;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK || event->cpu < 0)
		return -EINVAL;
	if (number < EVENT_TICKS || number > EVENT_WRITES || socket_of(event->cpu) >= MAX_SOCKETS)
		return -EINVAL;
	event->cpu = speaker_of(socket_of(event->cpu));
	if (event->cpu < 0)
		return -ENODEV;
	return group_fits(event) ? 0 : -EINVAL;
}

/* sysfs */

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return cpumap_print_to_pagebuf(true, page, &speakers);
}
static DEVICE_ATTR_RO(cpumask);

static ssize_t feed_store(struct device *dev, struct device_attribute *attr, const char *text, size_t n)
{
	struct box *box = box_of(dev_get_drvdata(dev));
	unsigned int socket;
	u64 reads, writes;

	if (sscanf(text, "%u %llu %llu", &socket, &reads, &writes) != 3 || socket >= MAX_SOCKETS)
		return -EINVAL;
	atomic64_add(reads, &box->fed[socket][0]);
	atomic64_add(writes, &box->fed[socket][1]);
	return n;
}
static DEVICE_ATTR_WO(feed);

static ssize_t totals_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct box *box = box_of(dev_get_drvdata(dev));
	int n = 0, cpu;

	for_each_cpu(cpu, &speakers)
		n += sysfs_emit_at(page, n, "%d %lld %lld\n", socket_of(cpu),
				   atomic64_read(&box->fed[socket_of(cpu)][0]),
				   atomic64_read(&box->fed[socket_of(cpu)][1]));
	return n;
}
static DEVICE_ATTR_RO(totals);

static struct attribute *box_files[] = {
	&dev_attr_cpumask.attr, &dev_attr_feed.attr, &dev_attr_totals.attr, NULL,
};
static const struct attribute_group box_group = { .attrs = box_files };

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(filter, "config1:0-15");
static struct attribute *format_files[] = {
	&format_attr_event.attr, &format_attr_umask.attr, &format_attr_filter.attr, NULL,
};
static const struct attribute_group format_group = { .name = "format", .attrs = format_files };

PMU_EVENT_ATTR_STRING(ticks, event_ticks, "event=0x1");
PMU_EVENT_ATTR_STRING(reads, event_reads, "event=0x2,umask=0x3");
PMU_EVENT_ATTR_STRING(reads.unit, event_reads_unit, "MiB");
PMU_EVENT_ATTR_STRING(reads.scale, event_reads_scale, "6.103515625e-5");
PMU_EVENT_ATTR_STRING(writes, event_writes, "event=0x3,umask=0xc");
static struct attribute *event_files[] = {
	&event_ticks.attr.attr, &event_reads.attr.attr, &event_reads_unit.attr.attr,
	&event_reads_scale.attr.attr, &event_writes.attr.attr, NULL,
};
static const struct attribute_group event_group = { .name = "events", .attrs = event_files };

static const struct attribute_group *box_groups[] = { &box_group, &format_group, &event_group, NULL };

/* CPUs that come and go */

static int box_cpu_online(unsigned int cpu)
{
	if (speaker_of(socket_of(cpu)) < 0)
		cpumask_set_cpu(cpu, &speakers);
	return 0;
}

static int box_cpu_offline(unsigned int cpu)
{
	int other, heir = -1, i;

	if (!cpumask_test_and_clear_cpu(cpu, &speakers))
		return 0;
	for_each_online_cpu(other)
		if (other != cpu && socket_of(other) == socket_of(cpu))
			heir = other;
	if (heir < 0)
		return 0;
	cpumask_set_cpu(heir, &speakers);
	for (i = 0; i < MAX_INSTANCES; i++)
		if (boxes[i])
			perf_pmu_migrate_context(&boxes[i]->pmu, cpu, heir);
	return 0;
}

static int box_new(int number)
{
	struct box *box = kzalloc(sizeof(*box), GFP_KERNEL);
	int err;

	if (!box)
		return -ENOMEM;
	box->number = number;
	snprintf(box->name, sizeof(box->name), "uncore_lab_%d", number);
	box->pmu = (struct pmu){
		.module = THIS_MODULE,
		.attr_groups = box_groups,
		.task_ctx_nr = perf_invalid_context,
		.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
		.event_init = box_event_init,
		.add = box_add,
		.del = box_del,
		.start = box_start,
		.stop = box_stop,
		.read = box_read,
	};
	err = perf_pmu_register(&box->pmu, box->name, -1);
	if (err)
		kfree(box);
	else
		boxes[number] = box;
	return err;
}

static void free_boxes(void)
{
	int i;

	for (i = 0; i < MAX_INSTANCES; i++) {
		if (!boxes[i])
			continue;
		perf_pmu_unregister(&boxes[i]->pmu);
		kfree(boxes[i]);
	}
}

static int __init uncore_lab_init(void)
{
	int i, err;

	if (instances < 1 || instances > MAX_INSTANCES || counters < 1 || counters > MAX_COUNTERS ||
	    cpus_per_socket < 1)
		return -EINVAL;
	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/uncore_lab:online", box_cpu_online,
				box_cpu_offline);
	if (err < 0)
		return err;
	hotplug_state = err;
	for (i = 0, err = 0; i < instances && !err; i++)
		err = box_new(i);
	if (err) {
		cpuhp_remove_state(hotplug_state);
		free_boxes();
	}
	return err;
}

static void __exit uncore_lab_exit(void)
{
	cpuhp_remove_state(hotplug_state);
	free_boxes();
}

module_init(uncore_lab_init);
module_exit(uncore_lab_exit);
MODULE_DESCRIPTION("uncore PMUs for tests of tacho");
MODULE_LICENSE("GPL");
