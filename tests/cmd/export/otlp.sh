# OpenTelemetry profiles: protoc decodes them without unknown fields, and a reader of the test's own finds every index in range
# and all samples with their weights, threads and names.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need cc python3 readelf
record_sample perf.data
weigh() { tacho export -f folded --weight "$1" | awk '{ n += $NF } END { printf "%d", n }'; }
says() { grep -qx "$1" found || { head -n 60 found >&2; fail "not found: $1"; }; }
tacho export -o out.otlp.pb
python3 "$SUPPORT/check-otlp" out.otlp.pb >found || { cat found; fail "the message is wrong"; }
says "total cpu/nanoseconds: $(weigh period)"
says 'period type: cpu/nanoseconds'
says 'event: cpu-clock.*'
says "resource host.name: $(uname -n)"
says 'resource process.executable.name: work'
says 'resource process.pid: [1-9][0-9]*'
says 'sample attribute: thread.id'
says 'thread.name: work'
says 'frame type: native'
says 'stack: inner_loop;outer_call;main.*'
id=$(readelf -n work | sed -n 's/.*Build ID: //p')
[ -z "$id" ] || says "mapping: .*/work process.executable.build_id.gnu=$id"
! grep -q '^sample attribute: cpu' found || fail "CPUs that were not asked for"

# Numbers of samples instead of nanoseconds.
tacho export -f otlp --weight samples >samples.pb
python3 "$SUPPORT/check-otlp" samples.pb >found
says "total samples/count: $(weigh samples)"

# With a clock that is compared with the wall clock every observation has its time.
before=$(date +%s)
tacho record -q -k mono -e cpu-clock -F 999 -g -o mono.data -- ./work
after=$(date +%s)
tacho export -i mono.data -f otlp -o mono.pb
python3 "$SUPPORT/check-otlp" mono.pb >found
says "observations: $(tacho export -i mono.data -f folded | awk '{ n += $NF } END { print n }')"
sed -n 's/^second: //p' found | awk -v from="$before" -v to="$after" '
	$1 < from - 1 || $1 > to + 1 { bad = 1 } END { exit bad || !NR }' || fail "wrong times: $before $after"

# protoc reads the same, and knows every field.
command -v protoc >/dev/null || skip "protoc is missing: only checked with the test's own reader"
protoc --proto_path="$SOURCE/tests/data/otlp" --decode=opentelemetry.proto.profiles.v1development.ProfilesData \
	profiles.proto <out.otlp.pb >decoded
! grep -qE '^ *[0-9]+[: ]' decoded || fail "protoc found unknown fields: $(grep -E '^ *[0-9]+[: ]' decoded | head -n 3)"
sum=$(awk '$1 == "samples" { inside = 1 } inside && $1 == "values:" { n += $2 } END { printf "%d", n }' decoded)
[ "$sum" = "$(weigh period)" ] || fail "protoc: the values sum up to $sum"
