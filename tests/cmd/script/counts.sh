# The counts of a file of `stat record` are printed as perf script prints them: a row per round, event, thread and
# CPU, with what was counted in the round.
. "$SUPPORT/lib.sh"
need python3
tacho stat record -I 20 -o file -e task-clock,page-faults -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done' \
	>/dev/null 2>err || skip "cannot count here: $(cat err)"
tacho script -i file >lines
tacho script -i file --json >json
tacho stat report -i file -x, >report 2>&1
tacho stat record -o - -e page-faults true 2>/dev/null | tacho script -i - >pipe
python3 - <<'END'
import json
def rows(name):
    lines = open(name).read().split("\n")
    assert lines[0] == "CPU   THREAD             VAL             ENA             RUN            TIME EVENT", lines[0]
    assert lines[-1] == ""
    return [line.split() for line in lines[1:-1]]
lines = rows("lines")
assert len(lines) >= 2 and len(lines) % 2 == 0, lines
assert [r[6] for r in lines[:4]][:2] == ["task-clock", "page-faults"], lines
assert len({r[1] for r in lines}) == 1 and all(r[0] == "-1" for r in lines), lines
times = [int(r[5]) for r in lines]
assert times == sorted(times), times
# the rows of a round sum up to the intervals of stat report
shown = [r.split(",") for r in open("report").read().split("\n") if ",page-faults," in r]
assert sum(int(r[2]) for r in lines if r[6] == "page-faults") == sum(int(r[1]) for r in shown if r[1].isdigit()), (lines, shown)
objects = [json.loads(line) for line in open("json")]
assert [[str(o[k]) for k in ("cpu", "tid", "value", "enabled_ns", "running_ns", "time_ns", "event")]
        for o in objects] == lines, objects[0]
assert len(rows("pipe")) == 1, open("pipe").read()
END
