# Unmodified files of other tools: what can be counted is, the rest gives the reason; unknown settings are errors.
. "$SUPPORT/lib.sh"
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
cp "$TEST_DATA"/config/* .
tacho agent --check -c alumet.toml
echo ---
tacho agent --check -c collectd-1.conf || echo "status $?"
echo ---
tacho agent --check -c collectd-2.conf || echo "status $?"
