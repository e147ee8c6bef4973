# A cache that is not in the home directory: commands that read recordings find the copies there, too.
# run: slow
. "$SUPPORT/lib.sh"
HOME=$PWD/home
export HOME
mkdir "$HOME"
cp "$TEST_BIN/spin" prog
tacho record -q -N -e cpu-clock:u -c 100000 -o file ./prog -c 0.3 -t 0.3 2>err || { cat err; fail "no recording"; }
tacho --buildid-dir here buildid-cache -a "$PWD/prog"
[ "$(tacho buildid-cache --buildid-dir here -l)" = "$(PERF_BUILDID_DIR=here tacho buildid-cache -l)" ] || fail "two caches"
[ -d here/.build-id ] && [ ! -e "$HOME/.debug" ] || fail "not in the cache that was named"
rm prog
named() {	# COMMAND...: whether the program's functions have names
	"$@" script -i file -F ip,sym,dso 2>err | grep '/prog)' | grep -qv '\[unknown\]'
}
named tacho && fail "names without the program"
named tacho --buildid-dir here || fail "--buildid-dir: no names"
named env PERF_BUILDID_DIR=here tacho || fail "PERF_BUILDID_DIR: no names"
named tacho --buildid-dir nowhere && fail "names of a cache that is not there"
if command -v perf >/dev/null; then
	named perf --buildid-dir here || fail "perf finds no names"
fi
exit 0
