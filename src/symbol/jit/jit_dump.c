/*
 * Most functions keep their memory to themselves. Those events are marked as fixed, so that they can be applied together
 * when the dump is opened, and only memory that is used again costs a change of the maps at its time.
 */
#include "symbol/jit/jit_dump.h"

#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

int jit_dump_open(struct jit_dump *d, const char *path, uid_t owner, bool force)
{
	*d = (struct jit_dump){ .next_free = JIT_NO_CODE };
	return jitdump_open(&d->reader, path, owner, force);
}

void jit_dump_done(struct jit_dump *d)
{
	jitdump_close(&d->reader);
	vec_done(&d->events);
	vec_done(&d->unwinding);
	int_map_done(&d->by_index);
	dwarf_lines_done(&d->lines);
}

/* ---- lines ---- */

static int add_lines(struct jit_dump *d, const struct jitdump_record *rec)
{
	struct jitdump_entry entry;
	uint32_t file = UINT32_MAX;
	size_t at = 0;

	d->lines.rows.n = d->first_row;
	d->rows_addr = rec->addr;
	for (uint64_t i = 0; i < rec->n_entries && jitdump_entry(&d->reader, rec, &at, &entry); i++) {
		struct line_row *row;

		if (!entry.same_file && dwarf_lines_file(&d->lines, str_of(entry.file), &file) < 0)
			return -ENOMEM;
		if (file == UINT32_MAX || d->lines.rows.n >= LINE_ROWS_MAX)
			continue;
		row = vec_add(&d->lines.rows);
		if (!row)
			return -ENOMEM;
		*row = (struct line_row){ entry.addr, file, entry.line };
	}
	return 0;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct line_row *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Gives the rows that were read last to the function, whose addresses become offsets. */
static int take_lines(struct jit_dump *d, const struct jitdump_record *rec, uint64_t offset)
{
	size_t n = d->lines.rows.n - d->first_row, kept = 0;
	struct line_row *rows = n ? &d->lines.rows.v[d->first_row] : NULL;
	struct line_sequence *seq;

	for (size_t i = 0; i < n && rec->addr == d->rows_addr; i++)
		if (rows[i].address >= rec->addr && rows[i].address - rec->addr < rec->size) {
			rows[kept] = rows[i];
			rows[kept++].address += offset - rec->addr;
		}
	d->lines.rows.n = d->first_row + kept;
	if (!kept)
		return 0;
	qsort(rows, kept, sizeof(*rows), compare_rows);
	seq = vec_add(&d->lines.sequences);
	if (!seq)
		return -ENOMEM;
	*seq = (struct line_sequence){ rows[0].address, offset + rec->size, (uint32_t)d->first_row, (uint32_t)kept };
	d->first_row = d->lines.rows.n;
	return 0;
}

static int compare_sequences(const void *pa, const void *pb)
{
	const struct line_sequence *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* ---- functions ---- */

static int add_event(struct jit_dump *d, const struct jitdump_record *rec, uint64_t offset)
{
	struct jit_event *ev = vec_add(&d->events);

	if (!ev)
		return -ENOMEM;
	*ev = (struct jit_event){ rec->time, rec->addr, rec->size, offset, rec->index, false };
	return int_map_put(&d->by_index, rec->index, (uint32_t)(d->events.n - 1));
}

static int add_load(struct jit_dump *d, struct symbol_table *table, const struct jitdump_record *rec)
{
	uint64_t offset = rec->code_offset;
	size_t name = table->strings.n;
	int err;

	if (d->events.n >= JIT_EVENTS_MAX || name > JIT_NAMES_MAX)
		return 0;
	if (!offset) {
		offset = d->next_free;
		d->next_free += (rec->size + 15) & ~(uint64_t)15;
	}
	buf_str(&table->strings, rec->name);
	buf_putc(&table->strings, '\0');
	err = buf_failed(&table->strings) ? -ENOMEM : symbol_table_add(table, offset, rec->size, (uint32_t)name, 0);
	if (err >= 0)
		err = take_lines(d, rec, offset);
	if (err >= 0 && d->next_unwinding.n) {
		struct jit_unwinding *u = vec_add(&d->unwinding);

		if (!u)
			return -ENOMEM;
		*u = d->next_unwinding;
		u->code_offset = offset;
		u->code_size = rec->size;
	}
	d->next_unwinding.n = 0;
	return err < 0 ? err : add_event(d, rec, offset);
}

static int add_move(struct jit_dump *d, const struct jitdump_record *rec)
{
	uint32_t i;

	if (d->events.n >= JIT_EVENTS_MAX || !int_map_get(&d->by_index, rec->index, &i) ||
	    d->events.v[i].addr != rec->old_addr || rec->size > d->events.v[i].size)
		return 0;
	return add_event(d, rec, d->events.v[i].offset);
}

static int add_record(struct jit_dump *d, struct symbol_table *table, const struct jitdump_record *rec)
{
	if (!d->first_time)
		d->first_time = rec->time;
	switch (rec->type) {
	case JITDUMP_LOAD:
		return add_load(d, table, rec);
	case JITDUMP_MOVE:
		return add_move(d, rec);
	case JITDUMP_DEBUG_INFO:
		return add_lines(d, rec);
	case JITDUMP_UNWINDING_INFO:
		d->next_unwinding = (struct jit_unwinding){
			.offset = rec->offset, .n = rec->n_unwinding - rec->n_eh_frame_hdr,
		};
		return 0;
	default:
		return 0;
	}
}

/* ---- order ---- */

static int compare_times(const void *pa, const void *pb)
{
	const struct jit_event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

struct jit_place {			/* an event, for sorting by address */
	uint64_t addr, last;
	size_t event;
};

static int compare_places(const void *pa, const void *pb)
{
	const struct jit_place *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* Marks the events from `first` on whose memory no other event uses, and of a group that overlaps the earliest. */
static int mark_fixed(struct jit_dump *d)
{
	size_t n = d->events.n, i = 0;
	struct jit_place *places = n ? calloc(n, sizeof(*places)) : NULL;

	if (n && !places)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++)
		places[k] = (struct jit_place){ d->events.v[k].addr, d->events.v[k].addr + (d->events.v[k].size - 1), k };
	if (n)
		qsort(places, n, sizeof(*places), compare_places);
	while (i < n) {
		size_t end = i + 1, earliest = places[i].event;
		uint64_t last = places[i].last;

		for (; end < n && places[end].addr <= last; end++) {
			last = max_of(last, places[end].last);
			earliest = min_of(earliest, places[end].event);
		}
		d->events.v[earliest].fixed = true;
		i = end;
	}
	free(places);
	return 0;
}

int jit_dump_read(struct jit_dump *d, struct symbol_table *table)
{
	size_t before = d->events.n;
	struct jitdump_record rec;
	int err;

	table->raw = true;
	table->compact = false;
	while ((err = jitdump_next(&d->reader, &rec)) > 0)
		if (add_record(d, table, &rec) < 0)
			return -ENOMEM;
	if (d->events.n == before)
		return err;
	/* Threads may write out of order. Events that were applied before stay where they are. */
	qsort(d->events.v + before, d->events.n - before, sizeof(*d->events.v), compare_times);
	for (size_t i = before; i < d->events.n; i++)
		if (int_map_put(&d->by_index, d->events.v[i].index, (uint32_t)i) < 0)
			return -ENOMEM;
	if (before == 0 && mark_fixed(d) < 0)
		return -ENOMEM;
	if (d->lines.sequences.n)
		qsort(d->lines.sequences.v, d->lines.sequences.n, sizeof(*d->lines.sequences.v), compare_sequences);
	return symbol_table_finish(table) < 0 ? -ENOMEM : (int)(d->events.n - before);
}
