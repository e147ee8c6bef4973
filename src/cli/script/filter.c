/*
 * Selecting samples by time, CPU, comm, process, thread, function, object and the events of --switch-on
 * and --switch-off. Time ranges are seconds ("3589.1,3589.2", either side may be empty), separated by
 * blanks, or parts of the recording ("10%-20%"; "10%/2" is the second tenth), separated by commas.
 */
#include "cli/script/script.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"

#define NS_PER_S 1000000000u
#define MISC_CPUMODE 7u

static int invalid_time_range(struct str text, struct tacho_error *e)
{
	error_set(e, -EINVAL, "'%.*s' is not a time range", STR(text));
	error_hint(e, "use --time 3589.1,3589.25 or --time 10%%-20%% or --time 10%%/2");
	return -EINVAL;
}

/* Parses seconds with up to nine decimals. A double would lose precision. */
static int seconds_ns(struct str text, uint64_t *out)
{
	struct str whole;
	uint64_t s = 0, ns = 0, scale = NS_PER_S / 10;

	str_cut(&text, '.', &whole);
	if (num_u64(whole, &s) || s > UINT64_MAX / NS_PER_S - 1)
		return -EINVAL;
	for (size_t i = 0; i < text.n; i++, scale /= 10) {
		if (text.s[i] < '0' || text.s[i] > '9')
			return -EINVAL;
		ns += (uint64_t)(text.s[i] - '0') * scale;
	}
	*out = s * NS_PER_S + ns;
	return 0;
}

static int add_range(struct script_filter *f, uint64_t from, uint64_t to)
{
	struct time_range *r = vec_add(&f->times);

	if (!r)
		return -ENOMEM;
	*r = (struct time_range){ from, to };
	return 0;
}

static int parse_seconds(struct script_filter *f, struct str text, struct tacho_error *e)
{
	struct str part;
	int err = 0;

	while (!err && str_cut(&text, ' ', &part)) {
		struct str from, to = part;
		uint64_t a = 0, b = UINT64_MAX;

		if (!part.n)
			continue;
		str_cut(&to, ',', &from);
		if ((from.n && seconds_ns(from, &a)) || (to.n && seconds_ns(to, &b)) || a > b)
			return invalid_time_range(part, e);
		err = add_range(f, a, b);
	}
	return err;
}

static int percent(struct str text, double *out)
{
	if (!str_ends(text, "%"))
		return -EINVAL;
	text.n--;
	return num_double(text, out) || *out < 0 || *out > 100 ? -EINVAL : 0;
}

/* "10%-20%", "10%/2" or "10%", of a recording from `first` to `last`. */
static int parse_part(struct script_filter *f, struct str text, uint64_t first, uint64_t last,
		      struct tacho_error *e)
{
	struct str rest = text, head;
	double a, b, span = (double)(last - first);
	uint64_t i, from, to;

	if (str_find(text, '/') >= 0) {
		str_cut(&rest, '/', &head);
		if (percent(head, &a) || num_u64(rest, &i) || i == 0 || a == 0)
			return invalid_time_range(text, e);
		b = a * (double)i;
		a = b - a;
	} else if (str_find(text, '-') >= 0) {
		str_cut(&rest, '-', &head);
		if (percent(head, &a) || percent(rest, &b) || a > b)
			return invalid_time_range(text, e);
	} else {
		a = 0;
		if (percent(text, &b))
			return invalid_time_range(text, e);
	}
	if (a >= 100)
		return invalid_time_range(text, e);
	from = first + (uint64_t)(span * a / 100);
	to = b >= 100 ? last : first + (uint64_t)(span * b / 100) - (span * b / 100 >= 1);
	return add_range(f, from, to);
}

static int parse_parts(struct script_filter *f, struct str text, const struct tacho_perfdata *pd,
		       struct tacho_error *e)
{
	uint64_t first, last;
	struct str part;
	int err = 0;

	if (tacho_perfdata_sample_time(pd, &first, &last) < 0) {
		error_set(e, -EINVAL, "the file does not say from when to when it goes");
		error_hint(e, "give --time in seconds");
		return -EINVAL;
	}
	last = max_of(first, last);
	while (!err && str_cut(&text, ',', &part))
		err = parse_part(f, str_trim(part), first, last, e);
	return err;
}

/* Lists with commas, given once or several times. */
static int parse_ids(const struct strlist *lists, const char *id_name,
		     int (*add)(struct script_filter *, uint32_t), struct script_filter *f,
		     struct tacho_error *e)
{
	for (size_t i = 0; i < lists->n; i++) {
		struct str rest = str_of(lists->v[i]), word;

		while (str_cut(&rest, ',', &word)) {
			uint32_t id;

			if (num_u32(str_trim(word), &id))
				return error_set(e, -EINVAL, "'%.*s' is not a %s", STR(word), id_name);
			if (add(f, id))
				return error_nomem(e);
		}
	}
	return 0;
}

static int add_pid(struct script_filter *f, uint32_t id)
{
	uint32_t *slot = vec_add(&f->pids);

	if (slot)
		*slot = id;
	return slot ? 0 : -ENOMEM;
}

static int add_tid(struct script_filter *f, uint32_t id)
{
	uint32_t *slot = vec_add(&f->tids);

	if (slot)
		*slot = id;
	return slot ? 0 : -ENOMEM;
}

int filter_init(struct script_filter *f, const struct script_opts *o,
		const struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err = 0;

	f->comms = &o->comms;
	f->symbols = &o->symbols;
	f->dsos = &o->dsos;
	if (o->time && strchr(o->time, '%'))
		err = parse_parts(f, str_of(o->time), pd, e);
	else if (o->time)
		err = parse_seconds(f, str_of(o->time), e);
	if (err == -ENOMEM)
		return error_nomem(e);
	if (!err && o->cpus) {
		f->by_cpu = true;
		err = cpuset_parse(&f->cpus, str_of(o->cpus));
		if (err)
			return error_set(e, err, "'%s' is not a list of CPUs", o->cpus);
	}
	if (!err)
		err = parse_ids(&o->pids, "process ID", add_pid, f, e);
	if (!err)
		err = parse_ids(&o->tids, "thread ID", add_tid, f, e);
	f->event_switch = (struct tacho_switch){ .on = o->switch_on, .off = o->switch_off, .show = o->show_switches };
	if (!err && tacho_perfdata_n_events(pd))
		err = tacho_switch_check(&f->event_switch, pd, e);
	f->any = o->time || o->cpus || o->pids.n || o->tids.n || o->comms.n || o->symbols.n || o->dsos.n ||
		 o->switch_on || o->switch_off;
	return err;
}

void filter_done(struct script_filter *f)
{
	vec_done(&f->times);
	vec_done(&f->pids);
	vec_done(&f->tids);
	cpuset_done(&f->cpus);
}

bool filter_has_time(const struct script_filter *f, uint64_t time)
{
	for (size_t i = 0; i < f->times.n; i++)
		if (time >= f->times.v[i].from && time <= f->times.v[i].to)
			return true;
	return !f->times.n;
}

static bool in_list(const uint32_t *v, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == id)
			return true;
	return !n;
}

bool filter_has_task(const struct script_filter *f, uint32_t pid, uint32_t tid)
{
	return in_list(f->pids.v, f->pids.n, pid) && in_list(f->tids.v, f->tids.n, tid);
}

static bool in_lists(const struct strlist *lists, const char *text)
{
	for (size_t i = 0; i < lists->n; i++) {
		struct str rest = str_of(lists->v[i]), word;

		while (str_cut(&rest, ',', &word))
			if (str_is(word, text))
				return true;
	}
	return !lists->n;
}

bool filter_has_comm(const struct script_filter *f, const char *comm)
{
	return in_lists(f->comms, comm);
}

bool filter_has_location(const struct script_filter *f, struct tacho_symbols *symbols, uint16_t misc,
			 const struct tacho_sample *sample)
{
	struct tacho_object_info info = { .size = sizeof(info) };
	struct tacho_frame frame;
	int known;

	if (!f->symbols->n && !f->dsos->n)
		return true;
	known = tacho_symbols_resolve(symbols, sample->pid, misc & MISC_CPUMODE, sample->ip, &frame);
	if (f->symbols->n && (known <= 0 || !in_lists(f->symbols, tacho_symbols_name(symbols, frame.symbol))))
		return false;
	if (!f->dsos->n)
		return true;
	return tacho_symbols_object(symbols, frame.object, &info) >= 0 &&
	       (in_lists(f->dsos, info.short_name) || in_lists(f->dsos, info.path));
}

bool filter_matches_function(const struct strlist *functions, struct tacho_symbols *symbols, uint32_t pid,
			     enum tacho_space space, uint64_t ip)
{
	struct tacho_frame frame;

	return tacho_symbols_resolve(symbols, pid, space, ip, &frame) > 0 &&
	       in_lists(functions, tacho_symbols_name(symbols, frame.symbol));
}
