/*
 * `tacho inject`: copies a recording record by record. It can add the build IDs of mapped objects, to the build ID
 * table or to the mmap records, remove hardware traces, unwind stacks and replace addresses; compressed records are
 * decompressed. Input and output are files or streams.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/files/anonymize.h"
#include "cli/files/build_id_table.h"
#include "cli/files/convert_callchain.h"
#include "cli/files/mmap_build_id.h"
#include "cli/files/recorded_objects.h"
#include "cli/core/terminal.h"
#include "cli/files/trace_input.h"

struct inject_opts {
	const char *input, *output;
	bool build_ids, strip, aslr, unwind, force;
	bool used_mmaps, all_mmaps;	/* mmap records get build IDs; used: those of objects without samples are dropped */
	const char *itrace;
	unsigned verbose;
};

#define AT(field) offsetof(struct inject_opts, field)
static const struct option_row inject_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE", "read FILE; - is stdin (default: -)",
	  .complete = "file" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write FILE; - is stdout (default: -)",
	  .complete = "file" },
	{ OPT_FLAG, 'b', "build-ids", AT(build_ids), NULL, "add the build IDs of all mapped objects" },
	{ OPT_FLAG, 0, "buildid-all", AT(build_ids), NULL, "the same as -b" },
	{ OPT_FLAG, 'B', "mmap2-buildids", AT(used_mmaps), NULL,
	  "put build IDs into mmap records, and remove those of objects without samples" },
	{ OPT_FLAG, 0, "mmap2-buildid-all", AT(all_mmaps), NULL, "put build IDs into all mmap records" },
	{ OPT_FLAG, 0, "strip", AT(strip), NULL, "remove hardware traces and their records" },
	{ OPT_FLAG, 0, "aslr", AT(aslr), NULL,
	  "replace all addresses, so that the copy does not show where code was loaded" },
	{ OPT_FLAG, 0, "convert-callchain", AT(unwind), NULL,
	  "unwind the copies of stacks, and store the call chains instead" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "list the objects with their build IDs" },
	{ OPT_STR, 0, "itrace", AT(itrace), "LETTERS", "store the samples of hardware traces in place of these: see tacho-script(1)",
	  OPTF_OPTIONAL, .value = "" },
	REFUSED(0, "guest-data", REFUSED_GUESTS),
	REFUSED(0, "guestmount", REFUSED_GUESTS),
	REFUSED(0, "vm-time-correlation", REFUSED_GUESTS),
	REFUSED('j', "jit",
		"'report' and 'script' read the symbols of JIT-compiled code from jit-PID.dump and perf-PID.map themselves"),
	REFUSED('s', "sched-stat",
		"sched:sched_stat_* tracepoints are not merged"),
	REFUSED(0, "known-build-ids",
		"build IDs are read from the objects or from the recording"),
	NOTED('k', "vmlinux", "FILE", "the kernel's build ID is in the recording"),
	NOTED(0, "kallsyms", "FILE", "the kernel's build ID is in the recording"),
	NOTED(0, "ignore-vmlinux", NULL, "no vmlinux is read"),
	NOTED(0, "unwind-style", "STYLE", NOTED_UNWIND_STYLE),
	{ .kind = OPT_END },
};

struct inject {
	const struct inject_opts *opts;
	struct tacho_perfdata *pd;
	struct tacho_perfdata_writer *out;
	struct tacho_scratch *scratch;
	struct file_objects objects;
	struct buf mmap;		/* a rewritten mmap record */
	struct trace_input trace;	/* --itrace */
	uint64_t n_rewritten, n_dropped;	/* mmap records */
	struct anonymizer anonymizer;	/* --aslr */
	struct stack_converter stacks;	/* --convert-callchain */
	bool pipe;
};

static void inject_defaults(void *opts)
{
	struct inject_opts *o = opts;

	o->input = o->output = "-";
}

static bool is_trace(uint32_t type)
{
	return type == TACHO_RECORD_AUX || type == TACHO_RECORD_ITRACE_START ||
	       type == TACHO_RECORD_AUX_OUTPUT_HW_ID || type == TACHO_RECORD_AUXTRACE_INFO ||
	       type == TACHO_RECORD_AUXTRACE || type == TACHO_RECORD_AUXTRACE_ERROR;
}

/* Returns whether the writer creates this record itself, in the form that the output's format needs. */
static bool is_header_record(uint32_t type)
{
	return type == TACHO_RECORD_HEADER_ATTR || type == TACHO_RECORD_EVENT_TYPE ||
	       type == TACHO_RECORD_TRACING_DATA || type == TACHO_RECORD_BUILD_ID ||
	       type == TACHO_RECORD_HEADER_FEATURE || type == TACHO_RECORD_COMPRESSED ||
	       type == TACHO_RECORD_COMPRESSED2;
}

static int copy_events(struct inject *j, struct tacho_error *e)
{
	scoped(buf_done) struct buf changed = { 0 };
	int err = 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(j->pd) && !err; i++) {
		const struct tacho_file_event *ev = tacho_perfdata_event(j->pd, i);
		const void *attr = ev->attr;

		if (j->opts->aslr) {
			err = anonymize_attr(ev, &changed, e);
			if (err == -EOPNOTSUPP)
				return err;
			attr = changed.bytes;
		} else if (j->opts->unwind) {
			err = stack_converter_attr(ev, &changed);
			attr = changed.bytes;
		}
		if (!err)
			err = tacho_writer_event(j->out, ev->name, attr, ev->attr_size, ev->ids, ev->n_ids);
	}
	if (err == -E2BIG)
		return error_set(e, err, "cannot copy the events: they have fields of a newer kernel");
	return err ? error_set(e, err, "cannot copy the events: %s", strerror(-err)) : 0;
}

static int copy_features(struct inject *j, struct tacho_error *e)
{
	int err = 0;

	for (unsigned f = 1; f < TACHO_FEATURE_MAX && !err; f++) {
		size_t n = 0;
		const void *payload = tacho_perfdata_feature(j->pd, f, &n);

		if (!payload || f == TACHO_FEATURE_EVENT_DESC || f == TACHO_FEATURE_COMPRESSED ||
		    f == TACHO_FEATURE_AUXTRACE || f == TACHO_FEATURE_DIR_FORMAT ||
		    (f == TACHO_FEATURE_BUILD_ID && j->opts->build_ids) ||
		    (j->opts->aslr && !anonymize_keeps_feature(f)))
			continue;
		err = tacho_writer_feature(j->out, f, payload, n);
	}
	return err ? error_set(e, err, "cannot copy the features: %s", strerror(-err)) : 0;
}

static bool wants_objects(const struct inject_opts *o)
{
	return o->build_ids || o->used_mmaps || o->all_mmaps || o->verbose;
}

/* Puts the build ID into an mmap record: *rec becomes the new record, or one of 0 bytes if it is to be dropped.
 * Anonymous memory and objects without a build ID keep their record. */
static int rewrite_mmap(struct inject *j, const struct tacho_sideband *decoded, const struct tacho_layout *layout,
			struct tacho_record *rec)
{
	struct file_object *obj = file_objects_mapped(&j->objects, decoded);
	int err;

	if (!obj)
		return 0;
	if (j->opts->used_mmaps && !obj->hit) {
		rec->size = 0;
		j->n_dropped++;
		return 0;
	}
	if (file_object_disk(obj) < 0)
		return -ENOMEM;
	if (!obj->n || decoded->mmap.n_build_id)
		return 0;
	err = mmap_with_build_id(&j->mmap, rec, decoded, layout, obj);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	rec->bytes = (const uint8_t *)j->mmap.bytes;
	rec->size = (uint16_t)j->mmap.n;
	j->n_rewritten++;
	return 0;
}

/* Adds the object of an mmap record to the list, and rewrites the record if an option asks for it. */
static int process_mmap(struct inject *j, struct tacho_record *rec)
{
	int i = tacho_perfdata_event_of(j->pd, rec), err;
	const struct tacho_layout *layout;
	struct tacho_sideband other;

	if ((rec->type != TACHO_RECORD_MMAP && rec->type != TACHO_RECORD_MMAP2) ||
	    !tacho_perfdata_n_events(j->pd))
		return 0;
	j->scratch->used = 0;
	layout = &tacho_perfdata_event(j->pd, i < 0 ? 0 : (size_t)i)->layout;
	err = tacho_sideband_decode(&other, rec, layout, j->scratch);
	if (!err)
		err = file_objects_add_record(&j->objects, &other);
	if (!err && (j->opts->used_mmaps || j->opts->all_mmaps))
		err = rewrite_mmap(j, &other, layout, rec);
	return err;
}

static int copy_record(struct inject *j, struct tacho_record *rec, struct tacho_error *e)
{
	int keep = j->opts->aslr ? anonymize_record(&j->anonymizer, j->pd, rec) : 1;

	if (keep < 0)
		return error_set(e, keep, "byte %#llx: cannot copy a record (type %u): %s",
				 (unsigned long long)rec->offset, rec->type, strerror(-keep));
	return keep ? tacho_writer_records(j->out, rec->bytes, rec->size, e) : 0;
}

static int copy_records(struct inject *j, struct tacho_error *e)
{
	struct tacho_record rec;
	int err, bad = 0;

	while ((err = tacho_perfdata_next(j->pd, &rec, e)) > 0) {
		if (is_header_record(rec.type) || (j->opts->strip && is_trace(rec.type)))
			continue;
		if (rec.type == TACHO_RECORD_AUXTRACE)
			return error_set(e, -EOPNOTSUPP, "the recording has hardware traces, which cannot be "
					 "copied; --strip removes them");
		if (wants_objects(j->opts) && process_mmap(j, &rec) == -ENOMEM)
			return error_nomem(e);
		if (j->opts->unwind && rec.size && stack_converter_record(&j->stacks, j->pd, &rec) < 0)
			return error_nomem(e);
		bad = rec.size ? copy_record(j, &rec, e) : 0;
		if (bad)
			return bad;
	}
	return err;
}

/* Writes a build ID as a record; streams have these records after the data. */
static int write_id_record(struct inject *j, const struct file_object *obj, struct tacho_error *e)
{
	size_t n_path = (36 + strlen(obj->path) + 8) / 8 * 8 - 36;	/* the record's size is a multiple of 8 */
	struct buf rec = { 0 };
	uint32_t type = TACHO_RECORD_BUILD_ID;
	uint16_t misc = (uint16_t)((obj->kernel ? 1u : 2u) | 1u << 15), size = (uint16_t)(36 + n_path);
	int32_t pid = -1;
	int err;

	if (n_path > 4096)
		return 0;
	buf_put(&rec, &type, sizeof(type));
	buf_put(&rec, &misc, sizeof(misc));
	buf_put(&rec, &size, sizeof(size));
	buf_put(&rec, &pid, sizeof(pid));
	buf_put(&rec, obj->id, obj->n);
	buf_pad(&rec, 0, 20 - obj->n);
	buf_putc(&rec, (char)obj->n);
	buf_pad(&rec, 0, 3);
	buf_puts(&rec, obj->path);
	buf_pad(&rec, 0, n_path - strlen(obj->path));
	err = buf_failed(&rec) ? error_nomem(e) : tacho_writer_records(j->out, rec.bytes, rec.n, e);
	buf_done(&rec);
	return err;
}

static int write_ids(struct inject *j, struct tacho_error *e)
{
	int err = 0;

	if (!j->opts->build_ids)
		return 0;
	if (file_objects_disk(&j->objects) < 0)
		return error_nomem(e);
	for (size_t i = 0; i < j->objects.list.n && !err; i++) {
		const struct file_object *obj = &j->objects.list.v[i];

		if (!obj->n)
			continue;
		if (j->pipe)
			err = write_id_record(j, obj, e);
		else
			err = tacho_writer_build_id(j->out, obj->kernel ? 1 : 2, -1, obj->id, obj->n, obj->path);
	}
	return err;
}

static int copy_all(struct inject *j, int fd, struct tacho_error *e)
{
	struct tacho_writer_opts writer_opts = { .size = sizeof(writer_opts), .pipe = j->pipe };
	bool features_last = tacho_perfdata_is_pipe(j->pd) && !j->pipe;
	int err, end;

	if (tacho_perfdata_swapped(j->pd))
		return error_set(e, -EOPNOTSUPP, "a recording of a machine with the other byte order cannot be copied");
	j->scratch = malloc(sizeof(*j->scratch));
	if (!j->scratch || anonymizer_init(&j->anonymizer) < 0)
		return error_nomem(e);
	err = j->opts->unwind ? stack_converter_init(&j->stacks, j->pd, e) : 0;
	if (!err)
		err = tacho_writer_open(&j->out, fd, &writer_opts, e);
	if (!err)
		err = copy_events(j, e);
	if (!err && !features_last)
		err = copy_features(j, e);
	if (!err)
		err = tacho_writer_begin(j->out, e);
	if (!err)
		err = copy_records(j, e);
	if (!j->out)
		return err;
	/* Damaged input yields a valid file of the records before the damage. A stream's features are
	 * complete only after its last record. */
	end = features_last ? copy_features(j, err ? NULL : e) : 0;
	if (!end)
		end = write_ids(j, err ? NULL : e);
	if (!end)
		end = tacho_writer_finish(j->out, err ? NULL : e);
	err = err ? err : end;
	/* write() cannot read pages of a file that has become shorter. */
	return err == -EFAULT && tacho_perfdata_damage(j->pd, e) < 0 ? -EIO : err;
}

/* Reads the input once to find the objects that have samples. Damage is reported when it is read again. */
static int find_used_objects(struct inject *j, const char *path, struct tacho_error *e)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .force = j->opts->force, .ordered = true };
	struct tacho_perfdata *pd;
	int err = tacho_perfdata_open(&pd, path, &opts, e);

	if (err < 0)
		return err;
	err = file_objects_read(&j->objects, pd, OBJECTS_HITS, e);
	tacho_perfdata_close(pd);
	return err == -ENOMEM ? err : 0;
}

/* Copies stdin to a file without a name, because -B reads the input twice. Returns its descriptor, or a negative
 * errno. */
static int spool_input(struct tacho_error *e)
{
	scoped(closep) int fd = -1;
	FILE *file = tmpfile();
	ssize_t n = 0;
	char bytes[65536];
	int err = file ? 0 : -errno;

	if (file) {
		fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
		err = fd < 0 ? -errno : 0;
		fclose(file);
	}
	while (!err && (n = read(STDIN_FILENO, bytes, sizeof(bytes))) != 0) {
		if (n > 0)
			err = io_write_all(fd, bytes, (size_t)n);
		else if (errno != EINTR)
			err = -errno;
	}
	return err < 0 ? error_set(e, err, "cannot store the input in a temporary file: %s", strerror(-err)) :
			 take_fd(fd);
}

/* Opens the input. `*spooled` becomes the descriptor of a temporary copy that is to be closed, if there is one. */
/* Opens the recording with the samples of its trace. */
static int open_expanded(struct inject *j, const char *path, const struct tacho_perfdata_opts *opts, struct tacho_error *e)
{
	const struct trace_input_opts o = {
		.command = "inject", .itrace = j->opts->itrace, .force = j->opts->force,
		.symbols = { .size = sizeof(o.symbols), .force = j->opts->force },
	};
	int err = tacho_perfdata_open(&j->pd, path, opts, e);

	return err < 0 ? err : trace_input_expand(&j->pd, path, opts, &o, &j->trace, e);
}

static int open_input(struct inject *j, int *spooled, struct tacho_error *e)
{
	struct tacho_perfdata_opts opts = { .size = sizeof(opts), .force = j->opts->force,
					     .ordered = j->opts->aslr || j->opts->unwind };
	const char *path = j->opts->input;
	char copy[32];
	int err = 0;

	if ((j->opts->used_mmaps || j->opts->itrace) && strcmp(path, "-") == 0) {
		*spooled = spool_input(e);
		if (*spooled < 0)
			return *spooled;
		snprintf(copy, sizeof(copy), "/proc/self/fd/%d", *spooled);
		path = copy;
	}
	if (j->opts->itrace) {
		err = open_expanded(j, path, &opts, e);
		if (err < 0 || !j->opts->used_mmaps)
			return err;
		tacho_perfdata_close(take(j->pd));
		path = j->trace.fd >= 0 ? j->trace.path : path;
	}
	if (j->opts->used_mmaps)
		err = find_used_objects(j, path, e);
	return err < 0 ? err : tacho_perfdata_open(&j->pd, path, &opts, e);
}

/* -v */
static void list_objects(const struct inject *j)
{
	for (size_t i = 0; i < j->objects.list.n; i++) {
		struct file_object *obj = &j->objects.list.v[i];
		char id[41];

		if (j->opts->used_mmaps && !obj->hit)
			continue;
		file_object_disk(obj);
		build_id_text(obj->id, obj->n, id);
		message_text("inject", obj->n ? "%s %s" : "%s%s: no build ID is known", id, obj->path);
	}
	if (j->opts->used_mmaps || j->opts->all_mmaps)
		message_text("inject", "%llu mmap records got a build ID, %llu were removed",
			     (unsigned long long)j->n_rewritten, (unsigned long long)j->n_dropped);
}

/* The messages after a successful copy. */
static void report_copy(const struct inject *j)
{
	if (tacho_perfdata_warning(j->pd))
		message_text("inject", "%s", tacho_perfdata_warning(j->pd));
	if (j->opts->verbose)
		list_objects(j);
	if (j->opts->unwind && !j->stacks.n_samples)
		message_text("inject", "the recording has no copies of stacks; 'tacho record --call-graph dwarf' unwinds them "
			     "while it records, 'dwarf,raw' stores them");
	if (j->anonymizer.n_dropped)
		message_text("inject", "%llu samples with data that may reveal addresses were left out: data of "
			     "tracepoints, physical addresses or hardware traces",
			     (unsigned long long)j->anonymizer.n_dropped);
}

static int open_output(const struct inject_opts *o, struct tacho_error *e)
{
	int fd;

	if (strcmp(o->output, "-") == 0) {
		if (term_is_tty(STDOUT_FILENO))
			return error_set(e, -EINVAL, "a recording cannot be written to a terminal; use -o FILE");
		return dup(STDOUT_FILENO);
	}
	if (io_same_file(o->output, o->input))
		return error_set(e, -EINVAL, "'%s' cannot be input and output", o->input);
	fd = open(o->output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : error_set(e, -errno, "cannot write '%s': %s", o->output, strerror(errno));
}

static int inject_run(void *opts, int argc, char **argv)
{
	const struct inject_opts *o = opts;
	struct inject j = { .opts = o, .pipe = strcmp(o->output, "-") == 0, .trace.fd = -1 };
	struct tacho_error e = { .column = -1 };
	int err, fd = -1, spooled = -1;

	if (argc > 0) {
		message_text("inject", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (o->used_mmaps && o->all_mmaps) {
		message_text("inject", "-B and --mmap2-buildid-all exclude each other");
		return EXIT_USAGE;
	}
	if (o->aslr && o->unwind) {
		message_text("inject", "--aslr removes the copies of stacks; use --convert-callchain first, then --aslr on "
			     "its output");
		return EXIT_USAGE;
	}
	if (trace_input_check("inject", o->itrace) < 0)
		return EXIT_USAGE;
	err = open_input(&j, &spooled, &e);
	if (!err)
		err = fd = open_output(o, &e);
	if (fd >= 0)
		err = copy_all(&j, fd, &e);
	if (!err)
		report_copy(&j);
	anonymizer_done(&j.anonymizer);
	stack_converter_done(&j.stacks);
	tacho_writer_free(j.out);
	tacho_perfdata_close(j.pd);
	trace_input_done(&j.trace);
	file_objects_done(&j.objects);
	buf_done(&j.mmap);
	free(j.scratch);
	if (fd >= 0 && err < 0 && lseek(fd, 0, SEEK_END) == 0)
		io_discard(o->output);		/* nothing was written */
	closep(&fd);
	closep(&spooled);
	if (err < 0)
		message_error("inject", NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : 0;
}

const struct command cmd_inject = {
	.name = "inject",
	.summary = "copy a recording, with build IDs or without traces",
	.rows = inject_rows,
	.opts_size = sizeof(struct inject_opts),
	.defaults = inject_defaults,
	.run = inject_run,
};
