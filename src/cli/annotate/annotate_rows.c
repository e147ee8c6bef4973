/*
 * What is shown before instructions: lines of source, and the functions that the compiler has inlined, as objdump prints them:
 *
 *	inner():
 *	inlined by file.c:5 (middle)
 *	inlined by file.c:6 (outer)
 */
#include "cli/annotate/annotate.h"

#include <errno.h>
#include <inttypes.h>

#define CONTEXT_LINES 5			/* shown before the first line of a function */

/* ---- inlined functions ---- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_functions(const struct annotate_line *l, const struct tacho_code_inline *v, size_t n)
{
	for (size_t i = 0; i < n && n == l->n_inlined; i++)
		if (!same_text(l->inlined[i].name, v[i].name) || !same_text(l->inlined[i].file, v[i].call_file) ||
		    l->inlined[i].line != v[i].call_line)
			return false;
	return n == l->n_inlined;
}

/* Line `i` of what is printed of n inlined functions. */
static const char *function_text(struct annotate *a, const char *name, const struct annotate_inline *called, bool full_paths)
{
	scoped(buf_done) struct buf text = { 0 };
	const char *file = called ? called->file : NULL, *slash = file ? strrchr(file, '/') : NULL;

	if (!called) {
		buf_printf(&text, "%s():", name ? name : "??");
	} else {
		buf_puts(&text, "inlined by ");
		if (file)
			buf_printf(&text, "%s:%" PRIu32 " ", slash && !full_paths ? slash + 1 : file, called->line);
		buf_printf(&text, "(%s)", name ? name : "??");
	}
	return buf_failed(&text) ? NULL : arena_text(&a->text, buf_view(&text));
}

static int set_inlined(struct annotate *a, struct annotate_line *l, const struct tacho_code_inline *v, size_t n)
{
	struct annotate_inline *copy = arena_alloc(&a->text, (n + 1) * sizeof(*copy));

	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = (struct annotate_inline){ .line = v[i].call_line };
		copy[i].name = v[i].name ? arena_text(&a->text, str_of(v[i].name)) : NULL;
		copy[i].file = v[i].call_file ? arena_text(&a->text, str_of(v[i].call_file)) : NULL;
		if ((v[i].name && !copy[i].name) || (v[i].call_file && !copy[i].file))
			return -ENOMEM;
	}
	l->inlined = copy;
	l->n_inlined = n;
	return copy ? 0 : -ENOMEM;
}

/* The innermost function, and what each is inlined into, up to the function itself. */
static int set_functions(struct annotate *a, struct annotate_line *l, const char *function, bool full_paths)
{
	const char **texts = arena_alloc(&a->text, (l->n_inlined + 1) * sizeof(*texts));

	for (size_t i = 0; texts && i <= l->n_inlined; i++) {
		texts[i] = function_text(a, i < l->n_inlined ? l->inlined[i].name : function,
					 i ? &l->inlined[i - 1] : NULL, full_paths);
		if (!texts[i])
			return -ENOMEM;
	}
	l->functions = texts;
	l->n_functions = l->n_inlined + 1;
	return texts ? 0 : -ENOMEM;
}

int annotate_find_inlines(struct annotate *a, const char *function, bool full_paths)
{
	const struct annotate_line none = { 0 }, *before = &none;

	for (size_t i = 0; i < a->lines.n; i++) {
		struct annotate_line *l = &a->lines.v[i];
		struct tacho_code_inline found[TACHO_INLINES_MAX];
		int n = tacho_code_inlines(a->code, l->address, found, countof(found));

		if (n < 0)
			return n;
		if (same_functions(before, found, (size_t)n)) {
			l->inlined = before->inlined;
			l->n_inlined = before->n_inlined;
		} else if (set_inlined(a, l, found, (size_t)n) < 0 || set_functions(a, l, function, full_paths) < 0) {
			return -ENOMEM;
		}
		before = l;
	}
	return 0;
}

static int add_functions(struct annotate_rows *out, const struct annotate_line *l, size_t line)
{
	for (size_t i = 0; i < l->n_functions; i++) {
		struct annotate_row *row = vec_add(out);

		if (!row)
			return -ENOMEM;
		*row = (struct annotate_row){ .source = l->functions[i], .line = (uint32_t)line };
	}
	return 0;
}

/* ---- source ---- */

static int add_source(struct annotate_rows *out, const struct source_file *f, uint32_t number, size_t line)
{
	const char *text = source_line(f, number);
	struct annotate_row *row = text ? vec_add(out) : NULL;

	if (!text)
		return 0;
	if (!row)
		return -ENOMEM;
	*row = (struct annotate_row){ .source = text, .number = number, .line = (uint32_t)line };
	return 0;
}

/* The lines up to that of the instruction, or this one again if the code has jumped back. */
static int add_sources(struct annotate_rows *out, struct source_file *f, const struct annotate *a, size_t i)
{
	uint32_t to = a->lines.v[i].line, from = to;
	int err = 0;

	if (to > f->shown) {
		from = to > CONTEXT_LINES ? to - CONTEXT_LINES : 1;
		from = max_of(from, f->shown + 1);
		f->shown = to;
	}
	for (uint32_t n = from; n <= to && err == 0; n++)
		err = add_source(out, f, n, i);
	return err;
}

int annotate_rows(const struct annotate *a, struct source_files *files, struct annotate_rows *out)
{
	const struct annotate_line *before = NULL;

	for (size_t i = 0; files && i < files->files.n; i++)
		files->files.v[i].shown = 0;
	for (size_t i = 0; i < a->lines.n; i++) {
		const struct annotate_line *l = &a->lines.v[i];
		struct source_file *f = NULL;
		struct annotate_row *row;

		if (files && l->file && l->line && (!before || before->file != l->file || before->line != l->line))
			f = source_file_get(files, l->file);
		if (files && add_functions(out, l, i) < 0)
			return -ENOMEM;
		if (f && add_sources(out, f, a, i) < 0)
			return -ENOMEM;
		before = l->file ? l : before;
		row = vec_add(out);
		if (!row)
			return -ENOMEM;
		row->line = (uint32_t)i;
	}
	return 0;
}
