# `sched export`: what independent readers find in each format is what timehist and script show.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
cat >work.sh <<'END'
(timeout 0.1 taskset -c 1 sh -c 'while :; do :; done') & (timeout 0.1 taskset -c 1 sh -c 'while :; do :; done') &
(for k in 1 2 3; do sleep 0.01; done) &
wait
END
stored sched.data live_perf sched record -g -q -o sched.data sh work.sh
tacho sched timehist --json -w -M --max-stack 1000 -i sched.data >timehist.json

# ---- perfetto: field numbers of the public schema, typed in again ----
cat >schema.proto <<'END'
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional uint64 timestamp = 8; optional uint32 trusted_packet_sequence_id = 10; optional uint32 sequence_flags = 13;
  optional FtraceEventBundle ftrace_events = 1; optional ProcessTree process_tree = 2; optional InternedData interned_data = 12;
  optional SystemInfo system_info = 45; optional TracePacketDefaults trace_packet_defaults = 59; optional PerfSample perf_sample = 66;
}
message FtraceEventBundle { optional uint32 cpu = 1; repeated FtraceEvent event = 2; }
message FtraceEvent {
  optional uint64 timestamp = 1; optional uint32 pid = 2;
  optional SchedSwitch sched_switch = 4; optional SchedWaking sched_waking = 20; optional SchedWaking sched_wakeup_new = 114;
  optional TaskNewtask task_newtask = 235; optional TaskRename task_rename = 236; optional ProcessExit sched_process_exit = 238;
}
message SchedSwitch {
  optional string prev_comm = 1; optional int32 prev_pid = 2; optional int32 prev_prio = 3; optional int64 prev_state = 4;
  optional string next_comm = 5; optional int32 next_pid = 6; optional int32 next_prio = 7;
}
message SchedWaking {
  optional string comm = 1; optional int32 pid = 2; optional int32 prio = 3; optional int32 success = 4; optional int32 target_cpu = 5;
}
message TaskNewtask { optional int32 pid = 1; optional string comm = 2; optional uint64 clone_flags = 3; optional int32 oom_score_adj = 4; }
message TaskRename { optional int32 pid = 1; optional string oldcomm = 2; optional string newcomm = 3; optional int32 oom_score_adj = 4; }
message ProcessExit { optional string comm = 1; optional int32 pid = 2; optional int32 tgid = 3; optional int32 prio = 4; }
message ProcessTree {
  message Thread { optional int32 tid = 1; optional int32 tgid = 3; optional string name = 2; }
  message Process { optional int32 pid = 1; optional int32 ppid = 2; repeated string cmdline = 3; }
  repeated Process processes = 1; repeated Thread threads = 2;
}
message SystemInfo { optional Utsname utsname = 1; }
message Utsname { optional string sysname = 1; optional string version = 2; optional string machine = 3; optional string release = 4; }
message PerfSample {
  optional uint32 cpu = 1; optional uint32 pid = 2; optional uint32 tid = 3; optional uint64 callstack_iid = 4;
  optional int32 cpu_mode = 5; optional uint64 timebase_count = 6;
}
message InternedString { optional uint64 iid = 1; optional bytes str = 2; }
message Mapping { optional uint64 iid = 1; repeated uint64 path_string_ids = 7; }
message Frame { optional uint64 iid = 1; optional uint64 function_name_id = 2; optional uint64 mapping_id = 3; optional uint64 rel_pc = 4; }
message Callstack { optional uint64 iid = 1; repeated uint64 frame_ids = 2; }
message InternedData {
  repeated InternedString function_names = 5; repeated Frame frames = 6; repeated Callstack callstacks = 7;
  repeated InternedString mapping_paths = 17; repeated Mapping mappings = 19;
}
message TracePacketDefaults { optional PerfSampleDefaults perf_sample_defaults = 12; }
message PerfSampleDefaults { optional Timebase timebase = 1; }
message Timebase { optional uint64 frequency = 2; optional uint64 period = 1; optional Tracepoint tracepoint = 3; }
message Tracepoint { optional string name = 1; }
END
tacho sched export -f perfetto -i sched.data -o trace
[ "$(status_of tacho sched export -i sched.data)" = 0 ] && cmp out trace || fail "stdout"
if command -v protoc >/dev/null; then
	protoc --decode=Trace schema.proto <trace >decoded || fail "protoc cannot decode it"
	! grep -qE '^ *[0-9]+[:{ ]' decoded || fail "fields that the schema does not have: $(grep -nE '^ *[0-9]+[:{ ]' decoded | head -n 3)"
fi
cat >reader.py <<'P'
import json, re, sys

def fields(data):
    """(number, value): the wire format."""
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            n = varint()
            assert at + n <= len(data)
            yield key >> 3, data[at:at + n]
            at += n
        else:
            raise ValueError(f'wire type {key & 7}')

def one(data, number, default=0):
    return next((v for n, v in fields(data) if n == number), default)

def every(data, number):
    return [v for n, v in fields(data) if n == number]

trace = open('trace', 'rb').read()
packets = every(trace, 1)
assert [n for n, _ in fields(trace)] == [1] * len(packets)
switches, wakeups, tree, stacks = {}, [], {}, {}
names, paths, frames, callstacks, mappings = {}, {}, {}, {}, {}
bundle_times = {}
for packet in packets:
    kinds = {n for n, _ in fields(packet)}
    if 1 in kinds:
        bundle = one(packet, 1)
        assert [n for n, _ in fields(bundle)].count(1) == 1, 'a bundle without its CPU'
        cpu = one(bundle, 1)
        for event in every(bundle, 2):
            time, pid, have = one(event, 1), one(event, 2), {n for n, _ in fields(event)}
            assert {1, 2} <= have and time >= bundle_times.get(cpu, 0)
            bundle_times[cpu] = time
            if 4 in have:
                s = one(event, 4)
                assert pid == one(s, 2)
                switches.setdefault(cpu, []).append((time, one(s, 2), one(s, 6), one(s, 1), one(s, 5), one(s, 4)))
            for kind in have & {20, 114}:
                w = one(event, kind)
                wakeups.append((time, cpu, pid, one(w, 2), one(w, 1)))
    if 2 in kinds:
        tree = {one(t, 1): (one(t, 3), one(t, 2)) for t in every(one(packet, 2), 2)}
    if 12 in kinds:
        assert one(packet, 10) == 1
        data = one(packet, 12)
        for store, number in ((names, 5), (paths, 17)):
            store.update({one(x, 1): one(x, 2).decode() for x in every(data, number)})
        mappings.update({one(x, 1): one(x, 7) for x in every(data, 19)})
        frames.update({one(x, 1): (one(x, 2), one(x, 3)) for x in every(data, 6)})
        callstacks.update({one(x, 1): every(x, 2) for x in every(data, 7)})
    if 66 in kinds:
        s = one(packet, 66)
        assert all(mappings[frames[f][1]] in paths for f in callstacks[one(s, 4)] if frames[f][1])
        # Outermost first.
        stacks[one(packet, 8), one(s, 3)] = [names[frames[f][0]] for f in reversed(callstacks[one(s, 4)])]

timehist = json.load(open('timehist.json'))
ours = [e for e in timehist['events'] if e['kind'] == 'switch']
assert sum(map(len, switches.values())) == len(ours) > 100
# A slice lasts from one switch on its CPU to the next one.
slices = {}
for cpu, list_of_cpu in switches.items():
    for (start, _, tid, _, comm, _), (end, prev, *_rest) in zip(list_of_cpu, list_of_cpu[1:]):
        if tid == prev:
            slices[cpu, end] = (start, tid, comm.decode())
compared = 0
for e in ours:
    if e['start_ns'] is None or e['start_estimated']:
        continue
    start, tid, comm = slices[e['cpu'], e['time_ns']]
    assert (start, tid, e['run_ns']) == (e['start_ns'], e['task']['tid'], e['time_ns'] - start), (e, start, tid)
    compared += 1
assert compared > 100
idle = lambda t: 0 if t['comm'] == '<idle>' else t['tid']
assert sorted(w[:4] for w in wakeups) == sorted((e['time_ns'], e['cpu'], idle(e['task']), e['awakened']['tid'])
                                               for e in timehist['events'] if e['kind'] == 'wakeup')
chains = 0
for e in ours:
    if not e.get('callchain'):
        continue
    stack = [f for f in stacks[e['time_ns'], e['task']['tid']] if f not in ('schedule', '__schedule', 'preempt_schedule')]
    assert stack == [f.replace(' (inlined)', '') for f in e['callchain']], (stack, e)
    chains += 1
assert chains > 50, chains
known = {t['tid']: t for t in timehist['tasks']}
for tid, (tgid, name) in tree.items():
    if tid in known and known[tid]['pid'] is not None:
        assert tgid == known[tid]['pid'], (tid, tgid, known[tid])
assert len(tree) > 20
P
python3 reader.py || fail "perfetto"

# ---- chrome: slices of a row do not overlap, arrows begin and end in slices ----
tacho sched export -f chrome -i sched.data >chrome.json
python3 - <<'P'
import json
events = json.load(open('chrome.json'))['traceEvents']
timehist = [e for e in json.load(open('timehist.json'))['events'] if e['kind'] == 'switch' and e['task']['comm'] != '<idle>']
rows = {}
for e in events:
    if e['ph'] == 'X':
        rows.setdefault((e['pid'], e['tid']), []).append((e['ts'], e['ts'] + e['dur']))
for row in rows.values():
    row.sort()
    assert all(a[1] <= b[0] + 0.002 for a, b in zip(row, row[1:])), row
cpus = {key: row for key, row in rows.items() if key[0] == 10000000}
assert 1 <= len(cpus) <= 2 and len(rows) > 10
assert sum(len(row) for key, row in cpus.items()) == sum(e['start_ns'] is not None for e in timehist)
starts = {e['id']: e for e in events if e['ph'] == 's'}
ends = [e for e in events if e['ph'] == 'f']
assert len(ends) > 10
for end in ends:
    assert starts[end['id']]['ts'] <= end['ts'], end
    assert any(a <= end['ts'] <= b for a, b in rows[end['pid'], end['tid']]), end
P

! grep -q '"name": null' chrome.json || fail "a thread without a name"

# ---- ftrace: every tracepoint, with the text of script ----
tacho sched export -f ftrace -i sched.data >ftrace.txt
head -n 1 ftrace.txt | grep -qx '# tracer: nop' || fail "$(head -n 3 ftrace.txt)"
grep -v '^#' ftrace.txt >lines
! grep -qvE '^ *[^ ].*-[0-9]+ +\[[0-9]{3}\] [d.][nNpL.][zZHhs.][0-9a-f.][0-9a-f.] +[0-9]+\.[0-9]{6}: [a-z_]+: ' lines || fail "$(grep -vE '\[[0-9]{3}\]' lines | head -n 3)"
sed 's/.*\] ..... *//; s/ *$//' lines >ours
tacho script -G -i sched.data -F time,event,trace | sed 's/ *sched:\([a-z_]*\): */ \1: /; s/^ *//; s/ *$//' >theirs
diff theirs ours >difference || fail "ftrace: $(head -n 6 difference)"

[ "$(status_of tacho sched export -f svg -i sched.data)" = 129 ] && grep -q "'svg' is not a format" err || fail "$(cat err)"
[ "$(status_of tacho sched export -i sched.data -o missing/file)" = 1 ] && grep -q 'cannot write to missing/file' err || fail "$(cat err)"
printf 'not a recording' >other
[ "$(status_of tacho sched export -i other -o out.trace)" = 1 ] && [ ! -e out.trace ] || fail "$(cat err)"
touch ./-
[ "$(status_of tacho sched export -i other -f chrome -o -)" = 1 ] && [ -e ./- ] || fail "-o - deletes a file"
tacho record -q -e task-clock -o clock.data true 2>err || skip "cannot record"
[ "$(status_of tacho sched export -i clock.data -f chrome -o -)" = 1 ] && [ -e ./- ] || fail "-o - deletes a file: $(cat err)"
cp sched.data kept.data
refused 129 tacho sched export -i sched.data -o sched.data
grep -q "'sched.data' cannot be input and output" err && cmp -s sched.data kept.data || fail "the recording is overwritten: $(cat err)"
