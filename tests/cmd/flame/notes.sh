# Incomplete stacks and missing names are reported with the objects they come from and the fix: on stderr and in the
# picture. A complete recording has no notes.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need cc strip xmllint
cat >work.c <<'END'
volatile double x = 1;
__attribute__((noinline)) void inner_loop(int n) { while (n--) x = x * 1.000001 + 0.1; }
__attribute__((noinline)) void outer_call(int n) { inner_loop(n); x += 1; }
int main(void) { for (int i = 0; i < 60; i++) outer_call(1000000); return 0; }
END
cc -O0 -fno-omit-frame-pointer -static -o whole work.c 2>err || cc -O0 -fno-omit-frame-pointer -o whole work.c
cp whole stripped
strip stripped
tacho record -q -e cpu-clock:u -F 999 -g -o whole.data -- ./whole || skip "cannot record here"
tacho record -q -e cpu-clock:u -F 999 -g -o stripped.data -- ./stripped
tacho flame -i whole.data -o whole.svg 2>err
! grep fix: err || fail "notes without a reason: $(cat err)"
! grep -q 'id="notes"' whole.svg || fail "notes in the picture"
tacho flame -i stripped.data -o stripped.svg 2>err
grep -Eq '^tacho flame: (100|9[0-9])\.[0-9] % of the samples are in functions without a name: stripped (100|9[0-9])\.[0-9] %( \(stripped: it has no symbols\))?$' err ||
	fail "$(cat err)"
grep -q '^  fix: install its debug package' err || fail "no fix: $(cat err)"
grep -q 'class="problem"[^>]*>[0-9.]* % of the samples are in functions without a name' stripped.svg || fail "nothing in the picture"
grep -q 'class="fix"[^>]*>Fix: install its debug package' stripped.svg || fail "no fix in the picture"
xmllint --noout stripped.svg
tacho flame -i stripped.data -o stripped.html 2>err
grep -q 'class="problem"' stripped.html || fail "nothing on the page"

# A stack that ends in code that uses the frame pointer for something else.
[ "$(uname -m)" = x86_64 ] || exit 0
cat >broken.c <<'END'
volatile unsigned x = 1;
__attribute__((noinline)) void spin(unsigned n) { while (n--) x = x * 3 + 1; }
__attribute__((noinline)) void clobbers(unsigned n)
{
	__asm__ volatile("push %%rbp; xor %%ebp, %%ebp; mov %%eax, %%edi; call spin; pop %%rbp"
			 : "+a"(n) : : "rdi", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}
int main(void) { for (int i = 0; i < 60; i++) clobbers(1000000); return 0; }
END
cc -O0 -fno-omit-frame-pointer -mno-red-zone -o broken broken.c
tacho flame -e cpu-clock:u -F 999 -o broken.svg -- ./broken 2>err
grep -Eq '^tacho flame: (100|9[0-9])\.[0-9] % of the stacks are incomplete, because they end too early: in broken (100|9[0-9])\.[0-9] %$' err ||
	fail "$(cat err)"
grep -q '^  fix: code without frame pointers needs --call-graph dwarf when it is recorded' err || fail "no fix: $(cat err)"
grep -q 'class="problem"[^>]*>[0-9.]* % of the stacks are incomplete' broken.svg || fail "nothing in the picture"
grep -q 'class="fix"[^>]*>Fix: code without frame pointers needs --call-graph dwarf' broken.svg || fail "no fix in the picture"
