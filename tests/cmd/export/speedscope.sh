# speedscope (npm), in a browser, reads its own format, pprof, Chrome's, folded text and script's.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need chromium cc base64
record_sample perf.data
npm_packages speedscope
page=$PWD/node_modules/speedscope/dist/release/index.html
loads() {	# FILE KIND
	[ -e "$1" ] || tacho export -o "$1"
	printf 'speedscope.loadFileFromBase64("%s", "%s")' "$1" "$(base64 -w0 "$1")" >profile.js
	browser --use-angle=swiftshader --enable-unsafe-swiftshader --allow-file-access-from-files \
		--enable-logging=stderr --virtual-time-budget=4000 --screenshot=shot.png \
		"file://$page#localProfilePath=$PWD/profile.js" || { cat browser.log; skip "chromium does not start"; }
	grep -q speedscope browser.log || { tail -n 5 browser.log; skip "the browser does not run speedscope"; }
	grep -q "Importing as $2" browser.log || { cat browser.log; fail "$1: not taken as $2"; }
	grep -q '"import: ' browser.log || { cat browser.log; fail "$1: not loaded"; }
	! grep -q 'Failed to load' browser.log || { cat browser.log; fail "$1: refused"; }
}
loads out.speedscope.json 'speedscope json file'
loads out.pb.gz 'protobuf encoded pprof file'
loads out.trace.json 'Chrome Timeline'
loads out.folded 'collapsed stack format'
tacho script >out.linux-perf.txt
loads out.linux-perf.txt 'output of linux perf script'
