/*
 * Long output. A reader that closes its end of a pipe, such as head(1), ends the command.
 */
#include "cli/sched/output.h"

#include <errno.h>
#include <fcntl.h>

#include "base/io.h"
#include "cli/core/command.h"
#include "cli/core/fast_format.h"
#include "cli/sched/sched.h"

void sched_put_time(struct buf *out, uint64_t ns, unsigned width)
{
	char text[64], *at = format_dec(text, ns / 1000000000, width - 7, ' ');

	*at++ = '.';
	buf_put(out, text, (size_t)(format_dec6(at, ns % 1000000000 / 1000) - text));
}

void sched_json_id(struct json *j, const char *key, uint32_t id)
{
	json_key(j, key);
	if (id == UINT32_MAX)
		json_null(j);
	else
		json_u64(j, id);
}

bool sched_output_open(struct sched_output *o, const char *command, const char *path)
{
	*o = (struct sched_output){ .command = command, .path = path, .fd = STDOUT_FILENO };
	if (!path || !strcmp(path, "-")) {
		o->path = NULL;
		return true;
	}
	o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (o->fd >= 0)
		return true;
	message_text(command, "cannot write to %s: %s", path, strerror(errno));
	return false;
}

void sched_output_flush(struct sched_output *o)
{
	if (!o->err)
		o->err = buf_failed(&o->text) ? -ENOMEM : io_write_all(o->fd, o->text.bytes, o->text.n);
	buf_clear(&o->text);
}

int sched_output_close(struct sched_output *o)
{
	sched_output_flush(o);
	buf_done(&o->text);
	if (o->path && o->fd >= 0 && close(o->fd) < 0 && !o->err)
		o->err = -errno;
	if (!o->err)
		return 0;
	message_text(o->command, "cannot write to %s: %s", o->path ? o->path : "stdout", strerror(-o->err));
	return EXIT_FAILED;
}
