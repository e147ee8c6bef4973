/*
 * Static probes: markers that a program places with sys/sdt.h (SDT, USDT). Each is a note in .note.stapsdt:
 *
 *	address, base, semaphore	three words
 *	"provider" "name" "args"	NUL-terminated
 *
 * `base` is the address of .stapsdt.base when the program was linked; if a tool has moved the section since (prelink), all
 * addresses have moved with it. A name may occur any number of times, also with different semaphores.
 */
#include "probe/site.h"

#include <errno.h>

#include "base/vec.h"

#define NOTE_STAPSDT 3u
#define STATICS_MAX 1000000u

struct note {
	const uint8_t *at, *end;
};

static size_t aligned(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The next NUL-terminated string, or NULL. */
static const char *take_string(struct note *n)
{
	const uint8_t *zero = n->at < n->end ? memchr(n->at, 0, (size_t)(n->end - n->at)) : NULL;
	const char *text = (const char *)n->at;

	if (!zero)
		return NULL;
	n->at = zero + 1;
	return text;
}

static uint64_t take_word(const struct elf *e, struct note *n)
{
	unsigned size = e->wide ? 8 : 4;
	uint64_t v;

	if ((size_t)(n->end - n->at) < size) {
		n->at = n->end;
		return 0;
	}
	v = elf_uint(e->swap, n->at, size);
	n->at += size;
	return v;
}

static int add_note(struct probe_statics *s, const struct elf *e, const struct elf_section *base_section, struct note n)
{
	uint64_t address = take_word(e, &n), base = take_word(e, &n), semaphore = take_word(e, &n);
	const char *provider = take_string(&n), *name = take_string(&n), *args = take_string(&n);
	uint64_t moved = base_section && base ? base_section->addr - base : 0;
	struct probe_static *probe;

	if (!provider || !name || !args || !*provider || !*name)
		return -EBADMSG;
	if (s->n >= STATICS_MAX)
		return -EFBIG;
	probe = vec_add(s);
	if (!probe)
		return -ENOMEM;
	probe->address = address + moved;
	probe->semaphore = semaphore ? semaphore + moved : 0;
	probe->provider = arena_text(&s->text, str_of(provider));
	probe->name = arena_text(&s->text, str_of(name));
	probe->args = arena_text(&s->text, str_of(args));
	return probe->provider && probe->name && probe->args ? 0 : -ENOMEM;
}

static int read_notes(struct probe_statics *s, const struct elf *e, const struct buf *bytes)
{
	const struct elf_section *base_section = elf_find_section(e, ".stapsdt.base");
	const uint8_t *p = (const uint8_t *)bytes->bytes, *end = p + bytes->n;
	int err = 0;

	while (err >= 0 && end - p >= 12) {
		size_t n_name = elf_uint(e->swap, p, 4), n_desc = elf_uint(e->swap, p + 4, 4);
		uint32_t type = (uint32_t)elf_uint(e->swap, p + 8, 4);
		const uint8_t *name = p + 12;

		if (n_name > bytes->n || n_desc > bytes->n || aligned(n_name) + n_desc > (size_t)(end - name))
			return -EBADMSG;
		p = name + aligned(n_name);
		if (type == NOTE_STAPSDT && n_name == 8 && memcmp(name, "stapsdt", 8) == 0)
			err = add_note(s, e, base_section, (struct note){ p, p + n_desc });
		p += min_of(aligned(n_desc), (size_t)(end - p));
	}
	return err;
}

int probe_statics_read(struct probe_statics *s, const struct elf *e)
{
	const struct elf_section *section = elf_find_section(e, ".note.stapsdt");
	scoped(buf_done) struct buf bytes = { 0 };
	int err = section ? elf_read_section(e, section, &bytes) : 0;

	if (err < 0 || !bytes.n)
		return err == -ENODATA ? 0 : err;
	return read_notes(s, e, &bytes);
}

void probe_statics_done(struct probe_statics *s)
{
	vec_done(s);
	arena_done(&s->text);
}

/* Where the nearest names are, for the message. */
static int refuse_unknown(const struct probe_object *o, const struct probe_statics *all, const struct probe_point *p,
			  struct tacho_error *e)
{
	struct str_nearest near = { .word = str_of(p->sdt_name) };

	if (!all->n) {
		error_set(e, -ENOENT, "'%s' has no static probes", o->path);
		error_hint(e, "they are defined with the macros of sys/sdt.h when a program is built");
		return -ENOENT;
	}
	error_set(e, -ENOENT, "'%s' has no static probe '%s:%s'", o->path, p->provider, p->sdt_name);
	for (size_t i = 0; i < all->n; i++)
		str_nearest_try(&near, str_of(all->v[i].name));
	for (size_t i = 0; near.best.n && i < all->n; i++)
		if (str_is(near.best, all->v[i].name)) {
			error_hint(e, "did you mean '%%%s:%s'?", all->v[i].provider, all->v[i].name);
			return -ENOENT;
		}
	error_hint(e, "it has %zu static probes, such as %%%s:%s", all->n, all->v[0].provider, all->v[0].name);
	return -ENOENT;
}

static int add_static(struct probe_object *o, const struct probe_request *r, const struct probe_static *probe,
		      struct probe_sites *out, struct tacho_error *e)
{
	scoped(buf_done) struct buf args = { 0 };
	struct probe_site site = { .address = probe->address, .semaphore = probe->semaphore, .function = probe->name,
				   .provider = probe->provider };
	int err = r->args.n ? probe_raw_arguments(r, &args, e) :
		  probe_static_arguments(o->own.machine, probe->args, &args);

	if (err < 0)
		return err == -ENOMEM ? error_nomem(e) : err;
	buf_putc(&args, '\0');
	if (buf_failed(&args))
		return error_nomem(e);
	site.args = args.bytes;
	return probe_sites_add(out, &site, e);
}

int probe_find_static(struct probe_object *o, const struct probe_request *r, struct probe_sites *out, struct tacho_error *e)
{
	struct str provider = str_of(r->point.provider), name = str_of(r->point.sdt_name);
	struct probe_statics all = { 0 };
	size_t before = out->n;
	int err = probe_statics_read(&all, &o->own);

	if (err < 0 && err != -EBADMSG)
		error_set(e, err, "cannot read the static probes of '%s': %s", o->path, strerror(-err));
	if (err == -EBADMSG)
		err = all.n ? 0 : error_set(e, err, "the notes of the static probes of '%s' are damaged", o->path);
	for (size_t i = 0; err >= 0 && i < all.n; i++)
		if (str_glob(provider, str_of(all.v[i].provider)) && str_glob(name, str_of(all.v[i].name)))
			err = add_static(o, r, &all.v[i], out, e);
	if (err >= 0 && out->n == before)
		err = refuse_unknown(o, &all, &r->point, e);
	probe_statics_done(&all);
	return err < 0 ? err : 0;
}
