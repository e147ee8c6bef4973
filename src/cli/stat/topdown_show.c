/*
 * Prints the top-down tree as text or JSON. The text shows the children of a node only if the node is beyond
 * its threshold.
 */
#include "cli/stat/topdown.h"

#include <math.h>

#include "base/json.h"
#include "cli/core/terminal.h"

#define NAME_WIDTH 40
#define DEPTH_MAX 16u

static void put_node(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r,
		     const struct topdown_node *node, unsigned depth)
{
	size_t from;

	if (isnan(node->value))
		buf_puts(out, "  not counted  ");
	else
		buf_printf(out, "%9.1f %-4s ", node->value, node->metric.unit);
	if (r->color && node->alarming)
		buf_puts(out, TERM_RED);
	from = out->n;
	buf_pad(out, ' ', 2 * (size_t)depth);
	buf_puts(out, node->metric.name);
	if (node->bottleneck)
		buf_pad(out, ' ', out->n - from < NAME_WIDTH ? NAME_WIDTH - (out->n - from) : 1);
	if (r->color && node->alarming)
		buf_puts(out, TERM_PLAIN);
	if (node->bottleneck)
		buf_puts(out, node == tree->bottleneck ? " <== bottleneck" : " <==");
	buf_putc(out, '\n');
}

static void put_below(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r,
		      const struct topdown_node *parent, unsigned depth)
{
	for (size_t i = 0; i < tree->nodes.n && depth < DEPTH_MAX; i++) {
		const struct topdown_node *node = &tree->nodes.v[i];

		if (parent ? !topdown_is_below(&node->metric, &parent->metric) ||
			     node->metric.level <= parent->metric.level : node->metric.level != 1)
			continue;
		put_node(out, tree, r, node, depth);
		if (r->all || node->alarming)
			put_below(out, tree, r, node, depth + 1);
	}
}

void topdown_text(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r)
{
	buf_printf(out, "\n Top-down of %s, down to level %u:\n\n", r->title, r->level);
	put_below(out, tree, r, NULL, 0);
	buf_putc(out, '\n');
	if (tree->bottleneck) {
		buf_printf(out, " Bottleneck: %s, %.1f %s", tree->bottleneck->metric.name,
			   tree->bottleneck->value, tree->bottleneck->metric.unit);
		if (tree->bottleneck->metric.desc && *tree->bottleneck->metric.desc)
			buf_printf(out, " (%s)", tree->bottleneck->metric.desc);
		buf_putc(out, '\n');
	} else {
		buf_puts(out, " Nothing is beyond its threshold.\n");
	}
	buf_printf(out, " Where it is: %s\n", r->command);
	for (size_t i = 0; i < r->n_left_out; i++)
		buf_printf(out, " Left out: %s\n", r->left_out[i]);
	buf_putc(out, '\n');
}

static void json_node(struct json *j, const struct topdown_tree *tree, const struct topdown_node *node)
{
	json_begin(j, '{');
	json_member(j, "name", str, node->metric.name);
	json_member(j, "level", u64, node->metric.level);
	if (node->metric.parent)
		json_member(j, "parent", str, node->metric.parent);
	json_member(j, "value", double, node->value);
	json_member(j, "unit", str, node->metric.unit);
	json_member(j, "alarming", bool, node->alarming);
	json_member(j, "bottleneck", bool, node == tree->bottleneck);
	json_end(j);
}

void topdown_json(struct buf *out, const struct topdown_tree *tree, const struct topdown_report *r)
{
	struct json j = { .out = out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, "tacho.topdown/1");
	json_member(&j, "target", str, r->title);
	json_member(&j, "level", u64, r->level);
	json_key(&j, "nodes");
	json_begin(&j, '[');
	for (size_t i = 0; i < tree->nodes.n; i++)
		json_node(&j, tree, &tree->nodes.v[i]);
	json_end(&j);
	json_member(&j, "bottleneck", str, tree->bottleneck ? tree->bottleneck->metric.name : NULL);
	json_member(&j, "sample", str, r->sample);
	json_key(&j, "left_out");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->n_left_out; i++)
		json_str(&j, r->left_out[i]);
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}
