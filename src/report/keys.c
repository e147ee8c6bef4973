/*
 * Names of keys -> columns. A name that is not a column may be the field of a tracepoint, "EVENT.FIELD" or "FIELD":
 * a column is made for it, and whether the recording has such a field is found out later.
 */
#include "report/columns.h"

#include <errno.h>

#include "base/error.h"
#include "report/column_functions.h"

#define FIELD_NAME_MAX 128

struct tacho_report_fields {
	struct field {
		char name[FIELD_NAME_MAX];
		struct column column;
	} fields[TACHO_FIELDS_MAX];
	const char *names[TACHO_FIELDS_MAX];
	size_t n;
};

int tacho_report_fields_new(struct tacho_report_fields **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void tacho_report_fields_free(struct tacho_report_fields *f)
{
	free(f);
}

const char *const *tacho_report_field_names(const struct tacho_report_fields *f)
{
	return f->names;
}

size_t tacho_report_n_fields(const struct tacho_report_fields *f)
{
	return f->n;
}

/* The column of a field, titled without its event; NULL: such a name is impossible. */
static const struct column *field_add(struct tacho_report_fields *f, struct str name)
{
	struct field *field = &f->fields[f->n];
	const char *dot;

	if (name.n >= FIELD_NAME_MAX || !name.n)
		return NULL;
	memcpy(field->name, name.s, name.n);
	dot = strrchr(field->name, '.');
	field->column = (struct column){
		.pub = { .name = field->name, .title = dot ? dot + 1 : field->name, .kind = TACHO_REPORT_FIELD_KEY,
			 .right = true, .field = (uint32_t)f->n },
		.value = value_tracepoint_field, .print = print_tracepoint_field,
		.width = width_tracepoint_field, .compare = compare_tracepoint_fields, .one_report = true,
	};
	f->names[f->n++] = field->name;
	return &field->column;
}

static const struct column *column_find(const struct tacho_report_fields *f, struct str name)
{
	for (size_t i = 0; i < n_columns; i++) {
		const struct tacho_report_column *c = &columns[i].pub;

		if (str_is(name, c->name) || (c->alias && str_is(name, c->alias)))
			return &columns[i];
	}
	for (size_t i = 0; i < f->n; i++)
		if (str_is(name, f->names[i]))
			return &f->fields[i].column;
	return NULL;
}

static int unknown_key(const char *text, struct str name, struct tacho_error *e)
{
	struct str_nearest near = { .word = name };
	scoped(buf_done) struct buf list = { 0 };

	for (size_t i = 0; i < n_columns; i++) {
		enum tacho_report_kind kind = columns[i].pub.kind;

		str_nearest_try(&near, str_of(columns[i].pub.name));
		if (kind != TACHO_REPORT_BRANCH_KEY && kind != TACHO_REPORT_MEMORY_KEY)
			buf_printf(&list, "%s%s", list.n ? " " : "", columns[i].pub.name);
	}
	error_set(e, -EINVAL, "there is no key '%.*s'", STR(name));
	error_at(e, (size_t)(name.s - text), name.n);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	else
		error_hint(e, "keys are %s, fields of tracepoints, and in tacho-report(1) those of branches and memory",
			   list.bytes ? list.bytes : "...");
	return -EINVAL;
}

int tacho_report_unknown_key(const char *text, size_t at, size_t n, struct tacho_error *e)
{
	return unknown_key(text, str_n(text + at, n), e);
}

static int append(const struct column *c, const struct tacho_report_column **out, size_t *n,
		  struct tacho_error *e)
{
	for (size_t i = 0; i < *n; i++)
		if (out[i] == &c->pub)
			return 0;
	if (*n == TACHO_REPORT_KEYS_MAX)
		return error_set(e, -EINVAL, "more than %d keys", TACHO_REPORT_KEYS_MAX);
	out[(*n)++] = &c->pub;
	return 0;
}

int tacho_report_parse_keys(struct tacho_report_fields *f, const char *text,
			    const struct tacho_report_column **out, size_t *n, struct tacho_error *e)
{
	struct str rest = str_of(text), name;
	bool any = false;
	int err = 0;

	while (err == 0 && str_cut(&rest, ',', &name)) {
		const struct column *c;

		name = str_trim(name);
		any = any || name.n;
		if (!name.n && (any || rest.n))		/* a superfluous comma */
			continue;
		c = column_find(f, name);
		if (!c && f->n == TACHO_FIELDS_MAX)
			return error_set(e, -EINVAL, "more than %d fields of tracepoints; '%.*s' is one too many",
					 TACHO_FIELDS_MAX, STR(name));
		if (!c)
			c = field_add(f, name);
		if (!c)
			return unknown_key(text, name, e);
		err = append(c, out, n, e);
	}
	return err;
}

void tacho_report_wants(const struct tacho_report_column *const *keys, size_t n,
			struct tacho_profile_opts *opts)
{
	for (size_t i = 0; i < n; i++) {
		const struct column *c = column_of(keys[i]);

		opts->keep |= c->keep;
		opts->per_cpu = opts->per_cpu || (c->needs & NEEDS_CPU);
		opts->per_time = opts->per_time || (c->needs & NEEDS_TIME);
		opts->per_srcline = opts->per_srcline || (c->needs & NEEDS_SRCLINE);
		opts->per_address = opts->per_address || (c->needs & NEEDS_ADDRESS);
		opts->symbol_sizes = opts->symbol_sizes || (c->needs & NEEDS_SYMBOL_SIZE);
		opts->no_chains = opts->no_chains && !(c->needs & NEEDS_STACKS);
	}
}
