/*
 * The scripts that perf's package installs: a Python program, and two shell scripts that record what it needs and run it.
 *
 *	DIR/scripts/python/NAME.py	DIR/scripts/python/bin/NAME-record, NAME-report
 *
 * The shell scripts call `perf`; bash gets a function of that name that runs tacho. Perl scripts are not run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/core/app.h"
#include "cli/script/python.h"

#define RECORD_SUFFIX "-record"
#define REPORT_SUFFIX "-report"
#define HEAD_LINES_MAX 20		/* of a report script: its description and arguments */

extern const struct command cmd_record;

/* ---- finding ---- */

static bool has_scripts(const char *dir, char *out, size_t room)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/scripts/python/bin", dir) >= (int)sizeof(path) || access(path, R_OK) < 0)
		return false;
	return snprintf(out, room, "%s", dir) < (int)room;
}

/* The directory of perf's scripts: $PERF_EXEC_PATH, or one of those where packages put it. */
static bool find_exec_path(char *out, size_t room)
{
	static const char *const places[] = {
		"/usr/libexec/perf-core", "/usr/lib/perf-core", "/usr/share/perf-core", "/usr/local/libexec/perf-core",
	};
	const char *given = getenv("PERF_EXEC_PATH");

	if (given && *given)
		return has_scripts(given, out, room);
	for (size_t i = 0; i < countof(places); i++)
		if (has_scripts(places[i], out, room))
			return true;
	return false;
}

void script_names_export_path(void)
{
	char dir[PATH_MAX];
	const char *given = getenv("PERF_EXEC_PATH");

	if (!given || !*given)
		setenv("PERF_EXEC_PATH", find_exec_path(dir, sizeof(dir)) ? dir : "/usr/libexec/perf-core", 1);
}

static bool is_plain_name(const char *name)
{
	return *name && !strchr(name, '/') && name[0] != '.' && name[0] != '-';
}

/* The path of NAME + suffix in the directory below scripts/python. */
static bool find_file(const char *in, const char *name, const char *suffix, char *out, size_t room)
{
	char dir[PATH_MAX];

	return is_plain_name(name) && find_exec_path(dir, sizeof(dir)) &&
	       snprintf(out, room, "%s/scripts/python%s/%s%s", dir, in, name, suffix) < (int)room && access(out, R_OK) == 0;
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n > m && strcmp(text + n - m, suffix) == 0;
}

char *script_names_find(const char *name, struct tacho_error *e)
{
	const char *colon = strchr(name, ':');
	char path[PATH_MAX];
	char *out;

	if (colon && (strncasecmp(name, "python:", 7) == 0 || strncasecmp(name, "py:", 3) == 0))
		name = colon + 1;
	else if (has_suffix(name, ".pl") || (colon && (strncasecmp(name, "perl:", 5) == 0 || strncasecmp(name, "pl:", 3) == 0))) {
		error_set(e, -EOPNOTSUPP, "Perl scripts are not supported");
		error_hint(e, "Python scripts are: -s FILE.py");
		return NULL;
	}
	if (access(name, F_OK) < 0 && (find_file("", name, ".py", path, sizeof(path)) || find_file("", name, "", path, sizeof(path))))
		name = path;
	else if (access(name, F_OK) < 0) {
		error_set(e, -ENOENT, "there is no script '%s'", name);
		error_hint(e, "-l lists the scripts that perf has installed");
		return NULL;
	}
	out = strdup(name);
	if (!out)
		error_nomem(e);
	return out;
}

/* ---- -l ---- */

struct script_head {
	char arguments[200], description[200];
};

/* The text after "# KEY: " or "#KEY: ". */
static void copy_comment(const char *line, const char *key, char *out, size_t room)
{
	const char *at = line + 1 + strspn(line + 1, " ");

	if (line[0] == '#' && strncmp(at, key, strlen(key)) == 0) {
		at += strlen(key);
		snprintf(out, room, "%s", at + strspn(at, " "));
	}
}

static void read_head(const char *path, struct script_head *h)
{
	char line[200];
	FILE *f = fopen(path, "re");

	*h = (struct script_head){ 0 };
	for (int i = 0; f && i < HEAD_LINES_MAX && fgets(line, sizeof(line), f); i++) {
		line[strcspn(line, "\n")] = '\0';
		copy_comment(line, "args:", h->arguments, sizeof(h->arguments));
		copy_comment(line, "description:", h->description, sizeof(h->description));
	}
	if (f)
		fclose(f);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_reports(const char *dir, struct strlist *names)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *d;
	int err = 0;

	if (snprintf(path, sizeof(path), "%s/scripts/python/bin", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	d = opendir(path);
	while (d && err == 0 && (entry = readdir(d)))
		if (has_suffix(entry->d_name, REPORT_SUFFIX) && is_plain_name(entry->d_name))
			err = strlist_add(names, str_n(entry->d_name, strlen(entry->d_name) - strlen(REPORT_SUFFIX)));
	if (d)
		closedir(d);
	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), compare_names);
	return err;
}

int script_names_list(void)
{
	struct strlist names = { 0 };
	char dir[PATH_MAX];
	struct buf out = { 0 };

	if (!find_exec_path(dir, sizeof(dir))) {
		message_text("script", "perf has installed no scripts; PERF_EXEC_PATH says where they are");
		return EXIT_FAILED;
	}
	if (list_reports(dir, &names) < 0)
		out.bad = true;
	buf_puts(&out, "List of available trace scripts:\n");
	for (size_t i = 0; i < names.n; i++) {
		char path[PATH_MAX], left[300];
		struct script_head h;

		if (snprintf(path, sizeof(path), "%s/scripts/python/bin/%s" REPORT_SUFFIX, dir, names.v[i]) >= (int)sizeof(path))
			continue;
		read_head(path, &h);
		snprintf(left, sizeof(left), "%.90s %s", names.v[i], h.arguments);
		buf_printf(&out, "  %-36s %s\n", left, h.description);
	}
	strlist_done(&names);
	return print_out("script", &out);
}

/* ---- running ---- */

/* The number of "<arg>" in the "args:" line of a report script. */
static int n_required_arguments(const char *path)
{
	struct script_head h;
	int n = 0;

	read_head(path, &h);
	for (const char *at = h.arguments; (at = strchr(at, '<')) != NULL; at++)
		n++;
	return n;
}

/* Whether the arguments of a record script name a command: then only that is recorded. */
static bool has_command(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 2, sizeof(*copy)), **rest = copy;
	void *opts = calloc(1, cmd_record.opts_size);
	struct tacho_error e = { .column = -1 };
	bool has = false;
	int n = argc + 1;

	if (copy && opts) {
		copy[0] = copy[1];
		copy[0] = (char *)(uintptr_t)cmd_record.name;
		memcpy(copy + 1, argv, (size_t)argc * sizeof(*copy));
		if (cmd_record.defaults)
			cmd_record.defaults(opts);
		has = options_parse(&cmd_record, opts, &n, &rest, &e) == 0 && n > 0;
		if (cmd_record.done)
			cmd_record.done(opts);
		options_done(&cmd_record, opts);
	}
	free(opts);
	free(copy);
	return has;
}

/* Scripts find `perf` as a function of bash, and their directory in PERF_EXEC_PATH. */
static int set_environment(void)
{
	char self[PATH_MAX], dir[PATH_MAX], function[PATH_MAX + 100];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0 || !find_exec_path(dir, sizeof(dir)))
		return -ENOENT;
	self[n] = '\0';
	if (strchr(self, '\''))
		return -EINVAL;
	snprintf(function, sizeof(function), "() { '%s' \"$@\"; }", self);
	if (setenv("PERF_EXEC_PATH", dir, 1) < 0 || setenv("BASH_FUNC_perf%%", function, 1) < 0)
		return -errno;
	return 0;
}

/* Runs a shell script; returns only if that fails. */
static int exec_script(const char *path, char *const *before, char *const *args, int n_args, char *const *after)
{
	static char bash[] = "bash";
	char **argv = calloc((size_t)n_args + 12, sizeof(*argv));
	int n = 0;

	if (!argv)
		return EXIT_FAILED;
	argv[n++] = bash;
	argv[n++] = (char *)(uintptr_t)path;
	while (*before)
		argv[n++] = *before++;
	for (int i = 0; i < n_args; i++)
		argv[n++] = args[i];
	while (*after)
		argv[n++] = *after++;
	execvp(bash, argv);
	message_text("script", "cannot run bash: %s", strerror(errno));
	free(argv);
	return EXIT_NOT_FOUND;
}

static char all_cpus[] = "-a", quiet[] = "-q", to[] = "-o", from[] = "-i", pipe_name[] = "-";
static char *const nothing[] = { NULL };

static int run_record(const char *path, int argc, char **argv)
{
	char *const whole_machine[] = { all_cpus, NULL };

	return exec_script(path, has_command(argc, argv) ? nothing : whole_machine, argv, argc, nothing);
}

/* `script NAME ARG...`: the record script writes to a pipe that the report script reads. */
static int run_live(const char *record, const char *report, int argc, char **argv)
{
	bool top = has_suffix(record, "top" RECORD_SUFFIX);
	int n_report = top ? argc : n_required_arguments(report), ends[2];
	char *const read_pipe[] = { from, pipe_name, NULL };
	pid_t pid;

	if (n_report > argc) {
		message_text("script", "the script needs %d argument%s; see -l", n_report, n_report == 1 ? "" : "s");
		return EXIT_USAGE;
	}
	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		message_text("script", "cannot start the script: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (pid == 0) {
		bool command = !top && has_command(argc - n_report, argv + n_report);
		char *const every[] = { all_cpus, quiet, to, pipe_name, NULL };

		dup2(ends[1], STDOUT_FILENO);
		_exit(exec_script(record, command ? every + 1 : every, argv + n_report, argc - n_report, nothing));
	}
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	return exec_script(report, nothing, argv, n_report, read_pipe);
}

static int no_script(const char *name)
{
	message_text("script", "perf has no script '%s' installed here; -l lists those it has", name);
	return EXIT_USAGE;
}

int script_names_run(int argc, char **argv)
{
	char record[PATH_MAX], report[PATH_MAX];
	bool records = strncmp(argv[0], "rec", 3) == 0, reports = strncmp(argv[0], "rep", 3) == 0;
	const char *name = (records || reports) && argc > 1 ? argv[1] : argv[0];

	if ((records || reports) && argc < 2) {
		message_text("script", "%s takes the name of a script; -l lists them", argv[0]);
		return EXIT_USAGE;
	}
	if (!find_file("/bin", name, REPORT_SUFFIX, report, sizeof(report)) && !records)
		return no_script(name);
	if (!find_file("/bin", name, RECORD_SUFFIX, record, sizeof(record)) && !reports)
		return no_script(name);
	if (set_environment() < 0) {
		message_text("script", "cannot set up the environment of perf's scripts");
		return EXIT_FAILED;
	}
	if (records)
		return run_record(record, argc - 2, argv + 2);
	if (reports)
		return exec_script(report, nothing, argv + 2, argc - 2, nothing);
	return run_live(record, report, argc - 1, argv + 1);
}
