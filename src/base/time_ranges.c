/*
 * Parsing of time ranges; see time_ranges.h for the syntax.
 */
#include "base/time_ranges.h"

#include "base/num.h"

#include <errno.h>

#define NS_PER_S 1000000000ull

static int error_bad_range(const char *text, struct str part, struct tacho_error *e)
{
	error_set(e, -EINVAL, "'%.*s' is not a range of time", STR(part));
	error_at(e, (size_t)(part.s - text), part.n);
	error_hint(e, "seconds as 12.5,13 or shares as 10%%-20%% or 10%%/2");
	return -EINVAL;
}

/* Seconds with up to nine decimals, exactly; later than the clock can show is the end of the clock. */
static int parse_ns(struct str s, uint64_t *out)
{
	ptrdiff_t point = str_find(s, '.');
	struct str whole = point < 0 ? s : str_n(s.s, (size_t)point);
	uint64_t seconds = 0, ns = 0, scale = NS_PER_S;

	if (!s.n || (whole.n && num_u64(whole, &seconds) < 0))
		return -EINVAL;
	for (size_t i = whole.n + 1; i < s.n; i++) {
		if (s.s[i] < '0' || s.s[i] > '9')
			return -EINVAL;
		scale /= 10;
		ns += (uint64_t)(s.s[i] - '0') * scale;
	}
	*out = seconds < UINT64_MAX / NS_PER_S ? seconds * NS_PER_S + ns : UINT64_MAX;
	return 0;
}

static int parse_window(struct time_ranges *r, struct str part, bool allow_single)
{
	struct time_window w = { 0, UINT64_MAX }, *slot;
	struct str to = part, from;

	str_cut(&to, ',', &from);
	to = str_trim(to);
	if ((!from.n && !to.n) || (!allow_single && str_find(part, ',') < 0))
		return -EINVAL;
	if (from.n && parse_ns(from, &w.from_ns) < 0)
		return -EINVAL;
	if (to.n && parse_ns(to, &w.to_ns) < 0)
		return -EINVAL;
	if (w.to_ns < w.from_ns)
		return -EINVAL;
	slot = vec_add(&r->windows);
	if (!slot)
		return -ENOMEM;
	*slot = w;
	return 0;
}

static int parse_percent(struct str s, double *out)
{
	if (!str_ends(s, "%"))
		return -EINVAL;
	s.n--;
	return num_double(s, out) < 0 || *out < 0 || *out > 100 ? -EINVAL : 0;
}

static int parse_share(struct time_ranges *r, struct str part)
{
	struct time_share sh = { 0 }, *slot;
	struct str rest = part, head;
	double width;
	uint32_t index;

	if (str_find(part, '/') >= 0) {
		str_cut(&rest, '/', &head);
		if (parse_percent(head, &width) < 0 || num_u32(rest, &index) < 0 || !index ||
		    width <= 0)
			return -EINVAL;
		sh.from = min_of(width * (index - 1), 100.0);
		sh.to = min_of(width * index, 100.0);
		if (sh.from >= 100)
			return -EINVAL;
	} else if (str_find(part, '-') >= 0) {
		str_cut(&rest, '-', &head);
		if (parse_percent(head, &sh.from) < 0 || parse_percent(rest, &sh.to) < 0 ||
		    sh.to < sh.from)
			return -EINVAL;
	} else if (parse_percent(part, &sh.to) < 0) {
		return -EINVAL;
	}
	slot = vec_add(&r->shares);
	if (!slot)
		return -ENOMEM;
	*slot = sh;
	return 0;
}

/* Like str_cut() at blanks, but "1, 2" is one part. */
static bool cut_window(struct str *rest, struct str *part)
{
	struct str after, next;

	if (!str_cut(rest, ' ', part))
		return false;
	after = str_trim(*rest);
	if (part->n > 1 && part->s[part->n - 1] == ',' && str_cut(&after, ' ', &next) && next.n && str_find(next, ',') < 0) {
		*part = str_n(part->s, (size_t)(next.s + next.n - part->s));
		*rest = after;
	}
	return true;
}

int time_ranges_parse(struct time_ranges *r, const char *text, bool allow_single, struct tacho_error *e)
{
	bool shares = strchr(text, '%') != NULL;
	struct str rest = str_of(text), part;
	int err;

	while (shares ? str_cut(&rest, ',', &part) : cut_window(&rest, &part)) {
		if (!part.n)
			continue;
		err = shares ? parse_share(r, str_trim(part)) : parse_window(r, part, allow_single);
		if (err == -ENOMEM)
			return error_nomem(e);
		if (err < 0)
			return error_bad_range(text, part, e);
	}
	if (!r->windows.n && !r->shares.n)
		return error_bad_range(text, str_of(text), e);
	return 0;
}

size_t time_ranges_resolve(const struct time_ranges *r, uint64_t first_ns, uint64_t last_ns, struct time_window *out)
{
	double length = (double)(last_ns - first_ns);
	size_t n = 0;

	for (size_t i = 0; i < r->windows.n; i++)
		out[n++] = r->windows.v[i];
	for (size_t i = 0; i < r->shares.n; i++, n++) {
		const struct time_share *sh = &r->shares.v[i];

		out[n].from_ns = first_ns + (uint64_t)(length * sh->from / 100);
		out[n].to_ns = sh->to >= 100 ? last_ns : first_ns + (uint64_t)(length * sh->to / 100);
		/* Adjacent shares must not both include the nanosecond between them. */
		if (sh->to < 100 && out[n].to_ns > out[n].from_ns)
			out[n].to_ns--;
	}
	return n;
}

void time_ranges_done(struct time_ranges *r)
{
	vec_done(&r->windows);
	vec_done(&r->shares);
}
