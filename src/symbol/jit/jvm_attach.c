/*
 * HotSpot's attach protocol, as far as it is needed to run the diagnostic command Compiler.perfmap (Java 17):
 *
 *	/tmp/.attach_pidN is created, SIGQUIT	-> the JVM sees the file and listens on the socket /tmp/.java_pidN
 *	connect to the socket (it stays for later requests)
 *	"1" 0 "jcmd" 0 "Compiler.perfmap" 0 0 0	-> status in decimal, newline, text
 *
 * N and /tmp are those of the JVM's namespaces; its /tmp is reached through /proc/PID/root. Everyone can write to /tmp and
 * a container's owner controls its files, so no symbolic link is followed, the files are touched with the JVM's user ID,
 * and the process that listens must be the JVM itself.
 */
#include <tacho/jit.h>

#include "symbol/jit/jvm_process.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "base/num.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

#define PROCFS "/proc"
#define RESPONSE_MAX 65536u
#define FIRST_POLL_MS 10u
#define MAX_POLL_MS 200u

struct attach {
	int pid;
	struct jvm_process jvm;
	int pidfd;			/* -1: before Linux 5.3 */
	int tmp;			/* the JVM's /tmp */
	uint64_t deadline_ms;
	struct tacho_error *e;
};

static uint64_t now_ms(void)
{
	return clock_mono_ns() / 1000000;
}

/* Only of this thread: glibc's functions would change those of all threads. */
static int set_ids(uid_t uid, gid_t gid)
{
	/* The group first, as long as the user may change it; on the way back the user first. */
	if (uid == 0 && syscall(SYS_setresuid, -1, uid, -1) < 0)
		return -errno;
	if (syscall(SYS_setresgid, -1, gid, -1) < 0)
		return -errno;
	return uid && syscall(SYS_setresuid, -1, uid, -1) < 0 ? -errno : 0;
}

/* Opens the JVM's /tmp. It is not followed if it is a symbolic link, which would lead out of the container. */
static int open_tmp(struct attach *a)
{
	char path[64];
	scoped(closep) int root = -1;

	snprintf(path, sizeof(path), PROCFS "/%d/root", a->pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	a->tmp = root < 0 ? -1 : openat(root, "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->tmp >= 0)
		return 0;
	return error_set(a->e, -errno, "cannot open /tmp of the JVM %d: %s", a->pid, strerror(errno));
}

static bool socket_exists(const struct attach *a)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), ".java_pid%d", a->jvm.inner_pid);
	return fstatat(a->tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

/* Sends SIGQUIT, after making sure once more that it is a JVM. */
static int trigger(const struct attach *a)
{
	struct jvm_process again;
	int err = jvm_process_read(PROCFS, a->pid, &again, a->e);

	if (err < 0)
		return err;
	if (err == 0)
		return error_set(a->e, -ESRCH, "the process %d is no longer a JVM", a->pid);
	if (a->pidfd >= 0 ? syscall(SYS_pidfd_send_signal, a->pidfd, SIGQUIT, NULL, 0) < 0 : kill(a->pid, SIGQUIT) < 0)
		return error_set(a->e, -errno, "cannot send a signal to the JVM %d: %s", a->pid, strerror(errno));
	return 0;
}

static int wait_for_socket(const struct attach *a)
{
	unsigned poll_ms = FIRST_POLL_MS;

	while (!socket_exists(a)) {
		const struct timespec pause = { .tv_nsec = poll_ms * 1000000l };

		if (now_ms() >= a->deadline_ms)
			return error_set(a->e, -ETIMEDOUT, "the JVM %d did not open its socket for requests", a->pid);
		nanosleep(&pause, NULL);
		poll_ms = min_of(poll_ms * 2, MAX_POLL_MS);
	}
	return 0;
}

/* Makes the JVM listen, unless it already does. */
static int start_listener(const struct attach *a)
{
	char name[32];
	int fd, err;

	if (socket_exists(a))
		return 0;
	snprintf(name, sizeof(name), ".attach_pid%d", a->jvm.inner_pid);
	fd = openat(a->tmp, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST)		/* it may be left over; the JVM checks its owner */
		return error_set(a->e, -errno, "cannot create %s in /tmp of the JVM %d: %s", name, a->pid, strerror(errno));
	closep(&fd);
	err = trigger(a);
	if (err == 0)
		err = wait_for_socket(a);
	unlinkat(a->tmp, name, 0);
	return err;
}

static int set_timeouts(int fd, uint64_t deadline_ms)
{
	uint64_t now = now_ms(), left = deadline_ms > now ? deadline_ms - now : 1;
	const struct timeval tv = { .tv_sec = (time_t)(left / 1000), .tv_usec = (suseconds_t)(left % 1000 * 1000) };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0 ||
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0 ? -errno : 0;
}

/* Returns a socket that is connected to the JVM itself, or a negative errno. */
static int connect_to(const struct attach *a)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	scoped(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred peer = { 0 };
	socklen_t n = sizeof(peer);

	snprintf(to.sun_path, sizeof(to.sun_path), PROCFS "/self/fd/%d/.java_pid%d", a->tmp, a->jvm.inner_pid);
	if (fd < 0 || set_timeouts(fd, a->deadline_ms) < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return error_set(a->e, -errno, "cannot connect to the JVM %d: %s", a->pid, strerror(errno));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || peer.pid != a->pid)
		return error_set(a->e, -EPERM, "the socket of the JVM %d in its /tmp belongs to another process", a->pid);
	return take_fd(fd);
}

/* Reads the status at the start of the response, and the rest until the JVM closes the connection: then the map is
 * complete. */
static int read_status(const struct attach *a, int fd, int64_t *status)
{
	scoped(buf_done) struct buf text = { 0 };
	struct str rest, line;
	char bytes[4096];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) != 0) {
		bool late = now_ms() >= a->deadline_ms;		/* the timeout of recv() begins anew with each byte */

		if (n < 0 && errno == EINTR && !late)
			continue;
		if (late || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)))
			return error_set(a->e, -ETIMEDOUT, "the JVM %d did not answer in time", a->pid);
		if (n < 0)
			return error_set(a->e, -errno, "cannot read the answer of the JVM %d: %s", a->pid, strerror(errno));
		if (text.n + (size_t)n > RESPONSE_MAX)
			return error_set(a->e, -EFBIG, "the answer of the JVM %d is too long", a->pid);
		buf_put(&text, bytes, (size_t)n);
	}
	if (buf_failed(&text))
		return error_nomem(a->e);
	rest = buf_view(&text);
	if (!text.n || !str_cut(&rest, '\n', &line) || num_i64(str_trim(line), status) < 0)
		return error_set(a->e, -EBADMSG, "the JVM %d gave no valid answer", a->pid);
	return 0;
}

static int request_map(const struct attach *a)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";	/* and the NUL of the literal */
	scoped(closep) int fd = connect_to(a);
	int64_t status = -1;
	int err;

	if (fd < 0)
		return fd;
	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return error_set(a->e, -EPIPE, "cannot send a request to the JVM %d: %s", a->pid, strerror(errno));
	err = read_status(a, fd, &status);
	if (err < 0)
		return err;
	if (status != 0)
		return error_set(a->e, -ENOTSUP, "the JVM %d cannot write a map of its functions: this needs Java 17", a->pid);
	return 0;
}

/* With the JVM's user and group: it accepts requests from its own user, and files are created as if it did so. */
static int attach_as_owner(const struct attach *a)
{
	bool changes = geteuid() == 0 && (a->jvm.uid != 0 || a->jvm.gid != getegid());
	gid_t gid = getegid();
	int err = changes ? set_ids(a->jvm.uid, a->jvm.gid) : 0;

	if (err == 0)
		err = start_listener(a);
	else
		error_set(a->e, err, "cannot act as the user of the JVM %d: %s", a->pid, strerror(-err));
	if (err == 0)
		err = request_map(a);
	if (changes && set_ids(0, gid) < 0)
		return error_set(a->e, -EPERM, "cannot become root again");
	return err;
}

int tacho_jvm_write_map(int pid, unsigned timeout_ms, struct tacho_error *e)
{
	struct attach a = { .pid = pid, .pidfd = -1, .tmp = -1, .deadline_ms = now_ms() + timeout_ms, .e = e };
	int err;

#ifdef SYS_pidfd_open
	a.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
#endif
	err = jvm_process_read(PROCFS, pid, &a.jvm, e);
	if (err == 0)
		err = error_set(e, -EINVAL, "the process %d is not a HotSpot JVM that accepts requests", pid);
	else if (err > 0 && geteuid() != 0 && geteuid() != a.jvm.uid)
		err = error_set(e, -EACCES, "the JVM %d belongs to another user: only that user and root can ask it for its "
				"functions", pid);
	if (err > 0)
		err = open_tmp(&a);
	if (err == 0)
		err = attach_as_owner(&a);
	closep(&a.tmp);
	closep(&a.pidfd);
	return err;
}

int tacho_jvm_check(int pid, struct tacho_error *e)
{
	struct jvm_process jvm;

	return jvm_process_read(PROCFS, pid, &jvm, e);
}

int tacho_jvm_each(int (*fn)(void *arg, int pid), void *arg)
{
	DIR *dir = opendir(PROCFS);
	const struct dirent *d;
	int pid, err = 0;

	if (!dir)
		return -errno;
	while (err == 0 && (d = readdir(dir)))
		if (num_int(str_of(d->d_name), &pid) == 0 && pid > 0 && tacho_jvm_check(pid, NULL) > 0)
			err = fn(arg, pid);
	closedir(dir);
	return err;
}
