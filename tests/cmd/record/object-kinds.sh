# Whole stacks with right names, whatever kind of object the code is in: debug data in each format and place, other linkers
# and libcs, the vdso, stubs of the PLT, libraries that were opened at run time, deleted or replaced, signal handlers, children of
# vfork(). All samples in leaf() have the same callers, inlined ones included.
. "$SUPPORT/lib.sh"
need cc objcopy strip awk
case $(uname -m) in x86_64 | aarch64) ;; *) skip "stacks are unwound on x86-64 and arm64 only" ;; esac
tacho version --build-options | grep -q 'libdw.*on ' || skip "built without libdw"
flags='-O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id'
cat >leaf.h <<'C'
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
static volatile unsigned long sink;
NOINLINE static void leaf(void) { for (unsigned i = 0; i < 20000; i++) sink += i; }
static inline __attribute__((always_inline)) void step(unsigned n) { for (unsigned i = 0; i < n; i++) leaf(); }
NOINLINE static int work(unsigned n) { step(n); return (int)sink; }
NOINLINE static int outer(int (*fn)(unsigned), unsigned n) { int got = fn(n); sink++; return got; }
C
cat >plain.c <<'C'
#include "leaf.h"
int main(void) { sink += outer(work, 3000); return 0; }
C

# What the samples with the first function of WANTED as their leaf have in common: the functions of WANTED, leaf first, and an
# outermost function that matches the pattern LAST.
has_stacks() {	# FILE WHAT WANTED LAST [OPTION...]
	hs_file=$1 hs_what=$2 hs_wanted=$3 hs_last=$4
	shift 4
	tacho script -i "$hs_file" -F ip,sym "$@" >out 2>err || { cat err; fail "script fails: $hs_what"; }
	awk -v wanted=" $hs_wanted " -v end=" ($hs_last) \$" '
		BEGIN { split(wanted, word, " ") }
		function check() {
			if (index(stack, " " word[1] " ") == 1) {
				n++
				good += index(stack, wanted) == 1 && stack ~ end
				if ((index(stack, wanted) != 1 || stack !~ end) && bad++ < 3)
					print "not" wanted "... but" stack
			}
			stack = " "
		}
		NF == 0 { check(); next }
		{ sub(/@@.*/, "", $2); sub(/^__GI___/, "", $2); stack = stack $2 " " }
		END { check(); print good + 0 " of " n + 0; exit n < 3 || good < 0.97 * n }' out >sum ||
		{ cat sum; fail "$hs_what"; }
}
take() {	# FILE PROGRAM...: records it
	take_file=$1
	shift
	tacho record -q -e cpu-clock:u -F 1999 --call-graph dwarf -o "$take_file" "$@" 2>err || skip "cannot record here: $(cat err)"
}
same() {	# WHAT PROGRAM [OPTION OF script...]
	same_what=$1 same_program=$2
	shift 2
	take data "./$same_program"
	has_stacks data "$same_what" "leaf step work outer main" "_start|_start_c" "$@"
}
built() {	# PROGRAM COMPILER OPTION...: false if this machine cannot build it
	built_program=$1
	shift
	"$@" -o "$built_program" plain.c 2>build.err
}

# Debug data: versions, compression, files of their own.
for version in 4 5; do
	for cc in gcc clang; do
		! built prog $cc $flags -gdwarf-$version || same "DWARF $version of $cc" prog
	done
done
! built prog cc $flags -gsplit-dwarf || same "split debug data" prog
cc $flags -o whole plain.c
for kind in zlib zlib-gnu zstd; do
	! objcopy --compress-debug-sections=$kind whole prog 2>/dev/null || same "sections compressed with $kind" prog
done
objcopy --only-keep-debug whole prog.debug
strip -o prog whole
id=$(tacho buildid-list -i data 2>/dev/null | awk '$2 ~ /prog$/ { print $1 }')
[ -n "$id" ] || fail "no build ID"
root=usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)
mkdir -p "tree$PWD" "tree/$root" ".debug" cache
cp prog "tree$PWD/prog"
cp prog.debug "tree/$root/$(echo "$id" | cut -c 3-).debug"
same "debug file by build ID" prog --symfs "$PWD/tree"
rm -r tree
objcopy --add-gnu-debuglink=prog.debug prog
same "debug file by debug link" prog
mv prog.debug .debug/
same "debug file in .debug" prog
objcopy --compress-debug-sections .debug/prog.debug
same "compressed debug file" prog
rm .debug/prog.debug
if command -v xz >/dev/null && command -v nm >/dev/null && tacho check -q feature lzma; then
	nm whole --format=posix --defined-only | awk '$2 == "T" || $2 == "t" { print $1 }' | sort -u >keep
	objcopy -S --keep-symbols=keep whole mini
	xz -f mini
	objcopy -S --add-section .gnu_debugdata=mini.xz whole prog
	take data ./prog
	has_stacks data "MiniDebugInfo" "leaf work outer main" _start
fi

# Layouts of programs, other linkers and libcs.
! built prog cc $flags -no-pie || same "fixed addresses" prog
! built prog cc $flags -static || same static prog
! built prog cc $flags -static-pie || same static-pie prog
! built prog cc $flags -fuse-ld=lld -Wl,-z,noseparate-code || same "lld -z noseparate-code" prog
! built prog cc $flags -fuse-ld=lld -Wl,-z,separate-loadable-segments || same "lld" prog
! built prog cc $flags -mstackrealign || same -mstackrealign prog
! built prog cc $flags -fno-asynchronous-unwind-tables || same ".debug_frame" prog
# musl has no call frame information of its own, and _start_c() calls main() through it: the stack ends there.
! built prog musl-gcc $flags || { take data ./prog; has_stacks data musl "leaf step work outer main" '[^ ]*'; }

# The vdso. On machines where its functions fall back to system calls, most samples are in the kernel.
cat >vdso.c <<'C'
#include <time.h>
static volatile long sum;
__attribute__((noinline)) static int work(void)
{
	struct timespec ts;

	for (unsigned i = 0; i < 5000000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		sum += ts.tv_nsec;
	}
	return 0;
}
int main(void) { int got = work(); sum++; return got; }
C
cc $flags -o vdso vdso.c
take data ./vdso
tacho script -i data -F ip,sym,dso >out
if grep -q '\[vdso\]' out; then
	awk -v RS= '/^[^\n]*\[vdso\]/ { n++; good += /vdso\]\)\n[^\n]* clock_gettime[^\n]*\n[^\n]* work [^\n]*\n[^\n]* main / && /_start / && !/unknown/ }
		END { print good + 0 " of " n + 0; exit n < 3 || good < 0.97 * n }' out >sum || { cat out sum; fail "vdso"; }
fi

# Stubs of the PLT, of both forms.
cat >library.c <<'C'
int from_library(int n);
int from_library(int n) { return n + 1; }
C
cat >plt.c <<'C'
#include "leaf.h"
int from_library(int n);
NOINLINE static int calls(unsigned n) { int sum = 0; for (unsigned i = 0; i < n * 20000; i++) sum += from_library(sum); return sum; }
int main(void) { if (sink) leaf(), work(1); sink += outer(calls, 30000); return 0; }
C
cc -O2 -shared -fPIC -o libfrom.so library.c
for protection in none branch; do
	cc $flags -Wl,-z,lazy -fcf-protection=$protection -o plt plt.c ./libfrom.so 2>/dev/null || continue
	take data ./plt
	has_stacks data "PLT, -fcf-protection=$protection" "from_library@plt calls outer main" _start
done

# A signal handler above a system call, and a child of vfork(), which runs on its parent's stack.
cat >handler.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
#include "leaf.h"
static void handler(int number) { sink += outer(work, 3000) + number; }
NOINLINE static int interrupted(unsigned n) { int got = kill(getpid(), SIGUSR1); sink += n; return got; }
int main(void) { signal(SIGUSR1, handler); sink += interrupted(1); return 0; }
C
cc $flags -o handler handler.c
take data ./handler
has_stacks data "signal handler" "leaf step work outer handler __restore_rt kill interrupted main" _start
cat >vfork.c <<'C'
#define _GNU_SOURCE
#include <unistd.h>
#include "leaf.h"
NOINLINE static int in_child(unsigned n) { if (vfork() == 0) { sink += outer(work, n); _exit(0); } return 0; }
int main(void) { sink += in_child(3000); return 0; }
C
cc $flags -o vfork vfork.c
take data ./vfork
has_stacks data vfork "leaf step work outer in_child main" _start

# A library that was opened at run time, and that another build has replaced, or that was deleted, while it runs. The stack
# of another build would end in it, or be a wrong one.
cat >host.c <<'C'
#include <dlfcn.h>
#include <unistd.h>
#include "leaf.h"
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*plugin)(int (*)(unsigned)) = library ? (int (*)(int (*)(unsigned)))dlsym(library, "plugin") : 0;

	if (!plugin)
		return 2;
	do
		sink += plugin(work);
	while (argc > 2 && !access(argv[2], F_OK));
	if (argc > 99)
		outer(work, 1);
	return 0;
}
C
cat >plugin.c <<'C'
static volatile char space[999];
#ifdef OTHER
int padding(int n) { for (int i = 0; i < n; i++) space[i % 999] += i; return space[n % 300]; }
int more_padding(int n) { volatile char s[3000]; for (int i = 0; i < n; i++) s[i % 3000] = i; return s[n % 300]; }
#define hidden other_hidden
#endif
__attribute__((noinline)) static int hidden(int (*fn)(unsigned))
{
	volatile char on_stack[200];

	on_stack[3] = 1;
	return fn(300) + on_stack[3];
}
int plugin(int (*fn)(unsigned)) { int got = hidden(fn); space[7]++; return got; }
C
cc $flags -o host host.c -ldl
cc $flags -shared -fPIC -o first.so plugin.c
cc $flags -DOTHER -shared -fPIC -o other.so plugin.c
cp first.so plugin.so
touch go
./host "$PWD/plugin.so" go &
pid=$!
in_plugin="leaf step work hidden plugin main"
running() {	# WHAT
	take data -p $pid -- sleep 0.4
	has_stacks data "$1" "$in_plugin" _start
	tacho record -q -e cpu-clock:u -F 1999 --call-graph dwarf,raw -o data -p $pid -- sleep 0.4
	has_stacks data "$1, read from copies of the stack" "$in_plugin" _start
}
wait_for 20 grep -q plugin.so /proc/$pid/maps
running "a library that was opened"
if [ "$(id -u)" = 0 ]; then	# others cannot open the files by /proc/PID/map_files
	cp other.so new.so
	mv new.so plugin.so
	running "a library that was replaced"
	rm plugin.so
	running "a library that was deleted"
	rm host
	running "a program and a library that were deleted"
fi
rm go
wait $pid

# The dynamic linker starts without call frame information: its stacks are whole as well, and counted as such.
tacho record -e cpu-clock:u -F 4999 --call-graph dwarf,65528 -o data sh -c 'for i in $(seq 60); do /bin/true; done' 2>err
share=$(sed -n 's/.*Unwound [0-9]* stacks, \([0-9]*\).*/\1/p' err)
[ "${share:-0}" -ge 95 ] || fail "not whole: $(cat err)"
