/*
 * Seccomp filter: system calls that the agent does not need but an intruder could use fail with
 * EPERM. It is a deny list, since the libraries of the agent may start to use other calls; the
 * systemd unit has an allow list.
 */
#include "agent/core/privilege.h"

#include <errno.h>
#include <seccomp.h>

static const char *const denied[] = {
	/* machine administration */
	"reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
	"create_module", "swapon", "swapoff", "acct", "sethostname", "setdomainname", "iopl", "ioperm",
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "vhangup", "quotactl",
	"quotactl_fd", "nfsservctl", "_sysctl", "syslog", "pciconfig_write", "modify_ldt", "vm86", "vm86old",
	/* mounts and namespaces */
	"mount", "umount", "umount2", "move_mount", "mount_setattr", "open_tree", "fsopen", "fsconfig",
	"fsmount", "fspick", "pivot_root", "chroot", "unshare", "setns", "open_by_handle_at",
	"name_to_handle_at", "personality",
	/* other processes, credentials, memory, asynchronous I/O */
	"ptrace", "process_vm_writev", "process_madvise", "kcmp", "setuid", "setgid", "setreuid",
	"setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid", "add_key", "request_key",
	"keyctl", "userfaultfd", "migrate_pages", "move_pages", "lookup_dcookie", "mknod", "mknodat",
	"io_uring_setup", "io_uring_enter", "io_uring_register",
};

/* Defined in builds with LeakSanitizer, which uses ptrace on its own threads at exit. */
extern void __lsan_enable(void) __attribute__((weak));

bool seccomp_denies(const char *name)
{
	for (size_t i = 0; i < countof(denied); i++)
		if (!strcmp(denied[i], name))
			return true;
	return false;
}

int seccomp_deny(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int err;

	if (!filter)
		return -ENOMEM;
	err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; err == 0 && i < countof(denied); i++) {
		int number = seccomp_syscall_resolve_name(denied[i]);

		if (__lsan_enable && !strcmp(denied[i], "ptrace"))
			continue;
		if (number >= 0)	/* negative: not a system call of this architecture */
			err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
	if (err == 0)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
