/*
 * Disassembles a function from its object file and assigns the recording's samples to its instructions by
 * address.
 */
#include "cli/annotate/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

void addresses_free(struct addresses *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->codes.n; i++)
		tacho_code_free(a->codes.v[i].code);
	vec_done(&a->codes);
	vec_done(&a->hits);
	if (!a->borrowed)
		tacho_profile_free(a->profile);
	free(a);
}

static struct tacho_symbols_opts symbols_of(const struct report_opts *o)
{
	return (struct tacho_symbols_opts){
		.size = sizeof(struct tacho_symbols_opts), .symfs = o->symfs, .vmlinux = o->vmlinux,
		.kallsyms = o->kallsyms, .no_demangle = o->no_demangle, .short_names = o->short_names,
	};
}

static int read_again(struct addresses *a, const struct report_opts *o, struct tacho_perfdata *pd,
		      struct tacho_error *e)
{
	struct tacho_symbols_opts symbols = symbols_of(o);
	struct tacho_profile_opts opts = {
		.size = sizeof(opts), .comms = o->comms, .pids = o->pids, .tids = o->tids,
		.objects = o->dsos, .symbols = o->symbols,
		.cpus = o->cpus, .time = o->time, .switch_on = o->switch_on, .switch_off = o->switch_off,
		.show_switches = o->show_switches,
		.ignore_callees = o->ignore_callees, .no_chains = !o->ignore_callees, .per_address = true, .no_inlines = true,
	};
	scoped(freep) char *cpus = NULL;
	int err = report_socket_cpus(o, pd, &cpus, e);

	opts.counted_cpus = cpus;
	if (err == 0)
		err = tacho_profile_new(&a->profile, &opts, e);
	return err == 0 ? tacho_profile_load(a->profile, pd, &symbols, e) : err;
}

static const struct tacho_profile_frame *frame_of_row(const struct tacho_profile *p, size_t row)
{
	const struct tacho_profile_row *r = &tacho_profile_rows(p)[row];

	return r->node ? tacho_profile_frame(p, tacho_profile_nodes(p)[r->node].frame) : NULL;
}

static int compare_hits(const void *a, const void *b)
{
	const struct address_hit *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static int sort_hits(struct addresses *a)
{
	for (size_t i = 0; i < tacho_profile_n_rows(a->profile); i++) {
		const struct tacho_profile_frame *f = frame_of_row(a->profile, i);
		struct address_hit *hit = f && f->known ? vec_next(&a->hits) : NULL;

		if (f && f->known && !hit)
			return -ENOMEM;
		if (hit)
			*hit = (struct address_hit){ .object = f->code->object, .row = (uint32_t)i,
						     .address = f->address };
	}
	if (a->hits.n)
		qsort(a->hits.v, a->hits.n, sizeof(*a->hits.v), compare_hits);
	return 0;
}

int addresses_load(struct addresses **out, const struct report_opts *o, struct tacho_perfdata *pd, struct tacho_error *e)
{
	struct addresses *a = calloc(1, sizeof(*a));
	int err = a ? read_again(a, o, pd, e) : error_nomem(e);

	if ((err == 0 || err == -EBADMSG || err == -ENODATA) && sort_hits(a) < 0)
		err = error_nomem(e);
	if (err < 0 && err != -EBADMSG && err != -ENODATA) {
		addresses_free(a);
		return err;
	}
	*out = a;
	return err;
}

int addresses_read(struct addresses **out, const struct report_opts *o, struct tacho_error *e)
{
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	int err;

	if (strcmp(o->input, "-") == 0)
		return error_set(e, -ESPIPE, "a recording from a pipe cannot be read a second time");
	err = tacho_perfdata_open(&pd, o->expanded ? o->expanded : o->input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true,
							    .force = o->force), e);
	if (err < 0)
		return err;
	err = addresses_load(out, o, pd, e);
	/* Damaged records are ignored, because the first reading reported them. */
	return err == -EBADMSG || err == -ENODATA ? 0 : err;
}

int addresses_of(struct addresses **out, struct tacho_profile *p, struct tacho_error *e)
{
	struct addresses *a = calloc(1, sizeof(*a));

	if (!p) {
		free(a);
		return error_set(e, -EAGAIN, "there are no samples yet");
	}
	if (a) {
		a->profile = p;
		a->borrowed = true;
	}
	if (!a || sort_hits(a) < 0) {
		addresses_free(a);
		return error_nomem(e);
	}
	*out = a;
	return 0;
}

/* ---- functions ---- */

static size_t event_index(const uint32_t *events, size_t n, uint32_t event)
{
	size_t i = 0;

	while (i < n && events[i] != event)
		i++;
	return i;
}

static int by_period(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	if (x->period != y->period)
		return x->period > y->period ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

int annotate_functions(const struct addresses *a, const uint32_t *events, size_t n_events, struct annotate_functions *out)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(a->profile);
	const struct tacho_profile_code *current = NULL;
	struct annotate_function *f = NULL;
	size_t n = 0;

	for (size_t i = 0; i < a->hits.n; i++) {
		const struct tacho_profile_row *row = &rows[a->hits.v[i].row];
		const struct tacho_profile_frame *frame = frame_of_row(a->profile, a->hits.v[i].row);
		size_t event = event_index(events, n_events, row->event);

		if (!f || frame->code != current) {
			f = vec_add(out);
			if (!f)
				return -ENOMEM;
			f->frame = tacho_profile_nodes(a->profile)[row->node].frame;
			f->first = i;
			current = frame->code;
		}
		f->n++;
		f->period += event < n_events ? row->period : 0;
		f->samples += event == 0 ? row->samples : 0;
	}
	for (size_t i = 0; i < out->n; i++)
		if (out->v[i].period)
			out->v[n++] = out->v[i];
	out->n = n;
	if (n)
		qsort(out->v, n, sizeof(*out->v), by_period);
	return 0;
}

void annotate_done(struct annotate *a)
{
	vec_done(&a->lines);
	arena_done(&a->text);
	free(a->sums);
	*a = (struct annotate){ .code = NULL };
}

/* ---- instructions ---- */

static int line_add(void *arg, const struct disasm_insn *in)
{
	struct annotate *a = arg;
	struct annotate_line *l = vec_add(&a->lines);
	scoped(buf_done) struct buf text = { 0 };
	uint64_t offset = 0;
	const char *name = in->target ? tacho_code_name(a->code, in->target, &offset) : NULL;
	const char *replaced = name ? strstr(in->text, " <") : NULL;	/* objdump's name: less complete */
	char number[24];
	size_t n = replaced ? (size_t)(replaced - in->text) : strlen(in->text), digits;

	if (!l)
		return -ENOMEM;
	digits = (size_t)snprintf(number, sizeof(number), "0x%" PRIx64, in->target);
	if (in->target && n > digits && !memcmp(in->text + n - digits, number, digits)) {	/* without 0x, as objdump */
		buf_put(&text, in->text, n - digits);
		buf_puts(&text, number + 2);
	} else {
		buf_put(&text, in->text, n);
	}
	if (name && offset)
		buf_printf(&text, " <%s+%#" PRIx64 ">", name, offset);
	else if (name)
		buf_printf(&text, " <%s>", name);
	l->address = in->address;
	l->target = in->target;
	l->flow = in->flow;
	l->text = buf_failed(&text) ? NULL : arena_text(&a->text, str_trim(buf_view(&text)));
	return l->text ? 0 : -ENOMEM;
}

/* Capstone is faster; objdump knows newer instructions (Debian 12's capstone lacks AVX-512). */
static int disassemble(struct annotate *a, const struct disasm_opts *o, struct tacho_error *e)
{
	int err = o->objdump ? -EOPNOTSUPP : disasm_capstone(&a->view, o, false, line_add, a), first = err;

	if (err == -EOPNOTSUPP || err == -EILSEQ) {
		a->lines.n = 0;
		err = disasm_objdump(&a->view, o, line_add, a, e);
	}
	if (err == -EOPNOTSUPP && first == -EILSEQ) {
		a->lines.n = 0;
		err = disasm_capstone(&a->view, o, true, line_add, a);
	}
	if (err == -ENOMEM)
		return error_nomem(e);
	if (err == 0 && !a->lines.n)
		err = error_set(e, -ENODATA, "%s has no instructions at that address", a->view.path);
	return err;
}

static const struct tacho_profile_object *object_of(const struct tacho_profile *p,
						    const struct tacho_profile_frame *f)
{
	return tacho_profile_object(p, f->code->object);
}

/* The object of that path in the profile of addresses; its number of objects: none. */
static uint32_t object_by_path(const struct tacho_profile *p, const char *path)
{
	uint32_t i = 0;

	while (i < tacho_profile_n_objects(p) && strcmp(tacho_profile_object(p, i)->path, path) != 0)
		i++;
	return i;
}

static int code_of(struct addresses *from, const struct annotate_request *r, const struct tacho_object_id *id,
		   uint32_t object, struct tacho_code **out, struct tacho_error *e)
{
	struct tacho_symbols_opts symbols = symbols_of(r->opts);
	struct code_of_object *c;

	for (size_t i = 0; i < from->codes.n; i++) {
		if (from->codes.v[i].object != object)
			continue;
		*out = from->codes.v[i].code;
		if (tacho_code_move(*out, r->frame->address) < 0)
			return error_set(e, -ENOENT, "%s has no code at that address", id->path);
		return 0;
	}
	c = vec_add(&from->codes);
	if (!c)
		return error_nomem(e);
	c->object = object;
	if (tacho_code_new(&c->code, &symbols, id, r->frame->address, e) < 0) {
		from->codes.n--;
		return -ENOENT;
	}
	*out = c->code;
	return 0;
}

static int find_code(struct annotate *a, const struct annotate_request *r, uint32_t object, struct tacho_error *e)
{
	const struct tacho_profile_object *obj = object_of(r->profile, r->frame);
	const char *vmlinux = r->opts->vmlinux;
	struct tacho_object_id id = { .path = obj->path, .build_id = obj->build_id,
				      .n_build_id = obj->n_build_id };
	int err;

	if (obj->kernel && !vmlinux) {
		error_set(e, -ENOENT, "the kernel's instructions are in its vmlinux file");
		error_hint(e, "name the file with -k FILE");
		return -ENOENT;
	}
	if (obj->kernel)
		id = (struct tacho_object_id){ .path = vmlinux };
	if ((obj->jit || obj->path[0] != '/') && !obj->kernel)
		return error_set(e, -ENOENT, "%s has no file with its instructions", obj->name);
	err = code_of(r->from, r, &id, object, &a->code, e);
	a->view.size = sizeof(a->view);
	if (err == 0)
		tacho_code_get(a->code, &a->view);
	return err;
}

static void set_sizes(struct annotate *a)
{
	for (size_t i = 0; i < a->lines.n; i++) {
		uint64_t end = i + 1 < a->lines.n ? a->lines.v[i + 1].address : a->view.start + a->view.n_bytes;

		a->lines.v[i].n_bytes = (uint32_t)min_of(end - a->lines.v[i].address, (uint64_t)64);
	}
}

static int find_lines(struct annotate *a, struct tacho_error *e)
{
	for (size_t i = 0; i < a->lines.n; i++) {
		struct annotate_line *l = &a->lines.v[i];

		if (tacho_code_line(a->code, l->address, &l->file, &l->line) == -ENOMEM)
			return error_nomem(e);
	}
	return 0;
}

/* ---- samples ---- */

size_t annotate_at(const struct annotate *a, uint64_t address)
{
	size_t low = 0, high = a->lines.n;

	if (!high || address < a->lines.v[0].address || address - a->view.start >= a->view.n_bytes)
		return SIZE_MAX;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (a->lines.v[mid].address <= address)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* The first hit at or after the address. */
static size_t hit_at(const struct addresses *from, uint32_t object, uint64_t address)
{
	size_t low = 0, high = from->hits.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct address_hit *h = &from->hits.v[mid];

		if (h->object < object || (h->object == object && h->address < address))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void add_samples(struct annotate *a, const struct annotate_request *r, uint32_t object)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(r->from->profile);

	for (size_t i = hit_at(r->from, object, a->view.start); i < r->from->hits.n; i++) {
		const struct address_hit *h = &r->from->hits.v[i];
		const struct tacho_profile_row *row = &rows[h->row];
		size_t event = event_index(r->events, r->n_events, row->event);
		size_t at = h->object == object ? annotate_at(a, h->address) : SIZE_MAX;

		if (at == SIZE_MAX)
			break;
		if (event == r->n_events)
			continue;
		a->lines.v[at].samples += row->samples;
		a->lines.v[at].period += row->period;
		a->sums[at * a->n_events + event].samples += row->samples;
		a->sums[at * a->n_events + event].period += row->period;
		a->totals[event].samples += row->samples;
		a->totals[event].period += row->period;
		a->samples += row->samples;
		a->period += row->period;
	}
}

int annotate_make(struct annotate *a, const struct annotate_request *r, struct tacho_error *e)
{
	uint32_t object = object_by_path(r->from->profile, object_of(r->profile, r->frame)->path);
	int err;

	*a = (struct annotate){ .n_events = r->n_events };
	err = find_code(a, r, object, e);
	if (err == 0)
		err = disassemble(a, &r->disasm, e);
	if (err == 0) {
		a->sums = calloc(a->lines.n * a->n_events + 1, sizeof(*a->sums));
		err = a->sums ? 0 : error_nomem(e);
	}
	if (err == 0 && r->source_lines)
		err = find_lines(a, e);
	if (err == 0 && r->inlined && annotate_find_inlines(a, r->frame->code->name, r->full_paths) < 0)
		err = error_nomem(e);
	if (err < 0 || !a->sums) {
		annotate_done(a);
		return err;
	}
	set_sizes(a);
	add_samples(a, r, object);
	return 0;
}

static bool is_hotter(const struct annotate *a, size_t x, size_t y)
{
	uint64_t px = a->lines.v[x].period, py = a->lines.v[y].period;

	return px > py || (px == py && x < y);
}

/* This is quadratic in the number of lines, which is small. */
size_t annotate_hottest(const struct annotate *a, size_t nth)
{
	size_t best = SIZE_MAX, before = SIZE_MAX;

	for (size_t round = 0; round <= nth; round++) {
		best = SIZE_MAX;
		for (size_t i = 0; i < a->lines.n; i++) {
			if (!a->lines.v[i].period || (before != SIZE_MAX && !is_hotter(a, before, i)))
				continue;
			if (best == SIZE_MAX || is_hotter(a, i, best))
				best = i;
		}
		if (best == SIZE_MAX)
			return best;
		before = best;
	}
	return best;
}
