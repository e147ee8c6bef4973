# The MIB is valid, and its numbers are those that are served.
. "$SUPPORT/lib.sh"
need smilint snmptranslate
for file in "$TEST_DATA"/mibs/*.txt; do
	set -- "$@" -p "$file"
done
for mib in TACHO-MIB INTEL-PMU-MIB; do
	smilint -c /dev/null -l 3 "$@" "$SOURCE/share/mibs/$mib.txt" 2>&1 | grep "$mib" && fail "smilint complains about $mib"
done
smilint -c /dev/null -l 6 "$@" "$SOURCE/share/mibs/TACHO-MIB.txt" 2>&1 | grep TACHO-MIB |
	grep -v 'warning: implicit node definition' && fail "smilint complains"
export MIBDIRS="$TEST_DATA/mibs:$SOURCE/share/mibs" MIBS=TACHO-MIB:INTEL-PMU-MIB SNMP_PERSISTENT_DIR="$PWD"
[ "$(snmptranslate -On TACHO-MIB::tachoEventRunning)" = .1.3.6.1.4.1.8072.9999.9999.9273.1.1.1.11 ] ||
	fail "$(snmptranslate -On TACHO-MIB::tachoEventRunning)"
for name in pmuGroupDescr:2 pmuL1DCacheLoads:3 pmuBranchLoadMisses:28 pmuCpuCycles:29 pmuCpuClock:36 pmuEmulationFaults:44; do
	[ "$(snmptranslate -On "INTEL-PMU-MIB::${name%:*}")" = ".1.3.6.1.4.1.343.2.10.3.5.1.5.1.1.${name#*:}" ] ||
		fail "$name: $(snmptranslate -On "INTEL-PMU-MIB::${name%:*}")"
done
