/*
 * kvm-guest PORTS READS WRITES: a virtual machine whose guest writes to a port, reads from a device in memory and writes to it
 * as often as given, and halts. Prints how often it was left for each as the user of KVM sees it: "io 100 mmio 50 hlt 1".
 * Exits with 77 where KVM does not run guests.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define CODE 0x1000u
#define DEVICE 0x9000u			/* no memory is there */

static int unusable(const char *what)
{
	printf("KVM does not run guests here: %s: %s\n", what, strerror(errno));
	return 77;
}

/* mov cx, n; jcxz end; again: <body>; loop again; end: */
static unsigned char *put_loop(unsigned char *at, unsigned n, const void *body, unsigned n_body)
{
	*at++ = 0xb9;
	*at++ = n & 0xff;
	*at++ = n >> 8 & 0xff;
	*at++ = 0xe3;
	*at++ = (unsigned char)(n_body + 2);
	memcpy(at, body, n_body);
	at += n_body;
	*at++ = 0xe2;
	*at++ = (unsigned char)-(int)(n_body + 2);
	return at;
}

static void put_code(unsigned char *at, char **argv)
{
	static const unsigned char out[] = { 0xba, 0xf8, 0x03, 0xee };		/* mov dx, 0x3f8; out dx, al */
	static const unsigned char load[] = { 0xa0, 0x00, 0x90 };		/* mov al, [0x9000] */
	static const unsigned char store[] = { 0xa2, 0x10, 0x90 };		/* mov [0x9010], al */

	at = put_loop(at, (unsigned)atoi(argv[1]), out, sizeof(out));
	at = put_loop(at, (unsigned)atoi(argv[2]), load, sizeof(load));
	at = put_loop(at, (unsigned)atoi(argv[3]), store, sizeof(store));
	*at = 0xf4;								/* hlt */
}

static int set_registers(int cpu)
{
	struct kvm_sregs s;
	struct kvm_regs r = { .rip = CODE, .rflags = 2 };

	if (ioctl(cpu, KVM_GET_SREGS, &s) < 0)
		return -1;
	s.cs.base = s.cs.selector = s.ds.base = s.ds.selector = 0;
	return ioctl(cpu, KVM_SET_SREGS, &s) < 0 || ioctl(cpu, KVM_SET_REGS, &r) < 0 ? -1 : 0;
}

static int run(int cpu, struct kvm_run *shared)
{
	unsigned io = 0, mmio = 0;

	for (;;) {
		if (ioctl(cpu, KVM_RUN, 0) < 0 && errno != EINTR)
			return unusable("KVM_RUN");
		if (shared->exit_reason == KVM_EXIT_IO) {
			io++;
		} else if (shared->exit_reason == KVM_EXIT_MMIO) {
			mmio++;
		} else if (shared->exit_reason == KVM_EXIT_HLT) {
			printf("io %u mmio %u hlt 1\n", io, mmio);
			return 0;
		} else if (shared->exit_reason != KVM_EXIT_INTR) {
			printf("KVM does not run guests here: exit %u\n", shared->exit_reason);
			return 77;
		}
	}
}

int main(int argc, char **argv)
{
	struct kvm_userspace_memory_region region = { .guest_phys_addr = CODE, .memory_size = 0x1000 };
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, cpu, bytes;
	unsigned char *memory = mmap(NULL, 0x1000, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_run *shared;

	if (argc != 4 || memory == MAP_FAILED)
		return 2;
	if (kvm < 0)
		return unusable("/dev/kvm");
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	region.userspace_addr = (unsigned long)memory;
	put_code(memory, argv);
	if (vm < 0 || ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return unusable("KVM_CREATE_VM");
	cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	bytes = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (cpu < 0 || bytes <= 0)
		return unusable("KVM_CREATE_VCPU");
	shared = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (shared == MAP_FAILED || set_registers(cpu) < 0)
		return unusable("KVM_SET_SREGS");
	return run(cpu, shared);
}
