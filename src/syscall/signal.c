/*
 * Signals, sets of signals and what comes with them; names of errors.
 */
#include "syscall/syscall.h"

#include <errno.h>
#include <signal.h>

#define FIRST_REAL_TIME 32

static const char *const signal_names[FIRST_REAL_TIME] = {
	NULL, "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1",
	"SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP",
	"SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
};

const char *tacho_signal_name(int sig)
{
	static const char *const real_time[] = {
		"SIGRTMIN", "SIGRT_1", "SIGRT_2", "SIGRT_3", "SIGRT_4", "SIGRT_5", "SIGRT_6", "SIGRT_7", "SIGRT_8", "SIGRT_9",
		"SIGRT_10", "SIGRT_11", "SIGRT_12", "SIGRT_13", "SIGRT_14", "SIGRT_15", "SIGRT_16", "SIGRT_17", "SIGRT_18",
		"SIGRT_19", "SIGRT_20", "SIGRT_21", "SIGRT_22", "SIGRT_23", "SIGRT_24", "SIGRT_25", "SIGRT_26", "SIGRT_27",
		"SIGRT_28", "SIGRT_29", "SIGRT_30", "SIGRT_31", "SIGRT_32",
	};

	if (sig >= FIRST_REAL_TIME)
		return (size_t)sig - FIRST_REAL_TIME < countof(real_time) ? real_time[sig - FIRST_REAL_TIME] : NULL;
	return sig > 0 ? signal_names[sig] : NULL;
}

const char *tacho_errno_name(int err)
{
	/* the kernel's own, which user space never sees */
	static const char *const restarts[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ENOIOCTLCMD", "ERESTART_RESTARTBLOCK" };

	return err >= 512 && err <= 516 ? restarts[err - 512] : strerrorname_np(err);
}

void show_signal(struct syscall_value *x, uint64_t sig)
{
	const char *name = tacho_signal_name((int)sig);

	if (!name)
		buf_printf(x->out, "%d", (int)sig);
	else
		buf_puts(x->out, is_perf_style(x) ? name + 3 : name);
}

void show_signal_arg(struct syscall_value *x)
{
	show_signal(x, x->v);
}

/* Sets with most signals in them are printed as the complement: ~[KILL STOP] */
void show_sigset(struct syscall_value *x, uint64_t set)
{
	bool inverted = __builtin_popcountll(set) >= 32 + 11;
	bool first = true;

	if (inverted)
		set = ~set;
	buf_puts(x->out, inverted ? "~[" : "[");
	for (int sig = 1; sig <= 64; sig++) {
		const char *name = tacho_signal_name(sig);

		if (!(set >> (sig - 1) & 1))
			continue;
		if (!first)
			buf_putc(x->out, ' ');
		first = false;
		buf_puts(x->out, name ? name + 3 : "?");
	}
	buf_putc(x->out, ']');
}

void show_sigset_arg(struct syscall_value *x)
{
	const uint64_t *set = value_struct(x, 8);

	if (set)
		show_sigset(x, *set);
}

/* The mask that is restored from the signal's frame. */
void show_restored_mask(struct syscall_value *x)
{
	const uint64_t *set = value_struct(x, 8);

	if (!set)
		return;
	buf_puts(x->out, "{mask=");
	show_sigset(x, *set);
	buf_putc(x->out, '}');
}

void show_pselect_sigset(struct syscall_value *x)
{
	const uint64_t *s = value_struct(x, 16);
	size_t n;
	const uint64_t *set;

	if (!s)
		return;
	buf_puts(x->out, "{sigmask=");
	set = s[0] ? value_part(x, TACHO_PART_FIRST, &n, NULL) : NULL;
	if (set && n >= 8)
		show_sigset(x, *set);
	else
		buf_printf(x->out, s[0] ? "%#llx" : "NULL", (unsigned long long)s[0]);
	buf_printf(x->out, ", sigsetsize=%llu}", (unsigned long long)s[1]);
}

/* The kernel's struct: handler, flags, restorer (x86), mask. */
void show_sigaction(struct syscall_value *x)
{
	const uint64_t *s = value_struct(x, 32);

	if (!s)
		return;
	buf_puts(x->out, "{sa_handler=");
	if (s[0] > 1)
		buf_printf(x->out, "%#llx", (unsigned long long)s[0]);
	else
		buf_puts(x->out, s[0] ? "SIG_IGN" : "SIG_DFL");
	buf_puts(x->out, ", sa_mask=");
	show_sigset(x, s[x->call->arch == TACHO_SYSCALL_X86_64 ? 3 : 2]);
	buf_puts(x->out, ", sa_flags=");
	show_flags_named(x, "sa_flags", s[1]);
	if (x->call->arch == TACHO_SYSCALL_X86_64 && s[1] & 0x04000000)
		buf_printf(x->out, ", sa_restorer=%#llx", (unsigned long long)s[2]);
	buf_putc(x->out, '}');
}

static const char *code_name(int sig, int code)
{
	static const char *const child[6] = { "CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED",
		"CLD_CONTINUED" };

	if (sig == SIGCHLD && code >= 1 && code <= 6)
		return child[code - 1];
	switch (code) {
	case 0: return "SI_USER";
	case 128: return "SI_KERNEL";
	case -1: return "SI_QUEUE";
	case -2: return "SI_TIMER";
	case -6: return "SI_TKILL";
	}
	return NULL;
}

void show_siginfo(struct syscall_value *x)
{
	const siginfo_t *s = value_struct(x, sizeof(*s));
	const char *code;

	if (!s)
		return;
	if (!s->si_signo) {
		buf_puts(x->out, "{}");
		return;
	}
	buf_puts(x->out, "{si_signo=");
	show_signal(x, (uint32_t)s->si_signo);
	code = code_name(s->si_signo, s->si_code);
	if (code)
		buf_printf(x->out, ", si_code=%s", code);
	else
		buf_printf(x->out, ", si_code=%#x", (unsigned)s->si_code);
	buf_printf(x->out, ", si_pid=%d, si_uid=%u", s->si_pid, s->si_uid);
	if (s->si_signo == SIGCHLD && s->si_code > 1) {
		buf_puts(x->out, ", si_status=");
		show_signal(x, (uint32_t)s->si_status);
	} else if (s->si_signo == SIGCHLD) {
		buf_printf(x->out, ", si_status=%d", s->si_status);
	}
	if (s->si_signo == SIGCHLD)
		buf_printf(x->out, ", si_utime=%lld, si_stime=%lld", (long long)s->si_utime, (long long)s->si_stime);
	buf_putc(x->out, '}');
}

void show_sigaltstack(struct syscall_value *x)
{
	const uint64_t *s = value_struct(x, 24);

	if (!s)
		return;
	buf_printf(x->out, s[0] ? "{ss_sp=%#llx, ss_flags=" : "{ss_sp=NULL, ss_flags=", (unsigned long long)s[0]);
	show_flags_named(x, "ss_flags", (uint32_t)s[1]);
	buf_printf(x->out, ", ss_size=%llu}", (unsigned long long)s[2]);
}

void show_sigevent(struct syscall_value *x)
{
	const uint32_t *s = value_struct(x, 64);

	if (!s)
		return;
	buf_puts(x->out, "{sigev_signo=");
	show_signal(x, s[2]);
	buf_printf(x->out, ", sigev_notify=%s}", s[3] == 0 ? "SIGEV_SIGNAL" : s[3] == 1 ? "SIGEV_NONE" :
		   s[3] == 4 ? "SIGEV_THREAD_ID" : "SIGEV_THREAD");
}
