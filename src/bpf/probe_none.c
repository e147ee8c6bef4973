/*
 * Stub for builds without BPF programs.
 */
#include <tacho/bpf.h>

#include <errno.h>

#include "base/error.h"

bool tacho_bpf_is_built_in(void)
{
	return false;
}

int tacho_bpf_probe(struct tacho_error *e)
{
	error_set(e, -EOPNOTSUPP, "this build has no BPF programs");
	error_hint(e, "build it with clang, bpftool and libbpf-dev installed");
	return -EOPNOTSUPP;
}
