/*
 * Packets of Arm SPE (Statistical Profiling Extension): a header of one or two bytes, and a payload of up to eight.
 */
#ifndef AUXTRACE_SPE_PACKETS_H
#define AUXTRACE_SPE_PACKETS_H

#include "auxtrace/auxtrace.h"

enum spe_kind { SPE_PAD, SPE_END, SPE_TIMESTAMP, SPE_EVENTS, SPE_SOURCE, SPE_CONTEXT, SPE_OPERATION, SPE_ADDRESS, SPE_COUNTER };
enum { SPE_ADDRESS_PC, SPE_ADDRESS_TARGET, SPE_ADDRESS_DATA, SPE_ADDRESS_PHYSICAL, SPE_ADDRESS_PREVIOUS };	/* index */
enum { SPE_COUNTER_TOTAL, SPE_COUNTER_ISSUE, SPE_COUNTER_TRANSLATION };
enum { SPE_CLASS_OTHER, SPE_CLASS_MEMORY, SPE_CLASS_BRANCH };

enum {				/* bits of SPE_EVENTS */
	SPE_EVENT_EXCEPTION = 1u << 0, SPE_EVENT_RETIRED = 1u << 1, SPE_EVENT_L1D_ACCESS = 1u << 2, SPE_EVENT_L1D_REFILL = 1u << 3,
	SPE_EVENT_TLB_ACCESS = 1u << 4, SPE_EVENT_TLB_WALK = 1u << 5, SPE_EVENT_NOT_TAKEN = 1u << 6, SPE_EVENT_MISPREDICTED = 1u << 7,
	SPE_EVENT_LLC_ACCESS = 1u << 8, SPE_EVENT_LLC_MISS = 1u << 9, SPE_EVENT_REMOTE = 1u << 10, SPE_EVENT_ALIGNMENT = 1u << 11,
	SPE_EVENT_TRANSACTION = 1u << 16, SPE_EVENT_PARTIAL_PREDICATE = 1u << 17, SPE_EVENT_EMPTY_PREDICATE = 1u << 18,
};

struct spe_packet {
	enum spe_kind kind;
	unsigned index;			/* of addresses, counters, contexts; the class of operations */
	unsigned n;			/* bytes, with the header */
	uint64_t payload;
};

/* Decodes the packet at `at`. Returns its length, 0 if there is no whole packet. */
unsigned spe_packet_decode(struct spe_packet *out, const uint8_t *at, const uint8_t *end);
/* An address as a virtual one: with the sign that it has in memory, without tags. */
uint64_t spe_address(const struct spe_packet *p);
unsigned spe_exception_level(const struct spe_packet *p);

#endif
