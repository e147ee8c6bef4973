/*
 * The features of this build. The table has all feature names and macros of perf, because scripts query them.
 * The build writes built_in.h, which defines the macros of available features as 1.
 */
#include "cli/core/features.h"

#include "cli/built_in.h"

/* IS_ON(macro) is 1 if the macro is defined as 1, otherwise 0; it replaces an #ifdef per row. If the macro
 * is 1, COMMA_##value is COMMA_1, whose comma makes 1 the second argument of PICK(). */
#define COMMA_1 0,
#define PICK(unused, value, ...) value
#define PICK_AT(comma) PICK(comma 1, 0, 0)
#define IS_1(value) PICK_AT(COMMA_##value)
#define IS_ON(macro) IS_1(macro)
#define ROW(name, macro) { name, #macro, IS_ON(macro), NULL }

const struct build_feature features[] = {
	ROW("aio", HAVE_AIO_SUPPORT),
	ROW("bpf", HAVE_LIBBPF_SUPPORT),
	{ "bpf_skeletons", "HAVE_BPF_SKEL", IS_ON(HAVE_BPF_SKEL),
	  "no summaries in the kernel: install clang, bpftool and libbpf-dev and run meson setup --reconfigure" },
	ROW("debuginfod", HAVE_DEBUGINFOD_SUPPORT),
	{ "dwarf", "HAVE_LIBDW_SUPPORT", IS_ON(HAVE_LIBDW_SUPPORT),
	  "no probes at source lines and no data types: install libdw-dev and run meson setup --reconfigure" },
	ROW("dwarf_getlocations", HAVE_LIBDW_SUPPORT),
	ROW("dwarf-unwind", HAVE_DWARF_UNWIND_SUPPORT),
	ROW("auxtrace", HAVE_AUXTRACE_SUPPORT),
	{ "libarchive", "HAVE_LIBARCHIVE_SUPPORT", IS_ON(HAVE_LIBARCHIVE_SUPPORT),
	  "no 'tacho archive': install libarchive-dev and run meson setup --reconfigure" },
	ROW("libbfd", HAVE_LIBBFD_SUPPORT),
	ROW("babeltrace2-ctf-writer", HAVE_BABELTRACE2_CTF_WRITER_SUPPORT),
	ROW("libbpf-strings", HAVE_LIBBPF_STRINGS_SUPPORT),
	ROW("libcapstone", HAVE_LIBCAPSTONE_SUPPORT),
	ROW("libdw-dwarf-unwind", HAVE_LIBDW_SUPPORT),
	ROW("libelf", HAVE_LIBELF_SUPPORT),
	{ "libipt", "HAVE_LIBIPT_SUPPORT", IS_ON(HAVE_LIBIPT_SUPPORT),
	  "no decoding of Intel PT: install libipt-dev and run meson setup --reconfigure" },
	ROW("libLLVM", HAVE_LIBLLVM_SUPPORT),
	ROW("libnuma", HAVE_LIBNUMA_SUPPORT),
	ROW("libopencsd", HAVE_CSTRACE_SUPPORT),
	ROW("libperl", HAVE_LIBPERL_SUPPORT),
	ROW("libpfm4", HAVE_LIBPFM),
	ROW("libpython", HAVE_LIBPYTHON_SUPPORT),
	ROW("libslang", HAVE_SLANG_SUPPORT),
	ROW("ncurses", HAVE_NCURSES_SUPPORT),
	ROW("libtraceevent", HAVE_LIBTRACEEVENT),
	ROW("libunwind", HAVE_LIBUNWIND_SUPPORT),
	ROW("lzma", HAVE_LZMA_SUPPORT),
	ROW("numa_num_possible_cpus", HAVE_LIBNUMA_SUPPORT),
	ROW("zlib", HAVE_ZLIB_SUPPORT),
	ROW("zstd", HAVE_ZSTD_SUPPORT),
	ROW("rust", HAVE_RUST_SUPPORT),
	{ "agent_page", "HAVE_AGENT_PAGE", IS_ON(HAVE_AGENT_PAGE),
	  "the agent has only its small page: install npm and run meson setup --reconfigure" },
};
const size_t n_features = countof(features);

const struct build_feature *feature_find(struct str name)
{
	for (size_t i = 0; i < n_features; i++)
		if (str_ieq(name, str_of(features[i].name)) || str_ieq(name, str_of(features[i].macro)))
			return &features[i];
	return NULL;
}

void feature_line(const struct build_feature *f, struct buf *out)
{
	buf_printf(out, "%22s: [ %s ]  # %s", f->name, f->built_in ? "on " : "OFF", f->macro);
	if (!f->built_in && f->tip)
		buf_printf(out, " ( tip: %s )", f->tip);
	buf_putc(out, '\n');
}

void feature_json(const struct build_feature *f, struct json *j)
{
	json_begin(j, '{');
	json_member(j, "name", str, f->name);
	json_member(j, "macro", str, f->macro);
	json_member(j, "built_in", bool, f->built_in);
	json_end(j);
}
