# -a also stores the debug file of a stripped program: one that is on this machine, and with --debuginfod one of a server.
. "$SUPPORT/lib.sh"
need cc strip objcopy
HOME=$PWD
export HOME DEBUGINFOD_CACHE_PATH="$PWD/downloads"
unset DEBUGINFOD_URLS
build() {	# NAME: a stripped program, whose symbols are in NAME.debug
	echo "int $1_function(void) { return 1; } int main(void) { return $1_function(); }" >$1.c
	cc -g -O1 -Wl,--build-id -o $1 $1.c
	objcopy --only-keep-debug $1 $1.debug
	strip $1
}
entry() {	# NAME: the directory of its copy
	echo ".debug$PWD/$1/$(tacho buildid-list -i "$PWD/$1" | awk '{ print $1 }')"
}

build near
objcopy --add-gnu-debuglink=near.debug near
tacho buildid-cache -v -a "$PWD/near" 2>err || { cat err; fail "-a"; }
cmp near.debug "$(entry near)/debug" || fail "the debug file beside the program is not stored"
grep -q "add debug file of .* $PWD/near" err || { cat err; fail "-v does not mention it"; }
tacho buildid-cache -a "$PWD/near" 2>err && [ ! -s err ] || { cat err; fail "a second time"; }
rm near.debug
tacho record -q -N -e cpu-clock:u -o near.data ./near 2>/dev/null || true
tacho buildid-cache -r "$PWD/near"
[ ! -e "$(entry near)" ] || fail "-r leaves the debug file"

# A program with symbols needs none.
echo 'int main(void) { return 0; }' >whole.c
cc -g -Wl,--build-id -o whole whole.c
tacho buildid-cache -a "$PWD/whole" 2>err && [ ! -s err ] && [ ! -e "$(entry whole)/debug" ] || fail "a program with symbols"

[ "$(status_of tacho buildid-cache --debuginfod -a "$PWD/whole")" = 129 ] && grep -q 'DEBUGINFOD_URLS' err || fail "no servers"
need debuginfod curl
[ -e /usr/lib/x86_64-linux-gnu/libdebuginfod.so.1 ] || ldconfig -p | grep -q libdebuginfod.so.1 || skip "needs libdebuginfod"
build far
mkdir store
mv far.debug store/
port=$((20000 + $$ % 20000))
debuginfod -F store -p $port -d :memory: >server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 100); do
	curl -s http://127.0.0.1:$port/metrics | grep -q '^groom{statistic="buildids"} [1-9]\|^scanned_files_total' && break
	kill -0 $server 2>/dev/null || skip "debuginfod does not start: $(tail -1 server.log)"
	sleep 0.2
done
tacho buildid-cache -a "$PWD/far" 2>err && [ ! -s err ] && [ ! -e "$(entry far)/debug" ] || fail "a download without the option"
for _ in $(seq 30); do		# what was not scanned yet is not asked for again for a while
	tacho buildid-cache --debuginfod=http://127.0.0.1:$port -a "$PWD/far" 2>err || { cat err; fail "--debuginfod"; }
	[ ! -e "$(entry far)/debug" ] || break
	rm -rf downloads
	sleep 0.3
done
cmp store/far.debug "$(entry far)/debug" || { cat err; fail "the debug file of the server is not stored"; }
rm -rf downloads
tacho buildid-cache -P
DEBUGINFOD_URLS=http://127.0.0.1:$port tacho buildid-cache --debuginfod -u "$PWD/far" || fail "servers of the environment, with -u"
cmp store/far.debug "$(entry far)/debug" || fail "-u does not store it"
rm -rf downloads
tacho buildid-cache -P
tacho buildid-cache --debuginfod=http://127.0.0.1:1 -a "$PWD/far" 2>err || fail "$(cat err)"
grep -q 'none could be downloaded' err || fail "a server that is away: $(cat err)"
exit 0
