/*
 * Function names in lists and filters: "f(int, long)", "pair<int, int> g<int>(int)", "A::operator<<".
 */
#include "base/function_name.h"

/* The length of "operator" and the signs of the operator at the start of the text; 0: there is no operator. */
static size_t operator_length(struct str at)
{
	size_t n = strlen("operator");

	if (!str_starts(at, "operator"))
		return 0;
	while (n < at.n && strchr("<>=-", at.s[n]))
		n++;
	return n;
}

/* The index of the first comma outside of brackets, or -1; *closed: all brackets are closed. */
static ptrdiff_t separator(struct str text, bool *closed)
{
	unsigned depth = 0;

	for (size_t i = 0; i < text.n; i++) {
		size_t skipped = operator_length(str_n(text.s + i, text.n - i));
		char c = text.s[i];

		if (skipped)
			i += skipped - 1;
		else if (c == ',' && !depth)
			return (ptrdiff_t)i;
		else if (c == '(' || c == '[' || c == '<')
			depth++;
		else if ((c == ')' || c == ']' || (c == '>' && i && text.s[i - 1] != '-')) && depth)
			depth--;
	}
	*closed = !depth;
	return -1;
}

bool function_name_cut(struct str *rest, struct str *head)
{
	bool closed = true;
	ptrdiff_t at = separator(*rest, &closed);

	if (at < 0 && !closed)		/* not the brackets of a C++ name */
		return str_cut(rest, ',', head);
	if (!rest->s)
		return false;
	*head = str_n(rest->s, at < 0 ? rest->n : (size_t)at);
	*rest = at < 0 ? (struct str){ NULL, 0 } : str_n(rest->s + at + 1, rest->n - (size_t)at - 1);
	return true;
}

bool function_name_is(struct str asked, const char *name)
{
	size_t n = strlen(name);

	if (str_is(asked, name))
		return true;
	for (size_t i = 0; asked.n && i + asked.n < n; i++)
		if (name[i + asked.n] == '(' && (i == 0 || name[i - 1] == ' ') &&
		    memcmp(name + i, asked.s, asked.n) == 0)
			return true;
	return false;
}
