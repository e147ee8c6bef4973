/*
 * Folded stacks: "comm;caller;leaf WEIGHT", a line per stack, in the order of their names. The
 * text that stackcollapse scripts make and every flame graph tool reads.
 */
#include "output/output.h"
#include "base/vec.h"

#include <errno.h>

struct folder {
	const struct output *o;
	struct call_tree tree;
	struct buf path;
	struct { size_t *v; size_t n, cap; } ends;	/* length of the path above each level */
};

/* ';' parts the frames and a line ends with the stack, so neither may be in a name. */
static void put_part(struct buf *path, const struct call_tree *t, const struct output *o, uint32_t node)
{
	size_t from;

	if (path->n)
		buf_putc(path, ';');
	from = path->n;
	tree_label(path, t, o, node);
	for (size_t i = from; i < path->n; i++) {
		if (path->bytes[i] == ';')
			path->bytes[i] = ':';
		else if ((unsigned char)path->bytes[i] < ' ')
			path->bytes[i] = '?';
	}
}

static bool put_line(struct folder *f, const struct tree_node *v)
{
	struct buf *b = &f->o->out->b;

	buf_str(b, buf_view(&f->path));
	buf_putc(b, ' ');
	buf_u64(b, v->self);
	buf_putc(b, '\n');
	return out_relax(f->o->out);
}

/* Depth first: down to a child, else to the sibling of the nearest ancestor that has one. */
static int walk(struct folder *f)
{
	const struct tree_node *v = f->tree.v;
	uint32_t at = v[0].child;

	while (at) {
		size_t *end = vec_add(&f->ends);

		if (!end)
			return -ENOMEM;
		*end = f->path.n;
		put_part(&f->path, &f->tree, f->o, at);
		if (v[at].self && !put_line(f, &v[at]))
			return 0;			/* the pipe keeps what went wrong */
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
	struct folder f = { .o = o };
	int err = tree_init(&f.tree, o,
			    &(struct tree_opts){ .by_label = true, .reverse = o->opts->reverse });

	if (err)
		return err;
	err = tree_sort(&f.tree, o);
	if (!err)
		err = walk(&f);
	tree_done(&f.tree);
	buf_done(&f.path);
	vec_done(&f.ends);
	return err;
}

const struct writer folded_writer = {
	.format = { "folded", ".folded", "stacks, one a line, with their weights", true },
	.write = write_folded, .counts_samples = true, .joins_threads = true,
};
