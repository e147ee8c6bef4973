/*
 * Checked number parsing. The whole string must be the number. All functions return 0, -EINVAL (not a
 * number) or -ERANGE, and write *out only on success.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/str.h"

int num_u64(struct str s, uint64_t *out);	/* decimal, or hexadecimal with 0x */
int num_hex(struct str s, uint64_t *out);	/* hexadecimal, 0x optional */
int num_i64(struct str s, int64_t *out);
int num_u32(struct str s, uint32_t *out);
int num_int(struct str s, int *out);
int num_double(struct str s, double *out);	/* decimal point, independent of the locale */
int num_bytes(struct str s, uint64_t *out);	/* 4096, 64K, 16M, 1G; also lower case and with a B */
int num_duration_ns(struct str s, uint64_t *out); /* 10ms, 1.5s, 2m, 1h, 250us, 7ns */

/* The value of a hexadecimal digit plus one; 0 for any other character. A table, because branches on the kind
 * of digit are unpredictable where many numbers are parsed. */
extern const uint8_t num_hex_digit_plus_1[256];

/* a * b / c without intermediate overflow, rounded to nearest, saturating; 0 if c is 0. */
uint64_t num_muldiv(uint64_t a, uint64_t b, uint64_t c);

#endif
