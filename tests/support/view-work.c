/*
 * view-work WORK ARG...: does a known number of things for the views of `tacho snoop`, and prints what is not known
 * beforehand.
 *
 *	open N		opens /dev/null and a missing file N times each
 *	exec N		executes /bin/true with two arguments N times
 *	exits		a child that exits with 3, one that is killed by SIGTERM, one by SIGKILL, one with a thread
 *	kill N		sends itself signal 0 N times
 *	pingpong N	two processes on one CPU send each other N bytes through pipes; prints the context switches of both
 *	echo N SIZE	N TCP connections over loopback, each sends SIZE bytes and gets them back; prints the port
 *	write FILE N	writes N blocks of 64 KiB, past the cache
 *	read FILE N	reads a byte N times, and waits a while
 *	lost-syn	a TCP connection to a listener that drops it, so that its first segment is sent again; prints the port
 *	functions N	calls twice(i) for i below N, and factorial(5); each call sleeps a millisecond
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int number(char **argv, int i)
{
	return argv[i] ? atoi(argv[i]) : 0;
}

static int work_open(char **argv)
{
	for (int i = 0; i < number(argv, 2); i++) {
		int fd = open("/dev/null", O_RDONLY);

		if (fd < 0 || open("/missing/tacho-view", O_RDONLY) >= 0)
			return 1;
		close(fd);
	}
	usleep(300000);			/* views on samples read the paths */
	return 0;
}

static int work_exec(char **argv)
{
	for (int i = 0; i < number(argv, 2); i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			execl("/bin/true", "true", "one two", "three", NULL);
			_exit(9);
		}
		if (waitpid(child, &status, 0) != child || status)
			return 1;
	}
	return 0;
}

static void *wait_a_little(void *arg)
{
	usleep(20000);
	return arg;
}

static void end_in(int way)
{
	pthread_t thread;

	if (way == 0)
		_exit(3);
	if (way == 3) {
		pthread_create(&thread, NULL, wait_a_little, NULL);
		pthread_join(thread, NULL);
		_exit(0);
	}
	pause();
}

static int work_exits(char **argv)
{
	static const int signals[] = { 0, SIGTERM, SIGKILL, 0 };

	(void)argv;
	for (int way = 0; way < 4; way++) {
		pid_t child = fork();

		if (child == 0) {
			end_in(way);
			_exit(8);
		}
		usleep(20000);
		if (signals[way])
			kill(child, signals[way]);
		waitpid(child, NULL, 0);
	}
	return 0;
}

static int work_kill(char **argv)
{
	for (int i = 0; i < number(argv, 2); i++)
		kill(getpid(), 0);
	return 0;
}

static void pass(int from, int to, int n, int starts)
{
	char c = 'x';

	for (int i = 0; i < n; i++)
		if ((starts && write(to, &c, 1) != 1) || read(from, &c, 1) != 1 || (!starts && write(to, &c, 1) != 1))
			_exit(7);
}

static long switches(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static int work_pingpong(char **argv)
{
	cpu_set_t one;
	int a[2], b[2];
	pid_t child;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(a) < 0 || pipe(b) < 0)
		return 1;
	child = fork();
	if (child == 0) {
		pass(a[0], b[1], number(argv, 2), 0);
		_exit(0);
	}
	pass(b[0], a[1], number(argv, 2), 1);
	waitpid(child, NULL, 0);
	printf("%ld\n", switches(RUSAGE_SELF) + switches(RUSAGE_CHILDREN));
	return 0;
}

struct echo {
	int listener, n;
};

static void *serve(void *arg)
{
	const struct echo *e = arg;
	static char bytes[65536];

	for (int i = 0; i < e->n; i++) {
		int s = accept(e->listener, NULL, NULL);
		ssize_t got;

		while ((got = read(s, bytes, sizeof(bytes))) > 0)
			if (write(s, bytes, (size_t)got) != got)
				break;
		close(s);
	}
	return NULL;
}

static int talk(const struct sockaddr_in *to, size_t size)
{
	static char bytes[65536];
	int s = socket(AF_INET, SOCK_STREAM, 0);
	size_t got = 0;

	if (s < 0 || connect(s, (const void *)to, sizeof(*to)) < 0 || write(s, bytes, size) != (ssize_t)size)
		return 1;
	while (got < size) {
		ssize_t n = read(s, bytes, sizeof(bytes));

		if (n <= 0)
			return 1;
		got += (size_t)n;
	}
	shutdown(s, SHUT_WR);
	if (read(s, bytes, 1) != 0)
		return 1;
	close(s);
	return 0;
}

static int work_echo(char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct echo e = { .n = number(argv, 2) };
	socklen_t n = sizeof(at);
	pthread_t thread;
	int failed = 0;

	e.listener = socket(AF_INET, SOCK_STREAM, 0);
	if (e.listener < 0 || bind(e.listener, (void *)&at, n) < 0 || listen(e.listener, 8) < 0 ||
	    getsockname(e.listener, (void *)&at, &n) < 0 || pthread_create(&thread, NULL, serve, &e))
		return 1;
	for (int i = 0; i < e.n && !failed; i++)
		failed = talk(&at, (size_t)number(argv, 3));
	if (!failed)
		pthread_join(thread, NULL);
	usleep(200000);			/* the last state of a socket comes after close() */
	printf("%d\n", ntohs(at.sin_port));
	return failed;
}

static int work_write(char **argv)
{
	int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, 0600);
	void *block;

	if (fd < 0 || posix_memalign(&block, 4096, 65536))
		return 1;
	memset(block, 1, 65536);
	for (int i = 0; i < number(argv, 3); i++)
		if (write(fd, block, 65536) != 65536)
			return 1;
	return 0;
}

static int work_read(char **argv)
{
	int fd = open(argv[2], O_RDONLY);
	char c;

	for (int i = 0; i < number(argv, 3); i++)
		if (pread(fd, &c, 1, 0) != 1)
			return 1;
	usleep(300000);			/* views on samples look the file up */
	return 0;
}

/* A listener without room for connections that wait to be accepted drops further ones. */
static int work_lost_syn(char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(at);

	(void)argv;
	if (listener < 0 || bind(listener, (void *)&at, n) < 0 || listen(listener, 0) < 0 ||
	    getsockname(listener, (void *)&at, &n) < 0)
		return 1;
	for (int i = 0; i < 4; i++) {
		int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		if (s < 0 || (connect(s, (const void *)&at, n) < 0 && errno != EINPROGRESS))
			return 1;
		usleep(10000);
	}
	usleep(1500000);
	printf("%d\n", ntohs(at.sin_port));
	return 0;
}

int twice(int n, long unused);
int factorial(int n);

__attribute__((noinline)) int twice(int n, long unused)
{
	usleep(1000);
	return n * 2 + (unused > 1000000);
}

__attribute__((noinline)) int factorial(int n)
{
	usleep(1000);
	return n < 2 ? 1 : n * factorial(n - 1);
}

static int work_functions(char **argv)
{
	long sum = 0;

	for (int i = 0; i < number(argv, 2); i++)
		sum += twice(i, i);
	return factorial(5) != 120 || sum < 0;
}

static const struct {
	const char *name;
	int (*run)(char **argv);
} works[] = {
	{ "open", work_open }, { "exec", work_exec }, { "exits", work_exits }, { "kill", work_kill },
	{ "pingpong", work_pingpong }, { "echo", work_echo }, { "write", work_write }, { "read", work_read },
	{ "functions", work_functions }, { "lost-syn", work_lost_syn },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(argv[1], works[i].name))
			return works[i].run(argv);
	return 2;
}
