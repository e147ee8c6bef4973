# Debug files come from the servers of $DEBUGINFOD_URLS: names, source lines and inlined functions of a stripped program, and of
# one that is not on this machine any more. Without the variable, or if no server answers, all is as before.
. "$SUPPORT/lib.sh"
need cc strip debuginfod curl jq
[ -e /usr/lib/x86_64-linux-gnu/libdebuginfod.so.1 ] || ldconfig -p | grep -q libdebuginfod.so.1 || skip "needs libdebuginfod"
cat >w.c <<'C'
volatile long x;
static inline __attribute__((always_inline)) void inner(long n) { for (long i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void leaf(long n) { inner(n); }
int main(void) { for (int i = 0; i < 3000; i++) { leaf(30000); x--; } }
C
mkdir store
cc -g -O2 -Wl,--build-id -o w w.c
cp w store/w.whole
strip w
unset DEBUGINFOD_URLS
export DEBUGINFOD_CACHE_PATH=$PWD/cache
tacho record -q -N -e cpu-clock:u -F 2000 --call-graph dwarf -o g.data ./w 2>err || skip "cannot record here: $(cat err)"
tacho script -i g.data >before
grep -q leaf before && fail "the program is not stripped"

port=$((20000 + $$ % 20000))
debuginfod -F store -p $port -d :memory: >server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 100); do
	curl -s http://127.0.0.1:$port/metrics | grep -q '^groom{statistic="buildids"} [1-9]\|^scanned_files_total' && break
	kill -0 $server 2>/dev/null || skip "debuginfod does not start: $(tail -1 server.log)"
	sleep 0.2
done
export DEBUGINFOD_URLS=http://127.0.0.1:$port
ask() { tacho script -i g.data -F ip,sym,symoff,dso,srcline >got 2>messages && [ ! -s messages ]; }
for _ in $(seq 30); do		# what was not scanned yet is not asked for again for a while
	ask || fail "script: $(cat messages)"
	grep -q 'inner+0x[0-9a-f]* *$' got && break
	rm -rf cache
	sleep 0.3
done
grep -A1 'inner+' got | grep -q 'w.c:2 (inlined)' || fail "no inlined function: $(head -5 got)"
grep -A1 'leaf+' got | grep -q 'w.c:3$' || fail "no line: $(head -5 got)"
tacho report -i g.data --stdio -s sym 2>/dev/null | grep -q 'inner (inlined)' || fail report
tacho export -f folded -i g.data | grep -q 'leaf;inner ' || fail export

rm w				# the program itself comes from there, too
ask && grep -q 'leaf+' got || fail "the program is not downloaded"

# No server: one attempt, no message, the names are missing as without the variable.
rm -rf cache
export DEBUGINFOD_URLS=http://127.0.0.1:1
ask || fail "no server: $(cat messages)"
grep -q leaf got && fail "names from nowhere"
exit 0
