/*
 * Opens the control channel and reads its commands. A command ends with a newline, a NUL, or the end of a
 * write.
 */
#include "cli/core/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/io.h"
#include "base/num.h"
#include "cli/core/command.h"

int control_open(struct control *c, const char *command, const char *text)
{
	struct str spec = str_of(text), first;
	bool fifo = str_starts(spec, "fifo:");
	int *fds[] = { &c->fd, &c->ack };

	*c = (struct control){ .fd = -1, .ack = -1, .owned = fifo };
	if (!spec.n)
		return 0;
	if (!fifo && !str_starts(spec, "fd:")) {
		message_text(command, "--control takes fd:CTL[,ACK] or fifo:CTL[,ACK], not '%s'", text);
		return -EINVAL;
	}
	spec = str_n(strchr(spec.s, ':') + 1, spec.n - (fifo ? 5 : 3));
	for (size_t i = 0; i < 2 && str_cut(&spec, ',', &first); i++) {
		scoped(freep) char *name = str_dup(first);

		if (!name)
			return -ENOMEM;
		if (fifo)
			*fds[i] = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		else if (num_int(first, fds[i]) < 0 || fcntl(*fds[i], F_GETFD) < 0)
			*fds[i] = -1;
		if (*fds[i] < 0) {
			message_text(command, fifo ? "cannot open the control fifo '%s': %s"
						   : "'%s' is not an open file descriptor for --control",
				     name, strerror(errno));
			return -EINVAL;
		}
	}
	return 0;
}

void control_close(struct control *c)
{
	if (c->owned && c->fd >= 0)
		close(c->fd);
	if (c->owned && c->ack >= 0)
		close(c->ack);
	c->fd = c->ack = -1;
}

void control_read(struct control *c, const char *command, const char *known,
		  bool (*obey)(void *arg, struct str text), void *arg)
{
	char text[256];
	ssize_t n = read(c->fd, text, sizeof(text) - 1);
	struct str rest, line;

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		c->ended = true;
		return;
	}
	rest = str_n(text, n > 0 ? (size_t)n : 0);
	for (size_t i = 0; i < rest.n; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	while (str_cut(&rest, '\n', &line)) {
		line = str_trim(line);
		if (!line.n)
			continue;
		if (!obey(arg, line))
			message_text(command, "unknown command '%.*s' on the control channel; known are %s",
				     STR(line), known);
		else if (c->ack >= 0)
			io_write_all(c->ack, "ack\n", 4);
	}
}
