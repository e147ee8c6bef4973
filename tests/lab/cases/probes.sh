# proves: probes in the kernel: defined, listed, counted, recorded with arguments and return values, removed
# proves: kprobe: and kretprobe: events without a definition, by the kprobe PMU
# proves: arguments by the names of parameters, where the kernel has BTF (6.4 and later)
# guest: arch=amd64 kernel=bookworm
# guest: arch=amd64 kernel=sid

release=$(uname -r)
has() {	# MAJOR MINOR: whether the kernel is that or newer
	awk -v release="$release" -v major="$1" -v minor="$2" 'BEGIN {
		split(release, v, "."); exit !(v[1] > major || (v[1] == major && v[2] >= minor)) }'
}

tacho probe do_sys_openat2 2>&1 | head -n 2
tacho probe do_sys_openat2 2>&1 | head -n 1
tacho probe -f 'do_sys_openat2 dfd=%di:s32 name=+0(%si):ustring' 2>&1 | sed -n 2p
tacho probe 'openret=do_sys_openat2%return $retval:s32' 2>&1 | sed -n 2p
tacho probe -l
counts -e probe:do_sys_openat2,probe:do_sys_openat2_1,probe:openret__return cat /init /lib.sh >/dev/null
for name in do_sys_openat2 do_sys_openat2_1 openret__return; do
	[ "$(field probe:$name)" = "$(field probe:do_sys_openat2)" ] && [ "$(field probe:$name)" -ge 2 ] && echo "$name counts"
done
tacho record -q -e 'probe:*' -o p.data cat /init >/dev/null
tacho script -i p.data -F comm,event,trace | grep -A 1 '"/init"' | sed 's/  */ /g; s/([0-9a-f]*)/(ADDRESS)/; s/([0-9a-f]* <- [0-9a-f]*)/(TO <- FROM)/'
tacho script -i p.data -F comm,event,trace | grep -c 'openret__return: (.* <- .*) arg1=-\?[0-9]*$' | sed 's/^[1-9][0-9]*$/return values/'
tacho probe -d 'openret*' -d 'do_sys_*' 2>&1
tacho probe -l | wc -l
tacho probe 'do_sys_openat' 2>&1 | tail -n 1
tacho probe -F 'vfs_rea*' | grep -x vfs_read

counts -e kprobe:do_sys_openat2,kretprobe:do_sys_openat2,kprobe:do_sys_openat2+0 cat /init /lib.sh >/dev/null
[ "$(field kprobe:do_sys_openat2)" -ge 2 ] && [ "$(field kprobe:do_sys_openat2)" = "$(field kretprobe:do_sys_openat2)" ] && echo 'kprobe: counts'
tacho record -q -e kprobe:do_sys_openat2 -g -o k.data cat /init >/dev/null
tacho script -i k.data -F event,ip,sym | grep -m 1 -o do_sys_openat2
cat /sys/kernel/tracing/kprobe_events | wc -l

if has 6 4 && [ -e /sys/kernel/btf/vmlinux ]; then
	tacho probe 'btf=vfs_read count' >probed 2>&1 || cat probed
	tacho record -q -e probe:btf -o b.data dd if=/init of=/dev/null bs=16 count=2 2>/dev/null
	tacho script -i b.data -F trace | grep -q 'count=\(16\|0x10\)$' && echo 'named arguments' || tacho script -i b.data -F trace | head -n 3
	tacho probe -q -d btf
	tacho probe 'all=vfs_read $params' >probed 2>&1 && tacho probe -q -d all || cat probed
else
	echo 'named arguments'
fi
