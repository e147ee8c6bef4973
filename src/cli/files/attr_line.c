/*
 * Formats a perf_event_attr on one line, as perf does: joins the lines that the library prints, one per
 * field, and prints bit masks as names.
 */
#include "cli/files/attr_line.h"

#include <stdio.h>

#include "base/num.h"

#include <tacho/event.h>

static const char *const sample_bits[] = {
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW",
	"BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION",
	"REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
};
static const char *const read_bits[] = {
	"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
};

static void put_bits(struct buf *out, struct str value, const char *const *names, size_t n)
{
	uint64_t bits = 0;
	bool any = false;

	num_u64(value, &bits);
	for (size_t i = 0; i < 64; i++) {
		if (!(bits >> i & 1))
			continue;
		if (any)
			buf_putc(out, '|');
		any = true;
		if (i < n)
			buf_puts(out, names[i]);
		else
			buf_printf(out, "0x%llx", 1ull << i);
	}
}

static void put_field(struct buf *out, struct str name, struct str value, const char *separator)
{
	bool period = str_is(name, "sample_freq") || str_is(name, "sample_period");
	bool wakeup = str_is(name, "wakeup_events") || str_is(name, "wakeup_watermark");

	if (out->n && out->bytes[out->n - 1] != ' ')
		buf_puts(out, ", ");
	buf_str(out, period ? STR_LIT("{ sample_period, sample_freq }") :
		     wakeup ? STR_LIT("{ wakeup_events, wakeup_watermark }") : name);
	buf_puts(out, separator);
	if (str_is(name, "sample_type"))
		put_bits(out, value, sample_bits, countof(sample_bits));
	else if (str_is(name, "read_format"))
		put_bits(out, value, read_bits, countof(read_bits));
	else
		buf_str(out, value);
}

void file_attr(const struct tacho_file_event *ev, const char *separator, struct buf *out)
{
	char *text = tacho_attr_text(ev->attr, ev->attr_size);
	struct str rest = str_of(text), line, name;

	if (!text) {
		out->bad = true;
		return;
	}
	while (str_cut(&rest, '\n', &line)) {
		str_cut(&line, ':', &name);
		line = str_trim(line);
		if (name.n && !str_is(line, "0x0"))
			put_field(out, name, line, separator);
	}
	free(text);
}

static void json_bits(struct json *j, struct str value, const char *const *names, size_t n)
{
	uint64_t bits = 0;

	num_u64(value, &bits);
	json_begin(j, '[');
	for (size_t i = 0; i < 64; i++) {
		char unknown[24];

		if (!(bits >> i & 1))
			continue;
		snprintf(unknown, sizeof(unknown), "0x%llx", 1ull << i);
		json_str(j, i < n ? names[i] : unknown);
	}
	json_end(j);
}

static void json_field(struct json *j, struct str name, struct str value)
{
	char key[64];
	uint64_t number;

	snprintf(key, sizeof(key), "%.*s", STR(name));
	json_key(j, key);
	if (str_is(name, "sample_type"))
		json_bits(j, value, sample_bits, countof(sample_bits));
	else if (str_is(name, "read_format"))
		json_bits(j, value, read_bits, countof(read_bits));
	else if (!str_starts(value, "0x") && num_u64(value, &number) == 0)
		json_u64(j, number);
	else
		json_strn(j, value);
}

void file_attr_json(const struct tacho_file_event *ev, struct json *j)
{
	scoped(freep) char *text = tacho_attr_text(ev->attr, ev->attr_size);
	struct str rest = str_of(text), line, name;

	if (!text)
		j->out->bad = true;
	json_begin(j, '{');
	while (text && str_cut(&rest, '\n', &line)) {
		str_cut(&line, ':', &name);
		if (name.n)
			json_field(j, name, str_trim(line));
	}
	json_end(j);
}
