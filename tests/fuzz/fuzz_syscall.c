/*
 * Any bytes as records of the program that traces system calls, with any arguments and captured memory: every argument and
 * result is printed in both styles, whole and cut.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/syscall_event.h"
#include "base/defs.h"

#include <tacho/syscall.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t fd_text(void *arg, int fd, char *out, size_t room)
{
	(void)arg, (void)fd;
	if (room)
		out[0] = '/';
	return room ? 1 : 0;
}

static void print(const struct tacho_syscall_call *c, const struct tacho_syscall_print_opts *o)
{
	char text[256], little[3];

	for (unsigned arg = 0; arg < TACHO_SYSCALL_ARGS; arg++) {
		tacho_syscall_print_arg(c, arg, o, text, sizeof(text));
		tacho_syscall_print_arg(c, arg, o, little, sizeof(little));
	}
	if (c->returned)
		tacho_syscall_print_return(c, o, text, sizeof(text));
	tacho_syscall_used_args(c);
}

static void print_all(struct tacho_syscall_call *c)
{
	struct tacho_syscall_print_opts o = { .size = sizeof(o), .fd_text = fd_text };

	for (unsigned i = 0; i < 8; i++) {
		o.style = i & 1 ? TACHO_SYSCALL_PERF : TACHO_SYSCALL_STRACE;
		o.all_strings = i & 2;
		o.whole_names = i & 4;
		o.string_bytes = i & 2 ? 4096 : 0;
		print(c, &o);
	}
}

/* The parts of a record are tried as those of the start, of the end, and of both. */
static void use_event(const struct tacho_syscall_event *ev)
{
	for (int arch = 0; arch < 2; arch++)
		for (int way = 0; way < 3; way++) {
			struct tacho_syscall_call c = { .size = sizeof(c), .arch = (enum tacho_syscall_arch)arch,
				.sc = tacho_syscall_by_nr((enum tacho_syscall_arch)arch, ev->nr), .returned = way != 0, .ret = ev->ret };

			if (!c.sc)
				continue;
			memcpy(c.args, ev->v, sizeof(c.args));
			if (way != 1) {
				c.entry_parts = ev->parts;
				c.n_entry_parts = ev->n_parts;
			}
			if (way != 0) {
				c.exit_parts = ev->parts;
				c.n_exit_parts = ev->n_parts;
			}
			print_all(&c);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_syscall_event ev;
	size_t record = 0;

	while (size >= 4) {		/* one record after the other, as in a ring */
		uint8_t *copy = NULL;

		memcpy(&record, data, 4);
		record = min_of(record & 0xffff, size);
		if (record < 4)
			break;
		copy = malloc(record);	/* of exactly this size, so that a read past the end is seen */
		if (!copy)
			break;
		memcpy(copy, data, record);
		if (syscall_event_read(&ev, copy, record) == 0)
			use_event(&ev);
		free(copy);
		data += record;
		size -= record;
	}
	return 0;
}
