# Words for the tests of pictures and exports: `. "$SUPPORT/flame.sh"` after lib.sh.

record_sample() {	# FILE: a recording with call chains, of a program with known functions
	cat >work.c <<-'END'
	#include <unistd.h>
	volatile double x = 1;
	__attribute__((noinline)) void inner_loop(int n) { while (n--) x = x * 1.000001 + 0.1; }
	__attribute__((noinline)) void outer_call(int n) { inner_loop(n); x += 1; }
	__attribute__((noinline)) void ask_kernel(int n) { while (n--) { getppid(); for (int k = 0; k < 100; k++) x += k; } }
	int main(void) { for (int i = 0; i < 40; i++) { outer_call(1000000); ask_kernel(4000); } return 0; }
	END
	cc -O0 -fno-omit-frame-pointer -o work work.c
	tacho record -q -e cpu-clock -F 999 -g -o "$1" -- ./work || skip "cannot record here"
}

browser() {	# ARG...: chromium without a window; nothing of it stays
	command -v chromium >/dev/null || skip "needs chromium"
	timeout 90 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$PWD/chrome" --window-size=1300,900 "$@" 2>browser.log
}

# Fetched once for all tests of this build; a network that takes longer leaves a test no time.
npm_packages() {	# NAME...: into ./node_modules, or the test is skipped
	command -v npm >/dev/null || skip "needs npm"
	export npm_config_cache="$BUILD/web/npm-cache" npm_config_prefer_offline=true
	timeout 60 npm install --no-audit --no-fund --prefix . "$@" >npm.log 2>&1 ||
		skip "npm cannot fetch $*"
}
