/*
 * Why BPF programs cannot be loaded: one sentence from the error and the state of the machine, and what would change
 * it. The state explains an error; it never predicts one.
 */
#include "bpf/load_libbpf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "base/str.h"

/* The kernel's lockdown mode is "none [integrity] confidentiality"; confidentiality forbids BPF to read memory. */
static bool is_locked_down(void)
{
	char text[100];

	return io_read_small(AT_FDCWD, "/sys/kernel/security/lockdown", text, sizeof(text)) > 0 &&
	       strstr(text, "[confidentiality]");
}

static int not_permitted(int err, struct tacho_error *e)
{
	char text[20] = "";

	if (is_locked_down()) {
		error_set(e, err, "the kernel is locked down (confidentiality), which forbids BPF programs that trace");
		return err;
	}
	io_read_small(AT_FDCWD, "/proc/sys/kernel/unprivileged_bpf_disabled", text, sizeof(text));
	if (geteuid() == 0)
		error_set(e, err, "BPF programs may not be loaded, although this is root: a container or a security "
			  "module forbids it");
	else if (text[0] == '1' || text[0] == '2')
		error_set(e, err, "BPF programs may not be loaded by this user (unprivileged_bpf_disabled is %c)", text[0]);
	else
		error_set(e, err, "BPF programs that trace may not be loaded by this user");
	error_hint(e, "it needs CAP_BPF and CAP_PERFMON (before Linux 5.8 CAP_SYS_ADMIN)");
	return err;
}

int libbpf_error(int err, struct tacho_error *e)
{
	const char *message = libbpf_last_message();

	/* -EACCES for a program is the verifier's. */
	if (err == -EPERM || (err == -EACCES && !strstr(message, "failed to load")))
		return not_permitted(err, e);
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		return error_set(e, err, "the kernel has no type information for BPF programs (no /sys/kernel/btf/vmlinux: "
				 "built without CONFIG_DEBUG_INFO_BTF)");
	if (err == -ENOSYS)
		return error_set(e, err, "this kernel has no BPF");
	return error_set(e, err, "a BPF program could not be loaded: %s%s%s", strerror(-err), message[0] ? ": " : "",
			 message);
}
