/*
 * Parses -F, the fields of a line. A list replaces the default fields of all event types, or with a prefix
 * ("sw:comm,ip") of one type; +NAME and -NAME modify the default. If samples lack a default field, it is left
 * out; if they lack a field named in -F, that is an error.
 */
#include "cli/script/script.h"

#include <errno.h>

#include "base/error.h"

static const struct {
	const char *name;
	uint32_t field;
	uint64_t sample_type;		/* samples need one of these bits; 0: none is needed */
	const char *sample_name;
} names[] = {
	{ "comm", FIELD_COMM, 0, NULL },
	{ "tid", FIELD_TID, PERF_SAMPLE_TID, "TID" },
	{ "pid", FIELD_PID, PERF_SAMPLE_TID, "TID" },
	{ "time", FIELD_TIME, PERF_SAMPLE_TIME, "TIME" },
	{ "cpu", FIELD_CPU, PERF_SAMPLE_CPU, "CPU" },
	{ "event", FIELD_EVENT, 0, NULL },
	{ "trace", FIELD_TRACE, PERF_SAMPLE_RAW, "RAW" },
	{ "ip", FIELD_IP, PERF_SAMPLE_IP, "IP" },
	{ "sym", FIELD_SYM, 0, NULL },
	{ "dso", FIELD_DSO, 0, NULL },
	{ "dsoff", FIELD_DSOFF, 0, NULL },
	{ "addr", FIELD_ADDR, PERF_SAMPLE_ADDR, "ADDR" },
	{ "symoff", FIELD_SYMOFF, 0, NULL },
	{ "srcline", FIELD_SRCLINE, 0, NULL },
	{ "period", FIELD_PERIOD, PERF_SAMPLE_PERIOD, "PERIOD" },
	{ "iregs", FIELD_IREGS, PERF_SAMPLE_REGS_INTR, "IREGS" },
	{ "uregs", FIELD_UREGS, PERF_SAMPLE_REGS_USER, "UREGS" },
	{ "brstack", FIELD_BRSTACK, PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ "brstacksym", FIELD_BRSTACKSYM, PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ "brstackoff", FIELD_BRSTACKOFF, PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK" },
	{ "weight", FIELD_WEIGHT, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT" },
	{ "phys_addr", FIELD_PHYS_ADDR, PERF_SAMPLE_PHYS_ADDR, "PHYS_ADDR" },
	{ "misc", FIELD_MISC, 0, NULL },
	{ "data_page_size", FIELD_DATA_PAGE_SIZE, PERF_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE" },
	{ "code_page_size", FIELD_CODE_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE" },
	{ "ins_lat", FIELD_INS_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
	{ "retire_lat", FIELD_RETIRE_LAT, PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT" },
	{ "cgroup", FIELD_CGROUP, PERF_SAMPLE_CGROUP, "CGROUP" },
	{ "data_src", FIELD_DATA_SRC, PERF_SAMPLE_DATA_SRC, "DATA_SRC" },
	{ "flags", FIELD_FLAGS, 0, NULL },
	{ "bpf-output", FIELD_BPF_OUTPUT, 0, NULL },
	{ "tod", FIELD_TOD, PERF_SAMPLE_TIME, "TIME" },
};

/* Fields that are printed after the others, for events of all types. */
static const struct {
	const char *name;
	unsigned field;
} code_fields[] = {
	{ "insn", CODE_BYTES }, { "insnlen", CODE_LENGTH }, { "disasm", CODE_TEXT }, { "srccode", CODE_SOURCE },
	{ "brstackinsn", CODE_BLOCKS }, { "brstackinsnlen", CODE_BLOCK_LENGTHS }, { "brstackdisasm", CODE_BLOCK_TEXT },
	{ "brcntr", CODE_COUNTERS },
};

static const struct {
	const char *name;
	unsigned field;
} hwtrace_fields[] = { { "synth", HWTRACE_SYNTH }, { "callindent", HWTRACE_CALLINDENT } };

/* Fields that are always empty, as perf's are in recordings without guests. */
static const struct {
	const char *name, *why;
} empty[] = {
	{ "ipc", "only decoded hardware traces could have it, but their cycles are not counted" },
#define ONLY_GUESTS "guests are not supported"
	{ "machine_pid", ONLY_GUESTS }, { "vcpu", ONLY_GUESTS },
};

static const struct {
	const char *name, *long_name;
} types[N_TYPES] = {
	[TYPE_HW] = { "hw", "hardware" }, [TYPE_SW] = { "sw", "software" },
	[TYPE_TRACE] = { "trace", "tracepoint" }, [TYPE_RAW] = { "raw", "raw" },
	[TYPE_BREAK] = { "break", "breakpoint" }, [TYPE_OTHER] = { "other", "other" },
};

#define ALWAYS (FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT)
#define PLACE (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)

void fields_defaults(struct script_fields *f)
{
	*f = (struct script_fields){ 0 };
	for (int t = 0; t < N_TYPES; t++)
		f->set[t] = ALWAYS | PLACE | FIELD_PERIOD;
	f->hwtrace = HWTRACE_SYNTH;
	f->set[TYPE_TRACE] = ALWAYS | FIELD_TRACE;
	f->set[TYPE_RAW] |= FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_PHYS_ADDR |
			    FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE | FIELD_INS_LAT |
			    FIELD_RETIRE_LAT;
	f->set[TYPE_SW] |= FIELD_BPF_OUTPUT;
	f->set[TYPE_OTHER] |= FIELD_BPF_OUTPUT;
}

enum script_type fields_type(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE: return TYPE_HW;
	case PERF_TYPE_SOFTWARE: return TYPE_SW;
	case PERF_TYPE_TRACEPOINT: return TYPE_TRACE;
	case PERF_TYPE_RAW: return TYPE_RAW;
	case PERF_TYPE_BREAKPOINT: return TYPE_BREAK;
	default: return TYPE_OTHER;
	}
}

int fields_unknown(struct str word, const char *text, struct tacho_error *e)
{
	struct str_nearest near = { .word = word };

	for (size_t i = 0; i < countof(names); i++)
		str_nearest_try(&near, str_of(names[i].name));
	for (size_t i = 0; i < countof(code_fields); i++)
		str_nearest_try(&near, str_of(code_fields[i].name));
	for (size_t i = 0; i < countof(hwtrace_fields); i++)
		str_nearest_try(&near, str_of(hwtrace_fields[i].name));
	error_set(e, -EINVAL, "no field is called '%.*s'", STR(word));
	error_at(e, (size_t)(word.s - text), word.n);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return -EINVAL;
}

/* Determines the event types that a list applies to: the type before the colon, or all. */
static int pick_types(struct str *list, const char *text, int *from, int *to, struct tacho_error *e)
{
	ptrdiff_t colon = str_find(*list, ':');
	struct str word;

	*from = 0;
	*to = N_TYPES - 1;
	if (colon < 0 || !list->s)
		return 0;
	word = str_n(list->s, (size_t)colon);
	for (int t = 0; t < N_TYPES; t++) {
		if (str_is(word, types[t].name)) {
			*list = str_n(list->s + colon + 1, list->n - (size_t)colon - 1);
			*from = *to = t;
			return 0;
		}
	}
	if (str_find(*list, '.') > colon)	/* "sched:sched_switch.next_pid" */
		return 0;
	error_set(e, -EINVAL, "no type of event is called '%.*s'", STR(word));
	error_at(e, (size_t)(word.s - text), word.n);
	error_hint(e, "types are hw, sw, trace, raw, break and other");
	return -EINVAL;
}

static void change(struct script_fields *f, int t, uint32_t field, char how)
{
	if (how == '-') {
		f->set[t] &= ~field;
		f->required[t] &= ~field;
		return;
	}
	/* "trace" applies only to tracepoints. */
	if (field == FIELD_TRACE && t != TYPE_TRACE)
		return;
	f->set[t] |= field;
	f->required[t] |= field;
}

/* Whether the word names one of the fields that are not in `names`. */
static bool special_field(struct script_fields *f, struct str word, char how)
{
	for (size_t i = 0; i < countof(code_fields); i++)
		if (str_is(word, code_fields[i].name)) {
			f->code = how == '-' ? f->code & ~code_fields[i].field : f->code | code_fields[i].field;
			return true;
		}
	for (size_t i = 0; i < countof(hwtrace_fields); i++)
		if (str_is(word, hwtrace_fields[i].name)) {
			f->hwtrace = how == '-' ? f->hwtrace & ~hwtrace_fields[i].field : f->hwtrace | hwtrace_fields[i].field;
			if (!f->lenient && how != '-') {
				f->empty = hwtrace_fields[i].name;
				f->empty_why = "only decoded hardware traces have it, and the recording does not have one";
			}
			return true;
		}
	if (str_is(word, "metric")) {
		f->metrics = how != '-';
		return true;
	}
	for (size_t i = 0; i < countof(empty); i++)
		if (str_is(word, empty[i].name)) {
			f->empty = empty[i].name;
			f->empty_why = empty[i].why;
			return true;
		}
	return false;
}

static int one_field(struct script_fields *f, struct str word, const char *text, int from, int to,
		     struct tacho_error *e)
{
	char how = word.n && (word.s[0] == '+' || word.s[0] == '-') ? word.s[0] : 0;
	size_t i = 0;

	if (how)
		word = str_n(word.s + 1, word.n - 1);
	if (special_field(f, word, how))
		return 0;
	while (i < countof(names) && !str_is(word, names[i].name))
		i++;
	if (i == countof(names))
		return from <= TYPE_TRACE && to >= TYPE_TRACE && trace_fields_add(&f->trace, word, text, how) ? 0 :
		       fields_unknown(word, text, e);
	for (int t = from; t <= to; t++)
		change(f, t, names[i].field, how);
	return 0;
}

int fields_parse(struct script_fields *f, const char *text, struct tacho_error *e)
{
	struct str list = str_of(text), word;
	int from, to, err = pick_types(&list, text, &from, &to, e);
	bool changes = list.s && list.n && (list.s[0] == '+' || list.s[0] == '-');

	if (err)
		return err;
	if (!changes) {
		if (from <= TYPE_TRACE && to >= TYPE_TRACE)
			f->trace.n = 0;
		f->code = f->hwtrace = 0;
		f->metrics = false;
	}
	for (int t = from; t <= to && !changes; t++) {
		f->set[t] = f->required[t] = 0;
		f->given[t] = true;
		f->hidden[t] = from == to && !list.n;
	}
	while (!err && list.n && str_cut(&list, ',', &word))
		err = word.n ? one_field(f, word, text, from, to, e) : 0;
	return err;
}

static int missing(const struct tacho_file_event *ev, size_t i, struct tacho_error *e)
{
	return error_set(e, -EINVAL,
			 "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
			 ev->name, names[i].sample_name, names[i].name);
}

/* Fields that are printed as a part of another field. */
static const struct {
	const char *name, *needed_name;
	uint32_t field, needs;
} dependent[] = {
	{ "symoff", "sym", FIELD_SYMOFF, FIELD_SYM },
	{ "srcline", "ip", FIELD_SRCLINE, FIELD_IP },
};

/* Refuses a field without the field that it is part of. Applies only if -F replaces the default; +NAME is
 * ignored for types without that field. */
static int check_dependent(const struct script_fields *f, enum script_type t, struct tacho_error *e)
{
	for (size_t i = 0; i < countof(dependent); i++)
		if (f->given[t] && (f->set[t] & dependent[i].field) && !(f->set[t] & dependent[i].needs))
			return error_set(e, -EINVAL, "the field '%s' needs the field '%s'",
					 dependent[i].name, dependent[i].needed_name);
	return 0;
}

/* Whether this is the dummy event for sideband records, which has no samples. */
static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

int fields_of_event(const struct script_fields *f, const struct tacho_file_event *ev, bool chains,
		    uint32_t *out, struct tacho_error *e)
{
	enum script_type t = fields_type(ev->attr);
	uint32_t set = f->set[t];
	int err = check_dependent(f, t, e);

	if (err < 0)
		return err;
	if (t == TYPE_TRACE && chains && !f->given[t])
		set |= PLACE;
	for (size_t i = 0; i < countof(names); i++) {
		if (!(set & names[i].field) || !names[i].sample_type ||
		    (ev->layout.sample_type & names[i].sample_type))
			continue;
		if (names[i].field == FIELD_IP && chains)
			continue;		/* printed from the chain */
		if (names[i].field == FIELD_PERIOD)
			continue;		/* printed from the attr */
		if ((f->required[t] & names[i].field) && !is_dummy(ev->attr) && !f->lenient)
			return missing(ev, i, e);
		set &= ~names[i].field;
	}
	*out = set;
	return 0;
}

int fields_check_types(const struct script_fields *f, const struct tacho_perfdata *pd,
		       struct tacho_error *e)
{
	for (int t = 0; t < N_TYPES; t++) {
		bool there = false;

		for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++)
			there |= fields_type(tacho_perfdata_event(pd, i)->attr) == (enum script_type)t;
		if (f->hidden[t] && !there)
			return error_set(e, -EINVAL, "%s events do not exist. Remove corresponding -F option "
					 "to proceed.", types[t].long_name);
	}
	return 0;
}

int fields_check_branches(const struct script_fields *f, const struct tacho_perfdata *pd, struct tacho_error *e)
{
	uint64_t recorded = 0;

	for (size_t i = 0; i < tacho_perfdata_n_events(pd); i++)
		recorded |= tacho_perfdata_event(pd, i)->layout.branch_type;
	if (!tacho_perfdata_n_events(pd))	/* a pipe: they are not known yet */
		return 0;
	if ((f->code & CODE_OF_BRANCHES) && !(recorded & PERF_BRANCH_ANY)) {
		error_set(e, -EINVAL, "code between branches is shown for recordings of all branches, which this one is not");
		error_hint(e, "record with -b");
		return -EINVAL;
	}
	if ((f->code & CODE_COUNTERS) && !(recorded & PERF_BRANCH_COUNTERS)) {
		error_set(e, -EINVAL, "the recording has no counts of events between branches, which the field 'brcntr' shows");
		error_hint(e, "record with -j any,counter");
		return -EINVAL;
	}
	return 0;
}
