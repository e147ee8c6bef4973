# -S and --dsos: samples in these functions and objects, of those that are shown without them.
. "$SUPPORT/lib.sh"
need cc
cat >w.c <<'C'
volatile long x;
__attribute__((noinline)) void red(void) { for (long i = 0; i < 30000000; i++) x += i; }
__attribute__((noinline)) void green(void) { for (long i = 0; i < 30000000; i++) x ^= i; }
__attribute__((noinline)) void blue(void) { for (long i = 0; i < 30000000; i++) x -= i; }
int main(void) { red(); green(); blue(); }
C
cc -O1 -o w w.c
tacho record -q -e cpu-clock -F 2000 -o file ./w 2>err || skip "cannot record here: $(cat err)"
tacho script -i file >all
for name in red green blue; do
	grep " $name+" all >want || fail "no samples in $name"
	tacho script -i file -S $name | diff want - || fail "-S $name"
done
grep -e ' red+' -e ' blue+' all >want
tacho script -i file --symbols red,blue | diff want - || fail "two names"
tacho script -i file -S red -S blue | diff want - || fail "-S twice"
grep '/w)$' all >want
tacho script -i file --dsos w | diff want - || fail "--dsos by its name"
tacho script -i file --dsos "$PWD/w" | diff want - || fail "--dsos by its path"
tacho script -i file --dsos w -S green | grep -vq ' green+' && fail "both"
[ "$(tacho script -i file -S nothing | wc -l)" = 0 ] || fail "a function that is not there"
[ "$(tacho script -i file -S red --json | wc -l)" = "$(grep -c ' red+' all)" ] || fail "--json"

# Addresses, and ranges that begin there.
hottest=$(tacho script -i file -F ip --dsos w | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
grep " $hottest " all >want
tacho script -i file -S "0x$hottest" | diff want - || fail "an address"
{ grep " $hottest " all; grep ' red+' all; } | sort -u >want
tacho script -i file -S "0x$hottest,red" | sort | diff want - || fail "an address and a name"
tacho script -i file >all -F ip
for bytes in 1 3 16 64; do
	awk -v from="$hottest" -v n=$bytes 'function value(hex,  v, i) {
			v = 0
			for (i = 1; i <= length(hex); i++)
				v = v * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return v
		}
		{ v = value($1) - value(from); if (v >= 0 && v < n) print }' all >want
	tacho script -i file -F ip -S "0x$hottest" --addr-range $bytes | diff want - || fail "--addr-range $bytes"
done
refused 1 tacho script -i file -S red --addr-range 16
grep -q 'begins at an address in -S' err || fail "$(cat err)"
