/*
 * `tacho list`: lists the events that can be counted on this machine. An argument is a class (hw, sw, cache
 * ...), a pattern, or part of a name. As in perf, the text omits events that cannot be opened. If an argument
 * names them or --all is given, they are listed with the reason.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "base/tracefs.h"
#include "cli/events/list_option.h"
#include "cli/events/list.h"
#include "cli/core/terminal.h"

struct event_list_opts {
	bool raw, json, desc, details, all, deprecated;
	unsigned verbose;
	const char *output, *unit;
	struct strlist event_lists;
};

#define AT(field) offsetof(struct event_list_opts, field)
static const struct option_row list_rows[] = {
	{ OPT_GROUP, .help = "What to show" },
	{ OPT_FLAG, 'a', "all", AT(all), NULL,
	  "also show events that cannot be opened here, with the reason" },
	{ OPT_FLAG, 0, "deprecated", AT(deprecated), NULL, "also show events that the vendor's list marks as deprecated" },
	EVENT_LIST_ROW(AT(event_lists)),
	{ OPT_STR, 0, "unit", AT(unit), "PMU", "only events of this PMU; may be a pattern" },
	{ OPT_GROUP, .help = "How to show it" },
	{ OPT_FLAG, 'd', "desc", AT(desc), NULL,
	  "show descriptions (the default; --no-desc hides them)" },
	{ OPT_COUNT, 'v', "long-desc", AT(verbose), NULL, "show long descriptions; implies --all and --details" },
	{ OPT_FLAG, 0, "details", AT(details), NULL, "show how each event is encoded" },
	{ OPT_FLAG, 'j', "json", AT(json), NULL, "write a JSON array, one event per line" },
	{ OPT_FLAG, 0, "raw-dump", AT(raw), NULL, "write only the names, separated by blanks" },
	{ OPT_STR, 'o', "output", AT(output), "FILE", "write to FILE", .complete = "file" },
	REFUSED(0, "debug", "use -v, which shows how each event is encoded and why it cannot be opened"),
	{ .kind = OPT_END },
};

static const struct { const char *typed, *class_; } classes[] = {
	{ "hw", "hw" }, { "hardware", "hw" }, { "sw", "sw" }, { "software", "sw" },
	{ "cache", "cache" }, { "hwcache", "cache" }, { "tracepoint", "tracepoint" },
	{ "pmu", "pmu" }, { "vendor", "vendor" }, { "tool", "tool" }, { "raw", "raw" }, { "bp", "bp" },
	{ "metric", "metric" }, { "metrics", "metric" },
	{ "metricgroup", "metricgroup" }, { "metricgroups", "metricgroup" },
};

struct listing {
	const struct event_list_opts *opts;
	struct list_out out;
	struct list_words words;
	size_t n_hidden;
	char reason[256];	/* why the first hidden event cannot be opened */
};

static const char *class_of(const char *typed)
{
	for (size_t i = 0; i < countof(classes); i++)
		if (!strcmp(typed, classes[i].typed))
			return classes[i].class_;
	return NULL;
}

/* Initialises an argument. As in perf, an argument without * ? [ matches any part of a name. */
static int word_init(struct list_word *w, const char *typed)
{
	struct buf pattern = { 0 };

	*w = (struct list_word){ .typed = typed, .class_ = class_of(typed) };
	if (w->class_)
		return 0;
	buf_printf(&pattern, str_has_glob(str_of(typed)) ? "%s" : "*%s*", typed);
	w->pattern = buf_take(&pattern);
	return w->pattern ? 0 : -ENOMEM;
}

static struct str lowered(const char *text, char *out, size_t size)
{
	size_t n = 0;

	for (; n < size && text[n]; n++)
		out[n] = text[n] >= 'A' && text[n] <= 'Z' ? (char)(text[n] + 32) : text[n];
	return str_n(out, n);
}

bool list_matches(const char *pattern, const char *name)
{
	char low_pattern[256], low_name[256];

	return name && str_glob(lowered(pattern, low_pattern, sizeof(low_pattern)),
				lowered(name, low_name, sizeof(low_name)));
}

/* Marks the arguments that match this event. Returns whether a pattern matches its name. */
static bool mark_matches(struct listing *l, const struct tacho_listing *item)
{
	bool named = false;

	for (size_t i = 0; i < l->words.n; i++) {
		struct list_word *w = &l->words.v[i];

		if (w->class_) {
			w->hit = w->hit || !strcmp(w->class_, item->class_);
		} else if (list_matches(w->pattern, item->name) ||
			   list_matches(w->pattern, item->alias)) {
			w->hit = true;
			named = true;
		}
	}
	return named;
}

static int on_event(void *arg, const struct tacho_listing *item)
{
	struct listing *l = arg;
	bool named = mark_matches(l, item) || list_is_template(item);
	named = named && !l->opts->raw;
	named = named || (item->deprecated && l->opts->deprecated);
	if (!item->available && !named && !l->opts->all && !l->opts->json) {
		if (!l->n_hidden++ && item->why)
			snprintf(l->reason, sizeof(l->reason), "%s", item->why);
		return 0;
	}
	l->out.writer->event(&l->out, item);
	l->out.n++;
	return buf_failed(&l->out.buf) ? -ENOMEM : 0;
}

static bool is_metric_class(const struct list_word *w)
{
	return w->class_ && str_starts(str_of(w->class_), "metric");
}

static int list_events(struct tacho *t, struct listing *l, struct tacho_error *e)
{
	const char **words = calloc(l->words.n + 1, sizeof(*words));
	struct tacho_list_opts opts = {
		.size = sizeof(opts), .words = words, .pmu = l->opts->unit,
		.details = l->opts->details || l->opts->json, .probe = true,
	};
	int err = 0;

	if (!words)
		return error_nomem(e);
	for (size_t i = 0; i < l->words.n; i++) {
		const struct list_word *w = &l->words.v[i];

		if (!is_metric_class(w))
			words[opts.n_words++] = w->class_ ? w->class_ : w->pattern;
	}
	if (!l->words.n || opts.n_words)
		err = tacho_list(t, &opts, on_event, l, e);
	free(words);
	return err;
}

/* The event name that is most similar to an argument that matched nothing. */
struct list_suggestion {
	struct str_nearest near;
	char name[128];
};

static int try_suggestion(void *arg, const struct tacho_listing *item)
{
	const char *const names[] = { item->name, item->alias };
	struct list_suggestion *g = arg;

	for (size_t i = 0; i < countof(names); i++) {
		struct str name = str_of(names[i]);
		struct str_nearest *near = &g->near;
		unsigned before = near->best.n ? near->distance : UINT32_MAX;

		if (!name.n || name.n >= sizeof(g->name))
			continue;
		str_nearest_try(near, name);
		if (near->best.n && near->distance < before) {
			memcpy(g->name, name.s, name.n + 1);
			near->best = str_n(g->name, name.n);
		}
	}
	return 0;
}

/* Whether tracefs is readable. If it is not, no tracepoints are listed. */
static bool tracefs_is_readable(void)
{
	char path[PATH_MAX];

	return tracefs_find(NULL, NULL, path, sizeof(path));
}

static void report_unmatched(struct tacho *t, const struct list_word *w)
{
	bool tracepoint = w->class_ ? !strcmp(w->class_, "tracepoint") : !!strchr(w->typed, ':');
	struct list_suggestion g = { .near = { .word = str_of(w->typed) } };
	struct tacho_error e;

	if (w->class_)
		error_set(&e, -ENOENT, "there are no events of class '%s' here", w->typed);
	else
		error_set(&e, -ENOENT, "no event matches '%s'", w->typed);
	for (size_t i = 0; !w->class_ && i < countof(classes); i++)
		str_nearest_try(&g.near, str_of(classes[i].typed));
	if (!w->class_)
		tacho_list(t, TACHO_OPTS(tacho_list_opts, .words = NULL), try_suggestion, &g, NULL);
	if (tracepoint && !tracefs_is_readable())
		error_hint(&e, "tracefs is not mounted, or not readable for this user; see '%s doctor'",
			   program_name);
	else if (g.near.best.n)
		error_hint(&e, "did you mean '%.*s'?", STR(g.near.best));
	message_error("list", NULL, NULL, &e);
}

/* Reports arguments that matched nothing, and an empty list. Returns the exit status. */
static int report_missing(struct tacho *t, const struct listing *l)
{
	int status = 0;

	for (size_t i = 0; i < l->words.n; i++) {
		if (l->words.v[i].hit)
			continue;
		report_unmatched(t, &l->words.v[i]);
		status = program_is_perf() ? 0 : EXIT_FAILED;	/* for perf, an empty list is not an error */
	}
	if (!status && !l->out.n && l->n_hidden) {
		struct tacho_error e;

		error_set(&e, -ENODEV, "none of the %zu events can be opened here%s%s", l->n_hidden,
			  l->reason[0] ? ": " : "", l->reason);
		error_hint(&e, "'%s list --all' shows them with the reason", program_name);
		message_error("list", NULL, NULL, &e);
	} else if (!status && !l->out.n && l->opts->unit) {
		message_text("list", "no PMU that matches '%s' has such an event", l->opts->unit);
		status = EXIT_FAILED;
	}
	return status;
}

static int write_result(const struct event_list_opts *o, struct buf *b)
{
	int fd, status;

	if (!o->output) {
		if (!o->raw && !o->json)
			pager_start();
		return print_out("list", b);
	}
	fd = open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		message_text("list", "cannot write '%s': %s", o->output, strerror(errno));
		buf_done(b);
		return EXIT_FAILED;
	}
	status = print_fd("list", fd, o->output, b);
	if (close(fd) < 0 && !status) {
		message_text("list", "cannot write '%s': %s", o->output, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

static int list_all(struct tacho *t, struct listing *l)
{
	struct tacho_error e = { .column = -1 };
	int err, status;

	l->out.writer->begin(&l->out);
	err = list_events(t, l, &e);
	if (!err && !l->opts->unit)
		err = list_metrics(t, &l->out, &l->words);
	l->out.writer->end(&l->out);
	if (err < 0) {
		if (!e.code)
			error_set(&e, err, "%s", strerror(-err));
		message_error("list", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	status = write_result(l->opts, &l->out.buf);
	return status ? status : report_missing(t, l);
}

static int list_with(struct listing *l, int argc, char **argv)
{
	struct tacho_error e = { .column = -1 };
	struct tacho *t;
	int status;

	for (int i = 0; i < argc; i++)
		if (word_init(&l->words.v[l->words.n++], argv[i]) < 0) {
			message_text("list", "out of memory");
			return EXIT_FAILED;
		}
	if (tacho_open(&t, NULL, &e) < 0) {
		message_error("list", NULL, NULL, &e);
		return EXIT_FAILED;
	}
	status = event_lists_add("list", t, &l->opts->event_lists) < 0 ? EXIT_FAILED : list_all(t, l);
	tacho_close(t);
	return status;
}

static void list_defaults(void *opts)
{
	((struct event_list_opts *)opts)->desc = true;
}

static int list_run(void *opts, int argc, char **argv)
{
	struct event_list_opts *o = opts;
	struct listing l = {
		.opts = o,
		.out.writer = o->json ? &list_json : o->raw ? &list_raw : &list_text,
		.out.width = term_width(STDOUT_FILENO) - 1,
		.words.v = calloc((size_t)argc + 1, sizeof(*l.words.v)),
	};
	int status = EXIT_FAILED;

	o->all = o->all || o->verbose;
	o->details = o->details || o->verbose;
	l.out.desc = o->desc;
	l.out.details = o->details;
	l.out.long_desc = o->verbose;
	if (l.words.v)
		status = list_with(&l, argc, argv);
	else
		message_text("list", "out of memory");
	for (size_t i = 0; i < l.words.n; i++)
		free(l.words.v[i].pattern);
	free(l.words.v);
	buf_done(&l.out.buf);
	return status;
}

const struct command cmd_list = {
	.name = "list", .summary = "show the events that can be counted here",
	.args = "[CLASS|PATTERN...]", .rows = list_rows,
	.opts_size = sizeof(struct event_list_opts), .defaults = list_defaults, .run = list_run,
	.complete_args = "hw sw cache tracepoint pmu vendor tool raw bp metric metricgroup",
};
