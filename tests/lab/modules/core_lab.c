// SPDX-License-Identifier: GPL-2.0
/*
 * A core PMU for a machine that has none, as x86 under QEMU's TCG.
 *
 *	insmod core_lab.ko [hybrid=1] [counters=4] [overflow=ADDRESS]
 *
 * registers `cpu` as the PMU of raw events, so that generic hardware and cache events open on it; with
 * hybrid=1 cpu_core on the even CPUs and cpu_atom on the odd ones. It counts time: cycles are two per
 * nanosecond that an event is on the PMU, instructions three, all others one. On cpu_atom everything
 * takes half the pace.
 *
 * A timer makes samples, which carry what the tests look for:
 *
 *	branch stack	ip-8 -> ip (predicted, 7 cycles), ip-64 -> ip-24 (mispredicted, 3 cycles)
 *	data address	0x5eed000 + 64 * the sample's number; a load, hit in L3, L1 TLB hit
 *	weight		40 + the sample's number, of 8
 *
 * perf_event_overflow() is not exported to modules: its address comes from the guest's
 * /proc/kallsyms. Without it there is no sampling.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <asm/irq_regs.h>

#define SHORTEST_NS 20000	/* between two samples */

static int hybrid;
static int counters = 4;
static unsigned long overflow;
module_param(hybrid, int, 0444);
module_param(counters, int, 0444);
module_param(overflow, ulong, 0444);

typedef int (*overflow_fn)(struct perf_event *, struct perf_sample_data *, struct pt_regs *);

static struct core {
	struct pmu pmu;
	cpumask_t cpus;
	u64 divisor;
} cores[2];

static DEFINE_PER_CPU(int, n_used[2]);

struct branches {
	u64 nr, hw_idx;
	struct perf_branch_entry entries[2];
};
static DEFINE_PER_CPU(struct branches, branches);
static atomic_t n_samples;

static struct core *core_of(struct pmu *pmu)
{
	return container_of(pmu, struct core, pmu);
}

/* Counting */

static u64 pace(const struct perf_event *event)
{
	u64 config = event->attr.config & 0xff;
	bool generic = event->attr.type == PERF_TYPE_HARDWARE;
	bool named = !generic && event->attr.type != PERF_TYPE_HW_CACHE;

	if (generic ? config == PERF_COUNT_HW_CPU_CYCLES : named && config == 0x3c)
		return 2;
	if (generic ? config == PERF_COUNT_HW_INSTRUCTIONS : named && config == 0xc0)
		return 3;
	return 1;
}

static void core_read(struct perf_event *event)
{
	u64 now = ktime_get_mono_fast_ns(), before = local64_xchg(&event->hw.prev_count, now);

	local64_add(div64_u64((now - before) * pace(event), core_of(event->pmu)->divisor), &event->count);
}

static ktime_t until_next(struct perf_event *event)
{
	u64 ns = div64_u64(event->hw.sample_period * core_of(event->pmu)->divisor, pace(event));

	return ns_to_ktime(max_t(u64, ns, SHORTEST_NS));
}

static void core_start(struct perf_event *event, int flags)
{
	local64_set(&event->hw.prev_count, ktime_get_mono_fast_ns());
	event->hw.state = 0;
	if (is_sampling_event(event))
		hrtimer_start(&event->hw.hrtimer, until_next(event), HRTIMER_MODE_REL_PINNED_HARD);
}

static void core_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (is_sampling_event(event))
		hrtimer_try_to_cancel(&event->hw.hrtimer);
	core_read(event);
}

static int core_add(struct perf_event *event, int flags)
{
	int *used = &(*this_cpu_ptr(&n_used))[core_of(event->pmu) - cores];

	if (*used == counters)
		return -EAGAIN;
	++*used;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		core_start(event, flags);
	return 0;
}

static void core_del(struct perf_event *event, int flags)
{
	core_stop(event, flags);
	--(*this_cpu_ptr(&n_used))[core_of(event->pmu) - cores];
}

/* Sampling */

static void put_branches(struct perf_sample_data *data, u64 ip)
{
	struct branches *b = this_cpu_ptr(&branches);

	b->nr = 2;
	b->hw_idx = -1ULL;
	b->entries[0] = (struct perf_branch_entry){ .from = ip - 8, .to = ip, .predicted = 1, .cycles = 7 };
	b->entries[1] = (struct perf_branch_entry){ .from = ip - 64, .to = ip - 24, .mispred = 1,
						    .cycles = 3 };
	data->br_stack = (struct perf_branch_stack *)b;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
}

static void put_memory(struct perf_sample_data *data, u64 type, int number)
{
	data->addr = 0x5eed000 + 64 * number;
	data->sample_flags |= PERF_SAMPLE_ADDR;
	if (type & PERF_SAMPLE_DATA_SRC) {
		data->data_src.val = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVL, HIT) |
				     PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, HIT);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
	if (type & PERF_SAMPLE_WEIGHT_TYPE) {
		data->weight.full = 40 + number % 8;
		data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
	}
}

static bool is_wanted(struct perf_event *event, struct pt_regs *regs)
{
	return regs && !(user_mode(regs) ? event->attr.exclude_user : event->attr.exclude_kernel);
}

static enum hrtimer_restart core_tick(struct hrtimer *timer)
{
	struct perf_event *event = container_of(timer, struct perf_event, hw.hrtimer);
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data;

	if (event->hw.state & PERF_HES_STOPPED)
		return HRTIMER_NORESTART;
	core_read(event);
	if (is_wanted(event, regs)) {
		perf_sample_data_init(&data, 0, event->hw.sample_period);
		put_memory(&data, event->attr.sample_type, atomic_inc_return(&n_samples));
		if (has_branch_stack(event))
			put_branches(&data, instruction_pointer(regs));
		if (((overflow_fn)overflow)(event, &data, regs))
			return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, until_next(event));
	return HRTIMER_RESTART;
}

static int core_event_init(struct perf_event *event)
{
	u32 type = event->attr.type;

	if (type == PERF_TYPE_HARDWARE && (event->attr.config & U32_MAX) >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	if (type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE && type != PERF_TYPE_RAW &&
	    type != event->pmu->type)
		return -ENOENT;
	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &core_of(event->pmu)->cpus))
		return -ENOENT;
	if (!is_sampling_event(event))
		return has_branch_stack(event) ? -EOPNOTSUPP : 0;
	if (!overflow)
		return -EOPNOTSUPP;
	hrtimer_init(&event->hw.hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	event->hw.hrtimer.function = core_tick;
	return 0;
}

static int core_filter_match(struct perf_event *event)
{
	return cpumask_test_cpu(smp_processor_id(), &core_of(event->pmu)->cpus);
}

/* sysfs */

static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct pmu *pmu = dev_get_drvdata(dev);

	return cpumap_print_to_pagebuf(true, page, &core_of(pmu)->cpus);
}
static DEVICE_ATTR_RO(cpus);
static struct attribute *cpus_files[] = { &dev_attr_cpus.attr, NULL };

static umode_t cpus_visible(struct kobject *kobj, struct attribute *attr, int i)
{
	return hybrid ? attr->mode : 0;
}
static const struct attribute_group cpus_group = { .attrs = cpus_files, .is_visible = cpus_visible };

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(ldlat, "config1:0-15");
static struct attribute *format_files[] = {
	&format_attr_event.attr, &format_attr_umask.attr, &format_attr_ldlat.attr, NULL,
};
static const struct attribute_group format_group = { .name = "format", .attrs = format_files };

PMU_EVENT_ATTR_STRING(cpu-cycles, event_cycles, "event=0x3c");
PMU_EVENT_ATTR_STRING(instructions, event_instructions, "event=0xc0");
PMU_EVENT_ATTR_STRING(mem-loads, event_loads, "event=0xcd,umask=0x1,ldlat=3");
static struct attribute *event_files[] = {
	&event_cycles.attr.attr, &event_instructions.attr.attr, &event_loads.attr.attr, NULL,
};
static const struct attribute_group event_group = { .name = "events", .attrs = event_files };

static const struct attribute_group *core_groups[] = { &cpus_group, &format_group, &event_group, NULL };

static int core_register(struct core *core, const char *name, int type, u64 divisor)
{
	core->divisor = divisor;
	core->pmu = (struct pmu){
		.module = THIS_MODULE,
		.attr_groups = core_groups,
		.task_ctx_nr = perf_hw_context,
		.capabilities = PERF_PMU_CAP_EXTENDED_HW_TYPE |
				(hybrid ? PERF_PMU_CAP_HETEROGENEOUS_CPUS : 0),
		.event_init = core_event_init,
		.add = core_add,
		.del = core_del,
		.start = core_start,
		.stop = core_stop,
		.read = core_read,
		.filter_match = core_filter_match,
	};
	return perf_pmu_register(&core->pmu, name, type);
}

static int __init core_lab_init(void)
{
	int cpu, err;

	for_each_possible_cpu(cpu)
		cpumask_set_cpu(cpu, &cores[hybrid ? cpu & 1 : 0].cpus);
	err = core_register(&cores[0], hybrid ? "cpu_core" : "cpu", PERF_TYPE_RAW, 1);
	if (err || !hybrid)
		return err;
	err = core_register(&cores[1], "cpu_atom", -1, 2);
	if (err)
		perf_pmu_unregister(&cores[0].pmu);
	return err;
}

static void __exit core_lab_exit(void)
{
	if (hybrid)
		perf_pmu_unregister(&cores[1].pmu);
	perf_pmu_unregister(&cores[0].pmu);
}

module_init(core_lab_init);
module_exit(core_lab_exit);
MODULE_DESCRIPTION("a core PMU for tests of tacho");
MODULE_LICENSE("GPL");
