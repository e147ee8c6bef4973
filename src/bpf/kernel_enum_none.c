/*
 * Stub for builds without libbpf: the kernel's types are not read.
 */
#include <tacho/bpf.h>

const char *tacho_kernel_enum_name(const char *name, int64_t value)
{
	(void)name, (void)value;
	return NULL;
}
