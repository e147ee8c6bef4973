#include "cli/browser/stack_view.h"

#include <errno.h>
#include <stdio.h>

#include "cli/browser/browser.h"
#include "cli/browser/stack_tree.h"

#define OPEN_SHARE 0.05			/* nodes from this share of all on are open at first */
#define STEP 2				/* columns per level of the call tree */
#define DEPTH_MAX 512			/* levels that are shown */

struct tree_row {
	uint32_t node, depth;
};

struct tree_rows {
	struct tree_row *v;
	size_t n, cap;
};

void stack_view_forget(struct stack_view *v)
{
	stack_tree_free(take(v->tree));
}

void stack_view_done(struct stack_view *v)
{
	stack_view_forget(v);
	int_map_done(&v->toggled);
}

/* The tree, which is made if it was forgotten; NULL if out of memory. */
static const struct stack_tree *tree_of(struct browser *b)
{
	struct browser_table *t = browser_table(b);
	struct stack_view *v = &b->stacks;
	uint32_t nth = b->view.report.group_sort < t->n_members ? b->view.report.group_sort : 0;

	if (!v->tree && stack_tree_new(&v->tree, &t->rows, t->members[nth], b->relative ? 0 : t->rows.totals[nth]) < 0)
		browser_message(b, "Out of memory");
	return v->tree;
}

static uint32_t zoomed(const struct stack_view *v, const struct stack_tree *t)
{
	return stack_tree_find(t, v->zoom);
}

static uint32_t selected(const struct stack_view *v, const struct stack_tree *t)
{
	return stack_tree_find(t, v->selected);
}

const struct tacho_profile_frame *stack_view_frame(struct browser *b)
{
	const struct stack_tree *t = tree_of(b);

	return t ? stack_tree_frame(t, selected(&b->stacks, t)) : NULL;
}

void stack_view_next(struct browser *b)
{
	struct stack_view *v = &b->stacks;

	v->shape = v->shape == SHAPE_FLAME ? SHAPE_TABLE : v->shape + 1;
	if (v->shape != SHAPE_TABLE && !tacho_profile_event(b->profile, browser_table(b)->members[0])->has_chains)
		browser_message(b, "There are no call chains (-g): each stack is one function");
}

static double share(const struct stack_tree *t, uint64_t weight)
{
	return t->whole ? 100.0 * (double)weight / (double)t->whole : 0;
}

static void put_name(const struct stack_tree *t, uint32_t node, struct buf *out)
{
	const struct tacho_profile_frame *f = stack_tree_frame(t, node);

	if (f)
		frame_text(f, out);
	else
		buf_puts(out, "all");
}

/* ---- the call tree ---- */

static bool is_open(const struct stack_view *v, const struct stack_tree *t, uint32_t node)
{
	uint32_t open;

	if (int_map_get(&v->toggled, t->v[node].path, &open))
		return open;
	return (double)t->v[node].total >= OPEN_SHARE * (double)t->v[0].total;
}

/* Lists the visible nodes below the zoomed one, and that one itself unless it is the root. */
static int list_rows(const struct stack_view *v, const struct stack_tree *t, struct tree_rows *out)
{
	uint32_t stack[DEPTH_MAX], root = zoomed(v, t), depth = 0;

	stack[0] = root ? root : t->v[0].child;
	while (stack[0]) {
		uint32_t node = stack[depth];
		struct tree_row *row = vec_next(out);

		if (!row)
			return -ENOMEM;
		*row = (struct tree_row){ node, depth };
		if (t->v[node].child && is_open(v, t, node) && depth + 1 < DEPTH_MAX) {
			stack[++depth] = t->v[node].child;
			continue;
		}
		while (depth && !t->v[stack[depth]].next)
			depth--;
		stack[depth] = depth || !root ? t->v[stack[depth]].next : 0;
	}
	return 0;
}

static size_t row_of_node(const struct tree_rows *rows, uint32_t node)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].node == node)
			return i;
	return 0;
}

static void draw_tree_row(struct browser *b, const struct stack_tree *t, const struct tree_row *r, int at, bool chosen)
{
	const struct stack_tree_node *n = &t->v[r->node];
	struct screen *s = b->screen;
	scoped(buf_done) struct buf text = { 0 };
	enum screen_style style = rows_style(share(t, n->total));
	char numbers[64];
	int col;

	snprintf(numbers, sizeof(numbers), "%7.2f%% %7.2f%%  ", share(t, n->total), share(t, n->self));
	buf_pad(&text, ' ', (size_t)r->depth * STEP);
	buf_puts(&text, !n->child ? "  " : is_open(&b->stacks, t, r->node) ? "- " : "+ ");
	put_name(t, r->node, &text);
	if (b->verbose)
		buf_printf(&text, "  %s", stack_tree_frame(t, r->node)->code->object_name);
	col = screen_put(s, at, 0, chosen ? STYLE_SELECTED : style, numbers);
	if (buf_failed(&text))
		return;
	if (chosen)
		screen_fill(s, at, col, s->cols, STYLE_SELECTED, text.bytes);
	else
		screen_put(s, at, col, STYLE_PLAIN, text.bytes);
}

static void draw_tree(struct browser *b, const struct stack_tree *t, int from, int n_rows)
{
	struct stack_view *v = &b->stacks;
	struct tree_rows rows = { 0 };

	if (list_rows(v, t, &rows) < 0)
		browser_message(b, "Out of memory");
	v->scroll.at = row_of_node(&rows, selected(v, t));
	scroll_key(&v->scroll, KEY_IS_OTHER, rows.n, (uint64_t)max_of(n_rows - 1, 1));
	screen_fill(b->screen, from, 0, b->screen->cols, STYLE_PLAIN, "   Total     Self  Function");
	for (int i = 1; i < n_rows && v->scroll.top + (uint64_t)i - 1 < rows.n; i++) {
		size_t at = (size_t)v->scroll.top + (size_t)i - 1;

		draw_tree_row(b, t, &rows.v[at], from + i, at == v->scroll.at);
	}
	vec_done(&rows);
}

static bool toggle(struct browser *b, const struct stack_tree *t, uint32_t node, bool open)
{
	if (node && int_map_put(&b->stacks.toggled, t->v[node].path, open) < 0)
		browser_message(b, "Out of memory");
	return true;
}

/* Opens or closes all nodes below one; 0: all. */
static bool toggle_below(struct browser *b, const struct stack_tree *t, uint32_t node, bool open)
{
	for (size_t i = 1; i < t->n; i++) {
		uint32_t up = (uint32_t)i;

		if (!t->v[i].child)
			continue;
		while (up && up != node)
			up = t->v[up].parent;
		if (up == node)
			toggle(b, t, (uint32_t)i, open);
	}
	return true;
}

static bool tree_key(struct browser *b, const struct stack_tree *t, int key, int n_rows)
{
	struct stack_view *v = &b->stacks;
	struct tree_rows rows = { 0 };
	uint32_t node = selected(v, t);
	bool moved = false;

	if (key == '+' || key == '-')
		return toggle(b, t, node, !is_open(v, t, node));
	if (key == 'e' || key == 'c' || key == 'E' || key == 'C')
		return toggle_below(b, t, key == 'e' || key == 'c' ? node : 0, key == 'e' || key == 'E');
	if (key == KEY_IS_RIGHT || (key == KEY_IS_LEFT && node && t->v[node].child && is_open(v, t, node)))
		return toggle(b, t, node, key == KEY_IS_RIGHT);
	if (list_rows(v, t, &rows) == 0 && rows.n) {
		v->scroll.at = row_of_node(&rows, node);
		moved = scroll_key(&v->scroll, key, rows.n, (uint64_t)max_of(n_rows - 1, 1));
		v->selected = t->v[rows.v[v->scroll.at].node].path;
	}
	vec_done(&rows);
	return moved;
}

/* ---- the flame graph ---- */

struct flame_pen {
	struct browser *b;
	const struct stack_tree *t;
	int from, n_rows;
	uint32_t chosen;
};

static enum screen_style box_style(const struct stack_tree *t, uint32_t node)
{
	const struct tacho_profile_frame *f = stack_tree_frame(t, node);

	if (!f || !f->known)
		return STYLE_BOX_OTHER;
	return f->space == TACHO_SPACE_KERNEL || f->space == TACHO_SPACE_GUEST_KERNEL ? STYLE_BOX_KERNEL : STYLE_BOX_USER;
}

/* Draws a box of the columns from `left` to `right`, unless it is narrower than one. The bar at its left edge separates boxes
 * also without colours. */
static void draw_box(const struct flame_pen *p, uint32_t node, uint32_t depth, double left, double right)
{
	int from = (int)(left + 0.5), to = (int)(right + 0.5), row = p->from + (int)(depth - p->b->stacks.top);
	scoped(buf_done) struct buf text = { 0 };

	if (to <= from || depth < p->b->stacks.top || row >= p->from + p->n_rows)
		return;
	buf_putc(&text, '|');
	put_name(p->t, node, &text);
	if (!buf_failed(&text))
		screen_fill(p->b->screen, row, from, to, node == p->chosen ? STYLE_SELECTED : box_style(p->t, node), text.bytes);
}

/* Draws a node and, within its columns, its children, the heaviest first. */
static void draw_boxes(const struct flame_pen *p, uint32_t node, uint32_t depth, double left, double right)
{
	double per_weight = (right - left) / (double)p->t->v[node].total;

	draw_box(p, node, depth, left, right);
	if (depth + 1 >= DEPTH_MAX || depth >= p->b->stacks.top + (uint64_t)p->n_rows)
		return;
	for (uint32_t c = p->t->v[node].child; c; c = p->t->v[c].next) {
		double width = per_weight * (double)p->t->v[c].total;

		if (width < 0.5)		/* as all that follow */
			break;
		draw_boxes(p, c, depth + 1, left, left + width);
		left += width;
	}
}

static uint32_t depth_below(const struct stack_tree *t, uint32_t node, uint32_t above)
{
	uint32_t depth = 0;

	for (; node != above && node; node = t->v[node].parent)
		depth++;
	return depth;
}

static void draw_flame(struct browser *b, const struct stack_tree *t, int from, int n_rows)
{
	struct stack_view *v = &b->stacks;
	struct flame_pen pen = { .b = b, .t = t, .from = from + 1, .n_rows = n_rows - 1, .chosen = selected(v, t) };
	uint32_t root = zoomed(v, t), depth = depth_below(t, pen.chosen, root);
	scoped(buf_done) struct buf text = { 0 };

	if (depth < v->top)
		v->top = depth;
	if (n_rows > 1 && depth >= v->top + (uint64_t)(n_rows - 1))
		v->top = depth - (uint64_t)(n_rows - 2);
	put_name(t, pen.chosen, &text);
	buf_printf(&text, "  %.2f%%, self %.2f%%", share(t, t->v[pen.chosen].total), share(t, t->v[pen.chosen].self));
	if (stack_tree_frame(t, pen.chosen))
		buf_printf(&text, "  %s", stack_tree_frame(t, pen.chosen)->code->object_name);
	if (!buf_failed(&text))
		screen_fill(b->screen, from, 0, b->screen->cols, STYLE_PLAIN, text.bytes);
	if (t->v[root].total && n_rows > 1)
		draw_boxes(&pen, root, 0, 0, b->screen->cols);
}

/* The sibling before a node, which is heavier; 0: none. */
static uint32_t sibling_before(const struct stack_tree *t, uint32_t node)
{
	uint32_t at = t->v[t->v[node].parent].child;

	while (at && t->v[at].next != node)
		at = t->v[at].next;
	return at;
}

static bool flame_key(struct stack_view *v, const struct stack_tree *t, int key)
{
	uint32_t node = selected(v, t), root = zoomed(v, t), to = 0;

	if (key == KEY_IS_DOWN)
		to = t->v[node].child;
	else if (key == KEY_IS_UP)
		to = node == root ? node : t->v[node].parent;
	else if (key == KEY_IS_RIGHT)
		to = node == root ? 0 : t->v[node].next;
	else if (key == KEY_IS_LEFT)
		to = node == root ? 0 : sibling_before(t, node);
	else if (key == KEY_IS_HOME)
		to = root;
	else
		return false;
	if (to || key == KEY_IS_UP || key == KEY_IS_HOME)
		v->selected = t->v[to].path;
	return true;
}

/* ---- both ---- */

void stack_view_draw(struct browser *b, int from, int n_rows)
{
	const struct stack_tree *t = tree_of(b);

	if (!t || n_rows < 1)
		return;
	if (b->stacks.shape == SHAPE_TREE)
		draw_tree(b, t, from, n_rows);
	else
		draw_flame(b, t, from, n_rows);
}

/* ENTER makes the chosen node the root; ESC leaves that, one zoom after the other to the whole again. */
bool stack_view_key(struct browser *b, int key, int n_rows)
{
	const struct stack_tree *t = tree_of(b);
	struct stack_view *v = &b->stacks;
	uint32_t root;

	if (!t)
		return false;
	root = zoomed(v, t);
	if (key == KEY_IS_ENTER && selected(v, t)) {
		v->zoom = v->selected;
		v->top = 0;
		return true;
	}
	if ((key == KEY_IS_ESC || key == KEY_IS_RUBOUT) && root) {
		v->zoom = 0;
		return true;
	}
	return v->shape == SHAPE_TREE ? tree_key(b, t, key, n_rows) : flame_key(v, t, key);
}
