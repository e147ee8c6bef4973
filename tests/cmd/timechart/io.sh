# Known calls of input and output are drawn with their bytes, files and errors; calls are united or left out as asked for.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need python3
python3 - <<'P'
import os
import sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording
r = Recording(cpus=2)
def call(name, *args):
    enter = r.event('syscalls:sys_enter_' + name, [('int', '__syscall_nr'), *args])
    return enter, r.event('syscalls:sys_exit_' + name, [('int', '__syscall_nr'), ('long', 'ret')])
read, write, fsync = call('read', ('unsigned int', 'fd')), call('pwrite64', ('unsigned int', 'fd')), call('fsync', ('unsigned int', 'fd'))
recv, poll, epoll = call('recvmsg', ('int', 'fd')), call('poll', ('unsigned int', 'nfds')), call('epoll_wait', ('int', 'epfd'))
def io(which, tid, start_us, us, ret, **fields):
    r.sample(which[0], 0, tid, tid, start_us * 1000, **fields)
    r.sample(which[1], 1, tid, tid, (start_us + us) * 1000, ret=ret)
r.comm(7, 7, 'o<n>e', 500)
r.comm(8, 8, 'two', 500)
io(read, 7, 1000, 2000, 4096, fd=3)
io(read, 7, 10000, 3000, 100, fd=3)
io(write, 7, 20000, 5000, 1000, fd=4)
io(fsync, 7, 30000, 4000, 0, fd=4)
io(recv, 8, 1000, 10, -11, fd=5)			# EAGAIN
io(recv, 8, 40000, 2000, -104, fd=5)
io(poll, 8, 50000, 6000, 1, nfds=1)
io(epoll, 8, 60000, 1, 2, epfd=9)
for i in range(4):					# half a microsecond apart: one box
    r.sample(read[0], 0, 8, 8, 70000000 + i * 2000, fd=6)
    r.sample(read[1], 0, 8, 8, 70001500 + i * 2000, ret=10)
io(read, 8, 80000, 1, 1, fd=6)
r.sample(read[1], 0, 9, 9, 81000000, ret=1)		# no start; and the end of another call
r.sample(read[0], 0, 9, 9, 82000000, fd=1)
r.sample(write[1], 0, 9, 9, 83000000, ret=1)
r.sample(read[0], 0, 9, 9, 100000000, fd=1)
r.write('io.data')
r = Recording(cpus=2)					# results that are neither bytes nor errors, files that do not exist
read = call('read', ('unsigned int', 'fd'))
for i, ret in enumerate((-2 ** 63, 2 ** 63 - 1, -4096, -2 ** 31, 2 ** 63 - 1)):
    io(read, 7, 1000 * i + 1, 1, ret, fd=2 ** 31 - i % 2)
r.write('wrong.data')
P
tacho timechart -i wrong.data --io-merge-dist 1s -o - >wrong.svg 2>err || fail "$(cat err)"
! grep -q 'class="error' wrong.svg && grep -q 'class="read"' wrong.svg || fail "results that are no errors: $(cat wrong.svg)"
boxes() {	# FILE: class and text of each box
	python3 - "$1" <<'P'
import sys
import xml.dom.minidom
for rect in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName('rect'):
    title = rect.getElementsByTagName('title')
    if title:
        print(rect.getAttribute('class'), rect.getAttribute('height'), title[0].firstChild.data)
P
}
tacho timechart -i io.data -o io.svg 2>err || fail "$(cat err)"
boxes io.svg | sort >found
cat >wanted <<'W'
error 7 two:8 receives, file 5, error 104, 2.000 ms at 0.040000 s
error 7 two:8 receives, file 5, error 11, 0.010 ms at 0.001000 s
poll 14 two:8 polls, 6.000 ms at 0.050000 s
poll 14 two:8 polls, file 9, 0.001 ms at 0.060000 s
read 2 o<n>e:7 reads, file 3, 100 bytes, 3.000 ms at 0.010000 s
read 2 two:8 reads, file 6, 1 bytes, 0.001 ms at 0.080000 s
read 2 two:8 reads, file 6, 40 bytes, 4 calls, 0.006 ms at 0.070000 s
read 7 o<n>e:7 reads, file 3, 4096 bytes, 2.000 ms at 0.001000 s
sync 7 o<n>e:7 syncs, file 4, 4.000 ms at 0.030000 s
write 3 o<n>e:7 writes, file 4, 1000 bytes, 5.000 ms at 0.020000 s
W
diff wanted found || fail "other boxes"
grep -q 'o&lt;n&gt;e:7<tspan class="small"> 5.2 kB<' io.svg && ! grep -q '>CPU 0<' io.svg || fail "names: $(grep tspan io.svg)"
tacho timechart -i io.data --io-skip-eagain -o - 2>err >skip.svg
boxes skip.svg >found
! grep -q 'error 11' found && grep -q 'error 104' found || fail "--io-skip-eagain: $(cat found)"
# Without a minimum, calls of 1.5 us are half a microsecond apart, which a distance of 400 ns does not unite.
tacho timechart -i io.data --io-min-time 0 --io-merge-dist 400 -o - 2>err >apart.svg
boxes apart.svg >found
! grep -q ' calls' found && grep -q '4 spans' found || fail "united: $(cat found)"
tacho timechart -i io.data --io-merge-dist 20ms -o - 2>err >far.svg
boxes far.svg | grep -q 'file 6, 41 bytes, 5 calls' || fail "--io-merge-dist 20ms: $(boxes far.svg)"
! tacho timechart -i io.data -n 1 -o - 2>err | grep -q 'two:8<' || fail "-n 1 shows the task of fewer bytes"
refused 129 tacho timechart -i io.data --io-merge-dist x
survives 60 io.data timechart -o out.svg
# A real one: what dd reads and writes.
[ "$(id -u)" = 0 ] && [ -r /sys/kernel/tracing/events/syscalls ] || exit 0
tacho timechart record -I -o real.data -- dd if=/dev/zero of=file bs=8k count=50 >rec 2>&1 || fail "$(cat rec)"
tacho timechart -i real.data -p dd -o real.svg 2>err || fail "$(cat err)"
kb=$(sed -n 's/.*>dd:[0-9]*<tspan class="small"> \([0-9.]*\) kB.*/\1/p' real.svg | sort -n | tail -n 1)
# 50 blocks of 8192 bytes each way, and a few bytes of libraries and messages.
python3 -c "import sys; sys.exit(not 819.2 <= float('${kb:-0}') <= 840)" || fail "dd has moved ${kb:-no} kB, not 819.2"
! grep -q '>tacho:' real.svg || fail "the recorder recorded itself"
