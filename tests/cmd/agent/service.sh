# The systemd unit: its security score, its syntax, and that its list of system calls contains those that the
# agent makes.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need systemd-analyze strace curl python3 jq
unit=$BUILD/share/tacho-agent.service
systemd-analyze security --offline=yes --no-pager --threshold=35 "$unit" >score 2>&1 ||
	{ tail -n 3 score >&2; fail "scores worse than 3.5"; }
cp "$unit" "$SOURCE/share/systemd/tacho-agent.socket" .
sed -i "s|^ExecStart=.*/tacho-agent|ExecStart=$BUILD/tacho-agent|; /^Documentation/d" tacho-agent.service
sed -i '/^Documentation/d' tacho-agent.socket
systemd-analyze verify --man=no ./tacho-agent.service ./tacho-agent.socket >verify 2>&1 || { cat verify >&2; fail "not sound"; }
! grep 'tacho-agent' verify >&2 || fail "systemd complains"
grep -q '^kernel' "$SOURCE/share/sysctl.d/tacho.conf.example" && fail "the sysctl example is in effect"

# The system calls that the unit allows: groups in order, ~ removes.
sed -n 's/^SystemCallFilter=//p' "$unit" >filter
cat >allowed.py <<'END'
import os, re, subprocess
def members(word):
    if not word.startswith("@"):
        return {word}
    text = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", word], capture_output=True, text=True,
                          check=True).stdout
    found = set()
    for line in text.splitlines()[1:]:
        line = line.strip()
        if line and not line.startswith("#"):
            found |= members(line)
    return found
allowed = set()
for line in open("filter"):
    take = line.startswith("~")
    for word in line.strip().lstrip("~").split():
        allowed = allowed - members(word) if take else allowed | members(word)
used = set()
for line in open("trace"):
    m = re.match(r"\d+ +([a-z_0-9]+)\(", line)
    if m:
        used.add(m.group(1))
assert len(used) > 30 and "perf_event_open" in used, used
# Made only by root, which the unit's user is not: dropping capabilities, and SQLite's chown of its files.
used -= {"capset", "fchown"} if os.geteuid() == 0 else set()
# The doctor tries whether BPF programs can be loaded; its finding is right if the unit refuses.
used -= {"bpf"}
print(*sorted(used - allowed))
END
tacho stat -a -x, -e context-switches sleep 0.01 2>may || skip "may not count CPUs: $(cat may)"
agent_head tacho.toml
sed -i "s|^store = .*|store = \"$PWD/agent.db\"|; s|^enabled = false|enabled = true|" tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "all"
events = ["context-switches", "cpu-clock"]
interval = "100ms"
[[source]]
name = "shells"
events = ["task-clock"]
process = "*sh"
[[export]]
type = "collectd"
socket = "$PWD/nowhere"
flush = "200ms"
END
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -f -o trace "$BUILD/tacho-agent" agent -c tacho.toml >agent.out 2>agent.err &
strace_pid=$!
agent_url=http://127.0.0.1:$agent_port
wait_url 30 "$agent_url/metrics"
curl -fsS "$agent_url/api/v1/doctor" >doctor
sleep 1
tacho agent -c tacho.toml ctl reload >out 2>&1 || { cat out >&2; fail "no reload"; }
sleep 1
pid=$(curl -fsS "$agent_url/api/v1/status" | jq .pid)
kill "$pid"
wait "$strace_pid" || true
denied=$(python3 allowed.py)
[ -z "$denied" ] || fail "the unit does not allow: $denied"
