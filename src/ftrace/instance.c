/*
 * Tracing instances: directories in tracefs that the kernel fills with a complete set of tracing files. One that is in use
 * cannot be removed, so those that cannot be used any more, because their program was killed with all its helpers, are
 * removed by trying.
 */
#include "ftrace/ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/io.h"

#define NAMES_TRIED 16
#define PREFIX "tacho-"

int instance_refuse(const struct tacho_ftrace *f, int err, const char *file, struct tacho_error *e)
{
	if (err == -EACCES) {
		error_set(e, err, "%s cannot be used: permission denied", file[0] == '/' ? file : f->root);
		error_hint(e, "run as root, or let a group use it: mount -o remount,gid=GROUP,mode=770 %s", f->root);
	} else if (err == -EPERM) {
		error_set(e, err, "the kernel does not permit tracing by %s", file);
		error_hint(e, "kernel lockdown or a security policy forbids it");
	} else if (err == -ENOENT) {
		error_set(e, -EOPNOTSUPP, "this kernel does not have the tracing setting '%s'", file);
		return -EOPNOTSUPP;
	} else {
		error_set(e, err, "cannot use %s: %s", file, strerror(-err));
	}
	return err;
}

static void remove_stale(const char *instances)
{
	struct strlist names = { 0 };
	char path[PATH_MAX];

	if (sys_list_dir(instances, &names) < 0)
		return;
	for (size_t i = 0; i < names.n; i++)
		if (!strncmp(names.v[i], PREFIX, strlen(PREFIX)) && setting_path(instances, names.v[i], path) == 0)
			rmdir(path);
	strlist_done(&names);
}

/* Makes a directory and opens one of its files, so that it is in use. */
static int make_directory(struct tacho_ftrace *f, const char *instances, unsigned number)
{
	char name[64], path[PATH_MAX];
	int err;

	snprintf(name, sizeof(name), PREFIX "%d-%u", (int)getpid(), number);
	err = setting_path(instances, name, f->dir);
	if (err == 0 && io_is_accessible(f->dir, F_OK))
		err = -EEXIST;
	if (err == 0)
		err = restore_add(f->restore, RESTORE_DIRECTORY, f->dir, "");
	if (err == 0)
		err = mkdir(f->dir, 0700) < 0 ? -errno : setting_path(f->dir, "tracing_on", path);
	if (err < 0)
		return err;
	f->hold_fd = open(path, O_RDONLY | O_CLOEXEC);
	return f->hold_fd < 0 ? -errno : 0;
}

/* Another tacho may remove the directory as stale before it is in use: then the next name is tried. */
static int make_instance(struct tacho_ftrace *f, struct tacho_error *e)
{
	char instances[PATH_MAX];
	int err = setting_path(f->root, "instances", instances);

	if (err < 0)
		return instance_refuse(f, err, "instances", e);
	remove_stale(instances);
	for (unsigned i = 0; i < NAMES_TRIED; i++) {
		err = make_directory(f, instances, i);
		if (err == 0)
			return 0;
		if (err != -EEXIST && err != -ENOENT)
			break;
	}
	return instance_refuse(f, err, instances, e);
}

static int refuse_tracer(const struct tacho_ftrace *f, struct tacho_error *e)
{
	error_set(e, -EOPNOTSUPP, "this kernel has no '%s' tracer", f->opts.tracer);
	error_hint(e, "it was built without CONFIG_%s; 'ftrace latency -e EVENT,EVENT' needs no tracer",
		   strcmp(f->opts.tracer, "function") ? "FUNCTION_GRAPH_TRACER" : "FUNCTION_TRACER");
	return -EOPNOTSUPP;
}

/* Whether the tracer of the whole machine is free. */
static int check_idle(const struct tacho_ftrace *f, struct tacho_error *e)
{
	char path[PATH_MAX], text[256];
	const char *used = NULL;

	if (!setting_has_word(f->root, "current_tracer", "nop"))
		used = "current_tracer";
	else if (setting_path(f->root, "set_event", path) == 0 && io_read_small(AT_FDCWD, path, text, sizeof(text)) > 0)
		used = "set_event";
	if (!used)
		return 0;
	error_set(e, -EBUSY, "%s/%s is in use by another program", f->root, used);
	error_hint(e, "on this kernel the %s works only for one program", f->opts.flags & TACHO_FTRACE_STACK ?
		   "option call-graph" : "function graph tracer");
	return -EBUSY;
}

/* Stacks of the function tracer: older kernels accept the option in an instance, but record none. 5.10 is one, 6.1 is not. */
static bool needs_whole_machine(const struct tacho_ftrace *f)
{
	struct utsname u;
	int major = 0, minor = 0;

	if (!(f->opts.flags & TACHO_FTRACE_STACK) || uname(&u) < 0 || sscanf(u.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major < 6 || (major == 6 && minor < 1);
}

static int use_whole_machine(struct tacho_ftrace *f, struct tacho_error *e)
{
	char path[PATH_MAX];
	int err = check_idle(f, e);

	if (err < 0)
		return err;
	closep(&f->hold_fd);
	f->hold_fd = -1;
	rmdir(f->dir);
	memcpy(f->dir, f->root, sizeof(f->dir));
	f->whole_machine = true;
	/* Truncated at the end: what was traced is for this program only. */
	if (setting_path(f->root, "trace", path) < 0)
		return error_set(e, -ENAMETOOLONG, "the path of tracefs is too long");
	err = restore_add(f->restore, RESTORE_FILE, path, "");
	return err < 0 ? error_set(e, err, "the process that restores settings cannot be used: %s", strerror(-err)) : 0;
}

int instance_make(struct tacho_ftrace *f, struct tacho_error *e)
{
	int err = make_instance(f, e);

	if (err < 0 || !f->opts.tracer)
		return err;
	if (setting_has_word(f->dir, "available_tracers", f->opts.tracer) && !needs_whole_machine(f))
		return 0;
	if (!setting_has_word(f->root, "available_tracers", f->opts.tracer))
		return refuse_tracer(f, e);
	return use_whole_machine(f, e);
}
