# inject --aslr replaces every address, and the copy still shows the same functions.
. "$SUPPORT/lib.sh"
tacho record -q -e cpu-clock:u -F 4000 -g -o whole.data -- "$TEST_BIN/burn" -t 1 -m 300 >/dev/null
tacho inject --aslr -i whole.data -o moved.data
tacho inject --aslr <whole.data >stream.data
for copy in moved stream; do
	tacho report -i $copy.data --no-children -g none -s comm,dso,sym | grep -v "^#" >$copy.txt
done
tacho report -i whole.data --no-children -g none -s comm,dso,sym | grep -v "^#" >whole.txt
grep -q '%.*burn' whole.txt || fail "the recording has no samples of burn"
cmp whole.txt moved.txt || fail "the copy shows other functions"
cmp whole.txt stream.txt || fail "the stream shows other functions"

addresses() {	# FILE: of its samples, call chains and mappings
	tacho script -i "$1" -F ip,sym | awk '$1 ~ /^[0-9a-f]+$/ && $1 !~ /^0+$/ { print $1 }'
	tacho script -i "$1" --show-mmap-events | sed -n 's/.*PERF_RECORD_MMAP2\{0,1\} [0-9]*\/[0-9]*: \[0x\([0-9a-f]*\)(.*/\1/p'
}
addresses whole.data | sort -u >before
addresses moved.data | sort -u >after
[ "$(wc -l <before)" -gt 10 ] && [ "$(wc -l <after)" -gt 10 ] || fail "few addresses: $(wc -l before after)"
[ -z "$(comm -12 before after)" ] || fail "original addresses in the copy: $(comm -12 before after)"

# The addresses of the copy do not depend on those of the original.
tacho record -q -e cpu-clock:u -F 4000 -o other.data -- "$TEST_BIN/burn" -t 1 -m 100 >/dev/null
tacho inject --aslr -i other.data -o other-moved.data
for f in moved other-moved; do
	tacho script -i $f.data --show-mmap-events | sed -n 's/.*MMAP2.*\[0x\([0-9a-f]*\)(.*r-xp .*\/burn$/\1/p' >$f.start
	[ -s $f.start ] || fail "burn is not mapped in $f.data"
done
cmp moved.start other-moved.start || fail "two runs are distinguishable"

# Registers and stacks are removed, also from the event: the innermost function remains.
tacho record -q -e cpu-clock:u -F 4000 --call-graph dwarf,1024,raw -o stacks.data -- "$TEST_BIN/burn" -t 1 -m 100 >/dev/null
tacho inject --aslr -i stacks.data -o bare.data
tacho evlist -v -i stacks.data | grep -q 'sample_type:.*STACK_USER' || fail "no stacks were recorded"
tacho evlist -v -i bare.data | grep 'sample_type:.*\(STACK_USER\|REGS\)' && fail "the copy has stacks"
tacho script -i stacks.data -F ip,sym --max-stack 1 2>/dev/null | awk '{ print $2 }' >stacks.txt
tacho script -i bare.data -F ip,sym | awk '{ print $2 }' >bare.txt
grep -q '[a-z]' bare.txt && cmp stacks.txt bare.txt || fail "samples were lost with their stacks"
[ "$(stat -c %s bare.data)" -lt $(($(stat -c %s stacks.data) / 2)) ] || fail "the stacks are in the copy"
