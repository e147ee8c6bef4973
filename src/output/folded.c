/*
 * Folded stacks: a line "comm;caller;leaf WEIGHT" per stack, sorted by name. It is the format of the stackcollapse scripts,
 * which all flame graph tools read.
 */
#include "output/tree.h"

#include <errno.h>

struct folded {
	const struct output *o;
	struct call_tree tree;
	struct buf path;
	struct { size_t *v; size_t n, cap; } ends;	/* per level, the length of the path above it */
};

/* Appends a name. ';' separates frames and a newline ends the stack, so both are replaced in names. */
static void append_name(struct buf *path, const struct call_tree *t, const struct output *o, uint32_t node)
{
	size_t from;

	if (path->n)
		buf_putc(path, ';');
	from = path->n;
	tree_label(path, t, o, node);
	for (size_t i = from; i < path->n; i++)
		if (path->bytes[i] == ';')
			path->bytes[i] = ':';
		else if (path->bytes[i] == '\t')
			path->bytes[i] = '?';
	if (path->n > from)
		str_make_printable(path->bytes + from, path->n - from);
}

static bool put_line(struct folded *f, const struct tree_node *v)
{
	struct buf *b = &f->o->out->b;

	buf_str(b, buf_view(&f->path));
	buf_putc(b, ' ');
	buf_u64(b, v->self);
	buf_putc(b, '\n');
	return out_flush_full(f->o->out);
}

/* Walks the tree depth first: to the first child, else to the sibling of the nearest ancestor that has
 * one. */
static int put_lines(struct folded *f)
{
	const struct tree_node *v = f->tree.v;
	uint32_t at = v[0].child;

	while (at) {
		size_t *end = vec_add(&f->ends);

		if (!end)
			return -ENOMEM;
		*end = f->path.n;
		append_name(&f->path, &f->tree, f->o, at);
		if (v[at].self && !put_line(f, &v[at]))
			return 0;			/* the error is in o->out */
		if (v[at].child) {
			at = v[at].child;
			continue;
		}
		f->path.n = f->ends.v[--f->ends.n];
		while (at && !v[at].next) {
			at = v[at].parent;
			if (at)
				f->path.n = f->ends.v[--f->ends.n];
		}
		at = at ? v[at].next : 0;
	}
	return buf_failed(&f->path) ? -ENOMEM : 0;
}

static int write_folded(struct output *o)
{
	struct folded f = { .o = o };
	int err = tree_init(&f.tree, o,
			    &(struct tree_opts){ .by_label = true, .reverse = o->opts->reverse });

	if (err)
		return err;
	err = tree_sort(&f.tree, o);
	if (!err)
		err = put_lines(&f);
	tree_done(&f.tree);
	buf_done(&f.path);
	vec_done(&f.ends);
	return err;
}

const struct writer folded_writer = {
	.format = { "folded", ".folded", "stacks, one per line, with their weights", true },
	.write = write_folded, .counts_samples = true, .joins_threads = true,
};
