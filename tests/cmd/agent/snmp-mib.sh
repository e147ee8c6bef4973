# The MIB is valid, and its numbers are those that are served.
. "$SUPPORT/lib.sh"
need smilint snmptranslate
for file in "$TEST_DATA"/mibs/*.txt; do
	set -- "$@" -p "$file"
done
smilint -c /dev/null -l 6 "$@" "$SOURCE/share/mibs/TACHO-MIB.txt" 2>&1 | grep TACHO-MIB |
	grep -v 'warning: implicit node definition' && fail "smilint complains"
export MIBDIRS="$TEST_DATA/mibs:$SOURCE/share/mibs" MIBS=TACHO-MIB SNMP_PERSISTENT_DIR="$PWD"
[ "$(snmptranslate -On TACHO-MIB::tachoEventRunning)" = .1.3.6.1.4.1.8072.9999.9999.9273.1.1.1.11 ] ||
	fail "$(snmptranslate -On TACHO-MIB::tachoEventRunning)"
