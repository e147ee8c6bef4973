/*
 * The format is described in the kernel's tools/perf/Documentation/jitdump-specification.txt. Details that writers in
 * use handle differently: V8 writes the wall clock into the header's timestamp, .NET writes version 2, whose records are
 * the same, and some writers leave out the bytes of the code.
 */
#include "symbol/jit/jitdump.h"

#include "symbol/elf.h"
#include "symbol/jit/perfmap.h"

#include "base/io.h"
#include "base/num.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x4a695444u
#define WINDOW_BYTES (256u << 10)
#define LOAD_BYTES 40u			/* before the name */
#define MOVE_BYTES 48u
#define DEBUG_BYTES 16u
#define UNWINDING_BYTES 24u
#define ENTRY_BYTES 16u			/* before the file name */

bool jitdump_is_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str base = str_of(slash ? slash + 1 : path);
	uint32_t pid;

	if (base.n < 10 || !str_starts(base, "jit-") || !str_ends(base, ".dump"))
		return false;
	return num_u32(str_n(base.s + 4, base.n - 9), &pid) == 0;
}

int jitdump_bytes(const struct jitdump_reader *r, uint64_t offset, uint64_t n, struct buf *out)
{
	char *to = buf_grow(out, (size_t)n + 1);

	if (!to)
		return -ENOMEM;
	for (uint64_t done = 0; done < n;) {
		ssize_t got = pread(r->fd, to + done, (size_t)(n - done), (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -EIO : -EBADMSG;
		done += (uint64_t)got;
	}
	out->n += (size_t)n;
	to[n] = '\0';
	return 0;
}

/* Fills the window with what the file has from `offset` on, up to n bytes. 0, -ENOMEM, -EIO. */
static int fill_window(struct jitdump_reader *r, uint64_t offset, size_t n)
{
	char *to;

	buf_clear(&r->window);
	r->window_at = offset;
	to = buf_grow(&r->window, n);
	if (!to)
		return -ENOMEM;
	while (r->window.n < n) {
		ssize_t got = pread(r->fd, to + r->window.n, n - r->window.n, (off_t)(offset + r->window.n));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -EIO;
		if (got == 0)
			break;
		r->window.n += (size_t)got;
	}
	return 0;
}

/* n bytes of the file; *out is NULL if it ends before. 0, -ENOMEM, -EIO. Valid until the next call. */
static int view(struct jitdump_reader *r, uint64_t offset, size_t n, const uint8_t **out)
{
	int err = 0;

	*out = NULL;
	if (offset > INT64_MAX - JITDUMP_CODE_MAX)
		return 0;
	if (offset < r->window_at || offset - r->window_at > r->window.n || r->window.n - (offset - r->window_at) < n)
		err = fill_window(r, offset, max_of(n, (size_t)WINDOW_BYTES));
	if (err < 0 || r->window.n - (offset - r->window_at) < n)
		return err;
	*out = (const uint8_t *)r->window.bytes + (offset - r->window_at);
	return 0;
}

static uint64_t u32_at(const struct jitdump_reader *r, const uint8_t *p)
{
	return elf_uint(r->swap, p, 4);
}

static uint64_t u64_at(const struct jitdump_reader *r, const uint8_t *p)
{
	return elf_uint(r->swap, p, 8);
}

static int read_header(struct jitdump_reader *r)
{
	const uint8_t *p;
	uint32_t magic, size;
	int err = view(r, 0, JITDUMP_HEADER_BYTES, &p);

	if (err < 0 || !p)
		return err < 0 ? err : -EBADMSG;
	memcpy(&magic, p, sizeof(magic));
	r->swap = magic == __builtin_bswap32(MAGIC);
	if (magic != MAGIC && !r->swap)
		return -EBADMSG;
	r->version = (uint32_t)u32_at(r, p + 4);
	size = (uint32_t)u32_at(r, p + 8);
	r->machine = (uint32_t)u32_at(r, p + 12);
	r->pid = (uint32_t)u32_at(r, p + 20);
	r->time = u64_at(r, p + 24);
	r->flags = u64_at(r, p + 32);
	r->position = size;
	return r->version >= 1 && r->version <= 2 && size >= JITDUMP_HEADER_BYTES && size <= 4096 ? 0 : -EBADMSG;
}

int jitdump_open(struct jitdump_reader *r, const char *path, uid_t owner, bool force)
{
	struct stat st;
	int err;

	*r = (struct jitdump_reader){ .fd = -1 };
	err = perfmap_open(path, owner, force, &st);
	if (err < 0)
		return err;
	r->fd = err;
	err = read_header(r);
	if (err < 0)
		jitdump_close(r);
	return err;
}

void jitdump_close(struct jitdump_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	buf_done(&r->window);
}

/* ---- records: 1: *out is filled, 0: malformed, or a negative errno ---- */

struct record_place {
	uint64_t at;			/* of the body */
	uint64_t n;			/* its bytes */
};

static int read_load(struct jitdump_reader *r, const struct record_place *at, struct jitdump_record *out)
{
	size_t n = (size_t)min_of(at->n, (uint64_t)(LOAD_BYTES + JITDUMP_NAME_MAX));
	const uint8_t *p, *end;
	int err = at->n > LOAD_BYTES ? view(r, at->at, n, &p) : -EBADMSG;

	if (err < 0 || !p)
		return err == -EBADMSG ? 0 : err;
	out->addr = u64_at(r, p + 16);
	out->size = u64_at(r, p + 24);
	out->index = u64_at(r, p + 32);
	end = memchr(p + LOAD_BYTES, 0, n - LOAD_BYTES);
	out->name = str_n((const char *)p + LOAD_BYTES, end ? (size_t)(end - p) - LOAD_BYTES : n - LOAD_BYTES);
	if (!out->size || out->size > JITDUMP_CODE_MAX || out->addr + out->size < out->addr)
		return 0;
	/* The code is at the end of the record, after the name. */
	out->code_offset = at->n - LOAD_BYTES > out->size ? at->at + at->n - out->size : 0;
	if (end && out->code_offset)
		out->code_offset = min_of(out->code_offset, at->at + (uint64_t)(end - p) + 1);
	return 1;
}

static int read_move(struct jitdump_reader *r, const struct record_place *at, struct jitdump_record *out)
{
	const uint8_t *p;
	int err = at->n >= MOVE_BYTES ? view(r, at->at, MOVE_BYTES, &p) : -EBADMSG;

	if (err < 0 || !p)
		return err == -EBADMSG ? 0 : err;
	out->old_addr = u64_at(r, p + 16);
	out->addr = u64_at(r, p + 24);
	out->size = u64_at(r, p + 32);
	out->index = u64_at(r, p + 40);
	return out->size && out->size <= JITDUMP_CODE_MAX && out->addr + out->size >= out->addr;
}

static int read_entries(struct jitdump_reader *r, const struct record_place *at, struct jitdump_record *out)
{
	const uint8_t *p;
	int err = at->n >= DEBUG_BYTES && at->n <= JITDUMP_DETAIL_MAX ? view(r, at->at, (size_t)at->n, &p) : -EBADMSG;

	if (err < 0 || !p)
		return err == -EBADMSG ? 0 : err;
	out->addr = u64_at(r, p);
	out->n_entries = u64_at(r, p + 8);
	out->detail = p + DEBUG_BYTES;
	out->n_detail = (size_t)at->n - DEBUG_BYTES;
	return 1;
}

static int read_unwinding(struct jitdump_reader *r, const struct record_place *at, struct jitdump_record *out)
{
	const uint8_t *p;
	int err = at->n >= UNWINDING_BYTES && at->n <= JITDUMP_DETAIL_MAX ? view(r, at->at, UNWINDING_BYTES, &p) : -EBADMSG;

	if (err < 0 || !p)
		return err == -EBADMSG ? 0 : err;
	out->n_unwinding = u64_at(r, p);
	out->n_eh_frame_hdr = u64_at(r, p + 8);
	out->offset = at->at + UNWINDING_BYTES;
	return out->n_unwinding <= at->n - UNWINDING_BYTES && out->n_eh_frame_hdr <= out->n_unwinding;
}

static int read_body(struct jitdump_reader *r, const struct record_place *at, struct jitdump_record *out)
{
	switch (out->type) {
	case JITDUMP_LOAD:
		return read_load(r, at, out);
	case JITDUMP_MOVE:
		return read_move(r, at, out);
	case JITDUMP_DEBUG_INFO:
	case JITDUMP_INLINES:
		return read_entries(r, at, out);
	case JITDUMP_UNWINDING_INFO:
		return read_unwinding(r, at, out);
	case JITDUMP_CLOSE:
		return 1;
	default:
		return 0;
	}
}

int jitdump_next(struct jitdump_reader *r, struct jitdump_record *out)
{
	const uint8_t *p, *last;
	int err, got;

	do {
		uint64_t n;

		err = view(r, r->position, JITDUMP_RECORD_BYTES, &p);
		if (err < 0 || !p)
			return err;
		*out = (struct jitdump_record){ .type = (uint32_t)u32_at(r, p), .time = u64_at(r, p + 8) };
		n = u32_at(r, p + 4);
		if (n < JITDUMP_RECORD_BYTES)
			return 0;	/* damaged: the position of the next record is unknown */
		err = view(r, r->position + n - 1, 1, &last);
		if (err < 0 || !last)	/* incomplete: its writer has not finished it, or was killed */
			return err;
		got = read_body(r, &(struct record_place){ r->position + JITDUMP_RECORD_BYTES, n - JITDUMP_RECORD_BYTES }, out);
		r->position += n;
	} while (got == 0);
	return got;
}

bool jitdump_entry(const struct jitdump_reader *r, const struct jitdump_record *rec, size_t *at, struct jitdump_entry *out)
{
	const uint8_t *p = rec->detail + *at, *end;
	size_t left = rec->n_detail - *at;

	if (left <= ENTRY_BYTES)
		return false;
	end = memchr(p + ENTRY_BYTES, 0, left - ENTRY_BYTES);
	if (!end)
		return false;
	out->addr = u64_at(r, p);
	out->line = (uint32_t)u32_at(r, p + 8);
	out->file = (const char *)p + ENTRY_BYTES;
	out->same_file = p[ENTRY_BYTES] == 0xff && p + ENTRY_BYTES + 1 == end;
	*at += (size_t)(end - p) + 1;
	return true;
}
