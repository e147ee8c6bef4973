/*
 * The list of functions that can be traced.
 */
#include "ftrace/ftrace.h"

#include <errno.h>
#include <stdio.h>

#include "base/io.h"
#include "base/tracefs.h"

#define FUNCTIONS_BYTES_MAX (256u << 20)

static int list_lines(struct str text, struct str pattern, int (*fn)(void *arg, const char *name), void *arg)
{
	char name[512];
	struct str line;
	int err = 0;

	while (err == 0 && str_cut(&text, '\n', &line)) {
		struct str rest = line, function;

		str_cut(&rest, ' ', &function);		/* "ext4_read [ext4]" */
		if (!line.n || (pattern.n && !str_glob(pattern, function)))
			continue;
		snprintf(name, sizeof(name), "%.*s", STR(line));
		err = fn(arg, name);
	}
	return err;
}

int tacho_ftrace_functions(const char *tracefs, const char *pattern, int (*fn)(void *arg, const char *name), void *arg,
			   struct tacho_error *e)
{
	scoped(buf_done) struct buf text = { 0 };
	char path[PATH_MAX], found[PATH_MAX];
	int err = 0;

	if (!tracefs)
		tracefs = tracefs_find(NULL, NULL, found, sizeof(found)) ? found : "/sys/kernel/tracing";
	err = setting_path(tracefs, "available_filter_functions", path);
	if (err == 0)
		err = io_read(path, FUNCTIONS_BYTES_MAX, &text);
	if (err == -ENOENT) {
		error_set(e, err, "this kernel has no list of functions that can be traced");
		error_hint(e, "tracefs is not mounted, or the kernel was built without CONFIG_DYNAMIC_FTRACE");
		return err;
	}
	if (err == -EACCES) {
		error_set(e, err, "%s cannot be read: permission denied", path);
		error_hint(e, "run as root");
		return err;
	}
	if (err == -EPERM)
		return refuse_functions(e);
	if (err < 0)
		return error_set(e, err, "cannot read %s: %s", path, strerror(-err));
	return list_lines(buf_view(&text), str_of(pattern), fn, arg);
}
