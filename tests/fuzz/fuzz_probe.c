/*
 * Requests for probes, filters and lines of uprobe_events; or, if the bytes are an ELF file, its functions and static
 * probes, whose arguments are converted for both machines.
 */
#include <stdint.h>
#include <stdlib.h>

#include "probe/filter.h"
#include "probe/function_match.h"
#include "probe/site.h"
#include "probe/tracefs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void read_object(const struct elf *e)
{
	struct probe_functions functions = { 0 };
	struct probe_statics statics = { 0 };

	if (probe_functions_add(&functions, e) == 0 && probe_functions_finish(&functions) == 0)
		for (size_t i = 0; i < functions.n && i < 64; i++)
			if (i && functions.v[i].address < functions.v[i - 1].address)
				abort();
	probe_statics_read(&statics, e);
	for (size_t i = 0; i < statics.n && i < 64; i++) {
		struct buf out = { 0 };

		probe_static_arguments(ELF_EM_X86_64, statics.v[i].args, &out);
		probe_static_arguments(ELF_EM_AARCH64, statics.v[i].args, &out);
		buf_done(&out);
	}
	probe_functions_done(&functions);
	probe_statics_done(&statics);
}

static void read_text(struct str text)
{
	struct probe_request r;
	struct probe_definition d;
	struct name_filter f;
	struct tacho_error e = { .column = -1 };
	struct buf out = { 0 };

	if (probe_request_parse(&r, text, &e) == 0 && r.point.function) {
		struct function_match m;

		if (function_match_init(&m, r.point.function) == 0)
			function_match_symbol(&m, "_ZN3geo5Shape4areaERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
		function_match_done(&m);
		probe_raw_arguments(&r, &out, &e);
	} else if (e.column > (int)text.n) {
		abort();
	}
	probe_request_done(&r);
	buf_done(&out);
	probe_definition_parse(&d, text, text.n & 1);
	if (name_filter_parse(&f, text, &e) == 0)
		name_filter_matches(&f, STR_LIT("strlen"));
}

static void read_operands(struct str text)
{
	char *copy = str_dup(text);
	struct buf out = { 0 };

	if (copy) {
		probe_static_arguments(ELF_EM_X86_64, copy, &out);
		probe_static_arguments(ELF_EM_AARCH64, copy, &out);
	}
	free(copy);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct elf e;

	if (elf_open_bytes(&e, bytes, n) == 0) {
		read_object(&e);
		elf_close(&e);
		return 0;
	}
	read_text(str_n((const char *)bytes, n));
	read_operands(str_n((const char *)bytes, n));
	return 0;
}
