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

#define TASK_COMM_BYTES 16
#define TASK_INTERRUPTIBLE 1u
#define TASK_UNINTERRUPTIBLE 2u
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
