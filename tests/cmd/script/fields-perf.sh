# Rarely used fields are printed as by perf script, if their text has not changed since 6.1.
. "$SUPPORT/lib.sh"
need perf
perf --version | grep -q ' 6\.1' || skip "needs perf 6.1 to compare with"
[ "$(uname -m)" = x86_64 ] || skip "needs x86-64, whose registers the recordings have"
export TZ=UTC

same() {	# KIND OPTION...
	same_kind=$1
	shift
	"$TEST_BIN/make-samples" "$same_kind" a.data "$TEST_BIN/touch-pages"
	perf script -i a.data "$@" >theirs 2>/dev/null || fail "perf: $same_kind $*"
	tacho script -i a.data "$@" >ours || fail "tacho: $same_kind $*"
	[ -s ours ] || fail "nothing: $same_kind $*"
	cmp theirs ours || fail "$same_kind $*: $(diff theirs ours)"
}

same memory -F comm,time,weight,ins_lat,ip,sym,symoff,dso
same memory -F comm,time,addr,phys_addr,data_page_size,code_page_size
same weight -F comm,time,weight
same registers -F comm,iregs
same registers -F comm,uregs
same faults -F comm,time,addr
same faults -F comm,time,addr,ip,sym,symoff,dso
same faults -F comm,flags,event
same faults -F +addr,-tid
same bpf -F -tid
same clock -F comm,tod
same clock -F comm,tod,time --ns
same clock -F comm,time,flags,ip
same branches -F comm,time,misc
# data_src: perf 6.1 knows fewer words, and prints no blank after a level without hit or miss
"$TEST_BIN/make-samples" memory a.data
perf script -i a.data -F time,data_src 2>/dev/null | grep -E 'LOAD|STORE|EXEC' | grep -v Remote | sed 's/ *$//' >theirs
tacho script -i a.data -F time,data_src | grep -E 'LOAD|STORE|EXEC' | grep -v Remote | sed 's/ *$//' >ours
[ -s ours ] || fail "no data_src"
cmp theirs ours || fail "data_src: $(diff theirs ours)"
# branches: perf 6.1 does not show speculation
perf_branches() { sed -E 's,/-([ ]),\1,g'; }
"$TEST_BIN/make-samples" branches a.data
perf script -i a.data -F time,brstack >theirs 2>/dev/null
tacho script -i a.data -F time,brstack | perf_branches >ours
cmp theirs ours || fail "brstack: $(diff theirs ours)"
