/*
 * `tacho probe`: defines, lists and removes probes in programs and the kernel, and shows where they can be placed.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "base/json.h"
#include "base/vec.h"

#include <tacho/probe.h>

enum probe_action { PROBE_NONE, PROBE_ADD, PROBE_DEFINE, PROBE_DELETE, PROBE_LIST, PROBE_FUNCTIONS,
		    PROBE_LINES, PROBE_VARIABLES };

struct probe_opts {
	struct strlist add, define, delete;
	const char *list, *functions;	/* "": without an argument */
	const char *lines, *variables;
	const char *exec, *module, *vmlinux, *symfs, *source, *filter;
	uint32_t max_probes, target_ns;
	bool externs, ranges, force, dry_run, quiet, no_inlines, json;
	unsigned verbose;
};

#define AT(field) offsetof(struct probe_opts, field)
static const struct option_row probe_rows[] = {
	{ OPT_GROUP, .help = "What to do" },
	{ OPT_LIST, 'a', "add", AT(add), "PROBE", "define a probe: [EVENT=]FUNC[+OFFSET|%return|:LINE|;PATTERN] [ARG...]" },
	{ OPT_LIST, 'D', "definition", AT(define), "PROBE", "only print the lines that would be written to tracefs" },
	{ OPT_LIST, 'd', "del", AT(delete), "[GROUP:]EVENT", "remove the probes that match the pattern" },
	{ OPT_STR, 'l', "list", AT(list), "[GROUP:]EVENT", "list the probes that are defined", OPTF_OPTIONAL | OPTF_NEXT_ARG,
	  .value = "" },
	{ OPT_STR, 'F', "funcs", AT(functions), "FILTER", "list the functions that can be probed", OPTF_OPTIONAL | OPTF_NEXT_ARG,
	  .value = "" },
	{ OPT_STR, 'L', "line", AT(lines), "RANGE", "show source lines: FUNC[:FIRST[-LAST|+COUNT]] or FILE:..." },
	{ OPT_STR, 'V', "vars", AT(variables), "POINT", "show the variables at a function, line or address" },
	{ OPT_GROUP, .help = "Where" },
	{ OPT_STR, 'x', "exec", AT(exec), "FILE", "a program or library; without it, the running kernel", .complete = "file" },
	{ OPT_STR, 'k', "vmlinux", AT(vmlinux), "FILE", "the kernel's vmlinux with debug information, for lines and variables",
	  .complete = "file" },
	{ OPT_STR, 'm', "module", AT(module), "MODULE", "a kernel module: its name, or its file with debug information",
	  .complete = "file" },
	{ OPT_STR, 's', "source", AT(source), "DIR", "look for source files below DIR first", .complete = "file" },
	{ OPT_STR, 0, "symfs", AT(symfs), "DIR", "look for objects below DIR first", .complete = "file" },
	{ OPT_UINT, 0, "target-ns", AT(target_ns), "PID", "the FILE of -x is a path as process PID sees it", .complete = "pid" },
	{ OPT_GROUP, .help = "How" },
	{ OPT_FLAG, 'f', "force", AT(force), NULL, "number the name of an event that exists: malloc_1" },
	{ OPT_FLAG, 'n', "dry-run", AT(dry_run), NULL, "find the places, but define nothing" },
	{ OPT_UINT, 0, "max-probes", AT(max_probes), "N", "refuse a request that stands for more than N places", .min = 1,
	  .max = 1 << 20 },
	{ OPT_FLAG, 0, "no-inlines", AT(no_inlines), NULL, "not where functions were inlined", OPTF_NEGATED },
	{ OPT_FLAG, 0, "externs", AT(externs), NULL, "with -V: also global variables" },
	{ OPT_FLAG, 0, "range", AT(ranges), NULL, "with -V: also where in the code a variable can be read" },
	{ OPT_STR, 0, "filter", AT(filter), "FILTER", "which functions -F lists: patterns with & | !" },
	{ OPT_FLAG, 0, "json", AT(json), NULL, "write JSON (schema tacho.probe/1)" },
	{ OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "no messages" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "also the definitions" },
	NOTED(0, "cache", NULL, "static probes are read from the file itself, and nothing else needs a cache"),
	NOTED(0, "demangle", NULL, "names are always demangled"),
	NOTED(0, "demangle-kernel", NULL, "names are always demangled"),
	REFUSED(0, "bootconfig", "-D prints definitions; bootconfig files are not written"),
	{ .kind = OPT_END },
};

struct probe_session {
	const struct probe_opts *o;
	struct tacho_probes *probes;
	unsigned n_added;
	struct buf last;		/* "GROUP:EVENT" of the last event */
};

static void put_row(struct buf *out, const struct tacho_probe *p)
{
	size_t start = out->n;

	buf_printf(out, "  %s:%s", p->group, p->event);
	buf_pad(out, ' ', out->n - start < 22 ? 22 - (out->n - start) : 0);
	buf_printf(out, " (on %s%s%s)\n", p->place, p->args[0] ? " with " : "", p->args);
}

static void say(const struct probe_session *s, const char *text, size_t n)
{
	if (!s->o->quiet)
		io_write_all(STDERR_FILENO, text, n);
}

static void explain(const struct probe_session *s, const char *option, const char *text, const struct tacho_error *e)
{
	if (!s->o->quiet)
		message_error("probe", option, text, e);
}

/* Scripts search perf's messages for these words. */
static void explain_add(const struct probe_session *s, const char *option, const char *text, const struct tacho_error *e)
{
	if (!program_is_perf()) {
		explain(s, option, text, e);
	} else if (!s->o->quiet) {
		if (e->code == -EEXIST)
			message_text("probe", "Error: %s.", e->message);
		else if (e->code == -EPERM)
			message_text("probe", "%s is blacklisted function, skip it.", text);
		else if (e->code == -ENXIO && strstr(e->message, "variable"))
			message_text("probe", "Failed to find the %s in this function.", strstr(e->message, "variable"));
		else
			message_error("probe", option, text, e);
		message_text("probe", "Error: Failed to add events.");
	}
}

static void say_notes(const struct probe_session *s)
{
	struct str rest = str_of(tacho_probes_notes(s->probes)), line;

	while (!s->o->quiet && rest.n && str_cut(&rest, '\n', &line))
		message_text("probe", "%.*s", STR(line));
}

/* If one place cannot be probed, none of the request's is. */
static int define_all(struct probe_session *s, const struct tacho_probe *found, int n, struct tacho_error *e)
{
	for (int i = 0; i < n; i++) {
		int err = tacho_probes_add(s->probes, &found[i], e);

		if (err < 0) {
			while (i--)	/* the places of an event are removed together */
				if (!i || strcmp(found[i].event, found[i - 1].event) != 0)
					tacho_probes_delete(s->probes, &found[i], NULL);
			return err;
		}
	}
	return 0;
}

static int add_request(struct probe_session *s, const char *option, const char *request)
{
	struct tacho_error e = { .column = -1 };
	scoped(buf_done) struct buf text = { 0 };
	const struct tacho_probe *found;
	int n = tacho_probes_find(s->probes, request, &found, &e), err = n;

	if (n >= 0)
		say_notes(s);
	if (n >= 0 && !s->o->dry_run)
		err = define_all(s, found, n, &e);
	if (err < 0) {
		explain_add(s, option, request, &e);
		return err;
	}
	buf_printf(&text, "Added new event%s:\n", n > 1 ? "s" : "");
	for (int i = 0; i < n; i++) {
		put_row(&text, &found[i]);
		if (s->o->verbose)
			buf_printf(&text, "    %s\n", found[i].definition);
	}
	if (buf_failed(&text))
		return -ENOMEM;
	say(s, text.bytes, text.n);
	s->n_added += (unsigned)n;
	buf_clear(&s->last);
	if (n)
		buf_printf(&s->last, "%s:%s", found[n - 1].group, found[n - 1].event);
	return 0;
}

static int print_definitions(struct probe_session *s, const char *request, struct buf *out)
{
	struct tacho_error e = { .column = -1 };
	const struct tacho_probe *found;
	int n = tacho_probes_find(s->probes, request, &found, &e);

	if (n < 0) {
		explain_add(s, "-D", request, &e);
		return n;
	}
	say_notes(s);
	for (int i = 0; i < n; i++)
		buf_printf(out, "%s\n", found[i].definition);
	return 0;
}

static void print_usage_hint(struct probe_session *s)
{
	struct buf text = { 0 };

	if (!s->n_added || s->o->quiet)
		return;
	buf_printf(&text, "\nYou can now use it in all %s commands, such as:\n\n\t%s record -e %s -aR sleep 1\n\n", program_name,
		   program_name, s->last.bytes);
	if (!buf_failed(&text))
		say(s, text.bytes, text.n);
	buf_done(&text);
}

/* The arguments that are left make one request, as in `probe -x FILE malloc size=%di`. */
static int join_arguments(int argc, char **argv, struct buf *out)
{
	for (int i = 0; i < argc; i++)
		buf_printf(out, "%s%s", i ? " " : "", argv[i]);
	return buf_failed(out) ? -ENOMEM : 0;
}

static int run_add(struct probe_session *s, int argc, char **argv)
{
	scoped(buf_done) struct buf joined = { 0 };
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->o->add.n; i++)
		err = add_request(s, "-a", s->o->add.v[i]);
	if (err == 0 && argc) {
		err = join_arguments(argc, argv, &joined);
		if (err == 0)
			err = add_request(s, NULL, joined.bytes);
	}
	print_usage_hint(s);
	return err;
}

static int run_define(struct probe_session *s)
{
	struct buf out = { 0 };
	int err = 0, status;

	for (size_t i = 0; err == 0 && i < s->o->define.n; i++)
		err = print_definitions(s, s->o->define.v[i], &out);
	status = print_out("probe", &out);
	return err < 0 ? err : status ? -EIO : 0;
}

/* ---- delete ---- */

struct deletion {
	struct { struct deleted { char *group, *event; bool is_kernel; } *v; size_t n, cap; } list;
};

static int collect_deleted(void *arg, const struct tacho_probe *p)
{
	struct deletion *d = arg;
	struct deleted *slot;

	for (size_t i = 0; i < d->list.n; i++)
		if (!strcmp(d->list.v[i].group, p->group) && !strcmp(d->list.v[i].event, p->event))
			return 0;
	slot = vec_add(&d->list);
	if (!slot)
		return -ENOMEM;
	slot->group = strdup(p->group);
	slot->event = strdup(p->event);
	slot->is_kernel = p->is_kernel;
	return slot->group && slot->event ? 0 : -ENOMEM;
}

static void deletion_done(struct deletion *d)
{
	for (size_t i = 0; i < d->list.n; i++) {
		free(d->list.v[i].group);
		free(d->list.v[i].event);
	}
	vec_done(&d->list);
}

static int delete_pattern(struct probe_session *s, const char *pattern)
{
	struct tacho_error e = { .column = -1 };
	struct deletion d = { 0 };
	int err = tacho_probes_list(s->probes, pattern, collect_deleted, &d, &e);

	if (err == 0 && !d.list.n)
		err = error_set(&e, -ENOENT, "no probe matches '%s'", pattern);
	for (size_t i = 0; err == 0 && i < d.list.n; i++) {
		struct tacho_probe probe = { .size = sizeof(probe), .group = d.list.v[i].group, .event = d.list.v[i].event,
					     .is_kernel = d.list.v[i].is_kernel };
		struct buf text = { 0 };

		err = s->o->dry_run ? 0 : tacho_probes_delete(s->probes, &probe, &e);
		buf_printf(&text, "Removed event: %s:%s\n", probe.group, probe.event);
		if (err == 0 && !buf_failed(&text))
			say(s, text.bytes, text.n);
		buf_done(&text);
	}
	if (err < 0)
		explain(s, NULL, NULL, &e);
	deletion_done(&d);
	return err;
}

static int run_delete(struct probe_session *s)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->o->delete.n; i++)
		err = delete_pattern(s, s->o->delete.v[i]);
	return err;
}

/* ---- list ---- */

struct probe_listing {
	struct buf out;
	struct json json;
	bool as_json;
};

static void put_json(struct json *j, const struct tacho_probe *p)
{
	json_begin(j, '{');
	json_member(j, "group", str, p->group);
	json_member(j, "event", str, p->event);
	json_member(j, "place", str, p->place);
	json_member(j, "arguments", str, p->args);
	json_member(j, "definition", str, p->definition);
	json_end(j);
}

static int list_probe(void *arg, const struct tacho_probe *p)
{
	struct probe_listing *l = arg;

	if (l->as_json)
		put_json(&l->json, p);
	else
		put_row(&l->out, p);
	return buf_failed(&l->out) ? -ENOMEM : 0;
}

static int list_function(void *arg, const char *name)
{
	struct probe_listing *l = arg;

	if (l->as_json) {
		json_str(&l->json, name);
	} else {
		buf_text(&l->out, str_of(name));
		buf_putc(&l->out, '\n');
	}
	return buf_failed(&l->out) ? -ENOMEM : 0;
}

static int run_list(struct probe_session *s, enum probe_action action)
{
	struct probe_listing l = { .as_json = s->o->json };
	struct tacho_error e = { .column = -1 };
	const char *filter = s->o->filter ? s->o->filter : s->o->functions && s->o->functions[0] ? s->o->functions : NULL;
	int err;

	l.json.out = &l.out;
	if (l.as_json) {
		json_begin(&l.json, '{');
		json_member(&l.json, "schema", str, "tacho.probe/1");
		json_key(&l.json, action == PROBE_LIST ? "probes" : "functions");
		json_begin(&l.json, '[');
	}
	if (action == PROBE_LIST)
		err = tacho_probes_list(s->probes, s->o->list[0] ? s->o->list : NULL, list_probe, &l, &e);
	else
		err = tacho_probes_functions(s->probes, filter, list_function, &l, &e);
	if (l.as_json) {
		json_end(&l.json);
		json_end(&l.json);
		buf_putc(&l.out, '\n');
	}
	if (err < 0) {
		explain(s, NULL, filter, &e);
		buf_done(&l.out);
		return err;
	}
	return print_out("probe", &l.out) ? -EIO : 0;
}

/* ---- source lines and variables ---- */

struct source_view {
	struct buf out;
	bool started, ranges;
	char place[300];		/* the last heading */
};

static int show_line(void *arg, const struct tacho_probe_source *source, const struct tacho_probe_line *line)
{
	struct source_view *v = arg;

	if (!v->started)
		buf_printf(&v->out, "<%s%s%s:%u>\n", source->function ? source->function : "", source->function ? "@" : "",
			   source->file, source->first);
	v->started = true;
	if (line->has_code)
		buf_printf(&v->out, "%7u  ", line->number);
	else
		buf_pad(&v->out, ' ', 9);
	buf_text(&v->out, str_of(line->text));
	buf_putc(&v->out, '\n');
	return buf_failed(&v->out) ? -ENOMEM : 0;
}

static int finish_view(struct probe_session *s, struct source_view *v, const char *option, const char *text, int err,
		       const struct tacho_error *e)
{
	if (err < 0) {
		explain(s, option, text, e);
		buf_done(&v->out);
		return err;
	}
	return print_out("probe", &v->out) ? -EIO : 0;
}

static int run_lines(struct probe_session *s)
{
	struct source_view v = { 0 };
	struct tacho_error e = { .column = -1 };
	int err = tacho_probes_lines(s->probes, s->o->lines, show_line, &v, &e);

	if (err == -EINVAL && program_is_perf())
		message_text("probe", "Semantic error in the argument of -L");
	return finish_view(s, &v, "-L", s->o->lines, err, &e);
}

static int show_variable(void *arg, const struct tacho_probe_variable *x)
{
	static const char *const marks[] = { "[VAL]", "[ENT]", "[INV]", "[UNR]" };
	struct source_view *v = arg;

	if (strcmp(v->place, x->place) != 0) {
		snprintf(v->place, sizeof(v->place), "%s", x->place);
		buf_printf(&v->out, "\t@<%s>\n", x->place);
	}
	buf_puts(&v->out, "\t\t");
	if (v->ranges)
		buf_printf(&v->out, "%s\t", x->is_external ? "[EXT]" : marks[x->state]);
	buf_text(&v->out, str_of(x->type));
	buf_putc(&v->out, '\t');
	buf_text(&v->out, str_of(x->name));
	if (v->ranges && x->ranges[0])
		buf_printf(&v->out, "\t%s", x->ranges);
	if (x->why)
		buf_printf(&v->out, "\t(%s", x->why);
	if (x->why && x->near_line)
		buf_printf(&v->out, "; can be read at line %u", x->near_line);
	buf_puts(&v->out, x->why ? ")\n" : "\n");
	return buf_failed(&v->out) ? -ENOMEM : 0;
}

static int run_variables(struct probe_session *s)
{
	struct source_view v = { .ranges = s->o->ranges };
	struct tacho_error e = { .column = -1 };
	int err;

	buf_printf(&v.out, "Available variables at %s\n", s->o->variables);
	err = tacho_probes_variables(s->probes, s->o->variables,
				     TACHO_OPTS(tacho_probe_variables_opts, .externals = s->o->externs), show_variable, &v, &e);
	return finish_view(s, &v, "-V", s->o->variables, err, &e);
}

/* ---- options ---- */

static void print_usage(void)
{
	extern const struct command cmd_probe;
	struct buf text = { 0 };

	options_help(&cmd_probe, &text);
	if (!buf_failed(&text))
		io_write_all(STDERR_FILENO, text.bytes, text.n);
	buf_done(&text);
}

/* The action of the options; PROBE_NONE after a message if there is none, or more than one. */
static enum probe_action choose_action(const struct probe_opts *o, int argc)
{
	const struct { bool given; const char *option; enum probe_action action; } all[] = {
		{ o->add.n > 0, "-a", PROBE_ADD }, { o->define.n > 0, "-D", PROBE_DEFINE },
		{ o->delete.n > 0, "-d", PROBE_DELETE }, { o->list, "-l", PROBE_LIST },
		{ o->functions, "-F", PROBE_FUNCTIONS }, { o->lines, "-L", PROBE_LINES },
		{ o->variables, "-V", PROBE_VARIABLES },
	};
	const char *before = argc ? "a probe to add" : NULL;
	enum probe_action action = argc ? PROBE_ADD : PROBE_NONE;

	for (size_t i = 0; i < countof(all); i++) {
		if (!all[i].given || all[i].action == action)
			continue;
		if (action) {
			if (program_is_perf())
				message_text("probe", "Error: switch %s cannot be used with switch %s", all[i].option, before);
			else
				message_text("probe", "%s cannot be combined with %s", all[i].option, before);
			return PROBE_NONE;
		}
		action = all[i].action;
		before = all[i].option;
	}
	if (action == PROBE_LIST && (o->exec || o->module)) {
		message_text("probe", "-l lists the probes of all programs; leave out -x and -m");
		return PROBE_NONE;
	}
	if (!action && program_is_perf())
		print_usage();
	else if (!action)
		message_text("probe", "what is to be done? -a adds a probe, -l lists them, -d removes some, -F lists functions, -L shows lines, -V variables "
			     "('probe -h' shows all options)");
	return action;
}

static int run_action(struct probe_session *s, enum probe_action action, int argc, char **argv)
{
	switch (action) {
	case PROBE_DEFINE:
		return run_define(s);
	case PROBE_DELETE:
		return run_delete(s);
	case PROBE_LIST:
	case PROBE_FUNCTIONS:
		return run_list(s, action);
	case PROBE_LINES:
		return run_lines(s);
	case PROBE_VARIABLES:
		return run_variables(s);
	default:
		return run_add(s, argc, argv);
	}
}

static int probe_run(void *opts, int argc, char **argv)
{
	const struct probe_opts *o = opts;
	enum probe_action action = choose_action(o, argc);
	struct probe_session s = { .o = o };
	struct tacho_error e = { .column = -1 };
	int err;

	if (!action)
		return EXIT_USAGE;
	err = tacho_probes_new(&s.probes, TACHO_OPTS(tacho_probe_target, .file = o->exec, .module = o->module, .vmlinux = o->vmlinux,
						     .symfs = o->symfs, .source = o->source,
						     .pid = o->target_ns, .max_probes = o->max_probes,
						     .no_inlines = o->no_inlines, .force = o->force), &e);
	if (err == 0)
		err = run_action(&s, action, argc, argv);
	else
		message_error("probe", NULL, NULL, &e);
	message_if_out_of_memory("probe", err);
	tacho_probes_free(s.probes);
	buf_done(&s.last);
	return err < 0 ? EXIT_FAILED : 0;
}

const struct command cmd_probe = {
	.name = "probe", .summary = "define tracepoints in the code of programs and the kernel",
	.args = "[PROBE [ARG...]]", .rows = probe_rows, .opts_size = sizeof(struct probe_opts), .run = probe_run,
};
