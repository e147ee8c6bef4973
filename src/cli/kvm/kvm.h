/*
 * `tacho kvm stat`: tables of what virtual machines leave their guests for. <tacho/kvm.h> reads the recording.
 */
#ifndef CLI_KVM_KVM_H
#define CLI_KVM_KVM_H

#include "cli/kernel/source.h"

#include <tacho/kvm.h>

struct kvm_opts {
	struct kernel_source_opts source;
	const char *output, *event, *key, *pids, *mmap_pages;
	bool host, guest, json, all_cpus;
	int32_t vcpu;			/* -1: all */
	uint32_t display_s, duration_us;	/* live */
};

/* The file of `record` and `report` without -o and -i: it depends on --host and --guest, as in perf. */
const char *kvm_file(const struct kvm_opts *o);

/* The events of the virtual machines, for kernel_record(). False after a message: the kernel does not have them. */
struct kernel_record_event;
const struct kernel_record_event *kvm_events(const char *command);

/* From the options; false after a message. *pids is to be freed. */
bool kvm_view_opts(const char *command, const struct kvm_opts *o, struct tacho_kvm_opts *out, uint32_t **pids);
/* Appends the table or the JSON. */
int kvm_put_table(const struct kvm_opts *o, const struct tacho_kvm *k, struct buf *out);

int kvm_stat_report_run(void *opts, int argc, char **argv);
int kvm_stat_live_run(void *opts, int argc, char **argv);

#endif
