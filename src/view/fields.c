/*
 * See fields.h. The registers are those of the kernel's struct pt_regs, which is what a program that is attached to a
 * probe gets; the register numbers of samples are those of perf_events.
 */
#include "view/fields.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"

struct known_field {
	const char *event, *name;
	struct view_field at;
};

/* Of struct view_raw_data. */
static const struct known_field raw_fields[] = {
	{ "sched:sched_switch", "prev_pid", { 8, 4 } },
	{ "sched:sched_switch", "next_pid", { 12, 4 } },
	{ "sched:sched_switch", "prev_state", { 16, 8 } },
	{ "sched:sched_wakeup", "pid", { 8, 4 } },
	{ "sched:sched_wakeup_new", "pid", { 8, 4 } },
	{ "raw_syscalls:sys_enter", "id", { 8, 8 } },
	{ "raw_syscalls:sys_enter", "args", { 16, 8 } },
	{ "raw_syscalls:sys_exit", "id", { 8, 8 } },
	{ "raw_syscalls:sys_exit", "ret", { 16, 8 } },
};

struct known_register {
	const char *name;		/* "arg1" ... */
	uint16_t offset;
	uint8_t sampled;		/* its number in samples */
	int8_t addend;
};

#if defined(__x86_64__)
static const struct known_register registers[] = {
	{ "arg1", 112, 5 }, { "arg2", 104, 4 }, { "arg3", 96, 3 }, { "arg4", 88, 2 }, { "arg5", 72, 16 }, { "arg6", 64, 17 },
	{ "retval", 80, 0 }, { "sp", 152, 7 }, { "caller_sp", 152, 7, 8 },
};
#define N_ARGUMENTS 6
#elif defined(__aarch64__)
static const struct known_register registers[] = {
	{ "arg1", 0, 0 }, { "arg2", 8, 1 }, { "arg3", 16, 2 }, { "arg4", 24, 3 }, { "arg5", 32, 4 }, { "arg6", 40, 5 },
	{ "arg7", 48, 6 }, { "arg8", 56, 7 }, { "retval", 0, 0 }, { "sp", 248, 31 }, { "caller_sp", 248, 31 },
};
#define N_ARGUMENTS 8
#else
static const struct known_register registers[] = { { "", 0, 0 } };
#define N_ARGUMENTS 0
#endif

unsigned view_n_arguments(void)
{
	return N_ARGUMENTS;
}

uint64_t view_sampled_registers(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; N_ARGUMENTS && i < countof(registers); i++)
		mask |= UINT64_C(1) << registers[i].sampled;
	return mask;
}

void view_registers_fill(uint8_t out[VIEW_REGISTER_BYTES], uint64_t mask, const uint64_t *values, size_t n)
{
	memset(out, 0, VIEW_REGISTER_BYTES);
	for (size_t i = 0; N_ARGUMENTS && i < countof(registers); i++) {
		uint64_t below = mask & ((UINT64_C(1) << registers[i].sampled) - 1);
		size_t at = (size_t)__builtin_popcountll(below);

		if ((mask >> registers[i].sampled & 1) && at < n)
			memcpy(out + registers[i].offset, &values[at], 8);
	}
}

static int find_register(const char *name, struct view_field *out, struct tacho_error *e)
{
	for (size_t i = 0; i < countof(registers); i++)
		if (!strcmp(registers[i].name, name)) {
			*out = (struct view_field){ .offset = registers[i].offset, .size = 8, .addend = registers[i].addend };
			return 0;
		}
	error_set(e, -ENOENT, "functions have no '%s' here", name);
	if (N_ARGUMENTS)
		error_hint(e, "arg1 to arg%u are their first arguments, retval is what they return", N_ARGUMENTS);
	return -ENOENT;
}

static int find_in_format(const struct tacho_trace_event *ev, const char *event, const char *name, struct view_field *out,
			  struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(name) };

	for (size_t i = 0; i < tacho_trace_n_fields(ev); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev, i);

		str_nearest_try(&near, str_of(f->name));
		if (strcmp(f->name, name) != 0 || f->offset > UINT16_MAX)
			continue;
		*out = (struct view_field){ .offset = (uint16_t)f->offset, .is_signed = f->is_signed, .is_loc = f->is_dynamic,
			.is_array = f->is_array, .is_string = f->is_string,
			.size = (uint8_t)min_of(f->is_array && !f->is_string ? f->element_size : f->size, 255u) };
		return 0;
	}
	error_set(e, -ENOENT, "%s has no field '%s'", event, name);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return -ENOENT;
}

int view_field_find(const struct view_plan *p, size_t event, const char *name, struct view_field *out, struct tacho_error *e)
{
	const char *of = p->events[event];

	if (view_event_is_function(of) && !p->format[event])
		return find_register(name, out, e);
	if (p->format[event])
		return find_in_format(p->format[event], of, name, out, e);
	for (size_t i = 0; i < countof(raw_fields); i++)
		if (!strcmp(raw_fields[i].event, of) && !strcmp(raw_fields[i].name, name)) {
			*out = raw_fields[i].at;
			return 0;
		}
	return error_set(e, -ENOENT, "%s has no field '%s'", of, name);
}
