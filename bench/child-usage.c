/*
 * child-usage COMMAND [ARG...]: runs a command, its output to /dev/null, and prints its CPU time in seconds and its peak memory
 * in kilobytes, both with those of its own children. The peak of a process includes that of the one it was forked from until
 * it calls exec, so python3 cannot measure small programs itself. Exits with the status of the command.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(char **command)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(126);
	execvp(command[0], command);
	_exit(127);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (pid == 0)
		run(argv + 1);
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
		return 1;
	printf("%.6f %ld\n", seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
