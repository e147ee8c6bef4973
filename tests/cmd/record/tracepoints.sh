# Tracepoints of the whole machine with filters and stacks: what is recorded is what strace saw, or what an unfiltered event of
# the same recording has.
# run: slow
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need bash
shown() {	# FILE FIELDS
	tacho script -i "$1" -F "$2"
}

# Programs that start.
cp /bin/true first_$$
cp /bin/true second_$$
work="./first_$$; ./second_$$; ./first_$$; :"
tacho record -q -e sched:sched_process_exec -a -o exec.data sh -c "$work" 2>err || skip "cannot record tracepoints here: $(cat err)"
shown exec.data trace | grep -o "filename=./[a-z]*_$$ " >out
printf 'filename=./%s_%s \n' first $$ second $$ first $$ | diff - out || fail "programs that start"

# Connections, with the stack of the caller; strace sees the same descriptor in the same thread.
if command -v strace >/dev/null && [ -e /usr/include/sys/socket.h ] && command -v cc >/dev/null; then
	cat >connect.c <<-'C'
		#include <netinet/in.h>
		#include <string.h>
		#include <sys/socket.h>
		__attribute__((noinline)) int call_connect(int fd)
		{
			struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };

			to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
			return connect(fd, (struct sockaddr *)&to, sizeof(to)) + 1;
		}
		int main(void)
		{
			int failed = 0;

			for (int i = 0; i < 3; i++)
				failed += call_connect(socket(AF_INET, SOCK_DGRAM, 0));
			return failed > 9;
		}
	C
	cc -O0 -fno-omit-frame-pointer -o connects_$$ connect.c
	tacho record -q -e syscalls:sys_enter_connect -ag -o connect.data strace -f -o strace.log -e trace=connect ./connects_$$
	tacho script -i connect.data --comms "$(echo connects_$$ | cut -c 1-15)" >out
	sed -n 's/^\([0-9]*\) connect(\([0-9]*\), .*, \([0-9]*\)) = .*/\1 \2 \3/p' strace.log >want
	tacho script -i connect.data --comms "$(echo connects_$$ | cut -c 1-15)" -F tid,fd,addrlen |
		awk '/fd=/ { split($2, fd, "="); split($3, n, "="); print $1, strtonum_(fd[2]), strtonum_(n[2]) }
		     function strtonum_(s) { return s + 0 }' >got
	diff want got || fail "connections: $(cat out)"
	[ "$(grep -c 'call_connect' out)" = 3 ] && [ "$(grep -c ' connect\|libc_connect' out)" -ge 3 ] || fail "stacks: $(cat out)"
fi

# Requests to block devices of more than a page: those, and all of them.
tacho record -q -e block:block_rq_issue --filter 'bytes > 4096' -e block:block_rq_issue -a -o block.data \
	sh -c 'dd if=/dev/zero of=file bs=64k count=8 conv=fsync 2>/dev/null; dd if=/dev/zero of=small bs=512 count=1 conv=fsync 2>/dev/null'
shown block.data bytes | sed 's/.*bytes=//' >all
if [ -s all ]; then
	large=$(awk '$1 > 4096' all | wc -l)
	# Each large request is in the recording twice, each small one once.
	sort all | uniq -c | awk '$2 > 4096 && $1 % 2 { exit 1 }' || fail "large requests are not in the recording twice: $(cat all)"
	[ "$large" -gt 0 ] || fail "no large request: $(cat all)"
	tacho record -q -e block:block_rq_issue --filter 'bytes > 4096' -a -o large.data \
		dd if=/dev/zero of=file bs=64k count=8 conv=fsync 2>/dev/null
	shown large.data bytes | sed 's/.*bytes=//' | awk '$1 <= 4096 { exit 1 }' || fail "a small request"
fi

# A pattern of names.
cp "$(command -v sleep)" tarry
cp "$(command -v sleep)" xtar
tacho record -q -e sched:sched_switch --filter 'prev_comm ~ "tar*"' -a -o switch.data sh -c './tarry 0.05; ./xtar 0.05; ./tarry 0.05'
shown switch.data prev_comm | sed 's/.*prev_comm=//; s/ *$//' | sort -u >out
[ "$(cat out)" = tarry ] || fail "the names that switch: $(cat out)"
