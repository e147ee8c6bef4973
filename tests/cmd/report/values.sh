# Which values a table shows, as in perf 7: -s with overhead or latency shows only the values it names; recordings of
# parallel threads with context switches have a column Latency; a hierarchy with call chains has Children.
. "$SUPPORT/lib.sh"
need cc python3 readelf nm jq
cat >m.c <<'C'
#define NI __attribute__((noinline, noclone))
long data_one[16] = { 1 }, data_two[64] = { 2 };
static long data_three[8];
volatile long x;
NI void work_a(long n) { for (long i = 0; i < n; i++) x += data_one[i & 15]; }
NI void work_b(long n) { for (long i = 0; i < n; i++) x ^= data_two[i & 63]; }
NI void work_c(long n) { for (long i = 0; i < n; i++) data_three[i & 7] = x; }
NI void outer(long n) { work_a(n); work_b(n); x++; }
int main(int c, char **v) { (void)v; outer(c * 20000000); work_c(c); return 0; }
C
cc -g -O1 -fno-omit-frame-pointer -no-pie -o m m.c
for kind in branch memory switch; do
	"$SUPPORT/hardware-samples" $kind "$PWD/m" $kind.data
done
titles() {	# OPTION...: the titles of the columns
	tacho report --stdio -g none "$@" 2>err | sed -n '/^# *[A-Z].*[A-Za-z] *$/h; /^# \.\.\./{x;s/^# *//;s/  */ /g;s/ $//;p;q}'
}
has_titles() {	# TITLES OPTION...
	titles_wanted=$1
	shift
	[ "$(titles "$@")" = "$titles_wanted" ] || fail "$*: '$(titles "$@")', expected '$titles_wanted' $(cat err)"
}
# Latency.
has_titles "Overhead Latency Command Shared Object Symbol" -i switch.data
has_titles "Latency Overhead Symbol" -i switch.data -s sym --latency
has_titles "Latency Symbol" -i switch.data -s latency,sym
has_titles "Overhead Symbol" -i switch.data -s overhead,sym
has_titles "Overhead Latency Period Symbol" -i switch.data -s period,sym
has_titles "Overhead Latency Command / Symbol" -i switch.data -H -s comm,sym
has_titles "Overhead Symbol" -i switch.data -F overhead,sym
has_titles "Overhead Symbol" -i memory.data -s sym		# no switches
tacho report --json -i switch.data | jq -e '.events[0].entries | all(has("latency_percent"))' >/dev/null || fail JSON

# Weights are averages, also over the levels of a hierarchy.
has_titles "Overhead Weight1 Weight2 Weight3 Symbol" -i memory.data -s weight1,weight2,weight3,sym
tacho report -q -i memory.data -F weight1,comm | awk 'NF { print $2, $1 }' | sort >flat
tacho report -q -i memory.data -H -F weight1,comm,sym | awk '$2 ~ /^(m|made|helper)$/ { print $2, $1 }' | sort >levels
[ -s flat ]
diff flat levels
tacho report --json -i memory.data -F weight1,comm | jq -r '.events[0].entries[] | "\(.comm) \(.weight1)"' |
	awk '{ printf "%s %.1f\n", $1, $2 }' | sort | diff flat -
tacho report -q -i memory.data -F sample,weight1,local_weight | awk 'NF && $2 != $3 ".0" { exit 1 }' || fail "one weight"

# Keys of branches and memory on recordings without them: N/A.
[ "$(tacho report -q -i memory.data -s symbol_from,mispredict,cycles | awk 'NF { print $2, $3, $4 }')" = "N/A N/A N/A" ] ||
	fail "keys of branches"
[ "$(tacho report -q -i branch.data --no-branch-stack -s mem,symbol_daddr,tlb,dcacheline |
	awk 'NF { print $2, $3, $4, $5 }')" = "N/A N/A N/A N/A" ] || fail "keys of memory"
[ "$(tacho report -q -i memory.data -s mem | grep -c hit)" -gt 0 ] || fail "accesses without --mem-mode"
# Under the name perf, -s symbol has one more column, as with perf.
ln -s "$TACHO" perf
[ "$(./perf report -q -i memory.data -s symbol | awk 'NF { print $(NF - 1) $NF; exit }')" = -- ] || fail "no empty IPC"
./perf report -i memory.data -s comm,symbol | grep -q '^# Overhead .*Symbol  *IPC   \[IPC Coverage\]$' || fail "no title IPC"
./perf report -i memory.data -s sym | grep IPC && fail "IPC without -s symbol"
tacho report -i memory.data -s symbol | grep IPC && fail "IPC under the name tacho"
[ "$(tacho report -q -i memory.data -s simd | awk 'NF { print NF }')" = 1 ] || fail simd

# The size of the mapping with the code.
mapped=$(tacho script -G --show-mmap-events -i memory.data 2>&1 | sed -n 's/.*(\(0x[0-9a-f]*\)) .* r-xp .*\/m$/\1/p; s/.*\[0x[0-9a-f]*(\(0x[0-9a-f]*\)).*\/m$/\1/p' | head -n 1)
[ "$(tacho report -q -i memory.data -s dso_size | awk 'NF { print $NF; exit }')" = $((mapped)) ] || fail "dso_size: $mapped"

# -v: addresses, where symbols are from, paths.
start=$(nm m | awk '$3 == "work_b" { print $1 }' | sed 's/^0*//')
tacho report -v -i memory.data -s dso,sym --stdio 2>err | grep -q "%  $PWD/m *0x$start *d \[\.\] work_b$" || fail "-v"

# Children.
tacho record -q -e cpu-clock:u -F 2000 -g -o chains.data ./m 2>err || skip "cannot record: $(head -n 1 err)"
has_titles "Self Symbol" -i chains.data -s overhead,sym
has_titles "Children Symbol" -i chains.data -s overhead_children,sym
has_titles "Children Self Period Symbol" -i chains.data -s period,sym
has_titles "Children Overhead Command / Symbol" -i chains.data -H -s comm,sym
tacho report -q -i chains.data -g none -s sym | awk 'NF { print $1, $2, $4 }' | sort >flat
tacho report -q -i chains.data -g none -H -s comm,sym | awk 'NF > 3 { print $1, $2, $4 }' | sort >levels
grep -q ' 0.00% main$' flat || { cat flat; fail "no caller"; }
diff flat levels
# A level counts a sample once, however many of its functions are in the chain.
tacho report -q -i chains.data -g none -s dso | awk 'NF { print $3, $1, $2 }' | sort >flat
tacho report -q -i chains.data -g none -H -s dso,sym | awk 'NF == 3 { print $3, $1, $2 }' | sort >levels
diff flat levels
