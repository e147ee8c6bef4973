/*
 * A recursive-descent parser; the number of ! and parentheses is bounded, and with it the depth.
 */
#include "probe/filter.h"

#include <errno.h>

struct filter_scan {
	struct name_filter *f;
	struct str text;
	size_t at;
	unsigned depth;
	struct tacho_error *e;
};

static int parse_or(struct filter_scan *s, uint16_t *out);

static int refuse(struct filter_scan *s, const char *why)
{
	error_set(s->e, -EINVAL, "%s", why);
	error_at(s->e, s->at, s->at < s->text.n ? 1 : 0);
	return -EINVAL;
}

static char peek(struct filter_scan *s)
{
	while (s->at < s->text.n && (s->text.s[s->at] == ' ' || s->text.s[s->at] == '\t'))
		s->at++;
	return s->at < s->text.n ? s->text.s[s->at] : '\0';
}

static int add_node(struct filter_scan *s, char op, uint16_t left, uint16_t right, uint16_t *out)
{
	if (s->f->n >= FILTER_NODES_MAX)
		return refuse(s, "the filter is too long");
	s->f->v[s->f->n] = (struct name_filter_node){ .op = op, .left = left, .right = right };
	*out = s->f->n++;
	return 0;
}

static int parse_one(struct filter_scan *s, uint16_t *out)
{
	size_t start;
	int err;

	if (peek(s) == '!') {
		uint16_t inner = 0;

		s->at++;
		if (++s->depth > FILTER_NODES_MAX)
			return refuse(s, "the filter is too long");
		err = parse_one(s, &inner);
		return err < 0 ? err : add_node(s, '!', inner, 0, out);
	}
	if (peek(s) == '(') {
		s->at++;
		if (++s->depth > FILTER_NODES_MAX)
			return refuse(s, "the filter is too long");
		err = parse_or(s, out);
		if (err == 0 && peek(s) != ')')
			return refuse(s, "a ')' is missing");
		s->at++;
		return err;
	}
	start = s->at;
	while (s->at < s->text.n && !strchr(" \t&|!()", s->text.s[s->at]))
		s->at++;
	if (s->at == start)
		return refuse(s, "a pattern was expected");
	err = add_node(s, 'p', 0, 0, out);
	if (err == 0)
		s->f->v[*out].pattern = str_n(s->text.s + start, s->at - start);
	return err;
}

static int parse_and(struct filter_scan *s, uint16_t *out)
{
	int err = parse_one(s, out);

	while (err == 0 && peek(s) == '&') {
		uint16_t right = 0;

		s->at++;
		err = parse_one(s, &right);
		if (err == 0)
			err = add_node(s, '&', *out, right, out);
	}
	return err;
}

static int parse_or(struct filter_scan *s, uint16_t *out)
{
	int err = parse_and(s, out);

	while (err == 0 && peek(s) == '|') {
		uint16_t right = 0;

		s->at++;
		err = parse_and(s, &right);
		if (err == 0)
			err = add_node(s, '|', *out, right, out);
	}
	return err;
}

int name_filter_parse(struct name_filter *f, struct str text, struct tacho_error *e)
{
	struct filter_scan s = { .f = f, .text = text, .e = e };
	int err;

	f->n = 0;
	err = parse_or(&s, &f->root);
	return err == 0 && peek(&s) ? refuse(&s, "patterns are combined with & or |") : err;
}

static bool node_matches(const struct name_filter *f, uint16_t at, struct str name)
{
	const struct name_filter_node *n = &f->v[at];

	switch (n->op) {
	case '!':
		return !node_matches(f, n->left, name);
	case '&':
		return node_matches(f, n->left, name) && node_matches(f, n->right, name);
	case '|':
		return node_matches(f, n->left, name) || node_matches(f, n->right, name);
	default:
		return str_glob(n->pattern, name);
	}
}

bool name_filter_matches(const struct name_filter *f, struct str name)
{
	return node_matches(f, f->root, name);
}
