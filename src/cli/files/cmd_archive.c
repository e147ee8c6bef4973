/*
 * `tacho archive`: packs the objects whose symbols a recording needs for another machine, and
 * unpacks them there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/files/archive.h"

#define AT(field) offsetof(struct archive_opts, field)
static const struct option_row archive_rows[] = {
	{ OPT_FLAG, 0, "all", AT(all), NULL, "pack the recording as well" },
	{ OPT_FLAG, 0, "unpack", AT(unpack), NULL,
	  "unpack an archive into the build ID cache, and a recording into this directory" },
	{ OPT_STR, 'o', "output", AT(output), "FILE",
	  "write to FILE; its suffix (.tar, .tar.bz2, .tar.gz, .tar.xz, .tar.zst) chooses the compression", .complete = "file" },
	{ OPT_STR, 0, "exclude-buildids", AT(exclude), "FILE", "leave out the build IDs listed in FILE",
	  .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL,
	  "overwrite existing files, and read a recording that belongs to another user" },
	{ .kind = OPT_END },
};

static const struct archive_compression compressions[] = {
	{ ".tar", NULL, ARCHIVE_SYMBOLS },
	{ ".tar.bz2", "bzip2", ARCHIVE_SYMBOLS ".bz2" },
	{ ".tar.gz", "gzip", ARCHIVE_SYMBOLS ".gz" },
	{ ".tgz", "gzip", ARCHIVE_SYMBOLS ".gz" },
	{ ".tar.xz", "xz", ARCHIVE_SYMBOLS ".xz" },
	{ ".tar.zst", "zstd", ARCHIVE_SYMBOLS ".zst" },
};

/* Finds the compression by the suffix of a name; NULL if none matches. */
static const struct archive_compression *compression_of(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < countof(compressions); i++) {
		size_t k = strlen(compressions[i].suffix);

		if (n > k && strcmp(path + n - k, compressions[i].suffix) == 0)
			return &compressions[i];
	}
	return NULL;
}

static int fail(const struct tacho_error *e)
{
	message_error("archive", NULL, NULL, e);
	return EXIT_FAILED;
}

/* Returns "perf.data.tar.bz2", or with --all "perf.all-HOST-DATE.tar.bz2". */
static char *default_name(const struct archive_opts *o, const char *input)
{
	char host[256] = "", date[32] = "";
	time_t now = time(NULL);
	struct buf b = { 0 };
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	if (localtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	if (o->all)
		buf_printf(&b, "perf.all-%s-%s.tar.bz2", host, date);
	else
		buf_printf(&b, "%s.tar.bz2", input);
	return buf_take(&b);
}

static int read_objects(const struct archive_opts *o, const char *input, struct file_objects *objects,
			struct tacho_error *e)
{
	struct tacho_perfdata_opts how = { .size = sizeof(how), .force = o->force };
	struct tacho_perfdata *pd;
	unsigned sources = 0;
	size_t n_ids = 0;
	int err = tacho_perfdata_open(&pd, input, &how, e);

	if (err < 0)
		return err;
	/* The build ID table lists the objects that have samples. Without the table, pack all mapped
	 * objects. */
	if (tacho_perfdata_is_pipe(pd) || !tacho_perfdata_feature(pd, TACHO_FEATURE_BUILD_ID, &n_ids))
		sources = OBJECTS_RECORDS | OBJECTS_DISK;
	err = file_objects_read(objects, pd, sources, e);
	tacho_perfdata_close(pd);
	if (err < 0)
		return err;
	n_ids = 0;
	for (size_t i = 0; i < objects->list.n; i++)
		n_ids += objects->list.v[i].n > 0;
	if (!n_ids) {
		error_set(e, -ENODATA, "'%s' has no object with a build ID", input);
		error_hint(e, "'%s buildid-list' shows them; a recording without samples has none", program_name);
		return -ENODATA;
	}
	return 0;
}

/* With --all, the archive of objects is written to memory first, then packed with the recording. */
static int write_archive(const struct archive_opts *o, const char *input, const struct archive_compression *c,
			 int fd, const struct file_objects *objects, struct tacho_error *e)
{
	scoped(closep) int symbols = -1;
	int n, err;

	if (!o->all)
		return archive_objects(o, objects, c, fd, e);
	symbols = memfd_create("symbols", MFD_CLOEXEC);
	if (symbols < 0)
		return error_set(e, -errno, "cannot pack: %s", strerror(errno));
	n = archive_objects(o, objects, c, symbols, e);
	if (n < 0)
		return n;
	err = archive_all(input, symbols, c, fd, e);
	return err < 0 ? err : n;
}

static int pack(const struct archive_opts *o, const char *input)
{
	scoped(freep) char *made = o->output ? NULL : default_name(o, input);
	const char *path = o->output ? o->output : made;
	const struct archive_compression *c;
	struct file_objects objects = { 0 };
	struct tacho_error e = { .column = -1 };
	scoped(closep) int fd = -1;
	int n;

	if (!path) {
		error_nomem(&e);
		return fail(&e);
	}
	c = compression_of(path);
	if (!c) {
		message_text("archive", "'%s' does not end in .tar, .tar.bz2, .tar.gz, .tar.xz or .tar.zst", path);
		return EXIT_USAGE;
	}
	n = read_objects(o, input, &objects, &e);
	if (n == 0 && (fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
		n = error_set(&e, -errno, "cannot write '%s': %s", path, strerror(errno));
	if (n == 0)
		n = write_archive(o, input, c, fd, &objects, &e);
	file_objects_done(&objects);
	if (n == 0)
		n = error_set(&e, -ENODATA, "none of the objects could be packed");
	if (n < 0) {
		if (fd >= 0)
			io_discard(path);
		return fail(&e);
	}
	printf("Packed %d object%s into %s. Where needed:\n\n\t%s archive --unpack %s\n", n, n == 1 ? "" : "s",
	       path, program_name, path);
	if (!o->all)
		printf("or\ttar xf %s -C ~/.debug\n", path);
	return 0;
}

/* Finds the archive in the current directory, by perf archive's file name pattern; there must be only one. */
static char *find_archive(struct tacho_error *e)
{
	char *found = NULL;
	DIR *d = opendir(".");
	struct dirent *entry;
	unsigned n = 0;

	while (d && (entry = readdir(d))) {
		if (fnmatch("perf*.tar.*", entry->d_name, 0) != 0)
			continue;
		free(found);
		found = str_dup(str_of(entry->d_name));
		n++;
	}
	if (d)
		closedir(d);
	if (n == 1)
		return found;
	free(found);
	error_set(e, -ENOENT, n ? "the current directory has %u archives" : "the current directory has no archive", n);
	error_hint(e, "name one: '%s archive --unpack perf.data.tar.bz2'", program_name);
	return NULL;
}

static int unpack(const struct archive_opts *o, const char *path)
{
	struct cache_dir cache = { .fd = -1 };
	struct archive_unpacked done = { 0 };
	struct tacho_error e = { .column = -1 };
	scoped(freep) char *found = path ? NULL : find_archive(&e);
	int err;

	path = path ? path : found;
	if (!path)
		return fail(&e);
	err = cache_open(&cache, NULL, true, &e);
	if (err == 0)
		err = archive_unpack(path, o, &cache, &done, &e);
	if (err == 0)
		printf("Unpacked %llu files into %s; %llu were there already.\n",
		       (unsigned long long)done.new_files, cache.path, (unsigned long long)done.present_files);
	if (err == 0 && done.recording)
		printf("The recording is %s.\n", done.recording);
	free(done.recording);
	cache_close(&cache);
	return err < 0 ? fail(&e) : 0;
}

static int archive_run(void *opts, int argc, char **argv)
{
	const struct archive_opts *o = opts;

	if (argc > 1) {
		message_text("archive", "'%s' is not expected here", argv[1]);
		return EXIT_USAGE;
	}
	if (o->unpack && (o->all || o->output || o->exclude)) {
		message_text("archive", "--unpack takes an archive and --force, nothing else");
		return EXIT_USAGE;
	}
	return o->unpack ? unpack(o, argc ? argv[0] : NULL) : pack(o, argc ? argv[0] : "perf.data");
}

const struct command cmd_archive = {
	.name = "archive",
	.summary = "pack the objects of a recording for another machine",
	.args = "[FILE]",
	.rows = archive_rows,
	.opts_size = sizeof(struct archive_opts),
	.run = archive_run,
	.complete_args = "file",
};
