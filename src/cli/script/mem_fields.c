/*
 * Formats PERF_SAMPLE_DATA_SRC as perf 7's script does. The operation is formatted here, the other
 * parts by tacho_data_src_text(), as in report.
 */
#include "cli/script/mem_fields.h"

#include <tacho/report.h>

static void put_op(struct buf *out, uint64_t word)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
	unsigned op = word & 31;

	buf_puts(out, op ? names[__builtin_ctz(op)] : "No");
}

void data_src_text(struct buf *out, uint64_t data_src)
{
	static const struct {
		const char *head;
		enum tacho_data_src_part part;
	} parts[] = {
		{ "|LVL ", TACHO_DATA_SRC_LEVEL }, { "|SNP ", TACHO_DATA_SRC_SNOOP }, { "|TLB ", TACHO_DATA_SRC_TLB },
		{ "|LCK ", TACHO_DATA_SRC_LOCK }, { "|BLK ", TACHO_DATA_SRC_BLOCKED },
	};

	buf_puts(out, "|OP ");
	put_op(out, data_src);
	for (size_t i = 0; i < countof(parts); i++) {
		char text[128] = "";

		tacho_data_src_text(parts[i].part, data_src, text, sizeof(text));
		buf_puts(out, parts[i].head);
		buf_puts(out, text);
	}
}
