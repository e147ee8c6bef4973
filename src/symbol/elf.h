/*
 * A bounds-checked view of an ELF file, 32 or 64 bit, of either byte order: sections, segments,
 * notes. The file is read in pieces rather than mapped, because a mapped file that its owner
 * truncates (such as a running linker) kills the reader with SIGBUS. Nothing in a file is trusted: every
 * offset and size is checked against the length of the file before memory is allocated.
 */
#ifndef SYMBOL_ELF_H
#define SYMBOL_ELF_H

#include "symbol/span.h"

#include "base/buf.h"

#define ELF_PIECE_MAX (1ull << 30)	/* largest section that is read */
#define ELF_STEP 98304u		/* a multiple of entry sizes 8, 12, 16 and 24; fits into the CPU cache */
#define ELF_SECTIONS_MAX (1u << 20)
#define BUILD_ID_MAX 20

enum { ELF_SHT_SYMTAB = 2, ELF_SHT_STRTAB = 3, ELF_SHT_RELA = 4, ELF_SHT_NOTE = 7,
       ELF_SHT_NOBITS = 8, ELF_SHT_REL = 9, ELF_SHT_DYNSYM = 11 };
enum { ELF_PT_LOAD = 1, ELF_PT_INTERP = 3, ELF_PT_NOTE = 4 };
enum { ELF_ET_REL = 1, ELF_ET_EXEC = 2, ELF_ET_DYN = 3 };
enum { ELF_EM_386 = 3, ELF_EM_ARM = 40, ELF_EM_X86_64 = 62, ELF_EM_AARCH64 = 183,
       ELF_EM_RISCV = 243 };
#define ELF_SHF_ALLOC 2u
#define ELF_SHF_EXECINSTR 4u

struct elf_section {
	uint32_t name, type, link, info;
	uint64_t flags, addr, offset, size, entsize;
};

struct elf_segment {
	uint32_t type;
	uint64_t offset, vaddr, filesz, memsz;
};

struct elf {
	int fd;				/* -1: the file is in memory, at `bytes` */
	const uint8_t *bytes;
	uint64_t size;
	bool wide, swap;
	uint16_t type, machine;
	uint64_t entry;			/* address where the program starts; 0: none */
	struct elf_section *sections;
	size_t n_sections;
	struct elf_segment *segments;
	size_t n_segments;
	struct buf names;		/* section names */
	struct buf owned;		/* owner of `bytes`, after elf_open_owned() */
};

/* Returns 0, -ENOEXEC when it is not an ELF file, -EBADMSG when it is damaged, or another negative errno. */
int elf_open(struct elf *e, const char *path);
int elf_open_bytes(struct elf *e, const void *bytes, size_t n);	/* borrowed */
int elf_open_owned(struct elf *e, struct buf *bytes);	/* takes ownership, also on failure */
void elf_close(struct elf *e);

/* Appends n bytes of the file. Returns 0, -EBADMSG past its end, -EFBIG, -ENOMEM, -EIO. */
int elf_read(const struct elf *e, uint64_t offset, uint64_t n, struct buf *out);
int elf_read_section(const struct elf *e, const struct elf_section *s, struct buf *out);
/* elf_has_section() checks that a section can be read and returns 0 or the error of elf_read_section(). Then
 * elf_read_step(), called with *at = 0 first, replaces *out with the next ELF_STEP bytes; it returns 1, 0 at
 * the end, or the error of elf_read(). */
int elf_has_section(const struct elf *e, const struct elf_section *s);
int elf_read_step(const struct elf *e, const struct elf_section *s, uint64_t *at, struct buf *out);

const char *elf_section_name(const struct elf *e, const struct elf_section *s);
const struct elf_section *elf_find_section(const struct elf *e, const char *name);
const struct elf_section *elf_find_type(const struct elf *e, uint32_t type);

/* Converts an offset in a mapped file to an address, by its PT_LOAD segments; other segments must not be listed. */
uint64_t elf_offset_address(const struct elf_segment *loads, size_t n, uint64_t offset);
/* Cuts the span around `offset` to offsets in the same segment. False: it is in no segment. */
bool elf_offset_span(const struct elf_segment *loads, size_t n, uint64_t offset, struct span *out);

/* Returns the length of the build ID, or -ENOENT, -ENOMEM ... */
int elf_build_id(const struct elf *e, uint8_t out[BUILD_ID_MAX]);
int elf_notes_build_id(const uint8_t *bytes, size_t n, bool swap, uint8_t out[BUILD_ID_MAX]);
/* The file name in .gnu_debuglink; heap. -ENOENT without one. */
int elf_debuglink(const struct elf *e, char **out);

/* The byte order of a file, given whether it differs from that of this machine. */
static inline bool elf_is_big_endian(bool swap)
{
	static const uint16_t one = 1;
	bool host_big = *(const uint8_t *)&one == 0;

	return host_big != swap;
}

static inline uint64_t elf_uint(bool swap, const uint8_t *p, unsigned n)
{
	uint16_t half;
	uint32_t word;
	uint64_t xword;

	switch (n) {
	case 2:
		memcpy(&half, p, 2);
		return swap ? __builtin_bswap16(half) : half;
	case 4:
		memcpy(&word, p, 4);
		return swap ? __builtin_bswap32(word) : word;
	default:
		memcpy(&xword, p, 8);
		return swap ? __builtin_bswap64(xword) : xword;
	}
}

#endif
