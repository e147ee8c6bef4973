/*
 * view_plan: names become numbers. Rules of an event become its steps, in the order of the table; columns that the keys do
 * not select are left out.
 */
#include "view/plan.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "view/fields.h"

#include <tacho/syscall.h>

bool view_event_is_function(const char *event)
{
	return !strcmp(event, VIEW_CALL) || !strcmp(event, VIEW_RETURN);
}

int view_raw_of(const char *event)
{
	static const char *const raw[VIEW_RAWS] = { "sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new",
						    "raw_syscalls:sys_enter", "raw_syscalls:sys_exit" };

	for (int i = 0; i < VIEW_RAWS; i++)
		if (!strcmp(raw[i], event))
			return i;
	return -1;
}

/* Reads the format file of an event, unless a raw program or a probe makes its data. */
static int read_format(struct view_plan *p, size_t event, struct tacho_error *e)
{
	const char *name = p->events[event];
	int err;

	if (!strcmp(name, VIEW_SAMPLE))
		return 0;
	if (view_event_is_function(name)) {
		if (!p->functions || p->functions->has_probes)
			return 0;
		name = p->functions->list.v[0].name;
	} else if (!p->is_sampled && view_raw_of(name) >= 0) {
		return 0;
	}
	err = tacho_trace_new_here(&p->formats[event], NULL, &name, 1, e);
	if (err == 0)
		p->format[event] = tacho_trace_find_name(p->formats[event], name);
	return err < 0 ? err : p->format[event] ? 0 : error_set(e, -ENOENT, "the format of %s cannot be read", name);
}

/* The event's index, added on its first use. */
static int event_index(struct view_plan *p, const char *name, struct tacho_error *e)
{
	int err, raw = view_raw_of(name);

	for (size_t i = 0; i < p->n_events; i++)
		if (!strcmp(p->events[i], name))
			return (int)i;
	if (p->n_events == VIEW_EVENTS)
		return error_set(e, -E2BIG, "a view can have %d events", VIEW_EVENTS);
	p->events[p->n_events] = name;
	err = read_format(p, p->n_events, e);
	if (err < 0)
		return err;
	if (!p->is_sampled && raw >= 0)
		p->program.raw_event[raw] = (uint32_t)p->n_events + 1;
	return (int)p->n_events++;
}

static bool needs_field(enum view_source source)
{
	return source == VIEW_FIELD || source == VIEW_FIELD_TEXT || source == VIEW_FIELD_BYTES || source == VIEW_FIELD_LOC ||
	       source == VIEW_SENT || source == VIEW_RECEIVED;
}

static int set_operand(const struct view_plan *p, size_t event, const struct view_part *part, struct view_operand *out,
		       struct tacho_error *e)
{
	struct view_field f;
	int err;

	*out = (struct view_operand){ .source = (uint8_t)part->source, .slot = part->slot, .constant = part->constant };
	if (!needs_field(part->source))
		return 0;
	err = view_field_find(p, event, part->field, &f, e);
	if (err < 0)
		return err;
	out->offset = (uint16_t)(f.offset + part->element * f.size);
	out->is_signed = f.is_signed;
	out->addend = (int16_t)(part->addend + f.addend);
	out->size = part->bytes ? min_of(part->bytes, f.size) : f.size;
	if (part->bytes)
		out->is_signed = part->is_signed;
	if (part->source == VIEW_FIELD_TEXT || part->source == VIEW_FIELD_BYTES) {
		out->size = min_of(f.is_string ? f.size : part->text_bytes, part->text_bytes);
		if (f.is_loc)
			out->source = VIEW_FIELD_LOC;
	} else if (f.size > 8) {
		return error_set(e, -EINVAL, "the field '%s' of %s is not a number", part->field, p->events[event]);
	}
	return 0;
}

static bool uses_start(enum view_source source)
{
	return source == VIEW_SLOT || source == VIEW_HAS_SLOTS || source == VIEW_DELTA || source == VIEW_FILE_MODE || source == VIEW_SLOT_PID;
}

static bool is_filtered(const struct tacho_view_opts *o)
{
	return o->n_pids || o->follow || o->by_uid || o->cgroup;
}

static int set_tests(const struct view_plan *p, size_t event, const struct view_rule *rule, struct view_step *step,
		     struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < VIEW_TESTS && rule->when[i].relation; i++) {
		const struct view_condition *c = &rule->when[i];

		step->tests[i] = (struct view_test){ .relation = (uint16_t)c->relation, .right = c->right,
			.is_signed = c->is_signed, .is_late = uses_start(c->left.source) };
		err = set_operand(p, event, &c->left, &step->tests[i].left, e);
	}
	/* A rule that is filtered sets the slots. */
	if (rule->needs_slots && is_filtered(&p->opts))
		step->tests[VIEW_TESTS - 1] = (struct view_test){ .left.source = VIEW_HAS_SLOTS, .relation = VIEW_EQ, .right = 1,
								  .is_late = true };
	return err;
}

static int set_calls(const struct view_rule *rule, struct view_step *step, struct tacho_error *e)
{
	int arch = tacho_syscall_host_arch(), n;

	if (!rule->calls)
		return 0;
	if (arch < 0)
		return error_set(e, arch, "system calls of this architecture are not known");
	n = tacho_syscall_select(rule->calls, (enum tacho_syscall_arch)arch, (uint64_t *)step->calls, e);
	step->has_calls = true;
	return n < 0 ? n : 0;
}

static int add_step(struct view_plan *p, size_t event, const struct view_rule *rule, struct tacho_error *e)
{
	struct view_event *ev = &p->program.events[event];
	struct view_step step = { .action = (uint8_t)rule->action, .writes = rule->writes, .emits = rule->emits,
				  .subject = (uint8_t)rule->subject, .is_filtered = !rule->is_unfiltered };
	struct view_operand tid = { .source = VIEW_TID };
	int err = ev->n_steps == VIEW_STEPS ? error_set(e, -E2BIG, "%s has too many rules", rule->event) : 0;

	if (err == 0)
		err = set_tests(p, event, rule, &step, e);
	if (err == 0)
		err = set_calls(rule, &step, e);
	for (size_t i = 0; err == 0 && i < countof(step.key); i++)
		err = set_operand(p, event, &rule->key[i], &step.key[i], e);
	for (size_t i = 0; err == 0 && i < countof(step.slots); i++)
		err = set_operand(p, event, &rule->slots[i], &step.slots[i], e);
	if (err == 0 && rule->task && p->is_sampled)
		err = set_operand(p, event, &(struct view_part){ .source = VIEW_FIELD, .field = rule->task }, &tid, e);
	if (err == 0) {
		p->tids[event][ev->n_steps] = tid;
		ev->steps[ev->n_steps++] = step;
	}
	return err;
}

static bool has_word(const char *list, struct str word)
{
	struct str rest = str_of(list), one;

	while (str_cut(&rest, ' ', &one))
		if (str_eq(one, word))
			return true;
	return false;
}


/* Whether one of these words is among the keys. */
static bool is_selected(const char *words, const char *keys)
{
	struct str rest = str_of(keys), one;

	while (str_cut(&rest, ',', &one))
		if (has_word(words, str_trim(one)))
			return true;
	return false;
}

static bool applies(const struct view_plan *p, const struct view_rule *rule)
{
	const char *keys = p->opts.by ? p->opts.by : p->def->info.default_keys;

	if (rule->is_sampled_only && !p->is_sampled)
		return false;
	if (rule->key_word && (!keys || !is_selected(rule->key_word, keys)))
		return false;
	return !rule->when_totals || (rule->when_totals > 0) == p->opts.totals;
}

/* Finds the operand of a column, or of the weight, at the events that make rows. */
static int set_row_operand(const struct view_plan *p, const struct view_part *part, struct view_operand *out,
			   struct tacho_error *e)
{
	bool found = false;

	for (size_t i = 0; i < p->n_events; i++)
		for (size_t k = 0; k < p->program.events[i].n_steps; k++) {
			struct view_operand one;
			int err = p->program.events[i].steps[k].emits ? set_operand(p, i, part, &one, e) : 1;

			if (err < 0)
				return err;
			if (err == 0 && found && memcmp(&one, out, sizeof(one)) != 0)
				return error_set(e, -EINVAL, "the events have '%s' at different places", part->field);
			if (err == 0)
				*out = one;
			found |= err == 0;
		}
	return found ? 0 : error_set(e, -EINVAL, "no event makes a row");
}

static int check_keys(const struct view_plan *p, const char *keys, struct tacho_error *e)
{
	struct str rest = str_of(keys), one;

	while (str_cut(&rest, ',', &one)) {
		bool known = !str_trim(one).n;

		for (size_t i = 0; i < VIEW_COLUMNS; i++)
			known |= p->def->columns[i].by && has_word(p->def->columns[i].by, str_trim(one));
		if (known)
			continue;
		error_set(e, -EINVAL, "%s has no key '%.*s'", p->def->info.name, STR(str_trim(one)));
		if (p->def->info.keys[0])
			error_hint(e, "its keys are %s", p->def->info.keys);
		return -EINVAL;
	}
	return 0;
}

static int select_columns(struct view_plan *p, struct tacho_error *e)
{
	const char *keys = p->opts.by ? p->opts.by : p->def->info.default_keys;
	int err = keys ? check_keys(p, keys, e) : 0;

	for (size_t i = 0; err == 0 && i < VIEW_COLUMNS && p->def->columns[i].key; i++) {
		const struct view_column *c = &p->def->columns[i];

		if (keys && c->by && !is_selected(c->by, keys))
			continue;
		if (p->n_columns == VIEW_VALUES)
			return error_set(e, -E2BIG, "%s has too many columns", p->def->info.name);
		p->columns[p->n_columns] = *c;
		err = set_row_operand(p, &c->part, &p->program.row[p->n_columns++], e);
	}
	p->program.n_row = (uint32_t)p->n_columns;
	return err;
}

/* The programs of probes use event 0 for calls and 1 for returns. */
static int add_function_events(struct view_plan *p, struct tacho_error *e)
{
	int event = event_index(p, VIEW_CALL, e);

	if (event >= 0 && p->functions->has_probes)
		event = event_index(p, VIEW_RETURN, e);
	return min_of(event, 0);
}

static int add_rules(struct view_plan *p, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < VIEW_RULES && p->def->rules[i].event; i++) {
		const struct view_rule *rule = &p->def->rules[i];
		int event;

		if (!applies(p, rule))
			continue;
		event = event_index(p, rule->event, e);
		err = event < 0 ? event : add_step(p, (size_t)event, rule, e);
		if (err == -ENOENT && rule->is_optional)
			err = 0;
		else if (err == -ENOENT)
			err = -EOPNOTSUPP;
	}
	return err;
}

/* Whether rows are made at the end of something that has a duration. */
static bool has_durations(const struct view_plan *p)
{
	for (size_t i = 0; i < p->n_events; i++)
		for (uint32_t k = 0; k < p->program.events[i].n_steps; k++)
			if (p->program.events[i].steps[k].emits && p->program.events[i].steps[k].action == VIEW_TAKE)
				return true;
	return false;
}

int view_plan_init(struct view_plan *p, const struct view_def *def, const struct tacho_view_opts *opts, bool sampled,
		   const struct view_functions *functions, struct tacho_error *e)
{
	struct view_program *program = &p->program;
	int err;

	*p = (struct view_plan){ .def = def, .opts = *opts, .is_sampled = sampled, .functions = functions };
	err = functions ? add_function_events(p, e) : 0;
	if (err == 0)
		err = add_rules(p, e);
	if (err == 0)
		err = select_columns(p, e);
	if (err == 0 && def->weight.source)
		err = set_row_operand(p, &def->weight, &program->weight, e);
	if (err == 0 && opts->min_ns && !has_durations(p))
		err = error_set(e, -EINVAL, "%s has no times here, so that there is no shortest one to choose", def->info.name);
	if (err < 0) {
		view_plan_done(p);
		return err;
	}
	program->is_summary = def->info.is_summary;
	program->has_levels = def->info.has_histogram && !opts->totals;
	program->unit = opts->unit_ns && def->unit_ns ? opts->unit_ns : def->unit_ns;
	program->min_ns = opts->min_ns ? opts->min_ns : def->min_ns;
	program->has_user = opts->by_uid;
	program->user = opts->uid;
	program->self = (uint32_t)getpid();
	program->uses_stack_map = functions && functions->has_probes;	/* they can be preempted */
	return 0;
}

void view_plan_done(struct view_plan *p)
{
	for (size_t i = 0; i < p->n_events; i++)
		tacho_trace_free(p->formats[i]);
	p->n_events = 0;
}
