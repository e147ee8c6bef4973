# -y: paths of descriptors, also of a process that has ended when they are printed; special characters in names are escaped.
# -yy: protocols and addresses of sockets as the kernel has them at that moment, and numbers of devices.
. "$SUPPORT/lib.sh"
need_root
need python3
name=$(printf 'a\033[31m<b>\n')
echo x >"$name"
tacho trace -y --format strace -e read -o got head -n 1 "$name" >out 2>err || skip "may not trace: $(tail -n 1 err)"
! grep -q 'strings are not shown' err || skip "BPF programs cannot be loaded"
grep -q 'read([0-9]*<.*/a\\033\[31m\\074b\\076>, "x\\n", ' got || fail "-y: $(cat got)"
tacho trace -y --format strace -e write -o got sh -c 'echo x' >/dev/null
grep -q 'write(1</dev/null>, "x\\n", 2)' got || fail "-y: inherited: $(cat got)"
tacho trace -yy --format strace -e write -o got sh -c 'echo x' >/dev/null
grep -q 'write(1</dev/null<char 1:3>>, "x\\n", 2)' got || fail "-yy: device: $(cat got)"
cat >sockets.py <<'PY'
import os, socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.socket(); c.connect(s.getsockname()); a, _ = s.accept()
c.send(b"x"); a.send(b"y")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(("127.0.0.1", 9)); u.send(b"d")
s6 = socket.socket(socket.AF_INET6) if socket.has_ipv6 else None
x = socket.socket(socket.AF_UNIX); x.bind("sock"); x.listen()
y = socket.socket(socket.AF_UNIX); y.connect("sock"); z, _ = x.accept(); y.send(b"1"); z.send(b"2")
n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); n.bind((0, 0))
print(s.getsockname()[1], c.getsockname()[1], *(os.fstat(f.fileno()).st_ino for f in (s, y, z)), u.getsockname()[1])
n.close(); os._exit(0)
PY
tacho trace -yy --format strace -e %network,close -o got python3 sockets.py >ports
read -r server client inode yi zi udp <ports
for line in "bind(3<TCP:\[$inode\]>, " "listen(3<TCP:\[127.0.0.1:$server\]>, " "accept4(3<TCP:\[127.0.0.1:$server\]>, .* = 5<TCP:\[127.0.0.1:$server->127.0.0.1:$client\]>" \
	"sendto(4<TCP:\[127.0.0.1:$client->127.0.0.1:$server\]>, \"x\"" "sendto(6<UDP:\[127.0.0.1:$udp->127.0.0.1:9\]>, \"d\"" \
	"<UNIX-STREAM:\[$yi->$zi\]>, \"1\"" "<UNIX-STREAM:\[$zi->$yi,\"sock\"\]>, \"2\"" 'close([0-9]*<NETLINK:\[ROUTE:[0-9]*\]>'; do
	grep -q "$line" got || fail "no $line: $(cat got)"
done
