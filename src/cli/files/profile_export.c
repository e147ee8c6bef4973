/*
 * Reads a recording as a profile, and writes a profile to a file.
 */
#include "cli/files/profile_export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "base/large_memory.h"
#include "cli/core/download.h"
#include "cli/core/terminal.h"

struct note_printer {
	const char *command;
	bool all;			/* also notes about stacks and names */
	bool draws_chains;
};

static int print_note(void *arg, const struct tacho_profile_note *note)
{
	const struct note_printer *printer = arg;
	bool about_chains = strcmp(note->id, "no-chains") == 0 || strcmp(note->id, "raw-stacks") == 0;

	if (strcmp(note->id, "lost") != 0 && !(about_chains && printer->draws_chains) && !printer->all)
		return 0;
	message_text(printer->command, note->fix ? "%s\n  fix: %s" : "%s", note->problem, note->fix);
	return 0;
}

static int load(struct tacho_profile *p, struct tacho_perfdata *pd, const struct profile_source *src,
		const char *command, bool *damaged, struct tacho_error *e)
{
	int err = tacho_profile_load(p, pd, &src->symbols, e);
	const char *warning = tacho_perfdata_warning(pd);

	if (warning && !src->quiet)
		message_text(command, "%s", warning);
	/* A damaged or truncated file: use the samples before the damage. */
	if (err < 0 && err != -ENOMEM && tacho_profile_n_rows(p)) {
		message_error(command, NULL, NULL, e);
		*damaged = true;
		err = 0;
	}
	return err;
}

static void read_origin(struct profile_origin *out, const struct tacho_perfdata *pd)
{
	struct tacho_file_clock clock;
	const char *host = tacho_perfdata_string(pd, TACHO_FEATURE_HOSTNAME);

	if (host)
		snprintf(out->host, sizeof(out->host), "%s", host);
	if (tacho_perfdata_clock(pd, &clock) == 0)
		out->wall_offset_ns = (int64_t)(clock.wall_ns - clock.clock_ns);
}

int profile_read(const char *command, const struct profile_source *src, const char *path,
		 const struct tacho_format *format, struct tacho_profile **out, bool *damaged)
{
	struct tacho_profile_opts opts = src->filter;
	struct profile_source source = *src;
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd = NULL;
	int err;

	path = input_choose(command, path);
	if (!path)
		return EXIT_FAILED;
	large_enable_reuse();
	opts.size = sizeof(opts);
	source.symbols.size = sizeof(source.symbols);
	source.symbols.force = src->force;
	source.symbols.progress = download_progress();
	tacho_format_wants(format, &opts);
	err = tacho_profile_new(out, &opts, &e);
	if (err < 0) {
		message_error(command, NULL, NULL, &e);
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	err = tacho_perfdata_open(&pd, path, TACHO_OPTS(tacho_perfdata_opts, .ordered = true,
							 .force = src->force), &e);
	if (err == 0)
		err = load(*out, pd, &source, command, damaged, &e);
	if (err == 0 && src->origin)
		read_origin(src->origin, pd);
	tacho_perfdata_close(pd);
	if (err < 0) {
		message_error(command, NULL, NULL, &e);
		tacho_profile_free(take(*out));
		return EXIT_FAILED;
	}
	if (!src->quiet)
		tacho_profile_notes(*out, print_note,
				    &(struct note_printer){ command, src->explains, !opts.no_chains });
	return 0;
}

bool profile_keeps_input(const char *command, const char *input, const char *output)
{
	input = input ? input : "perf.data";
	if (!output || !io_same_file(input, output))
		return true;
	message_text(command, "'%s' cannot be input and output", input);
	return false;
}

static bool cannot_write(const char *command, const char *path, int err)
{
	message_text(command, "cannot write to %s: %s", path, strerror(err));
	return false;
}

bool profile_can_write(const char *command, const char *path)
{
	bool exists = io_is_accessible(path, F_OK);
	int fd;

	if (strcmp(path, "-") == 0 || (exists && !io_is_regular_file(path)))
		return true;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return cannot_write(command, path, errno);
	close(fd);
	if (!exists)
		io_discard(path);
	return true;
}

struct profile_output_file {
	int fd, err;
};

static int write_fd(void *arg, const void *bytes, size_t n)
{
	struct profile_output_file *to = arg;

	to->err = io_write_all(to->fd, bytes, n);
	return to->err;
}

int profile_write(const char *command, const struct tacho_format *format,
		  const struct tacho_profile *p, const struct tacho_output_opts *opts,
		  const char *path)
{
	bool to_stdout = !path || strcmp(path, "-") == 0;
	struct tacho_error e = { .column = -1 };
	struct profile_output_file to = { .fd = STDOUT_FILENO };
	int err;

	if (!to_stdout)
		to.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (to.fd < 0) {
		cannot_write(command, path, errno);
		return EXIT_FAILED;
	}
	err = tacho_output_write(format, p, opts, write_fd, &to, &e);
	if (!to_stdout && close(to.fd) < 0 && err == 0)
		err = -errno;
	if (err == 0)
		return 0;
	if (e.code && !to.err)
		message_error(command, NULL, NULL, &e);
	else
		cannot_write(command, to_stdout ? "stdout" : path, -err);
	if (!to_stdout)
		io_discard(path);
	return EXIT_FAILED;
}

bool weight_parse(const char *command, const char *text, enum tacho_weight *out)
{
	*out = TACHO_WEIGHT_DEFAULT;
	if (!text)
		return true;
	if (strcmp(text, "samples") == 0)
		*out = TACHO_WEIGHT_SAMPLES;
	else if (strcmp(text, "period") == 0)
		*out = TACHO_WEIGHT_PERIOD;
	else
		message_text(command, "--weight is 'samples' or 'period', not '%s'", text);
	return *out != TACHO_WEIGHT_DEFAULT;
}
