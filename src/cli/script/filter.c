/*
 * Selects samples by time, CPU, comm, process, thread, function, object and the events of --switch-on
 * and --switch-off.
 */
#include "cli/script/script.h"

#include <errno.h>

#include "base/error.h"
#include "base/function_name.h"
#include "base/num.h"

#define MISC_CPUMODE 7u

/* Parses comma-separated lists of an option that may be repeated. */
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

/* Adds the word if it is a hexadecimal address, with or without 0x: names of functions do not begin with a digit. */
static int add_address(struct script_filter *f, struct str word)
{
	uint64_t address, *slot;

	if (!word.n || word.s[0] < '0' || word.s[0] > '9' || num_hex(word, &address) < 0)
		return 0;
	slot = vec_add(&f->addresses);
	if (!slot)
		return -ENOMEM;
	*slot = address;
	return 0;
}

static int parse_addresses(struct script_filter *f, const struct script_opts *o, struct tacho_error *e)
{
	for (size_t i = 0; i < o->symbols.n; i++) {
		struct str rest = str_of(o->symbols.v[i]), word;

		while (function_name_cut(&rest, &word))
			if (add_address(f, word) < 0)
				return error_nomem(e);
	}
	f->address_range = o->address_range ? o->address_range : 1;
	if (!o->address_range || f->addresses.n)
		return 0;
	error_set(e, -EINVAL, "--addr-range is the length of a range that begins at an address in -S");
	error_hint(e, "give one, e.g. -S 0x401000 --addr-range 16");
	return -EINVAL;
}

int filter_init(struct script_filter *f, const struct script_opts *o,
		const struct tacho_perfdata *pd, struct tacho_error *e)
{
	int err = 0;

	f->comms = &o->comms;
	f->symbols = &o->symbols;
	f->dsos = &o->dsos;
	if (o->time)
		err = time_filter_init(&f->times, o->time, pd, e);
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
	if (!err)
		err = parse_addresses(f, o, e);
	f->event_switch = (struct tacho_switch){ .on = o->switch_on, .off = o->switch_off, .show = o->show_switches };
	if (!err && tacho_perfdata_n_events(pd))
		err = tacho_switch_check(&f->event_switch, pd, e);
	f->any = o->time || o->cpus || o->pids.n || o->tids.n || o->comms.n || o->symbols.n || o->dsos.n ||
		 o->switch_on || o->switch_off;
	return err;
}

void filter_done(struct script_filter *f)
{
	time_filter_done(&f->times);
	vec_done(&f->pids);
	vec_done(&f->tids);
	vec_done(&f->addresses);
	cpuset_done(&f->cpus);
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

static bool names_function(const struct strlist *lists, const char *name)
{
	for (size_t i = 0; i < lists->n; i++) {
		struct str rest = str_of(lists->v[i]), word;

		while (function_name_cut(&rest, &word))
			if (function_name_is(word, name))
				return true;
	}
	return !lists->n;
}

bool filter_has_comm(const struct script_filter *f, const char *comm)
{
	return in_lists(f->comms, comm);
}

static bool has_address(const struct script_filter *f, uint64_t ip)
{
	for (size_t i = 0; i < f->addresses.n; i++)
		if (ip - f->addresses.v[i] < f->address_range)
			return true;
	return false;
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
	if (f->symbols->n && !has_address(f, sample->ip) &&
	    (known <= 0 || !names_function(f->symbols, tacho_symbols_name(symbols, frame.symbol))))
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
	       names_function(functions, tacho_symbols_name(symbols, frame.symbol));
}
