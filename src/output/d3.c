/*
 * The JSON of d3-flame-graph and of other tools that use its format: nested objects
 *
 *	{"name":"all","value":9,"children":[{"name":"app","value":9,"children":[...]}]}
 *
 * `value` is the total of a node, including its callees. Nodes also have a member `object`, which readers
 * ignore or show. Nesting is as deep as the stacks, deeper than base/json.h allows, so brackets are written
 * here.
 */
#include "output/tree.h"

#include "base/json.h"

static void begin_node(struct buf *b, const struct call_tree *t, const struct output *o, uint32_t at)
{
	const struct tree_node *v = &t->v[at];
	scoped(buf_done) struct buf label = { 0 };

	tree_label(&label, t, o, at);
	buf_puts(b, "{\"name\":");
	json_quote(b, buf_view(&label));
	b->bad |= label.bad;
	if (v->frame != TREE_NO_FRAME) {
		buf_puts(b, ",\"object\":");
		json_quote(b, str_of(tacho_profile_frame(o->p, v->frame)->code->object_name));
	}
	buf_puts(b, ",\"value\":");
	buf_u64(b, v->total);
	if (v->child)
		buf_puts(b, ",\"children\":[");
}

/* Walks the tree depth first: to the first child, else to the sibling of the nearest ancestor that has
 * one. */
static void put_nodes(const struct output *o, const struct call_tree *t)
{
	struct buf *b = &o->out->b;
	uint32_t at = 0;

	for (;;) {
		begin_node(b, t, o, at);
		if (!out_flush_full(o->out))
			return;
		if (t->v[at].child) {
			at = t->v[at].child;
			continue;
		}
		buf_putc(b, '}');
		for (; at && !t->v[at].next; at = t->v[at].parent)
			buf_puts(b, "]}");
		if (!at)
			return;
		buf_putc(b, ',');
		at = t->v[at].next;
	}
}

static int write_d3(struct output *o)
{
	struct call_tree t;
	int err = tree_init(&t, o, &(struct tree_opts){ .reverse = o->opts->reverse });

	if (err)
		return err;
	err = tree_sort(&t, o);
	if (!err) {
		put_nodes(o, &t);
		buf_putc(&o->out->b, '\n');
	}
	tree_done(&t);
	return err;
}

const struct writer d3_writer = {
	.format = { "d3", ".d3.json", "d3-flame-graph: nested name, value, children", true },
	.write = write_d3, .joins_threads = true,
};
