/*
 * The files `record` writes. A file that is there is kept as FILE.old. Each drain of the rings
 * ends with a FINISHED_ROUND, and about each second what is there is made a complete file, whatever
 * happens to the recorder then. With --switch-output a file is finished, renamed after the moment, and
 * the next one begins with the processes and maps as they are then.
 */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include "base/io.h"
#include "cli/record/output_file.h"

#define ATTR_BYTES 256
#define DIR_VERSION 1

static int failed(struct record_file *f, int err)
{
	f->error.code = err;
	return err;
}

/* With --threads: a directory with a file `data` in it. */
static int open_path(struct record_file *f)
{
	scoped(buf_done) struct buf data = { 0 };
	bool folder = f->opts->threads;

	if (folder && mkdir(f->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	buf_printf(&data, folder ? "%s/data" : "%s", f->path);
	if (buf_failed(&data))
		return -ENOMEM;
	f->fd = open(data.bytes, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return f->fd < 0 ? -errno : 0;
}

static int open_fd(struct record_file *f)
{
	int err;

	if (f->pipe) {
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return f->fd < 0 ? -errno : 0;
	}
	err = open_path(f);
	if (err < 0)
		message_text("record", "cannot write '%s': %s", f->path, strerror(-err));
	return err;
}

/* What is open of each group; number[i] is event i's in the file, UINT32_MAX: none. */
static void write_groups(struct record_file *f, const uint32_t *number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t first = UINT32_MAX, members = 0;

		for (size_t k = i; k < n && tacho_sampler_event(f->sampler, k)->leader == i; k++) {
			members += number[k] != UINT32_MAX;
			first = min_of(first, number[k]);
		}
		if (members > 1)
			tacho_writer_group(f->writer, "{anon_group}", first, members);
	}
}

/* The events that are open, in the file's numbering, and the groups among them. */
static int write_events(struct record_file *f)
{
	size_t n = tacho_sampler_size(f->sampler);
	scoped(freep) uint32_t *number = calloc(n + 1, sizeof(*number));
	uint32_t next = 0;

	if (!number)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tacho_event *ev = tacho_sampler_event(f->sampler, i);
		unsigned char attr[ATTR_BYTES] = { 0 };
		const uint64_t *ids;
		uint32_t size;
		size_t n_ids;
		int err = tacho_sampler_attr(f->sampler, i, attr, sizeof(attr), NULL);

		number[i] = UINT32_MAX;
		if (err == -ENODEV)
			continue;
		memcpy(&size, attr + 4, sizeof(size));
		if (err == 0)
			err = tacho_sampler_ids(f->sampler, i, &ids, &n_ids);
		if (err == 0)
			err = tacho_writer_event(f->writer, ev->name, attr, size, ids, n_ids);
		if (err < 0)
			return err;
		number[i] = next++;
	}
	write_groups(f, number, n);
	return 0;
}

static int write_tracing(struct record_file *f)
{
	size_t n = tacho_sampler_size(f->sampler), k = 0;
	scoped(freep) const char **names = calloc(n + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (tacho_sampler_event(f->sampler, i)->kind == TACHO_EVENT_TRACEPOINT &&
		    tacho_sampler_attr(f->sampler, i, &(char){ 0 }, 1, NULL) == 0)
			names[k++] = tacho_sampler_event(f->sampler, i)->name;
	return k ? tacho_writer_tracing(f->writer, NULL, names, k, &f->error) : 0;
}

/* What does not change while the file grows. */
static int write_features(struct record_file *f)
{
	struct tacho_perfdata_writer *w = f->writer;
	int err;

	err = tacho_writer_host(w, NULL, NULL);
	if (err == 0)
		err = tacho_writer_string(w, TACHO_FEATURE_VERSION, tacho_version());
	if (err == 0)
		err = tacho_writer_cmdline(w, (const char *const *)f->argv, (size_t)f->argc);
	if (err == 0 && f->plan->sampler.use_clockid)
		err = tacho_writer_clock(w, f->plan->sampler.clockid);
	if (err == 0 && f->opts->threads)
		err = tacho_writer_feature(w, TACHO_FEATURE_DIR_FORMAT, &(uint64_t){ DIR_VERSION },
					   sizeof(uint64_t));
	if (err == 0 && (f->plan->sampler.branch_filter || f->plan->sampler.chain == TACHO_CHAIN_LBR))
		err = tacho_writer_feature(w, TACHO_FEATURE_BRANCH_STACK, "", 0);
	return err;
}

static int begin(struct record_file *f)
{
	struct tacho_writer_opts opts = { .size = sizeof(opts), .pipe = f->pipe,
					  .compress_level = f->plan->compress_level };
	int err = tacho_writer_open(&f->writer, f->fd, &opts, &f->error);

	if (err == 0)
		err = write_events(f);
	if (err == 0)
		err = write_tracing(f);
	if (err == 0)
		err = write_features(f);
	if (err == 0)
		err = tacho_writer_begin(f->writer, &f->error);
	return err < 0 ? failed(f, err) : 0;
}

int record_file_take_name(struct record_file *f)
{
	return f->pipe ? 0 : file_take_name("record", &f->path, f->base);
}

int record_file_open(struct record_file *f)
{
	int err;

	f->path = f->pipe ? str_dup(str_of(f->base)) : file_first_name(f->base);
	if (!f->path)
		return -ENOMEM;
	err = open_fd(f);
	if (err < 0)
		return err;
	err = begin(f);
	if (err < 0)
		message_text("record", "%s", f->error.message[0] ? f->error.message : strerror(-err));
	return err;
}

int record_file_write(void *file, const void *bytes, size_t n)
{
	struct record_file *f = file;
	int err = tacho_writer_records(f->writer, bytes, n, &f->error);

	return err < 0 ? failed(f, err) : 0;
}

int record_file_round(struct record_file *f)
{
	const struct {
		uint32_t type;
		uint16_t misc, size;
	} round = { TACHO_RECORD_FINISHED_ROUND, 0, 8 };
	/* Files of a directory have no common rounds: readers sort them by themselves. */
	int err = f->opts->threads ? 0 : record_file_write(f, &round, sizeof(round));

	if (err == 0 && f->pipe)	/* somebody waits for it */
		err = tacho_writer_flush(f->writer, &f->error);
	return err < 0 ? failed(f, err) : 0;
}

/* The features that change while the file grows, but for those that take the whole file to know. */
static int refresh_features(struct record_file *f)
{
	struct tacho_sampler_stats stats = { .size = sizeof(stats) };

	tacho_sampler_stats(f->sampler, SIZE_MAX, &stats);
	return tacho_writer_sample_time(f->writer, stats.first_ns, stats.last_ns);
}

int record_file_checkpoint(struct record_file *f)
{
	int err = f->pipe ? 0 : refresh_features(f);

	if (err == 0)
		err = tacho_writer_flush(f->writer, &f->error);
	return err < 0 ? failed(f, err) : 0;
}

static int write_build_id(void *arg, const struct tacho_sampled_object *o)
{
	struct record_file *f = arg;

	return tacho_writer_build_id(f->writer, o->kernel ? 1 : 2, -1, o->build_id, o->n_build_id,
				     o->path);
}

int record_file_finish(struct record_file *f)
{
	int err = 0, first = 0;

	if (!f->writer)
		return 0;
	if (!f->pipe) {
		first = refresh_features(f);
		if (first == 0 && !f->opts->no_build_ids)
			first = tacho_sampler_objects(f->sampler, f->opts->all_build_ids,
						      write_build_id, f);
	}
	err = tacho_writer_finish(f->writer, &f->error);
	f->bytes_total += record_file_bytes(f);
	tacho_writer_free(take(f->writer));
	close(take_fd(f->fd));
	return err < 0 ? failed(f, err) : first;
}

uint64_t record_file_bytes(const struct record_file *f)
{
	return (f->writer ? tacho_writer_bytes(f->writer) : 0) + record_threads_bytes(&f->threads);
}

void record_file_discard(struct record_file *f)
{
	record_file_finish(f);
	if (!f->pipe)
		file_discard(f->path);
}

static void stamp_name(const char *base, uint64_t hundredths, struct buf *out)
{
	time_t seconds = (time_t)(hundredths / 100);
	char stamp[32];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm);
	buf_clear(out);
	buf_printf(out, "%s.%s%02u", base, stamp, (unsigned)(hundredths % 100));
}

/* Not over a file that is there: -EEXIST then. */
static int rename_apart(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (access(to, F_OK) == 0)		/* a file system that cannot do both at once */
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

int record_file_stamp(struct record_file *f)
{
	scoped(buf_done) struct buf name = { 0 };
	struct timeval now;
	uint64_t hundredths;
	int err;

	if (!io_is_regular_file(f->path) && !file_is_recorded_directory(f->path))	/* /dev/null keeps its name */
		return 0;
	gettimeofday(&now, NULL);
	hundredths = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_usec / 10000;
	do {		/* two may end within one hundredth: the second takes the next */
		stamp_name(f->base, hundredths++, &name);
		err = buf_failed(&name) ? -ENOMEM : rename_apart(f->path, name.bytes);
	} while (err == -EEXIST);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		message_text("record", "'%s' cannot be renamed to '%s': %s", f->path, name.bytes,
			     strerror(-err));
		return err;
	}
	free(f->path);
	f->path = buf_take(&name);
	return f->path ? 0 : -ENOMEM;
}

/* The oldest of the files goes when there are more than were asked for. */
static int remember_dumped(struct record_file *f)
{
	if (strlist_add(&f->dumped, str_of(f->path)) < 0)
		return -ENOMEM;
	if (f->opts->switch_max_files && f->dumped.n >= f->opts->switch_max_files) {
		io_discard(f->dumped.v[0]);
		free(f->dumped.v[0]);
		memmove(f->dumped.v, f->dumped.v + 1, --f->dumped.n * sizeof(*f->dumped.v));
	}
	return 0;
}

int record_file_switch(struct record_file *f)
{
	int err = record_file_finish(f);

	if (err == 0)
		err = record_file_stamp(f);
	if (err < 0)
		return err;
	if (!f->opts->quiet)
		fprintf(stderr, "[ %s record: Dump %s ]\n", program_name, f->path);
	err = remember_dumped(f);
	free(take(f->path));
	tacho_sampler_forget_times(f->sampler);
	if (err == 0)
		err = record_file_open(f);
	if (err == 0 && !f->opts->tail_synth)
		err = tacho_sampler_synthesize(f->sampler, f->plan->synth, record_file_write, f, &f->error);
	return err;
}

void record_file_done(struct record_file *f)
{
	record_threads_done(&f->threads);
	tacho_writer_free(f->writer);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	strlist_done(&f->dumped);
}
