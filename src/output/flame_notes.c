/*
 * The notes below a flame graph: what makes it incomplete, and how to fix that. A note is two paragraphs, which are wrapped to
 * the width of the picture, because SVG text is not wrapped.
 */
#include "output/flame.h"

#include <errno.h>

#define SIDE 10
#define LINE 16
#define LETTER_WIDTH 6.6	/* in pixels, on average, of the 12 pixel proportional font */

static int add_note(void *arg, const struct tacho_profile_note *note)
{
	struct flame *f = arg;
	scoped(buf_done) struct buf fix = { 0 };
	int err = strlist_add(&f->notes, str_of(note->problem));

	if (err < 0 || !note->fix)
		return err;
	buf_printf(&fix, "Fix: %s", note->fix);
	return buf_failed(&fix) ? -ENOMEM : strlist_add(&f->notes, buf_view(&fix));
}

int flame_notes_init(struct flame *f)
{
	return tacho_profile_notes(f->o->p, add_note, f);
}

/* Takes the first line off `text`: up to the last blank that fits, or a whole word that is longer. */
static struct str next_line(const struct flame *f, struct str *text)
{
	size_t room = (size_t)((f->width - 2 * SIDE) / LETTER_WIDTH), n = text->n;
	struct str line;

	if (n > room) {
		n = room;
		while (n && text->s[n] != ' ')
			n--;
		if (!n)
			while (n < text->n && text->s[n] != ' ')
				n++;
	}
	line = str_n(text->s, n);
	*text = str_n(text->s + n, text->n - n);
	if (text->n)
		*text = str_n(text->s + 1, text->n - 1);
	return line;
}

unsigned flame_notes_height(const struct flame *f)
{
	unsigned lines = 0;

	for (size_t i = 0; i < f->notes.n; i++) {
		struct str text = str_of(f->notes.v[i]);

		for (; text.n; lines++)
			next_line(f, &text);
	}
	return lines ? lines * LINE + LINE / 2 : 0;
}

void flame_put_notes(const struct flame *f, struct buf *b, unsigned y)
{
	if (!f->notes.n)
		return;
	buf_puts(b, "<g id=\"notes\">\n");
	for (size_t i = 0; i < f->notes.n; i++) {
		struct str text = str_of(f->notes.v[i]);
		const char *class = str_starts(text, "Fix: ") ? "fix" : "problem";

		for (; text.n; y += LINE) {
			buf_printf(b, "<text class=\"%s\" x=\"%d\" y=\"%u\">", class, SIDE, y + LINE);
			put_xml(b, next_line(f, &text));
			buf_puts(b, "</text>\n");
		}
	}
	buf_puts(b, "</g>\n");
}
