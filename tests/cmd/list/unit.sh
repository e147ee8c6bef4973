# --unit: only that PMU's events; a PMU without events is refused with a message.
. "$SUPPORT/lib.sh"
tacho list --unit software --raw-dump | tr ' ' '\n' | grep -x page-faults
refused 1 tacho list --unit no_such_pmu
