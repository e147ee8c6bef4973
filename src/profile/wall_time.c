/*
 * Joins on-CPU and off-CPU samples: those of a clock event and those of offcpu-time, whose periods both are nanoseconds,
 * become one event, wall-time. The stacks of off-CPU samples get a frame [off-CPU] above their innermost function, so
 * that running and waiting are told apart.
 */
#include "profile/intern.h"
#include "profile/quality.h"
#include "profile/trie.h"

#include <errno.h>

#define OFF_CPU_EVENT "offcpu-time"
#define OFF_CPU_FRAME "[off-CPU]"
#define WALL_EVENT "wall-time"

static bool is_called(const char *event, const char *name)
{
	size_t n = strcspn(event, ":");

	return strlen(name) == n && memcmp(event, name, n) == 0;
}

static bool is_clock(const char *event)
{
	return is_called(event, "cpu-clock") || is_called(event, "task-clock");
}

/* The first event with samples that is a clock, or offcpu-time; KEYMAP_NONE if there is none. */
static uint32_t event_of(const struct tacho_profile *p, bool off_cpu)
{
	for (uint32_t i = 0; i < p->events.n; i++) {
		const struct tacho_profile_event *ev = &p->events.v[i];

		if (ev->samples && (off_cpu ? is_called(ev->name, OFF_CPU_EVENT) : is_clock(ev->name)))
			return i;
	}
	return KEYMAP_NONE;
}

static uint32_t off_cpu_frame(struct tacho_profile *p)
{
	const struct tacho_profile_object object = { .path = OFF_CPU_FRAME, .name = OFF_CPU_FRAME, .has_symbols = true };
	struct frame_desc desc = { .symbol = profile_intern_name(p, OFF_CPU_FRAME),
				   .object = profile_intern_object(p, &object), .known = true };

	return desc.symbol == KEYMAP_NONE || desc.object == KEYMAP_NONE ? KEYMAP_NONE : profile_intern_frame(p, &desc);
}

/* Moves the rows of the two events to the first, and removes all others. */
static int join_rows(struct tacho_profile *p, uint32_t on, uint32_t off)
{
	uint32_t frame = off_cpu_frame(p);
	size_t n = 0;

	if (frame == KEYMAP_NONE)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.n; i++) {
		struct tacho_profile_row row = p->rows.v[i];

		if (row.event != on && row.event != off)
			continue;
		if (row.event == off) {
			row.node = profile_intern_node(p, row.node, frame);
			if (row.node == KEYMAP_NONE)
				return -ENOMEM;
		}
		row.event = on;
		p->rows.v[n++] = row;
	}
	p->rows.n = n;
	return 0;
}

static void join_events(struct tacho_profile *p, uint32_t on, uint32_t off)
{
	const struct tacho_profile_event *src = &p->events.v[off];
	struct tacho_profile_event ev = p->events.v[on];

	ev.name = WALL_EVENT;
	ev.samples += src->samples;
	ev.period += src->period;
	ev.all_samples += src->all_samples;
	ev.all_period += src->all_period;
	ev.has_chains |= src->has_chains;
	ev.leader = 0;
	ev.group_size = 1;
	p->events.v[0] = ev;
	p->events.n = 1;
	for (size_t i = 0; i < p->rows.n; i++)
		p->rows.v[i].event = 0;
}

int tacho_profile_wall_time(struct tacho_profile **out, const struct tacho_profile *from, struct tacho_error *e)
{
	uint32_t on = event_of(from, false), off = event_of(from, true);
	struct tacho_profile_opts opts = from->opts;
	struct tacho_profile *p = NULL;
	int err;

	if (on == KEYMAP_NONE || off == KEYMAP_NONE)
		return error_set(e, -ENOENT, "there are no samples of %s", on == KEYMAP_NONE ? "cpu-clock or task-clock" : OFF_CPU_EVENT);
	opts.size = sizeof(opts);
	opts.once = opts.split_comms = false;
	err = tacho_profile_new(&p, &opts, e);
	if (err == 0)
		err = tacho_profile_merge(p, from);
	/* A new profile has the events in the same order. */
	if (err == 0)
		err = join_rows(p, on, off);
	if (err == 0) {
		join_events(p, on, off);
		err = quality_rows(p);
	}
	if (err < 0) {
		tacho_profile_free(p);
		return err == -ENOMEM ? error_nomem(e) : err;
	}
	profile_close(p);
	*out = p;
	return 0;
}
