# Names of objects that are not where they were: stripped with mini debug info, deleted, replaced, in
# another root; and JIT maps of strangers.
. "$SUPPORT/lib.sh"
need cc objcopy nm xz python3
cat >work.c <<'C'
#include <stdlib.h>
#include <unistd.h>
volatile long x;
static __attribute__((noinline)) void hidden_function(long n) { while (n--) x += n; }
int main(int argc, char **argv)
{
	do hidden_function(20000000); while (argc > 1 && !access(argv[1], F_OK));
	return 0;
}
C
cc -O1 -Wl,--build-id -o whole work.c
shows() {	# FILE WHAT OPTION...
	shows_file=$1
	shows_what=$2
	shift 2
	tacho script -i "$shows_file" "$@" >text 2>err || { cat err; fail "script of $shows_file"; }
	grep -q 'hidden_function' text || fail "no name: $shows_what"
}
hides() {	# FILE WHAT OPTION...
	hides_file=$1
	hides_what=$2
	shift 2
	tacho script -i "$hides_file" "$@" >text 2>err || { cat err; fail "script of $hides_file"; }
	grep -q cpu-clock text || fail "no samples: $hides_what"
	! grep -q 'hidden_function\|other_function' text || fail "a wrong name: $hides_what"
}

# A stripped program whose section .gnu_debugdata has the names.
nm whole --format=posix --defined-only | awk '$2 == "T" || $2 == "t" { print $1 }' | sort -u >keep
objcopy --only-keep-debug whole names.debug
objcopy -S --remove-section .gnu_debuglink --remove-section .comment --keep-symbols=keep names.debug mini
xz -f mini
objcopy -S --add-section .gnu_debugdata=mini.xz whole stripped
tacho record -q -N -e cpu-clock:u -F 999 -o mini.data ./stripped || skip "cannot record here"
if tacho check -q feature lzma; then
	shows mini.data "mini debug info"
	printf garbage >mini.xz
	objcopy -S --add-section .gnu_debugdata=mini.xz whole stripped
	hides mini.data "damaged mini debug info"
fi

# Replaced by another build: no name is better than a wrong one. The old one in a tree: its names.
cp whole prog
tacho record -q -N -e cpu-clock:u -F 999 -o replaced.data ./prog
mkdir -p tree"$PWD"
cp prog tree"$PWD"/prog
sed 's/hidden_function/other_function/; s/x += n/x -= n/' work.c >other.c
cc -O1 -Wl,--build-id -o prog other.c
hides replaced.data "another build"
tacho script -v -i replaced.data 2>&1 >/dev/null | grep -q 'prog: the file there is of another build' ||
	fail "no message about the other build"
shows replaced.data "by --symfs" --symfs "$PWD/tree"
cp whole prog
touch prog			# of the same build: the time does not matter
shows replaced.data "the same build again"

# Deleted while it runs: what is recorded is found through the process.
touch go
cp whole gone
./gone go &
pid=$!
wait_for 20 grep -qx gone /proc/$pid/comm
rm gone
tacho record -q -N -e cpu-clock:u -F 999 -o gone.data -p $pid -- sleep 0.5 ||
	{ rm go; kill $pid; fail "cannot record a process"; }
tacho script -i gone.data >text 2>err || true
rm go
kill $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
grep -q hidden_function text || fail "no name of a deleted program that runs"
hides gone.data "a deleted program that ended"

# In another root (a container's): through the process as long as it lives.
if [ "$(id -u)" = 0 ] && command -v unshare >/dev/null; then
	mkdir -p jail/bin
	cc -O1 -static -Wl,--build-id -o jail/bin/jailed work.c 2>cc.err && touch jail/go || true
	if [ -e jail/go ]; then
		unshare -m chroot jail /bin/jailed /go &
		pid=$!
		wait_for 20 grep -qx jailed /proc/$pid/comm
		tacho record -q -N -e cpu-clock:u -F 999 -o jail.data -p $pid -- sleep 0.5
		tacho script -i jail.data >text 2>err || true
		tacho record -q -a -e cpu-clock:u -F 999 -o all.data -- sleep 0.3
		tacho script -i all.data --pid $pid >text2 2>err || true
		rm jail/go
		wait $pid || true
		grep -q hidden_function text || fail "no name of a program in another root"
		grep -q hidden_function text2 || fail "no name of a program in another root, recorded with all"
	fi
fi
