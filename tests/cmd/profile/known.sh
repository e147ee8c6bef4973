# run: alone
# The stacks of a program whose profile is known, in the kernel and on samples, in all formats; the same functions as record.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
HOT="$TEST_BIN/hot"
share() {	# FUNCTION FILE: of samples in or below it, per cent
	awk -v f=";$1" '{ n = $NF; all += n; if (index($0, f ";") || index($0, f " ")) part += n } END { printf "%.0f\n", all ? part * 100 / all : 0 }' "$2"
}
for way in $ways; do
	no=${way#--bpf}
	tacho profile $no -F 1999 -f folded -- "$HOT" deep >folded 2>err || { cat err >&2; fail "$way fails"; }
	[ ! -s err ] || fail "$way: $(cat err)"
	at_least "share of heavy_work" "$(share heavy_work folded)" 40 85
	at_least "share of light_work" "$(share light_work folded)" 12 40
	grep -q '^hot;.*main;.*heavy_work;spin [0-9]*$' folded || fail "$way: no whole stack: $(cat folded)"
	at_least "samples" "$(awk '{ n += $NF } END { print n }' folded)" 200 4000

	tacho profile $no -F 1999 -- "$HOT" deep >table
	grep -qE '^ +[0-9]+ +[0-9.]+% +[0-9.]+%  spin +hot$' table || fail "$way: $(cat table)"
	tacho profile $no -F 1999 -f stacks -- "$HOT" deep >stacks
	grep -qE '^    -                hot \([0-9]+\)$' stacks && grep -q '^    heavy_work$' stacks || fail "$way: $(cat stacks)"
	tacho profile $no -F 1999 -o flame.svg -- "$HOT"
	python3 -c 'import xml.dom.minidom; assert "heavy_work" in xml.dom.minidom.parse("flame.svg").toxml()'
	tacho profile $no -F 1999 -f html -o page -- "$HOT"
	grep -q '<html' page || fail "$way: no HTML"
	tacho profile $no -F 1999 -o hot.pb.gz -- "$HOT"
	[ "$(head -c 2 hot.pb.gz | od -An -tx1 | tr -d ' ')" = 1f8b ] || fail "$way: no pprof"

	# -p, for a time; processes that started before.
	"$TEST_BIN/spin" -c 20 &
	spin=$!
	sleep 0.2
	tacho profile $no -p $spin -f folded 0.5 >folded
	kill $spin
	wait $spin 2>/dev/null || true
	[ -s folded ] && ! grep -v '^spin;' folded || fail "$way: -p: $(cat folded)"
done

# The functions of record, by their samples of their own.
tacho record -q -F 1999 --call-graph fp -o data -- "$HOT" deep
tacho export -q -f folded -i data -o recorded 2>err || tacho export -f folded -i data -o recorded
tacho profile -F 1999 -f folded -- "$HOT" deep >counted
for f in heavy_work light_work; do
	a=$(share $f counted) b=$(share $f recorded)
	at_least "$f: $a % counted, $b % recorded" "$((a - b + 100))" 90 110
done

refused 129 tacho profile ten
refused 129 tacho profile -f nonsense 1
grep -q "unknown format 'nonsense'" err || fail "$(cat err)"
refused 129 tacho profile -a -p 1 1
refused 129 tacho profile -e no-such-event 1
refused 129 tacho profile -e '{cycles,instructions}' 1
HOME=/ refused 1 unprivileged "$BUILD/tacho" profile 1
grep -q 'CAP_PERFMON' err || fail "$(cat err)"
