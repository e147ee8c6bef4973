/*
 * Variables by name, and expressions on them: members, elements, dereferences, casts.
 *
 *	EXPR := NAME (-> MEMBER | . MEMBER | [N])*
 *	      | (TYPE *) NAME ...		the variable taken as another type
 *
 * The kernel's form of a value grows from the inside out: each dereference wraps the text so far in +OFFSET( ).
 */
#include "probe/dwarf_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

#include "base/num.h"

#define NAME_BYTES_MAX 256u
#define DEREFERENCES_MAX 32u

struct fetched_value {
	struct buf text;		/* address or value so far */
	int64_t offset;			/* added to it */
	bool in_memory;			/* it is the address of the value */
	bool is_constant;
	Dwarf_Die type;			/* without typedefs */
	bool has_type;
	unsigned dereferences;
	unsigned bit_offset, bit_size, container;
	const char *last_name;		/* for the name of the argument */
	size_t n_last_name;
};

struct argument_writer {
	struct probe_dwarf *d;
	const struct variable_scope *s;
	const struct probe_argument *a;
	struct buf *out, *notes;
	struct tacho_error *e;
	bool is_set;			/* one of $vars: left out if it cannot be read */
};

static int refuse(struct argument_writer *w, const char *format, const char *name, const char *why)
{
	if (w->e) {
		error_set(w->e, -EINVAL, format, name, why);
		error_at(w->e, w->a->column, w->a->length);
	}
	return -EINVAL;
}

/* ---- variables ---- */

struct variable_search {
	struct probe_dwarf *d;
	const char *name;
	Dwarf_Die *out;
	int (*fn)(void *arg, Dwarf_Die *variable);
	void *arg;
	unsigned depth;			/* of namespaces */
};

static bool is_variable(int tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

/* Inner blocks first: they hide variables of outer ones. */
static int visit_block(struct variable_search *v, Dwarf_Die *block, uint64_t address, unsigned depth)
{
	const struct libdw *l = v->d->lib;
	Dwarf_Die child;
	int err = 0;

	if (depth > DIE_DEPTH_MAX || l->dwarf_child(block, &child) != 0)
		return 0;
	do {
		if (l->dwarf_tag(&child) == DW_TAG_lexical_block && l->dwarf_haspc(&child, address) > 0)
			err = visit_block(v, &child, address, depth + 1);
	} while (err == 0 && l->dwarf_siblingof(&child, &child) == 0);
	if (err || l->dwarf_child(block, &child) != 0)
		return err;
	do {
		if (is_variable(l->dwarf_tag(&child)) && l->dwarf_diename(&child))
			err = v->fn(v->arg, &child);
	} while (err == 0 && l->dwarf_siblingof(&child, &child) == 0);
	return err;
}

int dwarf_each_variable(struct probe_dwarf *d, const struct variable_scope *s, int (*fn)(void *arg, Dwarf_Die *variable),
			void *arg)
{
	struct variable_search v = { .d = d, .fn = fn, .arg = arg };
	Dwarf_Die function = s->function;

	return function.addr ? visit_block(&v, &function, s->address, 0) : 0;
}

static int has_name(void *arg, Dwarf_Die *variable)
{
	struct variable_search *v = arg;

	if (strcmp(v->d->lib->dwarf_diename(variable), v->name) != 0)
		return 0;
	*v->out = *variable;
	return 1;
}

static int find_global(void *arg, Dwarf_Die *parent)
{
	struct variable_search *v = arg;
	const struct libdw *l = v->d->lib;
	Dwarf_Die die;
	Dwarf_Attribute attr;
	int found = 0;

	if (v->depth > DIE_DEPTH_MAX || l->dwarf_child(parent, &die) != 0)
		return 0;
	v->depth++;
	do {
		const char *name = l->dwarf_diename(&die);

		if (l->dwarf_tag(&die) == DW_TAG_variable && name && strcmp(name, v->name) == 0 &&
		    l->dwarf_attr_integrate(&die, DW_AT_location, &attr)) {
			*v->out = die;
			found = 1;
		} else if (l->dwarf_tag(&die) == DW_TAG_namespace) {
			found = find_global(arg, &die);
		}
	} while (!found && l->dwarf_siblingof(&die, &die) == 0);
	v->depth--;
	return found;
}

bool dwarf_find_variable(struct probe_dwarf *d, const struct variable_scope *s, const char *name, Dwarf_Die *out)
{
	struct variable_search v = { .d = d, .name = name, .out = out };
	Dwarf_Die unit = s->unit;

	return dwarf_each_variable(d, s, has_name, &v) == 1 || find_global(&v, &unit) == 1 ||
	       dwarf_each_unit(d, find_global, &v) == 1;
}

/* ---- values ---- */

/* What was the address of a value becomes the value. */
static int dereference(struct argument_writer *w, struct fetched_value *v)
{
	struct buf inner = v->text;

	if (++v->dereferences > DEREFERENCES_MAX)
		return refuse(w, "'%s' has too many dereferences%s", w->a->text, "");
	v->text = (struct buf){ 0 };
	if (v->in_memory && inner.n && inner.bytes[0] == '@' && v->dereferences == 1)	/* "@" or "@_text" */
		buf_printf(&v->text, "%.*s%+" PRId64, STR(buf_view(&inner)), v->offset);
	else
		buf_printf(&v->text, "%+" PRId64 "(%s)", v->offset, inner.n ? inner.bytes : "");
	v->offset = 0;
	v->in_memory = false;
	buf_done(&inner);
	return 0;
}

/* clang leaves out variables of inlined copies that have no location; the function itself still lists them. */
static bool is_known(struct argument_writer *w, const char *name)
{
	struct variable_scope original = *w->s;
	Dwarf_Die found, function = w->s->function;
	Dwarf_Attribute attr;
	struct variable_search v = { .d = w->d, .name = name, .out = &found };

	return function.addr && w->d->lib->dwarf_attr(&function, DW_AT_abstract_origin, &attr) &&
	       w->d->lib->dwarf_formref_die(&attr, &original.function) && dwarf_each_variable(w->d, &original, has_name, &v) == 1;
}

/* "@_text+N": the kernel adds the address at which it was loaded. Per-CPU variables lie before _text. */
static int start_kernel_static(struct argument_writer *w, const char *name, uint64_t address, struct fetched_value *v)
{
	if (!w->d->text_start || address < w->d->text_start)
		return refuse(w, "the global variable '%s' cannot be read: %s", name,
			      w->d->text_start ? "each CPU has its own" : "it belongs to a module");
	v->in_memory = true;
	v->offset = (int64_t)(address - w->d->text_start);
	buf_puts(&v->text, "@_text");
	return 0;
}

static int start_value(struct argument_writer *w, const char *name, struct fetched_value *v)
{
	struct location_context at = { w->s->real, w->s->address, w->s->entry };
	struct variable_place place;
	Dwarf_Die variable;

	if (!dwarf_find_variable(w->d, w->s, name, &variable)) {
		refuse(w, is_known(w, name) ? "the variable '%s' is optimized out in this copy of the function%s" :
		       "there is no variable '%s' at this place%s", name, "");
		if (w->e)
			w->e->code = -ENXIO;
		error_hint(w->e, "'probe -V' shows the variables of a place");
		return -ENXIO;
	}
	v->has_type = dwarf_plain_type(w->d, &variable, &v->type);
	dwarf_locate(w->d, &variable, &at, &place);
	switch (place.kind) {
	case PLACE_NONE:
		refuse(w, "the variable '%s' is optimized out at this place%s", name, "");
		error_hint(w->e, "'probe -V --range' shows where it can be read");
		return -EINVAL;
	case PLACE_ENTRY_VALUE:
	case PLACE_UNSUPPORTED:
		return refuse(w, "the variable '%s' cannot be read here: %s", name, place.why);
	case PLACE_CONSTANT:
		v->is_constant = true;
		buf_printf(&v->text, "\\%" PRId64, place.offset);
		return 0;
	case PLACE_STATIC:
		if (w->d->is_kernel)
			return start_kernel_static(w, name, place.address, v);
		/* "@+N" is relative to where the probed file is mapped: the address as in the file, less the bias of the code. */
		v->in_memory = true;
		v->offset = (int64_t)place.address - w->s->bias;
		buf_putc(&v->text, '@');
		return 0;
	case PLACE_MEMORY:
	case PLACE_SUM:
		v->in_memory = place.kind == PLACE_MEMORY;
		v->offset = place.offset;
		/* fall through */
	case PLACE_REGISTER:
		buf_printf(&v->text, "%%%s", place.base);
	}
	return 0;
}

/* Follows a pointer, so that the value is what it points to. */
static int follow_pointer(struct argument_writer *w, struct fetched_value *v)
{
	Dwarf_Die target;
	int err = v->in_memory ? dereference(w, v) : 0;

	v->in_memory = true;
	v->has_type = dwarf_plain_type(w->d, &v->type, &target);
	if (v->has_type)
		v->type = target;
	return err;
}

static int take_member(struct argument_writer *w, struct fetched_value *v, const char *name)
{
	struct found_member m;
	Dwarf_Die type;
	int err = 0, tag;

	if (v->is_constant || !v->has_type)
		return refuse(w, "'%s' has no member '%s'", w->a->text, name);
	if (dwarf_is_pointer(w->d, &v->type))
		err = follow_pointer(w, v);
	/* A C++ reference to a pointer, or a pointer kept in a register as such. */
	if (err == 0 && v->has_type && dwarf_is_pointer(w->d, &v->type))
		err = follow_pointer(w, v);
	if (err < 0)
		return err;
	tag = v->has_type ? w->d->lib->dwarf_tag(&v->type) : 0;
	if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type)
		return refuse(w, "'%s': what should have the member '%s' is not a struct, class or union", w->a->text, name);
	if (!v->in_memory)
		return refuse(w, "'%s': the struct with the member '%s' is in a register", w->a->text, name);
	type = v->type;
	if (!dwarf_find_member(w->d, &type, name, &m))
		return refuse(w, "'%s': the type has no member '%s'", w->a->text, name);
	v->offset += (int64_t)m.offset;
	v->bit_offset = m.bit_offset;
	v->bit_size = m.bit_size;
	v->container = m.container;
	v->has_type = dwarf_plain_type(w->d, &m.type_owner, &v->type);
	return 0;
}

static int take_element(struct argument_writer *w, struct fetched_value *v, int64_t index)
{
	Dwarf_Die element;
	uint64_t size;
	int err = 0;

	if (!v->has_type || v->is_constant)
		return refuse(w, "'%s' is not an array%s", w->a->text, "");
	if (dwarf_is_pointer(w->d, &v->type)) {
		err = follow_pointer(w, v);
	} else if (w->d->lib->dwarf_tag(&v->type) == DW_TAG_array_type) {
		v->has_type = dwarf_plain_type(w->d, &v->type, &element);
		v->type = element;
	} else {
		return refuse(w, "'%s' is not an array or a pointer%s", w->a->text, "");
	}
	size = v->has_type ? dwarf_type_size(w->d, &v->type) : 0;
	if (err == 0 && (!size || size > 1u << 30))
		return refuse(w, "'%s': the size of an element is not known%s", w->a->text, "");
	if (!v->in_memory)
		return refuse(w, "'%s': the array is in a register%s", w->a->text, "");
	v->offset += index * (int64_t)size;
	return err;
}

/* ---- expressions ---- */

static bool take_name(struct str *rest, char out[NAME_BYTES_MAX])
{
	size_t n = 0;

	while (n < rest->n && (isalnum((unsigned char)rest->s[n]) || rest->s[n] == '_' || rest->s[n] == '$' ||
			       (rest->s[n] == ':' && n + 1 < rest->n && (rest->s[n + 1] == ':' || rest->s[n - !!n] == ':'))))
		n++;
	if (!n || n >= NAME_BYTES_MAX)
		return false;
	memcpy(out, rest->s, n);
	out[n] = '\0';
	*rest = str_n(rest->s + n, rest->n - n);
	return true;
}

/* "(struct node *)name": the variable's value is a pointer to that type. */
static int take_cast(struct argument_writer *w, struct str *rest, Dwarf_Die *type, bool *found)
{
	ptrdiff_t close = str_find(*rest, ')');
	struct str name;
	Dwarf_Die unit = w->s->unit;

	*found = false;
	if (!rest->n || rest->s[0] != '(')
		return 0;
	name = str_trim(str_n(rest->s + 1, close < 0 ? 0 : (size_t)close - 1));
	if (close < 0 || !str_ends(name, "*"))
		return refuse(w, "'%s': a cast is written (TYPE *)NAME%s", w->a->text, "");
	name = str_trim(str_n(name.s, name.n - 1));
	if (!dwarf_type_by_name(w->d, &unit, name, type))
		return refuse(w, "'%s': the debug data has no such type%s", w->a->text, "");
	*rest = str_trim(str_n(rest->s + close + 1, rest->n - (size_t)close - 1));
	*found = true;
	return 0;
}

static int apply_cast(struct argument_writer *w, struct fetched_value *v, Dwarf_Die *type)
{
	int err = v->in_memory ? dereference(w, v) : 0;

	v->in_memory = true;
	v->has_type = true;
	v->type = *type;
	return err;
}

static int take_step(struct argument_writer *w, struct str *rest, struct fetched_value *v, char name[NAME_BYTES_MAX])
{
	size_t skip = rest->s[0] == '.' ? 1 : str_starts(*rest, "->") ? 2 : 0;
	ptrdiff_t close = str_find(*rest, ']');
	int64_t index;

	if (skip) {
		*rest = str_n(rest->s + skip, rest->n - skip);
		if (!take_name(rest, name))
			return refuse(w, "'%s': the name of a member is missing%s", w->a->text, "");
		return take_member(w, v, name);
	}
	if (rest->s[0] != '[' || close < 2 || num_i64(str_n(rest->s + 1, (size_t)close - 1), &index) < 0 ||
	    index > INT32_MAX || index < INT32_MIN)
		return refuse(w, "'%s': after a name, only ->MEMBER, .MEMBER and [NUMBER] are understood%s", w->a->text, "");
	*rest = str_n(rest->s + close + 1, rest->n - (size_t)close - 1);
	return take_element(w, v, index);
}

static bool wants_string(const struct argument_writer *w)
{
	return w->a->type && (str_starts(str_of(w->a->type), "string") || str_starts(str_of(w->a->type), "ustring") ||
			      str_starts(str_of(w->a->type), "symstr"));
}

/* The address of a string: of an array itself, or what a pointer contains. */
static int finish_string(struct argument_writer *w, struct fetched_value *v)
{
	bool is_array = v->has_type && w->d->lib->dwarf_tag(&v->type) == DW_TAG_array_type;
	int err = 0;

	if (!is_array && v->in_memory)
		err = dereference(w, v);
	if (err == 0)
		err = dereference(w, v);
	return err;
}

static int finish_value(struct argument_writer *w, struct fetched_value *v)
{
	if (v->is_constant)
		return 0;
	if (wants_string(w))
		return finish_string(w, v);
	/* A reference stands for what it refers to, if that can be read as a number. */
	if (v->in_memory)
		return dereference(w, v);
	if (v->offset)
		return refuse(w, "the variable '%s' cannot be read here: its value is a sum that probes cannot compute%s", w->a->text, "");
	return 0;
}

static void put_type(struct argument_writer *w, const struct fetched_value *v, struct buf *out)
{
	Dwarf_Die type = v->type;
	scoped(buf_done) struct buf name = { 0 };

	if (w->a->type)
		buf_printf(out, ":%s", w->a->type);
	else if (v->bit_size)
		buf_printf(out, ":b%u@%u/%u", v->bit_size, v->bit_offset, v->container * 8);
	else if (v->has_type && dwarf_put_kernel_type(w->d, &type, &name))
		buf_printf(out, ":%.*s", STR(buf_view(&name)));
}

static bool has_argument(struct str args, struct str name)
{
	struct str word;

	while (str_cut(&args, ' ', &word))
		if (word.n > name.n && memcmp(word.s, name.s, name.n) == 0 && word.s[name.n] == '=')
			return true;
	return false;
}

/* The kernel refuses two arguments of the same name: value, value_2 ... */
static void make_unique(struct buf *out, size_t start)
{
	size_t n = out->n;

	for (unsigned i = 2; i <= REQUEST_ARGS_MAX && start && !buf_failed(out) &&
			     has_argument(str_n(out->bytes, start), str_n(out->bytes + start, out->n - start)); i++) {
		out->n = n;
		buf_printf(out, "_%u", i);
	}
}

/* The last name of the expression; a variable alone with a type also has that in its name, as in perf: "text_string". */
static void put_argument_name(struct argument_writer *w, const char *text, const char *last)
{
	size_t start;

	if (w->out->n)
		buf_putc(w->out, ' ');
	start = w->out->n;
	buf_puts(w->out, w->a->name ? w->a->name : last);
	if (!w->a->name && w->a->type && strcmp(text, last) == 0)
		buf_printf(w->out, "_%s", w->a->type);
	for (size_t i = start; i < w->out->n; i++)
		if (!isalnum((unsigned char)w->out->bytes[i]))
			w->out->bytes[i] = '_';
	if (!w->a->name)
		make_unique(w->out, start);
}

static int put_variable(struct argument_writer *w, const char *text)
{
	struct str rest = str_of(text);
	char name[NAME_BYTES_MAX];
	struct fetched_value v = { 0 };
	Dwarf_Die cast;
	bool has_cast;
	int err = take_cast(w, &rest, &cast, &has_cast);

	if (err == 0 && !take_name(&rest, name))
		err = refuse(w, "'%s' is not the name of a variable%s", text, "");
	if (err == 0)
		err = start_value(w, name, &v);
	if (err == 0 && has_cast)
		err = apply_cast(w, &v, &cast);
	while (err == 0 && rest.n)
		err = take_step(w, &rest, &v, name);
	if (err == 0)
		err = finish_value(w, &v);
	if (err == 0) {
		put_argument_name(w, text, name);
		buf_printf(w->out, "=%.*s", STR(buf_view(&v.text)));
		put_type(w, &v, w->out);
	}
	if (buf_failed(&v.text))
		err = error_nomem(w->e);
	buf_done(&v.text);
	return err;
}

/* ---- $vars and $params ---- */

struct set_writer {
	struct argument_writer *w;
	bool only_params;
	int err;
	unsigned n;
};

static bool is_first(struct set_writer *s, Dwarf_Die *variable)
{
	Dwarf_Die found;

	/* A variable that an inner block hides has no name of its own here. */
	return dwarf_find_variable(s->w->d, s->w->s, s->w->d->lib->dwarf_diename(variable), &found) &&
	       s->w->d->lib->dwarf_dieoffset(&found) == s->w->d->lib->dwarf_dieoffset(variable);
}

static int put_one_of_set(void *arg, Dwarf_Die *variable)
{
	struct set_writer *s = arg;
	struct probe_argument a = { .text = s->w->d->lib->dwarf_diename(variable), .user = s->w->a->user };
	struct tacho_error why = { .column = -1 };
	struct argument_writer one = *s->w;
	int err;

	if ((s->only_params && s->w->d->lib->dwarf_tag(variable) != DW_TAG_formal_parameter) || !is_first(s, variable))
		return 0;
	if (++s->n > REQUEST_ARGS_MAX)
		return 1;
	one.a = &a;
	one.e = &why;
	err = put_variable(&one, a.text);
	if (err < 0 && err != -ENOMEM)
		buf_printf(s->w->notes, "%s; it is left out\n", why.message);
	s->err = err == -ENOMEM ? err : 0;
	return s->err;
}

/* Parameters first, in their order, as perf has them. */
static int put_set(struct argument_writer *w)
{
	struct set_writer s = { .w = w, .only_params = strcmp(w->a->text, "$params") == 0 };
	int err = dwarf_each_variable(w->d, w->s, put_one_of_set, &s);

	return err < 0 ? error_nomem(w->e) : 0;
}

int dwarf_put_arguments(struct probe_dwarf *d, const struct variable_scope *s, const struct probe_request *r, struct buf *out,
			struct buf *notes, struct tacho_error *e)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < r->args.n; i++) {
		struct argument_writer w = { .d = d, .s = s, .a = &r->args.v[i], .out = out, .notes = notes, .e = e };

		if (probe_argument_is_raw(w.a))
			probe_raw_argument(w.a, out);
		else if (probe_argument_is_set(w.a))
			err = put_set(&w);
		else
			err = put_variable(&w, w.a->text);
	}
	return err;
}
