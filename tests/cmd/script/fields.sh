# Fields that need special hardware, on hand-made recordings.
. "$SUPPORT/lib.sh"
export TZ=UTC

show() {	# KIND OPTION...
	show_kind=$1
	shift
	echo "== $show_kind $*"
	tacho script -i "$show_kind.data" "$@"
}

for kind in memory weight branches registers faults bpf cgroups clock; do
	"$TEST_BIN/make-samples" $kind $kind.data
done
show memory -F data_src
show memory -F weight,ins_lat,retire_lat,ip
show memory -F addr,phys_addr,data_page_size,code_page_size
show weight -F weight
show branches -F brstack
show branches -F brstacksym,dso
show registers -F iregs,uregs
show faults -F sw:addr,ip
show faults -F +addr,-ip,-sym,-dso,-tid,-period
show bpf -F -tid
show cgroups -F comm,cgroup
show clock -F comm,tod
show clock -F comm,tod,time --ns
show clock -F event,flags,ip

# record -k notes down what time of day it is by that clock
if tacho record -q -k monotonic -e cpu-clock -o k.data sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' 2>err; then
	now=$(date +%s)
	then=$(date -d "$(tacho script -i k.data -F tod | head -n 1)" +%s)
	[ $((now - then)) -ge 0 ] && [ $((now - then)) -lt 3600 ] || fail "tod is $then, now it is $now"
fi

for field in synth ipc callindent machine_pid vcpu; do
	tacho script -i branches.data -F comm,$field 2>err >out || fail "$(cat err)"
	grep -q "the field '$field' is always empty: .* not " err || fail "no note: $(cat err)"
done
refused 1 tacho script -i faults.data -F data_src
refused 1 tacho script -i faults.data -F tod
grep -q 'record with -k' err || fail "$(cat err)"
# Every name that perf has is known.
for field in comm tid pid time cpu event trace ip sym dso dsoff addr symoff srcline period iregs uregs \
	brstack brstacksym flags data_src weight bpf-output brstackinsn brstackinsnlen brstackdisasm \
	brstackoff callindent insn disasm insnlen synth phys_addr metric misc srccode ipc tod \
	data_page_size code_page_size ins_lat machine_pid vcpu cgroup retire_lat brcntr; do
	status_of tacho script -i faults.data -F $field >/dev/null
	! grep -q 'no field is called' err || fail "$(cat err)"
done
