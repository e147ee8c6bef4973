#ifndef TACHO_KVM_H
#define TACHO_KVM_H

#include <tacho/kernel.h>

TACHO_BEGIN_DECLS

/*
 * What virtual machines of KVM leave their guests for, and how long the host handles it: from a recording of kvm:kvm_exit,
 * kvm_entry, kvm_mmio and kvm_pio.
 *
 *	new -> run -> row, row ... -> free
 *
 * A recording is read once, in the order of time. It must have been opened with `ordered`; it may be a pipe, whose rows can be
 * read and cleared in the callback while it is read.
 */
struct tacho_kvm;

enum tacho_kvm_kind {
	TACHO_KVM_EXITS,		/* from kvm_exit to kvm_entry, by reason */
	TACHO_KVM_MMIO,			/* accesses to devices in memory, by address: from the exit to the data of a read, and
					 * from the data of a write to the entry */
	TACHO_KVM_PIO,			/* accesses to ports, by port: from the access to the entry */
};

struct tacho_kvm_row {
	const char *name;		/* "EPT_VIOLATION", "0xfee00000:W", "0x3f8:POUT"; unknown reasons: "UNKNOWN:0x3e7" */
	uint64_t n, sum_ns, min_ns, max_ns;
	double mean_ns, error_ns;	/* error of the mean: standard deviation / sqrt(n); 0 for less than two */
	bool is_halt;			/* the guest had nothing to do */
};

struct tacho_kvm_event {		/* something that was handled */
	const struct tacho_kvm_row *row;
	uint64_t from_ns, to_ns;
	uint32_t pid, vcpu;
};

struct tacho_kvm_opts {
	size_t size;
	enum tacho_kvm_kind kind;
	const uint32_t *pids;		/* only virtual machines of these processes; borrowed */
	size_t n_pids;			/* 0: all */
	bool has_vcpu;			/* only the virtual CPU `vcpu` of each machine */
	uint32_t vcpu;
	uint64_t from_ns, to_ns;	/* only what ends in this time; to_ns 0: no limit */
	/* Called for each event when it ends; a negative errno ends the pass. May be NULL. */
	int (*event)(void *arg, const struct tacho_kvm_event *ev);
	void *arg;
};

/* Returns 0 or -ENOMEM. `pd` is borrowed until the object is freed. */
TACHO_API int tacho_kvm_new(struct tacho_kvm **out, struct tacho_perfdata *pd, const struct tacho_kvm_opts *opts,
			    struct tacho_error *e);
/* Returns 0; -ENOENT if the recording has no such events; -ENOMEM; what `event` returned; or the errno of the damage of a file,
 * after what comes before it. */
TACHO_API int tacho_kvm_run(struct tacho_kvm *k, struct tacho_error *e);
TACHO_API void tacho_kvm_free(struct tacho_kvm *k);	/* NULL is fine */
TACHO_API const struct tacho_kernel_totals *tacho_kvm_totals(const struct tacho_kvm *k);
/* In the order of their first appearance; NULL: i is too large. Rows that were cleared have n = 0. Valid until the next event. */
TACHO_API const struct tacho_kvm_row *tacho_kvm_row(const struct tacho_kvm *k, size_t i);
/* How many virtual CPUs have entered a guest. Before its first entry a thread is not known to be one. */
TACHO_API size_t tacho_kvm_n_cpus(const struct tacho_kvm *k);
/* Sets the numbers of all rows to 0, for the next interval of a live display. */
TACHO_API void tacho_kvm_clear(struct tacho_kvm *k);

TACHO_END_DECLS
#endif
