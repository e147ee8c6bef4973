/*
 * Names of the reasons for which a guest is left.
 */
#ifndef KERNEL_KVM_REASONS_H
#define KERNEL_KVM_REASONS_H

#include "base/defs.h"

enum kvm_isa { KVM_VMX, KVM_SVM, KVM_ARM_EXIT, KVM_ARM_TRAP };

#define KVM_ARM_EXIT_TRAP 2u		/* of KVM_ARM_EXIT: the reason is the exception class */

/* NULL: unknown. */
const char *kvm_reason_name(enum kvm_isa isa, uint32_t code);

#endif
