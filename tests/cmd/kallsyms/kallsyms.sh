# Where symbols are: by a kallsyms file whose layout is known.
. "$SUPPORT/lib.sh"
printf '%s\n' 'ffffffff81000000 T first' 'ffffffff81000040 t second' 'ffffffff81000040 T same' 'ffffffff81000100 D datum' \
	'0000000000001000 A per_cpu' "ffffffffc0001010 t mod_init	[mod]" "ffffffffc0001050 T mod_exit	[mod]" >k
tacho kallsyms --kallsyms k first second datum mod_init mod_exit per_cpu nosuch >out
cat >want <<'W'
first: [kernel] [kernel.kallsyms] 0xffffffff81000000-0xffffffff81000040 (0xffffffff81000000-0xffffffff81000040)
second: [kernel] [kernel.kallsyms] 0xffffffff81000040-0xffffffff81000100 (0xffffffff81000040-0xffffffff81000100)
datum: [kernel] [kernel.kallsyms] 0xffffffff81000100-0xffffffff81001000 (0xffffffff81000100-0xffffffff81001000)
mod_init: [mod] [mod] 0xffffffffc0001010-0xffffffffc0001050 (0xffffffffc0001010-0xffffffffc0001050)
mod_exit: [mod] [mod] 0xffffffffc0001050-0xffffffffc0002000 (0xffffffffc0001050-0xffffffffc0002000)
per_cpu: not found
nosuch: not found
W
diff want out
tacho kallsyms --kallsyms k --json first nosuch | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "tacho.kallsyms/1"
a, b = d["symbols"]
assert a == {"name": "first", "found": True, "module": None, "start": "0xffffffff81000000", "end": "0xffffffff81000040"}
assert b == {"name": "nosuch", "found": False}'
printf '%s\n' '0000000000000000 T first' '0000000000000000 T second' >k
[ "$(status_of tacho kallsyms --kallsyms k first)" = 1 ] && grep -q 'are hidden' err || fail "$(cat err)"
: >k
[ "$(status_of tacho kallsyms --kallsyms k first)" = 1 ] && grep -q 'no symbols' err || fail "$(cat err)"
[ "$(status_of tacho kallsyms)" = 129 ] || fail "no name is needed"
