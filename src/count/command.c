/*
 * Runs a command that is held until its counters are open.
 *
 *	spawn: fork; the child waits for a byte on the gate pipe	(counters are opened now)
 *	go:    writes the byte; the child calls exec			(counters start)
 *	       if exec succeeds, its report pipe is closed by CLOEXEC; else exec's errno is sent through it
 *	free:  a child still waiting at the gate sees EOF and exits without running anything
 *
 * Ended commands stay on a list until they are freed, so that an event set can look up the exact CPU
 * times of the command it counted.
 */
#include "count/evset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct tacho_command {
	struct tacho_command *next;
	char *name;
	pid_t pid;
	int gate;			/* write end of the gate pipe; -1 after go */
	int report;			/* read end of the report pipe: exec's errno */
	int pidfd;			/* -1: kernel before 5.3 */
	bool started, ended;
	int status;
	struct proc_times times;
};

static pthread_mutex_t commands_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tacho_command *commands;

bool command_times(int pid, struct proc_times *out)
{
	bool found = false;

	pthread_mutex_lock(&commands_lock);
	for (const struct tacho_command *cmd = commands; cmd; cmd = cmd->next)
		if (cmd->pid == pid && cmd->ended) {
			*out = cmd->times;
			found = true;
		}
	pthread_mutex_unlock(&commands_lock);
	return found;
}

static void add_to_list(struct tacho_command *cmd)
{
	pthread_mutex_lock(&commands_lock);
	cmd->next = commands;
	commands = cmd;
	pthread_mutex_unlock(&commands_lock);
}

static void remove_from_list(struct tacho_command *cmd)
{
	pthread_mutex_lock(&commands_lock);
	for (struct tacho_command **at = &commands; *at; at = &(*at)->next)
		if (*at == cmd) {
			*at = cmd->next;
			break;
		}
	pthread_mutex_unlock(&commands_lock);
}

__attribute__((noreturn)) static void run_child(char *const argv[], int gate, int report)
{
	sigset_t none;
	char byte;
	ssize_t got;
	int why;

	/* The caller may have blocked signals to take them from a signalfd; the command must not inherit that. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	do
		got = read(gate, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(127);		/* EOF: the command was freed without being started */
	execvp(argv[0], argv);
	why = errno;
	got = write(report, &why, sizeof(why));
	_exit(got == sizeof(why) ? 127 : 126);
}

static int close_pair(int pipe_fds[2], int err)
{
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return err;
}

/* Creates both pipes and the waiting child; fills in cmd->gate, ->report and ->pid. */
static int fork_held(struct tacho_command *cmd, char *const argv[])
{
	int gate[2], report[2];

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(report, O_CLOEXEC) < 0)
		return close_pair(gate, -errno);
	cmd->pid = fork();
	if (cmd->pid < 0)
		return close_pair(gate, close_pair(report, -errno));
	if (cmd->pid == 0) {
		/* With its own copy of the write end open, the child would never see EOF. */
		close(gate[1]);
		close(report[0]);
		run_child(argv, gate[0], report[1]);
	}
	close(gate[0]);
	close(report[1]);
	cmd->gate = gate[1];
	cmd->report = report[0];
	return 0;
}

int tacho_command_spawn(struct tacho_command **out, char *const argv[], struct tacho_error *e)
{
	struct tacho_command *cmd;
	int err;

	if (!argv || !argv[0])
		return error_set(e, -EINVAL, "no command was given");
	cmd = calloc(1, sizeof(*cmd));
	if (!cmd)
		return error_nomem(e);
	cmd->name = str_dup(str_of(argv[0]));
	if (!cmd->name) {
		free(cmd);
		return error_nomem(e);
	}
	err = fork_held(cmd, argv);
	if (err < 0) {
		error_set(e, err, "cannot create a process for '%s': %s", argv[0],
			  strerror(-err));
		free(cmd->name);
		free(cmd);
		return err;
	}
#ifdef SYS_pidfd_open
	cmd->pidfd = (int)syscall(SYS_pidfd_open, cmd->pid, 0);
#else
	cmd->pidfd = -1;
#endif
	add_to_list(cmd);
	*out = cmd;
	return 0;
}

int tacho_command_pid(const struct tacho_command *cmd)
{
	return cmd->pid;
}

int tacho_command_fd(const struct tacho_command *cmd)
{
	return cmd->pidfd;
}

static int read_exec_errno(int fd, int *why)
{
	ssize_t got;

	do
		got = read(fd, why, sizeof(*why));
	while (got < 0 && errno == EINTR);
	return got == sizeof(*why) ? 1 : 0;
}

/* Writes the byte to the gate. If the child was killed meanwhile, SIGPIPE must not kill this process. */
static int open_gate(struct tacho_command *cmd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	ssize_t put;
	int err;

	sigaction(SIGPIPE, &ignore, &before);
	do
		put = write(cmd->gate, "", 1);
	while (put < 0 && errno == EINTR);
	err = put == 1 ? 0 : -errno;
	sigaction(SIGPIPE, &before, NULL);
	close(take_fd(cmd->gate));
	return err == -EPIPE ? -ESRCH : err;
}

int tacho_command_go(struct tacho_command *cmd, struct tacho_error *e)
{
	int why = 0, err;

	if (cmd->started)
		return error_set(e, -EALREADY, "'%s' was started already", cmd->name);
	cmd->started = true;
	err = open_gate(cmd);
	if (err < 0)
		return error_set(e, err, "'%s' was killed before it could start", cmd->name);
	if (read_exec_errno(cmd->report, &why))
		err = -why;
	close(take_fd(cmd->report));
	if (err == 0)
		return 0;
	error_set(e, err, "cannot start '%s': %s", cmd->name, strerror(-err));
	if (err == -ENOENT)
		error_hint(e, strchr(cmd->name, '/') ? "there is no such file"
						     : "it is in no directory of PATH");
	if (err == -EACCES)
		error_hint(e, "the file is not executable (chmod +x?)");
	return err;
}

static uint64_t timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000ULL + (uint64_t)tv.tv_usec * 1000;
}

static int reap(struct tacho_command *cmd, bool block)
{
	struct rusage ru = { 0 };
	int status = 0;
	pid_t got;

	do
		got = wait4(cmd->pid, &status, block ? 0 : WNOHANG, &ru);
	while (got < 0 && errno == EINTR && block);
	if (got < 0)
		return -errno;
	if (got == 0)
		return 0;
	pthread_mutex_lock(&commands_lock);
	cmd->status = status;
	cmd->times.user_ns = timeval_ns(ru.ru_utime);
	cmd->times.system_ns = timeval_ns(ru.ru_stime);
	cmd->ended = true;
	pthread_mutex_unlock(&commands_lock);
	return 1;
}

int tacho_command_wait(struct tacho_command *cmd, bool block, struct tacho_usage *usage)
{
	struct tacho_usage u = { 0 };

	if (!cmd->ended) {
		int got = reap(cmd, block);

		if (got <= 0)
			return got == -EINTR ? 0 : got;
	}
	if (!usage)
		return 1;
	u.size = min_of(usage->size, sizeof(u));
	u.status = cmd->status;
	u.user_s = (double)cmd->times.user_ns / 1e9;
	u.system_s = (double)cmd->times.system_ns / 1e9;
	memcpy(usage, &u, u.size ? u.size : sizeof(u));
	return 1;
}

int tacho_command_kill(struct tacho_command *cmd, int signal)
{
	if (cmd->ended)
		return -ESRCH;
	return kill(cmd->pid, signal) < 0 ? -errno : 0;
}

void tacho_command_free(struct tacho_command *cmd)
{
	if (!cmd)
		return;
	if (cmd->gate >= 0)
		close(cmd->gate);
	if (cmd->report >= 0)
		close(cmd->report);
	/* A child still at the gate exits on EOF; a running command is neither killed nor waited for. */
	if (!cmd->started && !cmd->ended)
		reap(cmd, true);
	if (cmd->pidfd >= 0)
		close(cmd->pidfd);
	remove_from_list(cmd);
	free(cmd->name);
	free(cmd);
}
