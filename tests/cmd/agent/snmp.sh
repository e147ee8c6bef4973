# The agent as a subagent of a real snmpd: INTEL-PMU-MIB's table with rows in the file's order, our own
# table, 64-bit values that agree with the API and `tacho stat`; without snmpd, after its restart,
# after a reload, by TCP.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
PATH=$PATH:/usr/sbin
need snmpd snmpwalk snmpget snmpbulkwalk snmptable curl jq python3
need_counting
tacho stat -a -x, -e context-switches sleep 0.01 2>may || skip "may not count CPUs: $(cat may)"
pmu=.1.3.6.1.4.1.343.2.10.3.5.1.5.1.1
events=.1.3.6.1.4.1.8072.9999.9999.9273.1.1.1
export MIBDIRS="$TEST_DATA/mibs:$SOURCE/share/mibs" MIBS= SNMP_PERSISTENT_DIR="$PWD/snmp-state"

agent_head head.toml
start_load
cat load.toml >>head.toml
write_config() {	# GROUPS AGENTX
	cat head.toml - >tacho.toml <<-END
	[[source]]
	name = "one"
	events = ["context-switches", "page-faults", "cpu-clock", "instructions"]
	groups = $1
	interval = "200ms"
	[[source]]
	name = "two"
	events = ["dummy"]
	per = "machine"
	interval = "200ms"
	[[export]]
	type = "snmp"
	agentx = "$2"
	END
}
snmp_port=$(free_port)
mkdir snmp-state
start_snmpd() {	# AGENTX
	cat >snmpd.conf <<-END
	agentaddress udp:127.0.0.1:$snmp_port
	rocommunity public 127.0.0.1
	master agentx
	agentXSocket $1
	END
	snmpd -f -Lf "$PWD/snmpd.log" -C -c snmpd.conf &
	snmpd_pid=$!
}
ask() {	# TOOL OID...
	ask_tool=$1
	shift
	"$ask_tool" -v2c -c public -On -Oe -t 2 "127.0.0.1:$snmp_port" "$@"
}
shows() {	# OID=VALUE...
	for shown in "$@"; do
		ask snmpget "${shown%%=*}" | grep -Fxq "${shown%%=*} = ${shown#*=}" || return 1
	done
}
has_counted() {	# OID
	ask snmpget "$1" | grep -q ' = Counter64: [1-9]'
}
# A value over SNMP, once there is one, lies between the API's values before and after.
api() {	# JQ
	curl -fsS -m 10 "$agent_url/api/v1/series" | jq "$1"
}
agrees() {	# OID JQ
	wait_for 10 has_counted "$1"
	agrees_low=$(api "$2")
	agrees_got=$(ask snmpget "$1" | sed -n 's/.* = Counter64: //p')
	agrees_high=$(api "$2")
	[ "$agrees_low" -le "$agrees_got" ] && [ "$agrees_got" -le "$agrees_high" ] && [ "$agrees_got" -gt 0 ] ||
		fail "$1: '$agrees_got' by SNMP, $agrees_low to $agrees_high by the API"
}
of_group() {	# EVENT GROUP FIELD
	echo ".series[] | select(.source == \"one\" or .labels.source == \"one\") |
		select(.event == \"$1\" and .labels.group == \"$2\") | $3"
}

write_config '[{ label = "second", cpus = "0" }]' "$PWD/agentx"
tacho agent -c tacho.toml --check >out 2>err || { cat out err >&2; fail "the file is refused"; }
start_agent tacho.toml
wait_for 10 grep -q "no SNMP daemon answers.*$PWD/agentx" agent.err
curl -fsS "$agent_url/metrics" >metrics	# it lives on
[ -z "$(ls -A snmp-state)" ] || fail "it writes to net-snmp's directory: $(ls -A snmp-state)"
start_snmpd "$PWD/agentx"
wait_for 30 shows "$pmu.2.1=STRING: \"second\""
agrees "$pmu.38.1" "$(of_group context-switches second .raw)"
agrees "$pmu.40.1" "$(of_group page-faults second .raw)"
agrees "$pmu.36.1" "$(of_group cpu-clock second .raw)"
shows "$pmu.1.1=INTEGER: 1" "$pmu.3.1=No Such Instance currently exists at this OID"
index=$(api "$(of_group page-faults second .id)")
shows "$events.2.$index=STRING: \"page-faults\"" "$events.6.$index=STRING: \"second\""
agrees "$events.8.$index" "$(of_group page-faults second .raw)"
agrees "$events.9.$index" "$(of_group page-faults second .raw)"
agrees "$events.10.$index" "$(of_group page-faults second .enabled_ns)"
agrees "$events.11.$index" "$(of_group page-faults second .running_ns)"

# Events of a process, over SNMP and by `tacho stat`.
of_load() {	# EVENT: its row
	api ".series[] | select(.labels.source == \"load\" and .event == \"$1\") | .id"
}
work_load 1 20000
for event in page-faults task-clock; do
	ask snmpget "$events.8.$(of_load $event)" | sed -n 's/.* = Counter64: //p' >"by-snmp-$event"
done
end_load
within 1 "$(cat by-snmp-page-faults)" "$(csv_value page-faults stat.csv)"
within 1 "$(cat by-snmp-task-clock)" "$(awk -F, '$3 == "task-clock" { print $1 * 1e6 }' stat.csv)"

# All ways of walking give the same cells in the same order.
oids() {
	sed 's/ = .*//'
}
ask snmpwalk "${pmu%.1}" | oids >walk
ask snmpbulkwalk "${pmu%.1}" | oids >bulk
cmp walk bulk || fail "a bulk walk differs"
sort -V walk | cmp - walk || fail "not in order"
[ "$(wc -l <walk)" -ge 5 ] || fail "only $(cat walk)"
MIBS=TACHO-MIB snmptable -v2c -c public -CB -Ci -Cf ';' -Cb "127.0.0.1:$snmp_port" TACHO-MIB::tachoEventTable >table
head -n 3 table | tail -n 1 | grep -qx 'index;Name;Unit;Scale;Source;Group;State;Scaled;Raw;Enabled;Running' ||
	{ cat table >&2; fail "snmptable does not know the columns"; }
grep -q "^$index;page-faults;1;1;one;second;counting;[0-9]*;[0-9]*;[0-9]* nanoseconds;[0-9]* nanoseconds$" table ||
	{ cat table >&2; fail "snmptable shows no page-faults"; }
grep -q '^[0-9]*;cpu-clock;seconds;1.0000000000000001e-09;one;second;counting;' table || fail "no cpu-clock"

# snmpd is restarted: the agent reconnects.
end "$snmpd_pid"
wait_for 10 grep -q 'lost the connection to the SNMP daemon' agent.err
wait_for 10 sh -c "curl -fsS '$agent_url/metrics' | grep '^tacho_exporter_up{exporter=\"snmp\".*} 0'"
start_snmpd "$PWD/agentx"
wait_for 30 shows "$pmu.2.1=STRING: \"second\""
agrees "$pmu.40.1" "$(of_group page-faults second .raw)"

# Other groups after a reload: rows follow the file.
write_config '[{ label = "none of ours", cpus = "4095" }, { label = "third", cpus = "0" }]' "$PWD/agentx"
tacho agent -c tacho.toml ctl reload >out 2>err || { cat out err >&2; fail "no reload"; }
wait_for 20 shows "$pmu.2.1=STRING: \"none of ours\"" "$pmu.2.2=STRING: \"third\""
has_third() {
	curl -fsS "$agent_url/api/v1/series" | jq -e 'any(.series[]; .labels.group == "third" and .time > 0)'
}
wait_for 20 has_third
agrees "$pmu.38.2" "$(of_group context-switches third .raw)"
shows "$pmu.38.1=No Such Instance currently exists at this OID"
stop_agent
wait_for 20 sh -c "! snmpget -v2c -c public -On -t 2 127.0.0.1:$snmp_port $pmu.2.1 | grep -q STRING"

# The same over TCP.
end "$snmpd_pid"
port=$(free_port)
write_config '["0"]' "127.0.0.1:$port"
start_snmpd "tcp:127.0.0.1:$port"
start_agent tacho.toml
wait_for 30 shows "$pmu.2.1=STRING: \"0\""
agrees "$pmu.38.1" "$(of_group context-switches 0 .raw)"
stop_agent
end "$snmpd_pid"
