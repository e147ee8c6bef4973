# run: slow
# Call chains of breakpoint samples equal gdb's backtraces at the same stops, with names and inlined functions: C, C++ and Rust,
# gcc and clang, with and without optimization, static, stripped with a debug file, link-time optimization, other linkers and libcs.
. "$SUPPORT/lib.sh"
need gdb python3 gcc g++ nm setarch
corpus=$SOURCE/tests/symbol/stacks
tacho record -q -e mem:0x1000:x:u -o file true 2>err || skip "no breakpoint events here: $(cat err)"
n=0
same() {	# [--ends-early] PROGRAM [ADDRESS]
	status=0
	"$corpus/compare" "$@" >result || status=$?
	cat result
	[ $status = 0 ] || fail "differs from gdb"
	n=$((n + 1))
}
build() {	# NAME COMPILER OPTION...: 1 if this machine cannot build it
	build_name=$1
	shift
	"$@" -o "$build_name" 2>build.err || { echo "$build_name: not built: $(head -n 1 build.err)"; return 1; }
}
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	build c-$cc-O0 $cc -O0 "$corpus/stacks.c" -pthread && same c-$cc-O0
	build c-$cc-O2 $cc -O2 -g -fomit-frame-pointer "$corpus/stacks.c" -pthread && same c-$cc-O2
	build c-$cc-O3-static $cc -O3 -static -fomit-frame-pointer "$corpus/stacks.c" -pthread && same c-$cc-O3-static
	build c-$cc-realign $cc -O2 -no-pie -mstackrealign "$corpus/stacks.c" -pthread && same c-$cc-realign
	build c-$cc-lto $cc -O2 -flto -static-pie "$corpus/stacks.c" -pthread && same c-$cc-lto
	build c-$cc-fp $cc -Os -fno-omit-frame-pointer "$corpus/stacks.c" -pthread && same c-$cc-fp
	build c-$cc-lld $cc -O2 -fuse-ld=lld -Wl,-z,noseparate-code "$corpus/stacks.c" -pthread && same c-$cc-lld
	build c-$cc-frame $cc -O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables "$corpus/stacks.c" -pthread &&
		same c-$cc-frame
	build c-$cc-zlib $cc -O2 -g -gz=zlib -fno-asynchronous-unwind-tables "$corpus/stacks.c" -pthread && same c-$cc-zlib
	cxx=$(echo $cc | sed 's/gcc/g++/; s/clang/clang++/')
	build cpp-$cc-O2 $cxx -O2 -g "$corpus/stacks.cpp" && same cpp-$cc-O2
	build cpp-$cc-O3 $cxx -O3 -fomit-frame-pointer -fno-plt "$corpus/stacks.cpp" && same cpp-$cc-O3
	build cpp-$cc-O3-dwarf4 $cxx -O3 -g -gdwarf-4 "$corpus/stacks.cpp" && same cpp-$cc-O3-dwarf4
	build cpp-$cc-lto $cxx -O3 -g -flto "$corpus/stacks.cpp" && same cpp-$cc-lto
	build cpp-$cc-static $cxx -O2 -static "$corpus/stacks.cpp" && same cpp-$cc-static
done
# Stripped, with the symbols in a debug file.
gcc -O2 -g -fomit-frame-pointer -o c-stripped "$corpus/stacks.c" -pthread
objcopy --only-keep-debug c-stripped c-stripped.debug
cp c-stripped c-stripped.sym
strip --strip-all c-stripped
objcopy --add-gnu-debuglink=c-stripped.debug c-stripped
same c-stripped
# In the stubs of the PLT: at each of their instructions.
gcc -O2 -no-pie -Wl,-z,lazy -fcf-protection=none -o c-plt "$corpus/stacks.c" -pthread
plt=$(objdump -d -j .plt c-plt | sed -n 's/^0*\([0-9a-f]*\) <qsort@plt>:$/\1/p')
for at in 0 6 11; do
	[ -z "$plt" ] || same c-plt "$(printf %x $((0x$plt + at)))"
done
if command -v musl-gcc >/dev/null; then	# Debian's musl has no call frame information, and its signal frames are not marked: gdb guesses
	build c-musl musl-gcc -O2 -g -DNO_SIGNALS "$corpus/stacks.c" -pthread && same --ends-early c-musl
	build c-musl-static musl-gcc -O2 -static -g -DNO_SIGNALS "$corpus/stacks.c" -pthread && same --ends-early c-musl-static
fi
if command -v rustc >/dev/null; then
	HOME=$(getent passwd "$(id -u)" | cut -d : -f 6)	# rustup has its compilers there
	build rust rustc -O "$corpus/stacks.rs" && same rust
	build rust-g rustc -O -g "$corpus/stacks.rs" && same rust-g
	# lang_start() has neither call frame information nor a frame pointer; gdb disassembles it.
	build rust-abort rustc -O -C panic=abort "$corpus/stacks.rs" && same --ends-early rust-abort
	build rust-debug rustc "$corpus/stacks.rs" && same rust-debug
fi
[ $n -ge 10 ] || fail "only $n programs were compared"
