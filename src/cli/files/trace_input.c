#include "cli/files/trace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/io.h"
#include "cli/core/command.h"

/* A file without a name. Returns its descriptor. */
static int temporary_file(struct tacho_error *e)
{
	FILE *file = tmpfile();
	int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 3) : -1, err = -errno;

	if (file)
		fclose(file);
	return fd >= 0 ? fd : error_set(e, err, "cannot make a temporary file for the decoded trace: %s", strerror(-err));
}

/* --header shows when the original was recorded. */
static void copy_time(const char *path, int fd)
{
	struct stat st;

	if (stat(path, &st) == 0) {
		const struct timespec times[2] = { st.st_atim, st.st_mtim };

		futimens(fd, times);
	}
}

static void report(const struct trace_input_opts *o, const struct tacho_auxtrace_result *r)
{
	if (o->quiet || !r->n_errors)
		return;
	message_text(o->command, "%llu errors in the trace%s", (unsigned long long)r->n_errors,
		     r->n_lost_bytes ? "; it was not decoded everywhere" : "");
	if (r->n_lost_bytes)
		message_text(o->command, "%llu of its %llu bytes were skipped", (unsigned long long)r->n_lost_bytes,
			     (unsigned long long)r->n_bytes);
}

static int expand(struct tacho_perfdata **pd, const char *path, const struct tacho_perfdata_opts *how,
		  const struct trace_input_opts *o, const struct tacho_itrace *itrace, struct trace_input *t, struct tacho_error *e)
{
	struct tacho_auxtrace_opts opts = { .size = sizeof(opts), .itrace = itrace, .symbols = &o->symbols, .force = o->force };
	struct tacho_auxtrace_result result = { .size = sizeof(result) };
	struct tacho_perfdata *expanded;
	struct tacho_error damage = { 0 };
	int fd = t->fd = temporary_file(e), err;

	if (fd < 0)
		return fd;
	err = tacho_auxtrace_expand(path, fd, &opts, &result, &damage);
	if (err < 0 && !result.n_samples) {
		*e = damage;
		return err;
	}
	if (err < 0)			/* what could be decoded is shown */
		message_error(o->command, NULL, NULL, &damage);
	report(o, &result);
	copy_time(path, fd);
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d", fd);
	err = tacho_perfdata_open(&expanded, t->path, how, e);
	if (err < 0)
		return err;
	tacho_perfdata_close(*pd);
	*pd = expanded;
	return 0;
}

int trace_input_check(const char *command, const char *itrace)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_itrace parsed;
	int err = itrace ? tacho_itrace_parse(&parsed, itrace, false, &e) : 0;

	if (err < 0)
		message_error(command, "--itrace", itrace, &e);
	return err;
}

int trace_input_expand(struct tacho_perfdata **pd, const char *path, const struct tacho_perfdata_opts *how,
		       const struct trace_input_opts *o, struct trace_input *t, struct tacho_error *e)
{
	struct tacho_itrace itrace;
	size_t n;
	int err;

	if (o->itrace && o->no_itrace)
		return error_set(e, -EINVAL, "--itrace and --no-itrace exclude each other");
	err = tacho_itrace_parse(&itrace, o->itrace, o->every_branch, e);
	if (err < 0)
		return err;
	if (o->no_itrace)
		return 0;
	if (!tacho_perfdata_feature(*pd, TACHO_FEATURE_AUXTRACE, &n)) {
		if (o->itrace && tacho_perfdata_is_pipe(*pd))
			return error_set(e, -EOPNOTSUPP, "traces in a pipe cannot be decoded; write the recording to a file first");
		if (o->itrace && !o->quiet)
			message_text(o->command, "the recording has no hardware trace: --itrace has no effect");
		return 0;
	}
	return expand(pd, path, how, o, &itrace, t, e);
}
