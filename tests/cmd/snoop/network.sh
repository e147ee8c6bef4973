# run: plain alone
# Alone: without BPF the kernel loses events of ending tasks, such as the switch to the next one, so that a loaded machine counts less.
# tcplife and tcpconnect tell the ports and bytes of connections over loopback; tcpretrans the segments that a listener drops.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
[ -d /sys/kernel/tracing/events/sock/inet_sock_set_state ] || [ -d /sys/kernel/debug/tracing/events/sock/inet_sock_set_state ] ||
	skip "this kernel has no tracepoint sock:inet_sock_set_state"
for way in $ways; do
	view $way tcplife -- "$WORK" echo 5 10000
	port=$(cat out)
	is "clients" "$(rows "remote_port == $port and comm == 'view-work' and remote_address == '127.0.0.1' and
		10000 <= sent_bytes <= 10002 and 10000 <= received_bytes <= 10002")" 5
	is "servers" "$(rows "local_port == $port and 10000 <= sent_bytes <= 10002 and 10000 <= received_bytes <= 10002")" 5

	view $way tcpconnect -- "$WORK" echo 5 100
	port=$(cat out)
	is "connections" "$(rows "destination_port == $port and ip == 4 and destination_address == '127.0.0.1' and comm == 'view-work'")" 5
done

for way in $ways; do
	view $way tcpretrans -- "$WORK" lost-syn
	port=$(cat out)
	at_least "segments sent again" "$(rows "remote_address == '127.0.0.1:$port' and state == 'SYN_SENT' and ip == 4 and remote_port == $port")" 1
done
