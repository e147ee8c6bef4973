/*
 * Environments of processes for --exec: what a program gets that differs from what its parent program got, printed as the
 * arguments of env(1) that make the difference:
 *
 *	env -u OLD CC="gcc" MAKELEVEL="1"
 *
 * The kernel's copy of the strings comes with the event of the exec (bpf/syscalls.bpf.c), up to 16 KiB. The variable "_" is left
 * out: shells set it to the program's path.
 */
#include "cli/trace/trace.h"

#include <stdio.h>
#include <unistd.h>

#include "base/io.h"

#define MAX_BYTES 65536u

struct trace_environment {
	unsigned refs;
	bool cut;			/* there is more than `bytes` */
	size_t n;
	char bytes[];			/* strings NAME=VALUE, each with its NUL */
};

static struct trace_environment *environment_of(const char *bytes, size_t n, bool cut)
{
	struct trace_environment *env = malloc(sizeof(*env) + n + 1);

	if (!env)
		return NULL;
	*env = (struct trace_environment){ .refs = 1, .cut = cut, .n = n };
	memcpy(env->bytes, bytes, n);
	while (cut && env->n && env->bytes[env->n - 1])	/* the last string is not whole */
		env->n--;
	if (env->n && env->bytes[env->n - 1])
		env->bytes[env->n++] = '\0';
	return env;
}

static void unref(struct trace_environment *env)
{
	if (env && --env->refs == 0)
		free(env);
}

/* The strings one after the other; false: no more. */
static bool next_string(const struct trace_environment *env, size_t *at, struct str *out)
{
	if (*at >= env->n)
		return false;
	*out = str_of(env->bytes + *at);
	*at += out->n + 1;
	return true;
}

static struct str name_of(struct str variable)
{
	ptrdiff_t n = str_find(variable, '=');

	return n < 0 ? variable : str_n(variable.s, (size_t)n);
}

static bool find(const struct trace_environment *env, struct str name, struct str *out)
{
	size_t at = 0;

	while (next_string(env, &at, out))
		if (str_eq(name_of(*out), name))
			return true;
	return false;
}

static void set_environment(struct trace *t, int pid, struct trace_environment *env)
{
	struct trace_process *p = trace_process_get(t, pid);

	if (!p) {
		unref(env);
		return;
	}
	unref(p->previous);
	p->previous = p->environment;
	p->environment = env;
}

void trace_environment_of_tracer(struct trace *t, int pid)
{
	struct buf all = { 0 };

	if (!t->o->exec_tree)
		return;
	for (char **v = environ; v && *v && all.n < MAX_BYTES; v++)
		buf_put(&all, *v, strlen(*v) + 1);
	if (!all.bad)
		set_environment(t, pid, environment_of(all.bytes ? all.bytes : "", min_of(all.n, (size_t)MAX_BYTES), all.n > MAX_BYTES));
	buf_done(&all);
}

void trace_environment_read(struct trace *t, int pid)
{
	struct buf all = { 0 };
	char path[40];

	if (!t->o->exec_tree)
		return;
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	if (io_read(path, 4 * MAX_BYTES, &all) >= 0 && all.n)
		set_environment(t, pid, environment_of(all.bytes, all.n, false));
	buf_done(&all);
}

void trace_environment_fork(struct trace *t, int parent, int child)
{
	struct trace_process *from = t->o->exec_tree ? trace_process_get(t, parent) : NULL, *to;

	if (!from || !from->environment)
		return;
	to = trace_process_get(t, child);
	if (!to)
		return;
	trace_environment_done(to);
	to->environment = from->environment;
	to->environment->refs++;
}

void trace_environment_exec(struct trace *t, const struct tacho_syscall_event *ev)
{
	const uint8_t *at = ev->parts;
	size_t left = ev->n_parts, whole = 0;
	struct trace_environment *env = NULL;
	struct buf all = { 0 };
	bool found = false;

	if (!t->o->exec_tree)
		return;
	while (left >= sizeof(struct tacho_syscall_part)) {
		const struct tacho_syscall_part *part = (const void *)at;
		size_t size = (sizeof(*part) + part->n + 7) & ~(size_t)7;

		if (size > left)
			break;
		if (part->arg == TACHO_SYSCALL_ENVIRONMENT) {
			buf_put(&all, part + 1, part->n);
			whole = part->whole;
			found = true;
		}
		at += size;
		left -= size;
	}
	if (found && !all.bad)
		env = environment_of(all.bytes ? all.bytes : "", all.n, all.n < whole);
	set_environment(t, (int)ev->pid, env);
	buf_done(&all);
}

void trace_environment_done(struct trace_process *p)
{
	unref(p->environment);
	unref(p->previous);
	p->environment = p->previous = NULL;
}

static void print_value(struct str value, struct buf *out)
{
	buf_putc(out, '"');
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.s[i];

		if (c == '"' || c == '\\' || c == '$' || c == '`')
			buf_printf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			buf_printf(out, "\\%03o", c);
		else
			buf_putc(out, (char)c);
	}
	buf_putc(out, '"');
}

static void print_name(struct str name, struct buf *out)
{
	for (size_t i = 0; i < name.n; i++)
		buf_putc(out, name.s[i] > ' ' && name.s[i] < 0x7f ? name.s[i] : '?');
}

void trace_print_environment(const struct trace_process *p, struct buf *out)
{
	const struct trace_environment *new = p->environment, *old = p->previous;
	struct str variable, other;
	const char *head = " env";

	if (!new || !old || new == old)
		return;
	for (size_t at = 0; !new->cut && next_string(old, &at, &variable);) {
		if (find(new, name_of(variable), &other) || str_is(name_of(variable), "_"))
			continue;
		buf_printf(out, "%s -u ", head);
		print_name(name_of(variable), out);
		head = "";
	}
	for (size_t at = 0; next_string(new, &at, &variable);) {
		struct str name = name_of(variable);
		bool is_old = find(old, name, &other);

		if (str_is(name, "_") || (is_old && str_eq(variable, other)) || (!is_old && old->cut))
			continue;
		buf_printf(out, "%s ", head);
		print_name(name, out);
		buf_putc(out, '=');
		print_value(str_n(name.s + min_of(name.n + 1, variable.n), variable.n - min_of(name.n + 1, variable.n)), out);
		head = "";
	}
	if (new->cut || old->cut)
		buf_printf(out, "%s ...", head);
}
