/*
 * Reads the letters of task states from the print format of sched_switch.
 */
#include "kernel/sched_states.h"

#include "base/num.h"
#include "base/str.h"

static void set_letter(struct sched_states *states, uint64_t bit, char letter)
{
	if (!bit || bit & (bit - 1))
		return;
	states->letters[__builtin_ctzll(bit)] = letter;
	states->bits |= bit;
}

/* Since Linux 4.14. */
static void set_defaults(struct sched_states *states)
{
	static const char letters[] = "SDTtXZPI";

	*states = (struct sched_states){ .bits = 0 };
	for (unsigned i = 0; i < sizeof(letters) - 1; i++)
		set_letter(states, 1ULL << i, letters[i]);
}

/* The next "{ NUMBER, "LETTER" }" of *rest. */
static bool take_pair(struct str *rest, uint64_t *bit, char *letter)
{
	struct str number;

	*rest = str_trim(*rest);
	if (!rest->n || rest->s[0] != '{')
		return false;
	*rest = str_n(rest->s + 1, rest->n - 1);
	if (!str_cut(rest, ',', &number))
		return false;
	number = str_trim(number);
	*rest = str_trim(*rest);
	if (rest->n < 3 || rest->s[0] != '"' || rest->s[2] != '"')
		return false;
	*letter = rest->s[1];
	*rest = str_n(rest->s + 3, rest->n - 3);
	return num_u64(number, bit) == 0;
}

/* After a pair: its closing brace and the comma before the next one. */
static void skip_separator(struct str *rest)
{
	while (rest->n && (rest->s[0] == ' ' || rest->s[0] == '}' || rest->s[0] == ','))
		*rest = str_n(rest->s + 1, rest->n - 1);
}

void sched_states_read(struct sched_states *states, const struct tacho_trace_event *format)
{
	static const char marker[] = "\"|\",";
	struct str rest;
	const char *at;
	uint64_t bit;
	char letter;

	*states = (struct sched_states){ .bits = 0 };
	rest.s = tacho_trace_print_format(format, &rest.n);
	at = rest.n ? memmem(rest.s, rest.n, marker, sizeof(marker) - 1) : NULL;
	if (at) {
		rest = str_n(at + sizeof(marker) - 1, rest.n - (size_t)(at - rest.s) - (sizeof(marker) - 1));
		while (take_pair(&rest, &bit, &letter)) {
			set_letter(states, bit, letter);
			skip_separator(&rest);
		}
	}
	if (!states->bits)
		set_defaults(states);
}
