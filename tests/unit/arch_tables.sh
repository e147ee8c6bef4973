#!/bin/sh
# sys/arch/: the counter tables of the processors this machine is not. Compiles them and checks in
# the assembly that every index reads a register of its own, in order.
src=$1
clang=$(command -v clang || command -v clang-14) || { echo "skipped: no clang to cross-compile with"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

compile() {	# ARCH TARGET
	"$clang" --target="$2" -ffreestanding -std=gnu17 -O1 -Wall -Wextra -Werror -S -I "$src/src" \
		"$src/src/sys/arch/$1.c" -o "$dir/$1.s" 2>"$dir/log" && return 0
	grep -q 'unable to create target\|unknown target' "$dir/log" &&
		{ echo "skipped: this clang has no $2"; exit 77; }
	cat "$dir/log"
	exit 1
}

# The registers of the table's functions, in the table's order.
registers() {	# ARCH PATTERN
	sed -n '/^readers:/,/\.size/p' "$dir/$1.s" | grep -o 'counter_[0-9]*\|cycle_counter' |
	while read -r fn; do
		sed -n "/^$fn:/,/\.cfi_endproc\|Lfunc_end/p" "$dir/$1.s" | grep -io "$2" | head -n 1
	done
}

compile arm64 aarch64-linux-gnu
registers arm64 'PMEVCNTR[0-9]*_EL0\|PMCCNTR_EL0' | tr A-Z a-z >"$dir/got"
{ for i in $(seq 0 30); do echo "pmevcntr${i}_el0"; done; echo pmccntr_el0; } >"$dir/want"
diff "$dir/want" "$dir/got" || { echo "arm64: a counter reads another's register"; exit 1; }

compile riscv riscv64-linux-gnu
registers riscv 'hpmcounter[0-9]*\|rdcycle\|rdtime\|rdinstret\|csrr.*, *\(cycle\|time\|instret\)' |
	sed 's/^rd//; s/.*, *//' >"$dir/got"
{ echo cycle; echo time; echo instret; for i in $(seq 3 31); do echo "hpmcounter$i"; done; } >"$dir/want"
diff "$dir/want" "$dir/got" || { echo "riscv: a counter reads another's register"; exit 1; }
echo "arm64 and riscv: every counter has its own register"
