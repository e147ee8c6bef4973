/*
 * Lists all tracepoints. A machine has about two thousand in a hundred directories, so only the directories
 * are read; the encoding, which needs a file per tracepoint, is read on request.
 */
#include "event/list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/io.h"

/* Returns whether the name is a control file, not the directory of a system or tracepoint. */
static bool is_control_file(const char *name)
{
	return strcmp(name, "enable") == 0 || strcmp(name, "filter") == 0 ||
	       strcmp(name, "header_event") == 0 || strcmp(name, "header_page") == 0;
}

static bool has_file(const char *dir, const char *event, const char *file)
{
	char path[PATH_MAX + NAME_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s/%s", dir, event, file);
	return io_is_accessible(path, F_OK);
}

static bool read_encoding(const char *dir, const char *event, char *out, size_t size)
{
	char path[PATH_MAX + NAME_MAX + 16], id[32];

	snprintf(path, sizeof(path), "%s/%s/id", dir, event);
	if (io_read_small(AT_FDCWD, path, id, sizeof(id)) <= 0)
		return false;
	snprintf(out, size, "tracepoint/config=0x%lx/", strtoul(id, NULL, 10));
	return true;
}

static int emit_tracepoint(struct lister *l, const char *dir, const char *system, const char *event)
{
	char name[NAME_MAX * 2 + 2], encoding[64];
	struct tacho_listing item = { .name = name, .kind = "Tracepoint event", .pmu = "tracepoint",
				      .class_ = "tracepoint", .topic = system, .scale = 1,
				      .available = true };

	snprintf(name, sizeof(name), "%s:%s", system, event);
	/* ftrace/ describes the records of the function tracer; only those with an id are tracepoints. */
	if (strcmp(system, "ftrace") == 0 && !has_file(dir, event, "id"))
		return 0;
	if (strcmp(name, "ftrace:function") == 0) {
		item.available = false;
		item.why = "the function tracer's own event, which the kernel does not allow to be counted";
	}
	if (l->opts->details && read_encoding(dir, event, encoding, sizeof(encoding)))
		item.encoding = encoding;
	return lister_emit(l, &item);
}

static int list_system(struct lister *l, const char *root, const char *system)
{
	scoped(strlist_done) struct strlist events = { 0 };
	char dir[PATH_MAX];
	int err;

	snprintf(dir, sizeof(dir), "%s/events/%s", root, system);
	err = sys_list_dir(dir, &events);
	if (err == -ENOMEM)
		return err;
	err = 0;
	for (size_t i = 0; !err && i < events.n; i++)
		if (!is_control_file(events.v[i]))
			err = emit_tracepoint(l, dir, system, events.v[i]);
	return err;
}

/* A missing tracefs is not an error: there are no tracepoints to list then. */
int list_tracepoints(struct lister *l)
{
	scoped(strlist_done) struct strlist systems = { 0 };
	const char *root;
	char path[PATH_MAX];
	int err;

	if (!lister_wants(l, "tracepoint", "tracepoint"))
		return 0;
	root = sys_tracefs(&l->t->sys);
	if (!root)
		return 0;
	snprintf(path, sizeof(path), "%s/events", root);
	err = sys_list_dir(path, &systems);
	if (err == -ENOMEM)
		return err;
	err = 0;
	for (size_t i = 0; !err && i < systems.n; i++)
		if (!is_control_file(systems.v[i]))
			err = list_system(l, root, systems.v[i]);
	return err;
}
