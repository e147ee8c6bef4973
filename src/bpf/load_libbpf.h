/*
 * libbpf, loaded at run time by the first command that uses BPF, so that other commands do not pay for it. load_libbpf.c
 * defines the functions that are used here under their own names and forwards them to the library.
 */
#ifndef BPF_LOAD_LIBBPF_H
#define BPF_LOAD_LIBBPF_H

/* The functions are ours, so they are hidden like all inner symbols. Include this header before a skeleton. */
#define LIBBPF_API __attribute__((visibility("hidden")))

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>

#include <tacho/common.h>

/* Loads the library. 0, or -EOPNOTSUPP with a sentence and a hint. May be called often; not thread-safe. */
int libbpf_open(struct tacho_error *e);

/* The last message that libbpf reported, without a newline; empty: none. It names the program or map. */
const char *libbpf_last_message(void);
void libbpf_forget_message(void);
/* For libbpf_set_print(). */
int libbpf_keep_message(enum libbpf_print_level level, const char *fmt, va_list ap);

/* Fills in *e for a program that could not be loaded or attached: `err` is libbpf's error. Returns it. */
int libbpf_error(int err, struct tacho_error *e);

#endif
