/*
 * libipt, Intel's decoder of Intel PT. Its header is needed to build, the library is loaded at run time.
 */
#ifndef AUXTRACE_LIBIPT_H
#define AUXTRACE_LIBIPT_H

#include <intel-pt.h>

struct libipt {
	__typeof__(&pt_errstr) errstr;
	__typeof__(&pt_cpu_errata) cpu_errata;
	__typeof__(&pt_image_alloc) image_alloc;
	__typeof__(&pt_image_free) image_free;
	__typeof__(&pt_image_set_callback) image_set_callback;
	__typeof__(&pt_insn_alloc_decoder) insn_alloc;
	__typeof__(&pt_insn_free_decoder) insn_free;
	__typeof__(&pt_insn_sync_forward) sync_forward;
	__typeof__(&pt_insn_get_offset) offset;
	__typeof__(&pt_insn_get_sync_offset) sync_offset;
	__typeof__(&pt_insn_set_image) set_image;
	__typeof__(&pt_insn_time) time;
	__typeof__(&pt_insn_next) next;
	__typeof__(&pt_insn_event) event;
	__typeof__(&pt_pkt_alloc_decoder) pkt_alloc;
	__typeof__(&pt_pkt_free_decoder) pkt_free;
	__typeof__(&pt_pkt_sync_set) pkt_sync_set;
	__typeof__(&pt_pkt_next) pkt_next;
};

/* NULL: the library cannot be loaded. */
const struct libipt *libipt_load(void);

#endif
