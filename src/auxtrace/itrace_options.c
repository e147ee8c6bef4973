/*
 * Parses --itrace: letters, some followed by a number.
 *
 *	i[PERIOD[i|t|ms|us|ns]] b c r x w p e[-LETTERS] f m t a M g[FRAMES] l[BRANCHES] sCOUNT Z
 */
#include "auxtrace/auxtrace.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_PERIOD_NS 100000u
#define DEFAULT_FRAMES 16u
#define DEFAULT_BRANCHES 64u
#define MAX_COUNT 1024u

void tacho_itrace_default(struct tacho_itrace *out, bool every_branch)
{
	*out = (struct tacho_itrace){
		.size = sizeof(*out), .branches = true, .transactions = true, .ptwrites = true, .power = true,
		.errors = true, .first_level_cache = true, .last_level_cache = true, .tlb = true, .remote = true, .memory = true,
		.callchain_frames = DEFAULT_FRAMES, .n_last_branches = DEFAULT_BRANCHES,
		.period = DEFAULT_PERIOD_NS, .unit = TACHO_ITRACE_NANOSECONDS,
	};
	if (every_branch) {		/* of all branches, calls are the ones to read */
		out->calls = true;
		out->period = 1;
		out->unit = TACHO_ITRACE_INSTRUCTIONS;
	} else {
		out->instructions = out->callchain = true;
		out->branches = false;
	}
}

/* Letters that set a flag. */
static const struct {
	char letter;
	size_t flag;
} flags[] = {
#define F(field) offsetof(struct tacho_itrace, field)
	{ 'b', F(branches) }, { 'c', F(calls) }, { 'r', F(returns) }, { 'x', F(transactions) }, { 'w', F(ptwrites) },
	{ 'p', F(power) }, { 'f', F(first_level_cache) }, { 'm', F(last_level_cache) }, { 't', F(tlb) },
	{ 'a', F(remote) }, { 'M', F(memory) }, { 'Z', F(no_time) },
#undef F
};

static const struct {
	char letter;
	const char *why;
} refused[] = {
	{ 'd', "no log is written: 'script -D' lists the packets of a trace" },
	{ 'G', "call chains can only be added to samples that are decoded from the trace: g" },
	{ 'L', "last branches can only be added to samples that are decoded from the trace: l" },
	{ 'A', "the cycles in a trace are not counted" },
	{ 'T', "the times in the trace are always used, if there are any; Z ignores them" },
	{ 'q', "all traces are decoded in full" },
	{ 'y', "the cycles in a trace are not counted; i samples instructions" },
	{ 'o', "samples that other events put into the trace (aux-output) are not decoded" },
};

static bool number(const char **at, uint64_t *out)
{
	uint64_t n = 0;
	const char *p = *at;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		n = n > UINT64_MAX / 10 - 1 ? n : n * 10 + (uint64_t)(*p - '0');
	*at = p;
	*out = n;
	return true;
}

/* The number and unit after i. A number without a unit is in nanoseconds, as in perf. */
static int period(struct tacho_itrace *t, const char **at)
{
	static const struct { const char *name; uint64_t ns; } units[] = { { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
	const char *p = *at;

	t->period = DEFAULT_PERIOD_NS;
	t->unit = TACHO_ITRACE_NANOSECONDS;
	if (!number(&p, &t->period))
		return 0;
	*at = p;
	if (*p == 'i' || *p == 't') {
		t->unit = *p == 'i' ? TACHO_ITRACE_INSTRUCTIONS : TACHO_ITRACE_TICKS;
		*at = p + 1;
		return 0;
	}
	for (size_t i = 0; i < countof(units); i++)
		if (strncmp(p, units[i].name, 2) == 0) {
			t->period = t->period > UINT64_MAX / units[i].ns ? UINT64_MAX : t->period * units[i].ns;
			*at = p + 2;
			return 0;
		}
	return *p && *p != ',' && *p != ' ' ? -EINVAL : 0;
}

/* A number after g, l: at most MAX_COUNT. */
static int count(uint32_t *out, const char **at)
{
	uint64_t n = *out;

	while (**at == ' ' || **at == ',')
		(*at)++;
	if (number(at, &n) && (n == 0 || n > MAX_COUNT))
		return -ERANGE;
	*out = (uint32_t)n;
	return 0;
}

/* e-o, e-l, e-ol: errors that are not reported; e+ reports them. */
static int error_letters(struct tacho_itrace *t, const char **at)
{
	const char *p = *at;

	t->errors = true;
	while (*p == '-' || *p == '+') {
		bool hide = *p == '-';

		for (p++; *p >= 'a' && *p <= 'z'; p++) {
			if (*p == 'o')
				t->hide_overflows = hide;
			else if (*p == 'l')
				t->hide_lost = hide;
			else
				return *at = p, -EINVAL;
		}
	}
	*at = p;
	return 0;
}

static int refuse(const char *text, const char *at, struct tacho_error *e)
{
	for (size_t i = 0; i < countof(refused); i++)
		if (refused[i].letter == *at) {
			error_set(e, -EOPNOTSUPP, "'%c' is not supported: %s", *at, refused[i].why);
			error_at(e, (size_t)(at - text), 1);
			return -EOPNOTSUPP;
		}
	error_set(e, -EINVAL, "'%c' is not an option of --itrace", *at);
	error_at(e, (size_t)(at - text), 1);
	error_hint(e, "letters are i b c r x w p e f m t a M g l s Z, e.g. i100us or be");
	return -EINVAL;
}

static bool flag_letter(struct tacho_itrace *t, char letter)
{
	for (size_t i = 0; i < countof(flags); i++)
		if (flags[i].letter == letter) {
			*(bool *)((char *)t + flags[i].flag) = true;
			return true;
		}
	return false;
}

/* One letter with its number. Returns 0, -EINVAL, -ERANGE, or 1: no such letter. */
static int one_letter(struct tacho_itrace *t, const char **at)
{
	char letter = *(*at)++;

	switch (letter) {
	case 'i':
		t->instructions = true;
		return period(t, at);
	case 'e': return error_letters(t, at);
	case 's': return number(at, &t->skip) ? 0 : -EINVAL;
	case 'g':
		t->callchain = true;
		return count(&t->callchain_frames, at);
	case 'l':
		t->last_branches = true;
		return count(&t->n_last_branches, at);
	case ' ':
	case ',': return 0;
	default: return flag_letter(t, letter) ? 0 : 1;
	}
}

int tacho_itrace_parse(struct tacho_itrace *out, const char *text, bool every_branch, struct tacho_error *e)
{
	struct tacho_itrace t = { .size = sizeof(t), .callchain_frames = DEFAULT_FRAMES, .n_last_branches = DEFAULT_BRANCHES,
				  .period = DEFAULT_PERIOD_NS, .unit = TACHO_ITRACE_NANOSECONDS };
	const char *at = text;

	if (!text || !*text) {
		tacho_itrace_default(out, every_branch);
		return 0;
	}
	while (*at) {
		const char *letter = at;
		int err = one_letter(&t, &at);

		if (err == 1)
			return refuse(text, letter, e);
		if (err < 0) {
			error_set(e, -EINVAL, err == -ERANGE ? "the number must be from 1 to %u" : "what follows '%c' is not valid",
				  err == -ERANGE ? MAX_COUNT : (unsigned)*letter);
			error_at(e, (size_t)(letter - text), (size_t)(at - letter) + 1);
			return -EINVAL;
		}
	}
	*out = t;
	return 0;
}
