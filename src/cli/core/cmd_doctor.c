/*
 * `tacho doctor`: reports what can be measured with this kernel, CPU, user and container. The text has a line
 * per finding, grouped by topic, and a summary at the end; the JSON is one object. The exit status is 0 if
 * counting and sampling work, even if only for the user's own processes.
 *
 *	permissions
 *	  ok       CAP_PERFMON            held            all processes, all CPUs, ...
 *	  limited  kptr_restrict          2               kernel addresses are hidden ...
 *	           fix: sysctl -w kernel.kptr_restrict=1
 *
 * A command that fixes several findings is printed once; the others refer to it.
 */
#include "cli/core/app.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/core/terminal.h"

#include <tacho/doctor.h>

/* On terminals narrower than STACK_BELOW columns, the meaning is on a separate line. */
enum { MARK_WIDTH = 9, TITLE_WIDTH = 30, VALUE_WIDTH = 22, INDENT = 2, STACK_BELOW = 110 };

struct doctor_opts {
	bool json, fix_hint;
	unsigned verbose;
};

#define AT(field) offsetof(struct doctor_opts, field)
static const struct option_row doctor_rows[] = {
	{ OPT_FLAG, 'j', "json", AT(json), NULL, "print all findings as one JSON object" },
	{ OPT_FLAG, 0, "fix-hint", AT(fix_hint), NULL, "print the command that fixes a finding below it" },
	{ OPT_COUNT, 'v', "verbose", AT(verbose), NULL,
	  "also print kernel options that are set correctly, and the commands that a finding affects" },
	{ .kind = OPT_END },
};

static const struct { const char *word, *style; } marks[] = {
	[TACHO_OK] = { "ok", TERM_GREEN },
	[TACHO_LIMITED] = { "limited", TERM_YELLOW },
	[TACHO_NO] = { "no", TERM_RED },
	[TACHO_INFO] = { "info", TERM_DIM },
};

/* Facts collected from the findings for the summary at the end of the text. */
struct summary {
	bool hardware, virtual, system_count, system_sample;
	unsigned n_fixable;
};

struct text_writer {
	struct buf out;
	const struct doctor_opts *opts;
	bool colors;
	size_t width;			/* 0: lines are not wrapped */
	char topic[32];
	unsigned n_folded;
	struct strlist fixes, fixed_titles;	/* each fix that was printed, and for which finding */
	struct summary summary;
};

static void summary_note(struct summary *s, const struct tacho_finding *f)
{
	bool ok = f->verdict == TACHO_OK;

	if (strcmp(f->id, "hypervisor") == 0)
		s->virtual = true;
	else if (strcmp(f->id, "live-hardware") == 0)
		s->hardware = ok;
	else if (strcmp(f->id, "live-count-system") == 0)
		s->system_count = ok;
	else if (strcmp(f->id, "live-sample-system") == 0)
		s->system_sample = ok;
	if (f->fix)
		s->n_fixable++;
}

/* Text */

/* Kernel options that are set are summarised in one line unless -v is given. */
static void end_topic(struct text_writer *w)
{
	if (w->n_folded) {
		buf_pad(&w->out, ' ', INDENT);
		term_styled(&w->out, w->colors, marks[TACHO_OK].style, marks[TACHO_OK].word);
		buf_pad(&w->out, ' ', MARK_WIDTH - strlen(marks[TACHO_OK].word));
		buf_printf(&w->out, "%u further options are set (-v shows them)\n", w->n_folded);
	}
	w->n_folded = 0;
}

static void begin_topic(struct text_writer *w, const char *topic)
{
	end_topic(w);
	if (w->topic[0])
		buf_putc(&w->out, '\n');
	term_styled(&w->out, w->colors, TERM_BOLD, topic);
	buf_putc(&w->out, '\n');
	snprintf(w->topic, sizeof(w->topic), "%s", topic);
}

/* Appends `text` at column `at`, wrapped if the output is a terminal. */
static void put_wrapped(struct text_writer *w, const char *text, size_t at)
{
	if (w->width)
		term_wrap(&w->out, str_of(text), at, at, w->width);
	else
		buf_puts(&w->out, text);
	buf_putc(&w->out, '\n');
}

static void put_break(struct text_writer *w, size_t indent)
{
	buf_putc(&w->out, '\n');
	buf_pad(&w->out, ' ', indent);
}

static void put_below(struct text_writer *w, const char *label, const char *text)
{
	buf_pad(&w->out, ' ', INDENT + MARK_WIDTH);
	term_styled(&w->out, w->colors, TERM_DIM, label);
	buf_puts(&w->out, text);
	buf_putc(&w->out, '\n');
}

static int put_fix(struct text_writer *w, const struct tacho_finding *f)
{
	char reference[80];
	int err;

	for (size_t i = 0; i < w->fixes.n; i++)
		if (strcmp(w->fixes.v[i], f->fix) == 0) {
			snprintf(reference, sizeof(reference), "%s, which has the same fix", w->fixed_titles.v[i]);
			put_below(w, "see: ", reference);
			return 0;
		}
	put_below(w, "fix: ", f->fix);
	err = strlist_add(&w->fixes, str_of(f->fix));
	return err ? err : strlist_add(&w->fixed_titles, str_of(f->title));
}

static int put_finding(struct text_writer *w, const struct tacho_finding *f)
{
	const char *value = f->value ? f->value : "-";
	size_t title = strlen(f->title), n = strlen(value);
	size_t at = INDENT + MARK_WIDTH + TITLE_WIDTH + VALUE_WIDTH;

	buf_pad(&w->out, ' ', INDENT);
	term_styled(&w->out, w->colors, marks[f->verdict].style, marks[f->verdict].word);
	buf_pad(&w->out, ' ', MARK_WIDTH - strlen(marks[f->verdict].word));
	buf_puts(&w->out, f->title);
	buf_pad(&w->out, ' ', title < TITLE_WIDTH ? TITLE_WIDTH - title : 1);
	buf_puts(&w->out, value);
	if (w->width && w->width < STACK_BELOW) {
		at = INDENT + MARK_WIDTH;
		put_break(w, at);
	} else if (n < VALUE_WIDTH) {
		buf_pad(&w->out, ' ', VALUE_WIDTH - n);
	} else if (w->width) {
		put_break(w, at);
	} else {
		buf_puts(&w->out, "  ");
	}
	put_wrapped(w, f->meaning, at);
	if (w->opts->verbose && f->affects)
		put_below(w, "for: ", f->affects);
	return w->opts->fix_hint && f->fix ? put_fix(w, f) : 0;
}

static int write_text(void *arg, const struct tacho_finding *f)
{
	struct text_writer *w = arg;

	if (strcmp(w->topic, f->topic) != 0)
		begin_topic(w, f->topic);
	summary_note(&w->summary, f);
	if (w->opts->verbose || f->verdict != TACHO_OK || strcmp(f->topic, "config") != 0)
		return put_finding(w, f);
	w->n_folded++;
	return 0;
}

static void put_verdict(struct text_writer *w, const struct tacho_diagnosis *d)
{
	const struct summary *s = &w->summary;
	static const char *const scope[] = { ", for own processes only", "" };

	buf_putc(&w->out, '\n');
	if (s->n_fixable && !w->opts->fix_hint)
		buf_printf(&w->out, "%u of these can be fixed; '%s doctor --fix-hint' prints the commands, which need root.\n",
			   s->n_fixable, program_name);
	buf_printf(&w->out, "Counting %s%s; sampling %s%s; %s.\n",
		   d->counting ? "works" : "does not work", d->counting ? scope[s->system_count] : "",
		   d->sampling ? "works" : "does not work", d->sampling ? scope[s->system_sample] : "",
		   s->hardware ? "hardware counters work" :
		   s->virtual ? "no hardware counters (VM without vPMU)" : "no hardware counters");
}

static int run_text(struct tacho *t, const struct doctor_opts *o, struct tacho_diagnosis *d,
		    struct tacho_error *e)
{
	struct text_writer w = { .opts = o, .colors = term_has_colors(STDOUT_FILENO) };
	int err;

	if (term_is_tty(STDOUT_FILENO))
		w.width = term_width(STDOUT_FILENO);
	err = tacho_doctor(t, write_text, &w, d, e);
	strlist_done(&w.fixes);
	strlist_done(&w.fixed_titles);
	if (err < 0) {
		buf_done(&w.out);
		return err;
	}
	end_topic(&w);
	put_verdict(&w, d);
	return print_out("doctor", &w.out);
}

/* JSON */

/* Collects the findings as text, because the overall verdict precedes them in the output. */
static int collect_json(void *arg, const struct tacho_finding *f)
{
	struct strlist *list = arg;
	scoped(buf_done) struct buf text = { 0 };
	struct json j = { .out = &text };

	json_begin(&j, '{');
	json_member(&j, "id", str, f->id);
	json_member(&j, "topic", str, f->topic);
	json_member(&j, "title", str, f->title);
	json_member(&j, "verdict", str, marks[f->verdict].word);
	json_member(&j, "value", str, f->value);
	json_member(&j, "meaning", str, f->meaning);
	json_member(&j, "affects", str, f->affects);
	json_member(&j, "fix", str, f->fix);
	json_end(&j);
	return buf_failed(&text) ? -ENOMEM : strlist_add(list, buf_view(&text));
}

static int run_json(struct tacho *t, struct tacho_diagnosis *d, struct tacho_error *e)
{
	scoped(strlist_done) struct strlist findings = { 0 };
	struct buf out = { 0 };
	struct json j = { .out = &out, .indent = 2 };
	int err = tacho_doctor(t, collect_json, &findings, d, e);

	if (err < 0)
		return err;
	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.doctor/1");
	json_member(&j, "counting", bool, d->counting);
	json_member(&j, "sampling", bool, d->sampling);
	json_key(&j, "findings");
	json_begin(&j, '[');
	for (size_t i = 0; i < findings.n; i++)
		json_raw(&j, findings.v[i]);
	json_end(&j);
	json_end(&j);
	buf_putc(&out, '\n');
	return print_out("doctor", &out);
}

static int doctor_run(void *opts, int argc, char **argv)
{
	const struct doctor_opts *o = opts;
	struct tacho_diagnosis d = { .size = sizeof(d) };
	struct tacho_error e = { .column = -1 };
	struct tacho *t;
	int err;

	if (argc) {
		message_text("doctor", "takes no arguments, but was given '%s'", argv[0]);
		return EXIT_USAGE;
	}
	err = tacho_open(&t, NULL, &e);
	if (err == 0) {
		err = o->json ? run_json(t, &d, &e) : run_text(t, o, &d, &e);
		tacho_close(t);
	}
	if (err < 0) {
		if (!e.code)
			error_nomem(&e);
		message_error("doctor", NULL, NULL, &e);
	}
	return err || !d.counting || !d.sampling ? EXIT_FAILED : 0;
}

const struct command cmd_doctor = {
	.name = "doctor", .summary = "show what this kernel, CPU and user can do",
	.rows = doctor_rows, .opts_size = sizeof(struct doctor_opts), .run = doctor_run,
};
