# Source lines as keys and in call graphs, samples as the values of call graphs, counts of threads:
# as perf has them. Samples in the C library are left out, and its start-up code from the graphs'
# lines: addr2line of binutils 2.40, which perf asks, takes it for another file; so are _init, which is
# sampled where its page comes late, and frames without a name.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
stored_c_program w -g <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI void leaf1(long n) { for (long i = 0; i < n; i++) x += i; }
NI void leaf2(long n) { for (long i = 0; i < n; i++)
	x ^= i; }
NI void rec(int d, long n) { if (d) { rec(d - 1, n); x++; } else leaf1(n); leaf2(n / 3); }
NI void mid(long n) { leaf1(n); leaf2(n * 2);
	for (long i = 0; i < n; i++)
		x -= i; }
NI void spin(long n) { for (long i = 0; i < n; i++) x += i; x++; }
NI void light_work(void) { for (long i = 0; i < 20000; i++) x += i; }
NI void both(void) { for (int i = 0; i < 3; i++) spin(20000); light_work(); x++; }
NI void way(void) { both(); x++; }
NI void deep(void) { for (int i = 0; i < 700; i++) { way(); for (long k = 0; k < 20000; k++) x += k; } }
NI void work(const char *how)
{
	if (*how == 'd')
		deep();
	else
		for (int i = 1500; i; i--) {
			mid(20000);
			rec(3, 10000);
		}
	x++;
}
C
stored g.data live_perf record -q -e cpu-clock:u -F 2000 -g -o g.data ./w
stored deep.data live_perf record -q -e cpu-clock:u -F 2000 -g -o deep.data ./w deep
cat >t.c <<'C'
#include <pthread.h>
volatile long x;
static void *run(void *n) { for (long i = 0; i < (long)n; i++) x += i; return 0; }
int main(void)
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], 0, run, (void *)((i + 1) * 20000000));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
}
C
stored_program t cc -g -O1 -pthread -Wl,--build-id -o t t.c
stored t.data tacho record -q -s -e cpu-clock:u -F 2000 -o t.data ./t

# perf 6.1 calls the rest of a level inlined, or not, by chance.
same() {	# FILE OPTION...
	perf report --stdio --no-inline -i "$@" </dev/null 2>/dev/null | sed 's/\[\.\.\.\] (inlined)/[...]/' |
		grep -v -e 'Tip:' -e '0x' -e '_init' -e '??' | sed 's, :0$,,' | sed 's/_start w\.c:0$/_start/; s/libc.start.*:[0-9]*//' >perf.txt
	tacho report --stdio -i "$@" </dev/null 2>err | grep -v -e 'Tip:' -e '0x' -e '_init' -e '??' | sed 's, :0$,,' | sed 's/_start w\.c:0$/_start/; s/libc.start.*:[0-9]*//' >tacho.txt
	[ "$(grep -c '%' tacho.txt)" -gt 0 ] || { cat err; fail "nothing: $*"; }
	diff perf.txt tacho.txt || fail "not the same: $*"
}
same g.data -d w --no-children -g none -s srcline
same g.data -d w --no-children -g none -s srcline,dso,sym
same g.data -d w --no-children -g none -s srcfile,comm
same g.data -d w --no-children -s srcline,srcfile
same g.data -d w --no-children -s srcline,sym -g caller
same g.data -d w --no-children -g address
same g.data -d w -g address
same g.data -d w -g srcline
same g.data -g count
same g.data -g count --no-children -s comm
same g.data -g folded,count -s comm
same g.data -g flat,count --no-children
same g.data -g fractal,count
same deep.data -g fractal,count
# Half a sample more than the branch has.
share=$(tacho report --stdio -q --no-children -g none -s sym -n -t, -i deep.data |
	awk -F, '{ all += $2 } /light_work/ { n = $2 } END { print (n + 0.5) / all * 100 }')
same deep.data -g graph,$share,count
same deep.data -g graph,$share,count --no-children -s comm
same g.data --symbol-filter leaf -g none
same g.data --symbol-filter leaf --no-children
same g.data --no-skip-empty -g none
same t.data -T
[ "$(tacho report -i t.data -T -q | grep -c '^ *[0-9]* *[0-9]* *[0-9]*$')" -ge 3 ]
tacho report -i g.data --no-children -g none -s srcline -q | grep -q 'w.c:5 *$'
[ "$(status_of tacho report -i g.data -T -q)" = 1 ]
grep -q "no thread.s counts were recorded" err
