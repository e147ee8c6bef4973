# A reader of live data that does not keep up is told how many batches it has lost, not one too few.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import socket, threading
from agent_test import *

events = ", ".join(f'{{ event = "page-faults", name = "e{i}" }}' for i in range(1000))
agent = Agent(f'interval = "20ms"\nper = "cpu"\nevents = [{events}]', store="").start()

def connect(rcvbuf=None):
    s = socket.socket()
    if rcvbuf:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    s.connect(("127.0.0.1", agent.port))
    token = agent.credentials()["Authorization"].encode()
    s.sendall(b"GET /api/v1/live?source=load HTTP/1.0\r\nHost: localhost\r\nAuthorization: " + token + b"\r\n\r\n")
    return s

class Reader:
    def __init__(self, s):
        self.s, self.rest, self.times, self.lost = s, b"", [], 0
        self.lost_by_then = 0		# reported before the last batch

    def read(self):
        got = self.s.recv(1 << 20)
        check(got, "the stream ended")
        *frames, self.rest = (self.rest + got).split(b"\n\n")
        for f in frames:
            lines = f.split(b"\n")
            data = next((l[6:] for l in lines if l.startswith(b"data: ")), None)
            if b"event: batch" in lines:
                self.times.append(int(re.match(rb'{ *"t": *(\d+)', data).group(1)))
                self.lost_by_then = self.lost
            elif b"event: lost" in lines:
                self.lost = int(data)

def read_both():
    quick, slow = Reader(connect()), Reader(connect(4096))
    while not slow.times:
        slow.read()
    over = threading.Event()
    def follow():
        while not over.is_set():
            quick.read()
    thread = threading.Thread(target=follow)
    thread.start()
    time.sleep(6)
    slow.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)	# or it would never catch up
    end = time.monotonic() + 20
    while (not slow.lost or not quick.times or slow.times[-1] + 500 < quick.times[-1]) and time.monotonic() < end:
        slow.read()
    over.set()
    thread.join()
    for reader in quick, slow:
        reader.s.close()
    return quick, slow

# If the quick reader is too slow as well, what was sent is unknown.
for _ in range(3):
    quick, slow = read_both()
    if not quick.lost:
        break
check(not quick.lost, f"a reader that does nothing but read has lost {quick.lost}")
check(slow.lost_by_then > 1, f"nothing was lost: {slow.lost}")
had = set(slow.times)
missed = [t for t in quick.times if slow.times[0] < t < slow.times[-1] and t not in had]
check(abs(len(missed) - slow.lost_by_then) <= 1,
      f"{len(missed)} batches did not come, but {slow.lost_by_then} were told of")
agent.stop()
END
