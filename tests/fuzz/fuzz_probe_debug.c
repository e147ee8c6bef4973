/*
 * An ELF file with debug data, to be probed: functions, lines, variables, members, patterns of source lines. Its debug data is read
 * by libdw, from an image of it in memory.
 */
#include <stdint.h>
#include <stdlib.h>

#include "probe/dwarf.h"
#include "probe/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int ignore_line(void *arg, const struct tacho_probe_source *source, const struct tacho_probe_line *line)
{
	(void)arg;
	(void)source;
	return line->text ? 0 : -1;
}

static int ignore_variable(void *arg, const struct tacho_probe_variable *v)
{
	(void)arg;
	return v->type && v->name && v->ranges ? 0 : -1;
}

static int ignore_name(void *arg, const char *name)
{
	(void)arg;
	return name ? 0 : -1;
}

static bool open_target(struct tacho_probes *p, const uint8_t *bytes, size_t n)
{
	if (elf_open_bytes(&p->object.own, bytes, n) < 0)
		return false;
	p->object.debug.fd = -1;
	p->object.path = strdup("/input");
	p->is_open = p->object.path && probe_functions_add(&p->object.functions, &p->object.own) == 0 &&
		     probe_functions_finish(&p->object.functions) == 0;
	return p->is_open;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const requests[] = {
		"work $vars", "work%return $retval", "*", "work+3", "work:3", "p.c:12", "work n s->depth s->next->name:string",
		"inlined $params", "Shape::area(*)", "0x401000", "work table[2] total", "work (struct state *)s->depth", "%a:b",
	};
	struct tacho_probes *p = NULL;
	const struct tacho_probe *found;

	if (tacho_probes_new(&p, TACHO_OPTS(tacho_probe_target, .file = "/input", .tracefs = "/nonexistent", .max_probes = 64,
					     .source = "/nonexistent"), NULL) < 0)
		return 0;
	if (open_target(p, bytes, n)) {
		for (size_t i = 0; i < countof(requests); i++)
			tacho_probes_find(p, requests[i], &found, NULL);
		tacho_probes_lines(p, "work", ignore_line, NULL, NULL);
		tacho_probes_lines(p, "p.c:3-9", ignore_line, NULL, NULL);
		tacho_probes_variables(p, "work", TACHO_OPTS(tacho_probe_variables_opts, .externals = true), ignore_variable, NULL, NULL);
		tacho_probes_functions(p, NULL, ignore_name, NULL, NULL);
	}
	p->is_open = true;		/* so that what was opened is closed */
	tacho_probes_free(p);
	return 0;
}
