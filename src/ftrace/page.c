/*
 * Decodes pages of the trace buffer. Every length is checked against the page.
 */
#include "ftrace/page.h"

#include <errno.h>

#include "base/num.h"

enum { EVENT_LENGTH_MAX = 28, EVENT_PADDING = 29, EVENT_TIME_EXTEND = 30, EVENT_TIME_STAMP = 31 };

/* Flags of the commit field. */
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)	/* their number is after the last event */
#define COMMIT_MASK ((1u << 30) - 1)

#define ABSOLUTE_TIME_BITS 59

/* The number after "WORD:" in a line of header_page: "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;" */
static bool find_number(struct str line, const char *word, size_t *out)
{
	const char *at = memmem(line.s, line.n, word, strlen(word));
	struct str rest, number;
	uint64_t value;

	if (!at)
		return false;
	rest = str_n(at + strlen(word), (size_t)(line.s + line.n - at) - strlen(word));
	if (!str_cut(&rest, ';', &number) || num_u64(number, &value) < 0 || value > 4096)
		return false;
	*out = (size_t)value;
	return true;
}

int trace_page_layout_parse(struct trace_page_layout *out, struct str text)
{
	struct trace_page_layout l = { 0 };
	struct str line;

	while (str_cut(&text, '\n', &line)) {
		if (memmem(line.s, line.n, " commit;", 8))
			find_number(line, "size:", &l.commit_size);
		else if (memmem(line.s, line.n, " data;", 6))
			find_number(line, "offset:", &l.data_offset);
	}
	if ((l.commit_size != 4 && l.commit_size != 8) || l.data_offset != 8 + l.commit_size)
		return -EBADMSG;
	*out = l;
	return 0;
}

static uint32_t read_u32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint64_t read_long(const uint8_t *at, size_t size)
{
	uint64_t v;

	if (size == 4)
		return read_u32(at);
	memcpy(&v, at, sizeof(v));
	return v;
}

int trace_page_begin(struct trace_page *p, const struct trace_page_layout *l, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	uint64_t commit;
	size_t used;

	if (n < l->data_offset)
		return -EBADMSG;
	commit = read_long(at + 8, l->commit_size);
	used = (size_t)(commit & COMMIT_MASK);
	if (used > n - l->data_offset)
		return -EBADMSG;
	*p = (struct trace_page){ .at = at + l->data_offset, .end = at + l->data_offset + used };
	memcpy(&p->time, at, sizeof(p->time));
	if (commit & MISSED_EVENTS)
		p->lost = UINT64_MAX;
	if ((commit & MISSED_STORED) && n - l->data_offset - used >= l->commit_size)
		p->lost = read_long(p->end, l->commit_size);
	return 0;
}

static void split_header(uint32_t header, unsigned *type, uint32_t *delta)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	*type = header >> 27;
	*delta = header & ((1u << 27) - 1);
#else
	*type = header & 31;
	*delta = header >> 5;
#endif
}

/* The whole time after an extension, of which the header has the low 27 bits. An absolute time lacks the top 5 bits. */
static uint64_t extended_time(const struct trace_page *p, unsigned type, uint32_t delta, uint32_t high)
{
	uint64_t value = (uint64_t)high << 27 | delta;
	uint64_t top = ~(((uint64_t)1 << ABSOLUTE_TIME_BITS) - 1);

	return type == EVENT_TIME_EXTEND ? p->time + value : (p->time & top) | (value & ~top);
}

int trace_page_next(struct trace_page *p, struct trace_page_event *out)
{
	while (p->end - p->at >= 4) {
		size_t left = (size_t)(p->end - p->at) - 4, n;
		const uint8_t *body = p->at + 4;
		uint32_t delta;
		unsigned type;

		split_header(read_u32(p->at), &type, &delta);
		if (type == EVENT_PADDING && !delta)
			return 0;		/* the rest of the page is empty */
		if ((!type || type > EVENT_LENGTH_MAX) && left < 4)
			return -EBADMSG;
		n = type && type <= EVENT_LENGTH_MAX ? type * 4 : type >= EVENT_TIME_EXTEND ? 4 : read_u32(body);
		if (n > left || (!type && n < 4))
			return -EBADMSG;
		/* In place of a length of 1 to 28 words, the first word is the length with itself; padded to words. */
		p->at = body + min_of((n + 3) & ~(size_t)3, left);
		if (type == EVENT_PADDING)
			continue;		/* a discarded event, whose time the kernel's reader ignores as well */
		p->time = type >= EVENT_TIME_EXTEND ? extended_time(p, type, delta, read_u32(body)) : p->time + delta;
		if (type >= EVENT_TIME_EXTEND)
			continue;
		*out = (struct trace_page_event){ .time = p->time, .data = type ? body : body + 4, .n = type ? n : n - 4 };
		return 1;
	}
	return 0;
}
