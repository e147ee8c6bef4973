/*
 * Disassembles a function from its object file and assigns the recording's samples to its instructions by
 * address.
 */
#include "cli/browser/annotate.h"

#include <errno.h>
#include <inttypes.h>

#include "base/error.h"
#include "cli/browser/disasm.h"

struct addresses {
	struct tacho_profile *profile;
};

void addresses_free(struct addresses *a)
{
	if (a)
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

/* Reads the recording again. Damaged records are ignored, because the first reading reported them. */
static int read_again(struct addresses *a, const struct report_opts *o, struct tacho_perfdata *pd,
		      struct tacho_error *e)
{
	struct tacho_symbols_opts symbols = symbols_of(o);
	struct tacho_profile_opts opts = {
		.size = sizeof(opts), .comms = o->comms, .pids = o->pids, .tids = o->tids,
		.cpus = o->cpus, .time = o->time, .switch_on = o->switch_on, .switch_off = o->switch_off,
		.show_switches = o->show_switches,
		.ignore_callees = o->ignore_callees, .no_chains = !o->ignore_callees, .per_address = true,
	};
	scoped(freep) char *cpus = NULL;
	int err = report_socket_cpus(o, pd, &cpus, e);

	opts.counted_cpus = cpus;
	if (err == 0)
		err = tacho_profile_new(&a->profile, &opts, e);
	if (err == 0)
		err = tacho_profile_load(a->profile, pd, &symbols, e);
	return err == -EBADMSG || err == -ENODATA ? 0 : err;
}

int addresses_read(struct addresses **out, const struct report_opts *o, struct tacho_error *e)
{
	scoped(perfdata_closep) struct tacho_perfdata *pd = NULL;
	struct addresses *a;
	int err;

	if (strcmp(o->input, "-") == 0)
		return error_set(e, -ESPIPE, "a recording from a pipe cannot be read a second time");
	err = tacho_perfdata_open(&pd, o->input, TACHO_OPTS(tacho_perfdata_opts, .ordered = true,
							    .force = o->force), e);
	if (err < 0)
		return err;
	a = calloc(1, sizeof(*a));
	err = a ? read_again(a, o, pd, e) : error_nomem(e);
	if (err < 0) {
		addresses_free(a);
		return err;
	}
	*out = a;
	return 0;
}

void annotate_done(struct annotate *a)
{
	vec_done(&a->lines);
	arena_done(&a->text);
	tacho_code_free(a->code);
	a->code = NULL;
}

/* ---- instructions ---- */

static int line_add(void *arg, const struct disasm_insn *in)
{
	struct annotate *a = arg;
	struct annotate_line *l = vec_add(&a->lines);
	struct buf text = { 0 };
	uint64_t offset = 0;
	const char *name = in->target ? tacho_code_name(a->code, in->target, &offset) : NULL;
	const char *objdump_name = name ? strstr(in->text, " <") : NULL;	/* replaced: less complete */

	if (!l)
		return -ENOMEM;
	buf_put(&text, in->text, objdump_name ? (size_t)(objdump_name - in->text) : strlen(in->text));
	if (name && offset)
		buf_printf(&text, " <%s+%#" PRIx64 ">", name, offset);
	else if (name)
		buf_printf(&text, " <%s>", name);
	l->address = in->address;
	l->target = in->target;
	l->text = buf_failed(&text) ? NULL : arena_str(&a->text, buf_view(&text));
	buf_done(&text);
	return l->text ? 0 : -ENOMEM;
}

/* Capstone is faster; objdump knows newer instructions (Debian 12's capstone lacks AVX-512). */
static int disassemble(struct annotate *a, struct tacho_error *e)
{
	int err = disasm_capstone(&a->view, false, line_add, a), first = err;

	if (err == -EOPNOTSUPP || err == -EILSEQ) {
		a->lines.n = 0;
		err = disasm_objdump(&a->view, line_add, a, e);
	}
	if (err == -EOPNOTSUPP && first == -EILSEQ) {
		a->lines.n = 0;
		err = disasm_capstone(&a->view, true, line_add, a);
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

static int find_code(struct annotate *a, const struct report_opts *o, const struct tacho_profile *p,
		     const struct tacho_profile_frame *f, struct tacho_error *e)
{
	const struct tacho_profile_object *obj = object_of(p, f);
	struct tacho_symbols_opts symbols = symbols_of(o);
	struct tacho_object_id id = { .path = obj->path, .build_id = obj->build_id,
				      .n_build_id = obj->n_build_id };
	int err;

	if (obj->kernel && !o->vmlinux) {
		error_set(e, -ENOENT, "the kernel's instructions are in its vmlinux file");
		error_hint(e, "name the file with -k FILE");
		return -ENOENT;
	}
	if (obj->kernel)
		id = (struct tacho_object_id){ .path = o->vmlinux };
	if (obj->jit || obj->path[0] != '/')
		if (!obj->kernel)
			return error_set(e, -ENOENT, "%s has no file with its instructions", obj->name);
	err = tacho_code_new(&a->code, &symbols, &id, f->address, e);
	a->view.size = sizeof(a->view);
	if (err == 0)
		tacho_code_get(a->code, &a->view);
	return err;
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

static bool has_event(const uint32_t *events, size_t n, uint32_t event)
{
	for (size_t i = 0; i < n; i++)
		if (events[i] == event)
			return true;
	return false;
}

static void add_samples(struct annotate *a, const struct tacho_profile *by_address, const char *path,
			const uint32_t *events, size_t n_events)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(by_address);
	const struct tacho_profile_node *nodes = tacho_profile_nodes(by_address);

	for (size_t i = 0; i < tacho_profile_n_rows(by_address); i++) {
		const struct tacho_profile_frame *f;
		size_t at;

		if (!rows[i].node || !has_event(events, n_events, rows[i].event))
			continue;
		f = tacho_profile_frame(by_address, nodes[rows[i].node].frame);
		at = strcmp(f->code->object_path, path) == 0 ? annotate_at(a, f->address) : SIZE_MAX;
		if (at == SIZE_MAX)
			continue;
		a->lines.v[at].samples += rows[i].samples;
		a->lines.v[at].period += rows[i].period;
		a->samples += rows[i].samples;
		a->period += rows[i].period;
	}
}

int annotate_make(struct annotate *a, const struct addresses *from, const struct report_opts *o,
		  const struct tacho_profile *p, const struct tacho_profile_frame *f,
		  const uint32_t *events, size_t n_events, struct tacho_error *e)
{
	int err;

	*a = (struct annotate){ .code = NULL };
	err = find_code(a, o, p, f, e);
	if (err == 0)
		err = disassemble(a, e);
	if (err < 0) {
		annotate_done(a);
		return err;
	}
	add_samples(a, from->profile, object_of(p, f)->path, events, n_events);
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
