#ifndef TACHO_AUXTRACE_H
#define TACHO_AUXTRACE_H

#include <tacho/symbol.h>

TACHO_BEGIN_DECLS

/*
 * Hardware traces in a recording: Intel PT and Arm SPE, whose data is in AUXTRACE records.
 *
 *	parse options -> expand -> open the result like any recording
 *
 * Expanding writes a second recording: the events and records of the first one without the trace, and the samples that
 * are decoded from it, as events of their own: instructions, branches, transactions, ptwrite ... All commands read it.
 */

/* What is synthesised from a trace: the options of --itrace. */
struct tacho_itrace {
	size_t size;
	bool instructions, branches, calls, returns, transactions, ptwrites, power, errors;
	bool callchain;			/* samples of instructions and transactions have a call chain ... */
	bool last_branches;		/* ... and their last branches */
	bool first_level_cache, last_level_cache, tlb, remote, memory;	/* Arm SPE */
	bool no_time;			/* ignore the times in the trace */
	bool hide_overflows, hide_lost;	/* errors that are not reported */
	uint32_t callchain_frames, n_last_branches;
	uint64_t period;		/* of samples of instructions; 0: all */
	enum { TACHO_ITRACE_INSTRUCTIONS, TACHO_ITRACE_TICKS, TACHO_ITRACE_NANOSECONDS } unit;
	uint64_t skip;			/* leave out this many samples at the start */
};

/* Sets what perf synthesises without options: samples of instructions each 100 us with call chains, branches ...; `every_branch`:
 * branches and no instructions, as in `script`. */
TACHO_API void tacho_itrace_default(struct tacho_itrace *out, bool every_branch);
/* Parses the letters of --itrace, "i100usbe". "" or NULL: the default. Returns 0, or -EINVAL or -EOPNOTSUPP with the position. */
TACHO_API int tacho_itrace_parse(struct tacho_itrace *out, const char *text, bool every_branch, struct tacho_error *e);

struct tacho_auxtrace_opts {
	size_t size;
	const struct tacho_itrace *itrace;	/* NULL: the default */
	const struct tacho_symbols_opts *symbols;	/* where objects are; may be NULL */
	bool force;			/* read files that belong to another user */
	bool pipe;			/* write the pipe format */
};

struct tacho_auxtrace_result {
	size_t size;
	uint64_t n_samples, n_errors;	/* written */
	uint64_t n_bytes;		/* of traces in the recording */
	uint64_t n_lost_bytes;		/* of traces that were skipped after errors */
	char kind[16];			/* "intel_pt", "arm_spe"; empty: the recording has no trace */
};

/*
 * Decodes the trace of a recording (a file, not a pipe) and writes it to `fd`, an empty file or a pipe.
 * Errors in the trace do not end decoding: it resumes at the next synchronization point, and an AUXTRACE_ERROR record says where.
 * Returns 0, -ENOENT if there is no trace, -EOPNOTSUPP if it is of an unknown kind or libipt is missing, -ENOMEM, -EBADMSG ...
 */
TACHO_API int tacho_auxtrace_expand(const char *path, int fd, const struct tacho_auxtrace_opts *opts,
				    struct tacho_auxtrace_result *result, struct tacho_error *e);

/* Flags of a synthesised sample. */
enum {
	TACHO_BRANCH = 1, TACHO_BRANCH_CALL = 2, TACHO_BRANCH_RETURN = 4, TACHO_BRANCH_CONDITIONAL = 8,
	TACHO_BRANCH_SYSCALL = 16, TACHO_BRANCH_ASYNC = 32, TACHO_BRANCH_INTERRUPT = 64, TACHO_BRANCH_TX_ABORT = 128,
	TACHO_BRANCH_TRACE_BEGIN = 256, TACHO_BRANCH_TRACE_END = 512, TACHO_BRANCH_IN_TX = 1024,
};

/* What a synthesised sample has beyond the fields of samples. */
struct tacho_insn_note {
	uint32_t flags;
	uint16_t n_bytes;		/* of the instruction; 0: unknown */
	uint16_t depth;			/* of calls, after a branch */
};
/* Returns whether the record is a sample with a note. */
TACHO_API bool tacho_insn_note_get(const struct tacho_record *rec, struct tacho_insn_note *out);
/* Formats flags as perf does: "call", "tr end  async", "jcc (x)". Returns `out`. */
TACHO_API const char *tacho_insn_flags_text(uint32_t flags, char out[64]);

/* Formats the raw data of a synthesised event, by the config of its attr: ptwrite, cbr, pwre ... Returns the length, 0 if it is
 * not one of them. */
TACHO_API size_t tacho_synth_text(uint64_t config, const uint8_t *raw, size_t n_raw, char *out, size_t room);

/* Lists the packets of a piece of trace, a line each, as perf script -D does. `kind` is the type in AUXTRACE_INFO. Each line goes
 * to `fn`. Returns 0, -EOPNOTSUPP, or what fn returned. */
TACHO_API int tacho_auxtrace_packets(uint32_t kind, const uint8_t *bytes, size_t n,
				     int (*fn)(void *arg, const char *line, size_t n), void *arg);

TACHO_END_DECLS
#endif
