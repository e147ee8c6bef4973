/*
 * `tacho buildid-list`: the build IDs of the objects in a recording, of the running kernel, or of
 * one ELF file.
 */
#include "cli/core/app.h"

#include <inttypes.h>

#include "base/io.h"
#include "base/num.h"
#include "cli/files/build_id_table.h"
#include "cli/files/recorded_objects.h"

struct buildid_list_opts {
	const char *input;
	bool force, kernel, kernel_maps, with_hits;
};

#define AT(field) offsetof(struct buildid_list_opts, field)
static const struct option_row list_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE",
	  "read FILE, a recording or an ELF file; - is stdin (default: perf.data)", .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_FLAG, 'H', "with-hits", AT(with_hits), NULL, "list only objects with samples" },
	{ OPT_FLAG, 'k', "kernel", AT(kernel), NULL, "print the build ID of the running kernel" },
	{ OPT_FLAG, 'm', "kernel-maps", AT(kernel_maps), NULL,
	  "list the running kernel and its modules with their addresses" },
	REFUSED('v', "verbose", "errors are always reported"),
	{ .kind = OPT_END },
};

static void list_defaults(void *opts)
{
	struct buildid_list_opts *o = opts;

	o->input = "perf.data";
}

static void put_id(struct buf *out, const uint8_t *id, size_t n)
{
	char text[41];

	build_id_text(id, n, text);
	buf_puts(out, text);
}

static int list_kernel(struct buf *out)
{
	uint8_t id[20];
	int n = kernel_build_id(id);

	if (n < 0) {
		message_text("buildid-list", "cannot read /sys/kernel/notes: %s", strerror(-n));
		return EXIT_FAILED;
	}
	put_id(out, id, (size_t)n);
	buf_putc(out, '\n');
	return 0;
}

static uint64_t kallsyms_address(struct str text, const char *symbol)
{
	struct str line;
	uint64_t v;

	while (str_cut(&text, '\n', &line)) {
		struct str address;

		str_cut(&line, ' ', &address);
		if (line.n > 2 && str_is(str_n(line.s + 2, line.n - 2), symbol) && !num_hex(address, &v))
			return v;
	}
	return 0;
}

/* Prints a module, given by its line of /proc/modules: "name size refs users state 0xaddress". The build ID
 * is in the module's notes. */
static void put_module(struct buf *out, struct str line)
{
	struct str fields[6] = { 0 };
	uint64_t size = 0, address = 0;
	struct buf path = { 0 }, note = { 0 };

	for (size_t i = 0; i < countof(fields); i++)
		str_cut(&line, ' ', &fields[i]);
	num_u64(fields[1], &size);
	num_hex(fields[5], &address);
	buf_printf(&path, "/sys/module/%.*s/notes/.note.gnu.build-id", STR(fields[0]));
	if (!buf_failed(&path) && io_read(path.bytes, 4096, &note) == 0 && note.n >= 36) {
		put_id(out, (const uint8_t *)note.bytes + 16, 20);
		buf_printf(out, " %16" PRIx64 " %16" PRIx64 " [%.*s]\n", address, address + size, STR(fields[0]));
	}
	buf_done(&note);
	buf_done(&path);
}

static int list_kernel_maps(struct buf *out)
{
	struct buf symbols = { 0 }, modules = { 0 };
	struct str rest, line;
	uint8_t id[20];
	int n = kernel_build_id(id);

	io_read("/proc/kallsyms", IO_FILE_MAX, &symbols);
	if (n > 0) {
		put_id(out, id, (size_t)n);
		buf_printf(out, " %16" PRIx64 " %16" PRIx64 " [kernel.kallsyms]\n",
			   kallsyms_address(buf_view(&symbols), "_text"),
			   kallsyms_address(buf_view(&symbols), "_etext"));
	}
	io_read("/proc/modules", IO_FILE_MAX, &modules);
	for (rest = buf_view(&modules); str_cut(&rest, '\n', &line);)
		if (line.n)
			put_module(out, line);
	buf_done(&symbols);
	buf_done(&modules);
	return 0;
}

static int list_recording(const struct buildid_list_opts *o, struct buf *out)
{
	struct tacho_perfdata_opts pd_opts = { .size = sizeof(pd_opts), .ordered = o->with_hits, .force = o->force };
	struct file_objects objects = { 0 };
	struct tacho_error e = { .column = -1 };
	struct tacho_perfdata *pd;
	unsigned sources = 0;
	size_t n;
	int err = tacho_perfdata_open(&pd, o->input, &pd_opts, &e);

	if (!err) {
		if (tacho_perfdata_is_pipe(pd) || !tacho_perfdata_feature(pd, TACHO_FEATURE_BUILD_ID, &n))
			sources |= OBJECTS_RECORDS;
		if (o->with_hits)
			sources |= OBJECTS_HITS;
		err = file_objects_read(&objects, pd, sources, &e);
		tacho_perfdata_close(pd);
	}
	for (size_t i = 0; i < objects.list.n; i++) {
		const struct file_object *obj = &objects.list.v[i];

		if (!obj->n || (o->with_hits && !obj->hit))
			continue;
		put_id(out, obj->id, obj->n);
		buf_printf(out, " %s\n", obj->path);
	}
	file_objects_done(&objects);
	if (err < 0)
		message_error("buildid-list", NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : 0;
}

static int list_run(void *opts, int argc, char **argv)
{
	const struct buildid_list_opts *o = opts;
	struct buf out = { 0 };
	uint8_t id[20];
	int status = 0, n, written;

	if (argc > 0) {
		message_text("buildid-list", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (o->kernel) {
		status = list_kernel(&out);
	} else if (o->kernel_maps) {
		status = list_kernel_maps(&out);
	} else if ((n = tacho_build_id_of_file(o->input, id)) > 0) {
		put_id(&out, id, (size_t)n);
		buf_putc(&out, '\n');
	} else {
		status = list_recording(o, &out);
	}
	written = print_out("buildid-list", &out);
	return status ? status : written;
}

const struct command cmd_buildid_list = {
	.name = "buildid-list",
	.summary = "list the build IDs of a recording",
	.rows = list_rows,
	.opts_size = sizeof(struct buildid_list_opts),
	.defaults = list_defaults,
	.run = list_run,
};
