/*
 * The syntax of collectd.conf as a tree: statements of a key and values, and blocks of statements.
 *
 *	Key "text" word 12 true
 *	<Block "value">
 *	  Key value		# comment; a backslash continues a line
 *	</Block>
 *
 * Nothing here is specific to a plugin. The reader of the tree handles Include.
 */
#ifndef AGENT_CONFIG_COLLECTD_SYNTAX_H
#define AGENT_CONFIG_COLLECTD_SYNTAX_H

#include "base/arena.h"
#include "base/toml.h"

enum conf_kind { CONF_TEXT, CONF_NUMBER, CONF_BOOL };

struct conf_value {
	enum conf_kind kind;
	struct str text;		/* without quotes and escapes */
	double number;
	bool boolean;
	struct toml_at at;
	struct conf_value *next;
};

struct conf_node {
	struct str key;
	struct toml_at at;
	struct conf_value *values;
	size_t n_values;
	bool is_block;
	struct conf_node *first, *last, *next, *parent;
};

#define CONF_DEPTH_MAX 32

/* `root->first` is the first statement. Returns 0, -EINVAL with a message and its position in *at, or
 * -ENOMEM. The tree is allocated in the arena and does not refer to `text`. */
int conf_parse(struct arena *arena, struct str text, struct conf_node **root, struct toml_at *at,
	       struct tacho_error *e);

#endif
