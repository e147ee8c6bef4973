/*
 * SIGQUIT ends a process that does not handle it, and makes other runtimes write a core dump or a thread dump. So a
 * process counts as a HotSpot JVM only if everything fits: it handles SIGQUIT, has HotSpot's thread for signals, has
 * libjvm.so mapped as code, and is not OpenJ9, which also has a libjvm.so. The thread is started after the handler was
 * installed, therefore a JVM that is just starting is not recognized.
 */
#include "symbol/jit/jvm_process.h"

#include "symbol/proc_maps.h"

#include "base/error.h"
#include "base/io.h"
#include "base/num.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#define STATUS_MAX 65536u
#define CMDLINE_MAX (4u << 20)
#define SIGNAL_THREAD "Signal Dispatch"		/* "Signal Dispatcher", of which the kernel keeps 15 bytes */
#define NO_ATTACH "-XX:+DisableAttachMechanism"

/* Reads the file PROCFS/PID/NAME. */
static int read_file(const char *procfs, int pid, const char *name, size_t limit, struct buf *out)
{
	char path[256];

	if (snprintf(path, sizeof(path), "%s/%d/%s", procfs, pid, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return io_read(path, limit, out);
}

/* The word number `n` (from 0) of the value of a line "KEY:	VALUE" of /proc/PID/status. */
static struct str status_word(const struct buf *status, const char *key, size_t n)
{
	struct str rest = buf_view(status), line, word = { 0 };

	while (str_cut(&rest, '\n', &line)) {
		if (!str_starts(line, key))
			continue;
		line = str_n(line.s + strlen(key), line.n - strlen(key));
		for (size_t i = 0; i <= n; i++)
			if (!str_cut(&line, '\t', &word))
				return (struct str){ 0 };
		return word;
	}
	return word;
}

static bool read_status(const struct buf *status, int pid, struct jvm_process *out, uint64_t *caught)
{
	struct str word;
	uint32_t uid, gid;

	/* The value begins with a tab, so the word 0 is empty: real user ID 1, effective user ID 2. */
	if (num_u32(status_word(status, "Uid:", 2), &uid) < 0 || num_u32(status_word(status, "Gid:", 2), &gid) < 0 ||
	    num_hex(status_word(status, "SigCgt:", 1), caught) < 0)
		return false;
	*out = (struct jvm_process){ .inner_pid = pid, .uid = uid, .gid = gid };
	for (size_t i = 1; (word = status_word(status, "NSpid:", i)).n; i++)
		if (num_int(word, &out->inner_pid) < 0)
			return false;
	return true;
}

static bool is_signal_thread(const char *procfs, int pid, const char *tid)
{
	char path[300], name[32];

	if (snprintf(path, sizeof(path), "%s/%d/task/%s/comm", procfs, pid, tid) >= (int)sizeof(path))
		return false;
	return io_read_small(AT_FDCWD, path, name, sizeof(name)) > 0 && strcmp(name, SIGNAL_THREAD) == 0;
}

static bool has_signal_thread(const char *procfs, int pid)
{
	char path[256];
	const struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/task", procfs, pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (d = readdir(dir)))
		found = d->d_name[0] != '.' && is_signal_thread(procfs, pid, d->d_name);
	closedir(dir);
	return found;
}

struct jvm_libraries {
	bool hotspot, openj9;
};

static int check_library(void *arg, uint32_t pid, const struct proc_map *map)
{
	struct jvm_libraries *found = arg;
	const char *name = strrchr(map->path, '/');

	(void)pid;
	found->hotspot |= map->exec && name && (strcmp(name, "/libjvm.so") == 0 || strcmp(name, "/libjvm.so (deleted)") == 0);
	found->openj9 |= name && strncmp(name, "/libj9vm", strlen("/libj9vm")) == 0;
	return 0;
}

static bool refuses_attach(const char *procfs, int pid)
{
	scoped(buf_done) struct buf cmdline = { 0 };
	struct str rest, word;

	if (read_file(procfs, pid, "cmdline", CMDLINE_MAX, &cmdline) < 0)
		return false;
	rest = buf_view(&cmdline);
	while (str_cut(&rest, '\0', &word))
		if (str_is(word, NO_ATTACH))
			return true;
	return false;
}

int jvm_process_read(const char *procfs, int pid, struct jvm_process *out, struct tacho_error *e)
{
	const struct symbol_search search = { .procfs = procfs };
	struct jvm_libraries libraries = { 0 };
	scoped(buf_done) struct buf status = { 0 };
	uint64_t caught;
	int err = read_file(procfs, pid, "status", STATUS_MAX, &status);

	if (err == -ENOENT || err == -ESRCH)
		return error_set(e, -ESRCH, "there is no process %d", pid);
	if (err < 0)
		return error_set(e, err, "cannot read the status of process %d: %s", pid, strerror(-err));
	if (!read_status(&status, pid, out, &caught) || !(caught >> (SIGQUIT - 1) & 1) || !has_signal_thread(procfs, pid))
		return 0;		/* java -Xrs handles no SIGQUIT either */
	err = proc_maps_read(&search, (uint32_t)pid, check_library, &libraries);
	if (err < 0)
		return error_set(e, err, "cannot read the mappings of process %d: %s", pid, strerror(-err));
	if (!libraries.hotspot || libraries.openj9)
		return 0;
	if (refuses_attach(procfs, pid))
		return error_set(e, -EOPNOTSUPP, "the JVM %d was started with " NO_ATTACH ", so it cannot be asked for its "
				 "functions", pid);
	return 1;
}
