# Stored recordings for command tests: `. "$SUPPORT/stored.sh"`, after lib.sh.
#
# A test that compares tacho with perf needs a recording and what perf prints of it. Both are stored below
# tests/data/recordings/COMMAND/TEST/, so that the test gives the same result on every machine, needs no perf,
# and can run beside others (perf 6.1 crashes while another recorder runs). tests/data/recordings/make runs a
# test with STORE_RECORDINGS set to that directory; then the commands really run and their results are stored.
#
#	stored FILE COMMAND...	FILE, which COMMAND makes. It is stored as FILE.xz.
#	stored_program FILE COMMAND...	the same for a program. tacho finds its symbols by its build id, since
#				the path in the recording is that of the directory where it was stored.
#	perf ARG...		prints what perf printed with these arguments
#	live_perf record ...	of lib.sh, is what makes a recording
#	expected COMMAND...	the same for any command
#
# The programs are linked without the C library: a recording that is stored must not need another file's symbols.

stored_test=$(basename "$(dirname "$0")")/$(basename "$0" .sh)
stored_dir=$TEST_DATA/recordings/$stored_test

if [ -n "${STORE_RECORDINGS:-}" ]; then
	stored_dir=$STORE_RECORDINGS/$stored_test
	mkdir -p "$stored_dir"

	stored() {
		stored_file=$1
		shift
		"$@" || fail "cannot store $stored_file"
		xz -9 -e -c "$stored_file" >"$stored_dir/$stored_file.xz"
	}

	stored_program() {
		stored "$@"
	}

	expected() {
		"$@" 2>/dev/null >"$stored_dir/answer" || true
		{
			echo "\$ $*"
			sed 's/^/ /' "$stored_dir/answer"
		} >>"$stored_dir/answers"
		cat "$stored_dir/answer"
		rm "$stored_dir/answer"
	}

	perf() {
		expected command perf "$@"
	}
else
	need xz
	[ -d "$stored_dir" ] || fail "nothing is stored for $stored_test; see tests/data/recordings/make"
	[ ! -e "$stored_dir/answers.xz" ] || xz -dc "$stored_dir/answers.xz" >"$HOME/perf-answers"

	stored() {
		xz -dc "$stored_dir/$1.xz" >"$1"
	}

	stored_program() {
		stored "$1"
		chmod +x "$1"
		stored_id=$(file -b "$1" | sed -n 's/.*BuildID\[sha1\]=\([0-9a-f]*\).*/\1/p')
		[ ${#stored_id} = 40 ] || fail "$1 has no build id"
		stored_elf=$HOME/.debug/.build-id/$(printf %.2s "$stored_id")/${stored_id#??}
		mkdir -p "$stored_elf"
		cp "$1" "$stored_elf/elf"
	}

	expected() {
		awk -v wanted="\$ $*" '
			/^\$/ { on = !found && $0 == wanted; found = found || on; next }
			on { print substr($0, 2) }
			END { exit !found }' "$HOME/perf-answers" ||
			fail "no answer is stored to: $*; see tests/data/recordings/make"
	}

	perf() {
		expected command perf "$@"
	}
fi

# A program without the C library. STDIN has its functions, of which work() gets the last argument of the
# command line.
stored_c_program() {	# FILE [FLAG...]
	stored_c_name=$1
	shift
	cat - >"$stored_c_name.c"
	cat >>"$stored_c_name.c" <<-'END'
	static long exit_program(void)
	{
		long result;

		__asm__ volatile("syscall" : "=a"(result) : "0"(231L), "D"(0L) : "rcx", "r11", "memory");
		return result;
	}
	void start(long *sp) { work((const char *)sp[*sp]); exit_program(); }
	__asm__(".globl _start\n.type _start, @function\n_start: xor %ebp, %ebp\nmov %rsp, %rdi\ncall start\nhlt\n");
	END
	stored_program "$stored_c_name" cc -g0 -O1 -nostdlib -static -fno-builtin -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -fno-stack-protector -fcf-protection=none -ffreestanding \
		-Wl,--build-id -o "$stored_c_name" "$@" "$stored_c_name.c"
}
