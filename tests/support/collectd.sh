# Words for tests with a real collectd, after lib.sh and agent.sh. It writes what it gets as csv/,
# with one thread: two that create one file at a time write its head over each other's rows.

find_collectd() {	# skips where there is none
	PATH=$PATH:/usr/sbin
	need collectd curl jq python3
	for collectd_plugin in /usr/lib/collectd /usr/lib64/collectd /usr/lib/*/collectd; do
		[ ! -e "$collectd_plugin/csv.so" ] || return 0
	done
	skip "needs collectd's csv plugin"
}

start_collectd() {	# CONF_LINES...: sets collectd_pid
	{
		cat <<-END
		Hostname "testhost"
		FQDNLookup false
		BaseDir "$PWD"
		PIDFile "$PWD/collectd.pid"
		TypesDB "/usr/share/collectd/types.db" "$SOURCE/share/collectd/types.db"
		Interval 1
		WriteThreads 1
		LoadPlugin logfile
		<Plugin logfile>
			LogLevel info
			File "$PWD/collectd.log"
		</Plugin>
		LoadPlugin csv
		<Plugin csv>
			DataDir "$PWD/csv"
			StoreRates false
		</Plugin>
		END
		printf '%s\n' "$@"
	} >collectd.conf
	collectd -f -C collectd.conf >collectd.out 2>&1 &
	collectd_pid=$!
}

has_row() {	# FILE... PATTERN: the rows of the day's file, by grep
	has_row_id=$1
	shift
	cat "csv/$has_row_id"-20* | grep -q "$@"
}

api_has() {	# SOURCE EVENT: all its series have been read; they are in series.json
	curl -fsS -m 10 "$agent_url/api/v1/series?source=$1&event=$2" >series.json
	jq -e '(.series | length > 0) and all(.series[]; .time > 0)' series.json
}

# Every value of the API is in collectd's file, with the same time and the same number.
same_as_api() {	# SOURCE EVENT JQ_FILTER IDENTIFIER FIELDS
	wait_for 10 api_has "$1" "$2"
	jq -r --arg n "$5" ".series[] | select($3) | [.time, .raw, .raw, .enabled_ns, .running_ns] |
		[((.[0] / 1000 | floor | tostring) + \".\" + (.[0] % 1000 + 1000 | tostring | .[1:]))] + .[1:(\$n | tonumber) + 1] |
		map(tostring) | join(\",\")" series.json >want
	[ -s want ] || { cat series.json >&2; fail "the API has no $1 $2 with $3"; }
	wait_for 15 has_row "$4" -Fx "$(cat want)"
}
