/*
 * tacho_bpf_probe(): loads a small program and removes it again.
 */
#include <tacho/bpf.h>

#include "bpf/load_libbpf.h"
#include "bpf/probe.skel.h"

bool tacho_bpf_is_built_in(void)
{
	return true;
}

int tacho_bpf_probe(struct tacho_error *e)
{
	struct probe_bpf *skel;
	int err = libbpf_open(e);

	if (err < 0)
		return err;
	skel = probe_bpf__open();
	if (!skel)
		return libbpf_error(-errno, e);
	err = probe_bpf__load(skel);
	if (err < 0)
		libbpf_error(err, e);
	probe_bpf__destroy(skel);
	return err < 0 ? err : 0;
}
