# The configurations that README.md and the guides show are valid, and every key in them is known.
. "$SUPPORT/lib.sh"
echo secret >token
for page in README.md docs/run-on-a-fleet.md; do
	awk '/^```toml$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$SOURCE/$page" >tacho.toml
	[ -s tacho.toml ] || fail "$page has no configuration"
	sed -i "s|/etc/tacho/token|$PWD/token|" tacho.toml
	tacho config -c tacho.toml >out 2>err || fail "$page: $(cat err)"
	[ ! -s err ] || fail "$page: $(cat err)"
	grep -q 'type = "remote_write"' out || fail "$page: no exporter: $(cat out)"
done
