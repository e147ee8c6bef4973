# Both collectd examples: two sets of the second generation, one of the first, CPUs that are not here.
cat >1.conf <<'END'
LoadPlugin intel_pmu
<Plugin intel_pmu>
    EventList "/var/cache/pmu/GenuineIntel-6-55-core.json"
    HardwareEvents "L2_RQSTS.CODE_RD_HIT,L2_RQSTS.CODE_RD_MISS" "L2_RQSTS.ALL_CODE_RD"
    Cores ""
    HardwareEvents "L2_RQSTS.PF_MISS"
    Cores "1"
    DispatchMultiPmu false
</Plugin>
END
cat >2.conf <<'END'
LoadPlugin intel_pmu
<Plugin intel_pmu>
    EventList "/var/cache/pmu/GenuineIntel-6-55-uncore.json"
    HardwareEvents "UNC_CHA_TOR_INSERTS.IA_MISS:config1=0x4043200000000" "UNC_IIO_TXN_REQ_BY_CPU.MEM_WRITE.PART0"
    Cores "0" "18"
    DispatchMultiPmu false
</Plugin>
END
tacho config import 1.conf | grep -v '^	{ label = "[0-9]*", cpus = "[0-9]*" },$' | sed -n '/^\[\[source/,$p'
echo ---
tacho config import 2.conf | sed -n '/^\[\[source/,$p'
