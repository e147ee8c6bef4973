# inject --aslr moves the kernel as well, and leaves out samples whose data may contain addresses.
. "$SUPPORT/lib.sh"
need_root
tacho record -q -e cpu-clock:k -F 4000 -o kernel.data -- dd if=/dev/urandom of=/dev/null bs=1M count=40 2>/dev/null
tacho inject --aslr -i kernel.data -o moved.data
tacho report -i kernel.data -s sym >kernel.txt
tacho report -i moved.data -s sym >moved.txt
grep -q '%.*\[k\] [a-z_]' kernel.txt || skip "no kernel symbols"
# Code outside of all mappings, such as that of trampolines, has no address in the copy.
grep -v '\[k\] 0x' kernel.txt | grep % >wanted
grep -v '\[k\] 0x' moved.txt | grep % >got
cmp wanted got || fail "the copy shows other kernel functions"
tacho script -i kernel.data -F ip | sort -u >before
tacho script -i moved.data -F ip | sort -u >after
[ -z "$(comm -12 before after)" ] || fail "kernel addresses in the copy: $(comm -12 before after)"

need_tracefs
tacho record -q -e sched:sched_switch -c 1 -a -o switches.data -- sleep 0.2
n=$(tacho script -i switches.data | grep -c sched_switch)
[ "$n" -gt 0 ] || fail "no switches were recorded"
tacho inject --aslr -i switches.data -o none.data 2>err
grep -q "^tacho inject: $n samples .* were left out" err || fail "$(cat err)"
[ -z "$(tacho script -i none.data)" ] || fail "tracepoint data is in the copy"
