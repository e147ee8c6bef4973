/*
 * Maps the Unit field of a list to a PMU. Most units are the kernel's name in another spelling; the
 * others are in a table.
 */
#include "event/vendor.h"

#include <ctype.h>

static const struct { const char *unit, *pmu; } units[] = {
	{ "CBO", "uncore_cbox" }, { "SBO", "uncore_sbox" }, { "QPI LL", "uncore_qpi" },
	{ "UPI LL", "uncore_upi" }, { "iMPH-U", "uncore_arb" },
	{ "NCU", "uncore_clock|uncore_cncu|uncore_cbox_0" },
	{ "L3PMC", "amd_l3" }, { "DFPMC", "amd_df" }, { "UMCPMC", "amd_umc" },
	{ "l3", "amd_l3" }, { "df", "amd_df" }, { "umc", "amd_umc" },
	{ "CPU-M-CF", "cpum_cf" }, { "CPU-M-SF", "cpum_sf" }, { "PAI-CRYPTO", "pai_crypto" },
	{ "PAI-EXT", "pai_ext" }, { "imx8_ddr", "imx8_ddr" }, { "imx9_ddr", "imx9_ddr" },
	{ "ali_drw", "ali_drw" }, { "arm_cmn", "arm_cmn" }, { "cpu", "" },
};

/* Returns whether the unit is already a kernel PMU name. */
static bool is_pmu_name(struct str unit)
{
	static const char *const starts[] = { "uncore_", "cpu_", "amd_", "arm", "hisi_", "power", "smmuv3",
					      "msr", "cs_", "dsu", "apple_", "nvidia_", "qcom_" };

	for (size_t i = 0; i < countof(starts); i++)
		if (str_starts(unit, starts[i]))
			return true;
	return false;
}

void vendor_unit_pmu(struct str unit, struct buf *out)
{
	for (size_t i = 0; i < countof(units); i++)
		if (str_is(unit, units[i].unit)) {
			buf_puts(out, units[i].pmu);
			return;
		}
	if (!unit.n || is_pmu_name(unit)) {
		buf_str(out, unit);
		return;
	}
	buf_puts(out, "uncore_");
	for (size_t i = 0; i < unit.n; i++)
		buf_putc(out, unit.s[i] == ' ' ? '_' : (char)tolower((unsigned char)unit.s[i]));
}
