# Invalid arguments of ctl are reported, whether ctl itself or the agent detects them.
. "$SUPPORT/lib.sh"
need python3
for words in "status now" "interval" "pause a b" "profile 1s flame more" "stauts"; do
	# shellcheck disable=SC2086
	tacho agent -c /dev/null ctl $words 2>err || echo "$? $(head -n 1 err)"
done
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_test import *

agent = Agent(f'events = ["page-faults"]\npids = [{os.getpid()}]', store="").start()
for words in (["interval", "1us"], ["interval", "2d"], ["interval", "soon"], ["pause", "laod"], ["profile", "1h"],
              ["profile", "1s", "svg"], ["pause", "load"]):
    status, said = agent.ctl(*words)
    print(status, said.strip().replace("\n", " "))
print(*[line for line in agent.get("/metrics").split("\n") if line.startswith("tacho_event_state{")])
agent.stop()
END
