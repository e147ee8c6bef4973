/*
 * Reads the ELF header, section and segment tables, notes, and ranges of the file.
 */
#include "symbol/elf.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define U16(e, p) ((uint16_t)elf_uint((e)->swap, (p), 2))
#define U32(e, p) ((uint32_t)elf_uint((e)->swap, (p), 4))
#define U64(e, p) elf_uint((e)->swap, (p), 8)
#define NT_GNU_BUILD_ID 3
#define SHN_XINDEX 0xffffu

static int check_piece(const struct elf *e, uint64_t offset, uint64_t n)
{
	if (offset > e->size || n > e->size - offset)
		return -EBADMSG;
	return n > ELF_PIECE_MAX ? -EFBIG : 0;
}

int elf_read(const struct elf *e, uint64_t offset, uint64_t n, struct buf *out)
{
	int err = check_piece(e, offset, n);
	char *at;

	if (err < 0)
		return err;
	at = buf_grow(out, (size_t)n + 1);	/* so that appending a NUL does not reallocate */
	if (!at)
		return -ENOMEM;
	if (e->fd < 0) {
		if (n)
			memcpy(at, e->bytes + offset, (size_t)n);
	} else {
		for (uint64_t done = 0; done < n;) {
			ssize_t got = pread(e->fd, at + done, (size_t)(n - done), (off_t)(offset + done));

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return got < 0 ? -errno : -EBADMSG;
			done += (uint64_t)got;
		}
	}
	out->n += (size_t)n;
	out->bytes[out->n] = '\0';
	return 0;
}

int elf_has_section(const struct elf *e, const struct elf_section *s)
{
	return s->type == ELF_SHT_NOBITS ? -ENODATA : check_piece(e, s->offset, s->size);
}

int elf_read_section(const struct elf *e, const struct elf_section *s, struct buf *out)
{
	int err = elf_has_section(e, s);

	return err < 0 ? err : elf_read(e, s->offset, s->size, out);
}

int elf_read_step(const struct elf *e, const struct elf_section *s, uint64_t *at, struct buf *out)
{
	uint64_t n = min_of(s->size - *at, (uint64_t)ELF_STEP);
	int err;

	buf_clear(out);
	if (!n)
		return 0;
	err = elf_read(e, s->offset + *at, n, out);
	*at += n;
	return err < 0 ? err : 1;
}

const char *elf_section_name(const struct elf *e, const struct elf_section *s)
{
	return s->name < e->names.n ? e->names.bytes + s->name : "";
}

const struct elf_section *elf_find_section(const struct elf *e, const char *name)
{
	for (size_t i = 0; i < e->n_sections; i++)
		if (strcmp(elf_section_name(e, &e->sections[i]), name) == 0)
			return &e->sections[i];
	return NULL;
}

const struct elf_section *elf_find_type(const struct elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->n_sections; i++)
		if (e->sections[i].type == type)
			return &e->sections[i];
	return NULL;
}

static struct elf_section section_of(const struct elf *e, const uint8_t *p)
{
	if (e->wide)
		return (struct elf_section){
			.name = U32(e, p), .type = U32(e, p + 4), .flags = U64(e, p + 8),
			.addr = U64(e, p + 16), .offset = U64(e, p + 24), .size = U64(e, p + 32),
			.link = U32(e, p + 40), .info = U32(e, p + 44), .entsize = U64(e, p + 56),
		};
	return (struct elf_section){
		.name = U32(e, p), .type = U32(e, p + 4), .flags = U32(e, p + 8),
		.addr = U32(e, p + 12), .offset = U32(e, p + 16), .size = U32(e, p + 20),
		.link = U32(e, p + 24), .info = U32(e, p + 28), .entsize = U32(e, p + 36),
	};
}

static struct elf_segment segment_of(const struct elf *e, const uint8_t *p)
{
	if (e->wide)
		return (struct elf_segment){
			.type = U32(e, p), .offset = U64(e, p + 8), .vaddr = U64(e, p + 16),
			.filesz = U64(e, p + 32), .memsz = U64(e, p + 40),
		};
	return (struct elf_segment){
		.type = U32(e, p), .offset = U32(e, p + 4), .vaddr = U32(e, p + 8),
		.filesz = U32(e, p + 16), .memsz = U32(e, p + 20),
	};
}

static int read_segments(struct elf *e, uint64_t offset, size_t n, size_t each)
{
	scoped(buf_done) struct buf raw = { 0 };
	int err;

	if (n == 0)
		return 0;
	if (each < (e->wide ? 56u : 32u))
		return -EBADMSG;
	err = elf_read(e, offset, (uint64_t)n * each, &raw);
	if (err < 0)
		return err;
	e->segments = calloc(n, sizeof(*e->segments));
	if (!e->segments)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		e->segments[i] = segment_of(e, (const uint8_t *)raw.bytes + i * each);
	e->n_segments = n;
	return 0;
}

/* A file with 65280 or more sections stores their number, and the index of the section name table, in
 * the first section header. */
static int section_counts(struct elf *e, uint64_t offset, size_t each, size_t *n, uint32_t *names)
{
	scoped(buf_done) struct buf raw = { 0 };
	struct elf_section first;
	int err = elf_read(e, offset, each, &raw);

	if (err < 0)
		return err;
	first = section_of(e, (const uint8_t *)raw.bytes);
	if (*n == 0) {
		if (first.size > ELF_SECTIONS_MAX)
			return -EBADMSG;
		*n = (size_t)first.size;
	}
	if (*names == SHN_XINDEX)
		*names = first.link;
	return 0;
}

static int read_sections(struct elf *e, uint64_t offset, size_t n, size_t each, uint32_t names)
{
	scoped(buf_done) struct buf raw = { 0 };
	int err;

	if (offset == 0)
		return 0;
	if (each < (e->wide ? 64u : 40u))
		return n ? -EBADMSG : 0;
	if (n == 0 || names == SHN_XINDEX) {
		err = section_counts(e, offset, each, &n, &names);
		if (err < 0)
			return err;
	}
	err = elf_read(e, offset, (uint64_t)n * each, &raw);
	if (err < 0)
		return err;
	e->sections = calloc(n ? n : 1, sizeof(*e->sections));
	if (!e->sections)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		e->sections[i] = section_of(e, (const uint8_t *)raw.bytes + i * each);
	e->n_sections = n;
	if (names >= n || e->sections[names].type == ELF_SHT_NOBITS)
		return 0;
	err = elf_read_section(e, &e->sections[names], &e->names);
	return err == -ENOMEM ? err : 0;	/* sections without names are still useful */
}

static int read_tables(struct elf *e)
{
	scoped(buf_done) struct buf raw = { 0 };
	const uint8_t *h;
	bool big, host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	int err;

	if (e->size < 52)
		return -ENOEXEC;
	err = elf_read(e, 0, min_of(e->size, 64u), &raw);
	if (err < 0)
		return err;
	h = (const uint8_t *)raw.bytes;
	if (memcmp(h, "\177ELF", 4) != 0 || h[4] < 1 || h[4] > 2 || h[5] < 1 || h[5] > 2)
		return -ENOEXEC;
	e->wide = h[4] == 2;
	big = h[5] == 2;
	e->swap = big != host_big;
	if (e->wide && raw.n < 64)
		return -EBADMSG;
	e->type = U16(e, h + 16);
	e->machine = U16(e, h + 18);
	e->entry = e->wide ? U64(e, h + 24) : U32(e, h + 24);
	if (e->wide)
		err = read_segments(e, U64(e, h + 32), U16(e, h + 56), U16(e, h + 54));
	else
		err = read_segments(e, U32(e, h + 28), U16(e, h + 44), U16(e, h + 42));
	if (err < 0)
		return err;
	if (e->wide)
		return read_sections(e, U64(e, h + 40), U16(e, h + 60), U16(e, h + 58), U16(e, h + 62));
	return read_sections(e, U32(e, h + 32), U16(e, h + 48), U16(e, h + 46), U16(e, h + 50));
}

int elf_open(struct elf *e, const char *path)
{
	struct stat st;
	int err;

	*e = (struct elf){ .fd = -1 };
	err = io_open_regular(path);
	if (err < 0)
		return err == -EINVAL ? -ENOEXEC : err;
	e->fd = err;
	if (fstat(e->fd, &st) < 0) {
		err = -errno;
	} else {
		e->size = (uint64_t)st.st_size;
		err = read_tables(e);
	}
	if (err < 0)
		elf_close(e);
	return err;
}

int elf_open_bytes(struct elf *e, const void *bytes, size_t n)
{
	int err;

	*e = (struct elf){ .fd = -1, .bytes = bytes, .size = n };
	err = read_tables(e);
	if (err < 0)
		elf_close(e);
	return err;
}

int elf_open_owned(struct elf *e, struct buf *bytes)
{
	struct buf owned = *bytes;
	int err;

	*bytes = (struct buf){ 0 };
	*e = (struct elf){ .fd = -1, .bytes = (const uint8_t *)owned.bytes, .size = owned.n,
			   .owned = owned };
	err = read_tables(e);
	if (err < 0)
		elf_close(e);
	return err;
}

void elf_close(struct elf *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e->sections);
	free(e->segments);
	buf_done(&e->names);
	buf_done(&e->owned);
	*e = (struct elf){ .fd = -1 };
}

int elf_notes_build_id(const uint8_t *bytes, size_t n, bool swap, uint8_t out[BUILD_ID_MAX])
{
	size_t at = 0;

	while (n - at >= 12) {
		uint64_t name = elf_uint(swap, bytes + at, 4), desc = elf_uint(swap, bytes + at + 4, 4);
		uint64_t type = elf_uint(swap, bytes + at + 8, 4);
		uint64_t name_room = (name + 3) & ~3ull, desc_room = (desc + 3) & ~3ull;

		at += 12;
		if (name_room > n - at || desc > n - at - name_room)
			break;
		if (type == NT_GNU_BUILD_ID && name == 4 && desc && memcmp(bytes + at, "GNU", 4) == 0) {
			size_t take_n = min_of(desc, (uint64_t)BUILD_ID_MAX);

			memcpy(out, bytes + at + name_room, take_n);
			return (int)take_n;
		}
		if (desc_room > n - at - name_room)
			break;
		at += name_room + desc_room;
	}
	return -ENOENT;
}

static int note_at(const struct elf *e, uint64_t offset, uint64_t n, uint8_t out[BUILD_ID_MAX])
{
	scoped(buf_done) struct buf raw = { 0 };
	int err;

	if (n > (1u << 20))
		return -ENOENT;		/* notes are small */
	err = elf_read(e, offset, n, &raw);
	if (err < 0)
		return err == -ENOMEM ? err : -ENOENT;
	return elf_notes_build_id((const uint8_t *)raw.bytes, raw.n, e->swap, out);
}

int elf_build_id(const struct elf *e, uint8_t out[BUILD_ID_MAX])
{
	const struct elf_section *named = elf_find_section(e, ".note.gnu.build-id");
	int got = -ENOENT;

	if (named && named->type == ELF_SHT_NOTE)
		got = note_at(e, named->offset, named->size, out);
	for (size_t i = 0; got == -ENOENT && i < e->n_sections; i++)
		if (e->sections[i].type == ELF_SHT_NOTE && &e->sections[i] != named)
			got = note_at(e, e->sections[i].offset, e->sections[i].size, out);
	for (size_t i = 0; got == -ENOENT && i < e->n_segments; i++)
		if (e->segments[i].type == ELF_PT_NOTE)
			got = note_at(e, e->segments[i].offset, e->segments[i].filesz, out);
	return got;
}

int elf_debuglink(const struct elf *e, char **out)
{
	const struct elf_section *s = elf_find_section(e, ".gnu_debuglink");
	scoped(buf_done) struct buf raw = { 0 };
	char *name;
	int err;

	if (!s || s->size < 2 || s->size > 4096)
		return -ENOENT;
	err = elf_read_section(e, s, &raw);
	if (err < 0)
		return err == -ENOMEM ? err : -ENOENT;
	/* A name with a slash could leave the debug directories. */
	if (raw.bytes[0] == '\0' || strchr(raw.bytes, '/'))
		return -ENOENT;
	name = strdup(raw.bytes);
	if (!name)
		return -ENOMEM;
	*out = name;
	return 0;
}

bool elf_offset_span(const struct elf_segment *loads, size_t n, uint64_t offset, struct span *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *s = &loads[i];

		span_cut_at_edges(out, offset, s->offset, s->filesz);
		if (offset >= s->offset && offset - s->offset < s->filesz)
			return true;
	}
	return false;
}

uint64_t elf_offset_address(const struct elf_segment *loads, size_t n, uint64_t offset)
{
	const struct elf_segment *near = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct elf_segment *s = &loads[i];

		if (offset >= s->offset && offset - s->offset < s->filesz)
			return offset - s->offset + s->vaddr;
		/* Segments are mapped in whole pages, so the rest of the first page belongs to it too. */
		if (offset >= (s->offset & ~4095ull) && (!near || s->offset > near->offset))
			near = s;
	}
	return near ? offset - near->offset + near->vaddr : offset;
}
