/*
 * The output files of `record`: their names, and switching from one to the next. --switch-output finishes the
 * current file, adds the time to its name, and begins the next file with the processes and mappings that exist
 * at that time.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#include "base/io.h"

int record_file_take_name(struct record_file *f)
{
	return f->pipe ? 0 : output_file_take_name(&f->out, "record", f->opts->quiet);
}

/* What is left of --max-size, which limits all files of a recording together; 0: no limit. */
static uint64_t room_left(const struct record_file *f)
{
	struct tacho_recorder_stats stats = { .size = sizeof(stats) };

	if (!f->plan->max_bytes)
		return 0;
	tacho_recorder_stats(f->recorder, &stats);
	return stats.total_bytes < f->plan->max_bytes ? f->plan->max_bytes - stats.total_bytes : 1;
}

int record_file_open(struct record_file *f)
{
	struct tacho_recorder_output out = {
		.size = sizeof(out), .pipe = f->pipe, .directory = f->opts->threads,
		.compress_level = f->plan->compress_level, .argv = (const char *const *)f->argv,
		.n_argv = (size_t)f->argc, .no_build_ids = f->opts->no_build_ids,
		.all_build_ids = f->opts->all_build_ids, .raw_stacks = f->plan->raw_stacks,
		.max_file_bytes = room_left(f), .off_cpu_event = f->opts->off_cpu ? OFF_CPU_EVENT : NULL,
		.off_cpu_threshold_ns = f->opts->off_cpu_ms * UINT64_C(1000000),
		.off_cpu_switches = f->opts->switches || f->opts->latency,
	};
	struct tacho_error e = { .column = -1 };
	int err;

	if (f->pipe) {
		f->pipe_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (f->pipe_fd < 0)
			return -errno;
		out.fd = f->pipe_fd;
	} else {
		err = output_file_create(&f->out, "record", f->base, out.directory);
		if (err < 0)
			return err;
		out.path = out.directory ? f->out.path : NULL;
		out.fd = out.directory ? 0 : f->out.fd;
	}
	err = tacho_recorder_begin(f->recorder, &out, &e);
	if (err == 0)
		return 0;
	message_text("record", "%s", e.message);
	output_file_discard(&f->out);
	return err;
}

void record_file_discard(struct record_file *f)
{
	tacho_recorder_finish(f->recorder, NULL);
	output_file_discard(&f->out);
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

int record_file_stamp(struct record_file *f)
{
	scoped(buf_done) struct buf name = { 0 };
	struct timeval now;
	uint64_t hundredths;
	int err;

	if (f->out.in_place)		/* do not rename /dev/null */
		return 0;
	gettimeofday(&now, NULL);
	hundredths = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_usec / 10000;
	do {		/* if the name is taken, use the next hundredth of a second */
		format_stamped_name(f->base, hundredths++, &name);
		err = buf_failed(&name) ? -ENOMEM : file_rename_to_new(f->out.path, name.bytes);
	} while (err == -EEXIST);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		message_text("record", "cannot rename '%s' to '%s': %s", f->out.path, name.bytes,
			     strerror(-err));
		return err;
	}
	free(f->out.path);
	f->out.path = buf_take(&name);
	return f->out.path ? 0 : -ENOMEM;
}

/* Remembers the file just finished, and deletes the oldest one if --switch-max-files is exceeded. */
static int add_finished_file(struct record_file *f)
{
	if (strlist_add(&f->finished, str_of(f->out.path)) < 0)
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
	int err;

	if (f->opts->embed_symbols)
		record_embed_symbols(f);
	err = tacho_recorder_finish(f->recorder, &e);
	if (err < 0)
		message_text("record", "%s", e.message);
	if (err == 0)
		err = record_file_stamp(f);
	if (err < 0)
		return err;
	if (!f->opts->quiet)
		fprintf(stderr, "[ %s record: Dump %s ]\n", program_name, f->out.path);
	err = add_finished_file(f);
	output_file_done(&f->out);
	if (err == 0)
		err = record_file_open(f);
	if (err == 0)
		err = record_file_take_name(f);
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
	output_file_done(&f->out);
	strlist_done(&f->finished);
}
