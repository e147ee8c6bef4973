# A file that is written past the cache: as many requests and bytes as dd made.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
[ -e /sys/kernel/tracing/events/block/block_rq_issue ] || skip "this kernel has no tracepoints of block devices"
dd if=/dev/zero of=file bs=64k count=1 oflag=direct 2>err || skip "no direct writes in this directory: $(cat err)"
[ "$(stat -f -c %T .)" != tmpfs ] || skip "this directory is not on a disk"
tacho iostat record -q -o io.data -- dd if=/dev/zero of=file bs=64k count=200 oflag=direct 2>err || fail "$(cat err)"
tacho iostat -i io.data --json >json 2>err
[ ! -s err ] || skip "$(cat err)"
bytes=$(sed 's/}, {/\n/g' json | sed -n 's/.*"op": "write", "requests": \([0-9]*\), "bytes": \([0-9]*\).*/\2/p' | sort -n | tail -n 1)
[ "${bytes:-0}" -ge $((200 * 65536)) ] || skip "the writes are not seen as requests of a block device: $(cat json)"
