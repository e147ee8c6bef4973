# Files of other tools: what can be counted counts, the rest says why; what is not understood is an error.
. "$SUPPORT/lib.sh"
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
cat >alumet-config.toml <<'END'
[plugins.perf]
poll_interval = "1s"
flush_interval = "1s"
hardware_events = ["REF_CPU_CYCLES", "CACHE_MISSES", "BRANCH_MISSES"]
software_events = ["PAGE_FAULTS", "CONTEXT_SWITCHES"]
cache_events = ["LL_READ_MISS"]
END
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
tacho agent --check -c alumet-config.toml
echo ---
tacho agent --check -c 1.conf || echo "status $?"
echo ---
tacho agent --check -c 2.conf || echo "status $?"
