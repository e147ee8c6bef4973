# Options that do not exist or make no sense: one message, status 129, nothing runs.
. "$SUPPORT/lib.sh"
bad() {
	refused 129 tacho stat "$@" -- touch ran
	[ ! -e ran ] || fail "ran in spite of: $*"
}
wrong_value() {		# found out only when the value is used
	refused "1 129" tacho stat "$@" -- touch ran
	[ ! -e ran ] || fail "ran in spite of: $*"
}
bad --no-such-option
bad --evnt=cycles
bad -Z
bad -aZ
bad -I
bad -I abc
bad -I -5
bad -r abc
wrong_value -r -1
bad -D abc
bad --timeout=abc
bad --interval-count=x
wrong_value -C abc
wrong_value -C 0-
wrong_value -p abc
wrong_value -p ''
wrong_value -t 1x
bad --per-socket=5
bad --summary
bad --interval-clear
bad --no-csv-summary -x,
bad --table
bad --td-level 1
bad --all-cpus=maybe
bad --big-num=1
refused 1 tacho stat --pre false -- touch ran
[ ! -e ran ] || fail "ran after --pre failed"
wrong_value -M no_such_metric
wrong_value -e page-faults --for-each-cgroup ''
wrong_value -e page-faults -G no/such/cgroup
refused 1 tacho no-such-command
refused 1 tacho stta
grep -q "stat" err || fail "no hint to stat: $(cat err)"
refused 129 tacho --no-such-option
