/*
 * Splits a print format into pieces: "prev_comm=%s prev_pid=%d", REC->prev_comm, ... becomes
 * { "prev_comm=", s, REC->prev_comm }, { " prev_pid=", d, REC->prev_pid }.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <errno.h>

static char escaped(char c)
{
	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	default: return c;
	}
}

bool parse_string(struct lexer *l, struct str *out)
{
	struct buf text = { 0 };
	bool closed = false, any = false;
	char *kept;

	while (lexer_take(l, "\"")) {
		any = true;
		for (closed = false; l->at < l->end && !closed; l->at++) {
			if (*l->at == '"')
				closed = true;
			else if (*l->at == '\\' && l->at + 1 < l->end)
				buf_putc(&text, escaped(*++l->at));
			else
				buf_putc(&text, *l->at);
		}
	}
	kept = arena_alloc(&l->ev->trace->arena, text.n + 1);
	if (buf_failed(&text) || !kept)
		l->nomem = true;
	else if (text.n)
		memcpy(kept, text.bytes, text.n);
	*out = str_n(kept, text.n);
	buf_done(&text);
	return any && closed && !l->nomem;
}

struct format_splitter {
	struct lexer *l;
	struct str left;	/* unparsed rest of the format string */
	struct { struct piece *v; size_t n, cap; } pieces;
};

static bool next_char(struct format_splitter *c, char *out)
{
	if (!c->left.n)
		return false;
	*out = c->left.s[0];
	c->left = str_n(c->left.s + 1, c->left.n - 1);
	return true;
}

static struct node *next_argument(struct format_splitter *c)
{
	return lexer_take(c->l, ",") ? parse_expression(c->l) : NULL;
}

static bool split_flags(struct format_splitter *c, struct piece *p)
{
	for (;;) {
		char f = c->left.n ? c->left.s[0] : 0;

		if (f == '-')
			p->left = true;
		else if (f == '0')
			p->zero = true;
		else if (f == '+')
			p->plus = true;
		else if (f == ' ')
			p->blank = true;
		else if (f == '#')
			p->alternate = true;
		else
			return f != 0;
		next_char(c, &f);
	}
}

/* A number, or '*' for the value of the next argument. */
static bool split_number(struct format_splitter *c, int *out, struct node **star)
{
	int v = 0;

	if (str_starts(c->left, "*")) {
		c->left = str_n(c->left.s + 1, c->left.n - 1);
		*star = next_argument(c);
		return *star != NULL;
	}
	while (c->left.n && isdigit((unsigned char)c->left.s[0]) && v < 10000) {
		v = v * 10 + c->left.s[0] - '0';
		c->left = str_n(c->left.s + 1, c->left.n - 1);
		*out = v;
	}
	return true;
}

static void split_length(struct format_splitter *c, struct piece *p)
{
	static const struct { const char *mark; enum piece_width kind; } lengths[] = {
		{ "hh", WIDTH_CHAR }, { "h", WIDTH_SHORT }, { "ll", WIDTH_LONG_LONG },
		{ "l", WIDTH_LONG }, { "z", WIDTH_LONG }, { "t", WIDTH_LONG },
		{ "L", WIDTH_LONG_LONG }, { "q", WIDTH_LONG_LONG }, { "j", WIDTH_LONG_LONG },
	};

	for (size_t i = 0; i < countof(lengths); i++) {
		size_t n = strlen(lengths[i].mark);

		if (!str_starts(c->left, lengths[i].mark))
			continue;
		p->width_kind = lengths[i].kind;
		c->left = str_n(c->left.s + n, c->left.n - n);
		return;
	}
}

/* The kernel's extensions of %p: "S", "I4", "I6c", "M", "U". False if it is not supported. */
static bool split_pointer(struct format_splitter *c, struct piece *p)
{
	static const char *const known[] = { "I6c", "I6", "I4", "i6", "i4", "S", "s", "F", "f", "B",
					     "M", "m", "U" };

	if (str_starts(c->left, "IS"))
		return false;		/* socket addresses: the event is printed field by field */
	for (size_t i = 0; i < countof(known); i++) {
		size_t n = strlen(known[i]);

		if (!str_starts(c->left, known[i]))
			continue;
		memcpy(p->extra, known[i], n);
		c->left = str_n(c->left.s + n, c->left.n - n);
		if (known[i][0] == 'U' && c->left.n && strchr("bBlL", c->left.s[0]))
			p->extra[n] = c->left.s[0], c->left = str_n(c->left.s + 1, c->left.n - 1);
		return true;
	}
	return !(c->left.n && isalnum((unsigned char)c->left.s[0]));
}

static bool split_conversion(struct format_splitter *c, struct piece *p)
{
	char kind;

	p->width = p->precision = -1;
	if (!split_flags(c, p) || !split_number(c, &p->width, &p->star_width))
		return false;
	if (str_starts(c->left, ".")) {
		c->left = str_n(c->left.s + 1, c->left.n - 1);
		p->precision = 0;
		if (!split_number(c, &p->precision, &p->star_precision))
			return false;
	}
	split_length(c, p);
	if (!next_char(c, &kind) || !strchr("diuxXocsp", kind))
		return false;
	p->conversion = kind == 'i' ? 'd' : kind;
	if (kind == 'p' && !split_pointer(c, p))
		return false;
	p->arg = next_argument(c);
	return p->arg != NULL;
}

static bool split_all(struct format_splitter *c)
{
	while (c->left.n) {
		struct piece *p = vec_add(&c->pieces);
		const char *mark;

		if (!p) {
			c->l->nomem = true;
			return false;
		}
		mark = memchr(c->left.s, '%', c->left.n);
		p->text = str_n(c->left.s, mark ? (size_t)(mark - c->left.s) : c->left.n);
		c->left = str_n(c->left.s + p->text.n, c->left.n - p->text.n);
		if (!mark)
			return true;
		if (str_starts(c->left, "%%")) {
			p->text.n++;		/* one of the two belongs to the text */
			c->left = str_n(c->left.s + 2, c->left.n - 2);
			continue;
		}
		c->left = str_n(c->left.s + 1, c->left.n - 1);
		if (!split_conversion(c, p))
			return false;
	}
	return true;
}

int pieces_parse(struct tacho_trace_event *ev)
{
	struct str print = format_print(ev->format);
	struct lexer l = { .ev = ev, .at = print.s, .end = print.n ? print.s + print.n : print.s };
	struct format_splitter c = { .l = &l };
	bool fine = print.n && parse_string(&l, &c.left) && split_all(&c);

	if (fine && c.pieces.n) {
		ev->pieces = arena_alloc(&ev->trace->arena, c.pieces.n * sizeof(*ev->pieces));
		l.nomem |= !ev->pieces;
		if (ev->pieces)
			memcpy(ev->pieces, c.pieces.v, c.pieces.n * sizeof(*ev->pieces));
	}
	ev->n_pieces = ev->pieces ? c.pieces.n : 0;
	vec_done(&c.pieces);
	return l.nomem ? -ENOMEM : fine ? 0 : -EOPNOTSUPP;
}
