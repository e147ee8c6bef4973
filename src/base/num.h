/*
 * Checked number parsing over borrowed strings: the whole string has to be the number.
 * All return 0, -EINVAL (not a number) or -ERANGE, and write *out on success alone.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/str.h"

int num_u64(struct str s, uint64_t *out);	/* decimal, or hex after 0x */
int num_hex(struct str s, uint64_t *out);	/* hex, 0x optional */
int num_i64(struct str s, int64_t *out);
int num_u32(struct str s, uint32_t *out);
int num_int(struct str s, int *out);
int num_double(struct str s, double *out);	/* always with a decimal point, whatever the locale */
int num_bytes(struct str s, uint64_t *out);	/* 4096, 64K, 16M, 1G (also k, m, g, and a B) */
int num_duration_ns(struct str s, uint64_t *out); /* 10ms, 1.5s, 2m, 1h, 250us, 7ns */

/* Of hexadecimal digits, one more than each stands for; 0 for what is none. Nobody guesses right which
 * kind of digit comes next, so who reads many does not ask. */
extern const uint8_t num_hex_digit_plus_1[256];

/* a * b / c without overflow in between, rounded to nearest; saturates; c == 0 gives 0. */
uint64_t num_muldiv(uint64_t a, uint64_t b, uint64_t c);

#endif
