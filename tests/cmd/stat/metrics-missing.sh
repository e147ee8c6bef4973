# A metric of -M that cannot be computed here is marked with the reason; the others are counted.
. "$SUPPORT/lib.sh"
cat >list.json <<'J'
[ { "MetricName": "fault_rate", "MetricExpr": "page\\-faults / duration_time", "MetricGroup": "Rates" },
  { "MetricName": "missing", "MetricExpr": "NO_SUCH.EVENT / page\\-faults", "MetricGroup": "Rates", "ScaleUnit": "100%" },
  { "MetricName": "uses_missing", "MetricExpr": "missing + page\\-faults" },
  { "MetricName": "broken", "MetricExpr": "page\\-faults / / 2" } ]
J
run() {
	tacho stat --event-list list.json "$@" true 2>rows || fail "status $?: $(cat rows)"
}
run -M fault_rate,missing,broken
grep -Eq '^ +[1-9][0-9]* +page-faults +# .* fault_rate' rows || fail "not counted: $(cat rows)"
grep -Eq '<not supported> +NO_SUCH.EVENT +# +nan % +missing' rows || fail "not marked: $(cat rows)"
grep -Eq '<not supported> +broken +# +nan +broken' rows || fail "not marked: $(cat rows)"
grep -q "NO_SUCH.EVENT: no event is called 'NO_SUCH.EVENT'" rows || fail "no reason: $(cat rows)"
grep -q "broken: .*(at column 16)" rows || fail "no reason: $(cat rows)"
# As part of a group, by way of another metric, and in every form of output.
for format in '-x,' '-j' '--json' '--metric-only -x,' '-r 2 -x,' '-a -A -x,'; do
	# shellcheck disable=SC2086	# several words
	run $format -M Rates,uses_missing,missing
	grep -q 'fault_rate' rows && grep -q 'uses_missing' rows || fail "$format: $(cat rows)"
done
run -j -M Rates
python3 - <<'P2'
import json
rows = {r["metric-unit"].split()[-1]: r for r in map(json.loads, open("rows")) if "metric-unit" in r}
assert float(rows["fault_rate"]["metric-value"]) > 0, rows
assert rows["missing"]["counter-value"] == "<not supported>" and rows["missing"]["metric-value"] == "nan", rows
assert "NO_SUCH.EVENT" in rows["missing"]["reason"], rows
P2
# An event of the machine that cannot be counted here is marked likewise.
has_pmu || {
	run -M insn_per_cycle,fault_rate
	grep -Eq '<not supported> +instructions +# +nan instructions +insn_per_cycle' rows || fail "$(cat rows)"
}
# With nothing else to count, and for a name that does not exist, the command ends.
refused 129 tacho stat --event-list list.json -M missing,broken true
refused 129 tacho stat --event-list list.json -M fault_rate,mising true
grep -q "did you mean 'missing'" err || fail "$(cat err)"
tacho stat --event-list list.json -e page-faults -M missing true 2>rows || fail "with -e: $(cat rows)"
