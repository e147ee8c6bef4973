/*
 * `tacho buildid-list`: the build IDs of the objects in a recording, of the running kernel, or of
 * one ELF file.
 */
#include "cli/core/app.h"
#include "cli/core/input.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"
#include "base/json.h"
#include "base/num.h"
#include "cli/files/build_id_table.h"
#include "cli/files/recorded_objects.h"

struct buildid_list_opts {
	const char *input;
	bool force, kernel, kernel_maps, with_hits, json;
};

#define AT(field) offsetof(struct buildid_list_opts, field)
static const struct option_row list_rows[] = {
	{ OPT_STR, 'i', "input", AT(input), "FILE",
	  "read FILE, a recording or an ELF file; - is stdin (default: stdin if it is a pipe, else perf.data)", .complete = "file" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "read a file that belongs to another user" },
	{ OPT_FLAG, 'H', "with-hits", AT(with_hits), NULL, "list only objects with samples" },
	{ OPT_FLAG, 'k', "kernel", AT(kernel), NULL, "print the build ID of the running kernel" },
	{ OPT_FLAG, 'm', "kernel-maps", AT(kernel_maps), NULL,
	  "list the running kernel and its modules with their addresses" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "print one JSON object" },
	NOTED('v', "verbose", NULL, "errors are always reported"),
	{ .kind = OPT_END },
};

/* The output: a line per object, or an object in a JSON array. */
struct id_list {
	struct buf out;
	struct json j;			/* .out is NULL: text */
};

struct listed_object {
	const uint8_t *id;
	size_t n;
	struct str path;		/* empty: only the build ID is printed */
	bool has_range;
	uint64_t start, end;		/* addresses in the running kernel */
	bool kernel;
};

static void json_address(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, v);
	json_member(j, key, str, text);
}

static void put_object(struct id_list *l, const struct listed_object *obj)
{
	char text[41];

	build_id_text(obj->id, obj->n, text);
	if (l->j.out) {
		json_begin(&l->j, '{');
		json_member(&l->j, "build_id", str, text);
		json_member(&l->j, "path", strn, obj->path);
		json_member(&l->j, "kernel", bool, obj->kernel);
		if (obj->has_range) {
			json_address(&l->j, "start", obj->start);
			json_address(&l->j, "end", obj->end);
		}
		json_end(&l->j);
		return;
	}
	buf_puts(&l->out, text);
	if (obj->has_range)
		buf_printf(&l->out, " %16" PRIx64 " %16" PRIx64, obj->start, obj->end);
	if (obj->path.n) {
		buf_putc(&l->out, ' ');
		buf_text(&l->out, obj->path);
	}
	buf_putc(&l->out, '\n');
}

static int list_kernel(struct id_list *l)
{
	uint8_t id[20];
	int n = kernel_build_id(id);
	struct listed_object obj = { .id = id, .n = (size_t)n, .kernel = true };

	if (n < 0) {
		message_text("buildid-list", "cannot read /sys/kernel/notes: %s", strerror(-n));
		return EXIT_FAILED;
	}
	if (l->j.out)
		obj.path = STR_LIT("[kernel.kallsyms]");
	put_object(l, &obj);
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
static void put_module(struct id_list *l, struct str line)
{
	struct str fields[6] = { 0 };
	uint64_t size = 0, address = 0;
	struct buf path = { 0 }, note = { 0 }, name = { 0 };

	for (size_t i = 0; i < countof(fields); i++)
		str_cut(&line, ' ', &fields[i]);
	num_u64(fields[1], &size);
	num_hex(fields[5], &address);
	buf_printf(&path, "/sys/module/%.*s/notes/.note.gnu.build-id", STR(fields[0]));
	buf_printf(&name, "[%.*s]", STR(fields[0]));
	if (!buf_failed(&path) && io_read(path.bytes, 4096, &note) == 0 && note.n >= 36)
		put_object(l, &(struct listed_object){ .id = (const uint8_t *)note.bytes + 16, .n = 20,
						       .path = buf_view(&name), .has_range = true, .start = address,
						       .end = address + size, .kernel = true });
	buf_done(&name);
	buf_done(&note);
	buf_done(&path);
}

static int list_kernel_maps(struct id_list *l)
{
	struct buf symbols = { 0 }, modules = { 0 };
	struct str rest, line;
	uint8_t id[20];
	int n = kernel_build_id(id);

	io_read("/proc/kallsyms", IO_FILE_MAX, &symbols);
	if (n > 0)
		put_object(l, &(struct listed_object){ .id = id, .n = (size_t)n, .kernel = true,
						       .path = STR_LIT("[kernel.kallsyms]"), .has_range = true,
						       .start = kallsyms_address(buf_view(&symbols), "_text"),
						       .end = kallsyms_address(buf_view(&symbols), "_etext") });
	io_read("/proc/modules", IO_FILE_MAX, &modules);
	for (rest = buf_view(&modules); str_cut(&rest, '\n', &line);)
		if (line.n)
			put_module(l, line);
	buf_done(&symbols);
	buf_done(&modules);
	return 0;
}

static int list_recording(const struct buildid_list_opts *o, struct id_list *l)
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
		put_object(l, &(struct listed_object){ .id = obj->id, .n = obj->n, .path = str_of(obj->path),
						       .kernel = obj->kernel });
	}
	file_objects_done(&objects);
	if (err < 0)
		message_error("buildid-list", NULL, NULL, &e);
	return err < 0 ? EXIT_FAILED : 0;
}

static int list_file(const struct buildid_list_opts *o, struct id_list *l)
{
	uint8_t id[20];
	int n = tacho_build_id_of_file(o->input, id);

	if (n <= 0)
		return list_recording(o, l);
	put_object(l, &(struct listed_object){ .id = id, .n = (size_t)n,
					       .path = l->j.out ? str_of(o->input) : (struct str){ 0 } });
	return 0;
}

static int list_run(void *opts, int argc, char **argv)
{
	struct buildid_list_opts *o = opts;
	struct id_list l = { .out = { 0 } };
	int status, written;

	if (argc > 0) {
		message_text("buildid-list", "'%s' is not expected here", argv[0]);
		return EXIT_USAGE;
	}
	if (!o->kernel && !o->kernel_maps)
		o->input = input_choose("buildid-list", o->input);
	if (!o->kernel && !o->kernel_maps && !o->input)
		return EXIT_FAILED;
	if (o->json) {
		l.j.out = &l.out;
		json_begin(&l.j, '{');
		json_member(&l.j, "schema", str, "tacho.buildid-list/1");
		json_key(&l.j, "objects");
		json_begin(&l.j, '[');
	}
	status = o->kernel ? list_kernel(&l) : o->kernel_maps ? list_kernel_maps(&l) : list_file(o, &l);
	if (o->json) {
		json_end(&l.j);
		json_end(&l.j);
		buf_putc(&l.out, '\n');
	}
	written = print_out("buildid-list", &l.out);
	return status ? status : written;
}

const struct command cmd_buildid_list = {
	.name = "buildid-list",
	.summary = "list the build IDs of a recording",
	.rows = list_rows,
	.opts_size = sizeof(struct buildid_list_opts),
	.run = list_run,
};
