/*
 * Reads code where a traced process has it mapped, through the symbol tables' files. Decoders ask for each instruction that
 * was executed, mostly for the same ones again, so the bytes at each address are cached; a change of any process's maps
 * empties the cache.
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_LINES 32768u		/* a power of two */
#define CODE_BYTES 16u

struct trace_code_line {
	uint64_t ip;
	uint32_t pid, generation;
	uint8_t n, bytes[CODE_BYTES];
};

int trace_code_init(struct trace_code *c, struct tacho_symbols *symbols)
{
	*c = (struct trace_code){ .symbols = symbols, .generation = 1 };
	c->lines = calloc(CODE_LINES, sizeof(*c->lines));
	return c->lines ? 0 : -ENOMEM;
}

void trace_code_done(struct trace_code *c)
{
	free(c->lines);
}

static int read_line(struct trace_code *c, struct trace_code_line *line)
{
	enum tacho_space space = line->ip >> 63 ? TACHO_SPACE_KERNEL : TACHO_SPACE_USER;
	struct tacho_code_view view = { .size = sizeof(view) };
	struct tacho_frame frame;
	int err = tacho_symbols_resolve(c->symbols, line->pid, space, line->ip, &frame);

	if (err < 0)
		return err;
	if (!frame.object)
		return 0;
	err = tacho_symbols_code(c->symbols, &frame, CODE_BYTES, &view);
	if (err == -ENOMEM)
		return err;
	if (!err) {
		line->n = (uint8_t)min_of(view.n_bytes, (size_t)CODE_BYTES);
		memcpy(line->bytes, view.bytes, line->n);
	}
	return 0;
}

int trace_code_read(struct trace_code *c, uint32_t pid, uint64_t ip, uint8_t *out, size_t n)
{
	struct trace_code_line *line = &c->lines[((ip ^ pid) * 0x9e3779b97f4a7c15ULL >> 40) & (CODE_LINES - 1)];

	if (line->ip != ip || line->pid != pid || line->generation != c->generation) {
		int err;

		*line = (struct trace_code_line){ .ip = ip, .pid = pid, .generation = c->generation };
		err = read_line(c, line);
		if (err < 0) {
			line->generation = 0;
			return err;
		}
	}
	n = min_of(n, (size_t)line->n);
	memcpy(out, line->bytes, n);
	return (int)n;
}
