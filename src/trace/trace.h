/*
 * A parsed tracepoint format: its fields, and its print format as a list of pieces. A piece is literal
 * text followed by one conversion, with the expression that it prints.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"

#include <tacho/trace.h>

#define TRACE_NODES_MAX 20000	/* limit per print format; the kernel's longest has a few thousand */
#define TRACE_DEPTH_MAX 200	/* maximum nesting of parentheses */
#define TRACE_FIELDS_MAX 64

enum node_kind {
	NODE_NUMBER,
	NODE_STRING,		/* "text" */
	NODE_FIELD,
	NODE_INDEX,		/* REC->field[a] */
	NODE_CAST,		/* (type)a; see cast_... */
	NODE_UNARY,
	NODE_BINARY,
	NODE_CHOICE,		/* a ? b : c */
	NODE_FLAGS,		/* __print_flags(a, string, pairs) */
	NODE_SYMBOLIC,		/* __print_symbolic(a, pairs) */
	NODE_GET_STR,
	NODE_GET_ARRAY,		/* __get_dynamic_array(field) */
	NODE_ARRAY_LEN,		/* __get_dynamic_array_len(field) */
	NODE_BITMASK,
	NODE_HEX,		/* __print_hex(a, b), number 1: without blanks */
	NODE_LIST,		/* __print_array(a, b, c) */
};

struct node_pair {
	uint64_t value;
	struct str text;
};

struct node {
	enum node_kind kind;
	uint8_t op;		/* operator of UNARY and BINARY: a character, or one of OP_... */
	uint8_t cast_size;
	bool cast_signed, cast_pointer;
	uint64_t number;
	struct str text;
	const struct tacho_trace_field *field;
	struct node *a, *b, *c;
	struct node_pair *pairs;
	size_t n_pairs;
};

enum { OP_AND = 1, OP_OR, OP_EQ, OP_NE, OP_LE, OP_GE, OP_SHL, OP_SHR };

enum piece_width { WIDTH_INT, WIDTH_CHAR, WIDTH_SHORT, WIDTH_LONG, WIDTH_LONG_LONG };

struct piece {
	struct str text;	/* literal text before the conversion */
	char conversion;	/* d u x X o c s p; 0: none */
	char extra[4];		/* what follows %p: "S", "I4", "I6c" ... */
	bool left, zero, plus, blank, alternate;
	enum piece_width width_kind;
	int width, precision;	/* -1: not given */
	struct node *star_width, *star_precision;
	struct node *arg;
};

struct printk {			/* a string in kernel memory that events refer to by its address */
	uint64_t address;
	struct str text;
};

struct tacho_trace_event {
	struct tacho_trace *trace;
	uint64_t id;
	struct str system, format;
	char *name;
	bool parsed, damaged, understood;
	struct tacho_trace_field *fields;
	size_t n_fields;
	struct piece *pieces;
	size_t n_pieces;
	const struct plan *plan;	/* NULL: takes the general way */
};

struct tacho_trace {
	struct arena arena;
	char *blob;
	size_t n_blob;
	bool big_endian;
	uint8_t long_size;
	struct buf text;		/* the event being printed; reused */
	struct { struct tacho_trace_event *v; size_t n, cap; } events;	/* sorted by id */
	struct { struct printk *v; size_t n, cap; } printks;		/* sorted by address */
	bool out_of_memory;		/* a format could not be parsed, or a text not printed */
};

/* ---- format.c ---- */
/* Reads the number of "ID: 372". 0 or -EBADMSG. */
int format_id(struct str format, uint64_t *id);
/* Parses the name and the fields. 0, -EBADMSG or -ENOMEM. */
int format_fields(struct tacho_trace_event *ev);
/* The text after "print fmt:". */
struct str format_print(struct str format);
const struct tacho_trace_field *format_find(const struct tacho_trace_event *ev, struct str name);

/* ---- parse.c, parse_call.c, print_format.c ---- */
struct lexer {
	struct tacho_trace_event *ev;
	const char *at, *end;
	unsigned depth, nodes;
	bool nomem;
	bool guessed;		/* a name that is not in the format (an enum) was taken as zero */
};

void lexer_blanks(struct lexer *l);
bool lexer_take(struct lexer *l, const char *mark);	/* skips `mark` if it is next */
/* Parses an expression. NULL if the syntax is not supported. */
struct node *parse_expression(struct lexer *l);
/* Parses one or more adjacent string constants and resolves escapes. False if there is none. */
bool parse_string(struct lexer *l, struct str *out);
struct node *parse_call(struct lexer *l, struct str name);	/* after the parenthesis */
struct node *node_new(struct lexer *l, enum node_kind kind);
int pieces_parse(struct tacho_trace_event *ev);		/* 0, -EOPNOTSUPP or -ENOMEM */

/* ---- plan.c ---- */
struct plan;
/* Makes the plan of an event that is understood, if its format is simple enough. 0 or -ENOMEM. */
int plan_make(struct tacho_trace_event *ev);
/* Returns the length, or -EAGAIN: the general way must be taken. */
ptrdiff_t plan_print(const struct plan *plan, const uint8_t *raw, size_t n, char *out, size_t room);

/* ---- eval.c ---- */
struct value {
	uint64_t v;
	bool wide;		/* unsigned and 64 bits: compares and divides as such */
};

struct raw_view {			/* the raw data of one record, and where to print */
	const struct tacho_trace_event *ev;
	const uint8_t *raw;
	size_t n;
	const struct tacho_trace_opts *opts;
	struct buf *out;
	bool swap;
};

struct value eval(const struct raw_view *v, const struct node *n);
struct value cast(const struct node *n, struct value a);
struct value binary(uint8_t op, struct value a, struct value b);
uint64_t view_number(const struct raw_view *v, size_t offset, size_t size, bool is_signed);
/* The bytes of a field; for a dynamic field, the data it refers to. Truncated to the record. */
struct str view_field(const struct raw_view *v, const struct tacho_trace_field *f);
/* The bytes of an expression that is an array. */
struct str view_array(const struct raw_view *v, const struct node *n);

/* ---- print.c, print_helpers.c ---- */
void print_string(const struct raw_view *v, const struct node *n, int precision);
void print_field(const struct raw_view *v, const struct tacho_trace_field *f);
void print_hex(struct buf *out, uint64_t value);	/* without 0x */
void print_flags(const struct raw_view *v, const struct node *n);
void print_symbolic(const struct raw_view *v, const struct node *n);
void print_bytes(const struct raw_view *v, const struct node *n);
void print_list(const struct raw_view *v, const struct node *n);
void print_bitmask(const struct raw_view *v, struct str bytes);
void print_pointer(const struct raw_view *v, const struct piece *p);
/* The kernel's string at `address`; empty if it is unknown. */
struct str printk_at(const struct tacho_trace *t, uint64_t address);

#endif
