/*
 * Names as text. Names come from untrusted files: put_xml() escapes markup and replaces bytes that XML cannot represent.
 */
#include "output/output.h"

#include "base/json.h"

void put_label(struct buf *b, const struct tacho_profile_frame *f)
{
	if (f->known) {
		buf_puts(b, f->code->name);
	} else if (f->code->object) {
		bool bracketed = f->code->object_name[0] == '[';

		buf_printf(b, "%s%s%s", bracketed ? "" : "[", f->code->object_name, bracketed ? "" : "]");
	} else {
		buf_puts(b, "[unknown]");
	}
}

void put_line_label(struct buf *b, const struct tacho_profile_frame *f)
{
	const char *file = f->code->srcfile, *slash = file ? strrchr(file, '/') : NULL;

	put_label(b, f);
	if (file)
		buf_printf(b, " (%s:%u)", slash ? slash + 1 : file, f->srcline);
}

void put_label_json(struct buf *b, const struct tacho_profile_frame *f)
{
	scoped(buf_done) struct buf label = { 0 };

	put_label(&label, f);
	json_quote(b, buf_view(&label));
	b->bad |= label.bad;
}

/* The length of the multibyte UTF-8 sequence at the start of `s`, or 0 if it is replaced: not valid, a control
 * character, U+FFFE or U+FFFF, which XML does not allow. */
static size_t sequence_len(struct str s)
{
	size_t len = str_printable_len(s);
	uint32_t c = len ? str_utf8_code(s.s, len) : 0;

	return c == 0xfffe || c == 0xffff ? 0 : len;
}

static const char *entity(unsigned char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
	}
}

void put_xml(struct buf *b, struct str text)
{
	size_t plain = 0;

	for (size_t i = 0; i < text.n;) {
		const unsigned char *s = (const unsigned char *)text.s + i;
		size_t len = s[0] < 0x80 ? 1 : sequence_len(str_n(text.s + i, text.n - i));
		const char *replacement = s[0] < 0x80 ? entity(s[0]) : len ? NULL : "\xef\xbf\xbd";

		if (replacement) {
			buf_put(b, text.s + plain, i - plain);
			buf_puts(b, replacement);
			plain = i + 1;
		}
		i += max_of(len, (size_t)1);
	}
	if (plain < text.n)
		buf_put(b, text.s + plain, text.n - plain);
}

void put_build_id(struct buf *b, const struct tacho_profile_object *ob)
{
	for (size_t i = 0; i < ob->n_build_id && i < sizeof(ob->build_id); i++)
		buf_printf(b, "%02x", ob->build_id[i]);
}

void put_grouped(struct buf *b, uint64_t v)
{
	char digits[32];
	size_t at = sizeof(digits), n = 0;

	do {
		if (n && n % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + v % 10);
		n++;
	} while (v /= 10);
	buf_put(b, digits + at, sizeof(digits) - at);
}
