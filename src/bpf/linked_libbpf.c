/*
 * libbpf in a program that is linked statically, in place of load_libbpf.c: nothing has to be loaded.
 */
#include "bpf/load_libbpf.h"

int libbpf_open(struct tacho_error *e)
{
	(void)e;
	libbpf_forget_message();
	libbpf_set_print(libbpf_keep_message);
	return 0;
}
