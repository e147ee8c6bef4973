/*
 * What BPF programs read of the kernel: the few fields they need, declared here instead of in a vmlinux.h. CO-RE
 * relocations find the fields in the running kernel's types, so size and order do not matter. A name with three
 * underscores, as task_struct___old, is a variant of the type for other kernel versions.
 */
#ifndef BPF_KERNEL_BPF_H
#define BPF_KERNEL_BPF_H

#include <linux/types.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	int pid, tgid;
	char comm[16];
} KERNEL_TYPE;

struct task_struct___old {		/* before Linux 5.14 */
	long state;
} KERNEL_TYPE;

struct kuid {
	unsigned int val;
} KERNEL_TYPE;

struct cred {
	struct kuid uid;
} KERNEL_TYPE;

struct kernfs_node {
	__u64 id;
} KERNEL_TYPE;

struct cgroup;
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} KERNEL_TYPE;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[8];
} KERNEL_TYPE;

enum cgroup_subsys_id { perf_event_cgrp_id = 8 };

struct css_set {
	struct cgroup_subsys_state *subsys[16];
} KERNEL_TYPE;

#define TASK_COMM_BYTES 16
#define TASK_INTERRUPTIBLE 1u
#define TASK_UNINTERRUPTIBLE 2u
#define TASK_DEAD 0x80u
#define PF_KTHREAD 0x00200000u

/* TASK_RUNNING (0): the task was preempted or can be scheduled again. */
static __always_inline unsigned int task_state(const struct task_struct *t)
{
	const struct task_struct___old *old = (const void *)t;

	if (bpf_core_field_exists(t->__state))
		return BPF_CORE_READ(t, __state);
	return (unsigned int)BPF_CORE_READ(old, state);
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#endif
