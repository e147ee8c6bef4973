# Samples with chains go a short way into a profile. A limit of stacks that cuts nothing takes them the
# long way: both show the same, with programs that come and go, the kernel's part and several events.
. "$SUPPORT/lib.sh"
need_root
both() {	# NAME RECORD-OPTION...
	local name=$1
	shift
	tacho record -q -a -g -F 4000 -o "$name" "$@" -- sh -c \
		'for i in 1 2 3 4 5 6; do ls -lR /usr/share/doc >/dev/null & sort /etc/services | md5sum; done; wait' \
		>/dev/null 2>&1 || fail "$name: cannot record"
	for options in "" --no-children "-s pid,sym" "-s dso -g none"; do
		tacho report --stdio $options -i "$name" >short 2>&1
		tacho report --stdio $options --max-stack 2000 -i "$name" >long 2>&1
		cmp short long || fail "$name: another text with '$options'"
	done
	[ "$(grep -c 'md5sum\|sort' short)" -gt 0 ] || fail "$name: nothing was sampled"
}
both one.data -e cpu-clock
both two.data -e cpu-clock,page-faults
both packed.data -e cpu-clock -z
