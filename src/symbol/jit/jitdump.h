/*
 * Reader of jitdump files, jit-PID.dump: what a JIT compiler writes for profilers, in versions 1 and 2 of the format and
 * in either byte order. Records are read one by one; the file may still grow. Nothing in the file is trusted.
 */
#ifndef SYMBOL_JITDUMP_H
#define SYMBOL_JITDUMP_H

#include "base/buf.h"

#include <sys/types.h>

#define JITDUMP_HEADER_BYTES 40u
#define JITDUMP_RECORD_BYTES 16u	/* header of each record */
#define JITDUMP_NAME_MAX 8192u		/* longer names are cut */
#define JITDUMP_DETAIL_MAX (16u << 20)	/* larger debug or unwinding records are skipped */
#define JITDUMP_CODE_MAX (1ull << 30)	/* larger functions are skipped */
#define JITDUMP_ARCH_TIMESTAMP 1u	/* flag: times are those of the CPU's counter */

enum jitdump_type {
	JITDUMP_LOAD,
	JITDUMP_MOVE,
	JITDUMP_DEBUG_INFO,
	JITDUMP_CLOSE,
	JITDUMP_UNWINDING_INFO,
	JITDUMP_TYPES,
	JITDUMP_INLINES = 0x5441,	/* our own: inlined functions, written by tacho's agent for Java */
};

struct jitdump_record {
	uint32_t type;
	uint64_t time;
	uint64_t index;			/* LOAD, MOVE: number of the function */
	uint64_t addr, size;		/* LOAD, MOVE: where the code is now */
	uint64_t old_addr;		/* MOVE */
	struct str name;		/* LOAD; untrusted text, valid until the next record */
	uint64_t code_offset;		/* LOAD: of the code's bytes in the file; 0: they are missing */
	uint64_t offset;		/* UNWINDING_INFO: of the unwinding data */
	uint64_t n_unwinding, n_eh_frame_hdr;	/* its bytes; those of .eh_frame_hdr at its end */
	const uint8_t *detail;		/* DEBUG_INFO, INLINES: its entries; valid until the next record */
	size_t n_detail;
	uint64_t n_entries;
};

struct jitdump_entry {			/* of DEBUG_INFO: a line begins at `addr` */
	uint64_t addr;
	uint32_t line;
	const char *file;		/* in the record */
	bool same_file;			/* as that of the entry before; `file` is empty */
};

struct jitdump_reader {
	int fd;
	bool swap;
	uint32_t version, machine, pid;	/* `machine`: ELF e_machine */
	uint64_t time, flags;		/* of the header */
	uint64_t position;		/* of the next record */
	struct buf window;		/* bytes of the file, from window_at */
	uint64_t window_at;
};

/* Opens a dump and reads its header. Anyone can write to /tmp, so the file must belong to root, to us or to `owner`, unless
 * `force` is set: else -EPERM. -EINVAL: not a regular file, -EBADMSG: no jitdump. */
int jitdump_open(struct jitdump_reader *r, const char *path, uid_t owner, bool force);
/* Returns 1, 0 at the end of the complete records (more may be appended later), or -ENOMEM, -EIO. Records of unknown
 * type and malformed ones are skipped. */
int jitdump_next(struct jitdump_reader *r, struct jitdump_record *out);
/* Takes the next entry of a DEBUG_INFO record, from *at on, which begins as 0. False: there is none. */
bool jitdump_entry(const struct jitdump_reader *r, const struct jitdump_record *rec, size_t *at, struct jitdump_entry *out);
/* Appends n bytes of the file. 0, -EBADMSG past its end, -ENOMEM, -EIO. */
int jitdump_bytes(const struct jitdump_reader *r, uint64_t offset, uint64_t n, struct buf *out);
void jitdump_close(struct jitdump_reader *r);

/* Whether the path is that of a dump: its base name is "jit-PID.dump". */
bool jitdump_is_path(const char *path);

#endif
