/*
 * Short names of allocation flags, as in perf's tables.
 */
#include "cli/kmem/kmem.h"

#include <inttypes.h>

static const struct gfp_short_name {
	const char *name, *text;
} short_names[] = {
	{ "GFP_TRANSHUGE", "THP" }, { "GFP_TRANSHUGE_LIGHT", "THL" }, { "GFP_HIGHUSER_MOVABLE", "HUM" },
	{ "GFP_HIGHUSER", "HU" }, { "GFP_USER", "U" }, { "GFP_KERNEL_ACCOUNT", "KAC" }, { "GFP_KERNEL", "K" },
	{ "GFP_NOFS", "NF" }, { "GFP_ATOMIC", "A" }, { "GFP_NOIO", "NI" }, { "GFP_NOWAIT", "NW" }, { "GFP_DMA", "D" },
	{ "GFP_DMA32", "D32" }, { "__GFP_HIGHMEM", "HM" }, { "__GFP_HIGH", "H" }, { "__GFP_IO", "I" }, { "__GFP_FS", "F" },
	{ "__GFP_NOWARN", "NWR" }, { "__GFP_RETRY_MAYFAIL", "R" }, { "__GFP_NOFAIL", "NF" }, { "__GFP_NORETRY", "NR" },
	{ "__GFP_COMP", "C" }, { "__GFP_ZERO", "Z" }, { "__GFP_NOMEMALLOC", "NMA" }, { "__GFP_MEMALLOC", "MA" },
	{ "__GFP_HARDWALL", "HW" }, { "__GFP_THISNODE", "TN" }, { "__GFP_RECLAIMABLE", "RC" }, { "__GFP_MOVABLE", "M" },
	{ "__GFP_ACCOUNT", "AC" }, { "__GFP_WRITE", "WR" }, { "__GFP_RECLAIM", "R" }, { "__GFP_DIRECT_RECLAIM", "DR" },
	{ "__GFP_KSWAPD_RECLAIM", "KR" },
};

static void put_short(struct buf *out, struct str name)
{
	for (size_t i = 0; i < countof(short_names); i++)
		if (str_is(name, short_names[i].name)) {
			buf_puts(out, short_names[i].text);
			return;
		}
	buf_text(out, name);
}

void kmem_put_gfp(struct buf *out, const char *name, uint64_t gfp_flags)
{
	struct str rest = str_of(name), one;
	bool is_first = true;

	if (!rest.n)
		buf_printf(out, "%#" PRIx64, gfp_flags);
	while (rest.n && str_cut(&rest, '|', &one)) {
		if (!is_first)
			buf_putc(out, '|');
		put_short(out, one);
		is_first = false;
	}
}
