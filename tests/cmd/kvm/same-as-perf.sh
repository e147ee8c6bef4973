# perf 7's tables of the same recordings. It shows 0 as the shortest time with --vcpu; on arm64 its times are those in the guest
# before the exit, so only numbers of exits are compared.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
of_perf() {
	newest kvm "$@" 2>&1
}
for name in intel amd arm; do
	stored $name.data python3 "$SUPPORT/kvm-recording"
	for event in vmexit mmio ioport; do
		[ $name$event != armmmio ] && [ $name$event != armioport ] || continue
		for options in "" "-p 100" "-k mean_t" "-k max_t" "-p 3,101 -k time" "--vcpu 0"; do
			expected of_perf -i $name.data stat report --stdio --event $event $options >perf.txt
			tacho kvm -i $name.data stat report --event $event $options >tacho.txt
			grep -q 'Total Samples:[1-9]' perf.txt || [ "$name$options" = "arm-p 3,101 -k time" ] || fail "perf shows nothing: $name $event $options"
			case $options in
			--vcpu*) sed -i 's/\(% *[0-9.]*% *\)[0-9.]*us/\1-us/' perf.txt tacho.txt ;;
			esac
			case $name$options in
			arm | arm-p\ 100 | arm--vcpu*)
				grep %  perf.txt | cut -c 1-61 >a
				grep %  tacho.txt | cut -c 1-61 >b
				mv a perf.txt
				mv b tacho.txt
				;;
			arm*) continue ;;
			esac
			diff perf.txt tacho.txt || fail "not the same: $name $event $options"
		done
	done
done
