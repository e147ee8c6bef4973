/*
 * Addresses that were printed without a name: on a terminal, the last line of stderr says how many there are, why, and what
 * would help. Programs that read the text get nothing on stderr.
 */
#include "cli/script/script.h"

#include "cli/core/terminal.h"

#include <inttypes.h>
#include <unistd.h>

#define NAMED 3			/* objects that are named */

void unnamed_add(struct script *s, uint32_t object)
{
	struct script_unnamed *u = &s->unnamed;

	while (u->n <= object) {
		uint64_t *slot = vec_add(u);

		if (!slot)
			return;		/* the line is shorter */
	}
	u->v[object]++;
}

/* The object with the most addresses, and takes them from the counts; 0: none, or that nothing is mapped there. */
static uint64_t take_worst(struct script_unnamed *u, uint32_t *object)
{
	uint64_t most = 0;

	for (size_t i = 0; i < u->n; i++) {
		if (u->v[i] <= most)
			continue;
		most = u->v[i];
		*object = (uint32_t)i;
	}
	if (most)
		u->v[*object] = 0;
	return most;
}

static const char *fix_of(const struct tacho_object_info *info, uint32_t object)
{
	if (!object)
		return "stacks that end there are not whole: record with --call-graph dwarf";
	if (info->kernel)
		return "run as root, or give --kallsyms or --vmlinux of that kernel";
	if (info->jit)
		return "let the runtime write a map while it is recorded: see --jit of 'record'";
	return "install its debug package, set DEBUGINFOD_URLS, or give --symfs";
}

static void put_objects(struct script *s, struct buf *out, const char **fix)
{
	uint64_t n;
	uint32_t object = 0;

	for (size_t i = 0; i < NAMED && (n = take_worst(&s->unnamed, &object)); i++) {
		struct tacho_object_info info = { .size = sizeof(info) };

		if (tacho_symbols_object(s->symbols, object, &info) < 0)
			continue;
		if (!*fix)
			*fix = fix_of(&info, object);
		buf_puts(out, i ? ", " : ": ");
		if (!object)
			buf_printf(out, "%" PRIu64 " where nothing is mapped", n);
		else
			buf_printf(out, "%" PRIu64 " in %s", n, info.short_name);
		if (object && info.why)
			buf_printf(out, " (%s)", info.why);
	}
}

void unnamed_report(struct script *s)
{
	struct buf out = { 0 };
	const char *fix = NULL;
	uint64_t all = 0;

	for (size_t i = 0; i < s->unnamed.n; i++)
		all += s->unnamed.v[i];
	if (!all || s->opts->quiet || !term_is_tty(STDERR_FILENO))
		return;
	put_objects(s, &out, &fix);
	if (!buf_failed(&out))
		message_text("script", "%" PRIu64 " address%s no name%s; %s", all, all == 1 ? " has" : "es have", out.bytes,
			     fix ? fix : "");
	buf_done(&out);
}
