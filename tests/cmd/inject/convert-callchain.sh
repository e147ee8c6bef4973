# --convert-callchain: the copy has call chains instead of copies of stacks, and they are those that a reader of the
# original finds. The mapped objects are not needed any more.
. "$SUPPORT/lib.sh"
case $(uname -m) in x86_64 | aarch64) ;; *) skip "stacks are unwound on x86-64 and arm64 only" ;; esac
cp "$TEST_BIN/deep" deep
tacho record -q -e cpu-clock:u -F 1999 --call-graph dwarf,raw -o raw.data ./deep plain 2>err || skip "cannot record: $(cat err)"
tacho evlist -v -i raw.data | grep -q STACK_USER || fail "no copies of stacks were recorded"
chains() {	# FILE
	tacho script -F comm,tid,time,event,ip -i "$1" || fail "script -i $1"
}
chains raw.data >wanted
tacho inject --convert-callchain -i raw.data -o new.data 2>err || { cat err; fail "inject"; }
[ ! -s err ] || { cat err; fail "a message without a reason"; }
tacho inject --convert-callchain -b -i raw.data >stream 2>err || { cat err; fail "inject to a stream"; }
tacho record -q -e cpu-clock:u -F 1999 --call-graph dwarf,raw -o - "$TEST_BIN/deep" plain |
	tacho inject --convert-callchain -o piped.data
mv deep gone
for copy in new.data stream; do
	chains $copy >found
	cmp wanted found || { diff wanted found | head -n 20; fail "$copy has other chains"; }
done
for copy in new.data stream piped.data; do
	case $(tacho evlist -v -i $copy) in *STACK_USER* | *REGS_USER*) fail "the copies of stacks are still in $copy" ;; esac
done
mv gone deep
tacho script -F ip,sym -i piped.data | grep -q middle_plain || fail "the callers are missing in a converted stream"
[ "$(wc -c <new.data)" -lt $(($(wc -c <raw.data) / 4)) ] || fail "the copy is not smaller: $(wc -c raw.data new.data)"

# Nothing to convert: it is copied, and a message says so. Together with --aslr the stacks would be lost.
tacho inject --convert-callchain -i new.data -o again.data 2>err || { cat err; fail "without stacks"; }
grep -q 'has no copies of stacks' err || { cat err; fail "no message about a recording without stacks"; }
chains again.data | cmp wanted - || fail "again.data has other chains"
refused 129 tacho inject --convert-callchain --aslr -i raw.data -o none.data
[ ! -e none.data ] || fail "a file is left"
# What comes before damage is converted.
head -c $(($(wc -c <raw.data) / 2)) raw.data >cut.data
[ "$(status_of tacho inject --convert-callchain -i cut.data -o part.data)" = 1 ] || fail "damage passed as fine"
chains part.data >part 2>err || { cat err; fail "part.data is not readable"; }
[ "$(grep -c cpu-clock part)" -gt 10 ] || fail "nothing was kept"
