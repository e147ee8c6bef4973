# The output of import is a tacho.toml that reads back the same; done twice, so that it is stable.
cat >alumet.toml <<'END'
[plugins.perf]
events = ["INSTRUCTIONS#u:k", { event = "PAGE_FAULTS", rename = "faults \"q\"" }, "RESOURCE_STALLS:ANY"]
END
cat >1.conf <<'END'
LoadPlugin intel_pmu
<Plugin intel_pmu>
    EventList "/x/core.json"
    HardwareEvents "L2_RQSTS.HIT,page-faults,cpu-clock" "ALL_CODE_RD"
    Cores "0"
    HardwareEvents All
</Plugin>
END
cat >2.conf <<'END'
<LoadPlugin intel_pmu>
    Interval 0.25
</LoadPlugin>
<Plugin intel_pmu>
    ReportHardwareCacheEvents true
    ReportKernelPMUEvents true
    ReportSoftwareEvents true
    Cores "0-1" "[2-5]"
</Plugin>
END
for file in alumet.toml 1.conf 2.conf "$SOURCE/share/tacho.toml"; do
	tacho config import "$file" >first.toml
	tacho config show -c first.toml >second.toml
	tacho config show -c second.toml >third.toml
	sed '/^# from/d;/^# note/d' first.toml >a
	sed '/^# from/d' second.toml >b
	sed '/^# from/d' third.toml >c
	diff a b
	cmp b c
	grep -q '^\[\[source\]\]' a
done
