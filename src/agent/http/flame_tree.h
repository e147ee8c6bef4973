/*
 * The stacks of a profile, or of two profiles to compare, as boxes of a flame graph: below the root
 * "all" the commands, below them the callers, outermost first. Frames of the same name and kind
 * under the same parent share a box.
 */
#ifndef AGENT_HTTP_FLAME_TREE_H
#define AGENT_HTTP_FLAME_TREE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"

#include <tacho/profile.h>

enum flame_kind { FLAME_KERNEL, FLAME_USER, FLAME_JIT, FLAME_INLINED, FLAME_UNKNOWN, FLAME_COMMAND };

struct flame_name {
	const char *text;
	enum flame_kind kind;
};

struct flame_box {
	uint32_t parent, name;
	uint32_t child, next;		/* first child; next sibling; 0: none */
	uint64_t self, base; /* samples whose stack ends here; base: those of the other profile */
};

struct flame_tree {
	struct arena arena;
	struct map name_ids, box_ids;
	struct { struct flame_name *v; size_t n, cap; } names;
	struct { struct flame_box *v; size_t n, cap; } boxes;	/* index 0: the root */
};

int flame_tree_init(struct flame_tree *t);			/* 0 or -ENOMEM */
void flame_tree_done(struct flame_tree *t);
/* Adds the samples of event `event`; `base`: as the profile to compare with. Returns 0, -E2BIG or
 * -ENOMEM. */
int flame_tree_add(struct flame_tree *t, const struct tacho_profile *p, uint32_t event, bool base);
/* Writes the members "names", "kinds" and "levels"; boxes below the share `min` of the total are
 * left out. */
int flame_tree_json(const struct flame_tree *t, bool with_base, double min, struct json *j);

#endif
