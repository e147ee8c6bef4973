/*
 * The output files of `record`: their names, and switching from one to the next. A file that exists is
 * kept as FILE.old. --switch-output finishes the current file, adds the time to its name, and begins
 * the next file with the processes and mappings that exist at that time.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#include "base/io.h"
#include "cli/record/output_file.h"

int record_file_take_name(struct record_file *f)
{
	return f->pipe ? 0 : file_take_name("record", &f->path, f->base);
}

int record_file_open(struct record_file *f)
{
	struct tacho_recorder_output out = {
		.size = sizeof(out), .pipe = f->pipe, .directory = f->opts->threads,
		.compress_level = f->plan->compress_level, .argv = (const char *const *)f->argv,
		.n_argv = (size_t)f->argc, .no_build_ids = f->opts->no_build_ids,
		.all_build_ids = f->opts->all_build_ids, .raw_stacks = f->plan->raw_stacks,
	};
	struct tacho_error e = { .column = -1 };
	int err;

	f->path = f->pipe ? str_dup(str_of(f->base)) : file_first_name(f->base);
	if (!f->path)
		return -ENOMEM;
	if (f->pipe) {
		f->pipe_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (f->pipe_fd < 0)
			return -errno;
		out.fd = f->pipe_fd;
	} else {
		out.path = f->path;
	}
	err = tacho_recorder_begin(f->recorder, &out, &e);
	if (err < 0)
		message_text("record", "%s", e.message);
	return err;
}

void record_file_discard(struct record_file *f)
{
	tacho_recorder_finish(f->recorder, NULL);
	if (!f->pipe)
		file_discard(f->path);
}

/* Formats BASE.YYYYMMDDhhmmsscc. */
static void format_stamped_name(const char *base, uint64_t hundredths, struct buf *out)
{
	time_t seconds = (time_t)(hundredths / 100);
	char stamp[32];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
	buf_clear(out);
	buf_printf(out, "%s.%s%02u", base, stamp, (unsigned)(hundredths % 100));
}

/* Renames a file; -EEXIST if the new name exists. */
static int rename_to_new_name(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (access(to, F_OK) == 0)		/* the file system does not support RENAME_NOREPLACE */
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

int record_file_stamp(struct record_file *f)
{
	scoped(buf_done) struct buf name = { 0 };
	struct timeval now;
	uint64_t hundredths;
	int err;

	if (!io_is_regular_file(f->path) && !file_is_recorded_directory(f->path))	/* do not rename /dev/null */
		return 0;
	gettimeofday(&now, NULL);
	hundredths = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_usec / 10000;
	do {		/* if the name is taken, use the next hundredth of a second */
		format_stamped_name(f->base, hundredths++, &name);
		err = buf_failed(&name) ? -ENOMEM : rename_to_new_name(f->path, name.bytes);
	} while (err == -EEXIST);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		message_text("record", "cannot rename '%s' to '%s': %s", f->path, name.bytes,
			     strerror(-err));
		return err;
	}
	free(f->path);
	f->path = buf_take(&name);
	return f->path ? 0 : -ENOMEM;
}

/* Remembers the file just finished, and deletes the oldest one if --switch-max-files is exceeded. */
static int add_finished_file(struct record_file *f)
{
	if (strlist_add(&f->finished, str_of(f->path)) < 0)
		return -ENOMEM;
	if (f->opts->switch_max_files && f->finished.n >= f->opts->switch_max_files) {
		io_discard(f->finished.v[0]);
		free(f->finished.v[0]);
		memmove(f->finished.v, f->finished.v + 1, --f->finished.n * sizeof(*f->finished.v));
	}
	return 0;
}

int record_file_switch(struct record_file *f)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_recorder_finish(f->recorder, &e);

	if (err < 0)
		message_text("record", "%s", e.message);
	if (err == 0)
		err = record_file_stamp(f);
	if (err < 0)
		return err;
	if (!f->opts->quiet)
		fprintf(stderr, "[ %s record: Dump %s ]\n", program_name, f->path);
	err = add_finished_file(f);
	free(take(f->path));
	if (err == 0)
		err = record_file_open(f);
	if (err == 0 && !f->opts->tail_synth) {
		err = tacho_recorder_synthesize(f->recorder, f->plan->synth, &e);
		if (err < 0)
			message_text("record", "%s", e.message);
	}
	return err;
}

void record_file_done(struct record_file *f)
{
	if (f->pipe_fd >= 0)
		close(f->pipe_fd);
	free(f->path);
	strlist_done(&f->finished);
}
