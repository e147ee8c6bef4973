# --unit: only that PMU's events; a PMU that has none is spoken of.
. "$SUPPORT/lib.sh"
tacho list --unit software --raw-dump | tr ' ' '\n' | grep -x page-faults
refused 1 tacho list --unit no_such_pmu
