/*
 * Collects sites, and finds those that the symbol table alone can answer.
 */
#include "probe/site.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"
#include "probe/function_match.h"
#include "symbol/demangle.h"

#define CHOICES_MAX 8u

void probe_sites_done(struct probe_sites *s)
{
	vec_done(s);
	arena_done(&s->text);
	buf_done(&s->notes);
}

static bool is_same(const struct probe_site *a, const struct probe_site *b)
{
	return a->address == b->address && a->offset == b->offset && a->is_return == b->is_return &&
	       strcmp(a->function, b->function) == 0 && strcmp(a->args, b->args) == 0;
}

static const char *copy(struct probe_sites *s, const char *text)
{
	return text ? arena_str(&s->text, str_of(text)) : NULL;
}

int probe_sites_add(struct probe_sites *s, const struct probe_site *site, struct tacho_error *e)
{
	uint32_t max = s->max_sites ? s->max_sites : SITES_MAX;
	struct probe_site *own;

	/* Only neighbours are compared: equal sites are found one after another, and there may be many. */
	for (size_t i = s->n, tries = 0; i-- && tries < 64; tries++)
		if (is_same(&s->v[i], site))
			return 0;
	if (s->n >= max) {
		error_set(e, -E2BIG, "the request stands for more than %u places", max);
		error_hint(e, "give more of the name, or raise the limit with --max-probes");
		return -E2BIG;
	}
	own = vec_add(s);
	if (!own)
		return error_nomem(e);
	*own = *site;
	own->function = copy(s, site->function);
	own->args = copy(s, site->args);
	own->provider = copy(s, site->provider);
	own->symbol = copy(s, site->symbol);
	if (!own->function || !own->args || (site->provider && !own->provider) || (site->symbol && !own->symbol)) {
		s->n--;
		return error_nomem(e);
	}
	return 0;
}

void probe_raw_argument(const struct probe_argument *a, struct buf *out)
{
	/* A string is what a pointer points to: the kernel wants to see the dereference. */
	bool is_pointer = a->type && strstr(a->type, "string") && (a->text[0] == '%' || a->text[0] == '$') &&
			  strcmp(a->text, "$comm") != 0;

	buf_printf(out, "%s%s%s", out->n ? " " : "", a->name ? a->name : "", a->name ? "=" : "");
	buf_printf(out, is_pointer ? "+0(%s)" : "%s", a->text);
	if (a->type)
		buf_printf(out, ":%s", a->type);
}

int probe_raw_arguments(const struct probe_request *r, struct buf *out, struct tacho_error *e)
{
	for (size_t i = 0; i < r->args.n; i++) {
		const struct probe_argument *a = &r->args.v[i];

		if (!probe_argument_is_raw(a)) {
			error_set(e, -EINVAL, "'%s' needs the debug data of the program", a->text);
			error_hint(e, "without it, arguments are registers (%%di), memory (+8(%%di)), $stack or $retval");
			error_at(e, a->column, a->length);
			return -EINVAL;
		}
		probe_raw_argument(a, out);
	}
	return buf_failed(out) ? error_nomem(e) : 0;
}

static int add_symbol_site(const struct probe_function *fn, const struct probe_request *r, const char *args,
			   struct probe_sites *out, struct tacho_error *e)
{
	struct probe_site site = { .address = fn->address + r->point.offset, .function = fn->name, .args = args,
				   .is_return = r->point.is_return };

	if (fn->size && r->point.offset >= fn->size)
		return error_set(e, -EINVAL, "'%s' has only %" PRIu64 " bytes; the offset %" PRIu64 " is outside", fn->name,
				 fn->size, r->point.offset);
	if (fn->is_indirect)
		buf_printf(&out->notes, "'%s' is an indirect function: the probe is on the code that chooses the implementation "
			   "at start; probe the implementation itself for its calls\n", fn->name);
	return probe_sites_add(out, &site, e);
}

static int refuse_function(const struct probe_object *o, const struct probe_request *r, struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(r->point.function) };

	error_set(e, -ENOENT, "'%s' has no function '%s'", o->path, r->point.function);
	error_at(e, r->point_column, r->point_length);
	if (!o->functions.n) {
		error_hint(e, "it has no symbol table; install its debug symbols");
		return -ENOENT;
	}
	for (size_t i = 0; i < o->functions.n; i++)
		str_nearest_try(&near, str_of(o->functions.v[i].name));
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return -ENOENT;
}

/* A C++ or Rust name that stands for several functions is ambiguous, unless it is a pattern or the user's name is that of
 * the symbol table. */
static int refuse_overloads(const struct probe_object *o, const struct function_match *m, const struct probe_request *r,
			    struct tacho_error *e)
{
	scoped(buf_done) struct buf choices = { 0 };
	uint64_t last = UINT64_MAX;
	size_t n = 0;

	for (size_t i = 0; i < o->functions.n; i++) {
		const struct probe_function *fn = &o->functions.v[i];
		scoped(buf_done) struct buf text = { 0 };

		if (fn->address == last || !function_match_symbol(m, fn->name) || !demangle(fn->name, true, &text) ||
		    buf_failed(&text))
			continue;
		last = fn->address;
		if (n++ < CHOICES_MAX)
			buf_printf(&choices, "%s'%s'", choices.n ? ", " : "", text.bytes);
	}
	if (n < 2 || buf_failed(&choices))
		return 0;
	error_set(e, -EEXIST, "'%s' stands for %zu functions: %s%s", r->point.function, n, choices.bytes,
		  n > CHOICES_MAX ? " ..." : "");
	error_hint(e, "give the parameters to choose one, or '%s(*)' for all", r->point.function);
	error_at(e, r->point_column, r->point_length);
	return -EEXIST;
}

static int find_named(struct probe_object *o, const struct probe_request *r, const char *args, struct probe_sites *out,
		      struct tacho_error *e)
{
	struct function_match m;
	uint64_t last = UINT64_MAX;
	size_t before = out->n;
	int err = function_match_init(&m, r->point.function);

	if (err < 0)
		return error_nomem(e);
	if (m.is_qualified && !m.is_glob && !m.has_params)
		err = refuse_overloads(o, &m, r, e);
	for (size_t i = 0; err >= 0 && i < o->functions.n; i++) {
		const struct probe_function *fn = &o->functions.v[i];

		if (fn->address == last || !function_match_symbol(&m, fn->name))
			continue;
		last = fn->address;	/* one of several names of the same code is enough */
		err = add_symbol_site(fn, r, args, out, e);
	}
	if (err >= 0 && out->n == before)
		err = refuse_function(o, r, e);
	function_match_done(&m);
	return err < 0 ? err : 0;
}

static int find_address(struct probe_object *o, const struct probe_request *r, const char *args, struct probe_sites *out,
			struct tacho_error *e)
{
	char name[32];
	struct probe_site site = { .address = r->point.address, .function = name, .args = args };

	if (!probe_object_is_code(o, site.address)) {
		error_set(e, -EINVAL, "no code of '%s' is at %#" PRIx64, o->path, site.address);
		error_at(e, r->point_column, r->point_length);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "abs_%" PRIx64, site.address);
	return probe_sites_add(out, &site, e);
}

int probe_find_symbols(struct probe_object *o, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e)
{
	scoped(buf_done) struct buf args = { 0 };
	int err = probe_raw_arguments(r, &args, e);

	if (err < 0)
		return err;
	buf_putc(&args, '\0');
	if (buf_failed(&args))
		return error_nomem(e);
	if (r->point.has_address)
		return find_address(o, r, args.bytes, out, e);
	return find_named(o, r, args.bytes, out, e);
}
