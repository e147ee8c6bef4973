/*
 *	0000 0000 padding   0000 0001 end   0111 0001 timestamp, 8 bytes
 *	01ss 0010 events    01ss 0011 data source		ss: 1, 2, 4 or 8 bytes of payload
 *	0110 01ii context, 4 bytes     0100 10cc operation, 1 byte
 *	1011 0iii address, 8 bytes     1001 1iii counter, 2 bytes
 *	0010 00ii before an address or counter: two more bits of its index; before a zero byte: alignment
 */
#include "auxtrace/spe_packets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool header_decode(struct spe_packet *p, uint8_t header, unsigned high)
{
	p->n = 1u << (header >> 4 & 3);
	if ((header & 0xf8) == 0xb0 || (header & 0xf8) == 0x98) {
		p->kind = (header & 0xf8) == 0xb0 ? SPE_ADDRESS : SPE_COUNTER;
		p->index = high << 3 | (header & 7u);
		return true;
	}
	if (high != UINT32_MAX && high)
		return false;
	p->index = header & 3u;
	if (header == 0x71)
		p->kind = SPE_TIMESTAMP;
	else if ((header & 0xcf) == 0x42)
		p->kind = SPE_EVENTS;
	else if ((header & 0xcf) == 0x43)
		p->kind = SPE_SOURCE;
	else if ((header & 0xfc) == 0x64)
		p->kind = SPE_CONTEXT;
	else if ((header & 0xfc) == 0x48)
		p->kind = SPE_OPERATION;
	else
		return false;
	return true;
}

/* An alignment packet pads up to the next multiple of 2, 4, 8 ... bytes, counted from the start of the buffer, which is aligned
 * more than that; it is the last one of a page, so the zero bytes that follow can be taken for padding. */
unsigned spe_packet_decode(struct spe_packet *p, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *from = at;
	unsigned high = 0;

	*p = (struct spe_packet){ .kind = SPE_PAD, .n = 1 };
	if (at == end)
		return 0;
	if (*at == 0)
		return 1;
	if (*at == 1) {
		p->kind = SPE_END;
		return 1;
	}
	if ((*at & 0xfc) == 0x20) {
		high = *at & 3u;
		if (end - at < 2)
			return 0;
		if (*++at == 0)
			return p->n = 2;
		if ((*at & 0xf8) != 0xb0 && (*at & 0xf8) != 0x98)
			return 0;
	}
	if (!header_decode(p, *at, high))
		return 0;
	at++;
	if ((size_t)(end - at) < p->n)
		return 0;
	for (unsigned i = 0; i < p->n; i++)
		p->payload |= (uint64_t)at[i] << 8 * i;
	p->n += (unsigned)(at - from);
	return p->n;
}

unsigned spe_exception_level(const struct spe_packet *p)
{
	return p->payload >> 61 & 3;
}

uint64_t spe_address(const struct spe_packet *p)
{
	const uint64_t top = 0xffULL << 56;
	uint64_t address = p->payload & ~top;
	bool is_code = p->index == SPE_ADDRESS_PC || p->index == SPE_ADDRESS_TARGET || p->index == SPE_ADDRESS_PREVIOUS;
	unsigned level = spe_exception_level(p);

	/* Byte 7 has the state of the CPU (code) or a tag (data); the kernel's half of the address space begins with ones. */
	if (is_code && p->payload >> 63 && (level == 1 || level == 2))
		address |= top;
	else if (p->index == SPE_ADDRESS_DATA && (address >> 52 & 15) == 15)
		address |= top;
	return address;
}

/* ---- the list of packets ---- */

static const struct { uint32_t bit; const char *name; } event_names[] = {
	{ SPE_EVENT_EXCEPTION, "EXCEPTION-GEN" }, { SPE_EVENT_RETIRED, "RETIRED" }, { SPE_EVENT_L1D_ACCESS, "L1D-ACCESS" },
	{ SPE_EVENT_L1D_REFILL, "L1D-REFILL" }, { SPE_EVENT_TLB_ACCESS, "TLB-ACCESS" }, { SPE_EVENT_TLB_WALK, "TLB-REFILL" },
	{ SPE_EVENT_NOT_TAKEN, "NOT-TAKEN" }, { SPE_EVENT_MISPREDICTED, "MISPRED" }, { SPE_EVENT_LLC_ACCESS, "LLC-ACCESS" },
	{ SPE_EVENT_LLC_MISS, "LLC-REFILL" }, { SPE_EVENT_REMOTE, "REMOTE-ACCESS" }, { SPE_EVENT_ALIGNMENT, "ALIGNMENT" },
	{ SPE_EVENT_TRANSACTION, "TXN" }, { SPE_EVENT_PARTIAL_PREDICATE, "SVE-PARTIAL-PRED" }, { SPE_EVENT_EMPTY_PREDICATE, "SVE-EMPTY-PRED" },
};

static int events_text(const struct spe_packet *p, char *out, size_t room)
{
	int n = snprintf(out, room, "EV");

	for (size_t i = 0; i < countof(event_names); i++)
		if (p->payload & event_names[i].bit)
			n += snprintf(out + n, room - (size_t)n, " %s", event_names[i].name);
	return n;
}

static int address_text(const struct spe_packet *p, char *out, size_t room)
{
	static const char *const names[] = { "PC", "TGT", "VA", "PA", "PBT" };
	const char *name = p->index < countof(names) ? names[p->index] : "ADDR";
	unsigned long long at = spe_address(p);

	if (p->index == SPE_ADDRESS_DATA)
		return snprintf(out, room, "%s 0x%llx", name, at);
	if (p->index == SPE_ADDRESS_PHYSICAL)
		return snprintf(out, room, "%s 0x%llx ns=%u", name, at, (unsigned)(p->payload >> 63));
	return snprintf(out, room, "%s 0x%llx el%u ns=%u", name, at, spe_exception_level(p), (unsigned)(p->payload >> 63));
}

static int operation_text(const struct spe_packet *p, char *out, size_t room)
{
	unsigned v = (unsigned)p->payload;

	if (p->index == SPE_CLASS_MEMORY)
		return snprintf(out, room, "%s%s", v & 1 ? "ST" : "LD", (v & 0xfe) == 0 ? " GP-REG" : (v & 0xfe) == 4 ? " SIMD-FP" : "");
	if (p->index == SPE_CLASS_BRANCH)
		return snprintf(out, room, "B%s%s", v & 1 ? " COND" : "", v & 2 ? " IND" : "");
	return snprintf(out, room, "OTHER%s", v & 1 ? " COND-SELECT" : "");
}

static int packet_text(const struct spe_packet *p, char *out, size_t room)
{
	static const char *const counters[] = { "TOT", "ISSUE", "XLAT" };

	switch (p->kind) {
	case SPE_PAD: return snprintf(out, room, "PAD");
	case SPE_END: return snprintf(out, room, "END");
	case SPE_TIMESTAMP: return snprintf(out, room, "TS %llu", (unsigned long long)p->payload);
	case SPE_EVENTS: return events_text(p, out, room);
	case SPE_SOURCE: return snprintf(out, room, "DATA-SOURCE %llu", (unsigned long long)p->payload);
	case SPE_CONTEXT: return snprintf(out, room, "CONTEXT 0x%llx el%u", (unsigned long long)p->payload, p->index + 1);
	case SPE_OPERATION: return operation_text(p, out, room);
	case SPE_ADDRESS: return address_text(p, out, room);
	case SPE_COUNTER:
		return snprintf(out, room, "LAT %u %s", (unsigned)p->payload, p->index < countof(counters) ? counters[p->index] : "?");
	}
	return 0;
}

int spe_packets(const uint8_t *bytes, size_t n, int (*fn)(void *arg, const char *line, size_t n), void *arg)
{
	int err = 0;

	for (size_t at = 0; at < n && !err;) {
		char line[400];
		struct spe_packet p;
		unsigned length = spe_packet_decode(&p, bytes + at, bytes + n), shown = max_of(length, 1u);
		int used = snprintf(line, sizeof(line), ".  %08zx: ", at);

		for (unsigned i = 0; i < shown; i++)
			used += snprintf(line + used, sizeof(line) - (size_t)used, " %02x", bytes[at + i]);
		used += snprintf(line + used, sizeof(line) - (size_t)used, "%*s ", (int)(3 * (16 - shown)), "");
		used += length ? packet_text(&p, line + used, sizeof(line) - (size_t)used) :
				 snprintf(line + used, sizeof(line) - (size_t)used, "Bad packet!");
		err = fn(arg, line, (size_t)used);
		at += shown;
	}
	return err;
}
