/*
 * Call chains in Perfetto's format.
 */
#include "cli/sched/perfetto_stacks.h"

#include <errno.h>

#include "record/callchain_markers.h"

#define MAX_FRAMES 1024u
#define MAX_INLINED 32

enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE_ID = 10, PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13, PACKET_DEFAULTS = 59,
       PACKET_PERF_SAMPLE = 66 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2, OUR_SEQUENCE = 1 };
enum { DEFAULTS_PERF_SAMPLE = 12, SAMPLE_DEFAULTS_TIMEBASE = 1, TIMEBASE_PERIOD = 1, TIMEBASE_TRACEPOINT = 3, TRACEPOINT_NAME = 1 };
enum { INTERNED_FUNCTION_NAMES = 5, INTERNED_FRAMES = 6, INTERNED_CALLSTACKS = 7, INTERNED_MAPPING_PATHS = 17, INTERNED_MAPPINGS = 19 };
enum { STRING_IID = 1, STRING_STR = 2, MAPPING_IID = 1, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_REL_PC = 4, CALLSTACK_IID = 1, CALLSTACK_FRAMES = 2 };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_CALLSTACK, SAMPLE_CPU_MODE, SAMPLE_TIMEBASE_COUNT };
enum { MODE_KERNEL = 1 };

static void put_string(struct perfetto_stacks *s, unsigned field, uint64_t iid, const char *text)
{
	buf_clear(&s->message);
	perfetto_number(&s->message, STRING_IID, iid);
	pb_bytes(&s->message, STRING_STR, str_of(text));
	pb_message(&s->interned, field, &s->message);
}

static int write_name(struct perfetto_stacks *s, const struct tacho_symbols *symbols, uint32_t symbol)
{
	if (int_map_find(&s->names, symbol))
		return 0;
	/* Numbers start at 1, and symbol 0 is the unknown one. */
	put_string(s, INTERNED_FUNCTION_NAMES, symbol + 1ULL, tacho_symbols_name(symbols, symbol));
	return int_map_put(&s->names, symbol, 1);
}

static int write_object(struct perfetto_stacks *s, const struct tacho_symbols *symbols, uint32_t object)
{
	struct tacho_object_info info = { .size = sizeof(info) };

	if (!object || int_map_find(&s->objects, object))
		return 0;
	put_string(s, INTERNED_MAPPING_PATHS, object, tacho_symbols_object(symbols, object, &info) < 0 ? "[unknown]" : info.path);
	buf_clear(&s->message);
	perfetto_number(&s->message, MAPPING_IID, object);
	perfetto_number(&s->message, MAPPING_PATH, object);
	pb_message(&s->interned, INTERNED_MAPPINGS, &s->message);
	return int_map_put(&s->objects, object, 1);
}

/* The number of a key, or of a new one: then *is_new. 0: out of memory. */
static uint64_t number_of(struct perfetto_stacks *s, struct map *map, struct str key, bool *is_new)
{
	const uint64_t *known = map_get(map, key);
	char *copy;

	*is_new = !known;
	if (known)
		return *known;
	copy = arena_alloc(&s->keys, key.n + 1);
	if (!copy)
		return 0;
	memcpy(copy, key.s, key.n);
	return map_put(map, str_n(copy, key.n), map->n + 1) < 0 ? 0 : map->n;
}

struct frame_key {
	uint64_t address;
	uint32_t object, symbol;
};

/* Adds a frame to s->frame_ids, a list of numbers. */
static int add_frame(struct perfetto_stacks *s, const struct tacho_symbols *symbols, const struct tacho_frame *f, uint32_t symbol)
{
	struct frame_key key = { f->object_address, f->object, symbol };
	bool is_new;
	uint64_t iid = number_of(s, &s->frames, str_n((const char *)&key, sizeof(key)), &is_new);

	if (!iid || write_name(s, symbols, symbol) < 0 || write_object(s, symbols, f->object) < 0)
		return -ENOMEM;
	buf_put(&s->frame_ids, &iid, sizeof(iid));
	if (!is_new)
		return 0;
	buf_clear(&s->message);
	perfetto_number(&s->message, FRAME_IID, iid);
	perfetto_number(&s->message, FRAME_FUNCTION, symbol + 1ULL);
	if (f->object) {
		perfetto_number(&s->message, FRAME_MAPPING, f->object);
		perfetto_number(&s->message, FRAME_REL_PC, f->object_address);
	}
	pb_message(&s->interned, INTERNED_FRAMES, &s->message);
	return 0;
}

static int add_frames(struct perfetto_stacks *s, struct tacho_symbols *symbols, const struct tacho_frame *f, bool is_caller)
{
	struct tacho_inline inlined[MAX_INLINED];
	int n = f->symbol ? tacho_symbols_inlines(symbols, f, is_caller, false, inlined, MAX_INLINED) : 0, err = min_of(n, 0);

	for (int i = 0; i < n && err == 0; i++)
		err = add_frame(s, symbols, f, inlined[i].symbol);
	return err < 0 ? err : add_frame(s, symbols, f, f->symbol);
}

/* Collects the frames of a chain, innermost first. */
static int walk_chain(struct sched_export *x, struct perfetto_stacks *s, const struct tacho_sched_event *ev)
{
	struct tacho_symbols *symbols = tacho_sched_symbols(x->sched);
	enum tacho_space space = TACHO_SPACE_UNKNOWN;
	struct tacho_frame frame;
	size_t n = min_of(ev->chain.n, MAX_FRAMES);
	bool is_caller = false;
	int err = 0;

	buf_clear(&s->frame_ids);
	for (size_t i = 0; i < n && err == 0; i++) {
		uint64_t ip = ev->chain.v[i];

		if (ip >= CONTEXT_FIRST) {
			if (!context_space(ip, &space))
				break;
			continue;
		}
		err = tacho_symbols_resolve(symbols, ev->chain_pid, space, ip - is_caller, &frame);
		if (err >= 0)
			err = add_frames(s, symbols, &frame, is_caller);
		is_caller = true;
	}
	return buf_failed(&s->frame_ids) ? -ENOMEM : err;
}

/* The number of the stack in s->frame_ids; 0: out of memory. */
static uint64_t stack_number(struct perfetto_stacks *s)
{
	const uint64_t *ids = (const uint64_t *)s->frame_ids.bytes;
	bool is_new;
	uint64_t iid = number_of(s, &s->stacks, buf_view(&s->frame_ids), &is_new);

	if (!iid || !is_new)
		return iid;
	buf_clear(&s->message);
	perfetto_number(&s->message, CALLSTACK_IID, iid);
	for (size_t i = s->frame_ids.n / sizeof(*ids); i-- > 0;)
		perfetto_number(&s->message, CALLSTACK_FRAMES, ids[i]);
	pb_message(&s->interned, INTERNED_CALLSTACKS, &s->message);
	return iid;
}

/* The first packet of the sequence says what all samples have in common. */
static int begin_sequence(struct sched_export *x, struct perfetto_stacks *s)
{
	scoped(buf_done) struct buf tracepoint = { 0 }, timebase = { 0 }, sample = { 0 }, defaults = { 0 }, packet = { 0 };

	s->begun = true;
	pb_bytes(&tracepoint, TRACEPOINT_NAME, STR_LIT("sched:sched_switch"));
	perfetto_number(&timebase, TIMEBASE_PERIOD, 1);
	pb_message(&timebase, TIMEBASE_TRACEPOINT, &tracepoint);
	pb_message(&sample, SAMPLE_DEFAULTS_TIMEBASE, &timebase);
	pb_message(&defaults, DEFAULTS_PERF_SAMPLE, &sample);
	perfetto_number(&packet, PACKET_SEQUENCE_ID, OUR_SEQUENCE);
	perfetto_number(&packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	pb_message(&packet, PACKET_DEFAULTS, &defaults);
	return perfetto_packet(x, &packet);
}

int perfetto_sample(struct sched_export *x, struct perfetto_stacks *s, const struct tacho_sched_event *ev)
{
	scoped(buf_done) struct buf sample = { 0 }, packet = { 0 };
	int err = s->begun ? 0 : begin_sequence(x, s);
	uint64_t stack;

	if (err < 0)
		return err;
	buf_clear(&s->interned);
	err = walk_chain(x, s, ev);
	if (err < 0 || !s->frame_ids.n)
		return err;
	stack = stack_number(s);
	if (!stack || buf_failed(&s->interned))
		return -ENOMEM;
	perfetto_number(&sample, SAMPLE_CPU, ev->cpu);
	perfetto_number(&sample, SAMPLE_PID, ev->task->pid == UINT32_MAX ? ev->task->tid : ev->task->pid);
	perfetto_number(&sample, SAMPLE_TID, ev->task->tid);
	perfetto_number(&sample, SAMPLE_CALLSTACK, stack);
	perfetto_number(&sample, SAMPLE_CPU_MODE, MODE_KERNEL);
	perfetto_number(&sample, SAMPLE_TIMEBASE_COUNT, 1);
	perfetto_number(&packet, PACKET_TIMESTAMP, ev->time);
	perfetto_number(&packet, PACKET_SEQUENCE_ID, OUR_SEQUENCE);
	perfetto_number(&packet, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	if (s->interned.n)
		pb_message(&packet, PACKET_INTERNED_DATA, &s->interned);
	pb_message(&packet, PACKET_PERF_SAMPLE, &sample);
	return perfetto_packet(x, &packet);
}

void perfetto_stacks_done(struct perfetto_stacks *s)
{
	int_map_done(&s->names);
	int_map_done(&s->objects);
	map_done(&s->frames);
	map_done(&s->stacks);
	arena_done(&s->keys);
	buf_done(&s->interned);
	buf_done(&s->message);
	buf_done(&s->frame_ids);
}
