# proves: libtacho reads cycles and instructions without a system call where the kernel allows it, and agrees with the known count
# proves: where it is not allowed, the same counts come by read()
# guest: arch=arm64 kernel=bookworm exact=yes

for allowed in 0 1; do
	echo $allowed >/proc/sys/kernel/perf_user_access
	for event in cycles:u instructions:u armv8_pmuv3/cpu_cycles/u armv8_pmuv3/inst_retired/u; do
		meter $event >/tmp/read
		read -r way sum regions cost </tmp/read
		case $event in
		*cycles*) wanted=80000000 ;;
		*) wanted=20000000 ;;
		esac
		note "$event: $way, $regions regions of $sum, which cost $cost"
		near "$allowed $event $way" "$sum" $wanted 1
	done
	meter cycles:u,instructions:u | cut -d ' ' -f 1
done
