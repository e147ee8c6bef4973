/*
 * Writes keys and strings as TOML. The escapes that the JSON writer emits are valid in TOML, too.
 */
#include "base/toml.h"

#include "base/json.h"

void toml_quote(struct buf *out, struct str s)
{
	json_quote(out, s);
}

void toml_key(struct buf *out, struct str s)
{
	bool bare = s.n > 0;

	for (size_t i = 0; i < s.n; i++)
		bare &= (s.s[i] >= '0' && s.s[i] <= '9') || (s.s[i] >= 'a' && s.s[i] <= 'z') ||
			(s.s[i] >= 'A' && s.s[i] <= 'Z') || s.s[i] == '_' || s.s[i] == '-';
	if (bare)
		buf_str(out, s);
	else
		toml_quote(out, s);
}
