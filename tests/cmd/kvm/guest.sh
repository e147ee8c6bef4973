# A real guest: its accesses are counted as often as it made them, where KVM has these tracepoints.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
[ -e /sys/kernel/tracing/events/kvm/kvm_pio ] || {
	refused 1 tacho kvm stat record -a true
	grep -q 'no tracepoint kvm:kvm_exit' err || fail "$(cat err)"
	refused 1 tacho kvm stat live
	skip "this kernel has no KVM"
}
work=$TEST_BIN/kvm-guest
[ -x "$work" ] || skip "the guest is for x86-64"
"$work" 1 1 1 >out || skip "$(cat out)"
tacho kvm stat record -q -o guest.data "$work" 300 50 20 >out || fail "$(cat out)"
[ "$(cat out)" = "io 300 mmio 70 hlt 1" ] || fail "the guest: $(cat out)"
tacho script -i guest.data >lines
[ "$(grep -c 'kvm:kvm_pio: pio_write at 0x3f8 ' lines)" = 300 ] || fail "ports: $(grep -c kvm_pio lines)"
[ "$(grep -c 'kvm:kvm_mmio: mmio write len 1 gpa 0x9010 ' lines)" = 20 ] || fail "writes: $(grep -c 0x9010 lines)"
tacho kvm stat report --event ioport -i guest.data >ports 2>err
if ! grep -q kvm_entry lines; then	# a KVM without VMX and SVM does not report entries
	grep -q 'no virtual CPU enters its guest' err || fail "$(cat ports err)"
	skip "this KVM does not report entries into guests"
fi
# The last access before the first entry of the thread cannot be measured.
awk '/0x3f8:POUT/ { n = $2 } END { exit !(n >= 298 && n <= 300) }' ports || fail "$(cat ports)"
tacho kvm stat report --event mmio -i guest.data | awk '/0x9010:W/ { n = $2 } END { exit !(n == 20) }' || fail "writes to the device"
tacho kvm stat report -i guest.data | grep -qiE '(IO_INSTRUCTION|io) ' || fail "exits"
