/*
 * Loads the user filter. The program has eight instructions and needs neither maps nor BTF, so that it works with every
 * kernel that has BPF programs for perf events (Linux 4.9).
 */
#include "sys/user_filter.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

int user_filter_load(const struct sys *sys, uint32_t uid)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_uid_gid },
		{ .code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_0 },	/* the low half */
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = (int32_t)uid },
		{ .code = BPF_JMP | BPF_JEQ | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1, .off = 2 },
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)program,
		.insn_cnt = countof(program),
		.license = (uintptr_t)"MIT",
		.prog_name = "tacho_user",
	};
	long fd;

	if (sys->ops != &sys_kernel_ops)
		return -EOPNOTSUPP;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return errno == ENOSYS || errno == EINVAL ? -EOPNOTSUPP : -errno;
	return (int)fd;
}
