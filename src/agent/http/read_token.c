/*
 * The agent's own read token: 32 random bytes in hexadecimal digits, in the file `token` of the state directory. A file that others
 * may read is not trusted: it is replaced.
 */
#include "agent/http/access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/io.h"

static bool is_token(const char *text)
{
	return strlen(text) == READ_TOKEN_LEN && strspn(text, "0123456789abcdef") == READ_TOKEN_LEN;
}

/* False: there is none, or it cannot be trusted. */
static bool read_token(const char *path, char out[READ_TOKEN_LEN + 1])
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[READ_TOKEN_LEN + 2] = "";
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return false;
	n = read(fd, text, sizeof(text) - 1);
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	if (!is_token(text))
		return false;
	memcpy(out, text, READ_TOKEN_LEN + 1);
	return true;
}

static int make_token(char out[READ_TOKEN_LEN + 1])
{
	unsigned char bytes[READ_TOKEN_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int write_token(const char *path, const char *token)
{
	scoped(closep) int fd = -1;

	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || dprintf(fd, "%s\n", token) < 0)
		return -errno;
	return 0;
}

static int set_own_token(struct agent *a, struct tacho_error *e)
{
	char path[PATH_MAX];
	int err;

	if (a->state_dir &&
	    (size_t)snprintf(path, sizeof(path), "%s/token", a->state_dir) < sizeof(path) && read_token(path, a->read_token))
		return 0;
	err = make_token(a->read_token);
	if (err < 0)
		return error_set(e, err, "cannot make a random token: %s", strerror(-err));
	err = a->state_dir ? write_token(path, a->read_token) : 0;
	if (err < 0) {
		error_set(e, err, "cannot write the token for reading to %s: %s", path, strerror(-err));
		error_hint(e, "set [agent] read_token, or STATE_DIRECTORY to a directory that this user may write to");
		a->read_token[0] = '\0';
	}
	return err;
}

int access_make_token(struct agent *a, const struct agent_config *cfg, struct tacho_error *e)
{
	int err = 0;

	pthread_rwlock_wrlock(&a->config_lock);
	if (!cfg->read_token && !a->read_token[0])
		err = set_own_token(a, e);
	pthread_rwlock_unlock(&a->config_lock);
	return err;
}
