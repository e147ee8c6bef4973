/*
 * `tacho kallsyms`: where symbols of the running kernel and its modules are. The text of kallsyms is read as it is:
 * "ADDRESS TYPE NAME", and "\t[MODULE]" for modules.
 */
#include "cli/core/command.h"

#include <errno.h>
#include <inttypes.h>

#include "base/arena.h"
#include "base/io.h"
#include "base/json.h"
#include "base/num.h"
#include "base/vec.h"

#define KALLSYMS_BYTES_MAX (256u << 20)
#define PAGE 4096u

struct kallsyms_opts {
	const char *file;
	bool json;
	unsigned verbose;
};

#define AT(field) offsetof(struct kallsyms_opts, field)
static const struct option_row kallsyms_rows[] = {
	{ OPT_STR, 0, "kallsyms", AT(file), "FILE", "read FILE instead of /proc/kallsyms", .complete = "file" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.kallsyms/1)" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "also how many symbols were read" },
	{ .kind = OPT_END },
};

struct kernel_symbol {
	uint64_t start, end;
	struct str name, module;	/* module: "[ext4]"; empty: the kernel itself */
};
struct kernel_symbols {
	struct kernel_symbol *v;
	size_t n, cap;
};

/* Code and data, as perf reads them; not absolute symbols of per-CPU variables. */
static bool is_listed(char type)
{
	return type && strchr("TtWwDdBb", type);
}

static int add_symbol(struct kernel_symbols *s, struct str line)
{
	struct str address, type, name;
	struct kernel_symbol *sym;
	uint64_t start;

	if (!str_cut(&line, ' ', &address) || !str_cut(&line, ' ', &type) || type.n != 1 || !is_listed(type.s[0]) ||
	    !str_cut(&line, '\t', &name) || num_hex(address, &start) < 0)
		return 0;
	sym = vec_next(s);
	if (!sym)
		return -ENOMEM;
	*sym = (struct kernel_symbol){ .start = start, .name = name, .module = str_trim(line) };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* A symbol ends where the next one of the same object starts, or at the end of its page. */
static void set_ends(struct kernel_symbols *s)
{
	for (size_t i = s->n; i--;) {
		struct kernel_symbol *sym = &s->v[i];
		const struct kernel_symbol *next = i + 1 < s->n ? &s->v[i + 1] : NULL;

		if (next && next->start == sym->start)
			sym->end = next->end;
		else if (next && str_eq(next->module, sym->module))
			sym->end = next->start;
		else
			sym->end = (sym->start + PAGE) & ~(uint64_t)(PAGE - 1);
	}
}

/* 0, -EACCES if all addresses are hidden, or another negative errno. */
static int parse(struct str text, struct kernel_symbols *out)
{
	struct str line;
	int err = 0;

	while (err == 0 && str_cut(&text, '\n', &line))
		err = add_symbol(out, line);
	if (err == 0 && !out->n)
		return -ENODATA;
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_start);
	if (err == 0 && !out->v[out->n - 1].start)
		return -EACCES;
	set_ends(out);
	return err;
}

static const struct kernel_symbol *find(const struct kernel_symbols *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_is(s->v[i].name, name))
			return &s->v[i];
	return NULL;
}

static void put_line(const struct kernel_symbol *s, const char *name, struct buf *out)
{
	buf_text(out, str_of(name));
	if (!s) {
		buf_puts(out, ": not found\n");
		return;
	}
	buf_puts(out, ": ");
	buf_text(out, s->module.n ? s->module : STR_LIT("[kernel]"));
	buf_putc(out, ' ');
	buf_text(out, s->module.n ? s->module : STR_LIT("[kernel.kallsyms]"));
	buf_printf(out, " %#" PRIx64 "-%#" PRIx64 " (%#" PRIx64 "-%#" PRIx64 ")\n", s->start, s->end, s->start, s->end);
}

static void put_hex(struct json *j, const char *key, uint64_t v)
{
	struct buf text = { 0 };

	buf_printf(&text, "%#" PRIx64, v);
	json_member(j, key, str, buf_failed(&text) ? NULL : text.bytes);
	buf_done(&text);
}

static void put_json(struct json *j, const struct kernel_symbol *s, const char *name)
{
	json_begin(j, '{');
	json_member(j, "name", str, name);
	json_member(j, "found", bool, s);
	if (s) {
		json_key(j, "module");
		if (s->module.n)
			json_strn(j, s->module);
		else
			json_null(j);
		put_hex(j, "start", s->start);
		put_hex(j, "end", s->end);
	}
	json_end(j);
}

static int print_symbols(const struct kernel_symbols *s, bool as_json, int argc, char **argv)
{
	scoped(buf_done) struct buf out = { 0 };
	struct json j = { .out = &out };

	if (as_json) {
		json_begin(&j, '{');
		json_member(&j, "schema", str, "tacho.kallsyms/1");
		json_key(&j, "symbols");
		json_begin(&j, '[');
	}
	for (int i = 0; i < argc; i++) {
		const struct kernel_symbol *found = find(s, argv[i]);

		if (as_json)
			put_json(&j, found, argv[i]);
		else
			put_line(found, argv[i], &out);
	}
	if (as_json) {
		json_end(&j);
		json_end(&j);
		buf_putc(&out, '\n');
	}
	return buf_failed(&out) ? -ENOMEM : io_write_all(STDOUT_FILENO, out.bytes, out.n);
}

static int kallsyms_run(void *opts, int argc, char **argv)
{
	const struct kallsyms_opts *o = opts;
	const char *path = o->file ? o->file : "/proc/kallsyms";
	scoped(buf_done) struct buf text = { 0 };
	struct kernel_symbols s = { 0 };
	int err;

	if (!argc) {
		message_text("kallsyms", "which symbol? 'kallsyms NAME...' shows where it is");
		return EXIT_USAGE;
	}
	err = io_read(path, KALLSYMS_BYTES_MAX, &text);
	if (err == 0)
		err = buf_failed(&text) ? -ENOMEM : parse(buf_view(&text), &s);
	if (err == 0 && o->verbose)
		message_text("kallsyms", "%s has %zu symbols", path, s.n);
	if (err == 0)
		err = print_symbols(&s, o->json, argc, argv);
	else if (err == -EACCES)
		message_text("kallsyms", "the addresses in %s are hidden: they need root or CAP_SYSLOG, and "
			     "kernel.kptr_restrict below 2", path);
	else
		message_text("kallsyms", "cannot read %s: %s", path, err == -ENODATA ? "it has no symbols" : strerror(-err));
	vec_done(&s);
	return err < 0 ? EXIT_FAILED : 0;
}

const struct command cmd_kallsyms = {
	.name = "kallsyms", .summary = "show where symbols of the running kernel are",
	.args = "NAME...", .rows = kallsyms_rows, .opts_size = sizeof(struct kallsyms_opts), .run = kallsyms_run,
};
