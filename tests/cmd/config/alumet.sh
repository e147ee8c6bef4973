# An Alumet file as its users have it: the same events under the same names.
cat >alumet-config.toml <<'END'
[plugins.perf]
poll_interval = "1s"
flush_interval = "1s"
hardware_events = ["REF_CPU_CYCLES", "CACHE_MISSES", "BRANCH_MISSES"]
software_events = ["PAGE_FAULTS", "CONTEXT_SWITCHES"]
cache_events = ["LL_READ_MISS"]
END
tacho config import alumet-config.toml
