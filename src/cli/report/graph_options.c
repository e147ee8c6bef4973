/*
 * The arguments of `tacho report -g`: how call graphs are drawn.
 */
#include "cli/report/report.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"

static const struct { const char *word; enum graph_style style; } styles[] = {
	{ "graph", GRAPH_ABSOLUTE }, { "fractal", GRAPH_FRACTAL }, { "flat", GRAPH_FLAT },
	{ "folded", GRAPH_FOLDED }, { "none", GRAPH_NONE }, { "no", GRAPH_NONE },
};
static const struct { const char *word; enum graph_value value; } values[] = {
	{ "percent", VALUE_PERCENT }, { "period", VALUE_PERIOD }, { "count", VALUE_COUNT },
};
static const struct { const char *word; enum tacho_callgraph_key key; } keys[] = {
	{ "function", TACHO_CALLGRAPH_FUNCTION }, { "address", TACHO_CALLGRAPH_ADDRESS },
	{ "srcline", TACHO_CALLGRAPH_SRCLINE },
};

static bool graph_style(struct graph_opts *g, struct str word)
{
	for (size_t i = 0; i < countof(styles); i++)
		if (str_is(word, styles[i].word)) {
			g->style = styles[i].style;
			return true;
		}
	return false;
}

static bool graph_word(struct graph_opts *g, struct str word)
{
	if (graph_style(g, word))
		return true;
	for (size_t i = 0; i < countof(values); i++)
		if (str_is(word, values[i].word)) {
			g->value = values[i].value;
			return true;
		}
	for (size_t i = 0; i < countof(keys); i++)
		if (str_is(word, keys[i].word)) {
			g->key = keys[i].key;
			return true;
		}
	if (!str_is(word, "caller") && !str_is(word, "callee"))
		return false;
	g->caller = str_is(word, "caller");
	g->order_given = true;
	return true;
}

static int refuse(const char *arg, struct str word, struct tacho_error *e)
{
	if (str_is(word, "branch"))
		error_set(e, -EINVAL, "branches are not shown within call graphs");
	else
		error_set(e, -EINVAL, "a call graph knows no '%.*s'", STR(word));
	error_at(e, (size_t)(word.s - arg), word.n);
	if (str_is(word, "branch"))
		error_hint(e, "-b shows them in a table of their own");
	else
		error_hint(e, "graph, fractal, flat, folded, none, caller, callee, function, address, srcline, "
			      "percent, period, count, or a number");
	return -EINVAL;
}

/* Arguments come in any order; the first number is the minimum per cent, the second one the most entries per level.
 * -g alone is what perf's help says, callers first also without children. */
int report_graph(struct graph_opts *g, const char *arg, struct tacho_error *e)
{
	struct str rest = str_of(arg ? arg : "graph,0.5,caller,function,percent"), word;
	unsigned numbers = 0;

	g->given = true;
	while (str_cut(&rest, ',', &word)) {
		double number;

		if (!word.n || graph_word(g, word))
			continue;
		if (num_double(word, &number) < 0 || number < 0 || numbers == 2)
			return refuse(arg, word, e);
		if (numbers++ == 0)
			g->min_percent = number;
		else
			g->print_limit = (uint32_t)min_of(number, (double)UINT32_MAX);
	}
	return 0;
}
